package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// A matcher finds any of many texts. Data rarely holds one, so what counts is how
// fast it says so: it looks at windows of the length of the shortest text, and the
// last bytes of a window say how far the next one can be away (Wu and Manber, 1994).
type matcher struct {
	patterns []string // all forms of the secrets
	window   int
	shift    [1 << hashBits]uint8
	ending   map[uint16][]int // patterns by the hash of the end of their window
	holds    [256]bool        // the bytes that patterns consist of
	escapes  [256]bool        // what comes after a backslash and may stand for one of them
}

const (
	hashBits  = 14
	maxWindow = 64
)

func hash(a, b, c byte) uint16 {
	return (uint16(a)<<10 ^ uint16(b)<<5 ^ uint16(c)) & (1<<hashBits - 1)
}

// newMatcher returns a matcher for all forms of the values; nil if there are none.
func newMatcher(values []string) *matcher {
	m := &matcher{window: maxWindow, ending: map[uint16][]int{}}
	add := func(texts ...string) {
		for _, text := range texts {
			if !slices.Contains(m.patterns, text) {
				m.patterns = append(m.patterns, text)
			}
		}
	}
	for _, v := range values {
		if len(v) < shortest {
			continue
		}
		m.window = min(m.window, len(v))
		digits := hex.EncodeToString([]byte(v))
		add(v, digits, strings.ToUpper(digits))
		add(inBase64(v)...)
	}
	if len(m.patterns) == 0 {
		return nil
	}
	m.prepare()
	return m
}

// inBase64 are the characters that a secret makes of base64, wherever it begins in
// the groups of three bytes. Those at its ends that depend on what is beside it are
// left out.
func inBase64(v string) []string {
	var list []string
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := e.EncodeToString([]byte("\x00\x00"[:before] + v))
			list = append(list, text[(before*8+5)/6:(before+len(v))*8/6])
		}
	}
	return list
}

// prepare fills the tables.
func (m *matcher) prepare() {
	for i := range m.shift {
		m.shift[i] = uint8(m.window - 2)
	}
	for n, p := range m.patterns {
		for i := 2; i < m.window; i++ {
			h := hash(p[i-2], p[i-1], p[i])
			m.shift[h] = min(m.shift[h], uint8(m.window-1-i))
		}
		h := hash(p[m.window-3], p[m.window-2], p[m.window-1])
		m.ending[h] = append(m.ending[h], n)
		for _, b := range []byte(p) {
			m.holds[b] = true
		}
	}
	m.escapes['u'] = true
	for i := range len(plainEscapes) {
		m.escapes[plainEscapes[i]] = m.holds[plainMeaning[i]]
	}
}

// mayHold reports whether there may be a secret in data. It is quick, and never wrong
// if it says no.
func (m *matcher) mayHold(data []byte) bool {
	for i := m.window - 1; i < len(data); {
		h := hash(data[i-2], data[i-1], data[i])
		if d := m.shift[h]; d > 0 {
			i += int(d)
			continue
		}
		start := i - m.window + 1
		for _, n := range m.ending[h] {
			if string(data[start:i+1]) == m.patterns[n][:m.window] {
				return true
			}
		}
		i++
	}
	return m.hidden(data)
}

// next returns the first pattern in data from a place on, and the longest of those
// that begin there. The end is -1 if there is none.
func (m *matcher) next(data []byte, from int) (start, end int) {
	for i := from + m.window - 1; i < len(data); {
		h := hash(data[i-2], data[i-1], data[i])
		if d := m.shift[h]; d > 0 {
			i += int(d)
			continue
		}
		start, end = i-m.window+1, -1
		for _, n := range m.ending[h] {
			if p := m.patterns[n]; bytes.HasPrefix(data[start:], []byte(p)) {
				end = max(end, start+len(p))
			}
		}
		if end >= 0 {
			return start, end
		}
		i++
	}
	return 0, -1
}
