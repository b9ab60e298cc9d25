package executor_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
)

// TestLoops: with loops each execution is a step of its own, and there is a cap that
// is exact.
func TestLoops(t *testing.T) {
	text := makePlan(stepSpec{}, stepSpec{conditional: true, inputs: []string{"step_0_output"}}, stepSpec{})
	c := config()
	c.AllowLoops = true
	w := newWorld(t, map[string]string{
		"plan/0/step/0/move/0": "value: 1", "plan/0/step/1/move/0": "next_step: 0\nreason: again",
		"plan/0/step/0/visit/1/move/0": "value: 2", "plan/0/step/1/visit/1/move/0": "next_step: 2\nreason: enough",
		"plan/0/step/2/move/0": "value: end",
	})
	got := tell(w.execute(c, text))
	want := lines("start 0", `done 0 {"value":1}`, "start 1", `done 1 {"next_step":0,"reason":"again"}`,
		"start 2", `done 2 {"value":2}`, "start 3", `done 3 {"next_step":2,"reason":"enough"}`,
		"start 4", `done 4 {"value":"end"}`, `completed 5 steps {"value":"end"}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Process: -want +got\n%s", diff)
	}
	if prompt := w.questions["plan/0/step/1/visit/1/move/0"].Prompt; !strings.Contains(prompt, "value: 2") || strings.Contains(prompt, "value: 1") {
		t.Errorf("the second decision is asked\n%s\nwant the output of the second time around", prompt)
	}

	for _, parallel := range []int{1, 3} {
		c.MaxSteps, c.Parallel = 5, parallel
		w = newWorld(t, map[string]string{"*": "next_step: 0\nreason: again"})
		events := w.execute(c, makePlan(stepSpec{}, stepSpec{}, stepSpec{conditional: true}, stepSpec{}))
		completed := 0
		for _, e := range events {
			if _, ok := e.(event.StepCompleted); ok {
				completed++
			}
		}
		end := tell(events[len(events)-1:])
		if want := "task failed at 5: the plan took 5 steps and is not at its end; raise --max-steps if that is right"; completed != 5 || end != want {
			t.Errorf("Process with 5 steps at most, %d at once = %d steps and %q, want 5 and %q", parallel, completed, end, want)
		}
	}
	c.MaxSteps, c.Parallel = 3, 1
	w = newWorld(t, map[string]string{"plan/0/step/1/move/0": "next_step: 2\nreason: on", "*": "value: 1"})
	if got := tell(w.execute(c, text)); !strings.HasSuffix(got, `completed 3 steps {"value":1}`) {
		t.Errorf("Process of 3 steps with 3 at most =\n%s\nwant it completed", got)
	}
}

// TestMaxStepsIsForLoops: a long plan without loops ends by itself.
func TestMaxStepsIsForLoops(t *testing.T) {
	c := config()
	c.MaxSteps = 2
	w := newWorld(t, map[string]string{"*": "value: 1"})
	if got := tell(w.execute(c, makePlan(make([]stepSpec, 20)...))); !strings.HasSuffix(got, `completed 20 steps {"value":1}`) {
		t.Errorf("Process =\n%s\nwant 20 steps completed", got)
	}
}

// TestReplanned: the next plan's steps go on counting and can use what was done.
func TestReplanned(t *testing.T) {
	c := config()
	c.MaxReplans, c.Retries, c.Parallel = 2, 0, 2
	x := executor.New(c)
	process := func(w *world, replan int, text string) string {
		var events []event.Event
		for e := range x.Process(w, event.ValidationPassed{Plan: event.TextValue(text), Replan: replan}) {
			events = append(events, flow.Bare(e))
		}
		return tell(events)
	}
	w := newWorld(t, map[string]string{"plan/0/batch/step/0/0/step/0/move/0": "value: a", "plan/0/batch/step/0/1/step/1/move/0": "failed: one"})
	got := process(w, 0, makePlan(stepSpec{}, stepSpec{}, stepSpec{}))
	want := lines("start 0", "start 1", `done 0 {"value":"a"}`, "failed 1 failed: one",
		`replan 1 after 1: step 1 (s1): one; [{"name":"done_0_output","output":{"value":"a"}}]`)
	if got != want {
		t.Errorf("first plan =\n%s\nwant\n%s", got, want)
	}
	w.answers = map[string]string{
		"plan/1/step/0/move/0": "value: b", "plan/1/batch/step/1/0/step/1/move/0": "failed: two", "plan/1/batch/step/1/1/step/2/move/0": "value: c",
	}
	got = process(w, 1, makePlan(stepSpec{inputs: []string{"done_0_output"}}, stepSpec{inputs: []string{"step_0_output"}}, stepSpec{inputs: []string{"step_0_output"}}))
	// Batches begin where a step needs what is not there yet.
	want = lines("start 2", `done 2 {"value":"b"}`, "start 3", "start 4", `done 4 {"value":"c"}`, "failed 3 failed: two",
		`replan 2 after 3: step 3 (s1): two; [{"name":"done_0_output","output":{"value":"a"}},{"name":"done_1_output","output":{"value":"b"}},{"name":"done_2_output","output":{"value":"c"}}]`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("second plan: -want +got\n%s", diff)
	}
	if prompt := w.questions["plan/1/step/0/move/0"].Prompt; !strings.Contains(prompt, "<input name=\"done_0_output\">\nvalue: a\n</input>") {
		t.Errorf("the step of the second plan is asked\n%s\nwant the output from before as its input", prompt)
	}
	w.answers = map[string]string{"plan/2/step/0/move/0": "failed: three"}
	got = process(w, 2, makePlan(stepSpec{}))
	want = lines("start 5", "failed 5 failed: three", "task failed at 5: step 5 (s0): three")
	if got != want {
		t.Errorf("third plan =\n%s\nwant\n%s", got, want)
	}
}
