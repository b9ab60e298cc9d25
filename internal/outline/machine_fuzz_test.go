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
func drive(t *testing.T, opts *Options, script []byte) {
	t.Helper()
	tasks := Split(fuzzOutline)
	m, err := New(tasks, opts)
	if err != nil {
		t.Fatal(err)
	}
	twin, err := New(tasks, opts)
	if err != nil {
		t.Fatal(err)
	}
	before := m.clone(t)
	for i := 0; i+1 < len(script); i += 2 {
		e := eventOf(script[i], script[i+1])
		twin = &Machine{twin.clone(t)}
		commands := m.Step(e)
		if again := twin.Step(e); !reflect.DeepEqual(commands, again) {
			t.Fatalf("%v: a restored machine answers differently: -original +restored\n%s", script[:i+2], cmp.Diff(commands, again))
		}
		after := m.clone(t)
		if problem := unsound(before, after, e, commands); problem != "" {
			t.Fatalf("%v: after %+v: %s", script[:i+2], e, problem)
		}
		before = after
	}
	finish(t, m, opts)
}

func eventOf(what, id byte) *ExecutorEvent {
	n := int(id % 9)
	text := fmt.Sprintf("text %d", id)
	switch what % 10 {
	case 0:
		return nil
	case 1:
		return &ExecutorEvent{}
	case 2, 3:
		return &ExecutorEvent{TaskCompleted{ID: n, Result: text, By: "x"}}
	case 4, 5:
		return &ExecutorEvent{TaskFailed{ID: n, Error: text, Final: id >= 128}}
	case 6:
		return &ExecutorEvent{NeedsClarification{ID: n, Question: text + "?"}}
	case 7:
		return &ExecutorEvent{NeedsClarification{ID: n, Attachment: "a.txt"}}
	case 8:
		return &ExecutorEvent{ClarificationProvided{ID: n, Answer: text}}
	default:
		return &ExecutorEvent{ClarificationProvided{ID: n, Answer: strings.Repeat(" ", int(id>>6)) + "c.txt", By: "bob"}}
	}
}

// unsound says which promise a step broke, or "".
func unsound(before, after State, e *ExecutorEvent, commands []Command) string {
	if len(commands) > 1 {
		return fmt.Sprintf("%d commands, want at most one", len(commands))
	}
	refused := false
	if len(commands) == 1 {
		_, refused = commands[0].(Refused)
	}
	if refused {
		if !reflect.DeepEqual(before, after) {
			return "a refused event changed the state:\n" + cmp.Diff(before, after)
		}
		return ""
	}
	if len(after.Tasks) != len(before.Tasks) {
		return "a task was lost or made up"
	}
	active := 0
	for i := range after.Tasks {
		was, is := before.Tasks[i], after.Tasks[i]
		if was.ID != is.ID || !strings.HasPrefix(is.Text, was.Text) {
			return fmt.Sprintf("task %d became %d %q", was.ID, is.ID, is.Text)
		}
		switch is.Status {
		case Running, Waiting:
			active++
		case Planned:
			if was.Status != Planned {
				return fmt.Sprintf("task %d was %s and is planned again", is.ID, was.Status)
			}
		}
		if (was.Status == Complete || was.Status == Failed) && !reflect.DeepEqual(was, is) {
			return fmt.Sprintf("task %d was settled and changed", is.ID)
		}
		if was.Status != is.Status && (is.Status == Complete || is.Status == Failed) && (e == nil || e.Event.Task() != is.ID) {
			return fmt.Sprintf("task %d became %s without an event for it", is.ID, is.Status)
		}
		if i > 0 && is.Status != Planned && !is.Done && after.Tasks[i-1].Status == Planned {
			return fmt.Sprintf("task %d was begun before the one above it", is.ID)
		}
	}
	if active > 1 {
		return "two tasks at a time"
	}
	if (active == 1) != (len(commands) == 1) {
		return fmt.Sprintf("%d tasks are active, but the commands are %v", active, commands)
	}
	return ""
}

// finish answers what the machine asks for until it is done.
func finish(t *testing.T, m *Machine, opts *Options) {
	t.Helper()
	commands := m.Step(nil)
	for n := 0; len(commands) > 0; n++ {
		if n > 100 {
			t.Fatalf("the machine does not come to an end: %v", commands)
		}
		switch c := commands[0].(type) {
		case ExecuteTask:
			commands = m.Step(&ExecutorEvent{TaskCompleted{ID: c.ID, Result: "ok"}})
		case RequestClarification:
			commands = m.Step(&ExecutorEvent{ClarificationProvided{ID: c.ID, Answer: "yes"}})
		case Refused:
			t.Fatalf("the machine refuses what it asked for: %+v", c)
		}
	}
	if !m.done() {
		t.Errorf("nothing to do, but not all is settled")
	}
	s := m.State
	for _, task := range s.Tasks {
		if task.Status != Complete && task.Status != Failed && !s.Stopped {
			t.Errorf("at the end task %d is %s", task.ID, task.Status)
		}
	}
	if s.Stopped && opts.OnFailure != Stop {
		t.Errorf("the run stopped, but the policy is %q", opts.OnFailure)
	}
	if Final(s) == "" {
		t.Errorf("Final() is empty")
	}
}

func TestAnySequenceOfEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		opts := &Options{Retries: n%3 - 1, MaxQuestions: n % 4}
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

func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 0, 2, 1, 2, 2, 8, 3, 2, 3}, true)
	f.Add([]byte{0, 0, 6, 1, 8, 1, 7, 1, 9, 1, 4, 1, 4, 1, 4, 1}, false)
	f.Fuzz(func(t *testing.T, script []byte, stop bool) {
		opts := &Options{Retries: 1, MaxQuestions: 2}
		if stop {
			opts.OnFailure = Stop
		}
		drive(t, opts, script)
	})
}
