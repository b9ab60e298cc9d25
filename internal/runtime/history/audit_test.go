package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/vote"
)

func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s = %v, want an error with %q", what, err, want)
	}
}

// keyed is an event with its key.
type keyed struct {
	key string
	event.Event
}

func writtenKeyed(t *testing.T, events ...event.Event) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		k, ok := e.(keyed)
		if !ok {
			k.Event = e
		}
		if err := log.AppendKeyed(k.key, k.Event); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func sample(question string, n int, vote string) event.Event {
	return event.SampleCompleted{Sample: event.Sample{Question: question, Sample: n}, Vote: vote}
}

func flag(question string, n int) event.Event {
	return event.SampleRedFlagged{Sample: event.Sample{Question: question, Sample: n}, Flag: "f"}
}

// verdict is one by the rule that a lead of k decides.
func verdict(question string, k, flags int, votes map[string]int) event.VoteCompleted {
	return event.VoteCompleted{
		Question: question, Status: string(flow.Decided), Voting: event.Voting{Votes: votes, RedFlagged: flags},
		Rule: vote.Rule{Strategy: vote.FirstToK, K: k, MaxSamples: 10},
	}
}

func started(scope string, step int) event.Event {
	return keyed{scope + "/started", event.StepStarted{Step: step}}
}

func completed(scope string, step int) event.Event {
	return keyed{scope + "/completed", committedStep(step, 2)}
}

func claim(key, scope string, step int) event.Event {
	return event.EffectClaimed{Effect: key, Scope: scope, Step: step, Tool: "Pay", Input: event.JSONValue([]byte(`{}`))}
}

func effectDone(key string, step int) event.Event {
	return event.EffectDone{Effect: key, Step: step, Tool: "Pay"}
}

// auditCases are logs of a kind of run, "exec" if it is not said, with a part of the
// only difference in them, "" for none.
type auditCases map[string]struct {
	kind   string
	events []event.Event
	want   string
}

func (cases auditCases) run(t *testing.T) {
	t.Helper()
	for name, test := range cases {
		_, a, err := ReadAudit(writtenKeyed(t, append([]event.Event{task(cmp.Or(test.kind, "exec"))}, test.events...)...), nil)
		if err != nil {
			t.Errorf("%s: ReadAudit() = %v", name, err)
			continue
		}
		got := a.Differences()
		if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
			t.Errorf("%s: Differences() = %q, want one with %q", name, got, test.want)
		}
	}
}

// reopen ends a session and says what is tried again.
func reopen(keys ...string) event.Event {
	return keyed{"end", event.TaskFailed{Status: "failed", Reopen: keys}}
}

// Two keys of step 0, which has only one.
const step0, other0 = "plan/0/step/0", "plan/0.1/step/0"

// TestAuditVotes: verdicts are what the samples before them give.
func TestAuditVotes(t *testing.T) {
	type votes = map[string]int
	undecided := verdict("q", 2, 0, votes{"a": 1, "b": 1})
	undecided.Status, undecided.Rule.MaxSamples = string(flow.Undecided), 2
	flags := func(n, most int) []event.Event {
		var list []event.Event
		for i := range n {
			list = append(list, flag("q", i))
		}
		given := verdict("q", 2, n, votes{})
		given.Status, given.Rule.MaxSamples = string(flow.FlaggedOut), most
		return append(list, given)
	}
	auditCases{
		"given up at the cap":          {events: flags(2, 3)},
		"given up as hopeless":         {events: flags(flow.Hopeless, 100)},
		"given up too early":           {events: flags(flow.Hopeless-1, 100), want: "after 19 red flags and 0 votes, which is too early"},
		"a vote":                       {events: []event.Event{sample("q", 0, "a"), flag("q", 1), sample("q", 2, "a"), verdict("q", 2, 1, votes{"a": 2})}},
		"a vote for another":           {events: []event.Event{sample("q", 0, "a"), sample("q", 1, "b"), verdict("q", 2, 0, votes{"a": 2})}, want: "the samples give the votes map[a:1 b:1]"},
		"a flag too many":              {events: []event.Event{sample("q", 0, "a"), sample("q", 1, "a"), verdict("q", 2, 1, votes{"a": 2})}, want: "0 red flags, the verdict says map[a:2] and 1"},
		"a lead that is too small":     {events: []event.Event{sample("q", 0, "a"), verdict("q", 2, 0, votes{"a": 1})}, want: "the rule says otherwise (margin 1)"},
		"decided and not":              {events: []event.Event{sample("q", 0, "a"), sample("q", 1, "b"), undecided}},
		"a late sample":                {events: []event.Event{sample("q", 0, "a"), flag("q", 1), verdict("q", 1, 0, votes{"a": 1})}, want: "after the decision"},
		"a rule of its own":            {events: []event.Event{sample("q", 0, "a"), sample("q", 1, "a"), sample("q", 2, "a"), verdict("q", 3, 0, votes{"a": 3})}},
		"a chain has the run's rule":   {kind: "hanoi", events: []event.Event{sample("q", 0, "a"), sample("q", 1, "a"), sample("q", 2, "a"), verdict("q", 3, 0, votes{"a": 3})}, want: "the samples give the votes map[a:2]"},
		"decided twice":                {events: []event.Event{sample("q", 0, "a"), verdict("q", 1, 0, votes{"a": 1}), sample("q", 0, "a"), verdict("q", 1, 0, votes{"a": 1})}, want: "the question q is decided twice"},
		"decided again after a reopen": {events: []event.Event{sample("q/1", 0, "a"), verdict("q/1", 1, 0, votes{"a": 1}), reopen("q"), event.RunResumed{}, sample("q/1", 0, "a"), verdict("q/1", 1, 0, votes{"a": 1})}},
		"asked again by an early release": {events: []event.Event{sample("q", 0, "a"), sample("q", 1, "b"), undecided, event.RunResumed{},
			sample("q", 0, "a"), verdict("q", 1, 0, votes{"a": 1})}},
		"a chain asks again under another rule": {kind: "hanoi", events: []event.Event{sample("q", 0, "a"), sample("q", 1, "a"), verdict("q", 2, 0, votes{"a": 2}),
			event.RunResumed{Config: []byte(`{"voting":{"strategy":"first_to_k","k":1,"max_samples":9}}`)}, sample("q", 0, "b"), verdict("q", 1, 0, votes{"b": 1})}},
		"a vote that begins anew": {events: []event.Event{sample("q", 0, "b"), event.RunResumed{}, sample("q", 0, "a"), sample("q", 1, "a"), verdict("q", 2, 0, votes{"a": 2})}},
		"a vote that goes on": {events: []event.Event{sample("q", 0, "a"), sample("q", 1, "b"), event.RunResumed{},
			event.VoteResumed{Question: "q", Samples: []int{0}}, sample("q", 2, "a"), verdict("q", 2, 0, votes{"a": 2})}},
		"it goes on in another order": {events: []event.Event{sample("q", 0, "a"), sample("q", 1, "a"), flag("q", 2), event.RunResumed{},
			event.VoteResumed{Question: "q", Samples: []int{2, 0, 1}}, verdict("q", 2, 1, votes{"a": 2})}},
		"it goes on under another rule": {events: []event.Event{sample("q", 0, "a"), sample("q", 1, "a"), event.RunResumed{},
			event.VoteResumed{Question: "q", Samples: []int{0}}, verdict("q", 1, 0, votes{"a": 1})}},
		"it goes on three times": {events: []event.Event{sample("q", 0, "a"), event.RunResumed{}, event.VoteResumed{Question: "q", Samples: []int{0}}, sample("q", 1, "b"),
			event.RunResumed{}, event.VoteResumed{Question: "q", Samples: []int{0, 1}}, sample("q", 2, "a"), sample("q", 3, "a"), verdict("q", 2, 0, votes{"a": 3, "b": 1})}},
		"a sample left out that spoke": {events: []event.Event{sample("q", 0, "a"), sample("q", 1, "b"), event.RunResumed{},
			event.VoteResumed{Question: "q", Samples: []int{0}}, sample("q", 2, "a"), verdict("q", 2, 0, votes{"a": 2, "b": 1})}, want: "the samples give the votes"},
		"a sample that counts twice": {events: []event.Event{sample("q", 0, "a"), event.RunResumed{},
			event.VoteResumed{Question: "q", Samples: []int{0, 0}}, sample("q", 1, "a"), verdict("q", 2, 0, votes{"a": 2})}, want: "goes on with sample 0"},
		"a sample that never was": {events: []event.Event{sample("q", 0, "a"), event.RunResumed{},
			event.VoteResumed{Question: "q", Samples: []int{0, 7}}, sample("q", 1, "a"), verdict("q", 2, 0, votes{"a": 2})}, want: "goes on with sample 7"},
	}.run(t)
}

// TestAuditOpenVotes: how a vote stood when the run was stopped is what its samples give.
func TestAuditOpenVotes(t *testing.T) {
	stopped := func(flags int, votes map[string]int) event.Event {
		return keyed{"end", event.TaskFailed{Status: event.StatusStopped, Open: []event.OpenVote{
			{Question: "q", Voting: event.Voting{Votes: votes, RedFlagged: flags}},
		}}}
	}
	auditCases{
		"as it stood":   {events: []event.Event{sample("q", 0, "a"), flag("q", 1), stopped(1, map[string]int{"a": 1})}},
		"only faults":   {events: []event.Event{stopped(0, map[string]int{})}},
		"a vote more":   {events: []event.Event{sample("q", 0, "a"), flag("q", 1), stopped(1, map[string]int{"a": 2})}, want: "the open vote says map[a:2] and 1"},
		"a flag hidden": {events: []event.Event{sample("q", 0, "a"), flag("q", 1), stopped(0, map[string]int{"a": 1})}, want: "and 1 red flags, the open vote says"},
		"over two sessions": {events: []event.Event{sample("q", 0, "a"), stopped(0, map[string]int{"a": 1}), event.RunResumed{},
			event.VoteResumed{Question: "q", Samples: []int{0}}, flag("q", 1), stopped(1, map[string]int{"a": 1})}},
	}.run(t)
}

// TestAuditSteps: a step happens once, under one key, and so does every event.
func TestAuditSteps(t *testing.T) {
	scoped := verdict(other0+"/move/0", 2, 0, map[string]int{"a": 2})
	scoped.Scope = other0
	auditCases{
		"a step":                         {events: []event.Event{started(step0, 0), completed(step0, 0)}},
		"a step of an early release":     {events: []event.Event{event.StepStarted{}, committedStep(0, 2)}},
		"steps that are left out":        {events: []event.Event{completed(step0, 0), completed("plan/0/step/4", 4)}},
		"a step that failed before":      {events: []event.Event{started(step0, 0), keyed{step0 + "/failed", event.StepFailed{}}, reopen(step0 + "/failed"), event.RunResumed{}, completed(step0, 0)}},
		"committed twice":                {events: []event.Event{completed(step0, 0), keyed{"", committedStep(0, 2)}}, want: "step 0 is committed twice"},
		"started under another key":      {events: []event.Event{completed(step0, 0), started(other0, 0)}, want: "step 0 happens under two keys: it is plan/0/step/0, and it was started under plan/0.1/step/0"},
		"failed under another key":       {events: []event.Event{started(step0, 0), keyed{other0 + "/failed", event.StepFailed{}}}, want: "step 0 happens under two keys"},
		"voted on under another key":     {events: []event.Event{started(step0, 0), sample(scoped.Question, 0, "a"), sample(scoped.Question, 1, "a"), scoped}, want: "step 0 happens under two keys"},
		"keys of a module of one's own":  {events: []event.Event{keyed{"event/step_started/0", event.StepStarted{}}, keyed{"event/step_completed/0", committedStep(0, 2)}}},
		"a key twice":                    {events: []event.Event{started(step0, 0), started(step0, 0)}, want: "the key plan/0/step/0/started is that of two events"},
		"a key twice after a reopen":     {events: []event.Event{started(step0, 0), reopen("plan/0"), event.RunResumed{}, started(step0, 0)}},
		"a key twice after another":      {events: []event.Event{started(step0, 0), reopen("plan/0/step/00"), event.RunResumed{}, started(step0, 0)}, want: "is that of two events"},
		"each session has its end":       {events: []event.Event{reopen(), event.RunResumed{}, reopen()}},
		"a chain skips a step":           {kind: "hanoi", events: []event.Event{committedStep(1, 2)}, want: "step 1 is committed where step 0 belongs"},
		"a chain with too few samples":   {kind: "hanoi", events: []event.Event{committedStep(0, 1)}, want: "margin of 1, the rule asks for 2"},
		"a completed chain that is none": {kind: "hanoi", events: []event.Event{committedStep(0, 2), event.TaskCompleted{}}, want: "completed with 1 of 3 steps"},
		"events of a later version":      {events: []event.Event{keyed{"end", later{}}, keyed{"end", later{}}}},
		"a second task":                  {events: []event.Event{task("exec")}, want: "event 1 submits a task"},
	}.run(t)
}

// TestAuditEffects: an effect is claimed before it is done, once, and before its step
// is over.
func TestAuditEffects(t *testing.T) {
	const effect0 = step0 + "/effect/0"
	released := event.EffectReleased{Effect: effect0, Tool: "Pay"}
	again := event.EffectClaimed{Effect: effect0, Scope: step0, Tool: "Pay", Again: true}
	auditCases{
		"an effect":                    {events: []event.Event{started(step0, 0), claim(effect0, step0, 0), effectDone(effect0, 0), completed(step0, 0)}},
		"equal calls of one step":      {events: []event.Event{started(step0, 0), claim(effect0, step0, 0), effectDone(effect0, 0), claim(step0+"/effect/1", step0, 0), effectDone(step0+"/effect/1", 0)}},
		"done unclaimed":               {events: []event.Event{effectDone(effect0, 0)}, want: "is done, but it was not claimed before ()"},
		"done twice":                   {events: []event.Event{claim(effect0, step0, 0), effectDone(effect0, 0), effectDone(effect0, 0)}, want: "is done, but it was not claimed before (done)"},
		"claimed after it was done":    {events: []event.Event{claim(effect0, step0, 0), effectDone(effect0, 0), claim(effect0, step0, 0)}, want: "is claimed after it was done"},
		"claimed after it was refused": {events: []event.Event{event.EffectRefused{Effect: effect0, Tool: "Pay"}, again}, want: "is claimed after it was refused"},
		"refused after it was claimed": {events: []event.Event{claim(effect0, step0, 0), event.EffectRefused{Effect: effect0, Tool: "Pay"}}, want: "is refused after it was claimed"},
		"claimed again":                {events: []event.Event{claim(effect0, step0, 0), event.RunResumed{}, again, effectDone(effect0, 0)}},
		"claimed twice":                {events: []event.Event{claim(effect0, step0, 0), event.RunResumed{}, claim(effect0, step0, 0)}, want: "is claimed after it was claimed"},
		"claimed after a release":      {events: []event.Event{claim(effect0, step0, 0), released, event.RunResumed{}, claim(effect0, step0, 0), effectDone(effect0, 0)}},
		"done after a release":         {events: []event.Event{claim(effect0, step0, 0), released, effectDone(effect0, 0)}, want: "not claimed before (released)"},
		"claimed after the commit":     {events: []event.Event{completed(step0, 0), claim(effect0, step0, 0)}, want: "is claimed after step 0 was committed"},
		"done after the commit":        {events: []event.Event{claim(effect0, step0, 0), completed(step0, 0), effectDone(effect0, 0)}, want: "is done after step 0 was committed"},
		"claimed under another key":    {events: []event.Event{started(step0, 0), claim(other0+"/effect/0", other0, 0)}, want: "it was acted on under plan/0.1/step/0"},
		"a claim without its scope":    {events: []event.Event{started(step0, 0), claim(other0+"/effect/0", "", 0)}, want: "it was acted on under plan/0.1/step/0"},
		"its own key without a scope":  {events: []event.Event{started(step0, 0), claim(step0+"/try/1/effect/0", "", 0)}},
		"a batch without a scope":      {events: []event.Event{started("plan/0/step/4", 4), claim("plan/0/batch/step/3/1/step/4/effect/0", "", 4)}},
		"an early log without keys":    {events: []event.Event{event.StepStarted{}, claim("plan/0/step/0/effect/0", "", 0), claim("plan/1/step/0/effect/0", "", 0)}},
		"a task without a scope":       {events: []event.Event{started("task/3", 2), claim("task/3/round/0/attempt/0/effect/0", "", 2), claim("task/3/round/1/attempt/0/command", "", 2)}},
	}.run(t)
}

// odd is a chain in which steps with an odd number are wrong, and every end is.
type odd struct{ domain.Chain }

func (odd) Check(step int, _ json.RawMessage) error {
	if step%2 == 1 {
		return fmt.Errorf("step %d is odd", step)
	}
	return nil
}

func (odd) Finish(json.RawMessage) error { return errors.New("this is no end") }

// TestAuditAsksTheFamily: a wrong step is a difference, unless the log says so too.
func TestAuditAsksTheFamily(t *testing.T) {
	chains := func(kind string, _ json.RawMessage) domain.Chain {
		if kind == "odd" {
			return odd{}
		}
		return nil
	}
	two := []event.Event{committedStep(0, 2), committedStep(1, 2)}
	for name, test := range map[string]struct {
		kind string
		end  event.Event
		want []string
	}{
		"going on":   {"odd", event.RunResumed{}, []string{"step 1 is odd"}},
		"known":      {"odd", event.TaskFailed{Status: "failed", Wrong: true}, nil},
		"completed":  {"odd", event.TaskCompleted{}, []string{"step 1 is odd", "the run is completed with 2 of 3 steps", "this is no end"}},
		"a stranger": {"even", event.TaskFailed{Status: "failed"}, nil},
	} {
		_, a, err := ReadAudit(written(t, append([]event.Event{task(test.kind)}, append(two[:2:2], test.end)...)...), chains)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Differences(); strings.Join(got, "; ") != strings.Join(test.want, "; ") {
			t.Errorf("%s: Differences() = %q, want %q", name, got, test.want)
		}
	}
}

func TestAuditFindsALostOutput(t *testing.T) {
	lost := committedStep(0, 2)
	lost.Output = event.Value{Ref: &event.Ref{SHA256: strings.Repeat("0", 64), Bytes: 20_000}}
	for _, kind := range []string{"hanoi", "exec"} {
		_, a, err := ReadAudit(written(t, task(kind), lost), nil)
		if err != nil || len(a.Differences()) != 1 || !strings.Contains(a.Differences()[0], "step 0: ") {
			t.Errorf("ReadAudit(%s whose output is lost) = %q, %v, want one difference about step 0", kind, a.Differences(), err)
		}
	}
}

// TestAuditHasAnEnd: nobody reads a million differences.
func TestAuditHasAnEnd(t *testing.T) {
	a := newAudit(nil)
	for n := range 1000 {
		a.note(difference{fmt.Sprint(n), n%2 == 0})
	}
	if got := a.Differences(); len(got) != MaxDifferences || got[0] != "0" {
		t.Errorf("Differences() = %q, want the first %d", got, MaxDifferences)
	}
	a.finish(&Report{Wrong: true})
	if got := a.Differences(); len(got) != MaxDifferences || got[0] != "1" {
		t.Errorf("Differences() of a run that is known to be wrong = %q, want %d others", got, MaxDifferences)
	}
}

// TestAuditOfAChain: red flags are samples too, and the margin is that of the rule.
func TestAuditOfAChain(t *testing.T) {
	flagged := committedStep(0, 2)
	flagged.Voting.RedFlagged, flagged.Voting.Samples = 3, 5
	short := flagged
	short.Voting.Samples = 2
	auditCases{
		"flagged":   {"hanoi", []event.Event{flagged}, ""},
		"one short": {"hanoi", []event.Event{short}, "do not give 2 samples"},
	}.run(t)
}

// TestAuditOfRequests: a request with a rule of its own is held against that.
func TestAuditOfRequests(t *testing.T) {
	by := func(k int, votes ...int) event.StepCompleted {
		e := committedStep(0, votes...)
		if k > 0 {
			e.Rule = &vote.Rule{Strategy: vote.FirstToK, K: k, MaxSamples: 10}
		}
		return e
	}
	submitted := task("session").(event.TaskSubmitted)
	submitted.Form, submitted.Steps = event.FormRequests, 0
	for name, test := range map[string]struct {
		step event.StepCompleted
		want string
	}{
		"the run's":          {by(0, 2), ""},
		"less than the run":  {by(0, 1), "a margin of 1, the rule asks for 2"},
		"its own":            {by(4, 4), ""},
		"less than its own":  {by(4, 3), "a margin of 3, the rule asks for 4"},
		"its own, and lower": {by(1, 1), ""},
	} {
		_, a, err := ReadAudit(writtenKeyed(t, submitted, event.StepStarted{Step: 0}, test.step), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := a.Differences()
		if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestAuditOfACalibratedRun: the votes after a calibration have its margin.
func TestAuditOfACalibratedRun(t *testing.T) {
	voted := func(k int) []event.Event {
		events := []event.Event{event.Calibrated{K: 2}}
		for n := range k {
			events = append(events, sample("solve/0/solve", n, "a"))
		}
		return append(events, verdict("solve/0/solve", k, 0, map[string]int{"a": k}))
	}
	auditCases{
		"as measured": {"solve", voted(2), ""},
		"as before":   {"solve", voted(3), "the margin of the vote is 3, calibration gave 2"},
	}.run(t)
}

// TestAStepWhoseOutputIsLost: the error names its line, as editors count.
func TestAStepWhoseOutputIsLost(t *testing.T) {
	step := committedStep(0, 2)
	step.Output = event.Value{Ref: &event.Ref{SHA256: strings.Repeat("ab", 32), Bytes: 9}}
	_, err := read(t, written(t, task("hanoi"), step))
	wantError(t, "Finish()", err, "line 2:")
}
