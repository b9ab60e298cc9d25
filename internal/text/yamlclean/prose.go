package yamlclean

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// cutProse takes a mapping or list out of the prose before and after it. It cuts
// nothing that may be YAML, so what is left may be broken; and it returns
// false if there is nothing to cut.
func cutProse(lines []string, whole part) (part, bool) {
	if whole.err == nil {
		return part{}, false
	}
	start := 0
	for start < len(lines) && isRemark(lines, start) {
		start++
	}
	if start == len(lines) || !separate(lines, start) {
		return part{}, false
	}
	p := whole
	if !blank(lines[:start]) {
		p = newPart(strings.Join(lines[start:], "\n"), start, 0)
	}
	if p.root == nil {
		if end := remark(lines, start); end > start {
			return newPart(strings.Join(lines[start:end], "\n"), start, 0), true
		}
	}
	return p, p.line > 0
}

// separate reports whether the line at start is set off from the prose before it.
// A line directly before a key may be a key too that has lost its colon.
func separate(lines []string, start int) bool {
	if blank(lines[:start]) || strings.TrimSpace(lines[start-1]) == "" {
		return true
	}
	if t := lines[start]; t[0] == '{' || t[0] == '[' || marker(t, "---") {
		return true
	}
	last := strings.TrimSpace(lines[start-1])
	return wanted(strings.ToLower(last)) || strings.ContainsAny(last[len(last)-1:], ":!")
}

// isRemark reports whether a line before the YAML can only be prose. What has a
// key, begins a list or opens a bracket may be a part of the YAML; but a line such
// as "Here is what I found:" announces it, unless something is nested below.
func isRemark(lines []string, i int) bool {
	t := strings.TrimLeft(lines[i], " \t")
	switch {
	case t == "":
		return true
	case strings.IndexByte("{[", t[0]) >= 0, t[0] == '-' && blankAt(t, 1), marker(t, "---"):
		return false
	}
	key := headOf(t).key
	if key == "" {
		return true
	}
	if nameLike(key) || strings.TrimRight(t, " \t") != key+":" || len(strings.Fields(key)) < 3 {
		return false
	}
	for _, next := range lines[i+1:] {
		if strings.TrimSpace(next) != "" {
			return next[0] != ' ' && next[0] != '\t' && next[0] != '-'
		}
	}
	return true
}

// remark returns the line at which a remark after the YAML begins, -1 if there is
// none. It is a paragraph at the very end, without anything that looks like YAML.
// It may only follow a value that is complete, or sound as remarks do: a text that
// is not indented could be part of the value before it.
func remark(lines []string, start int) int {
	end := len(lines)
	for end > start && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	from := -1
	for i := end - 1; i > start; i-- {
		t := lines[i]
		if strings.TrimSpace(t) == "" {
			from = i + 1
			continue
		}
		if t[0] == ' ' || t[0] == '\t' || strings.IndexByte("-{}[]#\"'", t[0]) >= 0 || headOf(t).key != "" {
			if t[0] == '}' || t[0] == ']' {
				return i + 1 // the end of what is in brackets
			}
			break
		}
	}
	if from < 0 || from >= end {
		return -1
	}
	if courtesy.MatchString(lines[from]) {
		return from
	}
	const least = 4 // words, fewer may be a key without its colon
	if first, _ := utf8.DecodeRuneInString(lines[from]); unicode.IsUpper(first) && len(strings.Fields(lines[from])) >= least && completeBefore(lines[start:from]) {
		return from
	}
	return -1
}

// courtesy is how the remarks begin with which assistants end.
var courtesy = regexp.MustCompile(`(?i)^(please )?(let me know|i hope this|hope this|feel free)`)

// completeBefore reports whether the last line of a text ends with quotes or
// brackets, or with a number or another literal.
func completeBefore(lines []string) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		if t := strings.TrimRight(lines[i], " \t"); t != "" {
			value := t[headOf(t).value:]
			return strings.ContainsAny(t[len(t)-1:], "\"']}") || value != "" && plainTag(value) != tagStr
		}
	}
	return false
}

// announcement is how a line begins that says that the YAML follows.
var announcement = regexp.MustCompile(`(?i)^(here is|here's|here are|below is|below are|sure|certainly|of course|okay|the following)[ ,!]`)

// cutAnnouncement cuts a first line such as "Here is the plan:" off a mapping. To
// YAML it is a key without a value.
func cutAnnouncement(p part) part {
	for p.isA(yaml.MappingNode) && len(p.root.Content) > 2 {
		key, value := p.root.Content[0], p.root.Content[1]
		if value.Tag != tagNull || value.Value != "" || key.Style&quoted != 0 || !announcement.MatchString(key.Value) || len(strings.Fields(key.Value)) < 3 {
			break
		}
		lines := strings.Split(unifyBreaks(p.text), "\n")
		if key.Line > len(lines) || strings.TrimSpace(lines[key.Line-1]) != key.Value+":" {
			break
		}
		rest := newPart(strings.Join(lines[key.Line:], "\n"), p.line+key.Line, p.indent)
		if !rest.isA(yaml.MappingNode) {
			break
		}
		p = rest
	}
	return p
}
