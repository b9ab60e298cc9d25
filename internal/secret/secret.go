// Package secret keeps keys out of logs: whatever equals a known secret is
// replaced before it is written anywhere.
package secret

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// shortest is the length below which a value is not taken for a secret: blanking
// every "test" or "none" out of a log would spoil it and protect nothing.
const shortest = 8

// A Set holds the secrets of a run. A nil set holds none. It does not change
// once it is made, so any number of goroutines may use it.
type Set struct {
	values  [][]byte
	strings *strings.Replacer
}

// NewSet returns a set of the given values, as they are and as JSON writes them.
func NewSet(values ...string) *Set {
	s := &Set{}
	var pairs []string
	add := func(v string) {
		s.values = append(s.values, []byte(v))
		pairs = append(pairs, v, Redacted)
	}
	for _, v := range values {
		if len(v) < shortest {
			continue
		}
		add(v)
		if quoted, err := json.Marshal(v); err == nil {
			if inner := string(quoted[1 : len(quoted)-1]); inner != v {
				add(inner)
			}
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	s.strings = strings.NewReplacer(pairs...)
	return s
}

// Redact returns text without the secrets.
func (s *Set) Redact(text string) string {
	if s == nil {
		return text
	}
	return s.strings.Replace(text)
}

// RedactBytes returns a JSON document without the secrets in its strings; data
// itself if it holds none. Names of fields, numbers and what holds the document
// together stay as they are: a key that happens to look like them must not cost
// the log.
func (s *Set) RedactBytes(data []byte) []byte {
	if s == nil {
		return data
	}
	for _, v := range s.values {
		if bytes.Contains(data, v) {
			return s.redactStrings(data)
		}
	}
	return data
}

func (s *Set) redactStrings(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		if data[i] != '"' {
			out = append(out, data[i])
			i++
			continue
		}
		end := i + 1
		for end < len(data) && data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(data))
		inner := data[i+1 : end]
		if next := bytes.TrimLeft(data[min(end+1, len(data)):], " \t\r\n"); len(next) == 0 || next[0] != ':' {
			inner = []byte(s.strings.Replace(string(inner)))
		}
		out = append(append(out, '"'), inner...)
		if end < len(data) {
			out = append(out, '"')
		}
		i = end + 1
	}
	return out
}
