package session

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/temporal/internal/wire"
)

// AnswerUpdate is the update with which the person answers, and OpenQuery the query for what
// they are asked.
const (
	AnswerUpdate = "answer"
	OpenQuery    = "open"
)

// An Answer is what a person says to a question. The id of the update should be its key, so
// that whoever sends it twice has said it once.
type Answer struct {
	Question string `json:"question"`
	Text     string `json:"text"`
	By       string `json:"by"`
}

// waiting is a question to which the run waits for an answer.
type waiting struct {
	question *flow.HumanQuestion
	given    *flow.Answer
	written  bool
}

// serve takes answers.
func (s *Session) serve() error {
	err := workflow.SetQueryHandler(s.ctx, OpenQuery, func() ([]wire.Question, error) {
		var open []wire.Question
		for _, q := range s.past.Waiting {
			if w := s.answers[q.Question]; w != nil && w.given == nil {
				open = append(open, wire.Question{Key: q.Question, Question: *w.question})
			}
		}
		return open, nil
	})
	if err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(s.ctx, AnswerUpdate, func(ctx workflow.Context, a Answer) error {
		w := s.answers[a.Question]
		if w.given != nil {
			return fmt.Errorf("the question %s has its answer: %s", a.Question, w.given.Text)
		}
		text, err := person.Resolve(w.question, a.Text)
		if err != nil {
			return err
		}
		w.given = &flow.Answer{Text: text, By: a.By}
		// Whoever gave it is told once it is kept.
		return workflow.Await(ctx, func() bool { return w.written || s.failed != nil })
	}, workflow.UpdateHandlerOptions{Validator: func(a Answer) error {
		w := s.answers[a.Question]
		if w == nil {
			return fmt.Errorf("the run does not ask %q", a.Question)
		}
		if w.given != nil {
			return fmt.Errorf("the question %s has its answer: %s", a.Question, w.given.Text)
		}
		_, err := person.Resolve(w.question, a.Text)
		return err
	}})
}

// ask asks the person, once for each key.
func (s *Session) ask(ctx workflow.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	past, asked := s.past.Answers[key]
	if past != nil {
		return past, nil
	}
	holds := s.past.Holds[key]
	if !asked || holds != q.Holds || s.past.Stale[key] {
		holds = q.Holds
		request, err := local.Request(key, q, holds)
		if err == nil {
			err = s.append("", request)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	a, err := s.answer(ctx, key, q)
	if err != nil {
		return nil, err
	}
	if err := s.append("", event.ClarificationProvided{Question: key, Step: q.Step, Answer: a.Text, By: a.By}); err != nil {
		return nil, err
	}
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	if w := s.answers[key]; w != nil {
		w.written = true
	}
	a.Holds = holds
	return a, nil
}

// answer gets the answer to a question: one that was prepared, or the person's.
func (s *Session) answer(ctx workflow.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	var given wire.Given
	in := wire.AnswerRequest{Run: s.opts.Run, Question: wire.Question{Key: key, Question: *q}}
	if err := workflow.ExecuteActivity(s.short(ctx), wire.Answer, in).Get(ctx, &given); err != nil {
		return nil, s.ended(ctx, err)
	}
	if given.Answer != nil {
		return given.Answer, nil
	}
	if s.opts.NoInput {
		return nil, &person.WaitingError{Key: key, Question: *q}
	}
	w := &waiting{question: q}
	s.answers[key] = w
	if err := workflow.Await(ctx, func() bool { return w.given != nil }); err != nil {
		return nil, ErrCancelled
	}
	return w.given, nil
}
