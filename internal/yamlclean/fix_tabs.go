package yamlclean

import "strings"

// fixTabs replaces tabs in indentation by spaces. Where all indentation is tabs,
// how wide they are does not matter. Where there are spaces too, it does: every
// usual width is a variant.
func fixTabs(d document) []variant {
	tabs, spaces := false, false
	for _, l := range d {
		prefix := l.text[:len(l.text)-len(strings.TrimLeft(l.text, " \t"))]
		switch {
		case prefix == "" || len(prefix) == len(l.text):
		case strings.Contains(prefix, "\t"):
			tabs = true
		default:
			spaces = true
		}
		if after, ok := strings.CutPrefix(l.text[len(prefix):], "-"); ok && strings.HasPrefix(after, "\t") {
			tabs = true
		}
	}
	switch {
	case !tabs:
		return nil
	case !spaces:
		return []variant{{doc: expandTabs(d, 2)}}
	}
	return []variant{{doc: expandTabs(d, 2)}, {doc: expandTabs(d, 4)}, {doc: expandTabs(d, 8)}}
}

// expandTabs makes tabs in indentation this many spaces. In a block scalar it
// leaves alone what is beyond the indentation of the scalar: that is text.
func expandTabs(d document, width int) document {
	out := make(document, len(d))
	spaces := strings.Repeat(" ", width)
	scalar, common := -1, "" // indentation of the key of a block scalar, and that of its text
	for i, l := range d {
		body := strings.TrimLeft(l.text, " \t")
		prefix := l.text[:len(l.text)-len(body)]
		wide := strings.ReplaceAll(prefix, "\t", spaces)
		out[i] = line{wide + body, l.origin}
		if body == "" {
			out[i].text = strings.ReplaceAll(l.text, "\t", "")
			continue
		}
		if scalar >= 0 && len(wide) > scalar {
			if common == "" {
				common = prefix
			}
			if rest, ok := strings.CutPrefix(l.text, common); ok {
				out[i].text = strings.ReplaceAll(common, "\t", spaces) + rest
			}
			continue
		}
		scalar, common = -1, ""
		for rest := body; strings.HasPrefix(rest, "-") && blankAt(rest, 1); {
			after := strings.TrimLeft(rest[1:], " \t")
			gap := strings.ReplaceAll(rest[1:len(rest)-len(after)], "\t", " ")
			wide += "-" + gap
			rest = after
			body = after
		}
		out[i].text = wide + body
		if blockHeader(valueOf(body)) {
			scalar = len(wide)
			if keyOf(body) == "" {
				scalar = indentOf(wide)
			}
		}
	}
	return out
}

// valueOf returns what follows the key of a line, all of it if there is no key.
func valueOf(t string) string {
	if _, colon := keyEnd(t); colon >= 0 {
		return strings.TrimLeft(t[colon+1:], " \t")
	}
	return t
}
