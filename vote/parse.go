package vote

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// A parser makes nodes of a text that is known to be one complete JSON value.
type parser struct {
	in        string
	tokens    *json.Decoder
	keepSpace bool
}

// parse reads raw, which must be one complete JSON value.
func parse(raw string, keepSpace bool) (*node, error) {
	if len(raw) > MaxKeyBytes {
		return nil, fmt.Errorf("the answer has %d bytes, more than %d", len(raw), MaxKeyBytes)
	}
	if !utf8.ValidString(raw) { // the library would put a question mark in its place
		return nil, errors.New("the answer holds bytes that are not UTF-8")
	}
	if err := json.Unmarshal([]byte(raw), new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("invalid JSON: %w", err)
	}
	p := parser{in: raw, tokens: json.NewDecoder(strings.NewReader(raw)), keepSpace: keepSpace}
	p.tokens.UseNumber()
	root := new(node)
	return root, p.value(root, 0)
}

func (p *parser) value(n *node, depth int) error {
	before := p.tokens.InputOffset()
	token, err := p.tokens.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth == MaxKeyDepth {
			return fmt.Errorf("the answer is nested more than %d deep", MaxKeyDepth)
		}
		if n.kind = arrayNode; token == '{' {
			n.kind = objectNode
		}
		return p.collection(n, depth+1)
	case string:
		n.kind = stringNode
		n.text, err = p.normal(token, before)
	case json.Number:
		n.kind = numberNode
		n.text, err = normalNumber(token.String())
	default:
		n.kind, n.text = literalNode, "null"
		if token != nil {
			n.text = fmt.Sprint(token)
		}
	}
	return err
}

// collection reads the elements of an array, or the fields of an object.
func (p *parser) collection(n *node, depth int) error {
	for p.tokens.More() {
		var name string
		if n.kind == objectNode {
			before := p.tokens.InputOffset()
			token, err := p.tokens.Token()
			if err != nil {
				return err
			}
			name, _ = token.(string)
			if name, err = p.normal(name, before); err != nil {
				return err
			}
		}
		n.kids = append(n.kids, node{name: name})
		if err := p.value(&n.kids[len(n.kids)-1], depth); err != nil {
			return err
		}
	}
	if _, err := p.tokens.Token(); err != nil || n.kind == arrayNode {
		return err
	}
	slices.SortFunc(n.kids, func(a, b node) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(n.kids); i++ {
		if n.kids[i].name == n.kids[i-1].name {
			return fmt.Errorf("the field %q is there twice", clip.Short(n.kids[i].name))
		}
	}
	return nil
}

// normal returns the normal form of the string that was read last, from a place on. Of
// half a surrogate pair the library makes U+FFFD, which would make answers agree that
// do not.
func (p *parser) normal(text string, from int64) (string, error) {
	const replacement = "\uFFFD"
	if found := strings.Count(text, replacement); found > 0 {
		written := p.in[from:p.tokens.InputOffset()]
		if found > strings.Count(written, replacement)+strings.Count(strings.ToLower(written), `\ufffd`) {
			return "", errors.New("the answer holds half a surrogate pair, which is no character")
		}
	}
	return normalText(text, p.keepSpace), nil
}
