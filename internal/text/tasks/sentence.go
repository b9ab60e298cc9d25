package tasks

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A piece is a part of a paragraph that is a task, or introduces the ones after it.
type piece struct {
	text string
	line int // counted from the beginning of the paragraph, from 0
	lead bool
}

// A prose is a paragraph that is being split.
type prose struct {
	text    string
	mask    mask
	breaks  bool // line breaks separate, where the words allow it
	lower   bool // the author begins sentences in lower case
	numbers bool // it has a list on its line, which stays one task: "Steps: 1. Build it 2. Test it"
	dropped []string
}

func newProse(text string) *prose {
	p := &prose{text: text, mask: maskOf(text)}
	p.breaks = !isFilled(text)
	p.lower = unicode.IsLower(firstLetter(text))
	p.numbers = firstItem.MatchString(text)
	return p
}

var firstItem = regexp.MustCompile(`(?:^|:` + anySpace + `+)1\.` + anySpace)

// Sentences splits a line of prose.
func Sentences(line string) []string {
	line = strings.TrimFunc(line, isBlank)
	var out []string
	for _, p := range newProse(line).sentences() {
		out = append(out, p.text)
	}
	return out
}

// sentences splits the paragraph.
func (p *prose) sentences() []piece {
	var spans []span
	add := func(start, end int) {
		start += len(p.text[start:end]) - len(strings.TrimLeftFunc(p.text[start:end], unicode.IsSpace))
		s := span{start, start + len(strings.TrimRightFunc(p.text[start:end], unicode.IsSpace))}
		if s.start == s.end {
			return
		}
		// A mark without a word is no sentence, and thanks are no task: they go
		// with their neighbour.
		if n := len(spans); n > 0 && (!p.says(s) || !p.says(spans[n-1])) {
			spans[n-1].end = s.end
			return
		}
		spans = append(spans, s)
	}
	start := 0
	for i := 0; i < len(p.text); {
		r, size := utf8.DecodeRuneInString(p.text[i:])
		end, next := -1, i+size
		switch {
		case p.mask.is(i, inCode|inURL|inQuote|inParens):
		case strings.ContainsRune("。！？｡", r):
			if after := next + p.closers(next); after < len(p.text) {
				end, next = after, after
			}
		case unicode.IsSpace(r):
			rest := strings.TrimLeftFunc(p.text[i:], unicode.IsSpace)
			next = len(p.text) - len(rest)
			left := p.text[start:i]
			switch {
			case rest == "" || strings.TrimSpace(left) == "":
			case p.ends(left, rest) || p.breaks && strings.Contains(p.text[i:next], "\n") && p.breaksLine(left, rest):
				end = i
			case p.isSequel(left, rest):
				end = i - 1
				p.dropped = append(p.dropped, p.text[end:i])
			}
		}
		if end >= 0 {
			add(start, end)
			start = next
		}
		i = next
	}
	add(start, len(p.text))
	return p.piecesOf(spans)
}

func (p *prose) piecesOf(spans []span) []piece {
	var out []piece
	line, counted := 0, 0
	for i, s := range spans {
		line += strings.Count(p.text[counted:s.start], "\n")
		counted = s.start
		text := s.of(p.text)
		out = append(out, piece{text: text, line: line, lead: i+1 < len(spans) && strings.HasSuffix(text, ":")})
	}
	return out
}

// says reports whether a part has letters, digits or code, and is more than a
// courtesy.
func (p *prose) says(s span) bool {
	text := s.of(p.text)
	if p.mask.is(s.start, inCode) {
		return true
	}
	for i, w := range plainWords(text, maxCourtesy+1) {
		if i == maxCourtesy || !courtesies.has(w) {
			return true
		}
	}
	return len(text) > maxWord && strings.ContainsFunc(text, isWordRune)
}

// maxCourtesy is how many words a courtesy has at most.
const maxCourtesy = 5

// closers is the length of the closing marks and further ends at i.
func (p *prose) closers(i int) int {
	rest := strings.TrimLeft(p.text[i:], "。！？｡」』”’）】》\"'")
	return len(p.text) - i - len(rest)
}

const (
	closingMarks = "\"'”’»›“‘)]}*_~」』》）】"
	openingMarks = "\"'“‘„‚«‹*_~¿¡「『《#@"
	sentenceEnds = ".!?…؟۔।॥։።\u037E" // the last one is the Greek question mark
)

// ends reports whether a sentence ends with left, where rest follows after space.
func (p *prose) ends(left, rest string) bool {
	core := strings.TrimRight(left, closingMarks)
	end := lastRune(core)
	if core == "" || !strings.ContainsRune(sentenceEnds, end) {
		return false
	}
	next := firstWord(rest)
	if end == '…' || strings.HasSuffix(core, "..") {
		return sequels.has(next)
	}
	word := core[strings.LastIndexFunc(core, unicode.IsSpace)+1:]
	word = strings.TrimLeft(strings.ToLower(word), openingMarks+"([{")
	if end == '.' {
		stem := strings.TrimSuffix(word, ".")
		starts := sequels.has(next) || isInstruction(next) && unicode.IsUpper(firstLetter(rest))
		switch {
		case titles.has(stem):
			return false
		case isInitials(stem):
			return starts
		case shortenings.has(stem):
			return unicode.IsUpper(firstRune(rest)) && !strings.ContainsFunc(next, unicode.IsDigit) || sequels.has(next)
		case (p.numbers || strings.TrimSpace(core) == word) && strings.TrimFunc(stem, unicode.IsDigit) == "":
			return false // the number of an item
		}
	}
	return p.begins(rest)
}

// isInitials is true of "j", "u.s" and "p.m", whose full stops are part of them.
func isInitials(stem string) bool {
	for i, part := range strings.Split(stem, ".") {
		if utf8.RuneCountInString(part) != 1 || !unicode.IsLetter(firstRune(part)) || i > 5 {
			return false
		}
	}
	return true
}

// begins reports whether a sentence can begin with rest.
func (p *prose) begins(rest string) bool {
	bare := strings.TrimLeft(rest, openingMarks)
	r := firstRune(bare)
	switch {
	case bare == "":
		return false
	case unicode.IsLower(r):
		word := firstWord(bare)
		return sequels.has(word) || isInstruction(word) || p.lower && !strings.Contains(word, "://")
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.So, r):
		return true
	case r == '[': // a link, but no remark
		return strings.Contains(bare, "](")
	default:
		return strings.ContainsRune("`$/!", r)
	}
}

// isSequel reports whether rest is an instruction that follows the one in left
// after a comma: "build it, then test it", but not "if it fails, then stop it".
func (p *prose) isSequel(left, rest string) bool {
	if mark := lastRune(left); mark != ',' && mark != ';' {
		return false
	}
	words := plainWords(rest, 8)
	if len(words) > 0 && words[0] == "and" {
		words = words[1:]
	}
	switch {
	case len(words) > 0 && sequels.has(words[0]):
		words = words[1:]
	case len(words) > 1 && words[0] == "after" && words[1] == "that":
		words = words[2:]
	default:
		return false
	}
	words = instruction(words)
	if len(words) < 2 || !instructions.has(words[0]) {
		return false
	}
	before := plainWords(left, maxClause)
	if len(before) == maxClause {
		return false
	}
	for _, w := range before {
		if conditionals.has(w) {
			return false
		}
	}
	before = instruction(before)
	return len(before) > 0 && isInstruction(before[0])
}

// maxClause is how many words are searched for a condition.
const maxClause = 100

// breaksLine reports whether a line break separates left from rest.
func (p *prose) breaksLine(left, rest string) bool {
	tail := lastRune(left)
	if strings.ContainsRune(",;-–—(/&+\\", tail) || danglers.has(lastWord(left)) {
		return false
	}
	bare := strings.TrimLeft(rest, openingMarks)
	r := firstRune(bare)
	switch {
	case r == '`':
		return tail == '`'
	case !unicode.IsLetter(r):
		return false
	case unicode.IsLower(r):
		word := firstWord(bare)
		return sequels.has(word) || p.lower && isInstruction(word)
	}
	return true
}

// isFilled reports whether the lines of a paragraph were broken because they were
// full: no line had room for the first word of the next.
func isFilled(text string) bool {
	lines := strings.Split(text, "\n")
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l))
	}
	if width < wrapWidth || len(lines) < 2 {
		return false
	}
	for i, l := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(lines[i+1], " ")
		if utf8.RuneCountInString(l)+1+utf8.RuneCountInString(word) <= width {
			return false
		}
	}
	return true
}

// firstWord is the first word of a text in lower case, without marks around it.
func firstWord(text string) string {
	if words := plainWords(text, 1); len(words) > 0 {
		return words[0]
	}
	return ""
}

func lastWord(text string) string {
	i := strings.LastIndexFunc(text, unicode.IsSpace)
	return plainWord(text[i+1:])
}

// plainWords are the first n words of a text. It gives up where marks go on and on.
func plainWords(text string, n int) []string {
	var out []string
	looked := 0
	for field := range strings.FieldsSeq(text) {
		if len(out) == n || looked == n+maxMarks {
			break
		}
		looked++
		if w := plainWord(field); w != "" {
			out = append(out, w)
		}
	}
	return out
}

const maxMarks = 4

// maxWord is more than any word that is looked up.
const maxWord = 64

func plainWord(field string) string {
	if len(field) > maxWord {
		return ""
	}
	w := strings.ToLower(strings.TrimFunc(field, func(r rune) bool { return !isWordRune(r) }))
	return strings.ReplaceAll(w, "’", "'")
}

func firstLetter(text string) rune {
	for _, r := range text {
		if unicode.IsLetter(r) {
			return r
		}
	}
	return 0
}
