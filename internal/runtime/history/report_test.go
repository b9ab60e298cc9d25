package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/certificate"
	"github.com/maker-mdap/maker/internal/orchestrator/solver"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// task begins the log of a kind of run whose rule is to lead by 2.
func task(kind string) event.Event {
	return event.TaskSubmitted{
		Format: event.Format, Kind: kind, Task: "a task", Steps: 3, Simulated: true,
		Config: []byte(`{"model":"sim/default","voting":{"strategy":"first_to_k","k":2,"max_samples":10},"batch_size":4}`),
	}
}

// committed is a step with votes for each of some answers.
func committedStep(step int, votes ...int) event.StepCompleted {
	e := event.StepCompleted{Step: step, Output: event.TextValue(fmt.Sprint("output ", step)), Spent: usage.Spent{Calls: int64(step + 1), USD: 0.5}}
	e.Voting = event.Voting{Strategy: vote.FirstToK, Votes: map[string]int{}}
	for i, n := range votes {
		e.Voting.Votes[fmt.Sprint("answer ", i)] = n
		e.Voting.Samples += n
	}
	_, e.Voting.Margin = addUp(e.Voting.Votes)
	return e
}

func report(t *testing.T, events ...event.Event) *Report {
	t.Helper()
	r, err := ReadReport(written(t, events...))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReportEnd: the last two events say how a run ended.
func TestReportEnd(t *testing.T) {
	type ending struct {
		Status, Reason, Stop string
		Failed               bool
		Output               string
		Calls                int64
	}
	failed := event.StepFailed{Step: 1, Reason: "no"}
	for name, test := range map[string]struct {
		kind   string
		events []event.Event
		want   ending
	}{
		"nothing yet":    {"hanoi", nil, ending{Status: "running"}},
		"under way":      {"hanoi", []event.Event{committedStep(0, 2)}, ending{Status: "running", Output: "output 0", Calls: 1}},
		"completed":      {"hanoi", []event.Event{committedStep(0, 2), event.TaskCompleted{Spent: usage.Spent{Calls: 9}}}, ending{Status: "completed", Output: "output 0", Calls: 9}},
		"its own output": {"exec", []event.Event{committedStep(0, 2), event.TaskCompleted{Output: event.TextValue("all")}}, ending{Status: "completed", Output: "all"}},
		"no own output":  {"exec", []event.Event{committedStep(0, 2), event.TaskCompleted{}}, ending{Status: "completed", Output: "output 0"}},
		"failed": {"exec", []event.Event{failed, event.TaskFailed{Status: "undecided", Reason: "why", Spent: usage.Spent{Calls: 4}}},
			ending{Status: "undecided", Reason: "why", Failed: true, Calls: 4}},
		"a failure that was got over":     {"exec", []event.Event{failed, committedStep(2, 2), event.TaskCompleted{}}, ending{Status: "completed", Output: "output 2"}},
		"stopped":                         {"exec", []event.Event{event.BudgetExhausted{}, event.TaskFailed{Status: "stopped", Stop: "max_calls"}}, ending{Status: "stopped", Stop: "max_calls"}},
		"resumed":                         {"exec", []event.Event{failed, event.TaskFailed{Status: "failed", Reason: "why", Stop: "x", Wrong: true}, event.RunResumed{}}, ending{Status: "running"}},
		"killed among samples":            {"exec", []event.Event{committedStep(0, 2), event.SampleCompleted{}, event.SampleFaulted{}}, ending{Status: "running", Output: "output 0", Calls: 1}},
		"a draft of a solution":           {"solve", []event.Event{event.AnswerComposed{Path: "0", Draft: true, Answer: event.TextValue("draft")}, event.TaskFailed{Status: "failed"}}, ending{Status: "failed", Output: "draft"}},
		"a solution that came after all":  {"solve", []event.Event{event.AnswerComposed{Path: "0", Draft: true, Answer: event.TextValue("draft")}, event.TaskCompleted{Output: event.TextValue("all")}}, ending{Status: "completed", Output: "all"}},
		"a solution is not its last step": {"solve", []event.Event{committedStep(0, 2), event.TaskFailed{Status: "failed"}}, ending{Status: "failed"}},
	} {
		dir := written(t, append([]event.Event{task(test.kind)}, test.events...)...)
		r, err := ReadReport(dir)
		if err != nil {
			t.Fatal(err)
		}
		output := ""
		if !r.Output.IsZero() {
			output = r.Output.Text()
		}
		got := ending{r.Status, r.Reason, r.Stop, r.Failed != nil, output, r.Usage.Calls}
		if got != test.want {
			t.Errorf("%s: ReadReport() = %+v, want %+v", name, got, test.want)
		}
		glance, err := Glance(dir)
		if err != nil || glance.Status != r.Status || glance.Reason != r.Reason || glance.Usage != r.Usage {
			t.Errorf("%s: Glance() = %+v, %v, want the same end as ReadReport", name, glance, err)
		}
		audited, _, err := ReadAudit(dir, nil)
		if diff := cmp.Diff(r, audited, cmpopts.IgnoreUnexported(Report{}), sameEvidence); diff != "" || err != nil {
			t.Errorf("%s: ReadAudit() = %v: -ReadReport +ReadAudit\n%s", name, err, diff)
		}
	}
}

var sameEvidence = cmp.Comparer(func(a, b *certificate.Evidence) bool { return a.Votes() == b.Votes() })

func TestReportEffects(t *testing.T) {
	claim := event.EffectClaimed{Effect: "e", Step: 1, Tool: "Pay", Approved: "rule"}
	again := event.EffectClaimed{Effect: "e", Step: 1, Tool: "Pay", Approved: "person", Again: true}
	release := event.EffectReleased{Effect: "e", Step: 1, Tool: "Pay"}
	done := event.EffectDone{Effect: "e", Step: 1, Tool: "Pay", Result: event.TextValue("paid")}
	failed := event.EffectDone{Effect: "e", IsError: true, By: "somebody"}
	refused := event.EffectRefused{Effect: "e", Step: 1, Tool: "Pay", By: "rule"}
	other := event.EffectClaimed{Effect: "other", Tool: "Pay"}
	for name, test := range map[string]struct {
		events []event.Event
		want   []string
	}{
		"claimed":                             {[]event.Event{claim}, []string{"e unknown rule"}},
		"said to be unknown":                  {[]event.Event{claim, event.EffectUnknown{Effect: "e"}}, []string{"e unknown rule"}},
		"done":                                {[]event.Event{claim, done}, []string{"e done rule"}},
		"failed, by the word of somebody":     {[]event.Event{claim, failed}, []string{"e failed somebody"}},
		"refused":                             {[]event.Event{refused}, []string{"e refused rule"}},
		"released":                            {[]event.Event{other, claim, release}, []string{"other unknown "}},
		"released, then done":                 {[]event.Event{claim, release, claim, done}, []string{"e done rule"}},
		"released, then refused":              {[]event.Event{claim, release, refused}, []string{"e refused rule"}},
		"claimed again":                       {[]event.Event{claim, again, done}, []string{"e done person"}},
		"the second claim is released":        {[]event.Event{claim, again, release}, []string{"e unknown person"}},
		"the second is released, the third …": {[]event.Event{claim, again, release, again, done}, []string{"e done person"}},
		"done and never claimed":              {[]event.Event{done}, nil},
	} {
		r := report(t, append([]event.Event{task("exec")}, test.events...)...)
		var got []string
		for _, e := range r.Effects {
			got = append(got, fmt.Sprintf("%s %s %s", e.Effect, e.Status, e.By))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: effects -want +got\n%s", name, diff)
		}
	}
}

// TestEffectVotes: a call has the vote that it won, also if it was refused, and what won if a
// person changed it; the calls of one step are the same ones.
func TestEffectVotes(t *testing.T) {
	voting := event.Voting{Samples: 7, Votes: map[string]int{"a": 5, "b": 2}}
	a, b := event.JSONValue(json.RawMessage(`{"a":1}`)), event.JSONValue(json.RawMessage(`{"b":1}`))
	dir := written(t, task("exec"),
		event.EffectRefused{Effect: "refused", Step: 1, Tool: "Pay", Input: a, By: "rule", Voting: voting},
		event.EffectClaimed{Effect: "released", Step: 1, Tool: "Pay", Input: a, Voting: voting},
		event.EffectClaimed{Effect: "other", Step: 2, Tool: "Pay", Input: a},
		event.EffectReleased{Effect: "released", Step: 1, Tool: "Pay"},
		event.EffectClaimed{Effect: "changed", Step: 1, Tool: "Pay", Input: b, Approved: "person", Voting: voting, Voted: a},
		event.EffectDone{Effect: "other", Step: 2, Tool: "Pay"},
		event.EffectDone{Effect: "changed", Step: 1, Tool: "Pay"},
		event.EffectRefused{Effect: "early", Step: 1, Tool: "Pay", Input: a, By: "rule"},
	)
	want := []Effect{
		{Effect: "refused", Step: 1, Tool: "Pay", Input: a, Status: EffectRefused, By: "rule", Voting: voting},
		{Effect: "changed", Step: 1, Tool: "Pay", Input: b, Status: EffectDone, By: "person", Voting: voting, Voted: a},
		{Effect: "early", Step: 1, Tool: "Pay", Input: a, Status: EffectRefused, By: "rule"},
	}
	got, err := ReadEffects(dir, 1)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("ReadEffects() = %v: -want +got\n%s", err, diff)
	}
	r, err := ReadReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.DeleteFunc(r.Effects, func(e Effect) bool { return e.Step != 1 })
	if diff := cmp.Diff(want, all, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("ReadReport() has other effects: -want +got\n%s", diff)
	}
}

// TestReportIsBounded: a long run lists its contested steps and the last, whether they
// are counted in the index or in the log.
func TestReportIsBounded(t *testing.T) {
	const steps = 3 * MaxListed
	events := []event.Event{task("hanoi")}
	for n := range steps {
		if n%500 == 7 {
			events = append(events, committedStep(n, 3, 1))
		} else {
			events = append(events, committedStep(n, 2))
		}
	}
	dir := written(t, events...)
	indexed, err := ReadReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	var listed []int
	for _, s := range indexed.Steps {
		listed = append(listed, s.Step)
	}
	if diff := cmp.Diff([]int{7, 507, 1007, 1507, 2007, 2507, steps - 1}, listed); diff != "" {
		t.Errorf("the steps that are listed: -want +got\n%s", diff)
	}
	want := Totals{
		Rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 10}, Samples: 2*steps + 6*2, Contested: 6, MostSamples: 4, LeastMargin: 2,
		SamplesPerStep: float64(2*steps+6*2) / steps,
	}
	if indexed.Voting != want || indexed.Committed != steps {
		t.Errorf("ReadReport() = %d steps, %+v, want %d, %+v", indexed.Committed, indexed.Voting, steps, want)
	}
	audited, _, err := ReadAudit(dir, nil)
	if diff := cmp.Diff(indexed, audited, cmpopts.IgnoreUnexported(Report{}), sameEvidence); diff != "" || err != nil {
		t.Errorf("ReadAudit() = %v: -by the index +by the log\n%s", err, diff)
	}
	if err := os.Remove(filepath.Join(dir, runlog.IndexFile)); err != nil {
		t.Fatal(err)
	}
	scanned, err := ReadReport(dir)
	if diff := cmp.Diff(indexed, scanned, cmpopts.IgnoreUnexported(Report{}), sameEvidence); diff != "" || err != nil {
		t.Errorf("ReadReport(without an index) = %v: -by the index +by the log\n%s", err, diff)
	}
}

// TestFoldStaysSmall: what the fold of a chain holds does not grow with its steps, and
// the lists of a report have an end.
func TestFoldStaysSmall(t *testing.T) {
	h := reader(t.TempDir(), &Report{}, newAudit(nil))
	take := func(e event.Event) {
		t.Helper()
		if err := h.learn(event.Record{Run: "run", Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	begin := task("hanoi").(event.TaskSubmitted)
	begin.Form = event.FormChain
	take(begin)
	for n := range 2 * MaxListed {
		question := fmt.Sprint("step/", n)
		for i := range 2 {
			take(event.SampleCompleted{Sample: event.Sample{Question: question, Step: n, Sample: i}, Vote: "answer 0"})
		}
		take(event.VoteCompleted{Question: question, Step: n, Status: "decided", Voting: event.Voting{Votes: map[string]int{"answer 0": 2}}})
		take(committedStep(n, 2))
	}
	for name, n := range map[string]int{
		"verdicts": len(h.Verdicts), "votes": len(h.Votes), "keys": len(h.emitted), "numbers": len(h.audit.committed.apart), "scopes": len(h.audit.scopes),
	} {
		if n > 0 {
			t.Errorf("after %d steps the fold holds %d %s, want none", 2*MaxListed, n, name)
		}
	}
	if r := h.report; len(r.early) > MaxListed || len(r.contested) > MaxListed || len(h.audit.Differences()) > 0 {
		t.Errorf("the report holds %d and %d steps, %q differ; want at most %d each and none", len(r.early), len(r.contested), h.audit.Differences(), MaxListed)
	}
	for n := range 2 * MaxListed {
		h.report.addEffect(Effect{Effect: fmt.Sprint(n)})
	}
	if n := len(h.report.Effects); n != MaxListed {
		t.Errorf("the report lists %d effects, want %d", n, MaxListed)
	}
}

// TestReportRefuses: a log that is none is an error that says where.
func TestReportRefuses(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "run")
	if err := errors.Join(os.Mkdir(empty, 0o755), os.WriteFile(filepath.Join(empty, runlog.EventsFile), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	noRule := event.TaskSubmitted{Format: event.Format, Kind: "hanoi", Config: []byte(`{"model":"m"}`)}
	for name, test := range map[string]struct {
		dir           string
		report, audit string // a part of the error, "" for none
	}{
		"nothing":              {empty, "never started", "never started"},
		"no task":              {written(t, committedStep(0, 2)), "line 1: it does not begin with a task", "line 1: it does not begin with a task"},
		"a configuration of …": {written(t, event.TaskSubmitted{Format: event.Format, Config: []byte(`{"model":7}`)}), "line 1: the configuration", "line 1: the configuration"},
		"no rule":              {written(t, noRule), "", "line 1: the rule"},
		"a rule that is none":  {written(t, task("hanoi"), event.RunResumed{Config: []byte(`{"voting":{"strategy":"plurality"}}`)}), "", "line 2: the rule"},
	} {
		_, err := ReadReport(test.dir)
		wantError(t, name+": ReadReport()", err, test.report)
		_, _, err = ReadAudit(test.dir, nil)
		wantError(t, name+": ReadAudit()", err, test.audit)
	}
}

// TestWaiting: what was asked and not answered, in order.
func TestWaiting(t *testing.T) {
	ask := func(key string) event.Event { return event.ClarificationRequested{Question: key} }
	dir := written(t, task("exec"), ask("a"), ask("b"), ask("c"), event.ClarificationProvided{Question: "b"}, event.RunResumed{}, ask("d"),
		event.TaskFailed{Status: "failed", Reopen: []string{"a"}}) // which is not about questions to a person
	open, err := ReadWaiting(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range open {
		got = append(got, q.Question)
	}
	if diff := cmp.Diff([]string{"a", "c", "d"}, got); diff != "" {
		t.Errorf("ReadWaiting(): -want +got\n%s", diff)
	}
}

// TestKeysOfOthers: the report knows some questions by their keys.
func TestKeysOfOthers(t *testing.T) {
	if !isDirect(solver.DirectKey) || !isDirect("0.1/"+solver.DirectKey) {
		t.Errorf("isDirect(%q) = false, want true", solver.DirectKey)
	}
}
