package yamlclean

import (
	"regexp"
	"slices"
	"strings"
)

// fixBlockMarker makes a text of several lines, which cannot be read as it stands, the
// literal block that it was meant as. Its first line may be behind the key, behind a
// marker, or below:
//
//	task: Read the file          task:
//	  and report: the first        Note the first line: it counts.
//	  line                         Then go on.
//
// The text is kept line by line.
func fixBlockMarker(lines []string, at int) []string {
	first := textStart(lines, at)
	if first < 0 {
		return nil
	}
	t := strings.TrimRight(lines[first], " \t")
	h := headOf(t)
	last := bodyEnd(lines, first, h.parent())
	if last == first {
		return nil
	}
	body := lines[first+1 : last+1]
	marker, value := cutMarker(t[h.value:])
	if marker == "" && !isText(lines, value, body, h.keyAt < 0) {
		return nil
	}
	if value == "" {
		return slices.Concat(lines[:first], []string{t + " |-"}, lines[first+1:])
	}
	if marker == "" {
		marker = "|-"
	}
	margin := strings.Repeat(" ", h.parent()+2)
	block := []string{t[:h.value] + marker, margin + value}
	common := indentOf(nextLine(body))
	for _, t := range body {
		switch {
		case isBlank(t):
			block = append(block, "")
		case indentOf(t) < common:
			return nil
		default:
			block = append(block, margin+t[common:])
		}
	}
	return slices.Concat(lines[:first], block, lines[last+1:])
}

// textStart returns the line with the key or the dash of the text that the damage may
// be in, -1 if there is none.
func textStart(lines []string, at int) int {
	t := lines[at]
	if h := headOf(t); h.parent() >= 0 && indentOf(nextLine(lines[at+1:])) > h.parent() {
		return at
	}
	for i := at - 1; i >= 0; i-- {
		if isBlank(lines[i]) || indentOf(lines[i]) >= indentOf(t) {
			continue
		}
		if h := headOf(lines[i]); h.parent() >= 0 && h.parent() < indentOf(t) {
			return i
		}
		break
	}
	return -1
}

// nextLine returns the first line that is not blank, "" if there is none.
func nextLine(lines []string) string {
	if i := slices.IndexFunc(lines, func(t string) bool { return !isBlank(t) }); i >= 0 {
		return lines[i]
	}
	return ""
}

// bodyEnd returns the last line after i that is indented more than a column, i if there
// is none.
func bodyEnd(lines []string, i, column int) int {
	last := i
	for j := i + 1; j < len(lines); j++ {
		if isBlank(lines[j]) {
			continue
		}
		if indentOf(lines[j]) <= column {
			break
		}
		last = j
	}
	return last
}

// behindMarker is the marker of a block with a text put behind it. What is greater
// than a number is no marker.
var behindMarker = regexp.MustCompile(`^([|>][-+]?) +([^0-9# ].*)$`)

// cutMarker cuts the marker of a block off a text that was put behind it.
func cutMarker(t string) (marker, rest string) {
	if m := behindMarker.FindStringSubmatch(t); m != nil {
		return m[1], m[2]
	}
	return "", t
}

// isText reports whether a value with further lines below it can only be text: it has
// a sentence in it, no key that the document has elsewhere, and no other item if it is
// one itself.
func isText(lines []string, value string, body []string, item bool) bool {
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
		case nameLike(h.key) && (isKeyTwice(lines, h.key) || blockHeader(t[h.value:])):
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

// isKeyTwice reports whether more than one line begins with a key, behind a dash or not.
func isKeyTwice(lines []string, key string) bool {
	n := 0
	for _, t := range lines {
		if strings.Contains(t, key) && headOf(t).key == key {
			n++
		}
	}
	return n > 1
}

// isSentence reports whether a line reads like prose, and not like a key and a value.
func isSentence(t string) bool {
	words := strings.Fields(t)
	return len(words) > 2 || len(words) == 2 && strings.ContainsAny(t[len(t)-1:], ".!?:")
}
