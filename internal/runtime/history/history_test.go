package history

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/usage"
)

func written(t *testing.T, events ...event.Event) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	log.Close()
	return dir
}

func read(t *testing.T, dir string) (*History, error) {
	t.Helper()
	p := New(dir)
	log, _, err := runlog.Open(dir, nil, p.Visit)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return p, p.Finish()
}

func TestClaimsOfAllSessionsCount(t *testing.T) {
	dir := written(t,
		event.TaskSubmitted{Format: event.Format},
		event.BudgetClaimed{Calls: 16, USD: 0.5}, // killed: up to $0.5 may be billed
		event.RunResumed{},                       // now with --max-calls instead of --max-usd
		event.BudgetClaimed{Calls: 32},           // killed again
	)
	p, err := read(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Spent.HeldUSD != 0.5 {
		t.Errorf("held $%v, want 0.5", p.Spent.HeldUSD)
	}
}

func TestALostSampleDoesNotBlockResume(t *testing.T) {
	dir := written(t,
		event.TaskSubmitted{Format: event.Format},
		event.SampleRedFlagged{Sample: event.Sample{Question: "step/0"}, Text: event.TextValue(strings.Repeat("x", 20000))},
		event.StepCompleted{Step: 0, Output: event.TextValue("ok")},
	)
	os.RemoveAll(filepath.Join(dir, runlog.BlobsDir))
	if _, err := read(t, dir); err != nil {
		t.Errorf("nothing that a resume needs is lost, but: %v", err)
	}
}

func TestADecidedVoteIsPaidFor(t *testing.T) {
	cost := 0.3
	dir := written(t,
		event.TaskSubmitted{Format: event.Format},
		event.StepCompleted{Step: 0, Spent: usage.Spent{Calls: 3, USD: 0.1}},
		event.VoteCompleted{Question: "step/1", Step: 1, Status: string(flow.Decided), CostUSD: &cost, Spent: usage.Spent{Calls: 6, USD: 0.4}},
	)
	p, err := read(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Spent.USD < 0.4 {
		t.Errorf("spent $%v, but step 0 and the vote that step 1 is committed with cost $0.4", p.Spent.USD)
	}
}

// TestReopen: a failure forgets what the orchestrator names, with all that is below
// it, and nothing else; effects and answers of the person are never forgotten.
func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	undecided := func(question string) event.Event {
		return event.VoteCompleted{Question: question, Status: string(flow.FlaggedOut)}
	}
	for _, e := range []struct {
		key string
		event.Event
	}{
		{"", event.TaskSubmitted{Format: event.Format, Form: event.FormPlan}},
		{"", undecided("step/1/try/0")},
		{"", event.Observed{Look: "step/1/look", Result: event.TextValue("seen")}},
		{"", event.EffectClaimed{Effect: "step/1/try/1/effect/0", Step: 1, Tool: "Pay", Input: event.JSONValue([]byte(`{}`))}},
		{"", event.EffectDone{Effect: "step/1/try/1/effect/0", Step: 1, Tool: "Pay"}},
		{"", event.ClarificationRequested{Question: "step/1/try/1/question"}},
		{"", event.ClarificationProvided{Question: "step/1/try/1/question", Answer: "yes"}},
		{"", undecided("step/1/try/1")},
		{"", event.VoteCompleted{Question: "step/1/try/1/below", Status: string(flow.Decided)}},
		{"", undecided("step/1/try/10")},
		{"step/1/failed", event.StepFailed{Step: 1}},
		{"step/2/failed", event.StepFailed{Step: 2}},
		{"end", event.TaskFailed{Status: event.StatusFailed, Reopen: []string{"step/1/try/1", "step/1/look", "step/1/failed"}}},
	} {
		if err := log.AppendKeyed(e.key, e.Event); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := read(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	for question, kept := range map[string]bool{"step/1/try/0": true, "step/1/try/1": false, "step/1/try/1/below": false, "step/1/try/10": true} {
		if _, ok := h.Verdicts[question]; ok != kept {
			t.Errorf("the verdict on %s is kept: %t, want %t", question, ok, kept)
		}
	}
	if _, ok := h.Looks["step/1/look"]; ok {
		t.Error("a look that was reopened is kept")
	}
	if h.Effects["step/1/try/1/effect/0"].Result == nil || h.Answers["step/1/try/1/question"] == nil {
		t.Error("a failure made the run forget an effect or an answer")
	}
	for key, want := range map[string]bool{"step/1/failed": false, "step/2/failed": true, "end": false} {
		if got, err := h.Emitted(key, event.StepFailed{}, nil); got != want || err != nil {
			t.Errorf("Emitted(%s) = %t, %v, want %t", key, got, err, want)
		}
	}
	if _, err := h.Emitted("step/2/failed", event.StepCompleted{}, nil); err == nil {
		t.Error("Emitted(a step that failed, now completed) = nil, want that the run goes another way")
	}
}

// TestReopenRefusals: a call that a person refused did not happen. If the step failed
// over it, the person is asked again; what a rule refused, and what was claimed or
// done, is never forgotten.
func TestReopenRefusals(t *testing.T) {
	input := event.JSONValue([]byte(`{}`))
	refused := func(key, by string) event.Event {
		return event.EffectRefused{Effect: key, Tool: "Pay", Input: input, Reason: "no", By: by}
	}
	claimed := func(key string) event.Event { return event.EffectClaimed{Effect: key, Tool: "Pay", Input: input} }
	dir := written(t,
		event.TaskSubmitted{Format: event.Format, Form: event.FormPlan},
		event.ClarificationRequested{Question: "s/effect/0/approve"}, event.ClarificationProvided{Question: "s/effect/0/approve", Answer: "no"},
		refused("s/effect/0", "person (terminal)"),
		refused("s/effect/1", "rule: deny Pay"),
		claimed("s/effect/2"), event.EffectDone{Effect: "s/effect/2", Tool: "Pay"},
		claimed("s/effect/3"),
		event.ClarificationProvided{Question: "s/effect/4/approve", Answer: "no"}, refused("s/effect/4", "person (terminal)"),
		refused("s/effect/05", "person (terminal)"),
		event.TaskFailed{Status: event.StatusFailed, Reopen: []string{"s/effect/0", "s/effect/1", "s/effect/2", "s/effect/3", "s/failed"}},
	)
	h, err := read(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	for key, kept := range map[string]bool{"s/effect/0": false, "s/effect/1": true, "s/effect/2": true, "s/effect/3": true, "s/effect/4": true, "s/effect/05": true} {
		if got := h.Effects[key].Intent.Tool != ""; got != kept {
			t.Errorf("the effect %s is known: %t, want %t", key, got, kept)
		}
	}
	for key, kept := range map[string]bool{"s/effect/0/approve": false, "s/effect/4/approve": true} {
		if _, got := h.Answers[key]; got != kept {
			t.Errorf("the answer to %s is known: %t, want %t", key, got, kept)
		}
	}
	if !slices.Equal(h.Reopened, []string{"s/effect/0"}) {
		t.Errorf("Reopened = %q, want the call that a person refused", h.Reopened)
	}
	if !h.Answered["s/effect/0/approve"] || !h.Answered["s/effect/4/approve"] || len(h.Answered) != 2 {
		t.Errorf("Answered = %v, want both answers", h.Answered)
	}
	again := written(t,
		event.TaskSubmitted{Format: event.Format, Form: event.FormPlan},
		event.ClarificationProvided{Question: "s/effect/0/approve", Answer: "no"}, refused("s/effect/0", "person (terminal)"),
		event.TaskFailed{Status: event.StatusFailed, Reopen: []string{"s/effect/0"}},
		event.RunResumed{}, event.ClarificationRequested{Question: "s/effect/0/approve"},
	)
	if h, err = read(t, again); err != nil || len(h.Answered) != 0 {
		t.Errorf("Answered = %v, %v, want none: it was asked again", h.Answered, err)
	}
}

// TestEventsOfALaterVersion: what this version does not know is passed over, and says
// nothing about the keys of the others.
func TestEventsOfALaterVersion(t *testing.T) {
	h, err := read(t, written(t, event.TaskSubmitted{Format: event.Format, Form: event.FormPlan},
		later{}))
	if err != nil || h.Unkeyed {
		t.Errorf("a log with an unknown event = %v, without keys: %t, want that it can be resumed", err, h.Unkeyed)
	}
}

// TestEmittedOutput: a step that is committed again with another output is not the
// same step.
func TestEmittedOutput(t *testing.T) {
	h := New("")
	h.emit("s", event.StepCompleted{Step: 1, Output: event.TextValue("a [redacted]"), DurationMS: 3})
	redact := func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "key", "[redacted]")) }
	h.emit("plain", event.StepCompleted{Step: 1, Output: event.TextValue("a key")}) // when it was none of ours
	if known, err := h.Emitted("plain", event.StepCompleted{Step: 1, Output: event.TextValue("a key")}, redact); !known || err != nil {
		t.Errorf("Emitted(what holds a key that is new) = %t, %v, want it known", known, err)
	}
	for output, same := range map[string]bool{"a [redacted]": true, "a key": true, "b": false} {
		known, err := h.Emitted("s", event.StepCompleted{Step: 1, Output: event.TextValue(output), DurationMS: 9}, redact)
		if !known || (err == nil) != same {
			t.Errorf("Emitted(%s) = %t, %v, want it known and the same: %t", output, known, err, same)
		}
	}
}

// TestOpenVotes: the samples of a vote that was under way are kept, over as many
// sessions as it takes, and those of early releases, which began anew, are not mixed
// with later ones.
func TestOpenVotes(t *testing.T) {
	vote := func(question string, n int) event.Event {
		return event.SampleCompleted{Sample: event.Sample{Question: question, Sample: n, Tokens: usage.Tokens{Input: 5}}, Vote: "v", Text: event.TextValue("v")}
	}
	flag := func(question string, n int) event.Event {
		return event.SampleRedFlagged{Sample: event.Sample{Question: question, Sample: n}, Flag: "f"}
	}
	for name, test := range map[string]struct {
		events []event.Event
		want   []int
	}{
		"under way":             {[]event.Event{vote("q", 1), flag("q", 0)}, []int{1, 0}},
		"of other questions":    {[]event.Event{vote("q", 0), vote("p", 1)}, []int{0}},
		"decided":               {[]event.Event{vote("q", 0), event.VoteCompleted{Question: "q"}}, nil},
		"not gone on with":      {[]event.Event{vote("q", 0), event.RunResumed{}}, []int{0}},
		"gone on with":          {[]event.Event{vote("q", 0), vote("q", 2), event.RunResumed{}, event.VoteResumed{Question: "q", Samples: []int{2}}, vote("q", 0)}, []int{2, 0}},
		"none of them counted":  {[]event.Event{vote("q", 0), event.RunResumed{}, event.VoteResumed{Question: "q"}, vote("q", 3)}, []int{3}},
		"begun anew":            {[]event.Event{vote("q", 0), vote("q", 1), event.RunResumed{}, vote("q", 0)}, []int{0}},
		"three sessions":        {[]event.Event{vote("q", 0), event.RunResumed{}, event.VoteResumed{Question: "q", Samples: []int{0}}, vote("q", 1), event.RunResumed{}}, []int{0, 1}},
		"reopened":              {[]event.Event{vote("q", 0), event.TaskFailed{Reopen: []string{"q"}}}, nil},
		"a step is in between":  {[]event.Event{vote("q", 0), event.StepCompleted{Step: 7}}, []int{0}},
		"gone on with, unknown": {[]event.Event{event.VoteResumed{Question: "q", Samples: []int{4}}}, nil},
	} {
		h, err := read(t, written(t, append([]event.Event{event.TaskSubmitted{Format: event.Format, Form: event.FormPlan}}, test.events...)...))
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		if v := h.Votes["q"]; v != nil {
			for _, s := range v.Samples {
				got = append(got, numberOf(s))
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: the samples %v count, want %v", name, got, test.want)
		}
	}
}

// TestSamplesAreSpent: what a session spent after its last word about it is in its
// samples.
func TestSamplesAreSpent(t *testing.T) {
	cost := 0.25
	sample := event.SampleCompleted{Sample: event.Sample{Question: "q", Tokens: usage.Tokens{Input: 5, Output: 2}, CostUSD: &cost, ToolCalls: 1}}
	dir := written(t,
		event.TaskSubmitted{Format: event.Format, Form: event.FormPlan},
		sample,
		event.VoteCompleted{Question: "p", Spent: usage.Spent{Calls: 9, USD: 1}}, // knows of the one before
		sample, event.SampleRedFlagged{Sample: event.Sample{Question: "q"}},
	)
	h, err := read(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := usage.Spent{Calls: 12, Tokens: usage.Tokens{Input: 5, Output: 2}, USD: 1.25, Unpriced: 1}
	if h.Spent != want {
		t.Errorf("Spent = %+v, want %+v", h.Spent, want)
	}
}

// later is an event of a later version.
type later struct{}

func (later) Type() event.Type { return "admired" }

// TestOutlook: what a resume would do follows from how the last session ended.
func TestOutlook(t *testing.T) {
	refused := event.EffectRefused{Effect: "s/effect/0", Tool: "Pay", Input: event.JSONValue([]byte(`{}`)), By: "person (terminal)"}
	for name, test := range map[string]struct {
		events []event.Event
		want   Outlook
	}{
		"crashed":      {nil, Outlook{Further: true}},
		"completed":    {[]event.Event{event.TaskCompleted{}}, Outlook{}},
		"wrong":        {[]event.Event{event.TaskFailed{Wrong: true}}, Outlook{}},
		"for good":     {[]event.Event{event.TaskFailed{Final: true, Reopen: []string{"s/failed"}}}, Outlook{}},
		"failed":       {[]event.Event{event.TaskFailed{Reopen: []string{"s/move/0", "s/failed"}}}, Outlook{Further: true}},
		"refused":      {[]event.Event{refused, event.TaskFailed{Reopen: []string{"s/effect/0"}}}, Outlook{Further: true, AsksAgain: true}},
		"not reopened": {[]event.Event{refused, event.TaskFailed{Reopen: []string{"s/move/1"}}}, Outlook{Further: true}},
		"under way":    {[]event.Event{refused, event.TaskFailed{Reopen: []string{"s/effect/0"}}, event.RunResumed{}}, Outlook{Further: true}},
	} {
		dir := written(t, append([]event.Event{event.TaskSubmitted{Format: event.Format, Kind: "exec"}}, test.events...)...)
		if got, err := ReadOutlook(dir); err != nil || got != test.want {
			t.Errorf("%s: ReadOutlook() = %+v, %v, want %+v", name, got, err, test.want)
		}
	}
}

// TestAnUndecidedChainAsksAgain: of a chain only what was decided is kept; what else was
// learned about its open step is.
func TestAnUndecidedChainAsksAgain(t *testing.T) {
	dir := written(t,
		event.TaskSubmitted{Format: event.Format},
		event.VoteCompleted{Question: "step/0", Status: string(flow.Decided), Answer: event.JSONValue([]byte(`1`))},
		event.VoteCompleted{Question: "step/1", Status: string(flow.Undecided)},
		event.SampleFaulted{Question: "step/2"},
		event.SampleFaulted{Question: "step/2"},
		event.Observed{Look: "a"},
		event.Observed{Look: "b", Result: event.JSONValue([]byte(`[2]`))},
	)
	h, err := read(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := h.Verdicts["step/0"]; !ok || len(h.Verdicts) != 1 {
		t.Errorf("Verdicts = %v, want the decided one alone", h.Verdicts)
	}
	if v := h.Votes["step/2"]; v == nil || v.Faults != 2 {
		t.Errorf("Votes[step/2] = %+v, want two faults", v)
	}
	if string(h.Looks["a"]) != "null" || string(h.Looks["b"]) != "[2]" {
		t.Errorf("Looks = %s, %s, want null and what was seen", h.Looks["a"], h.Looks["b"])
	}
}
