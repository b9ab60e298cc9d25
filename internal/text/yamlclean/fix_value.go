package yamlclean

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fixUnquotedSpecial puts quotes around a value on one line that begins with a
// character that means something else to YAML, or with a quoted word.
func fixUnquotedSpecial(d *damage) [][]string {
	text := strings.Join(d.lines, "\n")
	return d.alike(func(i int, h head, v string) string {
		if v == "" || h.parent() < 0 || maybeComment(v) || indentOf(d.after(i)) > h.parent() || !wronglySpecial(v, text) {
			return ""
		}
		return d.lines[i][:h.value] + singleQuoted(v)
	})
}

// alike changes the line of the damage, and with it those lines after it that have
// the same key in the same column: who makes a slip in one step makes it in all. The
// function returns the new line for one that has this value, "" to leave it.
func (d *damage) alike(change func(i int, h head, value string) string) [][]string {
	const most = 1000 // there are others left for another round
	fixed := slices.Clone(d.lines)
	at := headOf(d.lines[d.at])
	block := -1 // the column of the key of a block scalar
	for i, found := d.at, 0; i < len(d.lines) && found < most; i++ {
		t := strings.TrimRight(d.lines[i], " \t")
		if t == "" || block >= 0 && indentOf(t) > block {
			continue
		}
		h := headOf(t)
		if block = -1; blockHeader(t[h.value:]) {
			block = h.parent()
		}
		if h.key != at.key || h.parent() != at.parent() {
			continue
		}
		found++
		if changed := change(i, h, t[h.value:]); changed != "" {
			fixed[i] = changed
		}
		if fixed[d.at] == d.lines[d.at] {
			return nil
		}
	}
	return [][]string{fixed}
}

// wronglySpecial reports whether the first character of a value has no other
// reading than as text.
func wronglySpecial(v, document string) bool {
	token, _, _ := strings.Cut(v, " ")
	switch v[0] {
	case '@', '`', '%', ']', '}', ',':
		return true
	case '*':
		return len(token) != len(v) || !strings.Contains(document, "&"+token[1:])
	case '&':
		return len(token) != len(v) && (len(token) == 1 || !strings.Contains(document, "*"+token[1:]))
	case '!':
		return !strings.HasPrefix(v, "!!") && !strings.ContainsAny(v, "[{\"'")
	case '>':
		after := strings.TrimLeft(v[1:], " ")
		return after != "" && (after[0] == '=' || '0' <= after[0] && after[0] <= '9') && !blockHeader(v)
	case '|':
		return strings.HasPrefix(v, "||")
	case '"', '\'':
		// Unless it ends with a quote too, and has others within.
		end := closingQuote(v)
		return end >= 0 && goesOn(v[end:]) && !strings.HasSuffix(strings.TrimSuffix(v, ","), v[:1])
	case '[', '{':
		if strings.HasPrefix(v, "{{") {
			return true
		}
		end := closingBracket(v)
		return end >= 0 && goesOn(v[end:])
	}
	return false
}

// goesOn reports whether what follows quotes or brackets is text.
func goesOn(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	return rest != "" && rest[0] != ',' && rest[0] != ':'
}

// closingBracket returns where the collection in brackets ends that s begins with,
// -1 if it does not end in s.
func closingBracket(s string) int {
	const most = 20
	end := 0
	for range most {
		n := strings.IndexAny(s[end:], "]}")
		if n < 0 {
			break
		}
		end += n + 1
		if !cannotBe(s[:end]) {
			return end
		}
	}
	return -1
}

// cannotBe reports whether a value on one line cannot be YAML.
func cannotBe(value string) bool {
	_, p := load("k: " + value)
	return p != nil
}

// fixUnquotedColon puts quotes around a plain value on one line that contains a
// colon and a blank.
func fixUnquotedColon(d *damage) [][]string {
	if !d.isMember(headOf(d.lines[d.at])) {
		return nil
	}
	return d.alike(func(i int, h head, v string) string {
		if v == "" || strings.IndexByte("-?[]{},&*!|>%@`\"'", v[0]) >= 0 || maybeComment(v) || !strings.Contains(v+" ", ": ") {
			return ""
		}
		t := d.lines[i]
		next := indentOf(d.after(i))
		switch {
		case next > h.keyAt+1:
			return "" // further lines belong to it; with one blank more that is a slip
		case h.dash < 0 || next == h.keyAt || d.keyCount(h.key) > 1:
			return t[:h.value] + singleQuoted(v)
		case d.textsBefore(h.dash):
			// "- Note: see: below" is a text, because the items before it are.
			return t[:h.keyAt] + singleQuoted(strings.TrimRight(t[h.keyAt:], " \t"))
		}
		return ""
	})
}

// isMember reports whether a line begins with the key of a mapping, and not with a
// sentence: the key is a name, or some words and one of several keys.
func (d *damage) isMember(h head) bool {
	if nameLike(h.key) || !fewWords.MatchString(h.key) {
		return nameLike(h.key)
	}
	if next := headOf(d.after(d.at)); next.keyAt == h.keyAt {
		return true
	}
	return slices.ContainsFunc(openLevels(d.before), func(l level) bool { return !l.list && l.column == h.keyAt })
}

var fewWords = regexp.MustCompile(`^[\pL\pN_-]+( [\pL\pN_-]+){0,3}$`)

// textsBefore reports whether the items so far of the list with its dashes in this
// column are texts.
func (d *damage) textsBefore(column int) bool {
	for _, l := range openLevels(d.before) {
		if l.list && l.column == column {
			for _, item := range l.node.Content {
				if item.Tag != tagStr {
					return false
				}
			}
			return true
		}
	}
	return false
}

// realEscape is an escape that JSON or JavaScript has too, and that may be meant.
var realEscape = regexp.MustCompile(`\\["'\\/bfnrtux0]`)

// fixEscapes puts a text in double quotes whose backslashes begin no escape, as in
// "\d+", in single ones. If there is also a backslash that begins one, it may be
// meant as a line break, or as the start of a folder's name.
func fixEscapes(d *damage) [][]string {
	t := strings.TrimRight(d.lines[d.at], " \t")
	h := headOf(t)
	if v := t[h.value:]; v != "" && v[0] == '"' && closingQuote(v) == len(v) {
		if body := v[1 : len(v)-1]; strings.Contains(body, `\`) && !realEscape.MatchString(body) {
			return [][]string{d.with(d.at, d.at, t[:h.value]+singleQuoted(body))}
		}
	}
	return nil
}

// fixTrailingCommas removes the commas between the members of what is JSON but
// for its brackets:
//
//	"name": "Ann",
//	"age": 36
//
// A comma after a quoted value cannot be YAML. One after a plain value would be
// part of it, so all members but the last must have one.
func fixTrailingCommas(d *damage) [][]string {
	t, ok := strings.CutSuffix(strings.TrimRight(d.lines[d.at], " \t"), ",")
	v := t[headOf(t).value:]
	if !ok || v == "" || strings.IndexByte("\"'[{", v[0]) < 0 || cannotBe(v) {
		return nil
	}
	fixed := slices.Clone(d.lines)
	members := d.siblings()
	for n, i := range members {
		t := strings.TrimRight(d.lines[i], " \t")
		v := t[headOf(t).value:]
		switch {
		case strings.HasSuffix(v, ","):
			fixed[i] = strings.TrimSuffix(t, ",")
		case v != "" && !blockHeader(v) && n < len(members)-1:
			return nil
		}
	}
	return [][]string{fixed}
}

// siblings returns the lines that begin the members of the mapping or list that the
// damage is in.
func (d *damage) siblings() []int {
	column := headOf(d.lines[d.at]).column()
	first := d.at
	for i := d.at; i >= 0; i-- {
		h := headOf(d.lines[i])
		if isBlank(d.lines[i]) || h.column() > column {
			continue
		}
		if h.column() < column {
			break
		}
		if first = i; h.opensItem() {
			break
		}
	}
	var members []int
	for i := first; i < len(d.lines); i++ {
		h := headOf(d.lines[i])
		if isBlank(d.lines[i]) || h.column() > column {
			continue
		}
		if h.column() < column || i > first && h.opensItem() {
			break
		}
		members = append(members, i)
	}
	return members
}

// A level is a list or a mapping that is open where a line begins.
type level struct {
	node   *yaml.Node
	column int
	list   bool
}

// openLevels returns the levels that are open after a text, the outermost first.
func openLevels(root *yaml.Node) []level {
	var levels []level
	for n := root; n != nil && len(n.Content) > 0 && n.Style&yaml.FlowStyle == 0; n = n.Content[len(n.Content)-1] {
		levels = append(levels, level{n, n.Column - 1, n.Kind == yaml.SequenceNode})
	}
	return levels
}
