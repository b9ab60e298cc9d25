package outline

import (
	"fmt"
	"slices"
	"strings"
)

// A mark is an identifier in the form in which it is looked up.
type mark struct {
	key   string // in lower case
	text  string // as written
	exact bool   // the case matters
}

// marksOf returns the marks of identifiers, names of several words by each word,
// and of further words.
func marksOf(ids []Identifier, words []string) []mark {
	var out []mark
	seen := map[string]bool{}
	add := func(text string, exact bool) {
		m := mark{key: strings.ToLower(text), text: text, exact: exact}
		if !seen[m.key] {
			seen[m.key] = true
			out = append(out, m)
		}
	}
	for _, id := range ids {
		switch id.Kind {
		case Name:
			for word := range strings.FieldsSeq(id.Text) {
				add(word, false)
			}
		default:
			add(id.Text, true)
		}
	}
	for _, word := range words {
		add(word, false)
	}
	return out
}

// extractOf reads a sentence. Words that are no identifiers are marks all the
// same if want says so.
func extractOf(text string, want func(key string) bool) extract {
	var words []string
	s := scan{words: func(word string) {
		if want(strings.ToLower(word)) {
			words = append(words, word)
		}
	}}
	s.read(text)
	return extract{text: text, marks: marksOf(s.found, words)}
}

// An index knows what a text mentions.
type index struct {
	text, lower string
	words       map[string]bool // in lower case
	marks       map[mark]bool
	identifiers []Identifier
}

func indexOf(text string) *index {
	x := &index{text: text, lower: strings.ToLower(text), words: map[string]bool{}, marks: map[mark]bool{}}
	s := scan{words: func(word string) { x.words[strings.ToLower(word)] = true }}
	s.read(text)
	x.identifiers = s.found
	for _, m := range marksOf(s.found, nil) {
		x.marks[m] = true
	}
	return x
}

// has reports whether the text has the mark, not just as a part of a longer word.
func (x *index) has(m mark) bool {
	if x.marks[m] {
		return true
	}
	if !m.exact {
		return x.words[m.key] || standsIn(x.lower, m.key)
	}
	return standsIn(x.text, m.text)
}

// standsIn reports whether a text has a part that does not begin or end within a
// word or a number.
func standsIn(text, part string) bool {
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

// An extract is a sentence of a note with what it mentions.
type extract struct {
	text  string
	task  int // 0 for the summary so far, which says itself what it is about
	marks []mark

	decision bool // of a person
}

// extracts takes a note apart into its sentences.
func (c *Compactor) extracts(n note) []extract {
	var out []extract
	wanted := func(key string) bool { return c.named[key] && c.nextNeed(key) > 0 }
	task, text := n.first, n.text
	if n.kind == summaryNote {
		task = 0
	} else {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "- "), fmt.Sprintf("Task %d:", task))
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimPrefix(strings.TrimFunc(line, isBlank), "- ")
		if line == "" {
			continue
		}
		for _, s := range newProse(line).sentences(0, len(line)) {
			e := extractOf(s.text, wanted)
			e.task, e.decision = task, n.kind == decisionNote
			out = append(out, e)
		}
	}
	remark(out, n.marks)
	return out
}

// remark makes sure that what a summary carries over stays marked, whatever it
// looks like there: at the start of a sentence, or without its quotation marks.
func remark(lines []extract, marks []mark) {
	seen := map[string]bool{}
	for _, l := range lines {
		for _, m := range l.marks {
			seen[m.key] = true
		}
	}
	for _, m := range marks {
		if seen[m.key] {
			continue
		}
		has := func(l extract) bool {
			return m.exact && standsIn(l.text, m.text) || !m.exact && standsIn(strings.ToLower(l.text), m.key)
		}
		if i := slices.IndexFunc(lines, has); i >= 0 {
			lines[i].marks = append(lines[i].marks, m)
		}
	}
}

// Fallback makes a summary of whole sentences of the text and accepts it: first
// those that mention what later tasks need, then decisions, then, from the latest
// on, those with other identifiers, as far as there is room. What is needed and
// whose sentence finds no room is just named. It does nothing if nothing has to be
// summarised.
func (c *Compactor) Fallback() {
	if c.Request() == nil {
		return
	}
	c.replace(c.request.extractive())
}

func (r *request) extractive() string {
	where := map[string]int{} // the first sentence that mentions it
	for i, l := range slices.Backward(r.lines) {
		for _, m := range l.marks {
			where[m.key] = i
		}
	}
	room := r.MaxTokens - r.MaxTokens/2 // the names of all that is needed fit into half of it
	looked := make([]bool, len(r.lines))
	chosen := make([]bool, len(r.lines))
	choose := func(i int) {
		if looked[i] {
			return
		}
		looked[i] = true
		if cost := EstimateTokens(r.lines[i].row()); cost <= room {
			chosen[i] = true
			room -= cost
		}
	}
	var named []string
	for _, m := range r.Must {
		i := where[m.mark().key]
		if choose(i); !chosen[i] {
			named = append(named, m.Text)
		}
	}
	names := ""
	if len(named) > 0 {
		names = "- " + strings.Join(named, ", ") + "\n"
	}
	room += r.MaxTokens/2 - EstimateTokens(names)
	clear(looked)
	for i := range r.lines {
		looked[i] = chosen[i]
		if r.lines[i].decision {
			choose(i)
		}
	}
	for i, l := range slices.Backward(r.lines) {
		if len(l.marks) > 0 {
			choose(i)
		}
	}
	var b strings.Builder
	for i := range r.lines {
		if chosen[i] {
			b.WriteString(r.lines[i].row())
		}
	}
	b.WriteString(names)
	if b.Len() == 0 {
		fmt.Fprintf(&b, "Tasks %d to %d are done.", r.first, r.last)
	}
	return strings.TrimSpace(b.String())
}

// row is the extract as a line of a summary.
func (l *extract) row() string {
	if l.task == 0 {
		return "- " + l.text + "\n"
	}
	return fmt.Sprintf("- Task %d: %s\n", l.task, l.text)
}

// The titles of the parts of a context.
const (
	summaryTitle   = "Summary:\n"
	decisionsTitle = "Decisions:\n"
	resultsTitle   = "Results:\n"
)

// Context is what a prompt says about the tasks before. It fits the budget once
// [Compactor.Request] returns nil.
func (c *Compactor) Context() string {
	var b, decisions, results strings.Builder
	for _, n := range c.notes {
		if n.kind == decisionNote {
			decisions.WriteString(n.text)
		} else {
			results.WriteString(n.text)
		}
	}
	for _, part := range [][2]string{{summaryTitle, c.summary.text}, {decisionsTitle, decisions.String()}, {resultsTitle, results.String()}} {
		if part[1] != "" {
			b.WriteString(part[0] + part[1])
		}
	}
	return strings.TrimSpace(b.String())
}
