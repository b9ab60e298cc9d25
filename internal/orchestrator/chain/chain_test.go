package chain

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

// counter counts to its length; each step's output is the number after the last.
type counter struct {
	steps int
	wrong int // the step whose output Check rejects; -1 for none
	short bool
}

func (c counter) Steps() int { return c.steps }

func (c counter) Question(step int, previous json.RawMessage) (*flow.Question, error) {
	if step > 0 && previous == nil {
		return nil, errors.New("no previous output")
	}
	return &flow.Question{Prompt: fmt.Sprintf("after %s", previous)}, nil
}

func (c counter) Check(step int, output json.RawMessage) error {
	if step == c.wrong {
		return fmt.Errorf("%s is wrong", output)
	}
	return nil
}

func (c counter) Finish(json.RawMessage) error {
	if c.short {
		return errors.New("not there")
	}
	return nil
}

var config = Config{Terms: flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 9}, MaxOutput: 7, MaxFaults: 5}}

// count decides every question with the number that its step has.
func count(_ string, q *flow.Question) (*flow.Verdict, error) {
	return flowtest.Decided(q, fmt.Sprint(q.Step+1)), nil
}

func describe(events []event.Event) []string {
	var out []string
	for _, e := range events {
		switch e := e.(type) {
		case event.StepCompleted:
			out = append(out, fmt.Sprintf("step %d: %s", e.Step, e.Output.JSON))
		case event.StepFailed:
			out = append(out, fmt.Sprintf("step %d failed: %s: %s", e.Step, e.Status, e.Reason))
		case event.TaskCompleted:
			out = append(out, fmt.Sprintf("completed %d: %s", e.Steps, e.Output.JSON))
		case event.TaskFailed:
			out = append(out, fmt.Sprintf("task %s at %d, wrong %v: %s", e.Status, e.Step, e.Wrong, e.Reason))
		default:
			out = append(out, fmt.Sprintf("%T", e))
		}
	}
	return out
}

func TestRun(t *testing.T) {
	undecided := func(key string, q *flow.Question) (*flow.Verdict, error) {
		if q.Step == 1 {
			return &flow.Verdict{Status: flow.Undecided, Reason: "tie"}, nil
		}
		return count(key, q)
	}
	flagged := func(string, *flow.Question) (*flow.Verdict, error) {
		return &flow.Verdict{Status: flow.FlaggedOut, Reason: "nonsense"}, nil
	}
	for _, c := range []struct {
		name   string
		chain  counter
		at     Checkpoint
		decide flowtest.Decider
		asked  []string
		want   []string
	}{
		{"all", counter{steps: 2, wrong: -1}, Checkpoint{}, count,
			[]string{"step/0", "step/1"}, []string{"step 0: 1", "step 1: 2", "completed 2: 2"}},
		{"from a checkpoint", counter{steps: 3, wrong: -1}, Checkpoint{Step: 2, Output: json.RawMessage("2")}, count,
			[]string{"step/2"}, []string{"step 2: 3", "completed 3: 3"}},
		{"from the end", counter{steps: 3, wrong: -1}, Checkpoint{Step: 3, Output: json.RawMessage("3")}, count,
			nil, []string{"completed 3: 3"}},
		{"undecided", counter{steps: 3, wrong: -1}, Checkpoint{}, undecided,
			[]string{"step/0", "step/1"}, []string{"step 0: 1", "step 1 failed: undecided: tie", "task undecided at 1, wrong false: tie"}},
		{"flagged out", counter{steps: 3, wrong: -1}, Checkpoint{}, flagged,
			[]string{"step/0"}, []string{"step 0 failed: flagged_out: nonsense", "task failed at 0, wrong false: nonsense"}},
		{"a wrong step", counter{steps: 3, wrong: 1}, Checkpoint{}, count,
			[]string{"step/0", "step/1"}, []string{"step 0: 1", "step 1: 2", "task failed at 1, wrong true: 2 is wrong"}},
		{"a wrong end", counter{steps: 1, wrong: -1, short: true}, Checkpoint{}, count,
			[]string{"step/0"}, []string{"step 0: 1", "task failed at 0, wrong true: not there"}},
		{"no question", counter{steps: 3, wrong: -1}, Checkpoint{Step: 1}, count,
			nil, []string{"step 1 failed: failed: no previous output", "task failed at 1, wrong false: no previous output"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := flowtest.New(func(key string, q *flow.Question) (*flow.Verdict, error) {
				if q.Rule != config.Rule || q.MaxOutput != 7 || q.MaxFaults != 5 {
					t.Errorf("question %s = %+v does not have the chain's configuration", key, q)
				}
				return c.decide(key, q)
			})
			if err := Run(f, c.chain, config, c.at); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.asked, f.Asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, describe(f.Events)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunReturnsTheFlowsError(t *testing.T) {
	over := errors.New("over")
	f := flowtest.New(func(string, *flow.Question) (*flow.Verdict, error) { return nil, over })
	if err := Run(f, counter{steps: 3, wrong: -1}, config, Checkpoint{}); !errors.Is(err, over) {
		t.Errorf("Run() = %v, want %v", err, over)
	}
	if len(f.Events) != 0 {
		t.Errorf("events %v, want none", describe(f.Events))
	}
}

// TestSecondPool: where voters do not agree others are asked, under a key of their own, and
// what they decide for is committed with how the first ones stood. If they do not help, the
// step fails with the reasons of both.
func TestSecondPool(t *testing.T) {
	split := event.Voting{Strategy: vote.FirstToK, Samples: 4, Votes: map[string]int{"2": 2, "9": 1}, Margin: 1}
	second := config
	second.Pool = "others"
	for _, c := range []struct {
		name string
		then flow.Status
		want []string
	}{
		{"it agrees", flow.Decided, []string{"step 0: 1", "event.Escalated", "step 1: 2", "completed 2: 2"}},
		{"it does not", flow.Undecided, []string{"step 0: 1", "event.Escalated", "step 1 failed: undecided: tie; not so", "task undecided at 1, wrong false: tie; not so"}},
	} {
		f := flowtest.New(func(key string, q *flow.Question) (*flow.Verdict, error) {
			switch {
			case key == "step/1":
				if !q.Second {
					t.Errorf("%s: %s does not know of the other pool", c.name, key)
				}
				return &flow.Verdict{Status: flow.Undecided, Reason: "tie", Voting: split, CostUSD: new(0.25), DurationMS: 3}, nil
			case key == "step/1/model" && c.then != flow.Decided:
				return &flow.Verdict{Status: c.then, Reason: "not so"}, nil
			case key == "step/1/model":
				if q.Model != "others" || !cmp.Equal(q.Confirm.Leads, []string{"2"}) {
					t.Errorf("%s: %q confirms %+v, want the others, and 2", c.name, q.Model, q.Confirm)
				}
				v := flowtest.Decided(q, "2")
				v.CostUSD, v.DurationMS = new(0.5), 4
				return v, nil
			}
			return count(key, q)
		})
		if err := Run(f, counter{steps: 2, wrong: -1}, second, Checkpoint{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, describe(f.Events)); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", c.name, diff)
		}
		for _, e := range f.Events {
			if e, ok := e.(event.StepCompleted); ok && e.Step == 1 &&
				(e.By != event.ByModel || e.Pool != "others" || !cmp.Equal(e.First, &split) || *e.CostUSD != 0.75 || e.DurationMS != 7) {
				t.Errorf("%s: %+v, want it settled by the others, at the cost of both", c.name, e)
			}
		}
	}
}
