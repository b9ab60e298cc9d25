package event

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/maker-mdap/maker/usage"
)

// TestNoNumberSpoilsALine has what no sum should come to.
func TestNoNumberSpoilsALine(t *testing.T) {
	for _, f := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64} {
		e := StepCompleted{CostUSD: &f, DurationMS: math.MinInt64, Spent: usage.Spent{USD: f, HeldUSD: f, Calls: math.MinInt64}}
		line := e.AppendLine(nil, Header{Timestamp: time.UnixMilli(0), Run: "r"})
		got, err := Decode(line)
		if err != nil {
			t.Errorf("Decode(AppendLine(a cost of %v)) = %v, want that it can be read: %s", f, err, line)
			continue
		}
		if cost := got.Event.(StepCompleted).CostUSD; math.IsNaN(f) != (cost == nil) {
			t.Errorf("a cost of %v comes back as %v, want nil for what is no number alone", f, cost)
		}
	}
}

// TestNoTimeSpoilsALine: RFC 3339 has the years from 0 to 9999, and clocks have others.
func TestNoTimeSpoilsALine(t *testing.T) {
	for _, at := range []time.Time{time.Unix(math.MaxInt64/2, 0), time.Unix(math.MinInt64/2, 0), time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), {}} {
		line, err := Record{Time: at, Event: StepStarted{}}.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(line); err != nil {
			t.Errorf("Decode(AppendJSON(an event of %v)) = %v, want that it can be read: %s", at, err, line)
		}
	}
}

// TestNoDepthSpoilsALine: a value that can just be read by itself cannot be read
// within an event.
func TestNoDepthSpoilsALine(t *testing.T) {
	deep := nested(10_000)
	if !json.Valid(deep) {
		t.Fatal("the value is too deep by itself")
	}
	for _, e := range []Event{
		StepCompleted{Output: JSONValue(deep)},
		VoteCompleted{Answer: JSONValue(deep)},
		VoteCompleted{Candidates: []Candidate{{Answer: deep}}},
		TaskSubmitted{Params: deep},
	} {
		line, err := Record{Event: e}.AppendJSON(nil)
		if err != nil {
			continue // nothing is written
		}
		if _, err := Decode(line); err != nil {
			t.Errorf("Decode(AppendJSON(%T with a deep value)) = %v, want that it can be read, or is refused", e, err)
		}
	}
}

func nested(levels int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", levels) + strings.Repeat("]", levels))
}

// FuzzWrittenLinesCanBeRead fills every type of event with whatever the fuzzer comes
// up with: an event is refused, or its line can be read again.
func FuzzWrittenLinesCanBeRead(f *testing.F) {
	types := slices.Sorted(maps.Keys(decoders))
	for i := range types {
		f.Add(i, []byte{})
		f.Add(i, bytes.Repeat([]byte{7, 255, 1}, 300))
		f.Add(i, bytes.Repeat([]byte{0x7f, 0xf0, 0, 0, 0, 0, 0, 0}, 100)) // infinite
		f.Add(i, bytes.Repeat([]byte{2, 3, 250, 4, 5, 6}, 200))
	}
	f.Fuzz(func(t *testing.T, i int, data []byte) {
		name := types[max(i%len(types), 0)]
		empty, err := decoders[name]([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		s := source{data: data}
		e := reflect.New(reflect.TypeOf(empty)).Elem()
		r := Record{Seq: s.number(), Time: time.Unix(int64(s.number()), 0), Run: s.text(), Key: s.text()}
		s.fill(e, 0)
		r.Event = e.Interface().(Event)
		line, err := r.AppendJSON(nil)
		if err != nil {
			return
		}
		if bytes.ContainsAny(line, "\n\r") {
			t.Errorf("AppendJSON(%+v) = %q, want one line", r, line)
		}
		got, err := Decode(line)
		if err != nil {
			t.Fatalf("Decode(AppendJSON(%+v)) = %v: %s", r, err, line)
		}
		if got.Seq != r.Seq || got.Event.Type() != name || got.Run != strings.ToValidUTF8(r.Run, "\ufffd") && strings.ToValidUTF8(r.Run, "") == r.Run {
			t.Errorf("Decode(%s) = %+v, want %+v", line, got, r)
		}
		again, err := got.AppendJSON(nil)
		if err != nil {
			t.Fatalf("AppendJSON(Decode(%s)) = %v", line, err)
		}
		if stable, err := Decode(again); err != nil || stable.Seq != r.Seq {
			t.Errorf("Decode(%s) = %+v, %v, want that it stays as it is", again, stable, err)
		}
	})
}

// A source makes values of what the fuzzer gives, and zeros when that is used up.
type source struct{ data []byte }

func (s *source) bytes(n int) []byte {
	n = min(n, len(s.data))
	out := s.data[:n]
	s.data = s.data[n:]
	return out
}

func (s *source) small() int {
	b := s.bytes(1)
	if len(b) == 0 {
		return 0
	}
	return int(b[0])
}

func (s *source) number() uint64 {
	var b [8]byte
	copy(b[:], s.bytes(8))
	return binary.BigEndian.Uint64(b[:])
}

func (s *source) text() string { return string(s.bytes(s.small() % 12)) }

func (s *source) raw() json.RawMessage {
	switch s.small() % 8 {
	case 0:
		return nil
	case 1:
		return json.RawMessage("{\n \"a\":\r[1.50, \"<\"]}")
	case 2:
		return nested(9_990 + s.small()%16)
	case 3:
		return json.RawMessage(`{"$sha256":"x"}`)
	case 4:
		return json.RawMessage(s.text()) // as a rule not JSON
	case 5:
		return json.RawMessage(`{ "$value" : 1}`)
	default:
		quoted, _ := json.Marshal(s.text()) // never fails
		return quoted
	}
}

// fill sets v and all that is in it.
func (s *source) fill(v reflect.Value, depth int) {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		v.SetBytes(s.raw())
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s.text())
	case reflect.Bool:
		v.SetBool(s.small()%2 == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(s.number()))
	case reflect.Uint64:
		v.SetUint(s.number())
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(s.number()))
	case reflect.Pointer:
		if s.small()%2 == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			s.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		n := s.small() % 3
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			s.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range s.small() % 3 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			s.fill(key, depth+1)
			s.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.fill(v.Field(i), depth+1)
		}
	}
}

// FuzzCompact: what is known to be JSON without asking the decoder is JSON, on one line.
func FuzzCompact(f *testing.F) {
	for text, want := range map[string]bool{
		`0`: true, `10`: true, `""`: true, `"a b"`: true, `[]`: true, `{}`: true, `[1,[2,"x"],{}]`: true, `{"a":1,"b":[{"c":""}]}`: true,
		``: false, `01`: false, `-1`: false, `1.5`: false, `1 `: false, `"\n"`: false, `"a`: false, `[1,]`: false, `[,1]`: false, `[1`: false, `[1}`: false,
		`{"a"}`: false, `{"a":}`: false, `{1:2}`: false, `{"a":1,}`: false, `[]]`: false, `[1 ,2]`: false, `"é"`: false, `true`: false,
	} {
		if got := isCompact([]byte(text)); got != want {
			f.Errorf("isCompact(%s) = %t, want %t", text, got, want)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) <= maxDepth && isCompact(raw) && (!json.Valid(raw) || bytes.ContainsAny(raw, "\r\n")) {
			t.Errorf("isCompact(%q) = true, want false", raw)
		}
	})
}

func TestTimesAreOfOneLayout(t *testing.T) {
	for _, at := range []time.Time{
		{}, time.Unix(0, 0), time.Date(2026, 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("", -3600)),
		time.Date(9, 1, 2, 3, 4, 5, 60_000_000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 1e6, time.UTC),
	} {
		if got, want := string(appendTime(nil, at)), at.UTC().Format(timeLayout); got != want {
			t.Errorf("appendTime(%v) = %s, want %s", at, got, want)
		}
	}
}

// TestMoneyIsWrittenAsShortAsCanBe: the quick way gives what the slow one does.
func TestMoneyIsWrittenAsShortAsCanBe(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	amounts := []float64{0, 1, 10, 999, 1000, 0.1, 0.0001, 0.00009999, 1e-12, 0.000532800000, 0.0005328000000000002, 999.999999999999, 35.5303644, -1, -0.5}
	for range 100_000 {
		amounts = append(amounts, float64(rng.Int64N(1<<rng.IntN(52)+1))/1e12, rng.Float64())
	}
	for _, f := range amounts {
		if got, want := string(appendFloat(nil, f)), strconv.FormatFloat(f, 'g', -1, 64); got != want {
			t.Fatalf("appendFloat(%v) = %s, want %s", f, got, want)
		}
	}
}
