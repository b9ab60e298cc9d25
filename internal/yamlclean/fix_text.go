package yamlclean

import "strings"

// fixBlockMarker makes a text of several lines, which cannot be read as it
// stands, the literal block that it was meant as. The text is kept line by line.
func fixBlockMarker(d document) document {
	const most = 100
	entries := scan(d)
	keys := keyCounts(d)
	edit := editor{from: d}
	tried := 0
	for i, e := range entries {
		if !e.isKey() && !e.isItem() || tried > most || edit.full() {
			continue
		}
		var texts []string
		last := e.last
		switch {
		case e.style == plain && !e.oneLine():
			texts = blockOfPlain(d, e, keys)
		case e.style == empty && e.isKey() && i+1 < len(entries) && e.text(d) == "":
			if last = bodyEnd(d, e); isProse(d, entries[i+1], last, keys) {
				tried++
				texts = blockOfBody(d, e, last)
			}
		}
		if texts != nil {
			edit.replace(e.first, last, texts...)
		}
	}
	return edit.result()
}

// keyCounts returns how often each key begins a line.
func keyCounts(d document) map[string]int {
	keys := map[string]int{}
	for _, l := range d {
		keys[leadingKey(l.text)]++
	}
	return keys
}

// blockOfPlain returns the lines of a plain scalar as a block, nil if they can be
// read as they are or may be something else than text.
func blockOfPlain(d document, e *entry, keys map[string]int) []string {
	first := e.text(d)
	if strings.IndexByte("&!", first[0]) >= 0 || !damagedText(d, e) {
		return nil
	}
	marker, first := cutMarker(first)
	keyLines, sentences, others := 0, 0, 0
	common := -1
	for i := e.first + 1; i <= e.last; i++ {
		t := d[i].text
		if strings.TrimSpace(t) == "" {
			continue
		}
		n := indentOf(t)
		if common < 0 {
			common = n
		}
		if marker == "" && n != common || n < common {
			return nil // who knows how far the first line would be indented
		}
		key := leadingKey(t)
		switch {
		case marker != "":
		case nameLike(key) && (keys[key] > 1 || blockHeader(valueOf(t[keyColumn(t):]))):
			return nil
		case nameLike(key):
			keyLines++
		case isSentence(strings.TrimSpace(t)):
			sentences++
		default:
			others++
		}
	}
	if marker == "" {
		if sentences == 0 && (keyLines > 0 || others == 0 || !isSentence(first)) {
			return nil
		}
		marker = "|-"
	}
	margin := strings.Repeat(" ", e.parent+2)
	texts := []string{d[e.first].text[:e.value] + marker, margin + first}
	for _, l := range d[e.first+1 : e.last+1] {
		t := ""
		if strings.TrimSpace(l.text) != "" {
			t = margin + l.text[common:]
		}
		texts = append(texts, t)
	}
	return texts
}

// cutMarker cuts the marker of a block off a text that was put behind it.
func cutMarker(t string) (marker, rest string) {
	for _, m := range []string{"|-", "|+", ">-", ">+", "|", ">"} {
		if rest, ok := strings.CutPrefix(t, m+" "); ok {
			return m, strings.TrimLeft(rest, " ")
		}
	}
	return "", t
}

// damagedText reports whether a plain scalar of several lines cannot be read.
func damagedText(d document, e *entry) bool {
	damaged := e.text(d)[0] == '|' || e.text(d)[0] == '>'
	for i := e.first; i <= e.last; i++ {
		t := strings.TrimLeft(d[i].text, " ")
		if i == e.first {
			t = e.text(d)
		}
		if maybeComment(t) {
			return false // it may be one
		}
		damaged = damaged || badColon(t) >= 0 || comment(t) >= 0 && i < e.last
	}
	return damaged
}

// bodyEnd returns the last line that is indented more than the key of an entry.
func bodyEnd(d document, e *entry) int {
	last := e.first
	for i := e.first + 1; i < len(d); i++ {
		if strings.TrimSpace(d[i].text) == "" {
			continue
		}
		if indentOf(d[i].text) <= e.keyAt {
			break
		}
		last = i
	}
	return last
}

// isProse reports whether lines below a key that begin with this entry can only
// be text.
func isProse(d document, first *entry, last int, keys map[string]int) bool {
	if first.first > last || first.isItem() || nameLike(first.key) || first.style == quote || first.style == flow || first.style == block {
		return false
	}
	t := first.all(d)
	if t[0] == '*' && blankAt(t, 1) {
		return false // a list with the wrong bullets, perhaps
	}
	sentence := isSentence(t)
	for i := first.first; i <= last; i++ {
		t := d[i].text
		if strings.TrimSpace(t) == "" {
			continue
		}
		if n := indentOf(t); n < first.indent || !sentence && nameLike(leadingKey(t)) || n == first.indent && nameLike(keyOf(t)) && keys[keyOf(t)] > 1 {
			return false
		}
	}
	return true
}

// blockOfBody returns the lines of a key and its body as a block, nil if the body
// can be read as it is.
func blockOfBody(d document, e *entry, last int) []string {
	if !cannotBe("\n" + d[e.first+1:last+1].String()) {
		return nil
	}
	texts := []string{strings.TrimRight(d[e.first].text, " \t") + " |-"}
	for _, l := range d[e.first+1 : last+1] {
		texts = append(texts, l.text)
	}
	return texts
}

// isSentence reports whether a line reads like prose, and not like a key and a
// value.
func isSentence(t string) bool {
	words := strings.Fields(t)
	return len(words) > 2 || len(words) == 2 && strings.ContainsAny(t[len(t)-1:], ".!?:")
}
