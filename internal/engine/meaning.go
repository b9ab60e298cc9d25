package engine

import (
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// sameRule is how it is decided whether two texts say the same.
var sameRule = vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 8}

// askSame returns what asks the cheap model whether two texts say the same. Every other
// voter sees them in the other order, so that none can win by its place.
func askSame(set *prompts.Set, terms flow.Terms) func(first, other string) (*flow.Question, error) {
	as := reader.OneOf{Options: []string{"same", "different"}}
	return func(first, other string) (*flow.Question, error) {
		q := &flow.Question{Model: flow.Cheap, Class: prompts.SameMeaning{}.Prompt(), Terms: terms}
		q.Rule, q.Flags = sameRule, &redflag.Config{Refusal: redflag.RefusalCheck{On: true}}
		reader.Put(q, as)
		var err error
		for _, d := range []prompts.SameMeaning{{First: first, Second: other}, {First: other, Second: first}} {
			d.Instruction = as.Instruction()
			var text string
			if text, err = set.Render(d); err != nil {
				return nil, err
			}
			q.Variants = append(q.Variants, text)
		}
		q.Prompt = q.Variants[0]
		return q, nil
	}
}
