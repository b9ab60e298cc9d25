package yamlclean

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const smartQuotes = "“”„‘’"

// smartQuoted is a text within typographic quotes. Another quote or a backslash in
// it could mean anything.
var smartQuoted = regexp.MustCompile(`[“”„]([^“”„"\\\n]*)[“”]|‘([^‘’"\\\n]*)’`)

// fixSmartQuotes makes the typographic quotes around keys and values plain, unless
// such quotes also stand where they belong to a text.
func fixSmartQuotes(d document) document {
	text := d.String()
	var b strings.Builder
	done, quotes := 0, 0
	for _, m := range smartQuoted.FindAllStringSubmatchIndex(text, -1) {
		if !aroundValue(text, m[0], m[1]) {
			return nil
		}
		body := text[max(m[2], m[4]):max(m[3], m[5])]
		b.WriteString(text[done:m[0]] + `"` + body + `"`)
		done = m[1]
		quotes++
	}
	if quotes == 0 || strings.ContainsAny(b.String()+text[done:], "“”„‘") {
		return nil
	}
	return newDocument(b.String() + text[done:])
}

// aroundValue reports whether all that is between two places can be a key or a
// value: nothing is before it and after it but syntax.
func aroundValue(text string, start, end int) bool {
	before := text[strings.LastIndexByte(text[:start], '\n')+1 : start]
	trimmed := strings.TrimRight(before, " \t")
	if trimmed != "" {
		last := trimmed[len(trimmed)-1]
		if strings.IndexByte("[{,", last) < 0 && (strings.IndexByte(":-", last) < 0 || trimmed == before) {
			return false
		}
	}
	after, _, _ := strings.Cut(text[end:], "\n")
	after = strings.TrimLeft(after, " \t")
	return after == "" || strings.IndexByte(":,]}", after[0]) >= 0
}

// fixEscapes doubles the backslashes in double quotes that begin no escape, as in
// "\d+".
func fixEscapes(d document) document {
	edit := editor{from: d}
	for _, e := range scan(d) {
		if e.style != quote || !e.oneLine() || e.end < 0 || edit.full() {
			continue
		}
		t := d[e.first].text
		if t[e.value] != '"' {
			continue
		}
		body := t[e.value+1 : e.end-1]
		if fixed, ok := correctEscapes(body); ok && fixed != body {
			edit.replace(e.first, e.first, t[:e.value+1]+fixed+t[e.end-1:])
		}
	}
	return edit.result()
}

// correctEscapes doubles the backslashes that begin no escape of YAML, and takes
// away the one before a single quote. It returns false for a string that has both
// such backslashes and real escapes: then \n may be a line break, or the start of
// a folder's name. The escapes that only YAML has are not meant in such a string.
func correctEscapes(body string) (string, bool) {
	if !strings.Contains(body, `\`) {
		return body, true
	}
	fixed, foreign, ok := doubleBackslashes(body, false)
	if foreign {
		fixed, _, ok = doubleBackslashes(body, true)
	}
	return fixed, ok
}

func doubleBackslashes(body string, foreign bool) (fixed string, wrong, ok bool) {
	var b strings.Builder
	real := false
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			continue
		}
		i++
		switch n := escapeLength(body[i:]); {
		case i < len(body) && body[i] == '\'':
			b.WriteByte('\'')
		case n == 0 || foreign && strings.IndexByte("NLP_", body[i]) >= 0:
			wrong = true
			b.WriteString(`\\`)
			i--
		default:
			real = real || strings.IndexByte(`\"/`, body[i]) < 0
			b.WriteByte('\\')
			b.WriteString(body[i : i+n])
			i += n - 1
		}
	}
	return b.String(), wrong, !wrong || !real
}

// escapeLength returns how long the escape is that s begins with after its
// backslash, 0 if it is none.
func escapeLength(s string) int {
	if s == "" {
		return 0
	}
	digits := 0
	switch s[0] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		if strings.IndexByte("0abtnvfre \"/\\N_LP\t", s[0]) >= 0 {
			return 1
		}
		return 0
	}
	if len(s) <= digits {
		return 0
	}
	for _, c := range []byte(s[1 : 1+digits]) {
		if !isHex(c) {
			return 0
		}
	}
	return 1 + digits
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// fixInnerQuotes escapes quotes within quotes, and puts quotes around a text that
// merely begins with a quoted word.
func fixInnerQuotes(d document) document {
	edit := editor{from: d}
	for _, e := range scan(d) {
		if e.style != quote || !e.oneLine() || e.end < 0 || edit.full() {
			continue
		}
		v := e.text(d)
		if q := v[0]; (q != '"' && q != '\'') || comment(v) >= 0 {
			continue
		}
		tail := ""
		if rest := e.rest(d); rest == "" || rest[0] == ',' || rest[0] == ':' {
			continue
		}
		if inner, ok := strings.CutSuffix(v, v[:1]+","); ok {
			v, tail = inner+v[:1], ","
		}
		if fixed, ok := correctQuotes(v); ok {
			edit.setValue(e, fixed+tail)
		}
	}
	return edit.result()
}

// correctQuotes writes a value that begins with a quote, and that the quote's
// partner does not end, as it was meant. It returns false if that is unclear.
func correctQuotes(v string) (string, bool) {
	q := v[0]
	if v[len(v)-1] != q {
		// "Foo" and more
		marks, ok := quoteMarks(v, q)
		ok = ok && alternate(marks, opening) && !strings.Contains(v, `\`)
		return singleQuoted(v), ok
	}
	inner := v[1 : len(v)-1]
	marks, ok := quoteMarks(inner, q)
	switch {
	case !ok:
		return "", false
	case alternate(marks, opening):
		// "he said "hi" to me"
		escaped := `\"`
		if q == '\'' {
			escaped = "''"
		}
		return string(q) + escapeMarks(inner, marks, escaped) + string(q), true
	case alternate(marks, closing) && wordsBetween(inner, marks):
		// "Foo" and "bar"
		return singleQuoted(v), !strings.Contains(v, `\`)
	}
	return "", false
}

// alternate reports whether the marks come in pairs, beginning with this kind.
func alternate(marks []mark, first markKind) bool {
	next, last := first, opening+closing-first
	for _, m := range marks {
		switch m.kind {
		case apostrophe:
		case next:
			next, last = last, next
		default:
			return false
		}
	}
	return next == first
}

// wordsBetween reports whether there are words between each closing quote and the
// next opening one. Between the elements of a list there are none.
func wordsBetween(s string, marks []mark) bool {
	from := -1
	for _, m := range marks {
		switch {
		case m.kind == closing:
			from = m.at
		case m.kind == opening && from >= 0:
			if !strings.ContainsFunc(s[from:m.at], wordy) {
				return false
			}
		}
	}
	return true
}

// escapeMarks replaces the quotes in a text.
func escapeMarks(s string, marks []mark, by string) string {
	var b strings.Builder
	done := 0
	for _, m := range marks {
		b.WriteString(s[done:m.at])
		b.WriteString(by)
		done = m.at + 1
	}
	b.WriteString(s[done:])
	return b.String()
}

type markKind int

const (
	opening markKind = iota
	closing
	apostrophe
)

// A mark is a quote within a text.
type mark struct {
	at   int
	kind markKind
}

// quoteMarks finds the quotes in a text that are not escaped. It returns false if
// one of them could be either opening or closing.
func quoteMarks(s string, q byte) ([]mark, bool) {
	var marks []mark
	for i := 0; i < len(s); i++ {
		switch {
		case q == '"' && s[i] == '\\':
			i++
			continue
		case q == '\'' && s[i] == q && i+1 < len(s) && s[i+1] == q:
			i++
			continue
		case s[i] != q:
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+1:])
		atStart, atEnd := i == 0, i+1 == len(s)
		opens := (atStart || unicode.IsSpace(before) || strings.ContainsRune("([{-/=:,", before)) && !atEnd && !unicode.IsSpace(after)
		closes := (atEnd || unicode.IsSpace(after) || strings.ContainsRune(")]}-/.,;:!?", after)) && !atStart && !unicode.IsSpace(before)
		switch {
		case q == '\'' && wordy(before) && wordy(after):
			marks = append(marks, mark{i, apostrophe})
		case opens && !closes:
			marks = append(marks, mark{i, opening})
		case closes && !opens:
			marks = append(marks, mark{i, closing})
		default:
			return nil, false
		}
	}
	return marks, true
}

func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
