package yamlclean

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// A fix corrects one kind of damage wherever it finds it in a document.
//
// It touches only what cannot be YAML as it stands, so a document that parses
// comes out of it with the same data; and of two ways to read what was meant it
// takes neither.
type fix struct {
	name string

	// apply returns the corrected document. It returns several if the damage
	// leaves more than one, and none if there is nothing to correct.
	apply func(document) []variant
}

type variant struct {
	doc   document
	names []string // of what was done, if not the name of the fix
}

// fixes are in the order in which they are tried: first what others rely on, and
// what is surest.
var fixes = []fix{
	{"tabs", fixTabs},
	{"smart_quotes", one(fixSmartQuotes)},
	{"trailing_commas", one(fixTrailingCommas)},
	{"bad_escapes", one(fixEscapes)},
	{"unquoted_special", one(fixQuotedWord)},
	{"unquoted_special", one(fixUnquotedSpecial)},
	{"unquoted_colon", one(fixUnquotedColon)},
	{"indentation", one(fixIndentation)},
	{"block_marker", one(fixBlockMarker)},
}

// one makes a fix of a function that returns a document, or nil if it has nothing
// to correct.
func one(f func(document) document) func(document) []variant {
	return func(d document) []variant {
		if fixed := f(d); fixed != nil {
			return []variant{{doc: fixed}}
		}
		return nil
	}
}

// maxRepair is the length of a text up to which it is repaired. It is more than a
// model writes in one answer; with all fixes, a text is parsed some twenty times.
const maxRepair = MaxSize / 4

// maxRounds is how often all fixes are tried. One round is enough unless a damage
// hides another one of a kind that comes before it.
const maxRounds = 4

// maxHarmless is how many fixes are remembered that do not help alone.
const maxHarmless = 4

// A repaired is a text under repair with how far it can be read.
type repaired struct {
	doc   document
	root  *yaml.Node // nil if it does not load
	reach reach
	names []string
}

// repair tries the fixes in turn and keeps those after which more of the text can
// be read. It returns nil if the text does not load in the end.
//
// Where two damages are in one place, correcting one of them alone does not help.
// So a fix that does no harm is remembered, and kept if another one on top of it
// helps.
func repair(text string) *repaired {
	if len(text) > maxRepair {
		return nil
	}
	now := try(newDocument(text), nil)
	var harmless []*repaired // each is now and one more fix
	for range maxRounds {
		before, known := now, len(harmless)
		for _, f := range fixes {
			if now.root != nil {
				return now
			}
			better, equal := now.apply(f)
			for _, r := range harmless {
				if better == nil {
					better, _ = r.apply(f)
				}
			}
			switch {
			case better != nil:
				now, harmless = better, nil
			case equal != nil && len(harmless) < maxHarmless:
				harmless = append(harmless, equal)
			}
		}
		if now == before && (known > 0 || len(harmless) == 0) {
			break
		}
	}
	if now.root == nil {
		return nil
	}
	return now
}

// apply returns the best that a fix makes of a text: if more of it can be read
// then, as better, and if just as much of it, as equal.
func (r *repaired) apply(f fix) (better, equal *repaired) {
	var data []byte
	for _, v := range f.apply(r.doc) {
		names := v.names
		if names == nil {
			if !sameWords(r.doc, v.doc) {
				continue
			}
			names = []string{f.name}
		}
		next := try(v.doc, slices.Concat(r.names, without(names, r.names)))
		if next.root != nil {
			decoded := decode(next.root)
			if data != nil && !bytes.Equal(data, decoded) {
				return nil, nil // there are two readings
			}
			data = decoded
		}
		switch {
		case next.reach.beyond(r.reach) && (better == nil || next.reach.beyond(better.reach)):
			better = next
		case next.reach == r.reach && equal == nil:
			equal = next
		}
	}
	return better, equal
}

func without(names, known []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(known, n) })
}

func try(d document, names []string) *repaired {
	text := d.String()
	root, p := load(text)
	r := &repaired{doc: d, root: root, names: names}
	if p != nil {
		r.reach = p.reach(d)
	} else {
		r.reach = reach{stage: loaded}
	}
	return r
}

// A reach is how far a text can be read.
type reach struct {
	stage int
	line  int // of the original text
	left  int // bytes of the line that are left
}

const (
	broken = iota // the syntax is wrong
	parsed        // the syntax is right
	loaded
)

func (r reach) beyond(other reach) bool {
	switch {
	case r.stage != other.stage:
		return r.stage > other.stage
	case r.line != other.line:
		return r.line > other.line
	}
	return r.left < other.left
}

// reach returns how far the document that has the problem can be read.
func (p *problem) reach(d document) reach {
	var r reach
	var index, column int
	switch {
	case p.exact != nil:
		index, column = p.exact.Line-1, p.exact.Column-1
		if p.parsed {
			r.stage = parsed
		}
	case p.message == unclosedQuote:
		index = max(p.line-1, 0)
	default:
		index, column = bytePosition(p.text, p.end())
	}
	index = min(index, len(d)-1)
	r.line = d[index].origin
	r.left = len(d[index].text) - column
	return r
}

// bytePosition returns the index of the line of a byte, and where on it the byte
// is.
func bytePosition(text string, offset int) (index, column int) {
	before := text[:offset]
	return strings.Count(before, "\n"), offset - (strings.LastIndexByte(before, '\n') + 1)
}

// sameWords reports whether two documents have the same letters and digits. A fix
// that changes more than the syntax is not trusted.
func sameWords(a, b document) bool {
	next := func(d document) func() rune {
		text := d.String()
		return func() rune {
			for i, r := range text {
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					text = text[i+len(string(r)):]
					return r
				}
			}
			text = ""
			return 0
		}
	}
	nextA, nextB := next(a), next(b)
	for {
		x, y := nextA(), nextB()
		if x != y {
			return false
		}
		if x == 0 {
			return true
		}
	}
}
