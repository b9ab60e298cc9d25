package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sketch makes a plan of lines such as "action 2 0,1": type, next step and the
// steps whose outputs are inputs.
func sketch(t testing.TB, text string) *Plan {
	t.Helper()
	p := &Plan{Reasoning: "r"}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var kind, inputs string
		s := Step{Number: i, Title: "t", TaskDescription: "d", OutputVariable: output(i), OutputSchema: "s"}
		if n, _ := fmt.Sscan(line, &kind, &s.NextStep, &inputs); n < 2 {
			t.Fatalf("the line %q is no step", line)
		}
		s.TaskType = map[string]TaskType{"action": ActionStep, "write": ActionStep, "choose": ConditionalStep}[kind]
		if kind == "write" {
			s.PrimaryTools = []string{"Write"}
		}
		for input := range strings.SplitSeq(inputs, ",") {
			if input != "" {
				s.InputVariables = append(s.InputVariables, "step_"+input+"_output.field")
			}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func TestBatch(t *testing.T) {
	const diamond = `
		action 1
		action 2
		action 3
		action 4 0,1
		action 5
		action -1 3`
	const branches = `
		action 1
		action 2
		choose -2 0
		action 5 2
		action 5
		action 6 3,4
		action -1`
	writes := func(s *Step) bool { return slices.Contains(s.PrimaryTools, "Write") }
	tests := []struct {
		name  string
		plan  string
		from  int
		limit int
		want  []int
	}{
		{"one at a time", diamond, 0, 1, []int{0}},
		{"no limit given", diamond, 0, 0, []int{0}},
		{"up to the limit", diamond, 0, 2, []int{0, 1}},
		{"up to one that needs the batch", diamond, 0, 10, []int{0, 1, 2}},
		{"inputs are there", diamond, 3, 10, []int{3, 4}},
		{"to the end", diamond, 4, 10, []int{4, 5}},
		{"the last", diamond, 5, 10, []int{5}},
		{"no such step", diamond, 6, 10, nil},
		{"the end is no step", diamond, End, 10, nil},
		{"a decision that needs the batch waits", branches, 0, 10, []int{0, 1}},
		{"a decision is the last", branches, 1, 10, []int{1, 2}},
		{"a decision alone", branches, 2, 10, []int{2}},
		{"follows the route", branches, 3, 10, []int{3}},
		{"what was not produced does not hold up", branches, 5, 10, []int{5, 6}},
		{"a chain", "action 1\naction 2 0\naction -1 1", 0, 10, []int{0}},
		{"a step that shares nothing goes first alone", "write 1\naction 2\naction -1", 0, 10, []int{0}},
		{"and waits for others", "action 1\naction 2\nwrite 3\naction -1", 0, 10, []int{0, 1}},
		{"a loop", "action 1\naction 0", 0, 10, []int{0, 1}},
		{"a step that leads nowhere", "action 9\naction -1", 0, 10, []int{0}},
	}
	for _, test := range tests {
		got := sketch(t, test.plan).Batch(test.from, BatchOptions{Limit: test.limit, Alone: writes})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: Batch(%d, limit %d): -want +got\n%s", test.name, test.from, test.limit, diff)
		}
	}
}

// randomPlan is a plan that only goes forward, with sound numbers.
func randomPlan(rng *rand.Rand) *Plan {
	p := &Plan{Reasoning: "r"}
	n := 1 + rng.IntN(12)
	for i := range n {
		s := Step{Number: i, TaskType: ActionStep, Title: "t", TaskDescription: "d", OutputVariable: output(i), OutputSchema: "s", NextStep: End}
		switch later := n - 1 - i; {
		case later == 0:
		case rng.IntN(5) == 0:
			s.TaskType, s.NextStep = ConditionalStep, Decided
		case rng.IntN(8) > 0:
			s.NextStep = i + 1
			if rng.IntN(4) == 0 {
				s.NextStep += rng.IntN(later)
			}
		}
		for range rng.IntN(3) {
			s.InputVariables = append(s.InputVariables, output(rng.IntN(n)))
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// Steps that run in batches run in the same order as one after the other, and
// each sees the same of its inputs.
func TestBatchIsLikeInTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	batched := 0
	for range 1000 {
		p := randomPlan(rng)
		choice := rng.Uint64()
		run := func(limit int) []string {
			var trace []string
			done := map[string]bool{}
			for at := 0; at >= 0; {
				batch := p.Batch(at, BatchOptions{Limit: limit})
				if len(batch) > 1 {
					batched++
				}
				for _, number := range batch {
					seen := slices.DeleteFunc(p.Step(number).Outputs(), func(v string) bool { return !done[v] })
					trace = append(trace, fmt.Sprint(number, seen))
				}
				for _, number := range batch {
					done[p.Step(number).OutputVariable] = true
				}
				last := p.Step(batch[len(batch)-1])
				if at = last.NextStep; last.TaskType == ConditionalStep {
					at = last.Number + 1 + int(choice%uint64(len(p.Steps)-1-last.Number))
				}
			}
			return trace
		}
		want := run(1)
		for _, limit := range []int{2, 3, 100} {
			if diff := cmp.Diff(want, run(limit)); diff != "" {
				t.Fatalf("batches of %d in %s: -want (in turn) +got\n%s", limit, Canonical(p), diff)
			}
		}
	}
	if batched < 500 {
		t.Errorf("%d batches had more than one step, want some to look at", batched)
	}
}

// The checks of routes agree with following every route there is.
func TestRoutesByForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	orphans, lost := 0, 0
	for range 1000 {
		p := randomPlan(rng)
		n := len(p.Steps)
		reach := make([][]bool, n) // from, to
		for i := n - 1; i >= 0; i-- {
			reach[i] = make([]bool, n)
			reach[i][i] = true
			for j := i + 1; j < n; j++ {
				if s := p.Steps[i]; s.NextStep == j || s.TaskType == ConditionalStep {
					for k := range n {
						reach[i][k] = reach[i][k] || reach[j][k]
					}
				}
			}
		}
		explained := make([]bool, n)
		copy(explained, reach[0])
		var inputs []string
		for i, s := range p.Steps {
			for _, v := range s.Outputs() {
				producer := slices.IndexFunc(p.Steps, func(s Step) bool { return s.OutputVariable == v })
				if producer >= i || !reach[producer][i] {
					inputs = append(inputs, fmt.Sprint(i, v))
					lost++
				}
			}
		}
		var gotInputs []string
		for _, f := range Check(p, Options{}) {
			switch f.Check {
			case CheckNoOrphanSteps:
				orphans++
				if explained[f.Step] {
					t.Fatalf("Check(%s) = %v, but step %d is reached, or through an orphan", Canonical(p), f, f.Step)
				}
				for j := range n {
					explained[j] = explained[j] || reach[f.Step][j]
				}
			case CheckInputsAvailable:
				_, rest, _ := strings.Cut(f.Message, `"`)
				variable, _, _ := strings.Cut(rest, `"`)
				gotInputs = append(gotInputs, fmt.Sprint(f.Step, variable))
			default:
				t.Fatalf("Check(%s) = %v, want nothing but routes and inputs", Canonical(p), f)
			}
		}
		if slices.Contains(explained, false) {
			t.Fatalf("Check(%s) = %v, but some steps are never reached: %v", Canonical(p), Check(p, Options{}), explained)
		}
		if diff := cmp.Diff(inputs, gotInputs); diff != "" {
			t.Fatalf("Check(%s): inputs: -want +got\n%s", Canonical(p), diff)
		}
	}
	if orphans < 100 || lost < 100 {
		t.Errorf("%d orphans and %d lost inputs, want some of both", orphans, lost)
	}
}
