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
	Asked  []string      // keys, in order
	Events []event.Event // emitted, in order

	// OnPerform and OnAsk say what comes of effects and of questions to the
	// person; without them there is an error.
	OnPerform func(key string, e *flow.Effect) (*flow.Result, error)
	OnAsk     func(key string, q *flow.HumanQuestion) (*flow.Answer, error)

	decide    Decider
	used      map[string]bool
	parallels int
}

// New returns a flow that is decided by decide.
func New(decide Decider) *Flow {
	return &Flow{decide: decide, used: map[string]bool{}}
}

// Decide implements flow.Flow.
func (f *Flow) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	if err := f.take(key, q); err != nil {
		return nil, err
	}
	return f.decide(key, q)
}

// Perform implements flow.Flow.
func (f *Flow) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	if err := f.take(key, e); err != nil {
		return nil, err
	}
	if f.OnPerform == nil {
		return nil, fmt.Errorf("flowtest: nobody performs %q", key)
	}
	return f.OnPerform(key, e)
}

// Ask implements flow.Flow.
func (f *Flow) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	if err := f.take(key, q); err != nil {
		return nil, err
	}
	if f.OnAsk == nil {
		return nil, fmt.Errorf("flowtest: nobody answers %q", key)
	}
	return f.OnAsk(key, q)
}

// take notes that a key is used, for something that can be logged or sent
// elsewhere.
func (f *Flow) take(key string, data any) error {
	if f.used[key] {
		return fmt.Errorf("flowtest: the key %q is used twice", key)
	}
	f.used[key] = true
	f.Asked = append(f.Asked, key)
	if _, err := json.Marshal(data); err != nil {
		return fmt.Errorf("flowtest: %q is not plain data: %w", key, err)
	}
	return nil
}

// Emit implements flow.Flow.
func (f *Flow) Emit(e event.Event) { f.Events = append(f.Events, e) }

// Parallel implements flow.Flow. It runs the branches one after another.
func (f *Flow) Parallel(n int, branch func(i int, f flow.Flow) error) error {
	return (&sub{Flow: f, parallels: &f.parallels}).Parallel(n, branch)
}

// sub is a branch of a Flow.
type sub struct {
	*Flow
	prefix    string
	parallels *int // calls of Parallel so far
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

func (s *sub) Parallel(n int, branch func(i int, f flow.Flow) error) error {
	*s.parallels++
	var first error
	for i := range n {
		prefix := fmt.Sprintf("%s%d.%d/", s.prefix, *s.parallels, i)
		if err := branch(i, &sub{Flow: s.Flow, prefix: prefix, parallels: new(int)}); err != nil && first == nil {
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
