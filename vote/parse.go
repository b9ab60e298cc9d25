package vote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A parser reads one JSON value. The standard library's decoder would not do:
// it replaces broken text by a question mark, which would make answers agree
// that do not.
type parser struct {
	in        string
	at        int
	keepSpace bool
}

// parse reads raw, which must be one complete JSON value.
func parse(raw string, keepSpace bool) (*node, error) {
	if len(raw) > MaxKeyBytes {
		return nil, fmt.Errorf("the answer has %d bytes, more than %d", len(raw), MaxKeyBytes)
	}
	p := parser{in: raw, keepSpace: keepSpace}
	root := new(node)
	p.skipSpace()
	if err := p.value(root, 0); err != nil {
		return nil, err
	}
	p.skipSpace()
	if p.at < len(p.in) {
		return nil, p.unexpected("the end")
	}
	return root, nil
}

func (p *parser) skipSpace() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next skips white space and returns the byte after it, 0 at the end.
func (p *parser) next() byte {
	p.skipSpace()
	if p.at == len(p.in) {
		return 0
	}
	return p.in[p.at]
}

// take consumes c and the white space around it.
func (p *parser) take(c byte) bool {
	if p.next() != c || p.at == len(p.in) {
		return false
	}
	p.at++
	p.skipSpace()
	return true
}

func (p *parser) unexpected(want string) error {
	if p.at >= len(p.in) {
		return fmt.Errorf("invalid JSON: it ends where %s should be", want)
	}
	r, _ := utf8.DecodeRuneInString(p.in[p.at:])
	return fmt.Errorf("invalid JSON: %q at byte %d where %s should be", r, p.at, want)
}

func (p *parser) value(n *node, depth int) error {
	switch c := p.next(); {
	case c == '{' || c == '[':
		if depth == MaxKeyDepth {
			return fmt.Errorf("the answer is nested more than %d deep", MaxKeyDepth)
		}
		if c == '{' {
			return p.object(n, depth+1)
		}
		return p.array(n, depth+1)
	case c == '"':
		n.kind = stringNode
		var err error
		n.text, err = p.string()
		return err
	case c == '-' || '0' <= c && c <= '9':
		n.kind = numberNode
		length := scanNumber(p.in[p.at:])
		if length == 0 {
			return p.unexpected("a number")
		}
		var err error
		n.text, err = normalNumber(p.in[p.at : p.at+length])
		p.at += length
		return err
	default:
		for _, word := range []string{"true", "false", "null"} {
			if strings.HasPrefix(p.in[p.at:], word) {
				n.kind, n.text = literalNode, word
				p.at += len(word)
				return nil
			}
		}
		return p.unexpected("a value")
	}
}

func (p *parser) array(n *node, depth int) error {
	n.kind = arrayNode
	p.take('[')
	if p.take(']') {
		return nil
	}
	for {
		n.kids = append(n.kids, node{})
		if err := p.value(&n.kids[len(n.kids)-1], depth); err != nil {
			return err
		}
		if p.take(',') {
			continue
		}
		if !p.take(']') {
			return p.unexpected("a comma or a bracket")
		}
		return nil
	}
}

func (p *parser) object(n *node, depth int) error {
	n.kind = objectNode
	p.take('{')
	if p.take('}') {
		return nil
	}
	for {
		if p.next() != '"' {
			return p.unexpected("a field's name")
		}
		name, err := p.string()
		if err != nil {
			return err
		}
		if !p.take(':') {
			return p.unexpected("a colon")
		}
		n.kids = append(n.kids, node{name: name})
		if err := p.value(&n.kids[len(n.kids)-1], depth); err != nil {
			return err
		}
		if p.take(',') {
			continue
		}
		if !p.take('}') {
			return p.unexpected("a comma or a brace")
		}
		break
	}
	byName := func(a, b node) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(n.kids, byName) {
		slices.SortFunc(n.kids, byName)
	}
	for i := 1; i < len(n.kids); i++ {
		if n.kids[i].name == n.kids[i-1].name {
			return fmt.Errorf("the field %q is there twice", clip(n.kids[i].name))
		}
	}
	return nil
}

// string reads a string and returns its normal form.
func (p *parser) string() (string, error) {
	p.at++ // the quotation mark
	start := p.at
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '"':
			text := p.in[start:p.at]
			p.at++
			return p.normalText(text)
		case c == '\\':
			return p.escapedString(start)
		case c < 0x20:
			return "", p.unexpected("an escaped character")
		default:
			p.at++
		}
	}
	return "", p.unexpected("a quotation mark")
}

func (p *parser) normalText(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", errors.New("the answer holds bytes that are not UTF-8")
	}
	return normalText(text, p.keepSpace), nil
}

// escapedString goes on reading a string that starts at start, from its first
// escape.
func (p *parser) escapedString(start int) (string, error) {
	text := []byte(p.in[start:p.at])
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			return p.normalText(string(text))
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			text = utf8.AppendRune(text, r)
		case c < 0x20:
			return "", p.unexpected("an escaped character")
		default:
			text = append(text, c)
			p.at++
		}
	}
	return "", p.unexpected("a quotation mark")
}

// escape reads one escaped character.
func (p *parser) escape() (rune, error) {
	p.at++ // the backslash
	if p.at == len(p.in) {
		return 0, p.unexpected("an escaped character")
	}
	c := p.in[p.at]
	if c != 'u' {
		const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
		i := strings.IndexByte(from, c)
		if i < 0 {
			return 0, p.unexpected("an escaped character")
		}
		p.at++
		return rune(to[i]), nil
	}
	p.at++
	r, err := p.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !strings.HasPrefix(p.in[p.at:], `\u`) {
		return 0, errHalfPair
	}
	p.at += 2
	low, err := p.hex4()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, errHalfPair
	}
	return r, nil
}

var errHalfPair = errors.New("the answer holds half a surrogate pair, which is no character")

func (p *parser) hex4() (rune, error) {
	var r rune
	for range 4 {
		if p.at == len(p.in) {
			return 0, p.unexpected("a hexadecimal digit")
		}
		switch c := p.in[p.at]; {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, p.unexpected("a hexadecimal digit")
		}
		p.at++
	}
	return r, nil
}
