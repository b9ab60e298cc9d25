package flowtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/vote"
)

// A World is what is outside of a run: voters, a tool, a person, and something to
// look at. A runtime that is tested has to reach the World for each of them; it
// counts how often it does. Its methods may be called from several goroutines.
type World struct {
	mu       sync.Mutex
	counts   map[string]int
	absent   bool
	onAbsent func()
	refuse   error                           // what voters say instead of an answer
	acting   func(ctx context.Context) error // called while a tool acts
	changed  string                          // what a look sees
}

// NewWorld returns a world as it is at first.
func NewWorld() *World { return &World{counts: map[string]int{}, changed: "as it was"} }

// The kinds of things that a run of the suite asks a runtime for.
const (
	// Reader reads an answer as it stands: it is the vote and, as a JSON string, the
	// value.
	Reader = "flowtest"

	// Tool is a tool that changes something and must not be repeated on a guess. Its
	// input is {"what": "..."}.
	Tool = "FlowtestAct"

	// LookKind is a look whose result is a string.
	LookKind = "flowtest"
)

// Vote is how every voter answers a prompt. An error ends the run, as a budget does.
func (w *World) Vote(prompt string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return "", w.refuse
	}
	w.counts["vote "+prompt]++
	if strings.HasPrefix(prompt, "nobody agrees") {
		return fmt.Sprint(prompt, w.counts["vote "+prompt]), nil
	}
	return "yes to " + prompt, nil
}

// Act is what [Tool] does. What it returns is the result; an error is one that
// nobody expected.
func (w *World) Act(ctx context.Context, what string) (string, error) {
	w.mu.Lock()
	w.counts["act "+what]++
	acting := w.acting
	w.mu.Unlock()
	if acting != nil {
		if err := acting(ctx); err != nil {
			return "", err
		}
	}
	return "did " + what, nil
}

// Answer is what the person says; false if nobody is there.
func (w *World) Answer(question string) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.absent {
		if w.onAbsent != nil {
			w.onAbsent()
		}
		return "", false
	}
	w.counts["answer "+question]++
	return "my answer to " + question, true
}

// Look is what [LookKind] sees.
func (w *World) Look() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts["look"]++
	return w.changed
}

func (w *World) count(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[what]
}

func (w *World) set(change func(*World)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

// A Runtime is what the suite tests: one run of a runtime, which goes on from session
// to session.
type Runtime interface {
	// Session runs an orchestrator as the next session, which ends with ctx, and
	// returns its error. Calls of [Tool] need no approval.
	Session(ctx context.Context, orchestrate func(flow.Flow) error) error

	// Records are the events of the run so far that orchestrators emitted, in order,
	// with their keys. Others may be left out.
	Records() ([]event.Record, error)
}

// A Crasher is a Runtime whose sessions can be killed.
type Crasher interface {
	Runtime

	// Crash runs an orchestrator as the next session and kills it once n events of the
	// session are durable, at the latest. It reports whether it came to that.
	Crash(n int, orchestrate func(flow.Flow) error) (crashed bool, err error)
}

// TestFlow is the suite that every runtime has to pass. open returns a new run whose
// voters, tools, person and looks are those of the world; it says with waiting which
// errors of a flow mean that the run waits for a person.
func TestFlow(t *testing.T, open func(t *testing.T, w *World) Runtime, waiting func(error) bool) {
	for _, test := range []struct {
		name string
		run  func(*suite)
	}{
		{"the same key gives the same verdict", (*suite).verdicts},
		{"a question without a winner is a verdict", (*suite).undecided},
		{"an effect happens once", (*suite).effects},
		{"a person is asked once", (*suite).person},
		{"a person who is absent is asked again", (*suite).absent},
		{"the world is looked at once", (*suite).looks},
		{"a key is used once", (*suite).keys},
		{"branches have keys of their own", (*suite).branches},
		{"the error of the lowest branch counts", (*suite).branchErrors},
		{"waiting does not end the branches beside it", (*suite).waitingBranch},
		{"events come once and in order", (*suite).events},
		{"an event that is another one ends the run", (*suite).divergence},
		{"a failure says what is asked again", (*suite).reopening},
		{"a cancelled run goes on later", (*suite).cancelled},
		{"a cancelled effect is not repeated", (*suite).cancelledEffect},
		{"a budget stops the run and nothing is lost", (*suite).budget},
		{"a crash at every append", (*suite).crashes},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := NewWorld()
			test.run(&suite{T: t, world: w, runtime: open(t, w), waiting: waiting, open: open})
		})
	}
}

// suite is one test of the suite.
type suite struct {
	*testing.T
	world   *World
	runtime Runtime
	waiting func(error) bool
	open    func(t *testing.T, w *World) Runtime
}

// session runs the next session, which must end well.
func (s *suite) session(orchestrate func(flow.Flow) error) {
	s.Helper()
	if err := s.runtime.Session(s.Context(), orchestrate); err != nil {
		s.Fatalf("Session() = %v", err)
	}
}

func (s *suite) wantCount(what string, want int) {
	s.Helper()
	if got := s.world.count(what); got != want {
		s.Errorf("%s: %d times, want %d", what, got, want)
	}
}

// rule is that of the suite's questions.
var rule = vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4}

// votes is how many votes decide a question of the suite.
const votes = 2

func ask(f flow.Flow, key, prompt string) (string, error) {
	return askBy(f, key, prompt, rule)
}

func askBy(f flow.Flow, key, prompt string, r vote.Rule) (string, error) {
	v, err := f.Decide(key, &flow.Question{Prompt: prompt, Answer: flow.Format{Reader: Reader}, Terms: flow.Terms{Rule: r}})
	if err != nil {
		return "", err
	}
	if v.Status != flow.Decided {
		return string(v.Status), nil
	}
	var text string
	return text, json.Unmarshal(v.Answer, &text)
}

func act(f flow.Flow, key, what string) (*flow.Result, error) {
	input, err := json.Marshal(map[string]string{"what": what})
	if err != nil {
		return nil, err
	}
	return f.Perform(key, &flow.Effect{Scope: key, Intent: event.Intent{Tool: Tool, Input: input}})
}

func question(f flow.Flow, key, text string) (string, error) {
	a, err := f.Ask(key, &flow.HumanQuestion{Kind: event.ClarifyQuestion, Text: text, Free: true})
	if err != nil {
		return "", err
	}
	return a.Text, nil
}

func look(f flow.Flow, key string) (string, error) {
	seen, err := f.Observe(key, flow.Look{Kind: LookKind})
	if err != nil {
		return "", err
	}
	var text string
	return text, json.Unmarshal(seen, &text)
}

func (s *suite) want(what, got, want string, err error) {
	s.Helper()
	if got != want || err != nil {
		s.Errorf("%s = %q, %v, want %q", what, got, err, want)
	}
}

func (s *suite) verdicts() {
	for session := range 3 {
		s.session(func(f flow.Flow) error {
			r := rule
			r.K += session // another rule is for what is still to be decided
			for _, key := range []string{"a", "b/c"} {
				got, err := askBy(f, key, "prompt "+key, r)
				s.want("Decide("+key+")", got, "yes to prompt "+key, err)
			}
			return nil
		})
	}
	s.wantCount("vote prompt a", votes)
	s.wantCount("vote prompt b/c", votes)
}

func (s *suite) undecided() {
	for range 2 {
		s.session(func(f flow.Flow) error {
			got, err := ask(f, "q", "nobody agrees")
			s.want("Decide(nobody agrees)", got, string(flow.Undecided), err)
			return nil
		})
	}
	if n := s.world.count("vote nobody agrees"); n == 0 || n > rule.MaxSamples {
		s.Errorf("asked %d times, want at most %d", n, rule.MaxSamples)
	}
}

func (s *suite) effects() {
	for range 3 {
		s.session(func(f flow.Flow) error {
			for _, key := range []string{"step/0/effect/0", "step/0/effect/1"} { // equal calls are two effects
				r, err := act(f, key, "pay")
				if err != nil {
					return err
				}
				s.want("Perform("+key+")", r.Text, "did pay", nil)
			}
			return nil
		})
	}
	s.wantCount("act pay", 2)
}

func (s *suite) person() {
	for range 3 {
		s.session(func(f flow.Flow) error {
			got, err := question(f, "q", "What now?")
			s.want("Ask(q)", got, "my answer to What now?", err)
			return nil
		})
	}
	s.wantCount("answer What now?", 1)
}

func (s *suite) absent() {
	s.world.set(func(w *World) { w.absent = true })
	orchestrate := func(f flow.Flow) error {
		if _, err := ask(f, "before", "first"); err != nil {
			return err
		}
		got, err := question(f, "q", "What now?")
		if err == nil {
			s.want("Ask(q)", got, "my answer to What now?", nil)
		}
		return err
	}
	for range 2 {
		if err := s.runtime.Session(s.Context(), orchestrate); err == nil || !s.waiting(err) {
			s.Errorf("Session(nobody is there) = %v, want that it waits", err)
		}
	}
	s.world.set(func(w *World) { w.absent = false })
	s.session(orchestrate)
	s.wantCount("answer What now?", 1)
	s.wantCount("vote first", votes)
}

func (s *suite) looks() {
	for range 3 {
		s.session(func(f flow.Flow) error {
			got, err := look(f, "look")
			s.want("Observe(look)", got, "as it was", err)
			return nil
		})
		s.world.set(func(w *World) { w.changed = "another one" })
	}
	s.wantCount("look", 1)
	s.session(func(f flow.Flow) error {
		got, err := look(f, "another look")
		s.want("Observe(another look)", got, "another one", err)
		if _, err := f.Observe("what", flow.Look{Kind: "nothing that there is"}); err == nil {
			s.Error("Observe(a kind that nobody knows) = nil, want an error")
		}
		return nil
	})
}

func (s *suite) keys() {
	after := 0
	for what, twice := range map[string]func(f flow.Flow) error{
		"Decide":   func(f flow.Flow) error { _, err := ask(f, "k", "p"); return err },
		"Perform":  func(f flow.Flow) error { _, err := act(f, "k", "pay"); return err },
		"Ask":      func(f flow.Flow) error { _, err := question(f, "k", "q"); return err },
		"Observe":  func(f flow.Flow) error { _, err := look(f, "k"); return err },
		"Parallel": func(f flow.Flow) error { return f.Parallel("k", 1, func(int, flow.Flow) error { return nil }) },
		"Emit": func(f flow.Flow) error {
			f.Emit("k", event.StepStarted{})
			after++
			_, err := ask(f, fmt.Sprint("after ", after), "p") // says what Emit cannot
			return err
		},
	} {
		_ = s.runtime.Session(s.Context(), func(f flow.Flow) error { // an Emit ends it
			first, second := twice(f), twice(f)
			if first != nil || second == nil {
				s.Errorf("%s with one key = %v, then %v, want an error the second time", what, first, second)
			}
			return nil
		})
	}
}

func (s *suite) branches() {
	for range 2 {
		s.session(func(f flow.Flow) error {
			for _, key := range []string{"one", "two"} {
				got := make([]string, 3)
				err := f.Parallel(key, len(got), func(i int, f flow.Flow) (err error) {
					f.Emit("event", event.StepStarted{Step: i})
					if got[i], err = ask(f, "same", fmt.Sprint(key, i)); err != nil {
						return err
					}
					return f.Parallel("inner", 2, func(j int, f flow.Flow) error {
						_, err := ask(f, "same", fmt.Sprint(key, i, j))
						return err
					})
				})
				if err != nil {
					return err
				}
				for i := range got {
					s.want(fmt.Sprint("branch ", i), got[i], fmt.Sprint("yes to ", key, i), nil)
				}
			}
			return nil
		})
	}
	for _, prompt := range []string{"one0", "one2", "two1", "one0 1", "two2 0"} {
		s.wantCount("vote "+prompt, votes)
	}
	keys := s.emitted()
	slices.Sort(keys)
	want := []string{"one/0/event", "one/1/event", "one/2/event", "two/0/event", "two/1/event", "two/2/event"}
	if !slices.Equal(keys, want) {
		s.Errorf("the events have the keys %q, want %q", keys, want)
	}
}

func (s *suite) branchErrors() {
	failure := errors.New("failure")
	err := s.runtime.Session(s.Context(), func(f flow.Flow) error {
		return f.Parallel("p", 4, func(i int, f flow.Flow) error {
			if i == 1 {
				return failure
			}
			for n := range 20 {
				if _, err := ask(f, fmt.Sprint(n), fmt.Sprint("p", i, n)); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if !errors.Is(err, failure) {
		s.Errorf("Parallel() = %v, want %v", err, failure)
	}
}

func (s *suite) waitingBranch() {
	waits := make(chan struct{})
	s.world.set(func(w *World) {
		w.absent = true
		w.onAbsent = func() { close(waits) }
		w.acting = func(ctx context.Context) error { // until the other branch has come to its end
			select {
			case <-waits:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	orchestrate := func(f flow.Flow) error {
		return f.Parallel("p", 2, func(i int, f flow.Flow) error {
			if i == 0 {
				_, err := question(f, "q", "What now?")
				return err
			}
			if _, err := act(f, "effect", "pay"); err != nil {
				return err
			}
			for n := range 3 {
				if _, err := ask(f, fmt.Sprint(n), fmt.Sprint("beside ", n)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := s.runtime.Session(s.Context(), orchestrate); err == nil || !s.waiting(err) {
		s.Errorf("Session(nobody is there) = %v, want that it waits", err)
	}
	s.wantCount("act pay", 1)
	s.wantCount("vote beside 2", votes)
	s.world.set(func(w *World) { w.absent = false })
	s.session(orchestrate)
	s.wantCount("act pay", 1)
	for n := range 3 {
		s.wantCount(fmt.Sprint("vote beside ", n), votes)
	}
}

// emitted are the keys of the events in the order of the log.
func (s *suite) emitted() []string {
	s.Helper()
	records, err := s.runtime.Records()
	if err != nil {
		s.Fatal(err)
	}
	var keys []string
	for _, r := range records {
		if r.Key != "" {
			keys = append(keys, r.Key)
		}
	}
	return keys
}

func (s *suite) events() {
	for session := range 3 {
		s.session(func(f flow.Flow) error {
			for n := range 2 * (session + 1) {
				f.Emit(fmt.Sprint("step/", n), event.StepCompleted{Step: n, Output: event.TextValue(fmt.Sprint(n))})
			}
			return nil
		})
	}
	want := []string{"step/0", "step/1", "step/2", "step/3", "step/4", "step/5"}
	if got := s.emitted(); !slices.Equal(got, want) {
		s.Errorf("the events have the keys %q, want %q", got, want)
	}
}

func (s *suite) divergence() {
	s.session(func(f flow.Flow) error {
		f.Emit("checked", event.ValidationFailed{})
		return nil
	})
	err := s.runtime.Session(s.Context(), func(f flow.Flow) error {
		f.Emit("checked", event.ValidationPassed{})
		_, err := act(f, "effect", "pay")
		return err
	})
	if err == nil {
		s.Error("Session(that goes another way) = nil, want an error")
	}
	s.wantCount("act pay", 0)
	// Also if it is the last thing that the orchestrator says.
	err = s.runtime.Session(s.Context(), func(f flow.Flow) error {
		f.Emit("checked", event.ValidationPassed{})
		f.Emit("end", event.TaskCompleted{})
		return nil
	})
	if err == nil {
		s.Error("Session(that goes another way at its end) = nil, want an error")
	}
}

func (s *suite) reopening() {
	for session := range 2 {
		s.session(func(f flow.Flow) error {
			if _, err := act(f, "step/1/effect", "pay"); err != nil {
				return err
			}
			if _, err := ask(f, "step/1", "one"); err != nil {
				return err
			}
			if _, err := ask(f, "step/10", "ten"); err != nil {
				return err
			}
			got, err := look(f, "step/1/look")
			s.want("Observe", got, []string{"as it was", "mended"}[session], err)
			f.Emit("step/1/failed", event.StepFailed{Step: 1})
			f.Emit("end", event.TaskFailed{Status: event.StatusFailed, Reopen: []string{"step/1"}})
			return nil
		})
		s.world.set(func(w *World) { w.changed = "mended" })
	}
	s.wantCount("act pay", 1) // what happened is not forgotten
	s.wantCount("vote one", 2*votes)
	s.wantCount("vote ten", votes)
	s.wantCount("look", 2)
	want := []string{"step/1/failed", "end", "step/1/failed", "end"}
	if got := s.emitted(); !slices.Equal(got, want) {
		s.Errorf("the events have the keys %q, want %q", got, want)
	}
}
