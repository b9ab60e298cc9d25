package yamlclean

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fixTrailingComma cuts the comma behind a value in quotes or brackets, as JSON has it,
// and with it those behind the same key in the same column:
//
//	"title": "Read the file",
//	"tools": ["Read"],
func fixTrailingComma(lines []string, at int) []string {
	damaged := headOf(lines[at])
	if damaged.keyAt < 0 {
		return nil
	}
	fixed := slices.Clone(lines)
	for i := at; i < len(lines); i++ {
		h := headOf(lines[i])
		if h.key != damaged.key || h.keyAt != damaged.keyAt {
			continue
		}
		if value := lines[i][h.value:]; commaBehind(value) {
			comma := h.value + valueEnd(value)
			fixed[i] = lines[i][:comma] + lines[i][comma+1:]
		} else if i == at {
			return fixCommaBelow(lines, at, h.value)
		}
	}
	return fixed
}

// fixCommaBelow cuts the comma behind a value in quotes or brackets that begins on a line,
// at start, and ends on another:
//
//	tools: [Read,
//	        Grep],
//	title: next
func fixCommaBelow(lines []string, at, start int) []string {
	value := strings.Join(lines[at:], "\n")[start:]
	end := valueEnd(value)
	if end < 0 {
		return nil
	}
	rest, _, _ := strings.Cut(value[end:], "\n")
	if !onlyComma(rest) {
		return nil
	}
	last := at + strings.Count(value[:end], "\n")
	fixed := slices.Clone(lines)
	comma := len(lines[last]) - len(rest)
	fixed[last] = lines[last][:comma] + lines[last][comma+1:]
	return fixed
}

// commaBehind reports whether a value in quotes or brackets ends on its line, and
// nothing is behind it but a comma and perhaps a comment.
func commaBehind(value string) bool {
	end := valueEnd(value)
	return end >= 0 && onlyComma(value[end:])
}

// onlyComma reports whether a line goes on with nothing but a comma and perhaps a comment.
func onlyComma(text string) bool {
	rest, ok := strings.CutPrefix(text, ",")
	if !ok {
		return false
	}
	return isBlank(rest) || blankAt(rest, 0) && strings.HasPrefix(strings.TrimLeft(rest, " \t"), "#")
}

// valueEnd returns where a value in quotes or brackets ends, -1 if it is none or does
// not end.
func valueEnd(v string) int {
	if v == "" {
		return -1
	}
	if v[0] == '"' || v[0] == '\'' {
		return closingQuote(v)
	}
	depth := 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"', '\'':
			n := closingQuote(v[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth <= 0 {
			if i == 0 {
				return -1 // it does not begin with a bracket
			}
			return i + 1
		}
	}
	return -1
}

// cutCommas cuts the commas with which the values of a block mapping end, because they
// were written as in JSON. YAML takes them for a part of the value:
//
//	step: 0,
//	title: Read the file,
//
// Behind a number, true, false or null a comma can be nothing else. Behind texts it is
// one if at least two values of the mapping, or of another in the same list, have it, and
// all but the last; or all that are not in quotes, if it was cut behind those already. On
// hashed lines [keepHashes] has put the quotes. It returns no part if there is nothing to do.
func cutCommas(text string, root *yaml.Node, already bool, hashed map[int]bool) part {
	if !strings.Contains(text, ",") || len(root.Content) == 0 {
		return part{}
	}
	c := commas{lines: strings.Split(text, "\n"), already: already, hashed: hashed}
	if c.visit(root, false); !c.found {
		return part{}
	}
	return newPart(strings.Join(c.lines, "\n"), 0, 0)
}

type commas struct {
	lines   []string
	already bool // cut behind values in quotes
	hashed  map[int]bool
	found   bool
}

// visit looks for commas in a node; alike means that another one in its list has them.
func (c *commas) visit(n *yaml.Node, alike bool) {
	if n.Style&yaml.FlowStyle != 0 {
		return
	}
	if n.Kind == yaml.MappingNode {
		all := c.inAll(n, alike)
		for i := 1; i < len(n.Content); i += 2 {
			value := n.Content[i]
			if bare, ok := c.bareOf(value); ok && (all || plain(value) && plainTag(bare) != tagStr) {
				c.cut(value, bare)
			}
		}
	}
	alike = n.Kind == yaml.SequenceNode && slices.ContainsFunc(n.Content, func(item *yaml.Node) bool {
		return item.Kind == yaml.MappingNode && item.Style&yaml.FlowStyle == 0 && c.inAll(item, false)
	})
	for _, child := range n.Content {
		c.visit(child, alike)
	}
}

func plain(n *yaml.Node) bool { return n.Style&quoted == 0 }

// hash reports whether a value is in quotes only because of a # in it.
func (c *commas) hash(n *yaml.Node) bool {
	return n.Style&yaml.SingleQuotedStyle != 0 && c.hashed[n.Line]
}

// bareOf returns a plain value without the commas at its end. It is false if there are
// none.
func (c *commas) bareOf(n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Style&yaml.FlowStyle != 0 || !plain(n) && !c.hash(n) {
		return "", false
	}
	bare := strings.TrimRight(n.Value, ", \t")
	return bare, bare != "" && strings.HasSuffix(n.Value, ",")
}

// inAll reports whether the values of a mapping end with commas, as many as can: all
// but the last and those with lines of their own.
func (c *commas) inAll(mapping *yaml.Node, alike bool) bool {
	found, inQuotes := 0, 0
	for i := 1; i < len(mapping.Content); i += 2 {
		n := mapping.Content[i]
		_, ok := c.bareOf(n)
		switch {
		case ok:
			found++
		case n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0, n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		case c.already && (n.Kind != yaml.ScalarNode || !plain(n) && !c.hash(n)):
			inQuotes++
		case i+1 < len(mapping.Content):
			return false
		}
	}
	return found > 1 || found > 0 && (inQuotes > 0 || alike)
}

// cut writes a value on one line without its comma.
func (c *commas) cut(n *yaml.Node, bare string) {
	if n.Line > len(c.lines) {
		return
	}
	t := c.lines[n.Line-1]
	at := offsetOf(t, n)
	written := n.Value
	if c.hash(n) {
		written, bare = singleQuoted(n.Value), singleQuoted(bare)
	}
	if rest, ok := strings.CutPrefix(t[at:], written); ok {
		c.lines[n.Line-1] = t[:at] + bare + rest
		c.found = true
	}
}
