package kind

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/reader"
)

// askKind is one question: a chain of one step.
var askKind = Kind{Name: Ask, Form: event.FormChain, Settings: config.Asking, job: askJob}

// Ask is its name.
const Ask = "ask"

// AskParams are what a run is about, as its log has it.
type AskParams struct {
	Question string      `json:"question"`
	Answer   flow.Format `json:"answer"` // a reader of package reader
	Shown    []Shown     `json:"shown,omitempty"`
}

// Shown is a text or a picture that is shown with the question.
type Shown struct {
	Name      string `json:"name"`
	Text      string `json:"text,omitempty"`
	MediaType string `json:"media_type,omitempty"` // of a picture
	Data      []byte `json:"data,omitempty"`
}

func askJob(_ Env, _ string, params json.RawMessage, cfg config.Config) (*Job, error) {
	var p AskParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	if strings.TrimSpace(p.Question) == "" {
		return nil, config.Errorf("question", "the question is empty")
	}
	as, err := reader.Of(p.Answer)
	if err != nil {
		return nil, &config.Error{Field: "answer", Err: err}
	}
	set, err := promptSet(cfg)
	if err != nil {
		return nil, err
	}
	q, err := askQuestion(set, p, as)
	if err != nil {
		return nil, err
	}
	q.Class = "" // there is one question, of the kind that the run is
	roles := secondPool(cfg)
	if meaning(cfg) {
		q.Meaning, roles = &flow.Meaning{}, append(roles, flow.Cheap)
	}
	return &Job{
		Task: p.Question, Steps: 1, Races: 1, Prompts: set, Roles: roles,
		Run: func(f flow.Flow, at chain.Checkpoint) error {
			return chain.Run(f, single{q}, chain.Config{Terms: terms(cfg), Pool: cfg.Solve.ModelEscalation}, at)
		},
	}, nil
}

// askQuestion puts the question into words.
func askQuestion(set *prompts.Set, p AskParams, as reader.Reader) (*flow.Question, error) {
	q := &flow.Question{}
	reader.Put(q, as)
	data := prompts.Ask{Question: p.Question, Instructions: reader.Instructions(as, prompts.MaxFramings)}
	for _, s := range p.Shown {
		shown := prompts.Attached{Ref: s.Name, Label: s.Name, Text: s.Text}
		if len(s.Data) > 0 {
			q.Images = append(q.Images, flow.Image{MediaType: s.MediaType, Data: s.Data})
			shown.Image = len(q.Images)
		}
		data.Shown = append(data.Shown, shown)
	}
	return q, set.Put(q, data)
}

// single is a chain of one question.
type single struct{ question *flow.Question }

// Steps implements [domain.Chain].
func (single) Steps() int { return 1 }

// Question implements [domain.Chain].
func (s single) Question(int, json.RawMessage) (*flow.Question, error) {
	q := *s.question
	return &q, nil
}

// Check implements [domain.Chain].
func (single) Check(int, json.RawMessage) error { return nil }

// Finish implements [domain.Chain].
func (single) Finish(json.RawMessage) error { return nil }
