package yamlclean

import "strings"

// fixTabs makes tabs in indentation two spaces each, where all indentation is tabs:
// then how wide they are does not matter. In a block scalar it leaves alone what is
// beyond the indentation of the scalar: that is text.
func fixTabs(lines []string, _ int) []string {
	out := make([]string, len(lines))
	tabs := false
	scalar, common := -1, "" // indentation of the key of a block scalar, and that of its text
	for i, t := range lines {
		body := strings.TrimLeft(t, " \t")
		prefix := t[:len(t)-len(body)]
		wide := strings.ReplaceAll(prefix, "\t", "  ")
		tabs = tabs || strings.Contains(prefix, "\t")
		switch {
		case body == "":
			out[i] = strings.ReplaceAll(t, "\t", "")
			continue
		case scalar >= 0 && len(wide) > scalar:
			if common == "" {
				common = prefix
			}
			if rest, ok := strings.CutPrefix(t, common); ok {
				out[i] = strings.ReplaceAll(common, "\t", "  ") + rest
			}
			continue
		case strings.Contains(prefix, " "):
			return nil
		}
		out[i] = wide + body
		scalar, common = -1, ""
		if h := headOf(out[i]); blockHeader(out[i][h.value:]) {
			scalar = h.parent()
		}
	}
	if !tabs {
		return nil
	}
	return out
}
