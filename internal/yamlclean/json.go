package yamlclean

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// loadJSON reads a text that is JSON. It returns nil and no error if it is not.
func loadJSON(text string) (*yaml.Node, *ParseError) {
	text = strings.TrimPrefix(text, "\uFEFF")
	switch first := strings.TrimLeft(text, " \t\r\n"); {
	case first == "" || !strings.Contains(`{["`, first[:1]):
		return nil, nil
	case !json.Valid([]byte(text)):
		return nil, nil
	}
	r := jsonReader{text: text, line: 1}
	return r.value(1)
}

// A jsonReader makes nodes of a text that is known to be valid JSON.
type jsonReader struct {
	text  string
	next  int // the byte to read
	line  int
	start int // of the line
	rune  int // the byte up to which the characters of the line are counted
	count int // the number of them
}

// skip passes over white space and separators.
func (r *jsonReader) skip() byte {
	for ; r.next < len(r.text); r.next++ {
		switch r.text[r.next] {
		case '\n':
			r.line++
			r.start, r.rune, r.count = r.next+1, r.next+1, 0
		case ' ', '\t', '\r', ',', ':':
		default:
			return r.text[r.next]
		}
	}
	return 0
}

// node returns a new node at the place of the next byte.
func (r *jsonReader) node(kind yaml.Kind, tag string) *yaml.Node {
	r.count += utf8.RuneCountInString(r.text[r.rune:r.next])
	r.rune = r.next
	return &yaml.Node{Kind: kind, Tag: tag, Line: r.line, Column: r.count + 1}
}

func (r *jsonReader) value(depth int) (*yaml.Node, *ParseError) {
	switch c := r.skip(); c {
	case '{':
		n := r.node(yaml.MappingNode, "!!map")
		return n, r.members(n, depth)
	case '[':
		n := r.node(yaml.SequenceNode, "!!seq")
		return n, r.elements(n, depth)
	case '"':
		return r.string()
	default:
		n := r.node(yaml.ScalarNode, "")
		end := strings.IndexAny(r.text[r.next:], " \t\r\n,:]}")
		if end < 0 {
			end = len(r.text) - r.next
		}
		n.Value = r.text[r.next : r.next+end]
		n.Tag = plainTag(n.Value)
		r.next += end
		return n, nil
	}
}

func (r *jsonReader) elements(n *yaml.Node, depth int) *ParseError {
	if depth > MaxDepth {
		return nodeError(n, "the nesting is deeper than %d; write it flatter", MaxDepth)
	}
	n.Style = yaml.FlowStyle
	for r.next++; r.skip() != ']'; {
		child, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, child)
	}
	r.next++
	return nil
}

func (r *jsonReader) members(n *yaml.Node, depth int) *ParseError {
	if depth > MaxDepth {
		return nodeError(n, "the nesting is deeper than %d; write it flatter", MaxDepth)
	}
	n.Style = yaml.FlowStyle
	seen := map[string]int{}
	for r.next++; r.skip() != '}'; {
		key, err := r.string()
		if err != nil {
			return err
		}
		if line := seen[key.Value]; line > 0 {
			return duplicate(key, line)
		}
		if seen[key.Value] = key.Line; len(seen) > MaxKeys {
			return nodeError(n, "this mapping has more keys than the %d that are read; use a list", MaxKeys)
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, key, value)
	}
	r.next++
	return nil
}

func (r *jsonReader) string() (*yaml.Node, *ParseError) {
	n := r.node(yaml.ScalarNode, tagStr)
	n.Style = yaml.DoubleQuotedStyle
	end := r.next + 1
	escaped := false
	for r.text[end] != '"' {
		if r.text[end] == '\\' {
			escaped = true
			end++
		}
		end++
	}
	body := r.text[r.next+1 : end]
	r.next = end + 1
	if !escaped {
		n.Value = body
		return n, nil
	}
	var ok bool
	if n.Value, ok = unescapeJSON(body); !ok {
		return nil, nodeError(n, "a \\u escape in this string is half of a character; write both halves")
	}
	return n, nil
}

// unescapeJSON replaces the escapes in a valid string of JSON. It returns false
// if one of them is half of a surrogate pair.
func unescapeJSON(s string) (string, bool) {
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		c := s[i+1]
		s = s[i+2:]
		if c != 'u' {
			b.WriteString(unescapeByte(c))
			continue
		}
		r := hex(s[:4])
		s = s[4:]
		if utf16.IsSurrogate(r) {
			if !strings.HasPrefix(s, `\u`) {
				return "", false
			}
			if r = utf16.DecodeRune(r, hex(s[2:6])); r == utf8.RuneError {
				return "", false
			}
			s = s[6:]
		}
		b.WriteRune(r)
	}
	return b.String(), true
}

// unescapeByte returns what a backslash and this byte mean in JSON.
func unescapeByte(c byte) string {
	switch c {
	case 'b':
		return "\b"
	case 'f':
		return "\f"
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	}
	return string(rune(c))
}

func hex(s string) rune {
	n, _ := strconv.ParseUint(s, 16, 32) // the text is valid
	return rune(n)
}
