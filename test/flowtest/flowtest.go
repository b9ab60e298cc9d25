// Package flowtest has what tests of orchestrators and of runtimes need: a scripted
// flow.Flow without models, clock or goroutines, and a suite that every runtime has
// to pass.
package flowtest

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/vote"
)

// A Decider says how a question is decided.
type Decider func(key string, q *flow.Question) (*flow.Verdict, error)

// A Flow hands questions to a Decider and records what happened. It fails an
// orchestrator that uses a key twice, because on resume both calls would get the
// same result, and one that asks something else under a key than the question before has
// foretold. [Flow.Resume] begins another session of the same run.
type Flow struct {
	Asked    []string      // keys of decisions, effects and questions to the person, in order
	Foretold []string      // keys of decisions that the question before has foretold
	Events   []event.Event // emitted, in order, those of earlier sessions included
	Keys     []string      // of the events

	// OnPerform, OnAsk and OnObserve say what comes of effects, of questions to the
	// person and of looks at the world; without them there is an error.
	OnPerform func(key string, e *flow.Effect) (*flow.Result, error)
	OnAsk     func(key string, q *flow.HumanQuestion) (*flow.Answer, error)
	OnObserve func(key string, l flow.Look) (any, error)

	// Requests come from outside, one after the other, and Answers are what came of them.
	Requests []json.RawMessage
	Answers  []*flow.Verdict

	decide Decider
	next   struct { // what the last question has foretold
		key string
		q   *flow.Question
	}
	used    map[string]bool // by method and key
	journal journal
	failed  error // why the run cannot go on
}

// journal is what a run remembers from session to session.
type journal struct {
	verdicts map[string]*flow.Verdict
	claims   map[string]bool // effects that were begun
	results  map[string]*flow.Result
	answers  map[string]*flow.Answer
	looks    map[string]json.RawMessage
	emitted  map[string]event.Type
}

// New returns a flow that is decided by decide.
func New(decide Decider) *Flow {
	return &Flow{
		decide: decide, used: map[string]bool{},
		journal: journal{
			verdicts: map[string]*flow.Verdict{}, claims: map[string]bool{}, results: map[string]*flow.Result{}, answers: map[string]*flow.Answer{},
			looks: map[string]json.RawMessage{}, emitted: map[string]event.Type{},
		},
	}
}

// Resume returns the flow of another session: what was decided, done, answered and
// seen so far is known, and nothing is asked in this session yet.
func (f *Flow) Resume() *Flow {
	next := *f
	next.Asked, next.used, next.failed = nil, map[string]bool{}, nil
	return &next
}

// Err is why the run cannot go on, if an Emit is the reason.
func (f *Flow) Err() error { return f.failed }

// recall returns what is recorded under a key, or makes it and records it.
func recall[V any](f *Flow, method, key string, data any, recorded map[string]V, make func() (V, error)) (V, error) {
	var none V
	if err := f.use(method, key, data); err != nil {
		return none, err
	}
	if v, ok := recorded[key]; ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return none, err
	}
	recorded[key] = v
	return v, nil
}

// Decide implements flow.Flow.
func (f *Flow) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	return recall(f, "decide", key, q, f.journal.verdicts, func() (*flow.Verdict, error) {
		f.Asked = append(f.Asked, key)
		if err := f.compare(key, q); err != nil {
			return nil, err
		}
		v, err := f.decide(key, q)
		if f.next.q = nil; err == nil && q.Next != nil && v.Status == flow.Decided && v.Intent == nil {
			f.next.key, f.next.q = q.Next(v.Answer)
		}
		return v, err
	})
}

// compare says what is wrong with a question that was foretold.
func (f *Flow) compare(key string, q *flow.Question) error {
	if f.next.q == nil || f.next.key != key {
		return nil
	}
	f.Foretold = append(f.Foretold, key)
	told, asked := *f.next.q, *q
	told.Next, asked.Next = nil, nil
	if diff := cmp.Diff(told, asked); diff != "" {
		return fmt.Errorf("flowtest: %q is not what was foretold (-foretold +asked):\n%s", key, diff)
	}
	return nil
}

// Perform implements flow.Flow. An effect that an earlier session began and did not
// end has an outcome that nobody knows.
func (f *Flow) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	return recall(f, "perform", key, e, f.journal.results, func() (*flow.Result, error) {
		f.Asked = append(f.Asked, key)
		if f.OnPerform == nil {
			return nil, fmt.Errorf("flowtest: nobody performs %q", key)
		}
		if f.journal.claims[key] {
			return &flow.Result{Text: "it was interrupted", IsError: true, Unknown: true}, nil
		}
		f.journal.claims[key] = true
		return f.OnPerform(key, e)
	})
}

// Ask implements flow.Flow.
func (f *Flow) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	return recall(f, "ask", key, q, f.journal.answers, func() (*flow.Answer, error) {
		f.Asked = append(f.Asked, key)
		if f.OnAsk == nil {
			return nil, fmt.Errorf("flowtest: nobody answers %q", key)
		}
		return f.OnAsk(key, q)
	})
}

// Observe implements flow.Flow.
func (f *Flow) Observe(key string, l flow.Look) (json.RawMessage, error) {
	return recall(f, "observe", key, l, f.journal.looks, func() (json.RawMessage, error) {
		if f.OnObserve == nil {
			return nil, fmt.Errorf("flowtest: nobody looks at %q", key)
		}
		seen, err := f.OnObserve(key, l)
		if err != nil {
			return nil, err
		}
		return json.Marshal(seen)
	})
}

// use notes that a key of a method is used, for something that can be logged or sent
// elsewhere.
func (f *Flow) use(method, key string, data any) error {
	if f.failed != nil {
		return f.failed
	}
	if f.used[method+" "+key] {
		return fmt.Errorf("flowtest: the key %q is used twice", key)
	}
	f.used[method+" "+key] = true
	if _, err := json.Marshal(data); err != nil {
		return fmt.Errorf("flowtest: %q is not plain data: %w", key, err)
	}
	return nil
}

// Emit implements flow.Flow. An event that is another one than an earlier session
// emitted under its key ends the run.
func (f *Flow) Emit(key string, e event.Event) {
	if f.failed != nil {
		return
	}
	switch end := e.(type) {
	case event.TaskCompleted:
	case event.TaskFailed:
		f.reopen(end.Reopen)
	default:
		if err := f.use("emit", key, e); err != nil {
			f.failed = err
			return
		}
		if was, ok := f.journal.emitted[key]; ok {
			if was != e.Type() {
				f.failed = fmt.Errorf("flowtest: %q was %s and is %s now", key, was, e.Type())
			}
			return
		}
		f.journal.emitted[key] = e.Type()
	}
	f.Events = append(f.Events, e)
	f.Keys = append(f.Keys, key)
}

func (f *Flow) reopen(keys []string) {
	below := flow.Below(keys)
	maps.DeleteFunc(f.journal.verdicts, func(key string, _ *flow.Verdict) bool { return below(key) })
	maps.DeleteFunc(f.journal.looks, func(key string, _ json.RawMessage) bool { return below(key) })
	maps.DeleteFunc(f.journal.emitted, func(key string, _ event.Type) bool { return below(key) })
}

// Parallel implements flow.Flow. It runs the branches one after another.
func (f *Flow) Parallel(key string, n int, branch func(i int, f flow.Flow) error) error {
	return (&sub{Flow: f}).Parallel(key, n, branch)
}

// Receive implements [flow.Receiver].
func (f *Flow) Receive(key string, handle func(n int, request json.RawMessage, f flow.Flow) (*flow.Verdict, error)) error {
	for n, request := range f.Requests {
		v, err := handle(n, request, &sub{Flow: f, prefix: flow.Branch(key, n)})
		if err != nil {
			return err
		}
		f.Answers = append(f.Answers, v)
	}
	return nil
}

// sub is a branch of a Flow.
type sub struct {
	*Flow
	prefix string
}

func (s *sub) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	return s.Flow.Decide(s.prefix+key, q)
}

func (s *sub) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	return s.Flow.Perform(s.prefix+key, e)
}

func (s *sub) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	return s.Flow.Ask(s.prefix+key, q)
}

func (s *sub) Observe(key string, l flow.Look) (json.RawMessage, error) {
	return s.Flow.Observe(s.prefix+key, l)
}

func (s *sub) Emit(key string, e event.Event) { s.Flow.Emit(s.prefix+key, e) }

func (s *sub) Parallel(key string, n int, branch func(i int, f flow.Flow) error) error {
	key = s.prefix + key
	if err := s.use("parallel", key, nil); err != nil {
		return err
	}
	var first error
	for i := range n {
		if err := branch(i, &sub{Flow: s.Flow, prefix: flow.Branch(key, i)}); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Decided is the verdict in which answer won by the rule of q.
func Decided(q *flow.Question, answer string) *flow.Verdict {
	n := max(q.Rule.K, 1)
	return &flow.Verdict{
		Status: flow.Decided,
		Answer: json.RawMessage(answer),
		Voting: event.Voting{
			Strategy: q.Rule.Strategy, Samples: n, Margin: n,
			Votes: map[string]int{vote.ShortKey(answer): n},
		},
	}
}
