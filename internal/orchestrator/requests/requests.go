// Package requests has requests that come from outside answered by vote: each is the last
// turn of a conversation, and what is voted on is the next one.
package requests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/usage"
)

// A Request is one turn that is asked for. It is plain data.
type Request struct {
	System string    `json:"system,omitempty"`
	Chat   flow.Chat `json:"chat"`

	// Answer is how text is read, by a reader of package reader; a text as it is if empty.
	Answer flow.Format `json:"answer,omitzero"`

	// Meaning has texts compared by what they say.
	Meaning bool `json:"meaning,omitempty"`

	// OnUndecided says what is answered if voters do not agree.
	OnUndecided OnUndecided `json:"on_undecided,omitempty"`

	MaxOutput   int      `json:"max_output,omitempty"`  // that of the terms if 0
	Temperature *float64 `json:"temperature,omitempty"` // of the first sample, and of the others unless it is 0
}

// An Addressed request says whom it is put to, and how that is decided, if not the run's own
// voters by its own terms; and who compares texts, and chooses among them.
type Addressed struct {
	Request

	Model     string      `json:"model,omitempty"`
	Terms     *flow.Terms `json:"terms,omitempty"`
	Cheap     string      `json:"cheap,omitempty"`
	Reasoning string      `json:"reasoning,omitempty"`
}

// OnUndecided is what is answered if voters do not agree.
type OnUndecided string

// What can be answered. A turn that calls tools is never answered without a vote.
const (
	SayUndecided OnUndecided = "error" // that they do not
	TakeFirst    OnUndecided = "first" // what most voters said, and the first one among these
	TakeJudged   OnUndecided = "judge" // what the model that plans prefers, by a vote of its own
)

// Config says how.
type Config struct {
	Terms   flow.Terms
	Prompts *prompts.Set
}

// Run answers requests until no more will come. Each is a step: it emits step_started with
// the request, and then step_completed, or step_failed if voters did not agree, whose output
// is what was answered all the same. In the end it emits task_completed.
func Run(f flow.Flow, c Config) error {
	err := flow.Receive(f, flow.Records, func(n int, request json.RawMessage, f flow.Flow) (*flow.Verdict, error) {
		var r Addressed
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, fmt.Errorf("the request: %w", err)
		}
		return c.answer(f, n, &r)
	})
	if err == nil {
		f.Emit("end", event.TaskCompleted{})
	}
	return err
}

// answer has a request voted on.
func (c Config) answer(f flow.Flow, n int, r *Addressed) (*flow.Verdict, error) {
	parts, err := r.parts()
	if err != nil {
		return nil, err
	}
	f.Emit("started", event.StepStarted{Step: n, Title: clip.Short(r.Chat.LastSaid()), Request: parts})
	q := c.question(r)
	q.Step = n
	v, err := f.Decide("turn", q)
	if err != nil {
		return nil, err
	}
	if v.Status == flow.Decided {
		done := event.StepCompleted{Step: n, Pool: r.Model, Output: event.JSONValue(v.Answer), Voting: v.Voting, CostUSD: v.CostUSD, DurationMS: v.DurationMS}
		if q.Rule != c.Terms.Rule {
			done.Rule = &q.Rule
		}
		f.Emit("completed", done)
		return v, nil
	}
	failed := event.StepFailed{Step: n, Pool: r.Model, Status: string(v.Status), Reason: v.Reason, Voting: v.Voting, CostUSD: v.CostUSD}
	if v.Status == flow.Undecided {
		if err := c.settle(f, r, v, &failed); err != nil {
			return nil, err
		}
	}
	f.Emit("failed", failed)
	return v, nil
}

// settle answers in place of voters who do not agree, if that is wanted. The verdict stays
// what it is.
func (c Config) settle(f flow.Flow, r *Addressed, v *flow.Verdict, failed *event.StepFailed) error {
	var texts []event.Candidate
	for _, candidate := range v.Candidates {
		var t flow.ChatTurn
		if json.Unmarshal(candidate.Answer, &t) != nil || len(t.Calls) > 0 {
			return nil // what somebody would do is voted on or not done
		}
		texts = append(texts, candidate)
	}
	if len(texts) == 0 {
		return nil
	}
	switch r.OnUndecided {
	case TakeFirst:
		v.Answer = texts[0].Answer
	case TakeJudged:
		chosen, cost, err := c.choose(f, failed.Step, r, texts)
		if err != nil {
			return err
		}
		v.CostUSD = sum(v.CostUSD, cost)
		if v.Answer = chosen; chosen == nil {
			failed.Reason += "; whoever was asked to choose did not agree either"
		}
	}
	if v.Answer != nil {
		failed.Output = event.JSONValue(v.Answer)
		failed.Reason += "; answered all the same: " + string(r.OnUndecided)
	}
	return nil
}

// enoughToTell is how many texts that all differ show that there will be no agreement.
const enoughToTell = 3

// longestMS is how long a request is voted on: clients wait for ten minutes at most.
const longestMS = 9 * 60 * 1000

// terms are how a request is decided.
func (c Config) terms(r *Addressed) flow.Terms {
	if r.Terms != nil {
		return *r.Terms
	}
	return c.Terms
}

// question is what voters are asked.
func (c Config) question(r *Addressed) *flow.Question {
	q := &flow.Question{System: r.System, Model: r.Model, Chat: &r.Chat, Answer: r.Answer, Terms: c.terms(r), TimeoutMS: longestMS}
	if q.Answer.Reader == "" {
		q.Answer = reader.Text{}.Format()
	}
	if as, err := reader.Of(q.Answer); err == nil && q.Answer.Reader != (reader.Text{}).Format().Reader {
		q.Schema = reader.Output(as)
		if q.Structured == "" {
			q.Structured = flow.StructuredAuto
		}
	}
	if r.Meaning {
		q.Meaning = &flow.Meaning{Model: r.Cheap}
	}
	if r.OnUndecided != "" && r.OnUndecided != SayUndecided && q.Meaning == nil && len(q.Schema) == 0 {
		q.Scattered = enoughToTell // prose that differs will go on to differ, and is answered all the same
	}
	if r.MaxOutput > 0 {
		q.MaxOutput = r.MaxOutput
	}
	if t := r.Temperature; t != nil {
		if q.FirstTemperature = t; *t > 0 {
			q.Temperature = t
		}
	}
	return q
}

// sum adds two costs; nil if one is not known.
func sum(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	total := usage.AddUSD(*a, *b)
	return &total
}

// choose asks which of the answers is best; nil if that is not agreed on. Each voter sees them
// in another order, so that none can win by its place. The cost is that of asking.
func (c Config) choose(f flow.Flow, n int, r *Addressed, among []event.Candidate) (answer json.RawMessage, cost *float64, err error) {
	const most = 5
	among = among[:min(len(among), most)]
	var names []string
	var answers []prompts.NamedAnswer
	for i, a := range among {
		var t flow.ChatTurn
		if err := json.Unmarshal(a.Answer, &t); err != nil {
			return nil, nil, err
		}
		names = append(names, string(rune('a'+i)))
		answers = append(answers, prompts.NamedAnswer{Name: names[i], Text: t.Text})
	}
	as := reader.OneOf{Options: names}
	q := &flow.Question{Step: n, Model: cmp.Or(r.Reasoning, flow.Reasoning), Class: prompts.ChooseAnswer{}.Prompt(), Terms: c.terms(r)}
	reader.Put(q, as)
	for i := range answers {
		turned := append(answers[i:len(answers):len(answers)], answers[:i]...)
		text, err := c.Prompts.Render(prompts.ChooseAnswer{Asked: r.Chat.LastSaid(), Answers: turned, Instruction: as.Instruction()})
		if err != nil {
			return nil, nil, err
		}
		q.Variants = append(q.Variants, text)
	}
	q.Prompt = q.Variants[0]
	v, err := f.Decide("judge", q)
	if err != nil {
		return nil, nil, err
	}
	if v.Status != flow.Decided {
		return nil, v.CostUSD, nil
	}
	var name string
	if err := json.Unmarshal(v.Answer, &name); err != nil {
		return nil, nil, err
	}
	return among[strings.Index("abcde", name)].Answer, v.CostUSD, nil
}

// parts are what the log has of a request: requests of one conversation have most of them in
// common.
func (r *Addressed) parts() ([]event.Value, error) {
	head := *r
	head.Chat.Messages = nil
	list := []any{head}
	for _, m := range r.Chat.Messages {
		list = append(list, m)
	}
	values := make([]event.Value, len(list))
	for i, part := range list {
		data, err := flow.Encode(part)
		if err != nil {
			return nil, err
		}
		values[i] = event.JSONValue(data)
	}
	return values, nil
}
