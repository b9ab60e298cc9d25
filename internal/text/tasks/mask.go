package tasks

import (
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
	// Most texts have neither; characters beyond ASCII may be either.
	quotes, brackets := false, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\'':
			quotes = true
		case c == '(' || c == '[' || c == '{':
			brackets = true
		case c >= utf8.RuneSelf:
			quotes, brackets = true, true
		}
	}
	if quotes {
		maskQuotes(text, m)
	}
	if brackets {
		maskBrackets(text, m)
	}
	return m
}

// A span is a part of a text.
type span struct{ start, end int }

func (s span) of(text string) string { return text[s.start:s.end] }

// codeSpans finds inline code: runs of backticks of the same length with
// something between them.
func codeSpans(text string) []span {
	if strings.IndexByte(text, '`') < 0 {
		return nil
	}
	var runs []span
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		start := i
		for i < len(text) && text[i] == '`' {
			i++
		}
		runs = append(runs, span{start, i})
	}
	// closer[i] is the next run that is as long as run i.
	closer := make([]int, len(runs))
	latest := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		n := runs[i].end - runs[i].start
		if j, ok := latest[n]; ok {
			closer[i] = j
		}
		latest[n] = i
	}
	var spans []span
	for i := 0; i < len(runs); i++ {
		if j := closer[i]; j > 0 {
			spans = append(spans, span{runs[i].start, runs[j].end})
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
	var spans []span
	floor := 0 // nothing before it is looked at again
	for i := 0; i < len(text); i++ {
		start, after := i, 0
		switch {
		case text[i] == ':' && strings.HasPrefix(text[i:], "://"):
			after = i + len("://")
			for start > floor && isSchemeByte(text[start-1]) {
				start--
			}
			for start < i && !isASCIILetter(text[start]) {
				start++
			}
			if start == i {
				continue
			}
		case text[i] == 'w' && strings.HasPrefix(text[i:], "www.") && !continuesName(text[:i]):
			after = i + len("www.")
		default:
			continue
		}
		floor = after
		if m.is(start, inCode) || m.is(after-1, inCode) {
			continue
		}
		if end := urlEnd(text, m, after); end > after {
			spans = append(spans, span{start, end})
			floor = end
			i = end - 1
		}
	}
	return spans
}

// continuesName reports whether what follows text is only a part of a name.
func continuesName(text string) bool {
	r := lastRune(text)
	return text != "" && (isWordRune(r) || strings.ContainsRune("./@-_", r))
}

func isSchemeByte(c byte) bool {
	return isASCIILetter(c) || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// urlEnd returns where the address ends whose first byte after the scheme is at
// start. Punctuation at the end belongs to the sentence, and so does a closing
// bracket that was not opened in the address.
func urlEnd(text string, m mask, start int) int {
	end := start
	open := map[rune]int{}
scan:
	for end < len(text) && !m.is(end, inCode) {
		r, size := utf8.DecodeRuneInString(text[end:])
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError,
			strings.ContainsRune("<>\"`|\\^{}“”„«»‹›。，、；：！？（）「」『』【】《》؟،؛…", r):
			break scan
		case r == '(' || r == '[':
			open[r]++
		case r == ')' || r == ']':
			opener := '('
			if r == ']' {
				opener = '['
			}
			if open[opener] == 0 {
				break scan
			}
			open[opener]--
		}
		end += size
	}
	return start + len(strings.TrimRight(text[start:end], ".,;:!?'’‘*_~"))
}

// quotePairs are the quotation marks whose ends differ.
var quotePairs = map[rune]rune{'“': '”', '„': '“', '«': '»', '‹': '›', '「': '」', '『': '』', '《': '》', '‘': '’', '‚': '‘'}

// maxSingleQuote bounds a quotation between single marks, which are apostrophes
// more often than not, and maxQuote one between any others.
const (
	maxSingleQuote = 200
	maxQuote       = 2000
)

func maskQuotes(text string, m mask) {
	const taken = inCode | inURL
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !m.is(i, taken) {
			end := -1
			switch {
			case r == '"':
				if !unicode.IsDigit(before) { // 5" is a length
					end = quoteEnd(text, m, i+size, '"', maxQuote)
				}
			case r == '\'' || r == '‘' || r == '‚':
				if !isWordRune(before) {
					closer, ok := quotePairs[r]
					if !ok {
						closer = r
					}
					end = quoteEnd(text, m, i+size, closer, maxSingleQuote)
				}
			case quotePairs[r] != 0:
				end = quoteEnd(text, m, i+size, quotePairs[r], maxQuote)
			}
			if end > 0 {
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
