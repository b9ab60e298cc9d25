package redflag

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sentence of an answer, folded: lower case, one space between words, plain
// punctuation, no emphasis.
type sentence struct {
	full string // everything, with the marker of a list item
	own  string // without the marker; each quotation and inline code is a '"'

	line int // sentences of one line share it
}

// read takes a text apart into the sentences that the answer says itself. Code,
// tables and block quotes are left out.
func read(text string) []sentence {
	var out []sentence
	fence, n := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		before := fence
		fence = nextFence(fence, line)
		if before == "" && fence == "" && !isTable(line) && !isCode(line) {
			out = appendSentences(out, fold(line), n)
		}
	}
	return out
}

// isTable recognises rows of tables, and block quotes.
func isTable(line string) bool {
	first := firstRune(strings.TrimSpace(line))
	return first == '|' || first == '>' || strings.Count(line, "|") >= 2 || strings.Count(line, "\t") >= 2
}

// Program text begins with some words, and has signs that prose has not.
var (
	codeBegins = regexp.MustCompile(`^(?://|/\*|#!|#include|<!--|import |from .* import |package |\$ )`)
	codeMarks  = []string{":=", "==", "!=", "&&", "||", "=>", "->", "+=", "()", "</", "/>", "*/"}
)

// isCode recognises lines of program text outside a fence. Prose that looks
// like it is only not checked.
func isCode(line string) bool {
	trimmed := strings.TrimSpace(line)
	brackets := strings.ContainsAny(trimmed, "()=[]{}")
	indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
	slot := strings.HasPrefix(trimmed, "{{")
	return strings.HasSuffix(trimmed, "{") || codeBegins.MatchString(trimmed) ||
		strings.HasSuffix(trimmed, ";") && brackets ||
		strings.HasSuffix(trimmed, "}") && strings.ContainsAny(trimmed[:1], `{}"`) && !slot ||
		indented && (brackets || strings.Contains(trimmed, "#")) ||
		slices.ContainsFunc(codeMarks, func(mark string) bool { return strings.Contains(trimmed, mark) })
}

var plainPunctuation = strings.NewReplacer(
	"’", "'", "ʼ", "'", "＇", "'", "，", ",", "！", "!", "？", "?", "：", ":", "；", ";",
	"（", "(", "）", ")", "［", "[", "【", "[", "］", "]", "】", "]", "*", "",
)

// inFull spells contractions out.
var inFull = strings.NewReplacer(
	"can't", "cannot", "won't", "will not", "don't", "do not", "i'm", "i am", "i'd", "i would", "i'll", "i will",
	"that's", "that is", "here's", "here is", "you'd", "you would",
)

// fold makes texts comparable: see [sentence].
func fold(s string) string {
	visibleOnly := strings.Map(func(r rune) rune {
		if !visible(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, plainPunctuation.Replace(strings.ToLower(s)))
	return strings.Join(strings.Fields(inFull.Replace(visibleOnly)), " ")
}

var (
	// markers begin a heading or a list item: "# ", "- ", "2. ".
	markers = regexp.MustCompile(`^(?:#[#+•·– -]*|[+•·– -]* |\d{1,4}[.)] )`)

	// quotations are also inline code. After a letter or a digit the mark is an
	// apostrophe or the sign for inches.
	quotations = regexp.MustCompile("`[^`]*`" + `|\B"[^"]*"|“[^”"]*[”"]|„[^“”]*[“”]|«[^»]*»|‹[^›]*›|「[^」]*」|『[^』]*』|《[^》]*》|\B['‘](?:[^']|'\b)+'\B`)

	// ends are those of sentences; in Chinese there is no space after them.
	ends = regexp.MustCompile(`[.!?](?: |$)|[!?]\p{Lo}|[。।؟…]`)
)

// appendSentences splits one folded line.
func appendSentences(out []sentence, line string, number int) []sentence {
	marker := markers.FindString(line)
	text := line[len(marker):]
	var quoted []string
	if strings.ContainsAny(text, "`\"“„«‹「『《'‘") {
		text = quotations.ReplaceAllStringFunc(text, func(q string) string {
			quoted = append(quoted, q)
			return "\x00"
		})
	}
	for text != "" {
		cut := len(text)
		if at := ends.FindStringIndex(text); at != nil {
			_, size := utf8.DecodeRuneInString(text[at[0]:])
			cut = at[0] + size
		}
		full := []string{marker}
		for i, part := range strings.Split(text[:cut], "\x00") {
			if i > 0 {
				full = append(full, quoted[0])
				quoted = quoted[1:]
			}
			full = append(full, part)
		}
		if own := strings.TrimSpace(strings.ReplaceAll(text[:cut], "\x00", `"`)); own != "" {
			out = append(out, sentence{strings.TrimSpace(strings.Join(full, "")), own, number})
		}
		marker, text = "", text[cut:]
	}
	return out
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// pieces are words, characters of a script without spaces, and separators.
var pieces = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]|[,;:、]|[^\s,;:、\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]+`)

// words counts words, two characters each of a script that is written without
// spaces.
func words(s string) int {
	count, dense := 0, 0
	for _, piece := range pieces.FindAllString(s, -1) {
		switch r := firstRune(piece); {
		case isDense(r):
			dense++
		case strings.ContainsFunc(piece, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
			count++
		}
	}
	return count + dense/2
}

// isDense reports whether r belongs to a script that is written without spaces.
func isDense(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// startsWith returns the phrase with which s begins, "" if it begins with none.
// A phrase ends where a word ends, except in scripts whose words do not show
// their end. A phrase written with a final comma must be followed by
// punctuation or nothing: "actually, no," is not "actually, no one".
func startsWith(s string, phrases []string) string {
	for _, p := range phrases {
		bare, stop := strings.CutSuffix(p, ",")
		if rest, ok := strings.CutPrefix(s, bare); ok && endsWell(bare, rest, stop) {
			return bare
		}
	}
	return ""
}

// contains is like startsWith for a phrase anywhere in s.
func contains(s string, phrases []string) string {
	for _, p := range phrases {
		for i := 0; ; {
			j := strings.Index(s[i:], p)
			if j < 0 {
				break
			}
			i += j
			before, _ := utf8.DecodeLastRuneInString(s[:i])
			if (i == 0 || !unicode.IsLetter(before) || !spaced(firstRune(p))) && endsWell(p, s[i+len(p):], false) {
				return p
			}
			i += len(p)
		}
	}
	return ""
}

func endsWell(phrase, rest string, stop bool) bool {
	next := firstRune(rest)
	if rest == "" {
		return true
	}
	if stop {
		return strings.ContainsRune(",.;:!?–—…。、", next)
	}
	last, _ := utf8.DecodeLastRuneInString(phrase)
	return !spaced(last) || !(unicode.IsLetter(next) || unicode.IsMark(next))
}

// spaced reports whether r belongs to a script that shows where words end.
func spaced(r rune) bool {
	return unicode.IsLetter(r) && !isDense(r) && !unicode.Is(unicode.Hangul, r)
}

// skip removes openings such as "well," from s, and the punctuation between
// them.
func skip(s string, openings []string) string {
	for {
		s = strings.TrimLeft(s, " ,.;:!-–—…、")
		p := startsWith(s, openings)
		if p == "" {
			return s
		}
		s = s[len(p):]
	}
}
