// Package event defines what a run says about itself: typed events with a
// stable JSON form, one object a line.
//
// # Form
//
// Every line starts with the same fields, then the event's own:
//
//	{"type":"step_completed","seq":12,"timestamp":"2026-01-02T03:04:05.678Z","run":"...","key":"...","step":4,...}
//
// The key is there if the event was emitted under one: a run never holds two events
// with the same key, unless it says in between that what came of the first is to be
// tried again.
//
// Code that decides what happens next produces bare [Event] values; the runtime
// stamps them into a [Record] when it appends them to the log. So an
// orchestrator needs no clock.
//
// # Compatibility
//
// Logs outlive programs. Fields are only ever added. A reader passes over
// fields and types it does not know: an unknown type decodes as [Unknown], with
// its line intact.
package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Format is the version of the log format that this package writes. It is
// raised only for changes that an older reader would misunderstand.
const Format = 1

// Type names a kind of event in the log.
type Type string

// An Event is the content of one log line, without the fields that the runtime
// stamps on it.
type Event interface {
	Type() Type
}

// A Record is an event as it stands in a log.
type Record struct {
	Seq   uint64
	Time  time.Time
	Run   string
	Key   string // under which it was emitted; empty if it has none
	Event Event
}

// Header is what the record's line begins with.
func (r Record) Header() Header {
	return Header{Type: r.Event.Type(), Seq: r.Seq, Timestamp: r.Time, Run: r.Run, Key: r.Key}
}

// timeLayout is RFC 3339 with a fixed number of digits, so that lines of one
// log have comparable lengths.
const timeLayout = "2006-01-02T15:04:05.000Z"

// The moments that RFC 3339 can write, in seconds since 1970.
const (
	firstSecond = -62167219200 // year 0
	lastSecond  = 253402300799 // year 9999
)

// withinYears keeps a clock that is wrong beyond all measure from making a line that
// cannot be read.
func withinYears(t time.Time) time.Time {
	switch s := t.Unix(); {
	case s < firstSecond:
		return time.Unix(firstSecond, 0)
	case s > lastSecond:
		return time.Unix(lastSecond, 0)
	}
	return t
}

// appendTime appends a moment by the layout, without reading that each time.
func appendTime(b []byte, t time.Time) []byte {
	t = withinYears(t).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	b = append(appendTwo(appendTwo(b, year/100), year%100), '-')
	b = append(appendTwo(b, int(month)), '-')
	b = append(appendTwo(b, day), 'T')
	b = append(appendTwo(b, hour), ':')
	b = append(appendTwo(b, minute), ':')
	b = append(appendTwo(b, second), '.')
	milli := t.Nanosecond() / 1e6
	return append(appendTwo(b, milli/10), byte('0'+milli%10), 'Z')
}

// appendTwo appends a number below 100 with two digits.
func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// AppendJSON appends the record's line, without a newline, to b. What it returns can
// be decoded again: an event that cannot be is an error.
func (r Record) AppendJSON(b []byte) ([]byte, error) {
	switch e := r.Event.(type) {
	case Unknown:
		return append(b, e.Line...), nil
	case StepCompleted:
		return e.AppendLine(b, r.Header()), nil
	case VoteCompleted:
		if e.IsPlain() {
			return e.AppendLine(b, r.Header()), nil
		}
	}
	name := r.Event.Type()
	if name == "" {
		return nil, fmt.Errorf("event: encode %T: it has no type", r.Event)
	}
	fields, err := json.Marshal(r.Event)
	if err != nil {
		return nil, fmt.Errorf("event: encode %s: %w", name, err)
	}
	if len(fields) > tooDeepToRead && !json.Valid(fields) {
		return nil, fmt.Errorf("event: encode %s: a value in it is nested too deeply to be read again", name)
	}
	b = r.Header().append(b)
	if len(fields) > len("{}") {
		b = append(b, ',')
	}
	return append(b, fields[1:]...), nil
}

// append appends the header, without what closes the object.
func (h Header) append(b []byte) []byte {
	b = append(b, `{"type":`...)
	b = appendString(b, string(h.Type))
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, h.Seq, 10)
	b = append(b, `,"timestamp":"`...)
	b = appendTime(b, h.Timestamp)
	b = append(b, `","run":`...)
	b = appendString(b, h.Run)
	if h.Key != "" {
		b = append(b, `,"key":`...)
		b = appendString(b, h.Key)
	}
	return b
}

// MarshalJSON returns the record's line.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil) }

// A Header is the part of a line that all events share.
type Header struct {
	Type      Type      `json:"type"`
	Seq       uint64    `json:"seq"`
	Timestamp time.Time `json:"timestamp"`
	Run       string    `json:"run"`
	Key       string    `json:"key,omitempty"`
}

// Decode reads one line of a log.
func Decode(line []byte) (Record, error) {
	h, err := DecodeHeader(line)
	if err != nil {
		return Record{}, err
	}
	r := Record{Seq: h.Seq, Time: h.Timestamp, Run: h.Run, Key: h.Key}
	decode, ok := decoders[h.Type]
	if !ok {
		if !json.Valid(line) {
			return Record{}, fmt.Errorf("event: %s: the line is not JSON", h.Type)
		}
		r.Event = Unknown{Name: h.Type, Line: append(json.RawMessage(nil), line...)}
		return r, nil
	}
	e, err := decode(line)
	if err != nil {
		return Record{}, fmt.Errorf("event: %s: %w", h.Type, err)
	}
	r.Event = e
	return r, nil
}

// DecodeHeader reads the fields that all events share: by their place in lines
// as this package writes them, by decoding in any others.
func DecodeHeader(line []byte) (Header, error) {
	if h, ok := ownHeader(line); ok {
		return h, nil
	}
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("event: %w", err)
	}
	if h.Type == "" {
		return h, fmt.Errorf("event: the line has no type")
	}
	return h, nil
}

// ownHeader is the reverse of [Header.append].
func ownHeader(line []byte) (h Header, ok bool) {
	text := func(prefix string) (value []byte, ok bool) {
		rest, ok := bytes.CutPrefix(line, []byte(prefix))
		if !ok {
			return nil, false
		}
		value, line, ok = bytes.Cut(rest, []byte{'"'})
		return value, ok && bytes.IndexByte(value, '\\') < 0
	}
	name, ok := text(`{"type":"`)
	if !ok || len(name) == 0 {
		return h, false
	}
	rest, ok := bytes.CutPrefix(line, []byte(`,"seq":`))
	if !ok {
		return h, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte{','})
	if !ok {
		return h, false
	}
	var err error
	if h.Seq, err = strconv.ParseUint(string(digits), 10, 64); err != nil {
		return h, false
	}
	line = rest
	stamp, ok := text(`"timestamp":"`)
	if !ok {
		return h, false
	}
	if h.Timestamp, err = time.Parse(timeLayout, string(stamp)); err != nil {
		return h, false
	}
	run, ok := text(`,"run":"`)
	if !ok || !utf8.Valid(run) {
		return h, false
	}
	if bytes.HasPrefix(line, []byte(`,"key":`)) {
		key, ok := text(`,"key":"`)
		if !ok || !utf8.Valid(key) {
			return h, false
		}
		h.Key = string(key)
	}
	h.Type, h.Run = Type(name), string(run)
	return h, true
}

// Unknown is an event of a type that this version does not know.
type Unknown struct {
	Name Type
	Line json.RawMessage // the whole line
}

// Type returns the type that the line names.
func (u Unknown) Type() Type { return u.Name }

// isPlain are the characters that stand for themselves in a string.
var isPlain = func() (plain [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		plain[c] = !strings.ContainsRune(`"\<>&`, rune(c))
	}
	return plain
}()

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if !isPlain[s[i]] {
			quoted, err := json.Marshal(s)
			if err != nil { // json.Marshal of a string does not fail
				return strconv.AppendQuoteToASCII(b, s)
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
