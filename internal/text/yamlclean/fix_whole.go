package yamlclean

import "strings"

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
