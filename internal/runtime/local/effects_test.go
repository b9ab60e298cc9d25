package local

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// world is what the tools of a test change.
type world struct {
	ran    []string
	run    func(ctx context.Context, input string) (tool.Result, error)
	asked  []string
	answer func(q *flow.HumanQuestion) (string, error)
	policy approval.Policy
	redact runlog.Redact
	chain  bool
	more   []tool.Tool

	mayBreak bool // the log may be unable to end well
}

type payInput struct {
	To string `json:"to"`
}

type askInput struct {
	Question string   `json:"question"`
	Options  []string `json:"options,omitempty"`
}

func (w *world) registry(t *testing.T) *tool.Registry {
	t.Helper()
	made := func(name string, idempotent bool) tool.Tool {
		m, err := tool.New(tool.Tool{Name: name, Class: tool.Mutate, Idempotent: idempotent}, func(ctx context.Context, in payInput) (tool.Result, error) {
			w.ran = append(w.ran, name+" "+in.To)
			if w.run != nil {
				return w.run(ctx, in.To)
			}
			return tool.Result{Text: "paid " + in.To}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	human, err := tool.New[askInput](tool.Tool{Name: "AskUserQuestion", Class: tool.Human}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := tool.NewRegistry()
	if err := r.Register(append(w.more, made("Pay", false), made("Set", true), human)...); err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) person() person.Person {
	if w.answer == nil {
		return nil
	}
	return person.Func(func(_ context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
		w.asked = append(w.asked, key+": "+q.Text)
		text, err := w.answer(q)
		if err != nil {
			return nil, err
		}
		return &flow.Answer{Text: text, By: "test"}, nil
	})
}

// act runs an orchestrator with the world's tools against the log in dir, as a new
// process would.
func (w *world) act(t *testing.T, dir string, orchestrate func(flow.Flow) error) error {
	t.Helper()
	return w.actWith(t.Context(), t, dir, orchestrate)
}

func (w *world) actWith(ctx context.Context, t *testing.T, dir string, orchestrate func(flow.Flow) error) error {
	t.Helper()
	past := history.New(dir)
	log, _, err := runlog.Open(dir, w.redact, past.Visit)
	if err != nil {
		past = nil
		if log, err = runlog.Create(dir, "run", w.redact); err != nil {
			t.Fatal(err)
		}
		if err := log.Append(event.TaskSubmitted{Format: event.Format, Kind: "test", Form: event.FormPlan}); err != nil {
			t.Fatal(err)
		}
	} else if err := past.Finish(); err != nil {
		t.Fatal(err)
	}
	b := ballot.New([]ballot.Voter{{Name: "m", Model: &echo{}}}, readers, nil)
	r := New(Options{
		Log: log, Ballot: b, Ledger: budget.New(budget.Limits{}, usage.Spent{}), Past: past, Checkpoints: w.chain,
		Tools: w.registry(t), Approve: w.policy, Person: w.person(), Redact: w.redact,
	})
	runErr := orchestrate(r.Flow(ctx))
	b.Close()
	if err := log.Close(); err != nil && !w.mayBreak {
		t.Fatal(err)
	}
	return runErr
}

func call(name, to string) *flow.Effect {
	input, err := json.Marshal(payInput{to})
	if err != nil {
		panic(err)
	}
	intent, err := tool.NewIntent(name, input)
	if err != nil {
		panic(err)
	}
	return &flow.Effect{Step: 3, Intent: intent, Voting: event.Voting{Samples: 3, Margin: 3}}
}

// performs is an orchestrator with one effect; its result goes to got.
func performs(e *flow.Effect, got *flow.Result) func(flow.Flow) error {
	return func(f flow.Flow) error {
		r, err := f.Perform("step/3/effect/0", e)
		if err != nil {
			return err
		}
		*got = *r
		return nil
	}
}

func sequence(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Type != event.TypeTaskSubmitted {
			out = append(out, string(line.Type))
		}
	}
	return out
}

func TestAnEffectHappensOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w := &world{}
	// Characters that JSON in a log writes in another way than the intent has them.
	e := call("Pay", `<Ann> & "Bob"`)
	for range 3 {
		var got flow.Result
		if err := w.act(t, dir, performs(e, &got)); err != nil {
			t.Fatal(err)
		}
		if want := `paid <Ann> & "Bob"`; got.Text != want || got.IsError {
			t.Errorf("Perform() = %+v, want %s", got, want)
		}
	}
	if len(w.ran) != 1 {
		t.Errorf("it ran %d times: %q", len(w.ran), w.ran)
	}
	if diff := cmp.Diff([]string{"effect_claimed", "effect_done"}, sequence(t, dir)); diff != "" {
		t.Errorf("log: -want +got\n%s", diff)
	}
	// The same key for something else is a log of another run, not a second effect.
	var got flow.Result
	if err := w.act(t, dir, performs(call("Pay", "Eve"), &got)); err == nil || len(w.ran) != 1 {
		t.Errorf("Perform(another intent) = %v after %d runs, want an error", err, len(w.ran))
	}
}

// TestTheClaimIsOnDiskFirst looks at the log while the effect runs.
func TestTheClaimIsOnDiskFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w := &world{}
	w.run = func(context.Context, string) (tool.Result, error) {
		if diff := cmp.Diff([]string{"effect_claimed"}, sequence(t, dir)); diff != "" {
			t.Errorf("the log while the effect runs: -want +got\n%s", diff)
		}
		return tool.Result{Text: "ok"}, nil
	}
	var got flow.Result
	if err := w.act(t, dir, performs(call("Pay", "Ann"), &got)); err != nil || got.Text != "ok" {
		t.Errorf("Perform() = %+v, %v", got, err)
	}
}

// claimed is the log of a session that died between claim and outcome.
func claimed(t *testing.T, name string) string {
	t.Helper()
	return written(t,
		event.TaskSubmitted{Format: event.Format, Kind: "test", Form: event.FormPlan},
		event.EffectClaimed{Effect: "step/3/effect/0", Step: 3, Tool: name, Input: event.JSONValue(json.RawMessage(`{"to":"Ann"}`))},
	)
}

func TestAnUnknownOutcome(t *testing.T) {
	said := func(text string) func(*flow.HumanQuestion) (string, error) {
		return func(*flow.HumanQuestion) (string, error) { return text, nil }
	}
	for name, test := range map[string]struct {
		tool   string
		answer func(*flow.HumanQuestion) (string, error)
		ran    int
		want   flow.Result
		log    []string
	}{
		"idempotent: repeated": {tool: "Set", ran: 1, want: flow.Result{Text: "paid Ann"},
			log: []string{"effect_claimed", "effect_unknown", "effect_claimed", "effect_done"}},
		"nobody there: the step fails": {tool: "Pay", want: flow.Result{IsError: true, Unknown: true},
			log: []string{"effect_claimed", "effect_unknown", "clarification_requested"}},
		"it happened": {tool: "Pay", answer: said(effect.Happened), want: flow.Result{Text: "A person says that the call took effect. Its output is lost."},
			log: []string{"effect_claimed", "effect_unknown", "clarification_requested", "clarification_provided", "effect_done"}},
		"it did not": {tool: "Pay", answer: said(effect.NotYet), ran: 1, want: flow.Result{Text: "paid Ann"},
			log: []string{"effect_claimed", "effect_unknown", "clarification_requested", "clarification_provided", "effect_claimed", "effect_done"}},
		"stop": {tool: "Pay", answer: said(effect.GiveUp), want: flow.Result{IsError: true, Unknown: true},
			log: []string{"effect_claimed", "effect_unknown", "clarification_requested", "clarification_provided"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := claimed(t, test.tool)
			w := &world{answer: test.answer}
			var got flow.Result
			if err := w.act(t, dir, performs(call(test.tool, "Ann"), &got)); err != nil {
				t.Fatal(err)
			}
			if test.want.Text == "" {
				got.Text = ""
			}
			if diff := cmp.Diff(test.want, got); diff != "" || len(w.ran) != test.ran {
				t.Errorf("Perform() ran %d times, want %d; -want +got\n%s", len(w.ran), test.ran, diff)
			}
			if diff := cmp.Diff(test.log, sequence(t, dir)); diff != "" {
				t.Errorf("log: -want +got\n%s", diff)
			}
			// Whatever came of it, another session does not run it again.
			if err := w.act(t, dir, performs(call(test.tool, "Ann"), &got)); err != nil || len(w.ran) != test.ran {
				t.Errorf("a later session = %v after %d runs, want %d", err, len(w.ran), test.ran)
			}
		})
	}
}

// TestAToolThatDoesNotKnow: a lost connection is as good as a crash.
func TestAToolThatDoesNotKnow(t *testing.T) {
	for name, want := range map[string]int{"Pay": 1, "Set": 2} {
		dir := filepath.Join(t.TempDir(), "run")
		w := &world{}
		w.run = func(context.Context, string) (tool.Result, error) {
			if len(w.ran) > 1 {
				return tool.Result{Text: "ok"}, nil
			}
			return tool.Result{}, errors.Join(tool.ErrUnknownOutcome, errors.New("connection lost"))
		}
		var got flow.Result
		if err := w.act(t, dir, performs(call(name, "Ann"), &got)); err != nil || len(w.ran) != want || got.Unknown != (name == "Pay") {
			t.Errorf("Perform(%s) = %+v, %v after %d runs, want %d", name, got, err, len(w.ran), want)
		}
	}
}

func TestACancelledEffectIsUnknown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("interrupted")
	w := &world{}
	w.run = func(ctx context.Context, _ string) (tool.Result, error) {
		cancel(over)
		return tool.Failed("killed"), nil
	}
	var got flow.Result
	if err := w.actWith(ctx, t, dir, performs(call("Pay", "Ann"), &got)); !errors.Is(err, over) {
		t.Errorf("Perform() = %v, want the cause of the end", err)
	}
	if diff := cmp.Diff([]string{"effect_claimed", "effect_unknown"}, sequence(t, dir)); diff != "" {
		t.Errorf("log: -want +got\n%s", diff)
	}
	// One that ended well in spite of it has happened, and that is kept.
	dir = filepath.Join(t.TempDir(), "run")
	ctx, cancel = context.WithCancelCause(t.Context())
	w.run = func(context.Context, string) (tool.Result, error) {
		cancel(over)
		return tool.Result{Text: "done"}, nil
	}
	if err := w.actWith(ctx, t, dir, performs(call("Pay", "Ann"), &got)); err != nil || got.Text != "done" {
		t.Errorf("Perform() = %+v, %v, want what happened", got, err)
	}
	if diff := cmp.Diff([]string{"effect_claimed", "effect_done"}, sequence(t, dir)); diff != "" {
		t.Errorf("log: -want +got\n%s", diff)
	}
}

func TestApproval(t *testing.T) {
	deny, err := approval.ParseRules([]string{"Pay(to=Eve)"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		to, answer string
		ran        int
		want       string
		log        []string
	}{
		"yes":            {"Ann", "yes", 1, "paid Ann", []string{"clarification_requested", "clarification_provided", "effect_claimed", "effect_done"}},
		"no":             {"Ann", "no", 0, "The call was not made: a person refused it", []string{"clarification_requested", "clarification_provided", "effect_refused"}},
		"no, with words": {"Ann", "pay Bob", 0, "The call was not made: a person refused it: pay Bob", []string{"clarification_requested", "clarification_provided", "effect_refused"}},
		"denied by rule": {"Eve", "yes", 0, "The call was not made: rule: deny Pay(to=Eve)", []string{"effect_refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			w := &world{policy: approval.Policy{Mode: approval.Mutate, Deny: deny}}
			w.answer = func(q *flow.HumanQuestion) (string, error) {
				if q.Kind != event.ClarifyApproval || q.Call == nil || string(q.Call.Input) != `{"to":"Ann"}` || q.Voting == nil || q.Voting.Margin != 3 {
					t.Errorf("the approver saw %+v, want the call and the vote", q)
				}
				return test.answer, nil
			}
			for range 2 { // the second session asks nobody and does nothing
				var got flow.Result
				if err := w.act(t, dir, performs(call("Pay", test.to), &got)); err != nil {
					t.Fatal(err)
				}
				if got.Text != test.want || got.IsError != (test.ran == 0) || len(w.ran) != test.ran {
					t.Errorf("Perform() = %+v after %d runs, want %q after %d", got, len(w.ran), test.want, test.ran)
				}
			}
			if diff := cmp.Diff(test.log, sequence(t, dir)); diff != "" {
				t.Errorf("log: -want +got\n%s", diff)
			}
		})
	}
}

// TestWaiting: a run without a person stops before anything is claimed, and goes on
// once there is an answer.
func TestWaiting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w := &world{policy: approval.Policy{Mode: approval.Mutate}}
	for range 2 {
		var got flow.Result
		err := w.act(t, dir, performs(call("Pay", "Ann"), &got))
		waiting, ok := errors.AsType[*person.WaitingError](err)
		if !ok || waiting.Question.Kind != event.ClarifyApproval || !strings.Contains(waiting.Error(), "Pay") {
			t.Fatalf("Perform() = %v, want to wait", err)
		}
	}
	if diff := cmp.Diff([]string{"clarification_requested"}, sequence(t, dir)); diff != "" {
		t.Errorf("log: -want +got\n%s", diff)
	}
	w.answer = func(*flow.HumanQuestion) (string, error) { return "yes", nil }
	var got flow.Result
	if err := w.act(t, dir, performs(call("Pay", "Ann"), &got)); err != nil || got.Text != "paid Ann" || len(w.ran) != 1 {
		t.Errorf("Perform() = %+v, %v after %d runs, want that it was paid", got, err, len(w.ran))
	}
}

func TestAsk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w := &world{answer: func(q *flow.HumanQuestion) (string, error) { return q.Options[1], nil }}
	input := json.RawMessage(`{"options":["red","blue"],"question":"Which?"}`)
	for range 2 {
		var viaTool flow.Result
		var direct *flow.Answer
		err := w.act(t, dir, func(f flow.Flow) (err error) {
			if err := performs(&flow.Effect{Intent: event.Intent{Tool: "AskUserQuestion", Input: input}}, &viaTool)(f); err != nil {
				return err
			}
			direct, err = f.Ask("mine", &flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: "And?", Options: []string{"x", "y"}})
			return err
		})
		if err != nil || viaTool.Text != "blue" || direct.Text != "y" || direct.By != "test" {
			t.Errorf("Ask() = %+v, %+v, %v, want blue and y", viaTool, direct, err)
		}
	}
	if diff := cmp.Diff([]string{"step/3/effect/0: Which?", "mine: And?"}, w.asked); diff != "" {
		t.Errorf("asked: -want +got\n%s", diff)
	}
}

func TestNoEffectsWithoutAJournal(t *testing.T) {
	w := &world{chain: true, answer: func(*flow.HumanQuestion) (string, error) { return "yes", nil }}
	var got flow.Result
	if err := w.act(t, filepath.Join(t.TempDir(), "run"), performs(call("Pay", "Ann"), &got)); !errors.Is(err, errNoJournal) || len(w.ran) != 0 {
		t.Errorf("Perform(in a chain) = %v after %d runs, want %v", err, len(w.ran), errNoJournal)
	}
}

// TestKeysAreNotSpent: a call with one of our keys in it is not made, and the key is
// not in the log.
func TestKeysAreNotSpent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w := &world{redact: func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "sk-secret", "[redacted]")) }}
	var got flow.Result
	if err := w.act(t, dir, performs(call("Pay", "sk-secret"), &got)); err != nil || !got.IsError || len(w.ran) != 0 {
		t.Errorf("Perform(a key) = %+v, %v after %d runs, want a refusal", got, err, len(w.ran))
	}
	for line, err := range runlog.Read(dir) {
		if err != nil || strings.Contains(string(line.Raw), "sk-secret") {
			t.Errorf("the log has %s, %v", line.Raw, err)
		}
	}
}

func TestAnUnavailableToolIsRefused(t *testing.T) {
	w := &world{}
	var got flow.Result
	if err := w.act(t, filepath.Join(t.TempDir(), "run"), performs(call("Fly", "Ann"), &got)); err != nil || !got.IsError || !strings.Contains(got.Text, "Fly") {
		t.Errorf("Perform(no such tool) = %+v, %v, want a refusal that names it", got, err)
	}
}

// TestACancelDuringTheClaim: a run that is ended while a claim is on its way to the
// disk has not begun the call. A resume makes it, and asks nobody.
func TestACancelDuringTheClaim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("interrupted")
	w := &world{redact: func(line []byte) []byte {
		if strings.Contains(string(line), `"effect_claimed"`) {
			cancel(over)
		}
		return line
	}}
	var got flow.Result
	if err := w.actWith(ctx, t, dir, performs(call("Pay", "Ann"), &got)); !errors.Is(err, over) || len(w.ran) != 0 {
		t.Errorf("Perform(cancelled while it was claimed) = %v after %d executions, want %v after none", err, len(w.ran), over)
	}
	w.redact = nil
	if err := w.act(t, dir, performs(call("Pay", "Ann"), &got)); err != nil || got.Text != "paid Ann" || len(w.ran) != 1 {
		t.Errorf("Perform(again) = %+v, %v after %d executions, want it done once", got, err, len(w.ran))
	}
	if len(w.asked) > 0 {
		t.Errorf("the person was asked %q, want nothing: it is known that it did not happen", w.asked)
	}
}

// TestAHumanToolOfOnesOwn: what a tool for a person asks need not be called a
// question.
func TestAHumanToolOfOnesOwn(t *testing.T) {
	type order struct {
		Dish string `json:"dish"`
	}
	waiter, err := tool.New[order](tool.Tool{Name: "Order", Class: tool.Human}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{answer: func(*flow.HumanQuestion) (string, error) { return "with salt", nil }, more: []tool.Tool{waiter}}
	var got flow.Result
	e := &flow.Effect{Intent: event.Intent{Tool: "Order", Input: json.RawMessage(`{"dish":"soup"}`)}}
	if err := w.act(t, filepath.Join(t.TempDir(), "run"), performs(e, &got)); err != nil || got.Text != "with salt" {
		t.Fatalf("Perform(Order) = %+v, %v, want the person's answer", got, err)
	}
	if len(w.asked) != 1 || !strings.Contains(w.asked[0], `Order asks: {"dish":"soup"}`) {
		t.Errorf("the person was asked %q, want what the tool was called with", w.asked)
	}
}
