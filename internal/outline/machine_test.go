package outline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTranscripts plays conversations with a machine. Each file is a sequence of
// a directive, perhaps lines for it, a line "----", and what comes of it up to a
// blank line. The directives are
//
//	new [stop] [retries=N] [questions=N]   a machine for the outline in the lines
//	start                                  Step(nil)
//	completed ID RESULT, failed ID ERROR, final ID ERROR
//	asks ID QUESTION, misses ID REF QUESTION, answer ID [by=NAME] ANSWER
//	restart                                through JSON and back
//	summary TEXT                           SetSummary
//	add                                    the tasks of the outline in the lines
//	state, report                          the list of tasks, the final summary
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/machine/*.txt")
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
				writeIfChanged(t, name, []byte(got))
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
	var m *Machine
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

func direct(t *testing.T, m *Machine, directive, lines string) (*Machine, string) {
	t.Helper()
	name, rest, _ := strings.Cut(directive, " ")
	idText, text, _ := strings.Cut(rest, " ")
	id, _ := strconv.Atoi(idText)
	var e Event
	switch name {
	case "new":
		m, err := New(Split(lines), optionsOf(rest))
		if err != nil {
			return nil, err.Error() + "\n"
		}
		return m, checklist(m)
	case "start":
		return m, showCommands(m.Step(nil))
	case "restart":
		return &Machine{m.clone(t)}, "ok\n"
	case "summary":
		m.SetSummary(rest)
		return m, "ok\n"
	case "add":
		m.Add(Split(lines))
		return m, checklist(m)
	case "state":
		return m, checklist(m)
	case "report":
		var b strings.Builder
		for line := range strings.Lines(Final(m.State)) {
			b.WriteString("| " + line)
		}
		return m, strings.ReplaceAll(b.String(), "| \n", "|\n")
	case "completed":
		e = TaskCompleted{ID: id, Result: text, By: "vote 3:0"}
	case "failed":
		e = TaskFailed{ID: id, Error: text}
	case "final":
		e = TaskFailed{ID: id, Error: text, Final: true}
	case "asks":
		e = NeedsClarification{ID: id, Question: text}
	case "misses":
		ref, question, _ := strings.Cut(text, " ")
		e = NeedsClarification{ID: id, Question: question, Attachment: ref}
	case "answer":
		a := ClarificationProvided{ID: id, Answer: text}
		if by, answer, ok := strings.Cut(text, " "); ok && strings.HasPrefix(by, "by=") {
			a.By, a.Answer = by[len("by="):], answer
		}
		e = a
	default:
		t.Fatalf("unknown directive %q", directive)
	}
	return m, showCommands(m.Step(&ExecutorEvent{e}))
}

func optionsOf(args string) *Options {
	opts := &Options{}
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
func (m *Machine) clone(t testing.TB) State {
	t.Helper()
	data, err := json.Marshal(m.State)
	if err != nil {
		t.Fatal(err)
	}
	var s State
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// done reports whether nothing is left to do.
func (m *Machine) done() bool {
	settled := func(t TaskState) bool { return t.Status == Complete || t.Status == Failed }
	return m.State.Stopped || !slices.ContainsFunc(m.State.Tasks, func(t TaskState) bool { return !settled(t) })
}

func showCommands(commands []Command) string {
	if len(commands) == 0 {
		return "nothing\n"
	}
	var b strings.Builder
	for _, c := range commands {
		switch c := c.(type) {
		case ExecuteTask:
			p := c.Parameters
			fmt.Fprintf(&b, "execute %d %s attempt %d round %d: %s\n", c.ID, c.Kind, p.Attempt, p.Round, shown(p.Text))
			if p.Command != "" {
				fmt.Fprintf(&b, "  command: %s\n", shown(p.Command))
			}
			for _, a := range p.Attachments {
				fmt.Fprintf(&b, "  %s\n", describeAttachment(a))
			}
			for _, h := range p.Headings {
				fmt.Fprintf(&b, "  below: %s\n", h)
			}
			if p.Summary != "" {
				fmt.Fprintf(&b, "  summary: %s\n", p.Summary)
			}
		case RequestClarification:
			fmt.Fprintf(&b, "ask for %d: %s\n", c.ID, shown(c.Question))
			if c.Attachment != "" {
				fmt.Fprintf(&b, "  missing: %s\n", c.Attachment)
			}
		case Refused:
			fmt.Fprintf(&b, "refused: %s\n", c.Reason)
		}
	}
	return b.String()
}

func checklist(m *Machine) string {
	var b strings.Builder
	s := m.State
	for _, t := range s.Tasks {
		fmt.Fprintf(&b, "%d %s: %s", t.ID, t.Status, t.Title())
		if t.Outcome != "" {
			fmt.Fprintf(&b, " => %s", t.Outcome)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "cursor %d, waiting %t, stopped %t, done %t\n", s.Cursor, s.Waiting, s.Stopped, m.done())
	return b.String()
}

// TestWrongEvents: what is no event is refused like one that does not fit.
func TestWrongEvents(t *testing.T) {
	m, err := New(Split("- a\n- b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Step(nil)
	before := m.clone(t)
	for _, e := range []Event{nil, (*TaskCompleted)(nil), &TaskCompleted{ID: 1}, struct{ Event }{TaskCompleted{ID: 1}}, TaskCompleted{ID: 0}, TaskCompleted{ID: -1}} {
		commands := m.Step(&ExecutorEvent{e})
		if len(commands) != 1 {
			t.Fatalf("Step(%#v) = %v, want a refusal", e, commands)
		}
		if _, ok := commands[0].(Refused); !ok {
			t.Errorf("Step(%#v) = %v, want a refusal", e, commands)
		}
	}
	if diff := cmp.Diff(before, m.State); diff != "" {
		t.Errorf("refused events changed the state: -before +after\n%s", diff)
	}
}

// TestCommandsAreCopies: nobody can change a machine through what it hands out or was
// given.
func TestCommandsAreCopies(t *testing.T) {
	tasks := Split("# H\n- Read a.txt")
	m, err := New(tasks, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := m.Step(nil)[0].(ExecuteTask)
	want := m.clone(t)
	c.Parameters.Attachments[0].Ref, c.Parameters.Headings[0] = "y", "y"
	tasks[0].Attachments[0].Ref, tasks[0].Context[0] = "z", "z"
	if diff := cmp.Diff(want, m.State); diff != "" {
		t.Errorf("the state was changed from outside: -want +got\n%s", diff)
	}
}

// TestResultsAreNotKept: the state of a long run stays small.
func TestResultsAreNotKept(t *testing.T) {
	m, err := New(Split("- a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Step(nil)
	m.Step(&ExecutorEvent{TaskCompleted{ID: 1, Result: "first line\n" + strings.Repeat("é word ", 1<<20)}})
	if got := m.State.Tasks[0].Outcome; len(got) > 3*maxExcerpt || !strings.HasPrefix(got, "first line é word") || !strings.HasSuffix(got, "…") {
		t.Errorf("Outcome = %q, want its beginning", got)
	}
}

// TestInvalidUTF8 does not get into the state, where JSON would change it.
func TestInvalidUTF8(t *testing.T) {
	m, err := New([]Task{{Text: "a\xff", Kind: ToolCall, Command: "b\xff", Context: []string{"c\xff"}, Attachments: []Attachment{{File, "d\xff", "e\xff", false}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := m.Step(nil)[0].(ExecuteTask)
	if c.Parameters.Command != "" {
		t.Errorf("Command = %q, want none: it could not be kept as written", c.Parameters.Command)
	}
	m.SetSummary("\xff")
	m.Step(&ExecutorEvent{NeedsClarification{ID: 1, Question: "q\xff", Attachment: "e\xff"}})
	m.Step(&ExecutorEvent{ClarificationProvided{ID: 1, Answer: "a\xff", By: "b\xff"}})
	m.Step(&ExecutorEvent{TaskFailed{ID: 1, Error: "f\xff"}})
	m.Step(&ExecutorEvent{TaskCompleted{ID: 1, Result: "g\xff", By: "h\xff"}})
	if diff := cmp.Diff(m.State, m.clone(t)); diff != "" {
		t.Errorf("the state is not the same after JSON: -before +after\n%s", diff)
	}
}

// TestKindsAreFilledIn for tasks that do not come from Split.
func TestKindsAreFilledIn(t *testing.T) {
	m, err := New([]Task{{Text: "Run `make`"}, {Text: "why?"}, {Text: "Write a.txt"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []Kind
	for _, task := range m.State.Tasks {
		got = append(got, task.Kind)
	}
	if want := []Kind{ToolCall, Clarification, Processing}; !slices.Equal(got, want) {
		t.Errorf("kinds = %v, want %v", got, want)
	}
}

func TestNewRefusesAnUnknownPolicy(t *testing.T) {
	if _, err := New(nil, &Options{OnFailure: "explode"}); err == nil || !strings.Contains(err.Error(), "explode") {
		t.Errorf("New(explode) = %v, want an error that names it", err)
	}
}
