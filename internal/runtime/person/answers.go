package person

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// prepared is one entry of a file of answers. All conditions that it states must
// hold.
type prepared struct {
	Step     *int   `yaml:"step"`
	Question string `yaml:"question"` // a regular expression
	Tool     string `yaml:"tool"`     // of the call that is to be approved
	Kind     string `yaml:"kind"`
	Answer   string `yaml:"answer"`

	pattern *regexp.Regexp
}

// maxAnswers bounds the size of a file of answers.
const maxAnswers = 256 << 10

// ReadAnswers reads prepared answers, as YAML or JSON: a list of entries, the
// first of which that fits a question answers it.
//
//   - question: "which (branch|tag)"   # a regular expression, any case
//     answer: main
//   - step: 3
//     answer: "42"
//   - kind: approval
//     tool: Bash
//     answer: "no"
func ReadAnswers(data []byte) (Person, error) {
	if len(data) > maxAnswers {
		return nil, fmt.Errorf("answers: the file has %d bytes, more than %d", len(data), maxAnswers)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	var list []prepared
	if err := dec.Decode(&list); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("answers: want a list of entries with question, step, kind or tool, and answer: %w", err)
	}
	for i := range list {
		p := &list[i]
		switch {
		case p.Answer == "":
			return nil, fmt.Errorf("answers: entry %d has no answer", i+1)
		case p.Step == nil && p.Question == "" && p.Tool == "" && p.Kind == "":
			return nil, fmt.Errorf("answers: entry %d says to nothing what it answers; use question: .* for everything", i+1)
		}
		switch p.Kind {
		case "", event.ClarifyQuestion, event.ClarifyApproval, event.ClarifyOutcome, event.ClarifyPlan:
		default:
			return nil, fmt.Errorf("answers: entry %d: kind %q is none of question, approval, outcome, plan", i+1, p.Kind)
		}
		var err error
		if p.pattern, err = regexp.Compile("(?is)" + p.Question); err != nil {
			return nil, fmt.Errorf("answers: entry %d: question: %w", i+1, err)
		}
	}
	return Func(func(_ context.Context, _ string, q *flow.HumanQuestion) (*flow.Answer, error) {
		for i := range list {
			if !list[i].fits(q) {
				continue
			}
			text, err := Resolve(q, list[i].Answer)
			if err != nil {
				return nil, fmt.Errorf("answers: entry %d for %q: %w", i+1, q.Text, err)
			}
			return &flow.Answer{Text: text, By: "answers file"}, nil
		}
		return nil, ErrAbsent
	}), nil
}

// fits reports whether the entry is about q. An entry that does not say that it is
// about an approval or an outcome answers questions only: a general answer must
// not let calls pass.
func (p *prepared) fits(q *flow.HumanQuestion) bool {
	kind := p.Kind
	if kind == "" {
		kind = event.ClarifyQuestion
		if p.Tool != "" {
			kind = event.ClarifyApproval
		}
	}
	return kind == q.Kind &&
		(p.Step == nil || *p.Step == q.Step) &&
		(p.Tool == "" || q.Call != nil && q.Call.Tool == p.Tool) &&
		p.pattern.MatchString(q.Text)
}
