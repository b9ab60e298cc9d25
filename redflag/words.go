package redflag

import (
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
	fence := ""
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		next := nextFence(fence, line)
		if fence != "" || next != "" {
			fence = next
			continue
		}
		if isTableRow(line) || isQuote(line) || isCode(line) {
			continue
		}
		out = appendSentences(out, fold(line), n)
	}
	return out
}

func isTableRow(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "|") || strings.Count(line, "|") >= 2 || strings.Count(line, "\t") >= 2
}

func isQuote(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), ">") }

// isCode recognises lines of program text outside a fence. Prose that looks
// like it is only not checked.
func isCode(line string) bool {
	trimmed := strings.TrimSpace(line)
	if trimmed == "" {
		return false
	}
	for _, start := range []string{"//", "/*", "#!", "#include", "<!--", "import ", "from ", "package ", "$ "} {
		if strings.HasPrefix(trimmed, start) {
			// "From the first equation ..." is prose.
			return start != "from " || strings.Contains(trimmed, " import ")
		}
	}
	switch trimmed[len(trimmed)-1] {
	case '{':
		return true
	case '}':
		return strings.ContainsAny(trimmed[:1], `{}"`) && !strings.HasPrefix(trimmed, "{{") // a slot
	case ';':
		return strings.ContainsAny(trimmed, "()=[]{}")
	}
	for _, mark := range []string{":=", "==", "!=", "&&", "||", "=>", "->", "+=", "();", "()", "</", "/>", "*/"} {
		if strings.Contains(trimmed, mark) {
			return true
		}
	}
	indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
	return indented && strings.ContainsAny(trimmed, "()=[]{}#")
}

// fold makes texts comparable: see [sentence].
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range strings.ToLower(s) {
		switch r {
		case '’', 'ʼ', '＇':
			r = '\''
		case '，':
			r = ','
		case '！':
			r = '!'
		case '？':
			r = '?'
		case '：':
			r = ':'
		case '；':
			r = ';'
		case '（':
			r = '('
		case '）':
			r = ')'
		case '［', '【':
			r = '['
		case '］', '】':
			r = ']'
		case '*':
			continue
		}
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if !visible(r) {
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// appendSentences splits one folded line.
func appendSentences(out []sentence, line string, number int) []sentence {
	text, marker := cutMarker(line)
	full, own := strings.Builder{}, strings.Builder{}
	full.WriteString(marker)
	end := func() {
		s := sentence{
			full: strings.TrimSpace(full.String()),
			own:  strings.TrimSpace(own.String()),
			line: number,
		}
		if s.own != "" {
			out = append(out, s)
		}
		full.Reset()
		own.Reset()
	}
	unclosed := ""
	prev := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if opensQuotation(prev, r) && !strings.ContainsRune(unclosed, r) {
			if n := quotation(text[i:]); n > 0 {
				full.WriteString(text[i : i+n])
				own.WriteByte('"')
				i += n
				prev = '"'
				continue
			}
			unclosed += string(r) // nor will a later one be; do not search again
		}
		full.WriteRune(r)
		own.WriteRune(r)
		i += size
		next := firstRune(text[i:])
		switch r {
		case '.':
			if i == len(text) || next == ' ' {
				end()
			}
		case '!', '?': // not in "!=", but without a space in Chinese
			if i == len(text) || next == ' ' || unicode.Is(unicode.Lo, next) {
				end()
			}
		case '。', '।', '؟', '…':
			end()
		}
		prev = r
	}
	end()
	return out
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// cutMarker splits off what marks a heading or a list item: "# ", "- ", "2. ".
func cutMarker(line string) (text, marker string) {
	rest := strings.TrimLeft(line, "#-+•·– ")
	if rest == line {
		digits := strings.TrimLeft(line, "0123456789")
		if n := len(line) - len(digits); n > 0 && n <= 4 &&
			(strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
			rest = digits[2:]
		}
	} else if !strings.HasPrefix(line[:len(line)-len(rest)], "#") && !strings.HasSuffix(line[:len(line)-len(rest)], " ") {
		rest = line // "-5" is a number
	}
	return rest, line[:len(line)-len(rest)]
}

var closers = map[rune]string{
	'"': "\"", '“': "”\"", '„': "“”", '«': "»", '‹': "›",
	'「': "」", '『': "』", '《': "》", '`': "`", '‘': "'", '\'': "'",
}

// opensQuotation reports whether r after prev can begin a quotation or inline
// code. After a letter or digit it is an apostrophe or the sign for inches.
func opensQuotation(prev, r rune) bool {
	if (r == '"' || r == '\'') && (unicode.IsLetter(prev) || unicode.IsDigit(prev)) {
		return false
	}
	return closers[r] != ""
}

// quotation returns the length of the quotation with which s begins, 0 if it is
// not closed.
func quotation(s string) int {
	open, size := utf8.DecodeRuneInString(s)
	ends := closers[open]
	for i, r := range s[size:] {
		if !strings.ContainsRune(ends, r) {
			continue
		}
		after := size + i + utf8.RuneLen(r)
		if next := firstRune(s[after:]); ends == "'" && (i == 0 || unicode.IsLetter(next) || unicode.IsDigit(next)) {
			continue // can't, the '90s
		}
		return after
	}
	return 0
}

// words counts words: runs of letters and digits, and two characters each of a
// script that is written without spaces.
func words(s string) int {
	count, dense := 0, 0
	inside := false
	for _, r := range s {
		switch {
		case isDense(r):
			dense++
			inside = false
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || inside && r == '\'':
			if !inside {
				count++
			}
			inside = true
		default:
			inside = false
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
// them, and reports whether it removed any.
func skip(s string, openings []string) (rest string, any bool) {
	for {
		s = strings.TrimLeft(s, " ,.;:!-–—…、")
		p := startsWith(s, openings)
		if p == "" {
			return s, any
		}
		s, any = s[len(p):], true
	}
}
