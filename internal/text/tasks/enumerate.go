package tasks

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// enumeration splits a paragraph that numbers its tasks in the middle of the
// line: "Please: 1) clone the repo, 2) build it and 3) run the tests". It returns
// nil for any other: each number must come next, and an instruction after it.
func (p *prose) enumeration() []piece {
	labels := p.labels()
	if len(labels) < 2 {
		return nil
	}
	for _, l := range labels {
		words := plainWords(p.text[l.end:], 2)
		if len(words) < 2 || !isInstruction(words[0]) {
			return nil
		}
	}
	out := p.sentences(0, labels[0].start)
	if n := len(out); n > 0 {
		out[n-1].lead = !strings.ContainsRune(sentenceEnds, lastRune(out[n-1].text))
	}
	for i, l := range labels {
		p.dropped = append(p.dropped, l.of(p.text))
		if i+1 == len(labels) {
			// Only the first sentence is part of the list.
			return append(out, p.sentences(l.end, len(p.text))...)
		}
		start := l.end + len(p.text[l.end:]) - len(strings.TrimLeftFunc(p.text[l.end:], unicode.IsSpace))
		end := start + p.beforeLabel(p.text[start:labels[i+1].start])
		out = append(out, piece{text: p.text[start:end], line: strings.Count(p.text[:start], "\n")})
	}
	return out
}

// beforeLabel is the length of a text without what joins it to the next label.
func (p *prose) beforeLabel(text string) int {
	bare := strings.TrimRightFunc(text, unicode.IsSpace)
	for _, word := range []string{"and", "then", "or"} {
		cut, ok := strings.CutSuffix(bare, word)
		if trimmed := strings.TrimRightFunc(cut, unicode.IsSpace); ok && len(trimmed) < len(cut) {
			bare = trimmed
		}
	}
	bare = strings.TrimRight(bare, ",;")
	p.dropped = append(p.dropped, text[len(bare):])
	return len(bare)
}

// itemLabels are the forms (1), 1) and 1. of labels within a line, each a word of its own.
var itemLabels = []*regexp.Regexp{
	regexp.MustCompile(`(?:^|` + anySpace + `)(\(([0-9]{1,6})\))`),
	regexp.MustCompile(`(?:^|` + anySpace + `)(([0-9]{1,6})\))`),
	regexp.MustCompile(`(?:^|` + anySpace + `)(([0-9]{1,6})\.)`),
}

// labels finds the numbers 1, 2, ... in one of their forms, outside code, quotes and
// brackets. The last form has to come first in the text or after a colon: "version 1.
// Fix" is something else.
func (p *prose) labels() []span {
	for form, re := range itemLabels {
		var found []span
		for _, at := range re.FindAllStringSubmatchIndex(p.text, -1) {
			s := span{at[2], at[3]}
			inside := s.start > 0 && p.mask[s.start-1] != 0 || s.end < len(p.text) && p.mask[s.end] != 0
			if p.text[at[4]:at[5]] != strconv.Itoa(len(found)+1) || inside || s.end == len(p.text) || !unicode.IsSpace(firstRune(p.text[s.end:])) {
				continue
			}
			if before := strings.TrimSpace(p.text[:s.start]); len(found) == 0 && form == 2 && before != "" && !strings.HasSuffix(before, ":") {
				break
			}
			found = append(found, s)
		}
		if len(found) > 1 {
			return found
		}
	}
	return nil
}
