package chain

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/test/flowtest"
)

type checked struct{}

func (checked) Steps() int { return 2 }
func (checked) Question(int, json.RawMessage) (*flow.Question, error) {
	return &flow.Question{Prompt: "?"}, nil
}
func (checked) Check(step int, out json.RawMessage) error {
	if string(out) == `"bad"` {
		return errors.New("step is known to be wrong")
	}
	return nil
}
func (checked) Finish(json.RawMessage) error { return nil }

// A kill between step_completed and task_failed(wrong).
func TestResumeAfterAWrongStepFails(t *testing.T) {
	f := flowtest.New(func(_ string, q *flow.Question) (*flow.Verdict, error) { return flowtest.Decided(q, `"good"`), nil })
	if err := Run(f, checked{}, Config{}, Checkpoint{Step: 1, Output: json.RawMessage(`"bad"`)}); err != nil {
		t.Fatal(err)
	}
	if _, ok := f.Events[len(f.Events)-1].(event.TaskCompleted); ok {
		t.Errorf("a run whose step 0 is known to be wrong completed: %+v", f.Events)
	}
}
