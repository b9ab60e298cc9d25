package tasks

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IdentifierKind is what an identifier is.
type IdentifierKind string

// The kinds of identifiers.
const (
	Name    IdentifierKind = "name"
	Number  IdentifierKind = "number"
	Path    IdentifierKind = "path"
	Address IdentifierKind = "address"
)

// Words goes through the words of a text, each with its kind if it is an identifier:
// something that loses its use when it is paraphrased.
//
// A name is a word that no dictionary has: with a capital letter where no
// sentence begins, with capitals, digits or marks within it. Names in scripts
// without capitals are not found. A number has at least two digits, a decimal
// point, a currency or a percent sign: single digits are everywhere.
func Words(text string) iter.Seq2[string, IdentifierKind] {
	return func(yield func(string, IdentifierKind) bool) {
		for line := range strings.SplitSeq(valid(text), "\n") {
			if !wordsOf(line, yield) {
				return
			}
		}
	}
}

func wordsOf(line string, yield func(string, IdentifierKind) bool) bool {
	m := make(mask, len(line))
	urls := urlSpans(line, m)
	for _, s := range urls {
		m.set(s.start, s.end, inURL)
	}
	begins := true // a sentence
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case m.is(i, inURL):
			if !yield(urls[0].of(line), Address) {
				return false
			}
			i, begins, urls = urls[0].end, false, urls[1:]
		case isBreak(r):
			begins = begins || strings.ContainsRune("|。！？", r)
			i += size
		default:
			end := wordEnd(line, m, i)
			word := line[i:end]
			bare := strings.TrimLeft(strings.TrimRight(word, ".,:!?'’"), "'‘,:!-+~")
			kind := kindOf(bare)
			if kind == "" && isNamed(bare, begins, line[i+len(bare):]) {
				kind = Name
			}
			if bare != "" && !yield(bare, kind) {
				return false
			}
			begins = strings.ContainsRune(".!?", lastRune(word)) || begins && bare == ""
			i = end
		}
	}
	return true
}

// isNamed reports whether a word is a name by its capital letter. The first word of a
// sentence is one only before another.
func isNamed(word string, begins bool, rest string) bool {
	lower, next := strings.ToLower(word), nextWord(rest)
	if !unicode.IsUpper(firstRune(word)) || functionWords.has(lower) {
		return false
	}
	return !begins || !isInstruction(lower) && unicode.IsUpper(firstRune(next)) && !functionWords.has(strings.ToLower(next))
}

// wordEnd is where the word at i ends.
func wordEnd(line string, m mask, i int) int {
	start := i
	for i < len(line) {
		r, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case i > start && m.is(i, inURL), isBreak(r):
			return i
		case r == ',' && i > start && !(isDigitByte(line, i-1) && isDigitByte(line, i+1)):
			return i + size // the comma ends it
		}
		i += size
	}
	return i
}

// isBreak is true of space and of marks between words.
func isBreak(r rune) bool {
	switch r {
	case ' ', '"', '<', '>', '|', '(', ')', '[', ']', '{', '}', '=', ';', '`', '*':
		return true
	}
	return (r < ' ' || r >= utf8.RuneSelf) && (isBlank(r) || strings.ContainsRune("“”„«»‹›…，、；（）「」『』。！？", r))
}

func isDigitByte(s string, i int) bool { return i >= 0 && i < len(s) && '0' <= s[i] && s[i] <= '9' }

func nextWord(rest string) string {
	trimmed := strings.TrimLeft(rest, " ")
	if len(trimmed) == len(rest) {
		return ""
	}
	word, _, _ := strings.Cut(trimmed[:min(len(trimmed), maxWord)], " ")
	return strings.TrimRight(word, ".,:;!?")
}

// kindOf is the kind of a word that shows by its form what it is, or "".
func kindOf(word string) IdentifierKind {
	lower := strings.ToLower(word)
	if word == "" || titles.has(lower) || shortenings.has(lower) {
		return ""
	}
	if isPath(word) {
		return Path
	}
	letters, digits, capitals, marks := 0, 0, 0, 0
	inner := false // a capital or a dot within the word
	last := ' '
	for i, r := range word {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				capitals++
				inner = inner || unicode.IsLower(last)
			}
			inner = inner || i > 1 && last == '.'
		default:
			marks++
			inner = inner || (r == '_' || r == '@' || r == '-' || r == '/') && i > 0 && i+1 < len(word)
		}
		last = r
	}
	switch {
	case digits > 0 && letters == 0:
		if digits > 1 || strings.ContainsAny(word, ".%$€£¥#") {
			return Number
		}
	case digits > 0 && isDigitByte(word, 0) && letters <= 2:
		if suffix := strings.TrimLeft(word, "0123456789.,"); ordinals.has(strings.ToLower(suffix)) {
			return ""
		}
		return Number // with its unit
	case digits > 0:
		return Name
	case letters < 2 || functionWords.has(lower):
	case inner, capitals == letters && capitals > 1, capitals > 1 && marks > 0:
		return Name
	}
	return ""
}

// An Index knows what a text mentions.
type Index struct {
	text, lower string
	words       map[string]bool // in lower case
}

// IndexOf returns the index of a text.
func IndexOf(text string) *Index {
	x := &Index{text, strings.ToLower(text), map[string]bool{}}
	for word := range Words(text) {
		x.words[strings.ToLower(word)] = true
	}
	return x
}

// Has reports whether the text has a word, not just as a part of a longer one. The case
// matters if it has to be exact.
func (x *Index) Has(word string, exact bool) bool {
	if exact {
		return StandsIn(x.text, word)
	}
	key := strings.ToLower(word)
	return x.words[key] || StandsIn(x.lower, key)
}

// StandsIn reports whether a text has a part that does not begin or end within a
// word or a number.
func StandsIn(text, part string) bool {
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(part)
		before := start > 0 && isWordRune(firstRune(part)) && isWordRune(lastRune(text[:start]))
		after := end < len(text) && isWordRune(lastRune(part)) && isWordRune(firstRune(text[end:]))
		// 1.5 is not in 1.57 nor in 11.5, and 15 not in 1.15 or 15.2.
		decimal := isDigitByte(part, 0) && start > 1 && (text[start-1] == '.' || text[start-1] == ',') && isDigitByte(text, start-2) ||
			isDigitByte(part, len(part)-1) && end+1 < len(text) && (text[end] == '.' || text[end] == ',') && isDigitByte(text, end+1)
		if !before && !after && !decimal {
			return true
		}
		at = start + 1
	}
	return false
}
