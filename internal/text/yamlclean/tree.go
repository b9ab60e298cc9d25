package yamlclean

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// A tree is checked for what YAML reads in silence as something else than what is
// there to see. Every node is visited once, in the order of the text.
type tree struct {
	source string
	lines  []string // of the source, once they are needed
	text   cursor
}

// resolve checks all that is below a root, and gives the scalars their tags.
func resolve(text string, root *yaml.Node) *ParseError {
	t := tree{source: text, text: cursor{rest: text, line: 1, column: 1}}
	return t.visit(root, 1)
}

func (t *tree) visit(n *yaml.Node, depth int) *ParseError {
	switch {
	case depth > MaxDepth:
		return nodeError(n, "%s", tooDeep)
	case n.Kind == yaml.AliasNode:
		return nodeError(n, "%s", noAliases(n.Value))
	case n.Anchor != "":
		return nodeError(n, "anchors such as &%s are not read; remove it, or put the value in quotes if this is text", clip.Short(n.Anchor))
	case n.Style&yaml.TaggedStyle != 0:
		return nodeError(n, "tags such as %s are not read; remove it, or put the value in quotes if this is text", clip.Short(n.Tag))
	case t.text.at(n.Line, n.Column) == '!': // the library passes over a single one
		return nodeError(n, "tags are not read; remove the !, or put the value in quotes if this is text")
	}
	if err := t.checkComment(n); err != nil {
		return err
	}
	switch n.Kind {
	case yaml.MappingNode:
		return t.visitMapping(n, depth)
	case yaml.SequenceNode:
		return t.visitChildren(n, depth)
	}
	n.Tag = tagStr
	if n.Style&quoted == 0 {
		n.Tag = plainTag(n.Value) // and not what the library made of it
	}
	return nil
}

func (t *tree) visitChildren(n *yaml.Node, depth int) *ParseError {
	for _, child := range n.Content {
		if n.Style&yaml.FlowStyle != 0 && child.Kind == yaml.ScalarNode && child.Style&quoted == 0 && jsonComment(child.Value) {
			return nodeError(child, "this looks like a comment of JSON; remove it, or put it in quotes")
		}
		if err := t.visit(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) visitMapping(n *yaml.Node, depth int) *ParseError {
	if len(n.Content)/2 > MaxKeys {
		return nodeError(n, "this mapping has %d keys, more than the %d that are read; use a list", len(n.Content)/2, MaxKeys)
	}
	if err := t.visitChildren(n, depth); err != nil {
		return err
	}
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if err := checkKey(key); err != nil {
			return err
		}
		if line := seen[key.Value]; line > 0 {
			return duplicate(key, line)
		}
		seen[key.Value] = key.Line
	}
	return nil
}

const smartQuotes = "“”„‘’"

// checkKey makes a string of a key: the text that it is written as.
func checkKey(key *yaml.Node) *ParseError {
	first, _ := utf8.DecodeRuneInString(key.Value)
	switch plain := key.Style&quoted == 0; {
	case key.Kind != yaml.ScalarNode:
		return nodeError(key, "a collection is the key of a mapping; put it in quotes if this is text")
	case plain && key.Value == "":
		return nodeError(key, "there is no key before the colon; write one, or put the text in quotes")
	case plain && strings.ContainsRune(smartQuotes, first):
		return nodeError(key, "a key begins with a typographic quote; use a plain one")
	}
	key.Tag = tagStr
	return nil
}

// checkComment finds a comment that follows its value without a blank, as in
// "a"#b. The library takes it for one, YAML does not.
func (t *tree) checkComment(n *yaml.Node) *ParseError {
	if !strings.HasPrefix(n.LineComment, "#") || n.Line < 1 {
		return nil
	}
	if t.lines == nil {
		t.lines = strings.Split(t.source, "\n")
	}
	if n.Line > len(t.lines) {
		return nil
	}
	before, ok := strings.CutSuffix(strings.TrimRight(t.lines[n.Line-1], " \t"), strings.TrimRight(n.LineComment, " \t"))
	if !ok || before == "" || blankAt(before, len(before)-1) {
		return nil
	}
	return nodeError(n, "a # follows the value directly; put a blank before a comment, or the value in quotes")
}

// jsonComment reports whether a word in brackets is a comment of JSON. To YAML it
// is text.
func jsonComment(s string) bool {
	if strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/*") && strings.Contains(s, "*/") {
		return true
	}
	value, _, found := strings.Cut(s, " //")
	return found && plainTag(strings.TrimSpace(value)) != tagStr
}

var tooDeep = fmt.Sprintf("the nesting is deeper than %d; write it flatter", MaxDepth)

func noAliases(name string) string {
	return "aliases such as *" + clip.Short(name) + " are not read; write the value out, or put it in quotes if this is text"
}

// A cursor goes through a text once, from node to node.
type cursor struct {
	rest         string
	line, column int
}

// at returns the byte at a position that is not before the last one.
func (c *cursor) at(line, column int) byte {
	for c.rest != "" && c.line < line {
		_, c.rest, _ = strings.Cut(c.rest, "\n")
		c.line, c.column = c.line+1, 1
	}
	for c.rest != "" && c.line == line && c.column < column {
		_, width := utf8.DecodeRuneInString(c.rest)
		c.rest = c.rest[width:]
		c.column++
	}
	if c.rest == "" || c.line != line || c.column != column {
		return 0
	}
	return c.rest[0]
}
