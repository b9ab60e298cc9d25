package person_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/tool"
)

func TestResolve(t *testing.T) {
	closed := &flow.HumanQuestion{Options: []string{"red", "Dark blue", "other"}}
	numbers := &flow.HumanQuestion{Options: []string{"0", "1", "3"}, Free: true}
	result := &flow.HumanQuestion{Options: []string{`{"count":0}`, `{"count":1}`}, Free: true, Voting: &event.Voting{Samples: 2}}
	free := &flow.HumanQuestion{Options: []string{"red"}, Free: true}
	for _, test := range []struct {
		q        *flow.HumanQuestion
		in, want string // "" for an error
	}{
		{closed, "red", "red"}, {closed, " RED ", "red"}, {closed, "dark BLUE", "Dark blue"},
		{closed, "2", "Dark blue"}, {closed, "4", ""}, {closed, "0", ""}, {closed, "green", ""}, {closed, "", ""},
		{free, "1", "red"}, {free, "green", "green"}, {free, " ", ""},
		{numbers, "1", "1"}, {numbers, "2", "2"}, {numbers, "#2", "1"}, {numbers, "#4", "#4"},
		{result, "2", "2"}, {result, "#2", `{"count":1}`}, {result, `{"count":0}`, `{"count":0}`},
		{&flow.HumanQuestion{Options: []string{"1", "5"}}, "2", ""}, {&flow.HumanQuestion{Options: []string{"1", "5"}}, "#2", "5"},
		{&flow.HumanQuestion{}, " any thing ", "any thing"}, {&flow.HumanQuestion{}, "1", "1"},
	} {
		got, err := person.Resolve(test.q, test.in)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("Resolve(%q of %q) = %q, %v, want %q", test.in, test.q.Options, got, err, test.want)
		}
	}
}

// TestResolveApproval: what is not clear is neither yes nor no.
func TestResolveApproval(t *testing.T) {
	q := &flow.HumanQuestion{
		Kind: event.ClarifyApproval, Options: []string{person.Yes, person.No}, Free: true, Folder: t.TempDir(),
		Call: &event.Intent{Tool: "Write", Input: []byte(`{"content":"x","file_path":"docs/a.md"}`)},
	}
	for in, want := range map[string]string{
		"yes": "yes", " Y ": "yes", "OK": "yes", "1": "yes", "no": "no", "N": "no", "2": "no", "deny": "no",
		"not on a Sunday": "not on a Sunday", "no: it is Sunday": "no: it is Sunday",
		"run": "run Write(docs/)", "Run Write": "run Write", "run: Write(docs/a.md)": "run Write(docs/a.md)", "always": "always Write(docs/)",
		"run the tests first": "", "run Bash": "", "run Write(src/)": "", "no: run the tests first": "no: run the tests first",
		`edit {"file_path":"b.md", "content":"y"}`: `edit {"content":"y","file_path":"b.md"}`, "edit": "", "edit it first": "", "edit []": "",
		"": "", "?": "", "yep": "", "nope": "", "ye": "", "3": "", "yes please": "", "yes, but only docs/": "", "y y": "",
	} {
		if got, err := person.Resolve(q, in); got != want || (err == nil) != (want != "") {
			t.Errorf("Resolve(approval, %q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

// TestResolveApprovalOfACommand: there is no rule for a command line in which anything may
// follow.
func TestResolveApprovalOfACommand(t *testing.T) {
	for command, want := range map[string]string{
		"git status": "run Bash(git status)", "ls; rm -rf x": "", "echo $HOME": "",
	} {
		i, err := tool.NewIntent("Bash", []byte(fmt.Sprintf(`{"command":%q}`, command)))
		if err != nil {
			t.Fatal(err)
		}
		q := &flow.HumanQuestion{Kind: event.ClarifyApproval, Call: &i}
		if got, err := person.Resolve(q, "run"); got != want || (err == nil) != (want != "") {
			t.Errorf("Resolve(run %q) = %q, %v, want %q", command, got, err, want)
		}
	}
	other := &flow.HumanQuestion{Kind: event.ClarifyApproval, Call: &event.Intent{Tool: "mcp__shop__order", Input: []byte(`{"item":"A"}`)}}
	if got, err := person.Resolve(other, "always"); got != "always mcp__shop__order" || err != nil {
		t.Errorf("Resolve(always, a tool of a server) = %q, %v, want a rule for the tool", got, err)
	}
}

func TestYesAndNo(t *testing.T) {
	for _, s := range []string{"yes", "Y", " ok ", "approve"} {
		if !person.IsYes(s) || person.IsNo(s) {
			t.Errorf("%q is not taken for yes", s)
		}
	}
	for _, s := range []string{"no", "N", "", "deny"} {
		if person.IsYes(s) || !person.IsNo(s) {
			t.Errorf("%q is not taken for no", s)
		}
	}
	if s := "yes, but only docs/"; person.IsYes(s) || person.IsNo(s) {
		t.Errorf("%q is taken for a plain yes or no", s)
	}
}

func answer(text string) person.Person {
	return person.Func(func(context.Context, string, *flow.HumanQuestion) (*flow.Answer, error) {
		if text == "" {
			return nil, person.ErrAbsent
		}
		return &flow.Answer{Text: text}, nil
	})
}

func TestFirst(t *testing.T) {
	a, err := person.First(nil, answer(""), answer("b"), answer("c")).Ask(t.Context(), "k", &flow.HumanQuestion{})
	if err != nil || a.Text != "b" {
		t.Errorf("First(absent, b, c) = %v, %v, want b", a, err)
	}
	if _, err := person.First(answer("")).Ask(t.Context(), "k", &flow.HumanQuestion{}); !errors.Is(err, person.ErrAbsent) {
		t.Errorf("First(absent) = %v, want ErrAbsent", err)
	}
}

func TestInbox(t *testing.T) {
	run := t.TempDir()
	q := &flow.HumanQuestion{Options: []string{"red", "blue"}}
	if _, err := person.Inbox(run).Ask(t.Context(), "step/1/é?*", q); !errors.Is(err, person.ErrAbsent) {
		t.Errorf("Ask(nothing left) = %v, want ErrAbsent", err)
	}
	if left, err := person.Leave(run, "step/1/é?*", flow.Answer{Text: "red", By: "first"}); !left || err != nil {
		t.Errorf("Leave(red) = %t, %v, want that it is left", left, err)
	}
	if left, err := person.Leave(run, "step/1/é?*", flow.Answer{Text: "2", By: "second"}); left || err != nil {
		t.Errorf("Leave(another answer) = %t, %v, want that the first stays", left, err)
	}
	if a, err := person.Left(run, "step/1/é?*"); err != nil || a == nil || a.Text != "red" || a.By != "first" {
		t.Errorf("Left() = %+v, %v, want the first answer", a, err)
	}
	if err := person.Replace(run, "step/1/é?*", flow.Answer{Text: "2", By: "maker answer"}); err != nil {
		t.Errorf("Replace() = %v", err)
	}
	a, err := person.Inbox(run).Ask(t.Context(), "step/1/é?*", q)
	if err != nil || a.Text != "blue" || a.By != "maker answer" {
		t.Errorf("Ask() = %+v, %v, want blue by maker answer", a, err)
	}
	if _, err := person.Inbox(run).Ask(t.Context(), "step/2", q); !errors.Is(err, person.ErrAbsent) {
		t.Errorf("Ask(another question) = %v, want ErrAbsent", err)
	}
	files, err := filepath.Glob(filepath.Join(run, person.InboxFolder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the inbox holds %q, want one file", files)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := person.Inbox(run).Ask(t.Context(), "step/1/é?*", q); err == nil || errors.Is(err, person.ErrAbsent) || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("Ask(a broken letter) = %v, want an error that names the file", err)
	}
}

const answers = `
- question: which (branch|tag)
  answer: main
- step: 3
  answer: "42"
- tool: Bash
  question: May
  answer: "no"
- kind: outcome
  answer: stop here
`

func TestAnswers(t *testing.T) {
	p, err := person.ReadAnswers([]byte(answers))
	if err != nil {
		t.Fatal(err)
	}
	bash := &event.Intent{Tool: "Bash"}
	for name, test := range map[string]struct {
		q    flow.HumanQuestion
		want string // "" if nobody answers
	}{
		"by words":                {flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: "Which BRANCH\nis meant?"}, "main"},
		"by step":                 {flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: "How many?", Step: 3}, "42"},
		"another":                 {flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: "How many?"}, ""},
		"approval":                {flow.HumanQuestion{Kind: event.ClarifyApproval, Text: "May Bash be called?", Call: bash}, "no"},
		"approval of another":     {flow.HumanQuestion{Kind: event.ClarifyApproval, Text: "May Write be called?", Call: &event.Intent{Tool: "Write"}}, ""},
		"a step approves nothing": {flow.HumanQuestion{Kind: event.ClarifyApproval, Text: "May Write be called?", Step: 3}, ""},
		"outcome":                 {flow.HumanQuestion{Kind: event.ClarifyOutcome, Text: "Did it?", Call: bash}, "stop here"},
	} {
		a, err := p.Ask(t.Context(), "k", &test.q)
		switch {
		case test.want == "" && !errors.Is(err, person.ErrAbsent):
			t.Errorf("Ask(%s) = %+v, %v, want ErrAbsent", name, a, err)
		case test.want != "" && (err != nil || a.Text != test.want):
			t.Errorf("Ask(%s) = %+v, %v, want %s", name, a, err, test.want)
		}
	}
	closed := &flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: "which tag", Options: []string{"v1"}}
	if _, err := p.Ask(t.Context(), "k", closed); err == nil || !strings.Contains(err.Error(), "entry 1") {
		t.Errorf("Ask(with other options) = %v, want an error that names the entry", err)
	}
}

func TestAnswersRefuse(t *testing.T) {
	for _, in := range []string{
		"- question: a", "- answer: a", "- question: '('\n  answer: a", "- step: x\n  answer: a", "question: a", "- qestion: a\n  answer: b",
		"- kind: other\n  answer: a", "{", strings.Repeat("#", 300<<10),
	} {
		if _, err := person.ReadAnswers([]byte(in)); err == nil || !strings.HasPrefix(err.Error(), "answers: ") {
			t.Errorf("ReadAnswers(%.40q) = %v, want an error", in, err)
		}
	}
	if _, err := person.ReadAnswers(nil); err != nil {
		t.Errorf("ReadAnswers(nothing) = %v, want none", err)
	}
}

func FuzzReadAnswers(f *testing.F) {
	f.Add([]byte(answers))
	f.Add([]byte("- {question: a, answer: b}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := person.ReadAnswers(data)
		if err != nil {
			return
		}
		if a, err := p.Ask(t.Context(), "k", &flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: "?"}); err == nil && a.Text == "" {
			t.Fatalf("ReadAnswers(%q) answers with nothing", data)
		}
	})
}
