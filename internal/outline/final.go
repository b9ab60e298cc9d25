package outline

import (
	"fmt"
	"strings"
)

// Final tells in Markdown how a run went: what was done, what failed, what was
// left, and what was decided by whom.
func Final(s State) string {
	var done, failed, left, decided strings.Builder
	count := map[Status]int{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		count[t.Status]++
		line := fmt.Sprintf("- Task %d: %s", t.ID, t.Title())
		switch t.Status {
		case Complete:
			done.WriteString(line + t.ending())
		case Failed:
			failed.WriteString(line + t.ending())
		case Waiting:
			question := ""
			if s.Pending != nil && s.Pending.ID == t.ID {
				question = oneLine(s.Pending.Question, maxExcerpt)
			}
			left.WriteString(line + "\n  It waits for an answer: " + question + "\n")
		default:
			left.WriteString(line + "\n")
		}
		for _, a := range t.Answers {
			fmt.Fprintf(&decided, "- Task %d: %s\n  %s: %s\n", t.ID, oneLine(a.Question, maxExcerpt), oneLine(a.By, maxTitle), oneLine(a.Answer, maxExcerpt))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Outcome\n\n%d of %d tasks are done", count[Complete], len(s.Tasks))
	if n := count[Failed]; n > 0 {
		fmt.Fprintf(&b, ", %d failed", n)
	}
	if n := len(s.Tasks) - count[Complete] - count[Failed]; n > 0 {
		fmt.Fprintf(&b, ", %d left", n)
	}
	b.WriteString(".\n")
	if s.Stopped {
		b.WriteString("\nThe run stopped at the task that failed.\n")
	}
	for _, part := range []struct {
		title string
		text  *strings.Builder
	}{{"Done", &done}, {"Failed", &failed}, {"Left", &left}, {"Decided", &decided}} {
		if part.text.Len() > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n%s", part.title, part.text)
		}
	}
	return b.String()
}

// ending says what came of a task that is settled.
func (t *TaskState) ending() string {
	text := t.Outcome
	switch {
	case t.Done:
		text = "It was marked as done."
	case t.Status == Failed && t.Attempts > 1:
		text = fmt.Sprintf("%s (%d attempts)", text, t.Attempts)
	case t.By != "":
		text = strings.TrimSpace(fmt.Sprintf("%s (%s)", text, t.By))
	}
	if text == "" {
		return "\n"
	}
	return "\n  " + text + "\n"
}
