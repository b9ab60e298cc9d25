package outline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/internal/text/tasks"
)

// An extract is a sentence of a note with what it mentions.
type extract struct {
	text  string
	task  int // 0 for the summary so far, which says itself what it is about
	marks []Needed

	decision bool // of a person
}

// extracts takes a note apart into its sentences.
func (c *Compactor) extracts(n note) []extract {
	var out []extract
	task, text := n.first, n.text
	if n.kind == summaryNote {
		task = 0
	} else {
		text = strings.TrimPrefix(text, "- ")
		text = strings.TrimPrefix(strings.TrimPrefix(text, fmt.Sprintf("Task %d:", task)), strings.TrimSpace(detailsHead(task)))
	}
	for line := range strings.SplitSeq(text, "\n") {
		for _, s := range tasks.Sentences(strings.TrimPrefix(strings.TrimSpace(line), "- ")) {
			out = append(out, extract{text: s, task: task, marks: c.marks(s), decision: n.kind == decisionNote})
		}
	}
	return out
}

// marks are the identifiers of a sentence, and words that are needed and that have been
// identifiers elsewhere: at the start of a sentence a name looks like any word.
func (c *Compactor) marks(sentence string) []Needed {
	var out []Needed
	for word, kind := range tasks.Words(sentence) {
		key := strings.ToLower(word)
		needed := c.nextNeed(key) > 0
		if kind != "" && needed {
			c.named[key] = true
		}
		if kind != "" || needed && c.named[key] {
			out = append(out, Needed{word, kind != "" && kind != tasks.Name})
		}
	}
	return out
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
			where[m.key()] = i
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
		i := where[m.key()]
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
		fmt.Fprintf(&b, "Done: %s.", tasksFrom(r.first, r.last))
	}
	return strings.TrimSpace(b.String())
}

// detailsHead begins details whose result is a note of its own.
func detailsHead(task int) string { return fmt.Sprintf("Task %d, details:\n", task) }

// tasksFrom names tasks: "task 3", "tasks 1 to 4".
func tasksFrom(first, last int) string {
	if first == last {
		return fmt.Sprintf("task %d", first)
	}
	return fmt.Sprintf("tasks %d to %d", first, last)
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
	decisionsTitle = "Decisions:\n"
	resultsTitle   = "Results:\n"
)

// Context is what a prompt says about the tasks before. It fits the budget once
// [Compactor.Request] returns nil.
func (c *Compactor) Context() string { return c.render(true) }

// render is the context, with all of it or with results and decisions only.
func (c *Compactor) render(all bool) string {
	var b, decisions, results strings.Builder
	summary, notes, left := c.summary, joined(c.notes), c.left()
	if !all {
		summary, left = note{}, c.results
	}
	for i, n := range notes {
		switch {
		case n.kind == decisionNote:
			decisions.WriteString(n.text)
		case n.kind == detailNote && !all:
		case n.kind == detailNote && i > 0 && notes[i-1].kind == resultNote && notes[i-1].first == n.first:
			results.WriteString(strings.TrimPrefix(n.text, detailsHead(n.first))) // they follow their result
		default:
			results.WriteString(n.text)
		}
	}
	for _, part := range [][2]string{{fmt.Sprintf("Summary of %s:\n", tasksFrom(summary.first, summary.last)), summary.text}, {decisionsTitle, decisions.String()}, {resultsTitle, results.String()}} {
		if part[1] != "" {
			b.WriteString(part[0] + part[1])
		}
	}
	if text := strings.TrimSpace(b.String() + leftOut(left, c.gone)); all && EstimateTokens(text) <= c.budget {
		return text
	}
	return strings.TrimSpace(b.String() + leftOut(left, nil)) // no result goes for the sake of naming details
}
