package vote

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// A node is a parsed JSON value in normal form.
type node struct {
	kind kind
	kept kept
	name string // of the field that it is, if its parent is an object
	text string // of a string its characters, of other scalars the JSON
	kids []node // fields sorted by name, or elements
}

type kind uint8

const (
	literalNode kind = iota // true, false, null
	numberNode
	stringNode
	arrayNode
	objectNode
)

// kept says how much of a value the vote is on.
type kept uint8

const (
	keptNone kept = iota
	keptPart      // what a path goes through
	keptWhole
)

// mark marks what p names. If something is missing it returns the way to it.
func (n *node) mark(p path) (missing []string) {
	if len(p) == 0 {
		n.kept = keptWhole
		return nil
	}
	n.kept = max(n.kept, keptPart)
	step := p[0]
	switch {
	case n.kind == objectNode && !step.any:
		i, ok := n.field(step.name)
		if !ok {
			return []string{step.name}
		}
		if missing := n.kids[i].mark(p[1:]); missing != nil {
			return append([]string{step.name}, missing...)
		}
	case (n.kind == objectNode || n.kind == arrayNode) && step.any:
		for i := range n.kids {
			if missing := n.kids[i].mark(p[1:]); missing != nil {
				name := clip.Short(n.kids[i].name)
				if n.kind == arrayNode {
					name = strconv.Itoa(i)
				}
				return append([]string{name}, missing...)
			}
		}
	case step.any:
		return []string{"*"}
	default:
		return []string{step.name}
	}
	return nil
}

// prune removes what is not marked.
func (n *node) prune() {
	if n.kept == keptWhole {
		return
	}
	n.kids = slices.DeleteFunc(n.kids, func(kid node) bool { return kid.kept == keptNone })
	for i := range n.kids {
		n.kids[i].prune()
	}
}

// remove removes what p names, as far as it is there.
func (n *node) remove(p path) {
	if n.kind != objectNode && (n.kind != arrayNode || !p[0].any) {
		return
	}
	if len(p) == 1 {
		n.kids = slices.DeleteFunc(n.kids, func(kid node) bool { return p[0].matches(kid.name) })
		return
	}
	for i := range n.kids {
		if p[0].matches(n.kids[i].name) {
			n.kids[i].remove(p[1:])
		}
	}
}

func (n *node) field(name string) (int, bool) {
	return slices.BinarySearchFunc(n.kids, name, func(kid node, name string) int {
		return strings.Compare(kid.name, name)
	})
}

// appendTo appends the value as canonical JSON.
func (n *node) appendTo(b []byte) []byte {
	switch n.kind {
	case stringNode:
		return appendQuoted(b, n.text)
	case arrayNode:
		b = append(b, '[')
		for i := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.kids[i].appendTo(b)
		}
		return append(b, ']')
	case objectNode:
		b = append(b, '{')
		for i := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, n.kids[i].name), ':')
			b = n.kids[i].appendTo(b)
		}
		return append(b, '}')
	default:
		return append(b, n.text...)
	}
}

// appendQuoted appends a JSON string with as few escapes as JSON permits.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c < 0x20:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// normalText returns the normal form of a string: NFC and, unless keepSpace,
// no white space but single spaces inside.
func normalText(s string, keepSpace bool) string {
	if !keepSpace {
		s = collapseSpace(s)
	}
	return norm.NFC.String(s)
}

func collapseSpace(s string) string {
	if isCollapsed(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	for word := range strings.FieldsSeq(s) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(b, word...)
	}
	return string(b)
}

// isCollapsed reports whether the only white space in s is single spaces
// between other characters.
func isCollapsed(s string) bool {
	space := true // white space may not come next
	for i, r := range s {
		switch {
		case r == ' ':
			if space || i+1 == len(s) {
				return false
			}
			space = true
		case r < utf8.RuneSelf && r > ' ':
			space = false
		case unicode.IsSpace(r):
			return false
		default:
			space = false
		}
	}
	return true
}
