package runs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/records"
	"github.com/maker-mdap/maker/internal/text/table"
)

// TestAsked: a step says what it is about, whatever the form of its run is.
func TestAsked(t *testing.T) {
	for name, test := range map[string]struct {
		kind   string
		form   event.Form
		events []event.Event
		want   string // of step 1
	}{
		"a question":   {"ask", event.FormChain, nil, "a test"},
		"a plan":       {"exec", event.FormPlan, []event.Event{event.ValidationPassed{Plan: event.TextValue(threeSteps)}}, "B."},
		"tasks":        {"do", event.FormTasks, []event.Event{event.OutlineCreated{Tasks: event.JSONValue(json.RawMessage(`[{"id":1,"text":"first"},{"id":2,"text":"second"}]`))}}, "second"},
		"a problem":    {"solve", event.FormTree, []event.Event{event.DecompositionSelected{Step: 0, Problem: event.TextValue("all")}, event.SubproblemSolved{Step: 1, Problem: event.TextValue("a part")}}, "a part"},
		"another kind": {"hanoi-of-mine", event.FormChain, nil, ""},
	} {
		task := submitted(test.kind)
		task.Form, task.Task = test.form, "a test"
		run := written(t, append(append([]event.Event{task}, test.events...), voted(0, 3, 0, 0), voted(1, 3, 0, 0))...)
		d, err := run.Detail(1)
		if err != nil || d.Asked != test.want {
			t.Errorf("%s: Detail(1) says %q, %v, want %q", name, d.Asked, err, test.want)
		}
	}
}

// TestAskedOfARecord: a record says what was asked about it, with what was answered before and
// without what is known.
func TestAskedOfARecord(t *testing.T) {
	task := submitted("map")
	task.Form = event.FormRecords
	task.Params = json.RawMessage(`{"questions":[{"name":"queue","prompt":"Which queue? {{.subject}}","gold":"known"},{"name":"why","prompt":"Why {{.queue}}?"},{"name":"hint","prompt":"{{.known}}"}]}`)
	done := voted(1, 3, 0, 0)
	done.Output = event.JSONValue(json.RawMessage(`{"queue":"billing","why":"paid twice"}`))
	run := written(t, task, voted(0, 3, 0, 0), done)
	if d, err := run.Detail(1); err != nil || d.Asked != "" {
		t.Errorf("Detail() of a record that is lost says %q, %v, want nothing", d.Asked, err)
	}
	file, err := os.Create(filepath.Join(run.Dir(), records.File))
	if err != nil {
		t.Fatal(err)
	}
	w := records.NewWriter(file, false)
	for i, subject := range []string{"App closes", "Charged twice"} {
		if err := w.Add(table.Record{Line: i + 2, Values: map[string]any{"subject": subject, "known": "bug"}}, nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err := run.Detail(1); err != nil || d.Asked != "Which queue? Charged twice\n\nWhy billing?" {
		t.Errorf("Detail(1) says %q, %v", d.Asked, err)
	}
}
