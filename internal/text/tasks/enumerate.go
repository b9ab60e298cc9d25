package tasks

import (
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

// labels finds the numbers 1, 2, ... in one of the forms (1), 1) and 1. where
// they can be labels. The last form has to come first in the text or after a
// colon: "version 1. Fix" is something else.
func (p *prose) labels() []span {
	for _, form := range [][2]string{{"(", ")"}, {"", ")"}, {"", "."}} {
		var found []span
		at := 0
		for n := 1; ; n++ {
			s, ok := p.label(form[0]+strconv.Itoa(n)+form[1], at)
			if !ok {
				break
			}
			if n == 1 && form[1] == "." {
				before := strings.TrimSpace(p.text[:s.start])
				if before != "" && !strings.HasSuffix(before, ":") {
					break
				}
			}
			found = append(found, s)
			at = s.end
		}
		if len(found) > 1 {
			return found
		}
	}
	return nil
}

// label finds a label as a word of its own, outside code, quotes and brackets.
func (p *prose) label(label string, at int) (span, bool) {
	for at < len(p.text) {
		i := strings.Index(p.text[at:], label)
		if i < 0 {
			break
		}
		s := span{at + i, at + i + len(label)}
		at = s.end
		spaced := (s.start == 0 || unicode.IsSpace(lastRune(p.text[:s.start]))) && s.end < len(p.text) && unicode.IsSpace(firstRune(p.text[s.end:]))
		inside := s.start > 0 && p.mask[s.start-1] != 0 || s.end < len(p.text) && p.mask[s.end] != 0
		if spaced && !inside {
			return s, true
		}
	}
	return span{}, false
}
