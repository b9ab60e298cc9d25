package runs_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/usage"
)

// figures are what a tally counts.
type figures struct {
	Steps, Total, Samples, Contested, RedFlagged, Faults int
	Calls                                                int64
}

func tallied(t *testing.T, tally *runs.Tally) figures {
	t.Helper()
	p, err := tally.Progress()
	if err != nil {
		t.Fatal(err)
	}
	return figures{p.Steps, p.Total, p.Samples, p.Contested, p.RedFlagged, p.Faults, p.Spent.Calls}
}

// planOf is a plan of so many steps.
const threeSteps = `reasoning: Three steps.
plan:
- {step: 0, task_type: action_step, title: a, task_description: A., primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "", input_variables: [], output_variable: step_0_output, output_schema: "done: boolean", next_step_sequence_number: 1}
- {step: 1, task_type: action_step, title: b, task_description: B., primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "", input_variables: [step_0_output.done], output_variable: step_1_output, output_schema: "done: boolean", next_step_sequence_number: 2}
- {step: 2, task_type: action_step, title: c, task_description: C., primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "", input_variables: [step_1_output.done], output_variable: step_2_output, output_schema: "done: boolean", next_step_sequence_number: -1}
`

// TestTally: a tally counts what was committed in all sessions, of a run that goes on too, and
// reads what is new only.
func TestTally(t *testing.T) {
	spent := func(e event.StepCompleted, calls int64) event.StepCompleted {
		e.Spent = usage.Spent{Calls: calls}
		return e
	}
	vote := event.VoteCompleted{Question: "solve/0", Status: "decided", Voting: event.Voting{Samples: 5, RedFlagged: 1, Votes: map[string]int{"a": 3, "b": 1}, Margin: 2}}
	measured := vote
	measured.Question = "calibrate/0/0"
	for name, test := range map[string]struct {
		form          event.Form
		kind          string
		first, second []event.Event
		want, then    figures
	}{
		"a chain": {event.FormChain, "hanoi", []event.Event{spent(voted(0, 3, 0, 1), 4), spent(voted(1, 3, 1, 0), 8)}, []event.Event{event.RunResumed{}, spent(voted(2, 5, 2, 2), 17)},
			figures{2, 9, 8, 1, 1, 0, 8}, figures{3, 9, 17, 2, 3, 0, 17}},
		"a plan that was made": {event.FormPlan, "run", []event.Event{event.ValidationPassed{Plan: event.TextValue(threeSteps)}, spent(voted(0, 2, 0, 0), 2)}, []event.Event{spent(voted(1, 2, 0, 0), 4)},
			figures{1, 9, 2, 0, 0, 0, 2}, figures{2, 9, 4, 0, 0, 0, 4}},
		"a problem": {event.FormTree, "solve", []event.Event{measured, vote, spent(voted(0, 3, 1, 1), 5)}, []event.Event{vote},
			figures{1, 9, 5, 1, 1, 0, 5}, figures{1, 9, 10, 2, 2, 0, 5}},
		"a measurement": {event.FormMeasurement, "calibrate", []event.Event{measured}, []event.Event{measured}, figures{1, 9, 5, 1, 1, 0, 0}, figures{2, 9, 10, 2, 2, 0, 0}},
	} {
		for _, index := range []bool{true, false} {
			task := submitted(test.kind)
			task.Form, task.Steps = test.form, 9
			if test.form == event.FormPlan {
				task.Steps, test.want.Total, test.then.Total = 0, 3, 3
			}
			dir := filepath.Join(t.TempDir(), "run")
			log, err := runlog.Create(dir, "run", nil)
			if err != nil {
				t.Fatal(err)
			}
			write := func(events ...event.Event) {
				t.Helper()
				for _, e := range events {
					if err := log.Append(e); err != nil {
						t.Fatal(err)
					}
				}
				if err := log.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			write(append([]event.Event{task}, test.first...)...)
			if !index {
				if err := os.Remove(filepath.Join(dir, runlog.IndexFile)); err != nil {
					t.Fatal(err)
				}
			}
			tally := open(t, dir).Tally()
			if diff := cmp.Diff(test.want, tallied(t, tally)); diff != "" {
				t.Errorf("%s, index %v: -want +got\n%s", name, index, diff)
			}
			write(test.second...)
			for _, one := range []*runs.Tally{tally, open(t, dir).Tally(), tally} {
				if diff := cmp.Diff(test.then, tallied(t, one)); diff != "" {
					t.Errorf("%s later, index %v: -want +got\n%s", name, index, diff)
				}
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestTallyOfALogThatWasCut: what was damaged and left out does not count any more.
func TestTallyOfALogThatWasCut(t *testing.T) {
	task := submitted("hanoi")
	task.Form = event.FormChain
	run := written(t, task, voted(0, 3, 0, 0), voted(1, 3, 0, 0))
	tally := run.Tally()
	if got := tallied(t, tally); got.Samples != 6 {
		t.Errorf("it has %+v, want 6 samples", got)
	}
	index := filepath.Join(run.Dir(), runlog.IndexFile)
	info, err := os.Stat(index)
	if err == nil {
		err = os.Truncate(index, info.Size()-48)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := tallied(t, tally); got.Samples != 3 || got.Steps != 1 {
		t.Errorf("it has %+v, want one step with 3 samples", got)
	}
}

// TestTallyOfADamagedIndex: an index that is damaged, lost or there again changes nothing.
func TestTallyOfADamagedIndex(t *testing.T) {
	task := submitted("hanoi")
	task.Form = event.FormChain
	run := written(t, task, voted(0, 3, 0, 0), voted(1, 3, 0, 0))
	index := filepath.Join(run.Dir(), runlog.IndexFile)
	intact, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte(nil), intact...)
	flipped[len(flipped)-20] ^= 1
	early := run.Tally()
	for _, data := range [][]byte{intact, flipped, nil, intact} {
		if data == nil {
			err = os.Remove(index)
		} else {
			err = os.WriteFile(index, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, tally := range []*runs.Tally{early, run.Tally()} {
			if got := tallied(t, tally); got.Steps != 2 || got.Samples != 6 {
				t.Errorf("it has %+v, want two steps with 6 samples", got)
			}
		}
	}
}

// TestTallyOfALogThatWasMended: a part that was set aside does not count, whatever has come
// since.
func TestTallyOfALogThatWasMended(t *testing.T) {
	task := submitted("solve")
	task.Form = event.FormTree
	vote := event.VoteCompleted{Question: "solve/0", Status: "decided", Voting: event.Voting{Samples: 5, Votes: map[string]int{"a": 3, "b": 2}}}
	was, is := written(t, task, vote), written(t, task, event.Noted{Text: "another beginning"}, vote, vote)
	tally := was.Tally()
	if got := tallied(t, tally); got.Samples != 5 {
		t.Errorf("it has %+v, want 5 samples", got)
	}
	data, err := os.ReadFile(filepath.Join(is.Dir(), runlog.EventsFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(was.Dir(), runlog.EventsFile), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := tallied(t, tally); got.Samples != 10 {
		t.Errorf("it has %+v, want 10 samples", got)
	}
}

// TestPace: the time in which a person was waited for does not count, unless others were
// committed meanwhile.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		task := submitted("exec")
		task.Form = event.FormPlan
		dir := filepath.Join(t.TempDir(), "run")
		log, err := runlog.Create(dir, "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		after := func(d time.Duration, e event.Event) {
			t.Helper()
			time.Sleep(d)
			if err := log.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		ask := func(key string) event.Event { return event.ClarificationRequested{Question: key} }
		answer := func(key string) event.Event { return event.ClarificationProvided{Question: key} }
		after(0, task)
		after(0, voted(0, 3, 0, 0))
		after(time.Second, ask("a"))
		after(0, ask("b"))
		after(time.Hour, answer("a"))
		after(time.Minute, answer("b"))
		after(time.Second, voted(1, 3, 0, 0))
		after(time.Second, ask("c"))
		for step := 2; step < 6; step++ { // others go on
			after(2*time.Second, voted(step, 3, 0, 0))
		}
		after(time.Second, answer("c"))
		after(time.Second, voted(6, 3, 0, 0))
		after(time.Second, ask("d"))
		time.Sleep(time.Hour)
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		tally := open(t, dir).Tally()
		for steps, took := range map[int]float64{0: 2 + 3 + 2*3 + 1, 7: 12, 2: 1, 3: 3} {
			n := steps
			if n == 0 {
				n = 7
			}
			got, err := tally.Pace(steps)
			if want := float64(n-1) / took; err != nil || got < want*.99 || got > want*1.01 {
				t.Errorf("Pace(%d) = %g, %v, want %g", steps, got, err, want)
			}
		}
	})
}
