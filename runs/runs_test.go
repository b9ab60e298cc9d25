package runs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// open opens the run in a folder.
func open(t *testing.T, dir string) *runs.Run {
	t.Helper()
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatalf("Open(%s) = %v", dir, err)
	}
	return run
}

// written writes a log and opens the run.
func written(t *testing.T, events ...event.Event) *runs.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

func TestOpen(t *testing.T) {
	run := open(t, filepath.Join(frozen, full)+"/")
	if run.ID() != full || run.Dir() != filepath.Join(frozen, full) || run.Kind() != "hanoi" || run.Task() != "Towers of Hanoi with 4 disks" || run.Started().IsZero() {
		t.Errorf("Open() = %q in %s, kind %q, task %q, started %v", run.ID(), run.Dir(), run.Kind(), run.Task(), run.Started())
	}
	if pid, written := run.Writer(); written {
		t.Errorf("Writer() = %d, want nobody", pid)
	}
	for log, want := range map[string]string{
		"":                                 "never started",
		"garbage\nmore\n":                  "damaged at line 1",
		`{"type":"run_resumed","seq":0}`:   "never started", // an unfinished line is none
		`{"type":"run_resumed","seq":0}\n`: "does not begin with a task",
		`{"type":"task_submitted","seq":0,"format":99,"maker":"9.0"}\n`: "newer maker",
		`{"type":"task_submitted","seq":0,"kind":7}\n`:                  "damaged at line 1",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, runlog.EventsFile), []byte(strings.ReplaceAll(log, `\n`, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := runs.Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(a log of %q) = %v, want an error with %q", log, err, want)
		}
	}
	if _, err := runs.Open(t.TempDir()); !errors.Is(err, runs.ErrNoRun) {
		t.Errorf("Open(an empty folder) = %v, want ErrNoRun", err)
	}
}

func TestLoad(t *testing.T) {
	large := event.TextValue(strings.Repeat("x", 40_000))
	run := written(t, submitted("hanoi"), event.StepCompleted{Output: large})
	r, err := run.Result()
	if err != nil || r.Output.Ref == nil {
		t.Fatalf("Result() = %+v, %v, want a reference to a large output", r, err)
	}
	if got, err := run.Load(r.Output); err != nil || got.Text() != large.Text() {
		t.Errorf("Load() = %d bytes, %v, want %d", len(got.JSON), err, len(large.JSON))
	}
	if err := os.RemoveAll(filepath.Join(run.Dir(), runlog.BlobsDir)); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Load(r.Output); err == nil {
		t.Error("Load(a value that is lost) = nil, want an error")
	}
}

// TestSteps: steps are found by their numbers, with the index and without it.
func TestSteps(t *testing.T) {
	contested := func(step int) event.StepCompleted {
		e := committed(step)
		e.Voting.Votes = map[string]int{"a": 3, "b": 1}
		return e
	}
	chain := written(t, submitted("hanoi"), committed(0), contested(1), committed(2), committed(3))
	plan := written(t, submitted("exec"), committed(0), contested(4), committed(2), committed(7)) // step 2 failed at first
	begin := submitted("script")
	begin.Form = event.FormScript
	script := written(t, begin, committed(0), contested(2), committed(1), committed(3)) // two at once
	for _, index := range []bool{true, false} {
		for _, test := range []struct {
			run  *runs.Run
			o    *runs.StepOptions
			want []int
		}{
			{chain, nil, []int{0, 1, 2, 3}},
			{chain, &runs.StepOptions{From: 2}, []int{2, 3}},
			{chain, &runs.StepOptions{From: 1, To: 3}, []int{1, 2}},
			{chain, &runs.StepOptions{From: -5, To: 1}, []int{0}},
			{chain, &runs.StepOptions{From: 4}, nil},
			{chain, &runs.StepOptions{Contested: true}, []int{1}},
			{plan, nil, []int{0, 4, 2, 7}},
			{plan, &runs.StepOptions{From: 2, To: 5}, []int{4, 2}},
			{plan, &runs.StepOptions{From: 1, Contested: true}, []int{4}},
			{script, nil, []int{0, 2, 1, 3}},
			{script, &runs.StepOptions{From: 1, To: 3}, []int{2, 1}},
			{script, &runs.StepOptions{From: 3}, []int{3}},
		} {
			var got []int
			for s, err := range test.run.Steps(test.o) {
				if err != nil {
					t.Fatal(err)
				}
				if s.Time.IsZero() || s.Output.IsZero() {
					t.Errorf("Steps(%+v): step %d has the time %v and the output %s", test.o, s.Step, s.Time, s.Output.JSON)
				}
				got = append(got, s.Step)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Steps(%+v) of %s, index %t: -want +got\n%s", test.o, test.run.Kind(), index, diff)
			}
		}
		for _, test := range []struct {
			run   *runs.Run
			step  int
			found bool
		}{{chain, 0, true}, {chain, 3, true}, {chain, 4, false}, {chain, -1, false}, {plan, 7, true}, {plan, 2, true}, {plan, 1, false}, {plan, 3, false}, {script, 0, true}, {script, 1, true}, {script, 2, true}, {script, 3, true}, {script, 4, false}} {
			s, err := test.run.Step(test.step)
			if missing, ok := errors.AsType[*runs.NoStepError](err); ok == test.found || ok && missing.Steps != 4 || test.found && s.Step != test.step {
				t.Errorf("Step(%d) of %s, index %t = step %d, %v, want it found: %t", test.step, test.run.Kind(), index, s.Step, err, test.found)
			}
		}
		list, err := runs.List(filepath.Dir(plan.Dir()))
		if err != nil || len(list) != 1 || list[0].Steps != 4 {
			t.Errorf("List(), index %t = %+v, %v, want 4 steps", index, list, err)
		}
		if index {
			if err := errors.Join(os.Remove(filepath.Join(chain.Dir(), runlog.IndexFile)), os.Remove(filepath.Join(plan.Dir(), runlog.IndexFile))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestChanged(t *testing.T) {
	run := written(t, submitted("exec"),
		event.QuestionChanged{Question: "a", Step: 1, Changed: []string{"tools", "prompt"}},
		event.QuestionChanged{Question: "b", Step: 1, Changed: []string{"answer", "prompt"}},
		event.QuestionChanged{Question: "c", Step: 2, Changed: []string{"model"}})
	for step, want := range map[int]string{0: "", 1: "answer prompt tools", 2: "model"} {
		if got, err := run.Changed(step); err != nil || strings.Join(got, " ") != want {
			t.Errorf("Changed(%d) = %q, %v, want %q", step, got, err, want)
		}
	}
}

func TestWaitingAndAnswer(t *testing.T) {
	call, err := json.Marshal(event.Intent{Tool: "Pay", Input: json.RawMessage(`{"to":"a<b"}`)})
	if err != nil {
		t.Fatal(err)
	}
	colour := event.ClarificationRequested{Question: "step/1/colour", Step: 1, Kind: event.ClarifyQuestion, Text: "Which colour?", Options: []string{"red", "blue"}}
	pay := event.ClarificationRequested{Question: "step/2/pay", Step: 2, Kind: event.ClarifyApproval, Text: "May Pay be called?", Free: true, Call: call}
	name := event.ClarificationRequested{Question: "step/0/name", Kind: event.ClarifyQuestion, Text: "Who?"}
	run := written(t, submitted("exec"), name, colour, pay, event.ClarificationProvided{Question: name.Question, Answer: "Ada"})
	open, err := run.Waiting()
	if err != nil {
		t.Fatal(err)
	}
	want := []runs.Question{
		{Key: colour.Question, Step: 1, Kind: event.ClarifyQuestion, Text: "Which colour?", Options: []string{"red", "blue"}},
		{Key: pay.Question, Step: 2, Kind: event.ClarifyApproval, Text: "May Pay be called?", Free: true, Call: &event.Intent{Tool: "Pay", Input: json.RawMessage(`{"to":"a<b"}`)}},
	}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Errorf("Waiting(): -want +got\n%s", diff)
	}
	// What is waited for has the form of the event that asks.
	for i, e := range []event.Event{colour, pay} {
		asked, err := json.Marshal(e)
		got, err2 := json.Marshal(open[i])
		if err != nil || err2 != nil || string(got) != string(asked) {
			t.Errorf("json of question %d = %s, want %s", i, got, asked)
		}
	}

	for text, want := range map[string]string{"2": "blue", " RED ": "red", "green": "", " ": ""} {
		got, err := open[0].Understand(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Understand(%q) = %q, %v, want %q", text, got, err, want)
		}
		if err := run.ReplaceAnswer(colour.Question, text, "test"); (err == nil) != (want != "") {
			t.Errorf("ReplaceAnswer(%q) = %v, want it taken: %t", text, err, want != "")
		}
	}
	if err := run.ReplaceAnswer(colour.Question, "2", "a friend"); err != nil {
		t.Fatal(err)
	}
	if a, err := person.Inbox(run.Dir()).Ask(t.Context(), colour.Question, &flow.HumanQuestion{Options: colour.Options}); err != nil || a.Text != "blue" || a.By != "a friend" {
		t.Errorf("the run finds %+v, %v, want blue by a friend", a, err)
	}
	if err := run.Answer(name.Question, "Ada", "test"); !strings.Contains(fmt.Sprint(err), "somebody was faster") {
		t.Errorf("Answer(what was answered) = %v, want that somebody was faster", err)
	}
	for _, key := range []string{"step/9", ""} {
		if err := run.Answer(key, "Ada", "test"); !isNotAsked(err) {
			t.Errorf("Answer(%q, which is not waited for) = %v, want a NotAskedError", key, err)
		}
	}
}

// TestAnAnswerCountsOrIsRefused: whoever gives an answer knows whether it is the one
// that the run will find.
func TestAnAnswerCountsOrIsRefused(t *testing.T) {
	const key = "step/0/name"
	run := written(t, submitted("exec"), event.ClarificationRequested{Question: key, Kind: event.ClarifyQuestion, Text: "Who?"})
	for _, text := range []string{"Ada", "Ada"} {
		if err := run.Answer(key, text, "first"); err != nil {
			t.Errorf("Answer(%s) = %v", text, err)
		}
	}
	err := run.Answer(key, "Bob", "second")
	if e, ok := errors.AsType[*runs.AnsweredError](err); !ok || e.Answer != "Ada" || e.By != "first" || e.Used {
		t.Errorf("Answer(another) = %v, want an AnsweredError with the first", err)
	}
	if text, by, err := run.Left(key); text != "Ada" || by != "first" || err != nil {
		t.Errorf("Left() = %s, %s, %v, want the first answer", text, by, err)
	}
	if long, ok := errors.AsType[*runs.LongAnswerError](run.ReplaceAnswer(key, strings.Repeat("x", runs.MaxAnswer+1), "second")); !ok || long.Length != runs.MaxAnswer+1 {
		t.Errorf("ReplaceAnswer() with a long text = %v, want that it is too long", long)
	}
	if err := run.ReplaceAnswer(key, "Bob", "second"); err != nil {
		t.Errorf("ReplaceAnswer() = %v", err)
	}
	if text, _, err := run.Left(key); text != "Bob" || err != nil {
		t.Errorf("Left() = %s, %v, want Bob", text, err)
	}
	log, _, err := runlog.Open(run.Dir(), nil, func(runlog.Line) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := run.ReplaceAnswer(key, "Eve", "third"); err != nil { // which does not ask right now
		t.Errorf("ReplaceAnswer(a run that goes on) = %v", err)
	}
	if err := log.Append(event.ClarificationProvided{Question: key, Answer: "Bob", By: "second"}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	taken, ok := errors.AsType[*runs.AnsweredError](run.Answer(key, "Eve", "third"))
	if !ok || !taken.Used || taken.By != "second" {
		t.Errorf("Answer(after it was taken) = %v, want who was faster", taken)
	}
}

func isNotAsked(err error) bool {
	_, ok := errors.AsType[*runs.NotAskedError](err)
	return ok
}
