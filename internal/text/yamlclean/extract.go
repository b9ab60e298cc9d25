package yamlclean

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A part is the part of a text that is YAML, or should be.
type part struct {
	text   string
	line   int // lines of the text before it
	indent int // columns that were cut off its lines

	root *yaml.Node
	err  *problem
}

// newPart loads a part.
func newPart(text string, line, indent int) part {
	p := part{text: text, line: line, indent: indent}
	p.root, p.err = load(text)
	return p
}

// isA reports whether the part is YAML of this kind.
func (p *part) isA(kind yaml.Kind) bool { return p.root != nil && p.root.Kind == kind }

func (p *part) collection() bool { return p.isA(yaml.MappingNode) || p.isA(yaml.SequenceNode) }

// problem returns why the part cannot be loaded, with the place in the whole text.
func (p *part) problem(whole string) *ParseError {
	err := p.err.locate().in(p.line, p.indent)
	err.Line = min(err.Line, strings.Count(unifyBreaks(whole), "\n")+1) // after a fence that is the last line
	return err
}

// extract returns the part of a text that is YAML; see [Read].
func extract(text string) part {
	whole := newPart(text, 0, 0)
	if checkText(text) != nil {
		return whole
	}
	if whole.collection() {
		return cutAnnouncement(whole)
	}
	unified := unifyBreaks(text)
	lines := strings.Split(unified, "\n")
	if p, ok := choose(fences(lines)); ok {
		return cutAnnouncement(p)
	}
	if end := slices.IndexFunc(lines, isBareFence); end > 0 { // the opening one is missing
		if p := newPart(strings.Join(lines[:end], "\n"), 0, 0); p.collection() {
			return cutAnnouncement(p)
		}
	}
	if p, ok := cutProse(lines, whole); ok {
		return cutAnnouncement(p)
	}
	return whole
}

func isBareFence(t string) bool {
	f, mark, ok := openingFence(t)
	return ok && f.indent == 0 && strings.TrimSpace(t) == mark
}

// A fence is a fenced block.
type fence struct {
	label  string
	line   int // of the first line after the opening fence
	indent int
	lines  []string
}

// fences finds the fenced blocks of a text. A block ends with a fence that is
// indented as its opening one; fences within the YAML are indented more. The last
// one may be open. Fences after what looks like YAML are not looked for: that one
// may have them in its texts.
func fences(lines []string) []fence {
	var all []fence
	outside := 0 // the line after the last block
	for i := 0; i < len(lines); i++ {
		f, mark, ok := openingFence(lines[i])
		if !ok {
			continue
		}
		yamlBefore := keys(lines[outside:i])
		f.line = i + 1
		if len(f.lines) > 0 { // what follows the label
			f.line = i
		}
		closed := false
		for i++; i < len(lines) && !closed; i++ {
			if closed = closesFence(lines[i], mark, f.indent); !closed {
				f.lines = append(f.lines, cutIndent(lines[i], f.indent))
			}
		}
		i--
		if !closed {
			closeAtEnd(&f, mark)
		}
		if yamlBefore > 1 || yamlBefore > 0 && (f.indent > 0 || !closed && f.label == "") {
			return all
		}
		all = append(all, f)
		outside = i + 1
	}
	return all
}

// keys returns how many lines begin with what must be a key.
func keys(lines []string) int {
	n := 0
	for _, t := range lines {
		if t != "" && t[0] != ' ' && nameLike(headOf(t).key) {
			n++
		}
	}
	return n
}

var fenceLine = regexp.MustCompile("^([ \t]*)(`{3,}|~{3,})[ \t]*([^ \t:{\\[`]*)[ \t]*(.*)$")

// openingFence reads a line that opens a fenced block. It returns the block and
// the mark that closes it.
func openingFence(t string) (fence, string, bool) {
	m := fenceLine.FindStringSubmatch(t)
	if m == nil {
		return fence{}, "", false
	}
	mark, after := m[2], strings.TrimSpace(m[4])
	f := fence{label: strings.ToLower(m[3]), indent: len(m[1])}
	switch {
	case after != "" && strings.IndexByte("{[", after[0]) >= 0:
		f.lines = []string{strings.TrimSuffix(after, mark)}
	case strings.Contains(after, "`"):
		return fence{}, "", false
	}
	return f, mark, true
}

// wanted reports whether the label of a fence is one of data.
func wanted(label string) bool {
	return label == "yaml" || label == "yml" || label == "json"
}

func closesFence(t, mark string, indent int) bool {
	trimmed := strings.TrimSpace(t)
	if len(trimmed) < len(mark) || strings.Trim(trimmed, mark[:1]) != "" {
		return false
	}
	return len(t)-len(strings.TrimLeft(t, " \t")) == indent
}

// closeAtEnd takes a fence off the end of a block that has none of its own: one
// that is indented otherwise, or that follows text on its line.
func closeAtEnd(f *fence, mark string) {
	last := len(f.lines) - 1
	for last >= 0 && strings.TrimSpace(f.lines[last]) == "" {
		last--
	}
	if last < 0 {
		return
	}
	if t, ok := strings.CutSuffix(strings.TrimRight(f.lines[last], " \t"), mark); ok {
		f.lines = append(f.lines[:last:last], t)
	}
}

func cutIndent(t string, indent int) string {
	n := 0
	for n < indent && n < len(t) && (t[n] == ' ' || t[n] == '\t') {
		n++
	}
	return t[n:]
}

// maxFences is how many blocks are looked at, from the last one.
const maxFences = 20

// choose returns the block that is meant; see [Read].
func choose(all []fence) (part, bool) {
	slices.Reverse(all)
	all = all[:min(len(all), maxFences)]
	labelled := slices.ContainsFunc(all, func(f fence) bool { return wanted(f.label) })
	var first part // in case that there is nothing better
	found := false
	for _, f := range all {
		if wanted(f.label) != labelled || !labelled && (f.label != "" || blank(f.lines)) {
			continue
		}
		p := f.part()
		// A block with the right label is meant even if it is a list, or broken.
		if p.isA(yaml.MappingNode) || labelled && (p.collection() || p.err != nil && !blank(f.lines)) {
			return p, true
		}
		if !found || p.collection() && !first.collection() {
			first, found = p, true
		}
	}
	return first, found
}

func (f *fence) part() part {
	return newPart(strings.Join(f.lines, "\n"), f.line, f.indent)
}

func blank(lines []string) bool {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return false
		}
	}
	return true
}
