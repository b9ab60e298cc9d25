package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// told is a history of events with times, without a log.
func told(t *testing.T, h *History, records ...event.Record) *History {
	t.Helper()
	for i, rec := range records {
		line, err := json.Marshal(event.Header{Seq: uint64(i), Timestamp: rec.Time, Type: rec.Event.Type()})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.learn(rec); err != nil {
			t.Fatal(err)
		}
		h.last = line
	}
	return h
}

func at(seconds int, e event.Event) event.Record {
	return event.Record{Time: time.Unix(int64(seconds), 0).UTC(), Event: e}
}

// TestDuration: a run has taken the time from the first to the last line of each of its
// sessions, and not that between them.
func TestDuration(t *testing.T) {
	for name, test := range map[string]struct {
		records []event.Record
		want    time.Duration
	}{
		"one event":        {[]event.Record{at(10, event.TaskSubmitted{})}, 0},
		"one session":      {[]event.Record{at(10, event.TaskSubmitted{}), at(14, event.StepStarted{})}, 4 * time.Second},
		"two sessions":     {[]event.Record{at(10, event.TaskSubmitted{}), at(14, event.StepStarted{}), at(100, event.RunResumed{}), at(107, event.StepStarted{})}, 11 * time.Second},
		"a clock set back": {[]event.Record{at(10, event.TaskSubmitted{}), at(4, event.StepStarted{})}, 0},
	} {
		h := told(t, New(""), test.records...)
		if err := h.Finish(); err != nil || h.Duration != test.want {
			t.Errorf("%s: the run took %v (%v), want %v", name, h.Duration, err, test.want)
		}
	}
}

// TestSessionsWith: a run whose sessions were done with different models or rules says
// so; a session that got nowhere does not count.
func TestSessionsWith(t *testing.T) {
	k := func(n int) vote.Rule { return vote.Rule{Strategy: vote.FirstToK, K: n, MaxSamples: 9} }
	setup := func(model string, n int, simulated bool) event.Setup {
		return event.Setup{Model: model, Rule: k(n), Simulated: simulated}
	}
	submitted := func(s event.Setup) event.Event { return event.TaskSubmitted{Setup: s} }
	resumed := func(step int, s event.Setup) event.Event { return event.RunResumed{Step: step, Setup: s} }
	part := func(step int, model string, n int, simulated bool) event.Session {
		return event.Session{Step: step, Model: model, Rule: k(n), Simulated: simulated}
	}
	for name, test := range map[string]struct {
		events []event.Event
		step   int // where the present session begins
		now    event.Setup
		want   []event.Session
	}{
		"the first":           {nil, 0, setup("a", 2, false), nil},
		"alike":               {[]event.Event{submitted(setup("a", 2, false))}, 3, setup("a", 2, false), nil},
		"another model":       {[]event.Event{submitted(setup("a", 2, false))}, 3, setup("b", 2, false), []event.Session{part(0, "a", 2, false), part(3, "b", 2, false)}},
		"another rule":        {[]event.Event{submitted(setup("a", 2, false))}, 3, setup("a", 3, false), []event.Session{part(0, "a", 2, false), part(3, "a", 3, false)}},
		"a simulator":         {[]event.Event{submitted(setup("a", 2, true))}, 3, setup("a", 2, false), []event.Session{part(0, "a", 2, true), part(3, "a", 2, false)}},
		"it got nowhere":      {[]event.Event{submitted(setup("a", 2, false))}, 0, setup("b", 2, false), nil},
		"three":               {[]event.Event{submitted(setup("a", 2, false)), resumed(2, setup("b", 2, false))}, 5, setup("a", 2, false), []event.Session{part(0, "a", 2, false), part(2, "b", 2, false), part(5, "a", 2, false)}},
		"one got nowhere":     {[]event.Event{submitted(setup("a", 2, false)), resumed(2, setup("b", 2, false)), resumed(2, setup("a", 2, false))}, 5, setup("a", 2, false), nil},
		"from before":         {[]event.Event{submitted(event.Setup{})}, 3, setup("a", 2, false), nil},
		"a simulator behind":  {[]event.Event{submitted(setup("a", 2, false)), event.SampleCompleted{Sample: event.Sample{Model: "sim/default"}}}, 3, setup("a", 2, false), []event.Session{part(0, "a", 2, true), part(3, "a", 2, false)}},
		"a model, no sim":     {[]event.Event{submitted(setup("a", 2, false)), event.SampleCompleted{Sample: event.Sample{Model: "simple"}}}, 3, setup("a", 2, false), nil},
		"the end says so":     {[]event.Event{submitted(setup("a", 2, false)), event.TaskFailed{Setup: event.Setup{Simulated: true}}}, 3, setup("a", 2, false), []event.Session{part(0, "a", 2, true), part(3, "a", 2, false)}},
		"an end, nothing new": {[]event.Event{submitted(setup("a", 2, false)), event.TaskFailed{}}, 3, setup("a", 2, false), nil},
		"an end from before":  {[]event.Event{submitted(event.Setup{}), event.TaskFailed{Setup: event.Setup{Simulated: true}}, event.SampleCompleted{Sample: event.Sample{Model: "sim/default"}}}, 3, setup("a", 2, false), nil},
	} {
		h := New("")
		for _, e := range test.events {
			told(t, h, at(1, e))
		}
		h.Checkpoint.Step = test.step
		if diff := cmp.Diff(test.want, h.SessionsWith(test.now)); diff != "" {
			t.Errorf("%s: SessionsWith() (-want +got):\n%s", name, diff)
		}
	}
}

// TestWhatIsHeld: what a session had claimed and did not account for may have been spent.
func TestWhatIsHeld(t *testing.T) {
	spent := usage.Spent{Calls: 5, Tokens: usage.Tokens{Input: 60, Output: 40}, USD: 0.5, HeldTokens: 10, HeldUSD: 0.25, Abandoned: 1}
	for name, test := range map[string]struct {
		claim event.BudgetClaimed
		end   event.Event
		want  usage.Spent
	}{
		"nothing claimed":     {event.BudgetClaimed{}, nil, spent},
		"all accounted for":   {event.BudgetClaimed{Calls: 5, Tokens: 110, USD: 0.75}, nil, spent},
		"less claimed":        {event.BudgetClaimed{Calls: 4, Tokens: 100, USD: 0.5}, nil, spent},
		"more claimed":        {event.BudgetClaimed{Calls: 8, Tokens: 150, USD: 1}, nil, usage.Spent{Calls: 8, Tokens: spent.Tokens, USD: 0.5, HeldTokens: 50, HeldUSD: 0.5, Abandoned: 4}},
		"completed":           {event.BudgetClaimed{Calls: 8, Tokens: 150, USD: 1}, event.TaskCompleted{Spent: spent}, spent},
		"failed":              {event.BudgetClaimed{Calls: 8, Tokens: 150, USD: 1}, event.TaskFailed{Spent: spent}, spent},
		"exhausted, then cut": {event.BudgetClaimed{Calls: 5}, event.BudgetExhausted{Spent: usage.Spent{Calls: 6}}, usage.Spent{Calls: 6}},
		"cancelled, then cut": {event.BudgetClaimed{Calls: 5}, event.RunCancelled{Spent: usage.Spent{Calls: 6}}, usage.Spent{Calls: 6}},
		"a step failed":       {event.BudgetClaimed{Calls: 5}, event.StepFailed{Spent: usage.Spent{Calls: 6}}, usage.Spent{Calls: 6}},
		"an effect was done":  {event.BudgetClaimed{Calls: 5}, event.EffectDone{Effect: "e", Spent: usage.Spent{Calls: 6}}, usage.Spent{Calls: 6}},
		"says nothing":        {event.BudgetClaimed{Calls: 5}, event.StepFailed{}, spent},
	} {
		records := []event.Record{at(1, event.TaskSubmitted{}), at(1, event.VoteCompleted{Question: "q", Spent: spent}), at(1, test.claim)}
		if test.end != nil {
			records = append(records, at(1, test.end))
		}
		h := told(t, New(""), records...)
		if err := h.Finish(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, h.Spent); diff != "" {
			t.Errorf("%s: Spent (-want +got):\n%s", name, diff)
		}
	}
}

// TestResumedKnowsBetter: a session that says what was spent before it is believed.
func TestResumedKnowsBetter(t *testing.T) {
	claim := event.BudgetClaimed{Calls: 9}
	for _, test := range []struct {
		resumed event.RunResumed
		want    usage.Spent
		config  string
	}{
		{event.RunResumed{}, usage.Spent{Calls: 9, Abandoned: 9}, `{"a":1}`},
		{event.RunResumed{Spent: usage.Spent{Calls: 4}, Config: []byte(`{"b":2}`)}, usage.Spent{Calls: 4}, `{"b":2}`},
	} {
		h := told(t, New(""), at(1, event.TaskSubmitted{Config: []byte(`{"a":1}`)}), at(2, claim), at(3, test.resumed))
		if err := h.Finish(); err != nil || h.Spent != test.want || string(h.Config) != test.config {
			t.Errorf("%+v: spent %+v, configured %s (%v), want %+v and %s", test.resumed, h.Spent, h.Config, err, test.want, test.config)
		}
	}
}

// TestEmittedPlans: a plan that differs from that in the log is another way, and the
// error says which.
func TestEmittedPlans(t *testing.T) {
	plan := func(text string) event.Value { return event.JSONValue([]byte(text)) }
	for _, test := range []struct {
		was, is event.Event
		want    string
	}{
		{event.PlanCreated{Plan: plan(`{"a":1}`)}, event.PlanCreated{Plan: plan(`{"a":1}`)}, ""},
		{event.PlanCreated{Plan: plan(`{"a":1}`)}, event.PlanCreated{Plan: plan(`{"a":2}`)}, "had another plan"},
		{event.ValidationPassed{Plan: plan(`{"a":1}`)}, event.ValidationPassed{Plan: plan(`{"a":2}`)}, "had another plan"},
		{event.StepCompleted{Output: plan(`1`)}, event.StepCompleted{Output: plan(`2`)}, "had another output"},
		{event.StepStarted{Step: 1}, event.StepStarted{Step: 2}, ""}, // nothing is built on it
		{event.StepStarted{}, event.StepFailed{}, `"k" was step_started and is step_failed now`},
	} {
		h := New("")
		h.emit("k", test.was)
		known, err := h.Emitted("k", test.is, nil)
		if !known || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("Emitted(%+v after %+v) = %t, %v, want %q", test.is, test.was, known, err, test.want)
		}
		if known, err := h.Emitted("other", test.is, nil); known || err != nil {
			t.Errorf("Emitted(another key) = %t, %v, want neither", known, err)
		}
	}
	// A key that the log did not know yet stands in it as it was.
	h := New("")
	h.emit("k", event.StepCompleted{Output: event.TextValue("sk-1")})
	redact := func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "sk-1", "*")) }
	if _, err := h.Emitted("k", event.StepCompleted{Output: event.TextValue("sk-1")}, redact); err != nil {
		t.Errorf("Emitted(what is redacted now) = %v", err)
	}
	h.emit("k", event.StepCompleted{Output: event.TextValue("*")})
	if _, err := h.Emitted("k", event.StepCompleted{Output: event.TextValue("sk-1")}, redact); err != nil {
		t.Errorf("Emitted(what was redacted) = %v", err)
	}
}

// TestUnkeyed: events of an orchestrator without keys cannot be told from new ones,
// unless the run goes on after its last step.
func TestUnkeyed(t *testing.T) {
	for _, test := range []struct {
		form event.Form
		key  string
		e    event.Event
		want bool
	}{
		{event.FormPlan, "", event.StepStarted{}, true},
		{event.FormPlan, "k", event.StepStarted{}, false},
		{event.FormChain, "", event.StepStarted{}, false},
		{event.FormPlan, "", event.Unknown{}, false},
		{event.FormPlan, "", event.PolicyChanged{}, false}, // of the runtime, as it follows from votes
		{event.FormPlan, "", event.PolicyFutile{}, false},
	} {
		h := New("")
		told(t, h, at(1, event.TaskSubmitted{Form: test.form}), event.Record{Key: test.key, Event: test.e})
		if h.Unkeyed != test.want {
			t.Errorf("%s, key %q, %T: Unkeyed = %t, want %t", test.form, test.key, test.e, h.Unkeyed, test.want)
		}
	}
}

// TestAnswers: what the person said is found by its question.
func TestAnswers(t *testing.T) {
	dir := written(t,
		event.TaskSubmitted{Format: event.Format, Kind: "exec"},
		event.ClarificationRequested{Question: "a"}, event.ClarificationRequested{Question: "b"},
		event.ClarificationProvided{Question: "a", Answer: "yes", By: "terminal"},
	)
	if a, err := ReadAnswer(dir, "a"); err != nil || a == nil || a.Text != "yes" || a.By != "terminal" {
		t.Errorf("ReadAnswer(a) = %+v, %v, want yes", a, err)
	}
	for _, key := range []string{"b", "c"} {
		if a, err := ReadAnswer(dir, key); err != nil || a != nil {
			t.Errorf("ReadAnswer(%s) = %+v, %v, want none", key, a, err)
		}
	}
	if waiting, err := ReadWaiting(dir); err != nil || len(waiting) != 1 || waiting[0].Question != "b" {
		t.Errorf("ReadWaiting() = %+v, %v, want b", waiting, err)
	}
}

// TestACheckpoint: a chain goes on after its last step, with what that had cost.
func TestACheckpoint(t *testing.T) {
	for _, form := range []event.Form{event.FormChain, event.FormPlan} {
		h, err := read(t, written(t,
			event.TaskSubmitted{Format: event.Format, Form: form},
			committedStep(0, 2), committedStep(1, 2), committedStep(2, 2),
		))
		if err != nil {
			t.Fatal(err)
		}
		if h.Checkpoint.Step != 3 || string(h.Checkpoint.Output) != `"output 2"` || h.Steps != 3 || h.Spent.Calls != 3 || h.End != nil {
			t.Errorf("%s: it goes on at %+v after %d steps and %+v, want at step 3", form, h.Checkpoint, h.Steps, h.Spent)
		}
	}
}

// TestSolveFigures counts what is said about a run that solves a problem.
func TestSolveFigures(t *testing.T) {
	voted := func(question, status string, samples, flagged, margin int, votes ...int) event.VoteCompleted {
		e := event.VoteCompleted{Question: question, Status: status, Voting: event.Voting{Samples: samples, RedFlagged: flagged, Faults: 1, Margin: margin, Votes: map[string]int{}}}
		for i, n := range votes {
			e.Voting.Votes[fmt.Sprint(i)] = n
		}
		return e
	}
	r := report(t, task("solve"),
		voted(calibrate.KeyPrefix+"0", "decided", 50, 9, 1, 50), // not part of solving
		event.Calibrated{K: 5},
		voted("solve/direct", "undecided", 9, 2, 0, 4, 3),
		event.Escalated{Question: "solve/direct", Step: 0},
		event.DecompositionSelected{Path: "0", Step: 0},
		voted("a", "decided", 4, 0, 4, 4),
		event.SubproblemSolved{Path: "0.1", Step: 1},
		event.SubproblemSolved{Path: "0.1", Step: 1}, // the same again
		committedStep(0, 2),
		event.Escalated{Question: "b", Step: 1},
		voted("b", "decided", 5, 1, 3, 3, 1),
		committedStep(1, 2), // a recovery
		event.Escalated{Question: "c", Step: 2},
		event.DecompositionSelected{Path: "0.2", Step: 2, By: event.ByDefault}, // given up
		committedStep(2, 2),
		event.SubproblemSolved{Path: "0.2.1", By: event.ByMemo},
		event.AnswerComposed{Path: "f1.2", Answer: event.TextValue("found")},
		event.AnswerComposed{Path: "0", Draft: true, Answer: event.TextValue("draft")},
	)
	want := &Solve{
		Questions: 3, Undecided: 1, Escalations: 3, Recoveries: 1, SamplesPerStep: 6, RejectionRate: 3.0 / 18, MaxRounds: 3,
		Nodes: 5, Depth: 2, Memo: 1, Calibrated: &event.Calibrated{K: 5},
	}
	if diff := cmp.Diff(want, r.Solve); diff != "" {
		t.Errorf("Solve (-want +got):\n%s", diff)
	}
	v := r.Voting
	if v.Samples != 18 || v.RedFlagged != 3 || v.Faults != 3 || v.Contested != 2 || v.MostSamples != 9 || v.LeastMargin != 3 || v.Rule.K != 5 {
		t.Errorf("Voting = %+v, want 18 samples, 3 flags, 3 faults, 2 contested, at most 9, a margin of 3 and k = 5", v)
	}
	if r.Output.Text() != "draft" {
		t.Errorf("Output = %s, want the draft", r.Output.Text())
	}
	// Nothing is divided by nothing.
	if empty := report(t, task("solve")); empty.Solve.SamplesPerStep != 0 || empty.Solve.RejectionRate != 0 || empty.Voting.Rule.K != 2 {
		t.Errorf("Solve of a run that did nothing = %+v, %+v", empty.Solve, empty.Voting)
	}
}

// TestTotals: the voting of the steps of a chain adds up.
func TestTotals(t *testing.T) {
	flagged := committedStep(1, 3, 1)
	flagged.Voting.RedFlagged, flagged.Voting.Faults = 2, 5
	for _, indexed := range []bool{true, false} {
		dir := written(t, task("hanoi"), committedStep(0, 4), flagged, committedStep(2, 3))
		if indexed {
			x, err := runlog.OpenIndex(dir)
			if err != nil {
				t.Fatal(err)
			}
			x.Close()
		}
		r, err := ReadReport(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := Totals{
			Rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 10}, Samples: 11, RedFlagged: 2, Faults: 5,
			Contested: 1, MostSamples: 4, LeastMargin: 2, SamplesPerStep: 11.0 / 3,
		}
		if diff := cmp.Diff(want, r.Voting); diff != "" || r.Committed != 3 {
			t.Errorf("Voting of %d steps (-want +got):\n%s", r.Committed, diff)
		}
	}
}

// TestReportSetup: the end of a run says what it was done with, and it is simulated if
// all of it was.
func TestReportSetup(t *testing.T) {
	rule := vote.Rule{Strategy: vote.FirstToK, K: 7, MaxSamples: 70}
	part := func(simulated bool) event.Session { return event.Session{Model: "m", Simulated: simulated} }
	for name, test := range map[string]struct {
		setup     event.Setup
		model     string
		k         int
		simulated bool
	}{
		"nothing said":       {event.Setup{}, "sim/default", 2, true},
		"another":            {event.Setup{Model: "m", Rule: rule}, "m", 7, false},
		"simulated":          {event.Setup{Model: "m", Rule: rule, Simulated: true}, "m", 7, true},
		"simulated in parts": {event.Setup{Model: "m", Rule: rule, Simulated: true, Sessions: []event.Session{part(true), part(false)}}, "m", 7, false},
		"simulated in all":   {event.Setup{Model: "m", Rule: rule, Simulated: true, Sessions: []event.Session{part(true), part(true)}}, "m", 7, true},
	} {
		for _, end := range []event.Event{event.TaskCompleted{Setup: test.setup}, event.TaskFailed{Setup: test.setup, Status: "failed"}} {
			r := report(t, task("hanoi"), end)
			if r.Model != test.model || r.Voting.Rule.K != test.k || r.Simulated != test.simulated || len(r.Sessions) != len(test.setup.Sessions) {
				t.Errorf("%s: ReadReport() = %s, k = %d, simulated %t, %d sessions, want %s, %d, %t", name, r.Model, r.Voting.Rule.K, r.Simulated, len(r.Sessions), test.model, test.k, test.simulated)
			}
		}
	}
}

// TestVotersAreNamed: a report names the models that voted.
func TestVotersAreNamed(t *testing.T) {
	for config, want := range map[string]string{
		``:                                       "",
		`{"model":"a"}`:                          "a",
		`{"model":"a","model_execution":"b"}`:    "b",
		`{"model":"a","voters":["c","d"]}`:       "c,d",
		`{"model_execution":"b","voters":["c"]}`: "c",
	} {
		var raw json.RawMessage
		if config != "" {
			raw = json.RawMessage(config)
		}
		if r := report(t, event.TaskSubmitted{Format: event.Format, Config: raw}); r.Model != want {
			t.Errorf("the voters of %s are %q, want %q", config, r.Model, want)
		}
	}
}

// TestAddUp: the margin is that between the two that have most votes.
func TestAddUp(t *testing.T) {
	for _, test := range []struct {
		votes         []int
		total, margin int
	}{{nil, 0, 0}, {[]int{3}, 3, 3}, {[]int{3, 3}, 6, 0}, {[]int{1, 5, 3}, 9, 2}, {[]int{5, 3, 1}, 9, 2}, {[]int{2, 2, 2}, 6, 0}, {[]int{1, 2, 3, 9}, 15, 6}} {
		votes := map[string]int{}
		for i, n := range test.votes {
			votes[fmt.Sprint(i)] = n
		}
		for range 20 { // maps have no order
			if total, margin := addUp(votes); total != test.total || margin != test.margin {
				t.Errorf("addUp(%v) = %d, %d, want %d, %d", test.votes, total, margin, test.total, test.margin)
			}
		}
	}
}

// TestStepsAreListed: a run that is not long lists all of its steps, one that is lists
// the contested ones and the last.
func TestStepsAreListed(t *testing.T) {
	for steps, want := range map[int]int{0: 0, 1: 1, 3: 3, MaxListed: MaxListed, MaxListed + 1: 2} {
		events := []event.Event{task("hanoi")}
		for n := range steps {
			if n == 2 {
				events = append(events, committedStep(n, 3, 1))
			} else {
				events = append(events, committedStep(n, 2))
			}
		}
		if r := report(t, events...); len(r.Steps) != want || r.Committed != steps {
			t.Errorf("a run of %d steps lists %d of %d, want %d", steps, len(r.Steps), r.Committed, want)
		}
	}
	// A run without steps has the output that its end says.
	if r := report(t, task("hanoi"), event.TaskCompleted{Output: event.TextValue("all")}); r.Output.IsZero() || r.Output.Text() != "all" {
		t.Errorf("Output = %+v, want all", r.Output)
	}
}

// TestAskedAgainIsListedOnce: a call that was refused and then made is one call; two
// claims of which nobody knows the outcome are two.
func TestAskedAgainIsListedOnce(t *testing.T) {
	input := event.JSONValue([]byte(`{}`))
	refused := event.EffectRefused{Effect: "e", Tool: "Pay", Input: input, By: "person (terminal)"}
	made := event.EffectClaimed{Effect: "e", Tool: "Pay", Input: input, Approved: "person (terminal)"}
	done := event.EffectDone{Effect: "e", Tool: "Pay", Result: event.TextValue("paid")}
	for name, test := range map[string]struct {
		events []event.Event
		want   []string
	}{
		"refused":            {[]event.Event{refused}, []string{EffectRefused}},
		"refused twice":      {[]event.Event{refused, refused}, []string{EffectRefused}},
		"refused, then made": {[]event.Event{refused, made, done}, []string{EffectDone}},
		"refused, begun":     {[]event.Event{refused, made}, []string{EffectUnknown}},
		"made, then refused": {[]event.Event{made, done, refused}, []string{EffectDone, EffectRefused}},
	} {
		var got []string
		for _, e := range report(t, append([]event.Event{task("exec")}, test.events...)...).Effects {
			got = append(got, e.Status)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: the effects are (-want +got):\n%s", name, diff)
		}
	}
}

// TestALongQuietRunListsItsLastStep: without a contested step there is that one alone.
func TestALongQuietRunListsItsLastStep(t *testing.T) {
	events := []event.Event{task("hanoi")}
	for n := range MaxListed + 1 {
		events = append(events, committedStep(n, 2))
	}
	if r := report(t, events...); len(r.Steps) != 1 || r.Steps[0].Step != MaxListed {
		t.Errorf("the run lists %d steps, want the last", len(r.Steps))
	}
}

// TestDepthOfWhatWasMissing: what was found missing is beside the problem, not below it.
func TestDepthOfWhatWasMissing(t *testing.T) {
	for path, want := range map[string]int{"f1.2": 0, "f1.2.0": 1, "0.1": 1, "0": 0} {
		if r := report(t, task("solve"), event.SubproblemSolved{Path: path}); r.Solve.Depth != want {
			t.Errorf("the depth of %s is %d, want %d", path, r.Solve.Depth, want)
		}
	}
}
