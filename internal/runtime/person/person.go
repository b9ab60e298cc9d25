// Package person is how a run reaches the person it works for.
//
// Whatever the way (a terminal, a file of prepared answers, another process), an
// answer is data that the run logs before it uses it. A way that has no answer
// says that nobody is there; none of them ever makes one up.
package person

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
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

// Resolve turns what a person wrote into an answer to q: the number of an option,
// or its words in any case, stand for the option. It is an error if that is not clear:
// then the person is to be asked again.
func Resolve(q *flow.HumanQuestion, text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", errors.New("the answer is empty")
	}
	if q.Kind == event.ClarifyApproval {
		return approval(text)
	}
	if len(q.Options) == 0 {
		return text, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1], nil
	}
	for _, option := range q.Options {
		if strings.EqualFold(option, text) {
			return option, nil
		}
	}
	if q.Free {
		return text, nil
	}
	return "", fmt.Errorf("%q is none of the answers: %s", text, strings.Join(q.Options, "; "))
}

// approval is the answer to whether a call may be made: yes, no, or the reason why not.
// A slip of the keyboard is none of these: a reason has more than one word, and what
// begins with yes is no refusal.
func approval(text string) (string, error) {
	words := strings.Fields(text)
	first := strings.TrimRight(words[0], ",;.:!")
	switch {
	case IsYes(text), text == "1":
		return Yes, nil
	case IsNo(text), text == "2":
		return No, nil
	case len(words) == 1:
		return "", fmt.Errorf("%q is neither yes nor no; say why not in more than one word", text)
	case IsYes(first):
		return "", fmt.Errorf("%q begins with yes and says more; say yes, or no and why not", text)
	}
	return text, nil
}
