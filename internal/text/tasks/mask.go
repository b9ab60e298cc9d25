package tasks

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A mask says of every byte of a text what it is part of.
type mask []byte

// What a byte can be part of, delimiters included.
const (
	inCode   byte = 1 << iota // between backticks
	inURL                     // an address
	inQuote                   // between quotation marks
	inParens                  // between brackets
)

func (m mask) set(start, end int, bit byte) {
	for i := start; i < end; i++ {
		m[i] |= bit
	}
}

// is reports whether the byte at i is part of any of the kinds.
func (m mask) is(i int, kinds byte) bool { return m[i]&kinds != 0 }

// maskOf finds code, addresses, quotes and brackets. A mark without its
// counterpart is an ordinary character. The time it takes grows with the length
// of the text alone.
func maskOf(text string) mask {
	m := make(mask, len(text))
	for _, s := range codeSpans(text) {
		m.set(s.start, s.end, inCode)
	}
	for _, s := range urlSpans(text, m) {
		m.set(s.start, s.end, inURL)
	}
	maskQuotes(text, m)
	maskBrackets(text, m)
	return m
}

// A span is a part of a text.
type span struct{ start, end int }

func (s span) of(text string) string { return text[s.start:s.end] }

var (
	backticks = regexp.MustCompile("`+")

	// addresses finds where they begin, and addressChars how far they go at most.
	addresses    = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://|www\.`)
	addressChars = regexp.MustCompile("^[^" + `\s\v\x{85}\p{Z}\p{Cc}\p{Cf}\x{FFFD}<>"|\\^{}` + "`" + `“”„«»‹›。，、；：！？（）「」『』【】《》؟،؛…]*`)
)

// codeSpans finds inline code: runs of backticks of the same length with
// something between them.
func codeSpans(text string) []span {
	runs := backticks.FindAllStringIndex(text, -1)
	// closer[i] is the next run that is as long as run i.
	closer := make([]int, len(runs))
	latest := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		n := runs[i][1] - runs[i][0]
		if j, ok := latest[n]; ok {
			closer[i] = j
		}
		latest[n] = i
	}
	var spans []span
	for i := 0; i < len(runs); i++ {
		if j := closer[i]; j > 0 {
			spans = append(spans, span{runs[i][0], runs[j][1]})
			i = j
		}
	}
	return spans
}

// codeOf returns what stands between the backticks of a code span. As in
// Markdown, one space on each side may keep backticks apart and is no part of it.
func codeOf(spanned string) string {
	n := len(spanned) - len(strings.TrimLeft(spanned, "`"))
	if len(spanned) < 2*n {
		return ""
	}
	code := spanned[n : len(spanned)-n]
	if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' && strings.TrimSpace(code) != "" {
		code = code[1 : len(code)-1]
	}
	return code
}

// urlSpans finds addresses outside code: with a scheme, or beginning with www.
func urlSpans(text string, m mask) []span {
	if !strings.Contains(text, "://") && !strings.Contains(text, "www.") {
		return nil // as of most texts
	}
	var spans []span
	done := 0 // everything before it has been looked at
	for _, at := range addresses.FindAllStringIndex(text, -1) {
		start, after := at[0], at[1]
		if start < done || text[after-1] == '.' && continuesName(text[:start]) || m.is(start, inCode) || m.is(after-1, inCode) {
			continue
		}
		if end := urlEnd(text, m, after); end > after {
			spans = append(spans, span{start, end})
			done = end
		}
	}
	return spans
}

// continuesName reports whether what follows text is only a part of a name.
func continuesName(text string) bool {
	r := lastRune(text)
	return text != "" && (isWordRune(r) || strings.ContainsRune("./@-_", r))
}

// urlEnd returns where the address ends whose first byte after the scheme is at
// start. Punctuation at the end belongs to the sentence, and so does a closing
// bracket that was not opened in the address.
func urlEnd(text string, m mask, start int) int {
	end := start
	open := map[byte]int{')': 0, ']': 0}
	for limit := start + len(addressChars.FindString(text[start:])); end < limit && !m.is(end, inCode); end++ {
		switch c := text[end]; c {
		case '(':
			open[')']++
		case '[':
			open[']']++
		case ')', ']':
			open[c]--
		}
		if open[')'] < 0 || open[']'] < 0 {
			break
		}
	}
	return start + len(strings.TrimRight(text[start:end], ".,;:!?'’‘*_~"))
}

// quotePairs are the quotation marks with their ends.
var quotePairs = map[rune]rune{'"': '"', '\'': '\'', '“': '”', '„': '“', '«': '»', '‹': '›', '「': '」', '『': '』', '《': '》', '‘': '’', '‚': '‘'}

// maxSingleQuote bounds a quotation between single marks, which are apostrophes
// more often than not, and maxQuote one between any others.
const (
	maxSingleQuote = 200
	maxQuote       = 2000
)

func maskQuotes(text string, m mask) {
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		limit, opens := maxQuote, r != '"' || !unicode.IsDigit(before) // 5" is a length
		if strings.ContainsRune("'‘‚", r) {
			limit, opens = maxSingleQuote, !isWordRune(before)
		}
		if closer := quotePairs[r]; closer != 0 && opens && !m.is(i, inCode|inURL) {
			if end := quoteEnd(text, m, i+size, closer, limit); end > 0 {
				m.set(i, end, inQuote)
				before, i = '"', end
				continue
			}
		}
		before = r
		i += size
	}
}

// quoteEnd returns the end of the quotation whose text begins at start, or -1.
func quoteEnd(text string, m mask, start int, closer rune, limit int) int {
	if start >= len(text) || unicode.IsSpace(firstRune(text[start:])) || firstRune(text[start:]) == closer {
		return -1
	}
	window := text[start:min(len(text), start+limit)]
	for at := 0; ; {
		i := strings.IndexRune(window[at:], closer)
		if i < 0 {
			return -1
		}
		at += i
		end := start + at + utf8.RuneLen(closer)
		// An apostrophe stands within a word, or after one without an end of it.
		apostrophe := limit == maxSingleQuote && (unicode.IsSpace(lastRune(window[:at])) || isWordRune(firstRune(text[end:])))
		if !m.is(start+at, inCode|inURL) && !apostrophe {
			return end
		}
		at += utf8.RuneLen(closer)
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// maskBrackets marks what stands between brackets that belong together.
func maskBrackets(text string, m mask) {
	const (
		openers = "([{（【"
		closers = ")]}）】"
	)
	type opened struct {
		closer rune
		start  int
	}
	var stack []opened
	waiting := map[rune]int{} // closers that the stack has an opener for
	var pairs []span
	for i, r := range text {
		if m.is(i, inCode|inURL|inQuote) {
			continue
		}
		if n := strings.IndexRune(openers, r); n >= 0 {
			closer := firstRune(closers[n:])
			stack = append(stack, opened{closer, i})
			waiting[closer]++
			continue
		}
		if waiting[r] == 0 {
			continue
		}
		for {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			waiting[top.closer]--
			if top.closer == r {
				pairs = append(pairs, span{top.start, i + utf8.RuneLen(r)})
				break
			}
		}
	}
	// Pairs come by their ends; those within a later one need no marks.
	covered := len(text)
	for i := len(pairs) - 1; i >= 0; i-- {
		if pairs[i].start < covered {
			m.set(pairs[i].start, pairs[i].end, inParens)
			covered = pairs[i].start
		}
	}
}
