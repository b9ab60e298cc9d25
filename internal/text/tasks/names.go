package tasks

import "strings"

// A Mark is something that a text mentions, in the form in which it is looked up.
type Mark struct {
	Text  string // as written
	Exact bool   // its case matters
}

// Key is the same for marks that differ in case only.
func (m Mark) Key() string { return strings.ToLower(m.Text) }

// Marks are the identifiers of a text, names of several words by each word, and then
// those of its other words whose key is wanted.
func Marks(text string, wanted func(key string) bool) []Mark {
	var words []string
	s := scan{}
	if wanted != nil {
		s.words = func(word string) {
			if wanted(strings.ToLower(word)) {
				words = append(words, word)
			}
		}
	}
	s.read(text)
	return marksOf(s.found, words)
}

func marksOf(ids []Identifier, words []string) []Mark {
	var out []Mark
	seen := map[string]bool{}
	add := func(m Mark) {
		if key := m.Key(); !seen[key] {
			seen[key] = true
			out = append(out, m)
		}
	}
	for _, id := range ids {
		if id.Kind != Name {
			add(Mark{id.Text, true})
			continue
		}
		for word := range strings.FieldsSeq(id.Text) {
			add(Mark{word, false})
		}
	}
	for _, word := range words {
		add(Mark{word, false})
	}
	return out
}

// An Index knows what a text mentions.
type Index struct {
	Identifiers []Identifier

	text, lower string
	words       map[string]bool // in lower case
	marks       map[Mark]bool
}

// IndexOf returns the index of a text.
func IndexOf(text string) *Index {
	x := &Index{text: text, lower: strings.ToLower(text), words: map[string]bool{}, marks: map[Mark]bool{}}
	s := scan{words: func(word string) { x.words[strings.ToLower(word)] = true }}
	s.read(text)
	x.Identifiers = s.found
	for _, m := range marksOf(s.found, nil) {
		x.marks[m] = true
	}
	return x
}

// Has reports whether the text has a mark, not just as a part of a longer word.
func (x *Index) Has(m Mark) bool {
	switch {
	case x.marks[m]:
		return true
	case m.Exact:
		return StandsIn(x.text, m.Text)
	}
	return x.words[m.Key()] || StandsIn(x.lower, m.Key())
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
