package outline

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fuzzOutline = "- Add login\n- Run `make`\n- Which port?\n- [x] Old\n- Read a.txt\n- Write b.txt. TBD\n"

// drive feeds a machine events that are made of bytes, and holds it to its
// promises after each. A second machine goes through JSON before every event and
// has to do the same.
func drive(t *testing.T, opts *PlannerConfig, script []byte) {
	t.Helper()
	tasks := plan(t, fuzzOutline)
	m, err := NewPlanner(tasks, opts)
	if err != nil {
		t.Fatal(err)
	}
	twin, err := NewPlanner(tasks, opts)
	if err != nil {
		t.Fatal(err)
	}
	before := m.clone(t)
	for i := 0; i+1 < len(script); i += 2 {
		e := eventOf(script[i], script[i+1])
		twin = &Planner{State: twin.clone(t), config: twin.config}
		command, err := m.Step(e)
		if again, err2 := twin.Step(e); !reflect.DeepEqual(command, again) || !reflect.DeepEqual(err, err2) {
			t.Fatalf("%v: a planner of the same state answers differently: -original +other\n%s", script[:i+2], cmp.Diff(command, again))
		}
		after := m.clone(t)
		if problem := unsound(before, after, e, command, err); problem != "" {
			t.Fatalf("%v: after %+v: %s", script[:i+2], e, problem)
		}
		before = after
	}
	finish(t, m, opts)
}

func eventOf(what, id byte) ExecutorEvent {
	n := int(id % 9)
	text := fmt.Sprintf("text %d", id)
	switch what % 10 {
	case 0:
		return nil
	case 1:
		return (*TaskFailed)(nil)
	case 2, 3:
		return TaskCompleted{NodeID: n, Result: text, By: "x"}
	case 4, 5:
		return TaskFailed{NodeID: n, Error: text, Final: id >= 128}
	case 6:
		return NeedsClarification{NodeID: n, Question: text + "?"}
	case 7:
		return NeedsClarification{NodeID: n, Attachment: "a.txt"}
	case 8:
		return ClarificationProvided{NodeID: n, Answer: text}
	default:
		return ClarificationProvided{NodeID: n, Answer: strings.Repeat(" ", int(id>>6)) + "c.txt", By: "bob"}
	}
}

// unsound says which promise a step broke, or "".
func unsound(before, after PlannerState, e ExecutorEvent, command PlannerCmd, err error) string {
	if err != nil {
		if command != nil || !reflect.DeepEqual(before, after) {
			return fmt.Sprintf("a refused event led to %v and changed the state:\n%s", command, cmp.Diff(before, after))
		}
		return ""
	}
	if len(after.Tasks) != len(before.Tasks) {
		return "a task was lost or made up"
	}
	active := 0
	for i := range after.Tasks {
		was, is := before.Tasks[i], after.Tasks[i]
		if was.ID != is.ID || !strings.HasPrefix(is.Description, was.Description) {
			return fmt.Sprintf("task %d became %d %q", was.ID, is.ID, is.Description)
		}
		switch is.Status {
		case StatusRunning, StatusNeedsClarification:
			active++
		case StatusPlanned:
			if was.Status != StatusPlanned {
				return fmt.Sprintf("task %d was %s and is planned again", is.ID, was.Status)
			}
		}
		if was.settled() && !reflect.DeepEqual(was, is) {
			return fmt.Sprintf("task %d was settled and changed", is.ID)
		}
		if was.Status != is.Status && is.settled() && (e == nil || e.event() != is.ID) {
			return fmt.Sprintf("task %d became %s without an event for it", is.ID, is.Status)
		}
		if i > 0 && is.Status != StatusPlanned && !is.Done && after.Tasks[i-1].Status == StatusPlanned {
			return fmt.Sprintf("task %d was begun before the one above it", is.ID)
		}
	}
	if active > 1 {
		return "two tasks at a time"
	}
	if (active == 1) != (command != nil) {
		return fmt.Sprintf("%d tasks are active, but the command is %v", active, command)
	}
	return ""
}

// finish answers what the machine asks for until it is done.
func finish(t *testing.T, m *Planner, opts *PlannerConfig) {
	t.Helper()
	command := step(t, m, nil)
	for n := 0; command != nil; n++ {
		if n > 100 {
			t.Fatalf("the planner does not come to an end: %v", command)
		}
		switch c := command.(type) {
		case ExecuteTask:
			command = step(t, m, TaskCompleted{NodeID: c.NodeID, Result: "ok"})
		case RequestClarification:
			command = step(t, m, ClarificationProvided{NodeID: c.NodeID, Answer: "yes"})
		}
	}
	if !m.done() {
		t.Errorf("nothing to do, but not all is settled")
	}
	s := m.State
	for _, task := range s.Tasks {
		if !task.settled() && !s.Stopped {
			t.Errorf("at the end task %d is %s", task.ID, task.Status)
		}
	}
	if s.Stopped && opts.OnFailure != Stop {
		t.Errorf("the run stopped, but the policy is %q", opts.OnFailure)
	}
	if s.Report() == "" {
		t.Errorf("Report() is empty")
	}
}

func TestAnySequenceOfEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		opts := &PlannerConfig{Retries: n%3 - 1, MaxQuestions: n % 4}
		if n%2 == 1 {
			opts.OnFailure = Stop
		}
		script := make([]byte, 2*rng.IntN(40))
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		drive(t, opts, script)
	}
}

func FuzzPlanner(f *testing.F) {
	f.Add([]byte{0, 0, 2, 1, 2, 2, 8, 3, 2, 3}, true)
	f.Add([]byte{0, 0, 6, 1, 8, 1, 7, 1, 9, 1, 4, 1, 4, 1, 4, 1}, false)
	f.Fuzz(func(t *testing.T, script []byte, stop bool) {
		opts := &PlannerConfig{Retries: 1, MaxQuestions: 2}
		if stop {
			opts.OnFailure = Stop
		}
		drive(t, opts, script)
	})
}
