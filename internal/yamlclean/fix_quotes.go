package yamlclean

import (
	"regexp"
	"strings"
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

// realEscape is an escape that JSON has too, and that may be meant.
var realEscape = regexp.MustCompile(`\\["\\/bfnrtux0]`)

// fixEscapes puts a text in double quotes whose backslashes begin no escape, as in
// "\d+", in single ones. If there is also a backslash that begins one, it may be
// meant as a line break, or as the start of a folder's name.
func fixEscapes(d document) document {
	edit := editor{from: d}
	for _, e := range scan(d) {
		if e.style != quote || !e.oneLine() || e.end < 0 || edit.full() {
			continue
		}
		t := d[e.first].text
		if t[e.value] != '"' || e.rest(d) != "" {
			continue
		}
		if body := t[e.value+1 : e.end-1]; !realEscape.MatchString(body) && cannotBe(t[e.value:e.end]) {
			edit.replace(e.first, e.first, t[:e.value]+singleQuoted(body)+t[e.end:])
		}
	}
	return edit.result()
}

// fixQuotedWord puts quotes around a text that merely begins with a quoted word.
func fixQuotedWord(d document) document {
	edit := editor{from: d}
	for _, e := range scan(d) {
		if e.style != quote || !e.oneLine() || e.end < 0 || edit.full() {
			continue
		}
		v := e.text(d)
		if q := v[0]; q != '"' && q != '\'' || strings.HasSuffix(strings.TrimSuffix(v, ","), v[:1]) || comment(v) >= 0 {
			continue // there is a tag before it, or it ends with the quote too
		}
		if rest := e.rest(d); rest != "" && rest[0] != ',' && rest[0] != ':' {
			edit.setValue(e, singleQuoted(v))
		}
	}
	return edit.result()
}
