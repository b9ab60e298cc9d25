package yamlclean

import (
	"slices"
	"strings"
)

// fixUnquotedColon puts quotes around a plain value on one line that contains a
// colon and a blank, and with it around those after it that have the same key in the
// same column: who makes a slip in one step makes it in all.
func fixUnquotedColon(lines []string, at int) []string {
	damaged := headOf(lines[at])
	if !nameLike(damaged.key) {
		return nil // a sentence, rather than the key of a mapping
	}
	fixed := slices.Clone(lines)
	block := -1 // the column of the key of a block scalar
	for i := at; i < len(lines); i++ {
		t := strings.TrimRight(lines[i], " \t")
		if t == "" || block >= 0 && indentOf(t) > block {
			continue
		}
		h := headOf(t)
		if block = -1; blockHeader(t[h.value:]) {
			block = h.parent()
		}
		if h.key == damaged.key && h.keyAt == damaged.keyAt && colonInText(t[h.value:]) && standsAlone(h, lines[i+1:]) {
			fixed[i] = t[:h.value] + singleQuoted(t[h.value:])
		}
		if fixed[at] == lines[at] {
			return nil
		}
	}
	return fixed
}

// colonInText reports whether a value can only be a plain text with a colon in it.
func colonInText(v string) bool {
	return v != "" && strings.IndexByte("-?[]{},&*!|>%@`\"'", v[0]) < 0 && !maybeComment(v) && strings.Contains(v+" ", ": ")
}

// standsAlone reports whether the lines after a value are no part of it: with one
// blank more than the key has that is a slip. An item of a list may be a text with
// two colons in it, unless it has another key below the first.
func standsAlone(h head, after []string) bool {
	next := 0
	if i := slices.IndexFunc(after, func(t string) bool { return !isBlank(t) }); i >= 0 {
		next = indentOf(after[i])
	}
	return next <= h.keyAt+1 && (h.dash < 0 || next == h.keyAt)
}
