package history

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
)

// votedIn is a verdict in a step.
func votedIn(question string, step int) event.Event {
	v := verdict(question, 1, 0, map[string]int{"a": 1})
	v.Step = step
	return v
}

// sampleIn is a sample in a step.
func sampleIn(question string, step int) event.Event {
	return event.SampleCompleted{Sample: event.Sample{Question: question, Step: step}, Vote: "a"}
}

// edited goes on with another script.
func edited() event.Event { return event.RunResumed{Params: []byte(`{"script":{}}`)} }

// TestNumbers: a step has the number that the log has it under, the latest of them, and a new
// one is one that nobody has.
func TestNumbers(t *testing.T) {
	dir := writtenKeyed(t, scripted(),
		sampleIn("main/ask/1/0", 0), votedIn("main/ask/1/0", 0), completed("main/ask/1/0", 0),
		votedIn("main/map/0/1/f/ask/2/0", 2), completed("main/map/0/1", 2), // item 0, step 1, was not begun
		claim("main/call/3/0", "main/call/3/0", 3),
		sampleIn("main/chain/0/turn/0/f/ask/4/0", 5), turned("main/chain/0", 0, 5),
		sampleIn("main/chain/0/turn/1/f/ask/4/0", 6),
		event.ClarificationRequested{Question: "main/human/5/0", Step: 7},
		edited(), votedIn("main/map/0/1/f/ask/6/0", 8), // more is asked in item 1
	)
	n, err := ReadNumbers(dir)
	if err != nil {
		t.Fatal(err)
	}
	type numbered struct {
		Key    string
		Number int
	}
	want := []numbered{
		{"main/ask/1/0", 0}, {"main/map/0/1", 8}, {"main/call/3/0", 3}, {"main/chain/0/turn/1", 6}, {"main/human/5/0", 7},
		{"main/ask/9/0", 1}, {"main/map/0/0", 4}, {"main/map/0/2", 9}, {"main/chain/0/turn/2", 10},
	}
	var got []numbered
	for _, w := range want {
		got = append(got, numbered{w.Key, n.Of(w.Key)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Of() (-want +got):\n%s", diff)
	}
	for _, test := range []struct{ step, begun, now int }{
		{8, 8, 8}, {3, 3, 3}, // not committed
		{0, 11, 11}, {2, 12, 12}, {0, 11, 11}, {5, 13, 13}, // committed
	} {
		if got := n.Begun(test.step); got != test.begun {
			t.Errorf("Begun(%d) = %d, want %d", test.step, got, test.begun)
		}
		if got := n.Now(test.step); got != test.now {
			t.Errorf("Now(%d) = %d, want %d", test.step, got, test.now)
		}
	}
}

// TestAuditOfEdits: what an edit explains is no difference.
func TestAuditOfEdits(t *testing.T) {
	ended := event.TaskCompleted{Steps: 2}
	for name, test := range map[string]struct {
		events []event.Event
		want   string
	}{
		"a step that was left out": {
			[]event.Event{completed("a", 0), sampleIn("b", 1), edited(), completed("c", 2), ended}, "",
		},
		"one that was not begun before": {
			[]event.Event{completed("a", 0), edited(), sampleIn("b", 1), completed("c", 2), ended}, "the run is completed without step 1",
		},
		"one without an edit": {
			[]event.Event{completed("a", 0), sampleIn("b", 1), event.RunResumed{}, completed("c", 2), ended}, "the run is completed without step 1",
		},
		"one that is far off": {
			[]event.Event{completed("a", 0), sampleIn("b", 1), edited(), completed("c", 1<<40), ended}, "the run is completed without step 2",
		},
		"a step that is made again": {
			[]event.Event{completed("a", 0), edited(), completed("a", 1), ended}, "",
		},
		"one without another number": {
			[]event.Event{completed("a", 0), edited(), completed("a", 0), ended}, "step 0 is committed twice",
		},
		"one that is made again without an edit": {
			[]event.Event{completed("a", 0), event.RunResumed{}, completed("a", 1), ended}, "the key a/completed is that of two events",
		},
		"one that is made again twice": {
			[]event.Event{completed("a", 0), edited(), completed("a", 1), completed("a", 2), ended}, "the key a/completed is that of two events",
		},
		"a vote in a step that is over": {
			[]event.Event{completed("a", 0), edited(), sampleIn("a/q", 0), votedIn("a/q", 0), ended}, "step 0 is voted on under a/q after it was committed",
		},
	} {
		_, a, err := ReadAudit(writtenKeyed(t, append([]event.Event{scripted()}, test.events...)...), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(a.Differences(), "; ")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: the differences are %q, want %q", name, got, test.want)
		}
	}
}

// TestEdit: what was asked of the person and what failed is to be said anew; everything else
// that is recorded stays.
func TestEdit(t *testing.T) {
	h, err := Read(writtenKeyed(t, scripted(),
		votedIn("a", 0), completed("a", 0), keyed{"b/failed", event.StepFailed{Step: 1}},
		event.ClarificationRequested{Question: "c", Step: 2}, event.ClarificationRequested{Question: "d", Step: 3},
		edited(), event.ClarificationRequested{Question: "d", Step: 3},
	), false)
	if err != nil {
		t.Fatal(err)
	}
	if string(h.Params) != `{"script":{}}` || h.Edits != 1 {
		t.Errorf("the parameters are %s after %d edits", h.Params, h.Edits)
	}
	if known, err := h.Emitted("b/failed", event.StepFailed{Step: 1}, nil); known || err != nil {
		t.Errorf("Emitted(a failure before the edit) = %t, %v", known, err)
	}
	if !h.IsCommitted("a/completed") || !h.Outdated("a/completed") {
		t.Error("the step that was committed before is forgotten, or taken for one of the edited script")
	}
	if len(h.Waiting) != 1 || h.Waiting[0].Question != "d" || !h.Stale["c"] || h.Stale["d"] {
		t.Errorf("it waits for %v; questions from before the edit: %v", h.Waiting, h.Stale)
	}
}
