package yamlclean

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxJSON bounds what one node may become. What [Load] accepts stays below it:
// a byte of YAML is at most six of JSON.
const maxJSON = 8 * maxExpanded

// Decode returns the JSON of a node, such as [Load] returns, with the keys of
// mappings in the order of the text.
//
// It is exact: numbers keep their digits, whatever their size. Only their syntax
// becomes that of JSON: +1 is 1, .5 is 0.5 and 5. is 5.0. JSON has no number for
// .nan and .inf, so these are strings. Keys are strings: the text that they are
// written as.
//
// An error is a [*ParseError]. A node of Load decodes without one.
func Decode(n *yaml.Node) (json.RawMessage, error) {
	data, err := encode(n)
	if err != nil {
		return nil, err
	}
	return data, nil
}

func encode(n *yaml.Node) (json.RawMessage, *ParseError) {
	if n != nil && n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	var e encoder
	if err := e.value(n, 1); err != nil {
		return nil, err
	}
	return json.RawMessage(e.out), nil
}

type encoder struct{ out []byte }

func (e *encoder) value(n *yaml.Node, depth int) *ParseError {
	switch {
	case n == nil:
		return newError(1, 1, "there is no value")
	case depth > MaxDepth:
		return nodeError(n, "the nesting is deeper than %d; write it flatter", MaxDepth)
	case len(e.out) > maxJSON:
		return nodeError(n, "the value is larger than %d bytes; use fewer aliases", maxJSON)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return e.value(n.Alias, depth+1)
	case yaml.ScalarNode:
		return e.scalar(n)
	case yaml.SequenceNode:
		return e.sequence(n, depth)
	case yaml.MappingNode:
		return e.mapping(n, depth)
	}
	return nodeError(n, "this is not a value")
}

func (e *encoder) scalar(n *yaml.Node) *ParseError {
	tag, ok := scalarTag(n)
	if !ok {
		return badTag(n)
	}
	switch tag {
	case tagNull:
		e.out = append(e.out, "null"...)
	case tagBool:
		e.out = append(e.out, strings.ToLower(n.Value)...)
	case tagInt, tagFloat:
		digits, _ := number(n.Value)
		e.out = append(e.out, digits...)
	default:
		return e.string(n)
	}
	return nil
}

func (e *encoder) sequence(n *yaml.Node, depth int) *ParseError {
	e.out = append(e.out, '[')
	for i, child := range n.Content {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.value(child, depth+1); err != nil {
			return err
		}
	}
	e.out = append(e.out, ']')
	return nil
}

func (e *encoder) mapping(n *yaml.Node, depth int) *ParseError {
	if len(n.Content)%2 != 0 {
		return nodeError(n, "the last key of this mapping has no value")
	}
	e.out = append(e.out, '{')
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key != nil && key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key == nil || key.Kind != yaml.ScalarNode {
			return nodeError(n, "a key of this mapping is not a scalar; put it in quotes if it is text")
		}
		if seen[key.Value] {
			return nodeError(key, "the key %q is in this mapping twice; remove one of them", clip(key.Value))
		}
		seen[key.Value] = true
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.string(key); err != nil {
			return err
		}
		e.out = append(e.out, ':')
		if err := e.value(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	e.out = append(e.out, '}')
	return nil
}

// string appends the text of a scalar. Nothing is escaped that need not be, but
// the two characters that would end a line in JavaScript.
func (e *encoder) string(n *yaml.Node) *ParseError {
	if !utf8.ValidString(n.Value) {
		return nodeError(n, "this string is not UTF-8")
	}
	s := n.Value
	e.out = append(e.out, '"')
	done := 0
	for i, r := range s {
		escape := ""
		switch {
		case r == '"':
			escape = `\"`
		case r == '\\':
			escape = `\\`
		case r == '\n':
			escape = `\n`
		case r == '\r':
			escape = `\r`
		case r == '\t':
			escape = `\t`
		case r < ' ' || r == 0x2028 || r == 0x2029:
			escape = fmt.Sprintf(`\u%04x`, r)
		default:
			continue
		}
		e.out = append(e.out, s[done:i]...)
		e.out = append(e.out, escape...)
		done = i + utf8.RuneLen(r)
	}
	e.out = append(e.out, s[done:]...)
	e.out = append(e.out, '"')
	return nil
}
