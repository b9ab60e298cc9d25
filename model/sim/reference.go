package sim

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// references finds ${1} and ${name}, and ${result.1} and ${result.name}, each perhaps
// with filters behind it: ${result.0|lines}.
var references = regexp.MustCompile(`\$\{(result\.)?(\w+)((?:\|[^|}]*)*)\}`)

// filtered applies filters in the form |lines|json, each of which makes another text of
// what was captured.
func filtered(text, list string) (string, error) {
	for _, step := range strings.Split(list, "|")[1:] {
		name, argument, _ := strings.Cut(strings.TrimSpace(step), " ")
		switch {
		case name == "field" && argument == "":
			return "", errors.New("the filter field takes the path of a field")
		case name == "field":
			text = fieldOf(text, argument)
		case name != "json" && name != "lines" && name != "count":
			return "", fmt.Errorf("there is no filter %q; there are json, lines, count and field", name)
		case argument != "":
			return "", fmt.Errorf("the filter %s takes nothing", name)
		case name == "json":
			text = jsonText(text)
		case name == "lines":
			text = jsonText(linesOf(text))
		default:
			text = strconv.Itoa(len(linesOf(text)))
		}
	}
	return text, nil
}

// checkReferences finds references to what no pattern of the rule captures, and notes
// those to all that one matched.
func (r *rule) checkReferences(text string) error {
	for _, ref := range references.FindAllStringSubmatch(text, -1) {
		patterns, whole := r.patterns, &r.whole[0]
		if ref[1] != "" {
			patterns, whole = r.result, &r.whole[1]
		}
		switch group(patterns, ref[2]) {
		case -1:
			return fmt.Errorf("the pattern captures no group %s", ref[0])
		case 0:
			*whole = true
		}
		if _, err := filtered("", ref[3]); err != nil {
			return fmt.Errorf("%s: %w", ref[0], err)
		}
	}
	return nil
}

// group returns the number of a captured group, or -1. The groups of several patterns
// are numbered through; 0 is all that the first one matched.
func group(patterns []*regexp.Regexp, name string) int {
	names := []string{""}
	for _, p := range patterns {
		names = append(names, p.SubexpNames()[1:]...)
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(names) && len(patterns) > 0 {
		return n
	}
	if i := slices.Index(names[1:], name); i >= 0 {
		return i + 1
	}
	return -1
}

// captured is what the patterns captured in a text, as group numbers it; nil if one does
// not match.
func captured(patterns []*regexp.Regexp, text string) []string {
	var all []string
	for i, p := range patterns {
		groups := p.FindStringSubmatch(text)
		switch {
		case groups == nil:
			return nil
		case i > 0:
			groups = groups[1:]
		}
		all = append(all, groups...)
	}
	return all
}

// expand fills in what the patterns captured, each in the form that the text wants.
func (m *match) expand(text string, form func(string) string) string {
	return references.ReplaceAllStringFunc(text, func(ref string) string {
		parts := references.FindStringSubmatch(ref)
		captured, patterns := m.inPrompt, m.rule.patterns
		if parts[1] != "" {
			captured, patterns = m.inResult, m.rule.result
		}
		text, err := filtered(captured[group(patterns, parts[2])], parts[3])
		if err != nil { // checkReferences has seen the same filters
			panic(err)
		}
		return form(text)
	})
}

// linesOf are the lines of a text, without the empty ones at its end.
func linesOf(text string) []string {
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return []string{}
	}
	return strings.Split(text, "\n")
}

// jsonText writes texts, numbers and lists of them as JSON, which is YAML too.
func jsonText(v any) string {
	text, err := encode(v)
	if err != nil { // none of them can fail
		panic(err)
	}
	return string(text)
}

// fieldOf is what a text that is YAML has under a path such as counts or a.b. A list
// has a line for each of its elements. What is not there is empty.
func fieldOf(text, path string) string {
	var n yaml.Node
	if len(text) > maxScript || yaml.Unmarshal([]byte(text), &n) != nil {
		return ""
	}
	for name := range strings.SplitSeq(path, ".") {
		var fields map[string]yaml.Node
		if n.Decode(&fields) != nil {
			return ""
		}
		n = fields[name]
	}
	return nodeText(&n)
}

func nodeText(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		var lines []string
		for _, item := range n.Content {
			lines = append(lines, nodeText(item))
		}
		return strings.Join(lines, "\n")
	case n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null":
		return n.Value
	case n.Kind == yaml.MappingNode:
		text, err := yaml.Marshal(n)
		if err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}
