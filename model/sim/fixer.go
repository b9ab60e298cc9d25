package sim

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	fixerHeading = "The text between the markers should be YAML"
	fixerStart   = "\n\n<<<TEXT\n"
	fixerEnd     = "\nTEXT"
)

// fix repairs YAML by simple means. What is beyond them stays as it is, and so
// does everything if the answer is to be wrong.
func (d *decision) fix(prompt string) *answer {
	_, text, _ := strings.Cut(prompt, fixerStart)
	text = strings.TrimSuffix(strings.TrimRight(text, " \n"), fixerEnd)
	switch d.quality {
	case right:
		text = repaired(text)
	case malformed:
		return say(string(d.chat(nil, "I am afraid that I cannot make sense of this text.")))
	}
	return say(d.ramblingRemark() + text)
}

// repaired is the text with the first of some changes that makes it YAML, each on
// top of those before.
func repaired(text string) string {
	if len(text) > maxScript {
		return text
	}
	changed := text
	for _, change := range []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.ReplaceAll(s, "\t", "  ") },
		closeLines,
		quoteValues,
	} {
		changed = change(changed)
		if isYAML(changed) {
			return changed
		}
	}
	return text
}

func isYAML(text string) bool {
	var n yaml.Node
	return yaml.Unmarshal([]byte(text), &n) == nil && len(n.Content) == 1 && n.Content[0].Kind != yaml.ScalarNode
}

// closeLines closes the quotes and brackets that are open at the end of a line.
func closeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ") + unclosed(line)
	}
	return strings.Join(lines, "\n")
}

// unclosed is what is missing from a line: the marks that would close it.
func unclosed(line string) string {
	var closing []byte
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"', c == '\'' && (i == 0 || line[i-1] == ' ' || line[i-1] == '['):
			quote = c
		case c == '[':
			closing = append(closing, ']')
		case c == '{':
			closing = append(closing, '}')
		case len(closing) > 0 && c == closing[len(closing)-1]:
			closing = closing[:len(closing)-1]
		}
	}
	var b strings.Builder
	if quote != 0 {
		b.WriteByte(quote)
	}
	for i := len(closing) - 1; i >= 0; i-- {
		b.WriteByte(closing[i])
	}
	return b.String()
}

// quoteValues puts the value of each line that is no YAML by itself into quotes.
func quoteValues(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		key, value, ok := strings.Cut(line, ": ")
		if !ok || value == "" || strings.ContainsAny(value[:1], "|>") || isYAML("k: "+value) {
			continue
		}
		lines[i] = key + ": " + quoted(strings.Trim(value, `"'`))
	}
	return strings.Join(lines, "\n")
}
