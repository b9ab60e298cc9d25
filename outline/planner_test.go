package outline

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the expected results anew; read the difference before it is committed")

// TestTranscripts plays conversations with a machine. Each file is a sequence of
// a directive, perhaps lines for it, a line "----", and what comes of it up to a
// blank line. The directives are
//
//	new [stop] [retries=N] [questions=N]   a machine for the outline in the lines
//	start                                  Step(nil)
//	completed ID RESULT, failed ID ERROR, final ID ERROR
//	asks ID QUESTION, misses ID REF QUESTION, answer ID [by=NAME] ANSWER
//	restart                                through JSON and back
//	summary TEXT                           set ContextSummary
//	add                                    the tasks of the outline in the lines
//	state, report                          the list of tasks, the final summary
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/planner/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob = %v, %v, want files", files, err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(data))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(data), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("play(%s): -want +got\n%s", name, diff)
			}
		})
	}
}

func play(t *testing.T, script string) string {
	t.Helper()
	var out strings.Builder
	var m *Planner
	for part := range strings.SplitSeq(strings.TrimSpace(script), "\n\n") {
		in, _, _ := strings.Cut(part+"\n", "----\n")
		for strings.HasPrefix(in, "#") {
			comment, rest, _ := strings.Cut(in, "\n")
			out.WriteString(comment + "\n")
			in = rest
		}
		if in == "" {
			out.WriteString("\n")
			continue
		}
		directive, lines, _ := strings.Cut(strings.TrimSuffix(in, "\n"), "\n")
		// A dot stands for an empty line.
		lines = strings.ReplaceAll(lines, "\n.\n", "\n\n")
		fmt.Fprintf(&out, "%s----\n", in)
		var result string
		m, result = direct(t, m, directive, lines)
		out.WriteString(result + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func direct(t *testing.T, m *Planner, directive, lines string) (*Planner, string) {
	t.Helper()
	name, rest, _ := strings.Cut(directive, " ")
	idText, text, _ := strings.Cut(rest, " ")
	id, _ := strconv.Atoi(idText)
	var e ExecutorEvent
	switch name {
	case "new":
		m, err := NewPlanner(plan(t, lines), optionsOf(rest))
		if err != nil {
			return nil, err.Error() + "\n"
		}
		return m, checklist(m)
	case "start":
		return m, showCommand(m.Step(nil))
	case "restart":
		return &Planner{State: m.clone(t), config: m.config}, "ok\n"
	case "summary":
		m.State.ContextSummary = rest
		return m, "ok\n"
	case "add":
		m.Add(plan(t, lines)...)
		return m, checklist(m)
	case "state":
		return m, checklist(m)
	case "report":
		var b strings.Builder
		for line := range strings.Lines(m.State.Report()) {
			b.WriteString("| " + line)
		}
		return m, strings.ReplaceAll(b.String(), "| \n", "|\n")
	case "completed":
		e = TaskCompleted{NodeID: id, Result: text, By: "vote 3:0"}
	case "failed":
		e = TaskFailed{NodeID: id, Error: text}
	case "final":
		e = TaskFailed{NodeID: id, Error: text, Final: true}
	case "asks":
		e = NeedsClarification{NodeID: id, Question: text}
	case "misses":
		ref, question, _ := strings.Cut(text, " ")
		e = NeedsClarification{NodeID: id, Question: question, Attachment: ref}
	case "answer":
		a := ClarificationProvided{NodeID: id, Answer: text}
		if by, answer, ok := strings.Cut(text, " "); ok && strings.HasPrefix(by, "by=") {
			a.By, a.Answer = by[len("by="):], answer
		}
		e = a
	default:
		t.Fatalf("unknown directive %q", directive)
	}
	return m, showCommand(m.Step(e))
}

func optionsOf(args string) *PlannerConfig {
	opts := &PlannerConfig{}
	for arg := range strings.FieldsSeq(args) {
		key, value, _ := strings.Cut(arg, "=")
		n, _ := strconv.Atoi(value)
		switch key {
		case "stop":
			opts.OnFailure = Stop
		case "retries":
			opts.Retries = n
		case "questions":
			opts.MaxQuestions = n
		default:
			opts.OnFailure = Policy(key)
		}
	}
	return opts
}

// clone is the state after it was kept as JSON.
func (m *Planner) clone(t testing.TB) PlannerState {
	t.Helper()
	data, err := json.Marshal(m.State)
	if err != nil {
		t.Fatal(err)
	}
	var s PlannerState
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// done reports whether nothing is left to do.
func (m *Planner) done() bool {
	return m.State.Stopped || !slices.ContainsFunc(m.State.Tasks, func(t Task) bool { return !t.settled() })
}

func showCommand(command PlannerCmd, err error) string {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return fmt.Sprintf("refused: %s\n", refused.Reason)
	}
	var b strings.Builder
	switch c := command.(type) {
	case nil:
		return "nothing\n"
	case ExecuteTask:
		p := c.Parameters
		fmt.Fprintf(&b, "execute %d %s attempt %d round %d: %s\n", c.NodeID, c.Kind, p.Attempt, p.Round, shown(p.Text))
		if p.Command != "" {
			fmt.Fprintf(&b, "  command: %s\n", shown(p.Command))
		}
		for _, a := range p.Attachments {
			fmt.Fprintf(&b, "  %s\n", describeAttachment(a))
		}
		for _, h := range p.Headings {
			fmt.Fprintf(&b, "  below: %s\n", h)
		}
		if p.ContextSummary != "" {
			fmt.Fprintf(&b, "  summary: %s\n", p.ContextSummary)
		}
	case RequestClarification:
		fmt.Fprintf(&b, "ask for %d: %s\n", c.NodeID, shown(c.Question))
		if c.Attachment != "" {
			fmt.Fprintf(&b, "  missing: %s\n", c.Attachment)
		}
	}
	return b.String()
}

// plan is the list of tasks in a text.
func plan(t testing.TB, text string) []Task {
	t.Helper()
	list, err := PlanTasks(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func describeAttachment(a Attachment) string {
	s := fmt.Sprintf("%s %s", a.Kind, a.Ref)
	if a.Label != path.Base(a.Ref) {
		s += fmt.Sprintf(" (%s)", a.Label)
	}
	if a.Output {
		s += " to be made"
	}
	return s
}

// shown quotes a text only if it would not be readable otherwise.
func shown(s string) string {
	if strings.ContainsAny(s, "\n\t\r") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

func checklist(m *Planner) string {
	var b strings.Builder
	s := m.State
	for _, t := range s.Tasks {
		fmt.Fprintf(&b, "%d %s: %s", t.ID, t.Status, t.Title())
		if t.Outcome != "" {
			fmt.Fprintf(&b, " => %s", t.Outcome)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "cursor %d, waiting %t, stopped %t, done %t\n", s.Cursor, s.WaitingForClarification(), s.Stopped, m.done())
	return b.String()
}

// TestWrongEvents: what is no event is refused like one that does not fit.
func TestWrongEvents(t *testing.T) {
	m, err := NewPlanner(plan(t, "- a\n- b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Step(nil)
	before := m.clone(t)
	for _, e := range []ExecutorEvent{
		(*TaskCompleted)(nil), &TaskCompleted{NodeID: 1}, struct{ ExecutorEvent }{TaskCompleted{NodeID: 1}},
		TaskCompleted{NodeID: 0}, TaskCompleted{NodeID: -1}, ContextCompacted{NodeID: 1, Summary: "nobody asked"},
	} {
		var refused *RefusedError
		if command, err := m.Step(e); command != nil || !errors.As(err, &refused) {
			t.Errorf("Step(%#v) = %v, %v, want a refusal", e, command, err)
		}
	}
	if diff := cmp.Diff(before, m.State); diff != "" {
		t.Errorf("refused events changed the state: -before +after\n%s", diff)
	}
}

// TestCommandsAreCopies: nobody can change a machine through what it hands out or was
// given.
func TestCommandsAreCopies(t *testing.T) {
	tasks := plan(t, "# H\n- Read a.txt")
	m, err := NewPlanner(tasks, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := step(t, m, nil).(ExecuteTask)
	want := m.clone(t)
	c.Parameters.Attachments[0].Ref, c.Parameters.Headings[0] = "y", "y"
	tasks[0].Attachments[0].Ref, tasks[0].Headings[0] = "z", "z"
	if diff := cmp.Diff(want, m.State); diff != "" {
		t.Errorf("the state was changed from outside: -want +got\n%s", diff)
	}
}

// TestResultsAreNotKept: the state of a long run stays small.
func TestResultsAreNotKept(t *testing.T) {
	m, err := NewPlanner(plan(t, "- a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Step(nil)
	m.Step(TaskCompleted{NodeID: 1, Result: "first line\n" + strings.Repeat("é word ", 1<<20)})
	if got := m.State.Tasks[0].Outcome; len(got) > 3*maxExcerpt || !strings.HasPrefix(got, "first line é word") || !strings.HasSuffix(got, "…") {
		t.Errorf("Outcome = %q, want its beginning", got)
	}
}

// TestInvalidUTF8 does not get into the state, where JSON would change it.
func TestInvalidUTF8(t *testing.T) {
	m, err := NewPlanner([]Task{{Description: "a\xff", Kind: ToolCall, Command: "b\xff", Headings: []string{"c\xff"}, Attachments: []Attachment{{FileRef, "d\xff", "e\xff", false}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := step(t, m, nil).(ExecuteTask)
	if c.Parameters.Command != "" {
		t.Errorf("Command = %q, want none: it could not be kept as written", c.Parameters.Command)
	}
	m.Step(NeedsClarification{NodeID: 1, Question: "q\xff", Attachment: "e\xff"})
	m.Step(ClarificationProvided{NodeID: 1, Answer: "a\xff", By: "b\xff"})
	m.Step(TaskFailed{NodeID: 1, Error: "f\xff"})
	m.Step(TaskCompleted{NodeID: 1, Result: "g\xff", By: "h\xff"})
	if diff := cmp.Diff(m.State, m.clone(t)); diff != "" {
		t.Errorf("the state is not the same after JSON: -before +after\n%s", diff)
	}
}

// TestKindsAreFilledIn for tasks that do not come from Split.
func TestKindsAreFilledIn(t *testing.T) {
	m, err := NewPlanner([]Task{{Description: "Run `make`"}, {Description: "why?"}, {Description: "Write a.txt"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []NodeKind
	for _, task := range m.State.Tasks {
		got = append(got, task.Kind)
	}
	if want := []NodeKind{ToolCall, Clarification, Processing}; !slices.Equal(got, want) {
		t.Errorf("kinds = %v, want %v", got, want)
	}
}

func TestNewRefusesAnUnknownPolicy(t *testing.T) {
	if _, err := NewPlanner(nil, &PlannerConfig{OnFailure: "explode"}); err == nil || !strings.Contains(err.Error(), "explode") {
		t.Errorf("New(explode) = %v, want an error that names it", err)
	}
}

// TestContextIsCompacted: a planner asks for a summary before the next task, takes one
// that is good, and has its own words in place of one that is not.
func TestContextIsCompacted(t *testing.T) {
	for summary, want := range map[string]string{
		"Zephyr did it.":    "Summary of task 1:\nZephyr did it.\n",
		"Somebody did it.":  "Summary of task 1:\n- Task 1: Zephyr went first.\n",
		"":                  "Summary of task 1:\n- Task 1: Zephyr went first.\n",
		"Zephyr saw /a/b.c": "Summary of task 1:\n- Task 1: Zephyr went first.\n",
	} {
		p, err := NewPlanner(plan(t, "- Begin\n- Go on\n- Go further\n- Tell Zephyr"), &PlannerConfig{ContextBudget: MinBudget})
		if err != nil {
			t.Fatal(err)
		}
		step(t, p, nil)
		step(t, p, TaskCompleted{NodeID: 1, Result: "Zephyr went first.\n" + filler(420)})
		step(t, p, TaskCompleted{NodeID: 2, Result: filler(420)})
		c, ok := step(t, p, TaskCompleted{NodeID: 3, Result: filler(420)}).(CompactContext)
		if !ok || c.NodeID != 3 || len(c.Request.Must) != 1 {
			t.Fatalf("Step(a third long result) = %+v, want a request for a summary with one name", c)
		}
		if again := step(t, p, nil); cmp.Diff(PlannerCmd(c), again) != "" {
			t.Errorf("Step(nil) = %+v, want the same request", again)
		}
		if _, err := p.Step(TaskCompleted{NodeID: 4}); err == nil {
			t.Errorf("Step(a result before the summary) = nil, want it refused")
		}
		next, ok := step(t, p, ContextCompacted{NodeID: 3, Summary: summary}).(ExecuteTask)
		if !ok || next.NodeID != 4 || !strings.HasPrefix(next.Parameters.ContextSummary, want) {
			t.Errorf("Step(the summary %q) = %+v, want task 4 with a context that begins with %q", summary, next, want)
		}
		// What comes after the last prompt is in none.
		if got := step(t, p, TaskCompleted{NodeID: 4, Result: filler(3000)}); got != nil {
			t.Errorf("Step(the last result) = %+v, want nothing", got)
		}
	}
}

// step is a step that is not refused.
func step(t testing.TB, p *Planner, e ExecutorEvent) PlannerCmd {
	t.Helper()
	command, err := p.Step(e)
	if err != nil {
		t.Fatal(err)
	}
	return command
}

func TestReportOfARunThatWaits(t *testing.T) {
	m, err := NewPlanner(plan(t, "- Add login\n- Add logout"), nil)
	if err != nil {
		t.Fatal(err)
	}
	step(t, m, nil)
	step(t, m, NeedsClarification{NodeID: 1, Question: "Which\ncolour?"})
	want := `# Outcome

0 of 2 tasks are done, 2 left.

## Left

- Task 1: Add login
  It waits for an answer: Which colour?
- Task 2: Add logout
`
	if diff := cmp.Diff(want, m.State.Report()); diff != "" {
		t.Errorf("Report(): -want +got\n%s", diff)
	}
}
