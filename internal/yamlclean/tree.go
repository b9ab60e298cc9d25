package yamlclean

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A tree resolves what the library leaves in the nodes of one text: aliases,
// merge keys and tags. It visits every node once, children first.
type tree struct {
	source  string
	lines   []string // of the source, once they are needed
	text    cursor
	anchors []*yaml.Node // in the order of the text
	used    map[*yaml.Node]bool
	sizes   map[*yaml.Node]size // of the anchored nodes that are complete
	aliased bool
	merged  int
}

// A size is how large a node is when all aliases in it are written out.
type size struct {
	weight int // nodes, and bytes of scalars
	height int
}

// resolve resolves what is below a root, which stays the root.
func resolve(text string, root *yaml.Node) *ParseError {
	t := tree{
		source: text,
		text:   cursor{rest: text, line: 1, column: 1},
		used:   map[*yaml.Node]bool{},
		sizes:  map[*yaml.Node]size{},
	}
	if _, _, err := t.visit(root, 1); err != nil {
		return err
	}
	for _, n := range t.anchors {
		if !t.used[n] {
			return nodeError(n, "nothing refers to the anchor &%s; put the value in quotes if this is text", clip(n.Anchor))
		}
	}
	for _, n := range t.anchors {
		n.Anchor = ""
	}
	return nil
}

// visit resolves a node in place and returns what stands for it.
func (t *tree) visit(n *yaml.Node, depth int) (*yaml.Node, size, *ParseError) {
	if depth > MaxDepth {
		return nil, size{}, nodeError(n, "the nesting is deeper than %d; write it flatter", MaxDepth)
	}
	if n.Kind == yaml.AliasNode {
		return t.visitAlias(n, depth)
	}
	if err := t.checkComment(n); err != nil {
		return nil, size{}, err
	}
	if n.Anchor != "" {
		t.anchors = append(t.anchors, n)
	}
	var s size
	var err *ParseError
	switch n.Kind {
	case yaml.ScalarNode:
		s = size{weight: 1 + len(n.Value), height: 1}
		err = t.setTag(n)
	case yaml.SequenceNode:
		s, err = t.visitSequence(n, depth)
	case yaml.MappingNode:
		s, err = t.visitMapping(n, depth)
	default:
		err = nodeError(n, "this is not a value")
	}
	if err != nil {
		return nil, size{}, err
	}
	if t.aliased && s.weight > maxExpanded {
		return nil, size{}, nodeError(n, "with its aliases written out this is larger than %d bytes; use fewer aliases", maxExpanded)
	}
	if n.Anchor != "" {
		t.sizes[n] = s
	}
	return n, s, nil
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

func (t *tree) visitAlias(n *yaml.Node, depth int) (*yaml.Node, size, *ParseError) {
	s, ok := t.sizes[n.Alias]
	if !ok {
		return nil, size{}, nodeError(n, "the alias *%s refers to what contains it; write the value out", n.Value)
	}
	if depth+s.height-1 > MaxDepth {
		return nil, size{}, nodeError(n, "with the alias *%s written out the nesting is deeper than %d", n.Value, MaxDepth)
	}
	t.used[n.Alias] = true
	t.aliased = true
	return n.Alias, s, nil
}

func (t *tree) visitSequence(n *yaml.Node, depth int) (size, *ParseError) {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!seq" {
		return size{}, badTag(n)
	}
	s := size{weight: 1}
	if err := checkFlow(n); err != nil {
		return size{}, err
	}
	for i, child := range n.Content {
		child, childSize, err := t.visit(child, depth+1)
		if err != nil {
			return size{}, err
		}
		n.Content[i] = child
		s.add(childSize)
	}
	s.height++
	return s, nil
}

func (t *tree) visitMapping(n *yaml.Node, depth int) (size, *ParseError) {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!map" {
		return size{}, badTag(n)
	}
	if len(n.Content)/2 > MaxKeys {
		return size{}, nodeError(n, "this mapping has %d keys, more than the %d that are read; use a list", len(n.Content)/2, MaxKeys)
	}
	if err := checkFlow(n); err != nil {
		return size{}, err
	}
	s := size{weight: 1}
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	merge := -1
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, keySize, err := t.visitKey(n.Content[i], depth+1)
		if err != nil {
			return size{}, err
		}
		value, valueSize, err := t.visit(n.Content[i+1], depth+1)
		if err != nil {
			return size{}, err
		}
		n.Content[i], n.Content[i+1] = key, value
		if first := seen[key.Value]; first != nil {
			return size{}, duplicate(key, first.Line)
		}
		seen[key.Value] = key
		if isMerge(key) {
			merge = i
		}
		s.add(keySize)
		s.add(valueSize)
	}
	s.height++
	if merge >= 0 {
		if err := t.merge(n, merge, seen); err != nil {
			return size{}, err
		}
	}
	return s, nil
}

// checkFlow finds the comments of JSON in a flow collection. To YAML they would be
// text.
func checkFlow(n *yaml.Node) *ParseError {
	if n.Style&yaml.FlowStyle == 0 {
		return nil
	}
	for _, child := range n.Content {
		if child.Kind == yaml.ScalarNode && child.Style&quoted == 0 && jsonComment(child.Value) {
			return nodeError(child, "this looks like a comment of JSON; remove it, or put it in quotes")
		}
	}
	return nil
}

func jsonComment(s string) bool {
	if strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/*") && strings.Contains(s, "*/") {
		return true
	}
	value, _, found := strings.Cut(s, " //")
	return found && plainTag(strings.TrimSpace(value)) != tagStr
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// visitKey resolves a key, which becomes a string: the text that it is written
// as.
func (t *tree) visitKey(n *yaml.Node, depth int) (*yaml.Node, size, *ParseError) {
	if isMerge(n) {
		return n, size{weight: 1, height: 1}, nil
	}
	key, s, err := t.visit(n, depth)
	switch {
	case err != nil:
		return nil, size{}, err
	case key.Kind != yaml.ScalarNode:
		return nil, size{}, nodeError(n, "a collection is the key of a mapping; put it in quotes if this is text")
	case key.Value == "" && key.Style&quoted == 0:
		return nil, size{}, nodeError(n, "there is no key before the colon; write one, or put the text in quotes")
	case key.Style&quoted == 0 && strings.ContainsRune(smartQuotes, firstRune(key.Value)):
		return nil, size{}, nodeError(n, "a key begins with a typographic quote; use a plain one")
	}
	if key != n || key.Anchor != "" {
		// What the anchor names may be a value elsewhere.
		clone := *key
		key = &clone
		key.Line, key.Column, key.Anchor = n.Line, n.Column, ""
	}
	if key.Style&yaml.TaggedStyle != 0 {
		key.Style &^= yaml.TaggedStyle
	}
	key.Tag = tagStr
	return key, s, nil
}

func isMerge(key *yaml.Node) bool {
	return key.Value == "<<" && key.Style&quoted == 0 && key.Tag == "!!merge"
}

// merge replaces the merge key at index i of a mapping by the entries of the
// mappings that it names. The mapping's own entries win, then the first one that
// has the key.
func (t *tree) merge(n *yaml.Node, i int, seen map[string]*yaml.Node) *ParseError {
	key, value := n.Content[i], n.Content[i+1]
	sources := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		sources = value.Content
	}
	var entries []*yaml.Node
	for _, source := range sources {
		if source.Kind != yaml.MappingNode {
			return nodeError(key, "<< takes a mapping or a list of mappings; put << in quotes if it is a name")
		}
		for j := 0; j+1 < len(source.Content); j += 2 {
			if t.merged++; t.merged > maxMerged {
				return nodeError(key, "merge keys copy more than %d entries; use fewer of them", maxMerged)
			}
			if name := source.Content[j].Value; seen[name] == nil {
				seen[name] = source.Content[j]
				entries = append(entries, source.Content[j], source.Content[j+1])
			}
		}
	}
	content := make([]*yaml.Node, 0, len(n.Content)-2+len(entries))
	content = append(content, n.Content[:i]...)
	content = append(content, entries...)
	content = append(content, n.Content[i+2:]...)
	if len(content)/2 > MaxKeys {
		return nodeError(n, "with its merge keys this mapping has more than %d keys; use a list", MaxKeys)
	}
	n.Content = content
	return nil
}

// setTag gives a scalar the tag that the rules of this package give it.
func (t *tree) setTag(n *yaml.Node) *ParseError {
	if n.Style&yaml.TaggedStyle == 0 && t.text.at(n.Line, n.Column) == '!' {
		return badTag(n) // the library passes over a single "!"
	}
	if n.Style&(yaml.TaggedStyle|quoted) == 0 {
		n.Tag = plainTag(n.Value) // and not what the library made of it
		return nil
	}
	tag, ok := scalarTag(n)
	if !ok {
		return badTag(n)
	}
	n.Tag = tag
	return nil
}

func badTag(n *yaml.Node) *ParseError {
	tag := n.Tag
	if n.Style&yaml.TaggedStyle == 0 {
		tag = "!"
	}
	return nodeError(n, "the tag %s does not fit this value; put the value in quotes if this is text", clip(tag))
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

func (s *size) add(child size) {
	s.weight = min(s.weight+child.weight, maxExpanded+1)
	s.height = max(s.height, child.height)
}

// clip shortens what is quoted in a message.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
