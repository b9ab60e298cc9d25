package yamlclean

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// hashWord is a # that belongs to a text: #42 or #general. Before a comment there is
// a blank.
var hashWord = regexp.MustCompile(`^#[\pL\pN_!]`)

// keepHashes puts quotes around the texts of which YAML takes the rest for a comment:
//
//	channel: #general
//	note: fixes #42 now
//
// Behind a number, quotes or brackets it is a comment. It returns no part if there is
// nothing to do, and otherwise also the lines on which these texts begin, from 1.
func keepHashes(text string, root *yaml.Node) (part, map[int]bool) {
	if !strings.Contains(text, "#") || len(root.Content) == 0 {
		return part{}, nil
	}
	h := hashes{lines: strings.Split(text, "\n"), found: map[int]bool{}}
	if h.visit(root); len(h.found) == 0 {
		return part{}, nil
	}
	return newPart(strings.Join(h.lines, "\n"), 0, 0), h.found
}

type hashes struct {
	lines []string
	found map[int]bool
}

func (h *hashes) visit(n *yaml.Node) {
	switch {
	case n.Style&yaml.FlowStyle != 0:
	case n.Kind == yaml.ScalarNode && n.Style == 0 && n.Tag == tagStr && hashWord.MatchString(n.LineComment):
		h.quote(n, n.LineComment)
	case isEmpty(n) && n.Kind == yaml.ScalarNode && n.Line <= len(h.lines):
		// The library gives the comment to the key, or to what comes next.
		if rest := strings.TrimSpace(h.lines[n.Line-1][offsetOf(h.lines[n.Line-1], n):]); hashWord.MatchString(rest) {
			h.quote(n, rest)
		}
	case n.Kind == yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			h.visit(n.Content[i])
		}
	default:
		for _, child := range n.Content {
			h.visit(child)
		}
	}
}

// offsetOf returns where on its line a node begins.
func offsetOf(t string, n *yaml.Node) int {
	at := 0
	for range n.Column - 1 {
		_, width := utf8.DecodeRuneInString(t[at:])
		at += width
	}
	return at
}

// quote puts quotes around a scalar and the comment after it, which may be on a later
// line.
func (h *hashes) quote(n *yaml.Node, comment string) {
	const most = 1000
	for i := n.Line - 1; i < min(len(h.lines), n.Line+most); i++ {
		if !strings.HasSuffix(strings.TrimRight(h.lines[i], " \t"), comment) {
			continue
		}
		at := skipBlanks(h.lines[n.Line-1], offsetOf(h.lines[n.Line-1], n))
		first := h.lines[n.Line-1][:at]
		body := append([]string{h.lines[n.Line-1][at:]}, h.lines[n.Line:i+1]...)
		quoted := singleQuoted(strings.TrimRight(strings.Join(body, "\n"), " \t"))
		copy(h.lines[n.Line-1:], strings.Split(first+quoted, "\n"))
		h.found[n.Line] = true
		return
	}
}

func isEmpty(n *yaml.Node) bool { return n.Tag == tagNull && n.Value == "" }
