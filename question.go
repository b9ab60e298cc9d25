package maker

import (
	"context"
	"errors"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/person"
)

// A Question is put to the person that a run works for.
type Question struct {
	Step    int
	Kind    string // "question", "approval" or "outcome"
	Text    string
	Options []string // to choose from
	Free    bool     // another answer than the options is fine

	// Call is what the question is about, for approvals and outcomes, and Voting
	// the vote that it won.
	Call   *event.Intent
	Voting *event.Voting
}

// ErrAbsent is what Options.Ask returns if nobody is there to answer.
var ErrAbsent = person.ErrAbsent

// people are the ways in which a run reaches the person.
func (e *Engine) people(dir string) person.Person {
	ways := []person.Person{person.Inbox(dir), e.prepared}
	if ask := e.opts.Ask; ask != nil {
		ways = append(ways, person.Func(func(ctx context.Context, _ string, q *flow.HumanQuestion) (*flow.Answer, error) {
			text, err := ask(ctx, Question{Step: q.Step, Kind: q.Kind, Text: q.Text, Options: q.Options, Free: q.Free, Call: q.Call, Voting: q.Voting})
			if err != nil {
				return nil, err
			}
			text, err = person.Resolve(q, text)
			if err != nil {
				return nil, errors.Join(ErrAbsent, err)
			}
			return &flow.Answer{Text: text, By: "terminal"}, nil
		}))
	}
	return person.First(ways...)
}
