package flow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/test/flowtest"
)

func write(text string) *event.Intent {
	return &event.Intent{Tool: "Write", Input: json.RawMessage(fmt.Sprintf("%q", text))}
}

// moves decides each question with the next intent, and then with an answer. It
// notes what each question had as done.
func moves(intents ...*event.Intent) (flowtest.Decider, *[]int) {
	n, done := 0, &[]int{}
	return func(_ string, q *flow.Question) (*flow.Verdict, error) {
		*done = append(*done, len(q.Work.Done))
		cost := 0.5
		v := flowtest.Decided(q, `"end"`)
		v.CostUSD, v.DurationMS = &cost, 10
		v.Voting.Samples, v.Voting.Margin, v.Voting.Faults = 3+n, 3-n, 1
		if n < len(intents) {
			v.Answer, v.Intent = nil, intents[n]
		}
		n++
		return v, nil
	}, done
}

func TestAct(t *testing.T) {
	decide, done := moves(write("a"), write("b"))
	f := flowtest.New(decide)
	var performed []string
	f.OnPerform = func(key string, e *flow.Effect) (*flow.Result, error) {
		performed = append(performed, key+" "+string(e.Intent.Input))
		return &flow.Result{Text: "wrote " + string(e.Intent.Input)}, nil
	}
	q := &flow.Question{Step: 4, Work: &flow.Work{Tools: []string{"Write"}}}
	out, err := flow.Act(f, "step/4", q, 0)
	if err != nil {
		t.Fatal(err)
	}
	if string(out.Verdict.Answer) != `"end"` || len(out.Moves) != 2 || out.Moves[1].Result.Text != `wrote "b"` {
		t.Errorf("Act() = %+v, want the answer after two moves", out)
	}
	if diff := cmp.Diff([]string{`step/4/effect/0 "a"`, `step/4/effect/1 "b"`}, performed); diff != "" {
		t.Errorf("performed: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2}, *done); diff != "" {
		t.Errorf("moves that the voters saw: -want +got\n%s", diff)
	}
	if q.Work.Done != nil {
		t.Error("Act() changed the question it was given")
	}
	// Samples and cost add up; the margin is that of the closest decision.
	if v := out.Voting; v.Samples != 3+4+5 || v.Faults != 3 || v.Margin != 1 || *out.CostUSD != 1.5 || out.DurationMS != 30 {
		t.Errorf("Act() adds up to %+v, $%v, %d ms", v, *out.CostUSD, out.DurationMS)
	}
}

func TestActFails(t *testing.T) {
	for name, test := range map[string]struct {
		result flow.Result
		max    int
		want   string
		moves  int
	}{
		"too many calls":     {flow.Result{Text: "ok"}, 1, "it made 1 calls and came to no answer", 1},
		"an unknown outcome": {flow.Result{Text: "lost", IsError: true, Unknown: true}, 5, "lost", 1},
	} {
		decide, _ := moves(write("a"), write("b"), write("c"))
		f := flowtest.New(decide)
		f.OnPerform = func(string, *flow.Effect) (*flow.Result, error) { return &test.result, nil }
		out, err := flow.Act(f, "s", &flow.Question{Work: &flow.Work{}}, test.max)
		if err != nil || out.Verdict.Status != flow.Failed || out.Verdict.Reason != test.want || out.Verdict.Intent != nil || len(out.Moves) != test.moves {
			t.Errorf("Act(%s) = %+v, %v, want failed: %s", name, out.Verdict, err, test.want)
		}
	}
	over := errors.New("out of budget")
	decide, _ := moves(write("a"))
	f := flowtest.New(decide)
	f.OnPerform = func(string, *flow.Effect) (*flow.Result, error) { return nil, over }
	if _, err := flow.Act(f, "s", &flow.Question{Work: &flow.Work{}}, 0); !errors.Is(err, over) {
		t.Errorf("Act() = %v, want the error of Perform", err)
	}
}

// TestActRefused: a call that the person refused did not happen. If nothing else did
// since, giving up the step leaves it open.
func TestActRefused(t *testing.T) {
	no, done := flow.Result{Text: "no", IsError: true, Refused: true}, flow.Result{Text: "ok"}
	failed := flow.Result{Text: "a rule denies it", IsError: true}
	for name, test := range map[string]struct {
		results []flow.Result
		want    []string
	}{
		"refused":                {[]flow.Result{no}, []string{"s/effect/0", "s/move/1"}},
		"done":                   {[]flow.Result{done}, []string{"s/move/1"}},
		"failed":                 {[]flow.Result{failed}, []string{"s/move/1"}},
		"refused twice":          {[]flow.Result{no, no}, []string{"s/effect/0", "s/move/1", "s/effect/1", "s/move/2"}},
		"refused, then done":     {[]flow.Result{no, done}, []string{"s/move/2"}},
		"done, then refused":     {[]flow.Result{done, no}, []string{"s/effect/1", "s/move/2"}},
		"refused, done, refused": {[]flow.Result{no, done, no}, []string{"s/effect/2", "s/move/3"}},
	} {
		intents := []*event.Intent{write("a"), write("b"), write("c")}[:len(test.results)]
		decide, _ := moves(intents...)
		f := flowtest.New(func(key string, q *flow.Question) (*flow.Verdict, error) {
			v, err := decide(key, q)
			if v.Intent == nil {
				v.Status, v.Answer = flow.Undecided, nil
			}
			return v, err
		})
		n := 0
		f.OnPerform = func(string, *flow.Effect) (*flow.Result, error) {
			n++
			return &test.results[n-1], nil
		}
		out, err := flow.Act(f, "s", &flow.Question{Work: &flow.Work{}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, out.Open); diff != "" {
			t.Errorf("%s: Open: -want +got\n%s", name, diff)
		}
		var all flow.Outcome
		all.Add(&flow.Outcome{Verdict: out.Verdict, Open: []string{"before"}})
		all.Add(out)
		if idle := name == "refused" || name == "refused twice"; idle != slices.Contains(all.Open, "before") {
			t.Errorf("%s: after another try Open = %q, want the one before kept: %t", name, all.Open, idle)
		}
	}
}

// counter answers each StepStarted with the next one, up to a limit.
type counter int

func (c counter) Process(f flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		s, ok := e.(event.StepStarted)
		if !ok || s.Step >= int(c) {
			return
		}
		if _, err := f.Decide(fmt.Sprint("step/", s.Step), &flow.Question{Step: s.Step}); err != nil {
			return
		}
		yield(event.StepStarted{Step: s.Step + 1})
	}
}

type listener struct{ heard *[]int }

func (l listener) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(func(event.Event) bool) {
		if s, ok := e.(event.StepStarted); ok {
			*l.heard = append(*l.heard, s.Step)
		}
	}
}

func TestPipe(t *testing.T) {
	over := errors.New("out of budget")
	for _, test := range []struct {
		stop int // the step at which the flow ends
		want []int
		err  error
	}{
		{-1, []int{0, 1, 2, 3}, nil},
		{2, []int{0, 1}, over},
	} {
		f := flowtest.New(func(_ string, q *flow.Question) (*flow.Verdict, error) {
			if q.Step == test.stop {
				return nil, over
			}
			return flowtest.Decided(q, "1"), nil
		})
		var heard []int
		err := flow.Pipe(f, event.StepStarted{}, counter(3), listener{&heard})
		if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
			t.Errorf("Pipe(stop at %d) = %v, want %v", test.stop, err, test.err)
		}
		if diff := cmp.Diff(test.want, heard); diff != "" {
			t.Errorf("Pipe(stop at %d): another module heard: -want +got\n%s", test.stop, diff)
		}
		if test.stop < 0 {
			if _, ok := f.Events[len(f.Events)-1].(event.TaskFailed); len(f.Events) != 4 || !ok {
				t.Errorf("Pipe() emitted %+v, want those of the modules, not the first, and that nobody ended the task", f.Events)
			}
		}
	}
}

// echoing answers every event with itself.
type echoing struct{}

func (echoing) Process(_ flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) { yield(e) }
}

func TestPipeEnds(t *testing.T) {
	f := &silent{flowtest.New(nil)}
	if err := flow.Pipe(f, event.StepStarted{}, echoing{}); err == nil || !strings.Contains(err.Error(), "answer each other") {
		t.Errorf("Pipe(two that answer each other) = %v, want an error", err)
	}
}

// silent forgets its events: there are many.
type silent struct{ *flowtest.Flow }

func (silent) Emit(string, event.Event) {}

// TestDiscarded: what was discarded on the way is listed if nothing won in the end, whichever
// vote is shown.
func TestDiscarded(t *testing.T) {
	flagged := func(flag string) event.Voting {
		return event.Voting{Samples: 2, RedFlagged: 2, Discarded: []event.Discarded{{Flag: flag, Count: 2}}}
	}
	try := func(status flow.Status, v event.Voting) *flow.Outcome {
		return &flow.Outcome{Verdict: &flow.Verdict{Status: status}, Voting: v}
	}
	won := event.Voting{Samples: 2, Votes: map[string]int{"1": 2}, Margin: 2}
	for name, test := range map[string]struct {
		tries []*flow.Outcome
		want  []event.Discarded
	}{
		"two kinds":         {[]*flow.Outcome{try(flow.FlaggedOut, flagged("a")), try(flow.FlaggedOut, flagged("b"))}, []event.Discarded{{Flag: "b", Count: 2}, {Flag: "a", Count: 2}}},
		"the same kind":     {[]*flow.Outcome{try(flow.FlaggedOut, flagged("a")), try(flow.FlaggedOut, flagged("a"))}, []event.Discarded{{Flag: "a", Count: 4}}},
		"won in the end":    {[]*flow.Outcome{try(flow.FlaggedOut, flagged("a")), try(flow.Decided, won)}, nil},
		"failed in the end": {[]*flow.Outcome{try(flow.FlaggedOut, flagged("a")), try(flow.Failed, event.Voting{})}, []event.Discarded{{Flag: "a", Count: 2}}},
	} {
		var out flow.Outcome
		for _, o := range test.tries {
			out.Add(o)
		}
		if diff := cmp.Diff(test.want, out.Voting.Discarded); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}
