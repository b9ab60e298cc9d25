package yamlclean

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// JSON loads a text, as [Load] does, and returns it as JSON with the keys of
// mappings in the order of the text.
//
// It is exact: numbers keep their digits, whatever their size. Only their syntax
// becomes that of JSON: +1 is 1, .5 is 0.5 and 5. is 5.0. JSON has no number for
// .nan and .inf, so these are strings. Keys are strings: the text that they are
// written as.
//
// An error is a [*ParseError].
func JSON(text string) (json.RawMessage, error) {
	root, err := Load(text)
	if err != nil {
		return nil, err
	}
	return decode(root), nil
}

// decode returns the JSON of a node that was loaded.
func decode(root *yaml.Node) json.RawMessage {
	var w jsonWriter
	w.strings = json.NewEncoder(&w.out)
	w.strings.SetEscapeHTML(false)
	w.value(root)
	return w.out.Bytes()
}

type jsonWriter struct {
	out     bytes.Buffer
	strings *json.Encoder // writes to out
}

func (w *jsonWriter) value(n *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode:
		w.out.WriteByte('{')
		for i, child := range n.Content {
			switch {
			case i%2 == 1:
				w.out.WriteByte(':')
			case i > 0:
				w.out.WriteByte(',')
			}
			w.value(child)
		}
		w.out.WriteByte('}')
	case n.Kind == yaml.SequenceNode:
		w.out.WriteByte('[')
		for i, child := range n.Content {
			if i > 0 {
				w.out.WriteByte(',')
			}
			w.value(child)
		}
		w.out.WriteByte(']')
	case n.Tag == tagNull:
		w.out.WriteString("null")
	case n.Tag == tagBool:
		w.out.WriteString(strings.ToLower(n.Value))
	case n.Tag == tagInt || n.Tag == tagFloat:
		digits, _ := number(n.Value)
		w.out.WriteString(digits)
	default:
		_ = w.strings.Encode(n.Value)   // a buffer takes everything
		w.out.Truncate(w.out.Len() - 1) // the line break that the encoder adds
	}
}

// loadJSON reads a text that is JSON. It returns nil and no error if it is not.
func loadJSON(text string) (*yaml.Node, *ParseError) {
	text = strings.TrimPrefix(text, "\uFEFF")
	switch first := strings.TrimLeft(text, " \t\r\n"); {
	case first == "" || !strings.Contains(`{["`, first[:1]):
		return nil, nil
	case !json.Valid([]byte(text)):
		return nil, nil
	}
	r := jsonReader{text: text, tokens: json.NewDecoder(strings.NewReader(text)), line: 1, column: 1}
	r.tokens.UseNumber()
	root := r.value()
	if r.half != nil {
		return nil, nodeError(r.half, "a \\u escape in this string is half of a character; write both halves")
	}
	return root, resolve(text, root)
}

// A jsonReader makes nodes of a text that is known to be valid JSON.
type jsonReader struct {
	text         string
	tokens       *json.Decoder
	start, end   int        // of the last token
	line, column int        // of its start
	half         *yaml.Node // the first string with half of a character
}

// next returns the next token, and a node at its place.
func (r *jsonReader) next() (json.Token, *yaml.Node) {
	start := r.end
	for strings.IndexByte(" \t\r\n,:", r.text[start]) >= 0 {
		start++
	}
	for _, c := range r.text[r.start:start] {
		if r.column++; c == '\n' {
			r.line, r.column = r.line+1, 1
		}
	}
	token, _ := r.tokens.Token() // the text is valid
	r.start, r.end = start, int(r.tokens.InputOffset())
	return token, &yaml.Node{Kind: yaml.ScalarNode, Line: r.line, Column: r.column}
}

func (r *jsonReader) value() *yaml.Node {
	token, n := r.next()
	switch token := token.(type) {
	case json.Delim:
		n.Kind, n.Style = yaml.SequenceNode, yaml.FlowStyle
		if token == '{' {
			n.Kind = yaml.MappingNode
		}
		for r.tokens.More() {
			n.Content = append(n.Content, r.value())
		}
		r.next() // the closing bracket
	case string:
		n.Style, n.Value = yaml.DoubleQuotedStyle, token
		if r.half == nil && isHalf(token, r.text[r.start:r.end]) {
			r.half = n
		}
	default:
		n.Value = r.text[r.start:r.end]
	}
	return n
}

// isHalf reports whether a string was written with a \u escape that is half of a
// character. The standard library reads such a half as U+FFFD.
func isHalf(s, written string) bool {
	const replacement = "\uFFFD"
	found := strings.Count(s, replacement)
	return found > 0 && found > strings.Count(written, replacement)+strings.Count(strings.ToLower(written), `\ufffd`)
}
