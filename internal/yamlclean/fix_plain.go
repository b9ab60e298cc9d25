package yamlclean

import (
	"strings"
	"unicode"
)

// fixUnquotedSpecial puts quotes around a value on one line that begins with a
// character that means something else to YAML.
func fixUnquotedSpecial(d document) document {
	edit := editor{from: d}
	entries := scan(d)
	var refs references
	for i, e := range entries {
		if !e.oneLine() || !e.isKey() && !e.isItem() || edit.full() {
			continue
		}
		v := e.text(d)
		if v == "" || strings.IndexByte("@`%]},*&!|>[{", v[0]) < 0 || maybeComment(v) {
			continue
		}
		if i+1 < len(entries) && entries[i+1].indent > e.parent {
			continue // something is nested below it
		}
		if refs.anchors == nil {
			refs = findReferences(d)
		}
		if wronglySpecial(d, e, v, refs) {
			edit.setValue(e, singleQuoted(v))
		}
	}
	return edit.result()
}

// wronglySpecial reports whether the first character of a value has no other
// reading than as text.
func wronglySpecial(d document, e *entry, v string, refs references) bool {
	token, _, _ := strings.Cut(v, " ")
	switch v[0] {
	case '@', '`', '%', ']', '}', ',':
		return true
	case '*':
		// Unless it is the name of something.
		return len(token) != len(v) || !refs.anchors[token[1:]]
	case '&':
		return len(token) != len(v) && (len(token) == 1 || !refs.aliases[token[1:]])
	case '!':
		return !strings.HasPrefix(v, "!!") && e.style != flow && e.style != quote
	case '>':
		after := strings.TrimLeft(v[1:], " ")
		return after != "" && (after[0] == '=' || '0' <= after[0] && after[0] <= '9') && !blockHeader(v)
	case '|':
		return strings.HasPrefix(v, "||")
	case '[', '{':
		if strings.HasPrefix(v, "{{") {
			return cannotBe(v)
		}
		rest := e.rest(d)
		return e.end >= 0 && rest != "" && rest[0] != ',' && rest[0] != ':'
	}
	return false
}

// references are the words of a document that may be anchors and aliases.
type references struct{ anchors, aliases map[string]bool }

func findReferences(d document) references {
	r := references{map[string]bool{}, map[string]bool{}}
	for _, l := range d {
		if !strings.ContainsAny(l.text, "&*") {
			continue
		}
		for _, word := range strings.FieldsFunc(l.text, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("[]{},", c) }) {
			switch word[0] {
			case '&':
				r.anchors[word[1:]] = true
			case '*':
				r.aliases[word[1:]] = true
			}
		}
	}
	return r
}

// maybeComment reports whether a value has a part that may be a comment. What
// follows the # without a blank, as in "issue #12", is not one.
func maybeComment(v string) bool {
	for i := 1; i < len(v); i++ {
		if v[i] == '#' && blankAt(v, i-1) && blankAt(v, i+1) {
			return true
		}
	}
	return false
}

// badColon returns the position of a colon that a plain scalar cannot contain, -1
// if there is none.
func badColon(v string) int {
	end := comment(v)
	if end < 0 {
		end = len(v)
	}
	for i := 0; i < end; i++ {
		if v[i] == ':' && blankAt(v, i+1) {
			return i
		}
	}
	return -1
}

// fixUnquotedColon puts quotes around a plain value on one line that contains a
// colon and a blank.
func fixUnquotedColon(d document) document {
	edit := editor{from: d}
	entries := scan(d)
	var places map[*entry]place
	lists := map[*container]*summary{}
	for _, e := range entries {
		if e.style != plain || !e.oneLine() || !e.isKey() || edit.full() {
			continue
		}
		v := e.text(d)
		if badColon(v) < 0 || maybeComment(v) || strings.IndexByte("&!", v[0]) >= 0 {
			continue
		}
		if places == nil {
			_, places = containers(entries)
		}
		p := places[e]
		if !nameLike(e.key) && (!fewWords(e.key) || len(p.mapping.entries) == 1) {
			continue // it may be a sentence
		}
		if !e.isItem() {
			edit.setValue(e, singleQuoted(v))
			continue
		}
		if lists[p.list] == nil {
			lists[p.list] = summarize(d, p.list)
		}
		// Is "- Note: see: below" a mapping, or a text? Its list decides.
		switch list := lists[p.list]; {
		case len(p.mapping.entries) > 1 || list.keys[e.key] > 1:
			edit.setValue(e, singleQuoted(v))
		case list.texts > 0 && list.texts+list.damaged == len(p.list.entries):
			t := d[e.first].text
			edit.replace(e.first, e.first, t[:e.keyAt]+singleQuoted(strings.TrimRight(t[e.keyAt:], " \t")))
		}
	}
	return edit.result()
}

// fewWords reports whether a key is some words, and no sentence.
func fewWords(key string) bool {
	const most = 4
	return len(strings.Fields(key)) <= most && !strings.ContainsFunc(key, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) && r != '_' && r != '-'
	})
}

// A summary is what the items of a list are.
type summary struct {
	keys    map[string]int // that items begin with
	texts   int            // items without a key
	damaged int            // items with a key and another colon
}

func summarize(d document, list *container) *summary {
	s := summary{keys: map[string]int{}}
	for _, e := range list.entries {
		switch {
		case !e.isKey():
			if e.style == plain || e.style == quote {
				s.texts++
			}
		case e.style == plain && badColon(e.text(d)) >= 0:
			s.damaged++
			fallthrough
		default:
			s.keys[e.key]++
		}
	}
	return &s
}
