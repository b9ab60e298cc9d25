package yamlclean

import (
	"regexp"
	"strings"
)

// fixBlockMarker makes a text of several lines, which cannot be read as it
// stands, the literal block that it was meant as. The text is kept line by line.
func fixBlockMarker(d *damage) [][]string {
	first := d.textStart()
	if first < 0 {
		return nil
	}
	t := strings.TrimRight(d.lines[first], " \t")
	h := headOf(t)
	last := d.bodyEnd(first, h.parent())
	body := d.lines[first+1 : last+1]
	if last == first {
		return nil
	}
	marker, value := cutMarker(t[h.value:])
	if marker == "" && !d.isText(value, body, h.keyAt < 0) {
		return nil
	}
	if value == "" {
		return [][]string{d.with(first, first, t+" |-")}
	}
	if marker == "" {
		marker = "|-"
	}
	margin := strings.Repeat(" ", h.parent()+2)
	texts := []string{t[:h.value] + marker, margin + value}
	common := indentOf(d.after(first))
	for _, t := range body {
		switch {
		case isBlank(t):
			texts = append(texts, "")
		case indentOf(t) < common:
			return nil
		default:
			texts = append(texts, margin+t[common:])
		}
	}
	return [][]string{d.with(first, last, texts...)}
}

// textStart returns the line with the key or the dash of the text that the damage
// may be in, -1 if there is none.
func (d *damage) textStart() int {
	t := d.lines[d.at]
	if h := headOf(t); h.parent() >= 0 && indentOf(d.after(d.at)) > h.parent() {
		return d.at
	}
	for i := d.at - 1; i >= 0; i-- {
		if isBlank(d.lines[i]) || indentOf(d.lines[i]) >= indentOf(t) {
			continue
		}
		if h := headOf(d.lines[i]); h.parent() >= 0 && h.parent() < indentOf(t) {
			return i
		}
		break
	}
	return -1
}

// behindMarker is the marker of a block with a text put behind it. What is greater
// than a number is no marker.
var behindMarker = regexp.MustCompile(`^([|>][-+]?) +([^0-9 ].*)$`)

// cutMarker cuts the marker of a block off a text that was put behind it.
func cutMarker(t string) (marker, rest string) {
	if m := behindMarker.FindStringSubmatch(t); m != nil {
		return m[1], m[2]
	}
	return "", t
}

// isText reports whether a value with further lines below it can only be text: it
// has a sentence in it, no key that the document has elsewhere, and no other item
// if it is one itself.
func (d *damage) isText(value string, body []string, item bool) bool {
	if value != "" && (strings.IndexByte("&!|>\"'[{", value[0]) >= 0 || maybeComment(value)) {
		return false
	}
	keys, sentences, others := 0, 0, 0
	common := -1
	for _, t := range body {
		if isBlank(t) {
			continue
		}
		h := headOf(t)
		words := strings.TrimSpace(t)
		if common < 0 {
			common = h.indent
			if value == "" && (h.dash >= 0 || nameLike(h.key) || strings.IndexByte("\"'[{|>", words[0]) >= 0 || words[0] == '*' && blankAt(words, 1)) {
				return false // it may be a collection, or a list with the wrong bullets
			}
		}
		switch {
		case h.indent < common || value != "" && h.indent != common:
			return false // who knows how far the first line would be indented
		case words[0] == '#' || maybeComment(words) || item && h.dash >= 0:
			return false
		case nameLike(h.key) && (d.keyCount(h.key) > 1 || blockHeader(t[h.value:])):
			return false
		case nameLike(h.key):
			keys++
		case isSentence(words):
			sentences++
		default:
			others++
		}
	}
	return sentences > 0 || value != "" && keys == 0 && others > 0 && isSentence(value)
}
