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
		case Decision:
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
	decides := func(id Identifier) bool { return id.Kind == Decision }
	return extract{text: text, marks: marksOf(s.found, words), decision: slices.ContainsFunc(s.found, decides)}
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

	decision bool // it says what was decided
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
			e.task, e.decision = task, e.decision || n.kind == decisionNote
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

// expire notes when what was set aside is needed for the last time.
func (c *Compactor) expire(key string) {
	tasks := c.expected[key]
	last := tasks[len(tasks)-1]
	c.expires[last] = append(c.expires[last], key)
}

// forget drops what was set aside for tasks that are over.
func (c *Compactor) forget(from, to int) {
	for task := from; task <= to; task++ {
		for _, key := range c.expires[task] {
			if c.nextNeed(key) > 0 {
				c.expire(key) // another task came to mention it
			} else {
				delete(c.aside, key)
			}
		}
		delete(c.expires, task)
	}
}

// maxAsideLine bounds the sentence that is kept of an identifier set aside.
const maxAsideLine = 300

// setAside keeps the sentences of identifiers that the summary has no room for:
// the first one that mentions it, and the latest.
func (c *Compactor) setAside(r *request, over map[string]bool) {
	if len(over) == 0 {
		return
	}
	for _, l := range r.lines {
		for _, m := range l.marks {
			if !over[m.key] || c.nextNeed(m.key) == 0 {
				continue
			}
			text := around(l.text, m)
			if l.task > 0 {
				text = fmt.Sprintf("Task %d: %s", l.task, text)
			}
			switch lines := c.aside[m.key]; {
			case len(lines) == 0:
				c.aside[m.key] = []string{text}
				c.expire(m.key)
			case slices.Contains(lines, text):
			case len(lines) == 1:
				c.aside[m.key] = append(lines, text)
			default:
				lines[1] = text
			}
		}
	}
}

// around is a sentence, or of a very long one the words around an identifier.
func around(text string, m mark) string {
	if len(text) <= maxAsideLine {
		return text
	}
	i := strings.Index(text, m.text)
	if i < 0 {
		return m.text
	}
	start, end := max(0, i-maxAsideLine/2), min(len(text), i+len(m.text)+maxAsideLine/2)
	if start > 0 {
		if j := strings.IndexByte(text[start:i], ' '); j >= 0 {
			start += j + 1
		} else {
			start = i
		}
	}
	if end < len(text) {
		if j := strings.LastIndexByte(text[i+len(m.text):end], ' '); j >= 0 {
			end = i + len(m.text) + j
		} else {
			end = i + len(m.text)
		}
	}
	return "… " + text[start:end] + " …"
}

// Fallback makes a summary of whole sentences of the text and accepts it: first
// those that mention what later tasks need, then decisions, then, from the latest
// on, those with other identifiers, as far as there is room. What is needed and
// does not find room is set aside. It returns nil if nothing has to be summarised.
func (c *Compactor) Fallback() *Carried {
	if c.Request() == nil {
		return nil
	}
	r := c.request
	summary := c.extractive(r)
	seen := indexOf(summary)
	for _, m := range r.must {
		if !seen.has(m) {
			r.overflow = append(r.overflow, m)
		}
	}
	return c.replace(summary, seen)
}

func (c *Compactor) extractive(r *request) string {
	where := map[string]int{} // the first sentence that mentions it
	for i, l := range slices.Backward(r.lines) {
		for _, m := range l.marks {
			where[m.key] = i
		}
	}
	room := r.MaxTokens
	looked := make([]bool, len(r.lines))
	chosen := make([]bool, len(r.lines))
	choose := func(i int) {
		if looked[i] {
			return
		}
		looked[i] = true
		if cost := c.estimate(r.lines[i].row()); cost <= room {
			chosen[i] = true
			room -= cost
		}
	}
	for _, m := range r.must {
		choose(where[m.key])
	}
	for i := range r.lines {
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
	if b.Len() == 0 {
		fmt.Fprintf(&b, "Tasks %d to %d are done.", r.First, r.Last)
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

// A Context is what a prompt says about the tasks before.
type Context struct {
	Text string

	// Omitted are identifiers that the task mentions and that were set aside, but
	// do not all fit into the context of one task.
	Omitted []string
}

// The titles of the parts of a context.
const (
	summaryTitle   = "Summary:\n"
	decisionsTitle = "Decisions:\n"
	resultsTitle   = "Results:\n"
	asideTitle     = "From earlier results:\n"
)

// Context returns the context for a task. It fits the budget once [Compactor.Request]
// returns nil.
func (c *Compactor) Context(task string) Context {
	var b, decisions, results strings.Builder
	for _, n := range c.notes {
		if n.kind == decisionNote {
			decisions.WriteString(n.text)
		} else {
			results.WriteString(n.text)
		}
	}
	var out Context
	section := func(title, text string) {
		if text != "" {
			b.WriteString(title + text)
		}
	}
	section(summaryTitle, c.summary.text)
	section(decisionsTitle, decisions.String())
	section(resultsTitle, results.String())
	section(asideTitle, c.recall(task, &out))
	out.Text = strings.TrimSpace(b.String())
	return out
}

// recall returns the sentences that were set aside for what a task mentions.
func (c *Compactor) recall(task string, out *Context) string {
	if len(c.aside) == 0 {
		return ""
	}
	var b strings.Builder
	room := c.maxAside()
	written := map[string]bool{}
	for _, m := range extractOf(task, func(key string) bool { return c.aside[key] != nil }).marks {
		for _, line := range c.aside[m.key] {
			if written[line] {
				continue
			}
			row := "- " + line + "\n"
			cost := c.estimate(row)
			if cost > room {
				out.Omitted = append(out.Omitted, m.text)
				break
			}
			room -= cost
			written[line] = true
			b.WriteString(row)
		}
	}
	return b.String()
}
