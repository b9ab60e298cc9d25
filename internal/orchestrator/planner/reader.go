package planner

import (
	"encoding/json"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// The readers of the planner's questions.
const (
	Reader      = "plan"
	ScoreReader = "score"
)

// A Format is the parameters of [Reader].
type Format struct {
	// Strict discards what is no plan at all. Otherwise it is an answer, and the
	// validator says what is wrong with it: that is for a planner that is asked
	// once, and can learn from it.
	Strict bool `json:"strict"`

	// Checks, if not nil, also discards plans that do not pass: several are made, and
	// those that pass are voted on.
	Checks *plan.Checks `json:"checks,omitempty"`
}

// A Draft is what a plan becomes when it is read.
type Draft struct {
	Plan string `json:"plan"` // YAML
}

// Readers are the readers that the questions of this package name.
func Readers() domain.Readers {
	return domain.Readers{
		Reader: func(params json.RawMessage) (domain.Reader, error) {
			var f Format
			if len(params) > 0 {
				if err := json.Unmarshal(params, &f); err != nil {
					return nil, err
				}
			}
			return planReader(f), nil
		},
		ScoreReader: func(json.RawMessage) (domain.Reader, error) { return scoreReader{}, nil },
		DraftReader: func(json.RawMessage) (domain.Reader, error) { return draftReader{}, nil },
	}
}

type planReader Format

// Read implements [domain.Reader]. Plans agree if they have the same structure.
func (r planReader) Read(text string) (domain.Answer, *redflag.Flag) {
	p, report := plan.Validate(text, r.Checks.Options())
	key := "text " + text
	switch {
	case p == nil && r.Strict:
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "it is no plan: %s", report.Findings()[0])
	case !report.Passed && r.Checks != nil:
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the plan does not pass its checks: %s", report.Findings()[0])
	case p != nil:
		key = plan.Canonical(p)
		if pretty, err := plan.Encode(p); err == nil && len(report.Notes) == 0 { // the validator tells them
			text = pretty
		}
	}
	value, err := json.Marshal(Draft{Plan: text})
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return domain.Answer{Value: value, Key: key}, nil
}

// A Score is a judgement.
type Score struct {
	Score  float64 `json:"score"`
	Reason string  `json:"reason"`
}

type scoreReader struct{}

// Read implements [domain.Reader]. Scores agree if they are the same number.
func (scoreReader) Read(text string) (domain.Answer, *redflag.Flag) {
	data, err := yamlclean.JSON(text)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	var s struct {
		Score  *float64 `json:"score"`
		Reason string   `json:"reason"`
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Score == nil || *s.Score < 0 || *s.Score > 1 {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "want a mapping with a score from 0 to 1 and a reason")
	}
	value, err := json.Marshal(Score{*s.Score, s.Reason})
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	key, err := vote.Canonical(value, vote.KeyOptions{Ignore: []string{"reason"}})
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return domain.Answer{Value: value, Key: key}, nil
}
