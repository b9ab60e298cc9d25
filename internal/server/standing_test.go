package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/internal/server"
	"github.com/maker-mdap/maker/runs"
)

// figures are what progress counts.
type figures struct {
	Steps, Total, Samples, Contested, RedFlagged int
	Calls, Tokens                                int64
}

func (s *served) figures(run string) (figures, server.Progress) {
	s.t.Helper()
	var out struct{ Progress server.Progress }
	s.must("GET", "/api/runs/"+run, nil, &out)
	p := out.Progress
	return figures{p.Steps, p.Total, p.Samples, p.Contested, p.RedFlagged, p.Calls, p.Tokens}, p
}

// TestProgressOfAllSessions: progress tells of all that a run took, however often it was resumed
// and whoever does it, and it is what the result says.
func TestProgressOfAllSessions(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, nil)
	run := s.start("hanoi", "", object{"disks": 7}, object{"model": "sim/default?p=0.8&malformed=0.1&seed=3", "ahead_by": 5, "max_calls": 200})
	check := func(when string) {
		t.Helper()
		var r runs.Result
		s.must("GET", "/api/runs/"+run+"/result", nil, &r)
		got, p := s.figures(run)
		want := figures{r.StepsCompleted, r.StepsTotal, r.Voting.Samples, r.Voting.Contested, r.Voting.RedFlagged, r.Usage.Calls, r.Usage.Tokens.Total()}
		if diff := cmp.Diff(want, got); diff != "" || got.Samples == 0 || got.Contested == 0 || got.Calls == 0 || p.ElapsedMS != r.TotalDurationMS {
			t.Errorf("progress %s, -want +got (%d ms, want %d):\n%s", when, p.ElapsedMS, r.TotalDurationMS, diff)
		}
	}
	if sum := s.ended(run); sum.Stop != "max_calls" {
		t.Fatalf("it ended as %+v", sum)
	}
	check("of a run that was stopped")
	s.stop()
	s = serve(t, dir, nil)
	check("at another server")
	s.must("POST", "/api/runs/"+run+"/resume", object{"settings": object{"max_calls": 100_000}}, nil)
	if sum := s.ended(run); sum.State != "completed" {
		t.Fatalf("it ended as %+v", sum)
	}
	check("of one that was resumed")
}

// lookFirst has a step before the one that asks.
const lookFirst = `reasoning: Look, then write.
plan:
- {step: 0, task_type: action_step, title: look, task_description: Look at it.,
   primary_tools: [Read], fallback_tools: [], primary_tool_instructions: "Once.", fallback_tool_instructions: "",
   input_variables: [], output_variable: step_0_output, output_schema: "fine: boolean", next_step_sequence_number: 1}
- {step: 1, task_type: action_step, title: write, task_description: Write the greeting.,
   primary_tools: [Write], fallback_tools: [], primary_tool_instructions: "Once.", fallback_tool_instructions: "",
   input_variables: [step_0_output.fine], output_variable: step_1_output, output_schema: "done: boolean", next_step_sequence_number: -1}
`

// TestProgressOfARunThatWasResumed: what was taken before a resume counts while it goes on.
func TestProgressOfARunThatWasResumed(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, nil)
	run := s.start("exec", lookFirst, nil, object{"model": model(t, greets), "workspace": t.TempDir(), "voting": "first_to_k", "ahead_by": 2})
	s.summary(run, state("waiting"))
	before, p := s.figures(run)
	if !p.Here || before.Steps != 1 || before.Total != 2 || before.Samples != 4 {
		t.Fatalf("progress before = %+v, want one of two steps and 4 samples", p)
	}
	s.stop()
	s = serve(t, dir, nil)
	if resumed, err := s.server.Resume(t.Context()); err != nil || len(resumed) != 1 {
		t.Fatalf("Resume() = %q, %v", resumed, err)
	}
	s.summary(run, state("waiting"))
	if after, p := s.figures(run); !p.Here || after.Steps != 1 || after.Samples < 2 || after.Calls != before.Calls {
		t.Errorf("progress after = %+v, want what it was before: %+v", after, before)
	}
}

// TestTotalOfAPlan: a run that made a plan has as many steps as the plan, also in lists.
func TestTotalOfAPlan(t *testing.T) {
	dir := t.TempDir()
	log, err := runlog.Create(filepath.Join(dir, "planned"), "planned", nil)
	if err != nil {
		t.Fatal(err)
	}
	task := event.TaskSubmitted{Format: event.Format, Kind: "run", Form: event.FormPlan, Task: "look and write", Config: json.RawMessage("{}")}
	for _, e := range []event.Event{task, event.ValidationPassed{Plan: event.TextValue(lookFirst)}, event.StepCompleted{Step: 0, Output: event.TextValue("fine")}} {
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, nil)
	var list server.RunList
	s.must("GET", "/api/runs", nil, &list)
	var one server.RunView
	s.must("GET", "/api/runs/planned", nil, &one)
	if len(list.Runs) != 1 || list.Runs[0].Total != 2 || one.Summary.Total != 2 || one.Progress.Total != 2 || one.Progress.Steps != 1 {
		t.Errorf("lists have %+v, the run %+v and %+v, want one of two steps", list.Runs, one.Summary, one.Progress)
	}
}

// TestCertificateIsKept: what a log proved is found out once, until it grows.
func TestCertificateIsKept(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	run := s.start("hanoi", "", object{"disks": 5}, object{"model": "sim/default?p=0.8&seed=3", "ahead_by": 5, "max_calls": 60})
	s.ended(run)
	address := "/api/runs/" + run + "/certificate"
	var first, again, later runs.Certificate
	s.must("GET", address, nil, &first)
	// A log that cannot be read any more shows that nobody reads it.
	file := filepath.Join(s.logDir, run, "events.jsonl")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spoil := append([]byte(nil), data...)
	spoil[len(spoil)/2] ^= 1
	put := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	put(spoil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if status, data := s.ask("GET", address, nil); status != 200 {
				t.Errorf("GET certificate again = %d %s", status, data)
			}
		})
	}
	all.Wait()
	s.must("GET", address, nil, &again)
	put(data)
	s.must("POST", "/api/runs/"+run+"/resume", object{"settings": object{"max_calls": 10_000}}, nil)
	s.ended(run)
	s.must("GET", address, nil, &later)
	if again.LogHash != first.LogHash || later.LogHash == first.LogHash || later.Votes.Races <= first.Votes.Races {
		t.Errorf("the certificates are of %s, %s and %s, with %d and then %d races", first.LogHash, again.LogHash, later.LogHash, first.Votes.Races, later.Votes.Races)
	}
}

// TestLongTasks: lists have the beginning of a task, and the run all of it; words are looked for
// in all of it. One that does not fit the log is refused, and leaves nothing behind.
func TestLongTasks(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	news := s.listen("/api/events", "")
	defer news.Body.Close()
	task := strings.Repeat("ü ", 5_000) + "needle"
	run := s.start("ask", task, nil, nil)
	s.ended(run)
	var list server.RunList
	s.must("GET", "/api/runs?q=needle", nil, &list)
	if len(list.Runs) != 1 || utf8.RuneCountInString(list.Runs[0].Task) != 1000 || !strings.HasSuffix(list.Runs[0].Task, "…") {
		t.Errorf("GET /api/runs = %+v, want the first 1,000 characters of the task", list)
	}
	sent(t, news.Body, func(_, data string) bool {
		if len(data) > 10_000 {
			t.Errorf("GET /api/events has %d bytes of a run", len(data))
		}
		return true
	})
	var one server.RunView
	if s.must("GET", "/api/runs/"+run, nil, &one); one.Summary.Task != task {
		t.Errorf("GET run has %d bytes of the task, want %d", len(one.Summary.Task), len(task))
	}
	large := strings.Repeat("x", 17<<20)
	status, data := s.ask("POST", "/api/runs", object{"kind": "ask", "task": large})
	var p server.Problem
	if err := json.Unmarshal(data, &p); err != nil || status != 413 || p.Field != "task" || !strings.Contains(p.Detail, "at most 33554432 fit") {
		t.Errorf("POST with a task of 17 MB = %d %.300s", status, data)
	}
	if entries, err := os.ReadDir(s.logDir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v, want the one run", entries, err)
	}
}
