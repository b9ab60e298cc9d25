package tasks

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// box is the check box of an item.
type box byte

const (
	noBox box = iota
	openBox
	doneBox
)

// style is the sort of mark that an item has. Items of one list share it.
type style byte

const (
	bullet style = iota
	weakBullet
	number
	bareNumber // dotted, with nothing after it: 1.2
	alpha
	upperAlpha
	upperStop // A. which may be a name as well
	roman
)

// family is the style of the items that are on one level with it.
func (s style) family() style {
	switch s {
	case weakBullet:
		return bullet
	case bareNumber:
		return number
	case upperStop:
		return upperAlpha
	}
	return s
}

func (s style) ordered() bool { return s >= number }

// A marker is what stands before the text of an item.
type marker struct {
	style   style
	ordinal []int // of ordered items: 1.2 is {1, 2}
	depth   int   // of marks that show it themselves: **, 1.2
	box     box
	size    int // in bytes, with the space after it
}

const (
	bullets     = "•‣◦▪▫●○■□◆◇∙·⁃➢➤➜►▶▸▹"
	weakBullets = "–—→⇒"
	openBoxes   = "☐"
	doneBoxes   = "☑☒✅✔✓"
	hanDigits   = "一二三四五六七八九十"
)

// readMarker reads the mark at the start of a line, with the box after it.
func readMarker(line string) (marker, bool) {
	m, ok := readBullet(line)
	if !ok {
		m, ok = readNumber(line)
	}
	if !ok {
		m, ok = readStep(line)
	}
	if m.box == noBox {
		if b, size := readBox(line[m.size:]); b != noBox {
			m.box = b
			m.size += size
			ok = true
		}
	}
	m.depth = max(m.depth, 1)
	return m, ok
}

func readBullet(line string) (marker, bool) {
	r, size := utf8.DecodeRuneInString(line)
	m := marker{style: bullet, size: size}
	switch {
	case r == '*':
		m.depth = len(line) - len(strings.TrimLeft(line, "*"))
		m.size = m.depth
		return m.spaced(line)
	case r == '-' || r == '+':
		return m.spaced(line)
	case line != "" && strings.ContainsRune(weakBullets, r):
		m.style = weakBullet
		return m.spaced(line)
	case line == "" || r == utf8.RuneError:
		return marker{}, false
	case strings.ContainsRune(openBoxes, r):
		m.box = openBox
	case strings.ContainsRune(doneBoxes, r):
		m.box = doneBox
	case '①' <= r && r <= '⑳':
		m.style, m.ordinal = number, []int{int(r-'①') + 1}
	case !strings.ContainsRune(bullets, r):
		return marker{}, false
	}
	// An emoji may come with a selector of its form.
	rest := strings.TrimPrefix(line[m.size:], "\uFE0F")
	m.size = len(line) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
	return m, true
}

// spaced accepts a mark if a space follows it, which becomes part of it.
func (m marker) spaced(line string) (marker, bool) {
	rest := line[m.size:]
	trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if rest != "" && len(trimmed) == len(rest) {
		return marker{}, false
	}
	m.size = len(line) - len(trimmed)
	return m, true
}

// readNumber reads 1. 1) (1) 1: 1.2. 1.2 a. a) (a) A) ii. and their likes in
// other scripts.
func readNumber(line string) (marker, bool) {
	rest := line
	bold := strings.HasPrefix(rest, "**")
	if bold {
		rest = rest[2:]
	}
	paren := false
	if r := firstRune(rest); r == '(' || r == '（' {
		paren = true
		rest = rest[utf8.RuneLen(r):]
	}
	m, size := readOrdinal(rest)
	if size == 0 {
		return marker{}, false
	}
	rest = rest[size:]
	r, size := utf8.DecodeRuneInString(rest)
	tight := false // no space is needed after it
	switch {
	case paren:
		if r != ')' && r != '）' {
			return marker{}, false
		}
		tight = r == '）'
	case r == ')', r == '）':
		tight = r == '）'
	case m.style == upperAlpha:
		if r != '.' || bold {
			return marker{}, false
		}
		m.style = upperStop
	case r == '.':
	case r == '、' || r == '．':
		tight = true
	case r == ':' && m.style == number && len(m.ordinal) == 1:
	case unicode.IsSpace(r) && len(m.ordinal) > 1 && !bold:
		m.style, size = bareNumber, 0
	default:
		return marker{}, false
	}
	rest = rest[size:]
	if bold {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, "**"); !ok {
			return marker{}, false
		}
	}
	m.size = len(line) - len(rest)
	m.depth = len(m.ordinal)
	if tight {
		m.size = len(line) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
		return m, true
	}
	return m.spaced(line)
}

// readOrdinal reads the number itself, and says how many bytes it has.
func readOrdinal(s string) (marker, int) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsDigit(r):
		return readDigits(s)
	case strings.ContainsRune(hanDigits, r) && s != "":
		end := len(s) - len(strings.TrimLeft(s, hanDigits))
		if next := firstRune(s[end:]); next != '、' && next != '．' && next != ')' && next != '）' {
			return marker{}, 0
		}
		return marker{style: number, ordinal: []int{strings.Index(hanDigits, string(r))/size + 1}}, end
	case 'A' <= r && r <= 'Z':
		return marker{style: upperAlpha, ordinal: []int{int(r-'A') + 1}}, size
	case 'a' <= r && r <= 'z':
		end := 0
		for end < len(s) && 'a' <= s[end] && s[end] <= 'z' {
			end++
		}
		if end == 1 {
			return marker{style: alpha, ordinal: []int{int(r-'a') + 1}}, 1
		}
		if n := slices.Index(romans, s[:end]); n >= 0 {
			return marker{style: roman, ordinal: []int{n + 1}}, end
		}
	}
	return marker{}, 0
}

var romans = []string{"i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv"}

// maxDigits keeps quantities from being taken for the number of an item. A number
// beyond maxFirst could be a year: it is one only where a list has come that far.
const (
	maxDigits = 6
	maxFirst  = 999
)

func readDigits(s string) (marker, int) {
	m := marker{style: number}
	at := 0
	for {
		n, digits, size := 0, 0, 0
		for _, r := range s[at:] {
			if !unicode.IsDigit(r) {
				break
			}
			n = n*10 + digitValue(r)
			size += utf8.RuneLen(r)
			if digits++; digits > maxDigits {
				return marker{}, 0
			}
		}
		m.ordinal = append(m.ordinal, n)
		at += size
		if len(s) > at+1 && s[at] == '.' && unicode.IsDigit(firstRune(s[at+1:])) && len(m.ordinal) < 6 {
			at++
			continue
		}
		return m, at
	}
}

// digitValue is the value of a decimal digit of any script: they come in tens.
func digitValue(r rune) int {
	zero := r
	for r-zero < 9 && unicode.IsDigit(zero-1) {
		zero--
	}
	return int(r-zero) % 10
}

// readStep reads "Step 1:" and the like.
func readStep(line string) (marker, bool) {
	rest := strings.TrimPrefix(line, "**")
	bold := len(rest) < len(line)
	word := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsLetter))
	if w := strings.ToLower(rest[:word]); w != "step" && w != "task" {
		return marker{}, false
	}
	rest, spaced := strings.CutPrefix(rest[word:], " ")
	m, size := marker{}, 0
	if unicode.IsDigit(firstRune(rest)) {
		m, size = readDigits(rest)
	}
	if !spaced || size == 0 {
		return marker{}, false
	}
	rest = rest[size:]
	if bold {
		rest = strings.TrimPrefix(rest, "**")
	}
	rest = strings.TrimLeft(rest, " ")
	r, size := utf8.DecodeRuneInString(rest)
	if !strings.ContainsRune(":.)-–—", r) || rest == "" {
		return marker{}, false
	}
	rest = rest[size:]
	if bold {
		rest = strings.TrimPrefix(rest, "**")
	}
	m.depth = len(m.ordinal)
	m.size = len(line) - len(rest)
	return m.spaced(line)
}

// readBox reads a check box: [ ] [x] [X] [✓], with a space after it.
func readBox(s string) (box, int) {
	inner, ok := strings.CutPrefix(s, "[")
	if !ok {
		return noBox, 0
	}
	b := openBox
	r, size := utf8.DecodeRuneInString(inner)
	switch {
	case r == ']':
		size = 0
	case r == 'x' || r == 'X' || strings.ContainsRune(doneBoxes, r):
		b = doneBox
	case r != ' ' && r != '\u00A0':
		return noBox, 0
	}
	m := marker{size: 1 + size + 1}
	if len(inner) <= size || inner[size] != ']' {
		return noBox, 0
	}
	if m, ok = m.spaced(s); !ok {
		return noBox, 0
	}
	return b, m.size
}

// follows reports whether an ordinal comes next after another one of its list:
// 2 after 1, 1.1 after 1, 1.2 after 1.1, 2 after 1.3.
func follows(next, last []int) bool {
	n := len(next)
	switch {
	case n == 0 || len(last) == 0:
		return false
	case n == len(last)+1:
		return slices.Equal(next[:n-1], last) && next[n-1] <= 1
	case n > len(last):
		return false
	}
	return slices.Equal(next[:n-1], last[:n-1]) && next[n-1] == last[n-1]+1
}
