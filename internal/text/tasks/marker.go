package tasks

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
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
)

// family is the style of the items that are on one level with it.
func (s style) family() style {
	if s.ordered() {
		return number
	}
	return bullet
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
)

const (
	anySpace = `[\s\v\x{85}\p{Z}]`

	// Numbers of more than six digits are quantities.
	numeral = `\p{Nd}{1,6}(?:\.\p{Nd}{1,6}){0,5}`
)

var (
	dashes = regexp.MustCompile(`^(?:(\*+)|[-+]|([` + weakBullets + `]))(?:` + anySpace + `+|$)`)
	signs  = regexp.MustCompile(`^([` + bullets + openBoxes + doneBoxes + `①-⑳])\x{FE0F}?` + anySpace + `*`)
	labels = regexp.MustCompile(`^(\*\*)?(\()?(` + numeral + `)([).:]?)(\*\*)?(` + anySpace + `+|$)`)
	steps  = regexp.MustCompile(`^(?:\*\*)?(?i:step|task) (` + numeral + `)(?:\*\*)? *[:.)–—-](?:\*\*)?(?:` + anySpace + `+|$)`)
	boxes  = regexp.MustCompile(`^\[(?:([xX` + doneBoxes + `])|[ \x{A0}])?\](?:` + anySpace + `+|$)`)
)

// readMarker reads the mark at the start of a line, with the box after it.
func readMarker(line string) (marker, bool) {
	m, ok := readBullet(line)
	if !ok {
		m, ok = readLabel(line)
	}
	if g := steps.FindStringSubmatch(line); !ok && g != nil {
		m, ok = marker{style: number, ordinal: ordinalOf(g[1]), size: len(g[0])}, true
		m.depth = len(m.ordinal)
	}
	if g := boxes.FindStringSubmatch(line[m.size:]); m.box == noBox && g != nil {
		m.box, ok = openBox, true
		if g[1] != "" {
			m.box = doneBox
		}
		m.size += len(g[0])
	}
	m.depth = max(m.depth, 1)
	return m, ok
}

func readBullet(line string) (marker, bool) {
	if g := dashes.FindStringSubmatch(line); g != nil {
		m := marker{style: bullet, depth: len(g[1]), size: len(g[0])}
		if g[2] != "" {
			m.style = weakBullet
		}
		return m, true
	}
	g := signs.FindStringSubmatch(line)
	if g == nil {
		return marker{}, false
	}
	m := marker{style: bullet, size: len(g[0])}
	switch r := firstRune(g[1]); {
	case strings.ContainsRune(openBoxes, r):
		m.box = openBox
	case strings.ContainsRune(doneBoxes, r):
		m.box = doneBox
	case '①' <= r && r <= '⑳':
		m.style, m.ordinal = number, []int{int(r-'①') + 1}
	}
	return m, true
}

// readLabel reads 1. 1) (1) 1: 1.2. 1.2 and their likes in other digits.
func readLabel(line string) (marker, bool) {
	g := labels.FindStringSubmatch(line)
	if g == nil {
		return marker{}, false
	}
	bold, paren, end := g[1] != "", g[2] != "", g[4]
	m := marker{style: number, ordinal: ordinalOf(g[3]), size: len(g[0])}
	m.depth = len(m.ordinal)
	switch {
	case paren && end != ")", bold != (g[5] != ""):
		return marker{}, false
	case end == "" && m.depth > 1 && !bold && g[6] != "":
		m.style = bareNumber
	case end == "", end == ":" && m.depth > 1:
		return marker{}, false
	}
	return m, true
}

// maxFirst is the last number that a list may begin with: what is beyond it could be a
// year. It is a label only where a list has come that far.
const maxFirst = 999

func ordinalOf(label string) []int {
	var out []int
	for part := range strings.SplitSeq(label, ".") {
		n := 0
		for _, r := range part {
			n = n*10 + digitValue(r)
		}
		out = append(out, n)
	}
	return out
}

// digitValue is the value of a decimal digit of any script: they come in tens.
func digitValue(r rune) int {
	zero := r
	for r-zero < 9 && unicode.IsDigit(zero-1) {
		zero--
	}
	return int(r-zero) % 10
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
