// Package summary has the voters summarise what the steps of a run found out, so that
// it fits into the prompts of those after them.
package summary

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// Config is how summaries are asked for.
type Config struct {
	Prompts *prompts.Set
	flow.Terms
}

// attempts is how many summaries are read until one is good enough.
const attempts = 3

// Ask has a voter write a summary after a step. One that is good enough is taken: that
// nothing is lost or made up can be checked, and no two have the same words. It is empty
// if there is none to be had.
func Ask(f flow.Flow, key string, step int, r *outline.SummaryRequest, c *Config) (string, error) {
	words := prompts.OutlineSummary{Text: r.Text, MaxWords: wordsIn(r.MaxTokens)}
	for _, m := range r.Must {
		words.Must = append(words.Must, m.Text)
	}
	prompt, err := c.Prompts.Render(words)
	if err != nil {
		return "", err
	}
	params, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("summary: %w", err)
	}
	q := &flow.Question{Step: step, Prompt: prompt, Answer: flow.Format{Reader: Reader, Params: params}, Terms: c.Terms}
	q.MaxOutput = max(c.MaxOutput, r.MaxTokens)
	q.Rule = vote.Rule{Strategy: vote.None, MaxSamples: attempts}
	v, err := f.Decide(key, q)
	if err != nil || v.Status != flow.Decided {
		return "", err
	}
	var summary string
	if err := json.Unmarshal(v.Answer, &summary); err != nil {
		return "", fmt.Errorf("summary: %w", err)
	}
	return summary, nil
}

// wordsIn is how many words surely fit into a number of tokens as
// [outline.EstimateTokens] counts them: a word with its space has six to seven bytes.
func wordsIn(tokens int) int { return max(tokens*2/5, 20) }

// Context keeps what the steps of a run found out within a budget. Steps count from 0
// here.
type Context struct {
	config    Config
	compactor *outline.Compactor
}

// NewContext returns the context of a run for a budget of tokens.
func NewContext(budget int, c Config) (*Context, error) {
	compactor, err := outline.NewCompactor(budget)
	return &Context{c, compactor}, err
}

// Expect says that a step that is still to come has this text; see
// [outline.Compactor.Expect].
func (x *Context) Expect(step int, text string) { x.compactor.Expect(step+1, text) }

// Text is what a prompt says about the steps so far.
func (x *Context) Text() string { return x.compactor.Context() }

// Add takes in what came of a step and brings the context back into its budget. The
// keys of what it asks begin with key.
func (x *Context) Add(f flow.Flow, key string, step int, title, result string) error {
	c := x.compactor
	c.Add(step+1, title, result, "")
	for n := 0; ; n++ {
		request := c.Request()
		if before := c.Dropped(); before > 0 {
			f.Emit(fmt.Sprintf("%s/left_out/%d", key, n), Compacted(step, before, c))
		}
		if request == nil {
			return nil
		}
		before, key := c.Size(), fmt.Sprintf("%s/summary/%d", key, n)
		summary, err := Ask(f, key, step, request, &x.config)
		if err != nil {
			return err
		}
		if c.Accept(summary) != nil {
			c.Fallback() // sentences of the text itself
		}
		f.Emit(key, Compacted(step, before, c))
	}
}

// Compacted is the event that a context was brought back into its budget.
func Compacted(step, before int, c *outline.Compactor) event.ContextCompacted {
	return event.ContextCompacted{Step: step, Before: before, After: c.Size(), Summary: event.TextValue(c.Summary()), LeftOut: c.LeftOut()}
}

// Reader is the reader of summaries. Its parameters are an [outline.SummaryRequest].
const Reader = "outline_summary"

// Readers are the readers that the questions of this package name.
func Readers() domain.Readers {
	return domain.Readers{Reader: func(params json.RawMessage) (domain.Reader, error) {
		var r reader
		err := json.Unmarshal(params, &r.request)
		return &r, err
	}}
}

type reader struct{ request outline.SummaryRequest }

// Read implements [domain.Reader].
func (r *reader) Read(text string) (domain.Answer, *redflag.Flag) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if flag := r.request.Check(text); flag != nil {
		return domain.Answer{}, flag
	}
	value, err := json.Marshal(text)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return domain.Answer{Value: value, Key: "summary"}, nil
}
