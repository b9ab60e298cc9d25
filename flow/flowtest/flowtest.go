// Package flowtest is a scripted flow.Flow for testing orchestrators: no models,
// no clock, no goroutines.
package flowtest

import (
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/vote"
)

// A Decider says how a question is decided.
type Decider func(key string, q *flow.Question) (*flow.Verdict, error)

// A Flow hands questions to a Decider and records what happened. It fails an
// orchestrator that uses a key twice, because on resume both questions would
// get the same verdict.
type Flow struct {
	Asked  []string      // keys of decisions, effects and questions to the person, in order
	Events []event.Event // emitted, in order
	Keys   []string      // of the events

	// OnPerform, OnAsk and OnObserve say what comes of effects, of questions to the
	// person and of looks at the world; without them there is an error.
	OnPerform func(key string, e *flow.Effect) (*flow.Result, error)
	OnAsk     func(key string, q *flow.HumanQuestion) (*flow.Answer, error)
	OnObserve func(key string, l flow.Look) (any, error)

	decide Decider
	used   map[string]bool
}

// New returns a flow that is decided by decide.
func New(decide Decider) *Flow {
	return &Flow{decide: decide, used: map[string]bool{}}
}

// Decide implements flow.Flow.
func (f *Flow) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	if err := f.take("decide", key, q); err != nil {
		return nil, err
	}
	return f.decide(key, q)
}

// Perform implements flow.Flow.
func (f *Flow) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	if err := f.take("perform", key, e); err != nil {
		return nil, err
	}
	if f.OnPerform == nil {
		return nil, fmt.Errorf("flowtest: nobody performs %q", key)
	}
	return f.OnPerform(key, e)
}

// Ask implements flow.Flow.
func (f *Flow) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	if err := f.take("ask", key, q); err != nil {
		return nil, err
	}
	if f.OnAsk == nil {
		return nil, fmt.Errorf("flowtest: nobody answers %q", key)
	}
	return f.OnAsk(key, q)
}

// Observe implements flow.Flow.
func (f *Flow) Observe(key string, l flow.Look) (json.RawMessage, error) {
	if err := f.use("observe", key, l); err != nil {
		return nil, err
	}
	if f.OnObserve == nil {
		return nil, fmt.Errorf("flowtest: nobody looks at %q", key)
	}
	seen, err := f.OnObserve(key, l)
	if err != nil {
		return nil, err
	}
	return json.Marshal(seen)
}

// take notes that a key is used, in order.
func (f *Flow) take(method, key string, data any) error {
	if err := f.use(method, key, data); err != nil {
		return err
	}
	f.Asked = append(f.Asked, key)
	return nil
}

// use notes that a key of a method is used, for something that can be logged or sent
// elsewhere.
func (f *Flow) use(method, key string, data any) error {
	if f.used[method+" "+key] {
		return fmt.Errorf("flowtest: the key %q is used twice", key)
	}
	f.used[method+" "+key] = true
	if _, err := json.Marshal(data); err != nil {
		return fmt.Errorf("flowtest: %q is not plain data: %w", key, err)
	}
	return nil
}

// Emit implements flow.Flow.
func (f *Flow) Emit(key string, e event.Event) {
	f.Events = append(f.Events, e)
	f.Keys = append(f.Keys, key)
}

// Parallel implements flow.Flow. It runs the branches one after another.
func (f *Flow) Parallel(key string, n int, branch func(i int, f flow.Flow) error) error {
	return (&sub{Flow: f}).Parallel(key, n, branch)
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
