package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/secret"
)

// ErrAbsent is what Options.Ask returns if nobody is there to answer.
var ErrAbsent = person.ErrAbsent

// people are the ways in which a run reaches the person. Nobody is shown a key, whoever
// asks about it; calls with one in them are never asked about.
func (e *Engine) people(dir string, secrets *secret.Set) person.Person {
	ways := []person.Person{person.Inbox(dir), e.prepared}
	if ask := e.opts.Ask; ask != nil {
		ways = append(ways, person.OrInbox(dir, person.Func(func(ctx context.Context, _ string, given *flow.HumanQuestion) (*flow.Answer, error) {
			q := *given
			q.Text, q.Options = secrets.Redact(given.Text), slices.Clone(given.Options)
			for i := range q.Options {
				q.Options[i] = secrets.Redact(q.Options[i])
			}
			text, err := ask(ctx, q)
			if err != nil {
				return nil, err
			}
			text, err = person.Resolve(&q, text)
			if err != nil {
				return nil, errors.Join(ErrAbsent, err)
			}
			return &flow.Answer{Text: text, By: "terminal"}, nil
		})))
	}
	return person.First(ways...)
}
