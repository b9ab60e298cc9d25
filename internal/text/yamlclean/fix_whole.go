package yamlclean

import (
	"regexp"
	"strings"
)

const smartQuotes = "“”„‘’"

// smartQuoted is a text within typographic quotes. Another quote or a backslash in
// it could mean anything.
var smartQuoted = regexp.MustCompile(`[“”„]([^“”„"\\\n]*)[“”]|‘([^‘’"\\\n]*)’`)

// fixSmartQuotes makes the typographic quotes around keys and values plain, unless
// such quotes also stand where they belong to a text.
func fixSmartQuotes(d *damage) [][]string {
	if !strings.ContainsAny(d.lines[d.at], smartQuotes) {
		return nil
	}
	text := strings.Join(d.lines, "\n")
	var b strings.Builder
	done := 0
	for _, m := range smartQuoted.FindAllStringSubmatchIndex(text, -1) {
		if !aroundValue(text, m[0], m[1]) {
			return nil
		}
		b.WriteString(text[done:m[0]] + `"` + text[max(m[2], m[4]):max(m[3], m[5])] + `"`)
		done = m[1]
	}
	b.WriteString(text[done:])
	if strings.ContainsAny(b.String(), "“”„‘") {
		return nil
	}
	return [][]string{strings.Split(b.String(), "\n")}
}

// aroundValue reports whether all that is between two places can be a key or a
// value: nothing is before it and after it but syntax.
func aroundValue(text string, start, end int) bool {
	before := text[strings.LastIndexByte(text[:start], '\n')+1 : start]
	trimmed := strings.TrimRight(before, " \t")
	if trimmed != "" {
		last := trimmed[len(trimmed)-1]
		if strings.IndexByte("[{,", last) < 0 && (strings.IndexByte(":-", last) < 0 || trimmed == before) {
			return false
		}
	}
	after, _, _ := strings.Cut(text[end:], "\n")
	after = strings.TrimLeft(after, " \t")
	return after == "" || strings.IndexByte(":,]}", after[0]) >= 0
}

// fixTabs replaces tabs in indentation by spaces. Where all indentation is tabs,
// how wide they are does not matter. Where there are spaces too, it does: every
// usual width is tried.
func fixTabs(d *damage) [][]string {
	tabs, spaces := false, false
	for _, t := range d.lines {
		body := strings.TrimLeft(t, " \t")
		switch prefix := t[:len(t)-len(body)]; {
		case body == "":
		case strings.Contains(prefix, "\t") || strings.HasPrefix(body, "-\t"):
			tabs = true
		case prefix != "":
			spaces = true
		}
	}
	switch {
	case !tabs:
		return nil
	case !spaces:
		return [][]string{expandTabs(d.lines, 2)}
	}
	return [][]string{expandTabs(d.lines, 2), expandTabs(d.lines, 4), expandTabs(d.lines, 8)}
}

// expandTabs makes tabs in indentation this many spaces. In a block scalar it
// leaves alone what is beyond the indentation of the scalar: that is text.
func expandTabs(lines []string, width int) []string {
	out := make([]string, len(lines))
	spaces := strings.Repeat(" ", width)
	scalar, common := -1, "" // indentation of the key of a block scalar, and that of its text
	for i, t := range lines {
		body := strings.TrimLeft(t, " \t")
		prefix := t[:len(t)-len(body)]
		wide := strings.ReplaceAll(prefix, "\t", spaces)
		out[i] = wide + body
		switch {
		case body == "":
			out[i] = strings.ReplaceAll(t, "\t", "")
			continue
		case scalar >= 0 && len(wide) > scalar:
			if common == "" {
				common = prefix
			}
			if rest, ok := strings.CutPrefix(t, common); ok {
				out[i] = strings.ReplaceAll(common, "\t", spaces) + rest
			}
			continue
		}
		for rest := body; strings.HasPrefix(rest, "-") && blankAt(rest, 1); body = rest {
			after := strings.TrimLeft(rest[1:], " \t")
			wide += "-" + strings.ReplaceAll(rest[1:len(rest)-len(after)], "\t", " ")
			rest = after
		}
		out[i] = wide + body
		scalar, common = -1, ""
		if h := headOf(out[i]); blockHeader(out[i][h.value:]) {
			scalar = h.parent()
		}
	}
	return out
}
