package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/person"
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
}

// Understand says what an answer in the words of a person is taken for: the number of
// an option, or its words in any case, stand for the option. An answer that is none is
// an error.
func (q Question) Understand(text string) (string, error) {
	return person.Resolve(&flow.HumanQuestion{Kind: q.Kind, Options: q.Options, Free: q.Free}, text)
}

// Waiting returns what the run waits for, in the order in which it was asked.
func (r *Run) Waiting() ([]Question, error) {
	open, err := history.ReadWaiting(r.dir)
	if err != nil {
		return nil, err
	}
	list := make([]Question, 0, len(open))
	for _, e := range open {
		q := Question{Key: e.Question, Step: e.Step, Kind: e.Kind, Text: e.Text, Options: e.Options, Free: e.Free}
		var call event.Intent
		if len(e.Call) > 0 && json.Unmarshal(e.Call, &call) == nil {
			q.Call = &call
		}
		list = append(list, q)
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
		return fmt.Sprintf("the run has taken another answer to %q, by %s: %s", e.Key, e.By, e.Answer)
	}
	return fmt.Sprintf("%s has answered it already: %s", e.By, e.Answer)
}

// A RunningError says that a process is going on with the run: it asks where it runs.
type RunningError struct{ PID int }

func (e *RunningError) Error() string {
	return fmt.Sprintf("process %d is going on with the run: answer where it asks, or when it has ended", e.PID)
}

// Answer leaves an answer to a question that the run waits for. The run takes it when
// it is resumed, and logs it with the name of who gave it. The text is as a person
// wrote it: see [Question.Understand].
//
// That there is no error means that the run will find this answer, or has taken it. If
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
	q, err := r.asks(key)
	if err != nil {
		return err
	}
	meant, err := q.Understand(given.Text)
	if err != nil {
		return err
	}
	if pid, running := r.Writer(); running {
		return &RunningError{pid}
	}
	if err := leave(); err != nil {
		return err
	}
	if _, err := r.asks(key); err == nil {
		if pid, running := r.Writer(); running { // it may have asked before there was an answer
			return &RunningError{pid}
		}
		return nil
	}
	taken, err := history.ReadAnswer(r.dir, key)
	if err != nil || taken == nil || taken.Text == meant && taken.By == given.By {
		return err
	}
	return errors.Join(&AnsweredError{Key: key, Answer: taken.Text, By: taken.By, Used: true}, person.Discard(r.dir, key))
}

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
