package history

import (
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/certificate"
)

// TestTruthOnTheWay: what known answers say is there as soon as one was answered, and is no
// matter of how the run ended.
func TestTruthOnTheWay(t *testing.T) {
	yes, no := true, false
	said := func(known string) event.Value {
		return event.JSONValue([]byte(`{"records":4,"decided":4` + known + `}`))
	}
	record := func(n int, right *bool) event.Event {
		// An answer that looks like what a run says at its end.
		return event.StepCompleted{Step: n, Output: event.JSONValue([]byte(`{"records":9,"known":9,"right":9}`)), Right: right, Voting: event.Voting{Samples: 3, Votes: map[string]int{"a": 3}}}
	}
	begun := []event.Event{
		event.TaskSubmitted{Format: event.Format, Form: event.FormRecords, Steps: 4}, record(0, &yes), record(2, nil), record(1, &no), record(3, &yes),
	}
	stopped := event.TaskFailed{Status: event.StatusStopped, Stop: event.StopPaused}
	for name, test := range map[string]struct {
		events []event.Event
		want   certificate.Truth
	}{
		"running":        {begun, certificate.Gold(1, 3)},
		"stopped":        {append(begun[:len(begun):len(begun)], stopped), certificate.Gold(1, 3)},
		"resumed":        {append(begun[:4:4], stopped, event.RunResumed{}, begun[4]), certificate.Gold(1, 3)},
		"completed":      {append(begun[:len(begun):len(begun)], event.TaskCompleted{Steps: 4, Output: said(`,"known":3,"right":2`)}), certificate.Gold(1, 3)},
		"nothing known":  {append(begun[:1:1], record(0, nil), record(1, nil)), certificate.Truth{Basis: certificate.BasisNone}},
		"none known yet": {begun[:1], certificate.Truth{Basis: certificate.BasisNone}},
	} {
		dir := written(t, test.events...)
		r, err := ReadReport(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Truth(""); got != test.want {
			t.Errorf("%s: Truth() = %+v, want %+v", name, got, test.want)
		}
		if r, _, err = ReadEvidence(dir); err != nil {
			t.Fatal(err)
		}
		if got := r.Truth(""); got != test.want {
			t.Errorf("%s: Truth() of the evidence = %+v, want %+v", name, got, test.want)
		}
	}
}

func TestRecords(t *testing.T) {
	yes, no := true, false
	var r Records
	for n, right := range map[int]*bool{0: nil, 3: &yes, 70: &no} {
		if !r.completed(n, right) {
			t.Errorf("completed(%d) = false, want true: it is new", n)
		}
	}
	if r.completed(3, nil) {
		t.Error("completed(3) a second time = true, want false")
	}
	r.gaveUp(1, "undecided")
	r.gaveUp(2, "flagged_out")
	for n, want := range map[int]flow.Status{0: flow.Decided, 1: flow.Undecided, 2: flow.Failed, 3: flow.Decided, 4: "", 70: flow.Decided, 1000: ""} {
		if got, _ := r.Ended(n); got != want {
			t.Errorf("Ended(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]*bool{0: nil, 3: &yes, 70: &no} {
		if _, got := r.Ended(n); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("Ended(%d) is right: %v, want %v", n, got, want)
		}
	}
	if known, right := r.Known(); known != 2 || right != 1 {
		t.Errorf("Known() = %d, %d right, want 2, 1 right", known, right)
	}
	r.Retry([]string{"undecided"})
	if got, _ := r.Ended(1); got != "" {
		t.Errorf("Ended(1) = %q after a retry, want nothing", got)
	}
	r.Retry([]string{"failed"})
	if got, _ := r.Ended(2); got != "" {
		t.Errorf("Ended(2) = %q after a retry, want nothing", got)
	}
	r.gaveUp(2, "failed")
	r.completed(2, nil)
	if got, _ := r.Ended(2); got != flow.Decided {
		t.Errorf("Ended(2) = %q after it was asked again, want decided", got)
	}
}

// TestStepOf: a step is read from its line as its event has it.
func TestStepOf(t *testing.T) {
	yes, no := true, false
	for _, right := range []*bool{nil, &yes, &no} {
		for _, output := range []string{`,"step":9,"right":true`, "plain", `{"right":true}`} {
			e := event.StepCompleted{Step: 4711, Title: `,"step":8`, Output: event.TextValue(output), Right: right}
			line := e.AppendLine(nil, event.Header{Run: "map-1"})
			line = append(line[:len(line)-1], `,"crc":"01234567"}`...)
			n, got, ok := stepOf(line)
			if !ok || n != 4711 || (got == nil) != (right == nil) || got != nil && *got != *right {
				t.Errorf("stepOf(%s) = %d, %v, %t, want 4711 and %v", line, n, got, ok, right)
			}
		}
	}
	if _, _, ok := stepOf([]byte(`{"type":"step_completed"}`)); ok {
		t.Error("stepOf(a line without a step) = true")
	}
}
