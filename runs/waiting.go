package runs

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/history"
	"github.com/maker-mdap/maker/internal/person"
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

// Answer leaves an answer to a question that the run waits for. The run takes it when
// it is resumed, and logs it with the name of who gave it; until then a later answer
// replaces it. The text is as a person wrote it: see [Question.Understand].
func (r *Run) Answer(key, text, by string) error {
	open, err := r.Waiting()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(open, func(q Question) bool { return q.Key == key })
	if i < 0 {
		return &NotAskedError{key}
	}
	if _, err := open[i].Understand(text); err != nil {
		return err
	}
	return person.Leave(r.dir, key, flow.Answer{Text: text, By: by})
}
