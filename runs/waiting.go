package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// A Question is something that only a person can say.
type Question struct {
	Key     string        `json:"question"` // tells it from the others of the run
	Step    int           `json:"step"`
	Kind    string        `json:"kind"` // one of the kinds of clarification in package event
	Text    string        `json:"text"`
	Options []string      `json:"options,omitempty"` // to choose from
	Free    bool          `json:"free,omitempty"`    // another answer than the options is fine
	Call    *event.Intent `json:"call,omitempty"`    // what an approval or an outcome is about
	Voting  *event.Voting `json:"voting,omitempty"`  // the vote that the call won, or that gave no result
	Folder  string        `json:"folder,omitempty"`  // that the call would be made in
	Plan    string        `json:"plan,omitempty"`    // that it is about

	// Against is what a person's own arguments of the call, or plan, have to fit: the JSON
	// schema of the input, or a plan.Checks.
	Against json.RawMessage `json:"against,omitempty"`
}

// Understand says what an answer in the words of a person is taken for: the words of an
// option in any case stand for it, and so does its number, or #1 and so on where a number can
// be an answer itself. An answer that is none is an error.
func (q Question) Understand(text string) (string, error) {
	return person.Resolve(&flow.HumanQuestion{Kind: q.Kind, Options: q.Options, Free: q.Free, Call: q.Call, Voting: q.Voting, Folder: q.Folder, Against: q.Against}, text)
}

// Waiting returns what the run waits for, in the order in which it was asked.
func (r *Run) Waiting() ([]Question, error) {
	open, err := history.ReadWaiting(r.dir)
	if err != nil {
		return nil, err
	}
	list := make([]Question, 0, len(open))
	for _, e := range open {
		list = append(list, questionOf(e))
	}
	return list, nil
}

func questionOf(e event.ClarificationRequested) Question {
	q := Question{Key: e.Question, Step: e.Step, Kind: e.Kind, Text: e.Text, Options: e.Options, Free: e.Free, Voting: e.Voting, Folder: e.Folder, Plan: e.Plan, Against: e.Against}
	var call event.Intent
	if len(e.Call) > 0 && json.Unmarshal(e.Call, &call) == nil {
		q.Call = &call
	}
	return q
}

// Asked is a question to the person, and the answer if there is one.
type Asked struct {
	Question
	Answered bool   `json:"answered"`
	Answer   string `json:"answer,omitempty"`
	By       string `json:"by,omitempty"` // who gave it
}

// Questions returns all that the run has asked the person, in the order in which it was
// asked.
func (r *Run) Questions() ([]Asked, error) {
	var list []Asked
	for line, err := range runlog.Read(r.dir) {
		if err != nil {
			return nil, err
		}
		if line.Type != event.TypeClarificationRequested && line.Type != event.TypeClarificationProvided {
			continue
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, damaged(r.dir, line, err)
		}
		switch e := rec.Event.(type) {
		case event.ClarificationRequested:
			list = slices.DeleteFunc(list, func(q Asked) bool { return q.Key == e.Question && !q.Answered }) // it is put anew
			list = append(list, Asked{Question: questionOf(e)})
		case event.ClarificationProvided:
			for i := range list {
				if q := &list[i]; q.Key == e.Question && !q.Answered {
					q.Answered, q.Answer, q.By = true, e.Answer, e.By
				}
			}
		}
	}
	return list, nil
}

// A NotAskedError says that the run waits for no answer to a question.
type NotAskedError struct{ Key string }

func (e *NotAskedError) Error() string {
	return fmt.Sprintf("the run waits for no answer to %q", e.Key)
}

// An AnsweredError says that a question has another answer.
type AnsweredError struct {
	Key    string
	Answer string
	By     string // who gave it

	// Used says that the run has taken it. Otherwise it is what a resume will find.
	Used bool
}

func (e *AnsweredError) Error() string {
	if e.Used {
		return fmt.Sprintf("somebody was faster: the run has taken an answer already (%s): %s", e.By, e.Answer)
	}
	return fmt.Sprintf("%s has answered it already: %s", e.By, e.Answer)
}

// MaxAnswer is how many bytes an answer of a person may have: so many fit the log, whatever they
// are.
const MaxAnswer = 4 << 20

// A LongAnswerError says that an answer has more than [MaxAnswer] bytes.
type LongAnswerError struct{ Length int }

func (e *LongAnswerError) Error() string {
	return fmt.Sprintf("the answer has %d bytes, want at most %d", e.Length, MaxAnswer)
}

// Answer leaves an answer to a question that the run waits for. A process that is asking
// it right now takes the answer within a second; otherwise the run takes it when it is
// resumed. It is logged with the name of who gave it. The text is as a person wrote it:
// see [Question.Understand].
//
// That there is no error means that the run has taken this answer, or will find it. If
// there is another one it is an [*AnsweredError]; see [Run.ReplaceAnswer].
func (r *Run) Answer(key, text, by string) error {
	given := flow.Answer{Text: text, By: by}
	return r.give(key, given, func() error {
		if left, err := person.Leave(r.dir, key, given); left || err != nil {
			return err
		}
		other, err := person.Left(r.dir, key)
		if err != nil || other == nil || *other == given {
			return err
		}
		return &AnsweredError{Key: key, Answer: other.Text, By: other.By}
	})
}

// ReplaceAnswer is Answer where another answer may have been left, which it replaces.
func (r *Run) ReplaceAnswer(key, text, by string) error {
	given := flow.Answer{Text: text, By: by}
	return r.give(key, given, func() error { return person.Replace(r.dir, key, given) })
}

// Left returns the answer to a question that was left and not taken yet; empty if there
// is none.
func (r *Run) Left(key string) (text, by string, err error) {
	left, err := person.Left(r.dir, key)
	if err != nil || left == nil {
		return "", "", err
	}
	return left.Text, left.By, nil
}

// give leaves an answer, and looks whether somebody else was faster.
func (r *Run) give(key string, given flow.Answer, leave func() error) error {
	if n := len(given.Text); n > MaxAnswer {
		return &LongAnswerError{n}
	}
	q, err := r.asks(key)
	if _, over := errors.AsType[*NotAskedError](err); over {
		if taken, err := history.ReadAnswer(r.dir, key); err == nil && taken != nil {
			return &AnsweredError{Key: key, Answer: taken.Text, By: taken.By, Used: true}
		}
	}
	if err != nil {
		return err
	}
	meant, err := q.Understand(given.Text)
	if err != nil {
		return err
	}
	if err := leave(); err != nil {
		return err
	}
	if open, err := r.staysOpen(key); open || err != nil {
		return err
	}
	taken, err := history.ReadAnswer(r.dir, key)
	if err != nil || taken == nil || taken.Text == meant && taken.By == given.By {
		return err
	}
	return errors.Join(&AnsweredError{Key: key, Answer: taken.Text, By: taken.By, Used: true}, person.Discard(r.dir, key))
}

// answerPatience outlasts a process that is asking a question: it looks for answers more
// often than that.
const answerPatience = 1500 * time.Millisecond

// staysOpen reports whether the run has no answer to a question, now that one was left: the
// process that writes it, if there is one, is not asking it right now.
func (r *Run) staysOpen(key string) (bool, error) {
	deadline := time.Now().Add(answerPatience)
	for size := int64(-1); ; time.Sleep(pollInterval) {
		_, running := r.Writer() // in this order: what it wrote before it ended is there
		info, err := os.Stat(filepath.Join(r.dir, runlog.EventsFile))
		if err != nil {
			return false, fmt.Errorf("runs: %w", err)
		}
		if info.Size() != size || !running {
			size = info.Size()
			_, err := r.asks(key)
			if _, answered := errors.AsType[*NotAskedError](err); answered {
				return false, nil
			}
			if err != nil {
				return false, err
			}
		}
		if !running || time.Now().After(deadline) {
			return true, nil
		}
	}
}

// pollInterval is how often a run that another process writes is looked at.
const pollInterval = 50 * time.Millisecond

// asks returns a question that the run waits for.
func (r *Run) asks(key string) (Question, error) {
	open, err := r.Waiting()
	if err != nil {
		return Question{}, err
	}
	i := slices.IndexFunc(open, func(q Question) bool { return q.Key == key })
	if i < 0 {
		return Question{}, &NotAskedError{key}
	}
	return open[i], nil
}
