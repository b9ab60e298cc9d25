package maker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

func said(text string) maker.ChatRequest {
	return maker.ChatRequest{Chat: flow.Chat{Messages: []flow.ChatMessage{{Role: "user", Text: text}}}, Answer: reader.Number{}.Format()}
}

// TestSession: requests that come at the same time are steps of one run, each voted on; what
// was asked stands in the log, and a resume goes on with new numbers.
func TestSession(t *testing.T) {
	dir := t.TempDir()
	engine, err := maker.New(&maker.Options{Config: maker.Config{Model: "sim/default?p=0.8&seed=3", Voting: maker.FirstToK(4)}, LogDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	s, err := engine.Session(ctx, "a test")
	if err != nil {
		t.Fatal(err)
	}
	steps := askSums(t, s, 20)
	cancel(maker.ErrPaused)
	if r, err := s.Run().Result(); err != nil || r.Stop != event.StopPaused {
		t.Fatalf("result %+v, %v, want it paused", r, err)
	}
	if _, err := s.Ask(t.Context(), said("What is 1 + 1?")); !isEnded(err) {
		t.Errorf("after the end: %v", err)
	}

	again, err := engine.ResumeSession(t.Context(), s.Run().ID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for step := range askSums(t, again, 10) {
		if steps[step] || step < 20 {
			t.Errorf("step %d is used twice", step)
		}
	}
	r, err := again.Close()
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != event.StatusCompleted || r.StepsCompleted != 30 {
		t.Errorf("%s with %d steps, want 30", r.Status, r.StepsCompleted)
	}
	run, err := runs.Open(s.Run().Dir())
	if err != nil {
		t.Fatal(err)
	}
	replay, err := run.Replay(nil)
	if err != nil || len(replay.Differences) > 0 {
		t.Errorf("replay: %v, %v", replay, err)
	}
	c, err := run.Certify()
	if err != nil || c.Votes.Races != 30 {
		t.Errorf("certificate of %d questions, %v; want 30", c.Votes.Races, err)
	}
	if asked, err := run.Request(25); err != nil || !strings.HasPrefix(asked, "user: What is ") {
		t.Errorf("step 25 was asked %q, %v", asked, err)
	}
	asked := 0
	for rec, err := range run.Events(0) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := rec.Event.(event.StepStarted); ok {
			if asked++; len(e.Request) != 2 || e.Title == "" {
				t.Errorf("step %d was asked %v", e.Step, e.Request)
			}
		}
	}
	if asked != 30 {
		t.Errorf("%d requests in the log, want 30", asked)
	}
}

func isEnded(err error) bool {
	_, ok := errors.AsType[*maker.SessionEndedError](err)
	return ok
}

// askSums asks for n sums at the same time and returns the numbers of their steps.
func askSums(t *testing.T, s *maker.Session, n int) map[int]bool {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	steps := map[int]bool{}
	for i := range n {
		all.Go(func() {
			v, err := s.Ask(t.Context(), said(fmt.Sprintf("What is %d + %d?", i, 2*i+1)))
			if err != nil {
				t.Error(err)
				return
			}
			var turn flow.ChatTurn
			if err := json.Unmarshal(v.Answer, &turn); err != nil || v.Status != flow.Decided || turn.Text != fmt.Sprint(3*i+1) {
				t.Errorf("%d + %d: %s %q (%v)", i, 2*i+1, v.Status, turn.Text, err)
			}
			if v.Tokens.Total() == 0 {
				t.Error("nobody knows what the winner took")
			}
			mu.Lock()
			defer mu.Unlock()
			steps[v.Step] = true
		})
	}
	all.Wait()
	if len(steps) != n {
		t.Errorf("%d steps for %d requests", len(steps), n)
	}
	return steps
}

// TestSessionGone: whoever goes away ends the vote on its own request, and nothing else.
func TestSessionGone(t *testing.T) {
	engine, err := maker.New(&maker.Options{Config: maker.Config{Model: "sim/default?latency=10s,0", Voting: maker.FirstToK(2)}, LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	s, err := engine.Session(ctx, "a test")
	if err != nil {
		t.Fatal(err)
	}
	client, leave := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := s.Ask(client, said("What is 1 + 1?"))
		gone <- err
	}()
	for rec, err := range s.Run().Events(t.Context()) { // until it is under way
		if err != nil {
			t.Fatal(err)
		}
		if rec.Event.Type() == event.TypeStepStarted {
			break
		}
	}
	leave()
	if err := <-gone; !errors.Is(err, maker.ErrGone) {
		t.Errorf("the request ended with %v", err)
	}
	select {
	case <-s.Run().Done():
		t.Error("the session has ended too")
	default:
	}
	cancel(maker.ErrPaused)
	r, err := s.Run().Result()
	if err != nil || r.Stop != event.StopPaused || len(r.Unsettled) != 1 || r.Unsettled[0].Status != "gone" {
		t.Errorf("result %+v, %v", r, err)
	}
}

// TestSessionWith: requests of one session may be put to other models and decided by other
// rules; what concerns the whole run is not taken from there.
func TestSessionWith(t *testing.T) {
	engine, err := maker.New(&maker.Options{Config: maker.Config{Model: "sim/default?p=0.9&seed=3", Voting: maker.FirstToK(4)}, LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	with := func(s *maker.Session, c maker.Config) (*maker.Session, error) {
		other, err := engine.With(&maker.Options{Config: c})
		if err != nil {
			t.Fatal(err)
		}
		return s.With(other)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	s, err := engine.Session(ctx, "a test")
	if err != nil {
		t.Fatal(err)
	}
	right, err := with(s, maker.Config{Model: "sim/default?p=1", Voting: maker.FirstToK(6)})
	if err != nil {
		t.Fatal(err)
	}
	askSums(t, s, 5)
	for range 5 {
		v, err := right.Ask(t.Context(), said("What is 20 + 22?"))
		if err != nil || v.Run != s.Run().ID() || v.Voting.Margin != 6 || v.Voting.Samples != 6 {
			t.Fatalf("another model, which is always right, by a lead of 6: %+v, %v", v, err)
		}
	}
	// A request that is not agreed on is one of its model's class too.
	unsure, err := with(s, maker.Config{Model: "sim/default?p=0.5&seed=2", Voting: vote.Rule{Strategy: vote.FirstToK, K: 9, MaxSamples: 9}})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := unsure.Ask(t.Context(), said("What is 20 + 22?")); err != nil || v.Status == flow.Decided {
		t.Fatalf("voters who are right every other time: %+v, %v", v, err)
	}
	// Several models share the samples of a request.
	both := []string{"sim/default?p=1&seed=5", "sim/default?p=1&seed=6"}
	pool, err := with(s, maker.Config{Model: both[0], Voters: both, Voting: maker.FirstToK(4)})
	if err != nil {
		t.Fatal(err)
	}
	v, err := pool.Ask(t.Context(), said("What is 20 + 22?"))
	if err != nil || v.Run != s.Run().ID() || v.Voting.Samples != 4 || len(v.Voting.Shares) != 2 {
		t.Fatalf("two models, by a lead of 4: %+v, %v", v, err)
	}
	for i, share := range v.Voting.Shares {
		if share.Voter != both[i] || share.Votes != 2 {
			t.Errorf("the share of voter %d: %+v", i, share)
		}
	}
	for name, c := range map[string]maker.Config{
		"voters: there is no model": {Voters: []string{"sim/default?p=0.8", flow.Reasoning}},
		"voters: ":                  {Voters: []string{"sim/default?p=0.8", "sim/default?p=7"}},
		"model: there is no model":  {Model: flow.Cheap},
		"OPENAI_API_KEY":            {Model: "openai/gpt-4.1-mini"},
		"setting p=7: out of range": {Model: "sim/default?p=7"},
	} {
		if _, err := with(s, c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("With() = %v, want %q", err, name)
		}
	}
	cancel(maker.ErrPaused)
	if r, err := s.Run().Result(); err != nil || r.Stop != event.StopPaused || r.StepsCompleted != 11 {
		t.Fatalf("result %+v, %v", r, err)
	}
	run, err := runs.Open(s.Run().Dir())
	if err != nil {
		t.Fatal(err)
	}
	if replay, err := run.Replay(nil); err != nil || len(replay.Differences) > 0 {
		t.Errorf("replay: %v, %v", replay, err)
	}
	c, err := run.Certify()
	if err != nil {
		t.Fatal(err)
	}
	races := map[string]int{}
	for _, class := range c.Classes {
		races[class.Class] = class.Races
	}
	if diff := cmp.Diff(map[string]int{"session": 5, "session@sim/default?p=1": 5, "session@sim/default?p=0.5&seed=2": 1, "session@" + strings.Join(both, ","): 1}, races); diff != "" {
		t.Errorf("the classes of the certificate: -want +got\n%s", diff)
	}
	if asked, err := run.Request(5); err != nil || !strings.HasPrefix(asked, "(put to sim/default?p=1; first to lead by 6, at most 300 samples)\n\nuser: ") {
		t.Errorf("step 5 was asked %q, %v", asked, err)
	}
}

// TestSessionBudget: a budget that is used up ends the session, with a word for all who ask.
func TestSessionBudget(t *testing.T) {
	engine, err := maker.New(&maker.Options{Config: maker.Config{Model: "sim/default", Voting: maker.FirstToK(2), MaxCalls: 5}, LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s, err := engine.Session(t.Context(), "a test")
	if err != nil {
		t.Fatal(err)
	}
	askSums(t, s, 2)
	for range 2 {
		_, err := s.Ask(t.Context(), said("What is 1 + 1?"))
		if ended, ok := errors.AsType[*maker.SessionEndedError](err); !ok || ended.Result.Stop != "max_calls" {
			t.Errorf("asked beyond the budget: %v", err)
		}
	}
	more, err := engine.ResumeSession(t.Context(), s.Run().ID(), &maker.ResumeOptions{Change: func(c *maker.Config) { c.MaxCalls = 100 }})
	if err != nil {
		t.Fatal(err)
	}
	askSums(t, more, 3)
	if r, err := more.Close(); err != nil || r.StepsCompleted != 5 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSessionManyModels: a session opens so many models and no more, and goes on with those that
// it has.
func TestSessionManyModels(t *testing.T) {
	engine := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=1", Voting: maker.FirstToK(2)}})
	defer engine.Close()
	s, err := engine.Session(t.Context(), "a test")
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	with := func(seed int) (*maker.Session, error) {
		name := fmt.Sprintf("sim/default?p=1&seed=%d", seed)
		other, err := engine.With(&maker.Options{Config: maker.Config{Model: name, ModelCheap: "sim/default?p=1", ModelReasoning: "sim/default?p=1", Voters: []string{name, "sim/default?p=1"}}})
		if err != nil {
			t.Fatal(err)
		}
		return s.With(other)
	}
	for ; opened < 300; opened++ {
		if _, err = with(opened); err != nil {
			break
		}
	}
	if opened < 120 || opened > 128 || err == nil || !strings.Contains(err.Error(), "voters: the session "+s.Run().ID()+" has asked 256 models") {
		t.Errorf("after %d pairs of voters: %v", opened, err)
	}
	known, err := with(0)
	if err != nil {
		t.Fatalf("voters that are open: %v", err)
	}
	if v, err := known.Ask(t.Context(), said("What is 20 + 22?")); err != nil || v.Status != flow.Decided {
		t.Errorf("voters that are open: %+v, %v", v, err)
	}
	if _, err := s.Close(); err != nil {
		t.Error(err)
	}
}
