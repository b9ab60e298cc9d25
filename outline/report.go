package outline

import (
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// Report tells in Markdown how a run went: what was done, what failed, what was
// left, and what was decided by whom.
func (s *PlannerState) Report() string {
	var done, failed, left, decided strings.Builder
	count := map[TaskStatus]int{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		count[t.Status]++
		line := fmt.Sprintf("- Task %d: %s", t.ID, t.Title())
		switch t.Status {
		case StatusCompleted:
			done.WriteString(line + t.ending())
		case StatusFailed:
			failed.WriteString(line + t.ending())
		case StatusNeedsClarification:
			question := ""
			if p := s.PendingClarificationFor; p != nil {
				question = clip.Words(p.Question, maxExcerpt)
			}
			left.WriteString(line + "\n  It waits for an answer: " + question + "\n")
		default:
			left.WriteString(line + "\n")
		}
		for _, a := range t.Answers {
			fmt.Fprintf(&decided, "- Task %d: %s\n  %s: %s\n", t.ID, clip.Words(a.Question, maxExcerpt), clip.Words(a.By, maxName), clip.Words(a.Answer, maxExcerpt))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Outcome\n\n%d of %d tasks are done", count[StatusCompleted], len(s.Tasks))
	if n := count[StatusFailed]; n > 0 {
		fmt.Fprintf(&b, ", %d failed", n)
	}
	if n := len(s.Tasks) - count[StatusCompleted] - count[StatusFailed]; n > 0 {
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

// maxName is how many characters of the name of who decided are shown.
const maxName = 80

// ending says what came of a task that is settled.
func (t *Task) ending() string {
	text := t.Outcome
	switch {
	case t.Done:
		text = "It was marked as done."
	case t.Status == StatusFailed && t.Attempts > 1:
		text = fmt.Sprintf("%s (%d attempts)", text, t.Attempts)
	case t.By != "":
		text = strings.TrimSpace(fmt.Sprintf("%s (%s)", text, t.By))
	}
	if text == "" {
		return "\n"
	}
	return "\n  " + text + "\n"
}
