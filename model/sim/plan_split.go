package sim

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitTask splits a task into what is to be done, in order: one piece for each
// line, sentence and clause that begins with "then", or with a verb after a comma.
// What is in quotes, backquotes or brackets
// stays together. Pieces are as they were written, without bullets and without
// the words that only say that they come next.
func splitTask(task string) []string {
	var pieces []string
	for line := range strings.SplitSeq(task, "\n") {
		line = strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		if len(line) > maxLine {
			pieces = append(pieces, line)
			continue
		}
		for _, sentence := range cutSentences(line) {
			for _, clause := range cutClauses(sentence) {
				clause = strings.TrimSpace(next.ReplaceAllString(clause, ""))
				if strings.ContainsFunc(clause, isWordy) {
					pieces = append(pieces, clause)
				}
			}
		}
	}
	if len(pieces) == 0 {
		return []string{"Do this: " + strings.TrimSpace(task)}
	}
	return pieces
}

// maxLine is the longest line that is looked into.
const maxLine = 10_000

// isWordy reports whether a character says something.
func isWordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var (
	bullet = regexp.MustCompile(`^\s*(?:[-*•]\s+|\(?\d{1,3}[.)]\s+)`)
	next   = regexp.MustCompile(`(?i)^[\s,;]*(?:(?:and|then|next|finally|after that|afterwards)\b[\s,:]*)+`)
	thens  = regexp.MustCompile(`(?i)(?:,\s*(?:and\s+)?|\s+and\s+|\s*;\s*|\s+)then\b[\s,]+|\s*;\s+`)
	verbs  = regexp.MustCompile(`(?i),\s+(?:and\s+)?((?:find|search|count|write|save|append|read|run|sort|compute|calculate|list|fetch|print|report|sum)\b)`)
	when   = regexp.MustCompile(`(?i)^\s*(?:if|when|unless|once)\b`)
)

// cutSentences cuts after a full stop, question mark or exclamation mark that
// has white space and the beginning of something behind it.
func cutSentences(line string) []string {
	var out []string
	start := 0
	together := spans(line)
	for i := 0; i+1 < len(line); i++ {
		if !strings.ContainsRune(".!?", rune(line[i])) || together.contain(i) || line[i+1] != ' ' && line[i+1] != '\t' {
			continue
		}
		rest := strings.TrimLeft(line[i+1:], " \t")
		r, _ := utf8.DecodeRuneInString(rest)
		if !unicode.IsLower(r) || next.MatchString(rest) {
			out = append(out, line[start:i+1])
			start = i + 1
		}
	}
	return append(out, line[start:])
}

// cutClauses cuts a sentence before each "then" and before each verb after a
// comma, unless it says what happens if something is the case.
func cutClauses(sentence string) []string {
	if when.MatchString(sentence) {
		return []string{sentence}
	}
	cuts := thens.FindAllStringIndex(sentence, -1)
	for _, m := range verbs.FindAllStringSubmatchIndex(sentence, -1) {
		cuts = append(cuts, []int{m[0], m[2]})
	}
	slices.SortFunc(cuts, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	var out []string
	start := 0
	together := spans(sentence)
	for _, at := range cuts {
		if at[0] <= start || together.contain(at[0]) || together.contain(at[1]-1) {
			continue
		}
		out = append(out, sentence[start:at[0]])
		start = at[1]
	}
	return append(out, sentence[start:])
}

// A span is a part of a text that stays together: from its opening mark to its
// closing one.
type span struct{ start, end int }

type spanList []span

func (l spanList) contain(i int) bool {
	for _, s := range l {
		if s.start <= i && i < s.end {
			return true
		}
	}
	return false
}

// spans finds what is in quotes, backquotes and brackets. A mark that is never
// closed is none.
func spans(text string) spanList {
	var list spanList
	for i := 0; i < len(text); i++ {
		closing := byte(0)
		switch text[i] {
		case '`', '"':
			closing = text[i]
		case '[':
			closing = ']'
		case '(':
			closing = ')'
		case '{':
			closing = '}'
		default:
			continue
		}
		if n := strings.IndexByte(text[i+1:], closing); n >= 0 {
			list = append(list, span{i, i + n + 2})
			i += n + 1
		}
	}
	return list
}
