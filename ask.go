package maker

import (
	"context"
	"fmt"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/reader"
)

// An AskOption says more about a question.
type AskOption func(*kind.AskParams)

// As says how the answer is read, where it does not follow from its type.
func As(r reader.Reader) AskOption {
	return func(p *kind.AskParams) { p.Answer = r.Format() }
}

// WithText shows a text with the question: a mail, a page, a log.
func WithText(name, text string) AskOption {
	return func(p *kind.AskParams) { p.Shown = append(p.Shown, kind.Shown{Name: name, Text: text}) }
}

// WithImage shows a picture with the question. Its media type is one of image/png,
// image/jpeg, image/gif and image/webp.
func WithImage(name, mediaType string, data []byte) AskOption {
	return func(p *kind.AskParams) {
		p.Shown = append(p.Shown, kind.Shown{Name: name, MediaType: mediaType, Data: data})
	}
}

// Ask starts to ask one question, which several voters answer, and returns at once. The
// output of the run is what the reader made of the answer that won. The run ends with
// ctx. See the function [Ask] for answers of a Go type.
func (e *Engine) Ask(ctx context.Context, question string, as reader.Reader, opts ...AskOption) (*Run, error) {
	if err := as.Validate(); err != nil {
		return nil, &ConfigError{Field: "answer", Err: err}
	}
	p := kind.AskParams{Question: question, Answer: as.Format()}
	for _, opt := range opts {
		opt(&p)
	}
	return begun(e.engine.Ask(ctx, p))
}

// A Verdict is how a question was decided: by which votes, at what cost, in which run.
type Verdict struct {
	flow.Verdict

	Run       string // its name
	Simulated bool   // no real model answered
}

// A NoAnswerError says that a question has no answer: the voters did not agree, or
// something stopped them.
type NoAnswerError struct{ Result *Result }

func (e *NoAnswerError) Error() string {
	return fmt.Sprintf("maker: no answer (%s): %s", e.Result.Status, e.Result.Reason)
}

// Ask puts a question to several voters and returns the answer that won, as a T. How it
// is read follows from T, see [reader.For], or is said by the option [As]. Without a
// winner the error is a [*NoAnswerError], and the verdict says who voted for what.
func Ask[T any](ctx context.Context, e *Engine, question string, opts ...AskOption) (T, *Verdict, error) {
	var none T
	p := kind.AskParams{}
	for _, opt := range opts {
		opt(&p)
	}
	if p.Answer.Reader == "" {
		r, err := reader.For[T]()
		if err != nil {
			return none, nil, err
		}
		opts = append(opts, As(r))
		p.Answer = r.Format()
	}
	as, err := reader.Of(p.Answer)
	if err != nil {
		return none, nil, &ConfigError{Field: "answer", Err: err}
	}
	run, err := e.Ask(ctx, question, as, opts...)
	if err != nil {
		return none, nil, err
	}
	result, err := run.Result()
	if err != nil {
		return none, nil, err
	}
	v := verdictOf(result)
	if result.Status != event.StatusCompleted {
		return none, v, &NoAnswerError{result}
	}
	output, err := run.output(result)
	if err != nil {
		return none, v, err
	}
	v.Answer = output
	answer, err := reader.Decode[T](output)
	return answer, v, err
}

// verdictOf is how the only step of a run was decided.
func verdictOf(r *Result) *Verdict {
	v := &Verdict{Run: r.Run, Simulated: r.Simulated}
	v.Status, v.Reason, v.CostUSD, v.DurationMS = flow.Failed, r.Reason, r.TotalCostUSD, r.TotalDurationMS
	if len(r.Steps) > 0 {
		v.Status, v.Voting = flow.Decided, r.Steps[0].Voting
	} else if f := r.FailedStep; f != nil {
		v.Status, v.Voting, v.Candidates = flow.Status(f.Status), f.Voting, f.Candidates
	}
	return v
}
