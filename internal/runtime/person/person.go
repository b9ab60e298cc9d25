// Package person is how a run reaches the person it works for.
//
// Whatever the way (a terminal, a file of prepared answers, another process), an
// answer is data that the run logs before it uses it. A way that has no answer
// says that nobody is there; none of them ever makes one up.
package person

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/plan"
)

// ErrAbsent says that there is no answer to be had this way.
var ErrAbsent = errors.New("nobody is there to answer")

// A WaitingError ends a session because only a person can say how it goes on.
type WaitingError struct {
	Key      string // of the question
	Question flow.HumanQuestion
}

func (e *WaitingError) Error() string {
	return fmt.Sprintf("waiting for a person: %s", e.Question.Text)
}

// A Person answers questions. Ask returns when there is an answer, when ctx ends,
// or with ErrAbsent. It may be called from several goroutines.
type Person interface {
	Ask(ctx context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error)
}

// Func is a function that is a Person.
type Func func(ctx context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error)

// Ask calls f.
func (f Func) Ask(ctx context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	return f(ctx, key, q)
}

// First asks in turn until somebody is there.
func First(people ...Person) Person {
	return Func(func(ctx context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
		for _, p := range people {
			if p == nil {
				continue
			}
			if a, err := p.Ask(ctx, key, q); !errors.Is(err, ErrAbsent) {
				return a, err
			}
		}
		return nil, ErrAbsent
	})
}

// Answers to questions of yes or no.
const (
	Yes = "yes"
	No  = "no"
)

// IsYes reports whether an answer agrees.
func IsYes(answer string) bool { return is(answer, "yes", "y", "ok", "allow", "approve") }

// IsNo reports whether an answer refuses and says nothing else.
func IsNo(answer string) bool { return is(answer, "no", "n", "deny", "refuse", "") }

func is(answer string, words ...string) bool {
	return slices.Contains(words, strings.ToLower(strings.TrimSpace(answer)))
}

// Label is what stands for an option of q: its number, or #1 and so on where a number can be
// an answer itself, because an option is one or because q asks for a result.
func Label(q *flow.HumanQuestion, i int) string {
	if q.Call == nil && q.Voting != nil || slices.ContainsFunc(q.Options, isNumber) {
		return fmt.Sprintf("#%d", i+1)
	}
	return strconv.Itoa(i + 1)
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// Resolve turns what a person wrote into an answer to q: the words of an option in any case,
// or its label, stand for the option. It is an error if that is not clear: then the person is
// to be asked again.
func Resolve(q *flow.HumanQuestion, text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", errors.New("the answer is empty")
	}
	if q.Kind == event.ClarifyApproval {
		a, err := ReadApproval(q, text)
		if err != nil {
			return "", err
		}
		return a.String(), nil
	}
	if another, ok := strings.CutPrefix(text, "edit\n"); ok && q.Kind == event.ClarifyPlan {
		return text, checkPlan(q, another)
	}
	if len(q.Options) == 0 {
		return text, nil
	}
	if i := slices.IndexFunc(q.Options, func(option string) bool { return strings.EqualFold(option, text) }); i >= 0 {
		return q.Options[i], nil
	}
	for i, option := range q.Options {
		if text == Label(q, i) {
			return option, nil
		}
	}
	if q.Free && q.Kind != event.ClarifyPlan {
		return text, nil
	}
	options := strings.Join(q.Options, "; ")
	if q.Kind == event.ClarifyPlan {
		options += "; edit, with another plan on the lines below it"
	}
	return "", fmt.Errorf("%q is none of the answers: %s", text, options)
}

// Script is the name of the language in which a plan is a script.
const Script = "script"

// IsScript reports whether a question is about a script instead of a plan.
func IsScript(q *flow.HumanQuestion) bool {
	var checks plan.Checks
	return q.Kind == event.ClarifyPlan && json.Unmarshal(q.Against, &checks) == nil && checks.Language == Script
}

// checkPlan says what is wrong with a plan that the person gives in place of another.
func checkPlan(q *flow.HumanQuestion, text string) error {
	var checks *plan.Checks // a log of an earlier version has none
	if len(q.Against) > 0 {
		if err := json.Unmarshal(q.Against, &checks); err != nil {
			return fmt.Errorf("what plans are held against: %w", err)
		}
	}
	if checks != nil && checks.Language != "" {
		return nil // the run checks it, and asks again
	}
	_, report := plan.Validate(text, checks.Options())
	var problems []error
	for _, c := range report.Checks {
		if !c.Passed && !c.Skipped {
			problems = append(problems, fmt.Errorf("line %d: %s (%s)", c.Line, c.Message, c.Name))
		}
	}
	return errors.Join(problems...)
}
