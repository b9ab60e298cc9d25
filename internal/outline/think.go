package outline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/vote"
)

type attachedFile struct {
	Attachment
	content flow.Attached
}

// withoutIt is offered where something that a task refers to is not there.
const withoutIt = "go on without it"

// attach looks whether everything that a task refers to is there, and reads what can
// be shown to a model. What is missing is a question to the person.
func (r *runner) attach(c *ExecuteTask) ([]attachedFile, Event, error) {
	if !r.config.ReadAttachments {
		return nil, nil, nil
	}
	var list []attachedFile
	for i, a := range c.Parameters.Attachments {
		if a.Output {
			continue // the task makes it
		}
		content, err := flow.ReadAttachment(r.flow, fmt.Sprintf("%s/attachment/%d", r.key(r.task(c.ID)), i), flow.Reference{Kind: string(a.Kind), Ref: reference(a)})
		if err != nil {
			return nil, nil, err
		}
		if content.Problem != "" {
			r.now.options = []string{withoutIt}
			question := fmt.Sprintf("%s cannot be used: %s. Which file or address is to be used instead?", a.Ref, strings.TrimRight(content.Problem, "."))
			return nil, NeedsClarification{ID: c.ID, Question: question, Attachment: a.Ref}, nil
		}
		list = append(list, attachedFile{a, content})
	}
	return list, nil, nil
}

// reference is the path or the whole address of an attachment.
func reference(a Attachment) string {
	if hasScheme(a.Ref) || a.Kind == File || a.Kind == Image && !strings.HasPrefix(a.Ref, "www.") {
		return a.Ref
	}
	return "https://" + a.Ref
}

// think has agents do a task, move by move.
func (r *runner) think(c *ExecuteTask, files []attachedFile) (Event, error) {
	q, err := r.question(c, files)
	if err != nil {
		return nil, err
	}
	tries := &r.now.tries
	left := r.config.MaxMoves - (len(tries.Moves) - r.now.round)
	out, err := flow.ActUntil(r.flow, r.key(r.task(c.ID)), q, left, func(i event.Intent) bool {
		return r.askTool != "" && i.Tool == r.askTool
	})
	if err != nil {
		return nil, err
	}
	tries.Add(out)
	tries.Open = append(slices.Clip(tries.Open), r.key(r.task(c.ID))+"/attachment")
	v := out.Verdict
	r.now.status = v.Status
	switch {
	case v.Status != flow.Decided:
		reason := v.Reason
		if reason == "" {
			reason = string(v.Status)
		}
		// Another attempt must not make up for a call that may have happened, and
		// could do nothing without calls.
		return TaskFailed{ID: c.ID, Error: reason, Final: len(out.Moves) >= left, Unknown: out.Unknown()}, nil
	case v.Intent != nil:
		return r.asks(c.ID, v.Intent)
	}
	var a answer
	if err := json.Unmarshal(v.Answer, &a); err != nil {
		return nil, fmt.Errorf("outline: %w", err)
	}
	if a.Needs != "" {
		return NeedsClarification{ID: c.ID, Question: a.Needs}, nil
	}
	return TaskCompleted{ID: c.ID, Result: a.text(), By: decidedBy(v.Voting)}, nil
}

// asks is what an agent asks the person by calling the tool for it.
func (r *runner) asks(id int, i *event.Intent) (Event, error) {
	var in struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
	}
	if err := json.Unmarshal(i.Input, &in); err != nil {
		return nil, fmt.Errorf("outline: %s: %w", i.Tool, err)
	}
	r.now.options = in.Options
	return NeedsClarification{ID: id, Question: in.Question}, nil
}

// decidedBy says who settled a result.
func decidedBy(v event.Voting) string {
	if v.Strategy == vote.None {
		return "one sample"
	}
	votes := strings.ReplaceAll(v.Split(), "-", ":")
	if !strings.Contains(votes, ":") {
		votes += ":0"
	}
	return "vote " + votes
}

// maxDelayMS bounds the wait before another attempt.
const maxDelayMS = 60_000

// delay is how long to wait before an attempt.
func (r *runner) delay(attempt int) int64 {
	if attempt < 2 || r.config.RetryDelayMS <= 0 {
		return 0
	}
	return min(r.config.RetryDelayMS<<min(attempt-2, 16), maxDelayMS)
}

// question is what the agents of a task are asked.
func (r *runner) question(c *ExecuteTask, files []attachedFile) (*flow.Question, error) {
	cfg := &r.config
	system, err := cfg.Prompts.Render(prompts.OutlineSystem{})
	if err != nil {
		return nil, err
	}
	params, err := json.Marshal(resultFormat{Ask: r.askTool})
	if err != nil {
		return nil, fmt.Errorf("outline: %w", err)
	}
	data := prompts.OutlineTask{
		Task: c.Parameters.Text, Headings: c.Parameters.Headings, Context: c.Parameters.Summary, AskTool: r.askTool,
	}
	rule := cfg.Rule
	if rule.Strategy == vote.None {
		rule.MaxSamples = 1 // another attempt is another sample
	}
	q := &flow.Question{
		Step: c.ID - 1, Scope: taskKey(c.ID), System: system, Answer: flow.Format{Reader: ResultReader, Params: params},
		Rule: rule, Flags: cfg.Flags,
		FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults, DelayMS: r.delay(c.Parameters.Attempt),
		Work: &flow.Work{Tools: r.tools, Repair: cfg.Repair, Done: r.now.tries.Moves},
	}
	if c.Parameters.Attempt > 1 {
		q.FirstTemperature = q.Temperature // the greedy answer is known
	}
	for _, f := range files {
		shown := prompts.Attached{Ref: f.Ref, Label: f.Label}
		switch {
		case len(f.content.Data) > 0:
			q.Images = append(q.Images, flow.Image{MediaType: f.content.MediaType, Data: f.content.Data})
			shown.Note = fmt.Sprintf("an image, number %d of those shown", len(q.Images))
		case f.content.Text != "":
			shown.Text = f.content.Text
		default:
			shown.Note = "it is there: " + f.content.MediaType
		}
		data.Attached = append(data.Attached, shown)
	}
	q.Prompt, err = cfg.Prompts.Render(data)
	return q, err
}
