package outline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/vote"
)

type attachedFile struct {
	outline.Attachment
	content flow.Attached
}

// withoutIt is offered where something that a task refers to is not there.
const withoutIt = "go on without it"

// attach looks whether everything that a task refers to is there, and reads what can
// be shown to a model. What is missing is a question to the person.
func (r *runner) attach(c *outline.ExecuteTask) ([]attachedFile, outline.ExecutorEvent, error) {
	if !r.config.ReadAttachments {
		return nil, nil, nil
	}
	var list []attachedFile
	for i, a := range c.Parameters.Attachments {
		if a.Output {
			continue // the task makes it
		}
		content, err := flow.ReadAttachment(r.flow, fmt.Sprintf("%s/attachment/%d", r.key(r.task(c.NodeID)), i), flow.Reference{Kind: string(a.Kind), Ref: reference(a)})
		if err != nil {
			return nil, nil, err
		}
		if content.Problem != "" {
			r.now.options = []string{withoutIt}
			question := fmt.Sprintf("%s cannot be used: %s. Which file or address is to be used instead?", a.Ref, strings.TrimRight(content.Problem, "."))
			return nil, outline.NeedsClarification{NodeID: c.NodeID, Question: question, Attachment: a.Ref, Report: prompts.CallsMade(r.now.tries.Moves)}, nil
		}
		list = append(list, attachedFile{a, content})
	}
	return list, nil, nil
}

// reference is the path or the whole address of an attachment.
func reference(a outline.Attachment) string {
	if strings.Contains(a.Ref, "://") || a.Kind == outline.FileRef || a.Kind == outline.ImageRef && !strings.HasPrefix(a.Ref, "www.") {
		return a.Ref
	}
	return "https://" + a.Ref
}

// think has agents do a task, move by move.
func (r *runner) think(c *outline.ExecuteTask, files []attachedFile) (outline.ExecutorEvent, error) {
	q, err := r.question(c, files)
	if err != nil {
		return nil, err
	}
	tries := &r.now.tries
	out, err := r.decide(c, q, files)
	if err != nil {
		return nil, err
	}
	tries.Open = append(slices.Clip(tries.Open), r.key(r.task(c.NodeID))+"/attachment")
	v := out.Verdict
	r.now.status = v.Status
	switch {
	case v.Status != flow.Decided:
		reason := v.Reason
		if reason == "" {
			reason = string(v.Status)
		}
		// Another attempt must not make up for a call that may have happened, could do
		// nothing without calls, and would only repeat what was escalated.
		return outline.TaskFailed{
			NodeID: c.NodeID, Error: reason, Report: reason + prompts.CallsMade(tries.Moves), Final: r.movesLeft() <= 0 || r.now.escalated, Unknown: out.Unknown(),
		}, nil
	case v.Intent != nil:
		return r.asks(c.NodeID, v.Intent)
	}
	a, err := decodeAnswer(v.Answer)
	if err != nil {
		return nil, fmt.Errorf("outline: %w", err)
	}
	if a.Needs != "" {
		return outline.NeedsClarification{NodeID: c.NodeID, Question: a.Needs, Report: prompts.CallsMade(tries.Moves)}, nil
	}
	return outline.TaskCompleted{
		NodeID: c.NodeID, Result: a.Result, Details: a.Details, Unvoted: a.Details != "" && r.config.Rule.Strategy != vote.None, By: r.decidedBy(v.Voting),
	}, nil
}

// asks is what an agent asks the person by calling the tool for it.
func (r *runner) asks(id int, i *event.Intent) (outline.ExecutorEvent, error) {
	var in struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
	}
	if err := json.Unmarshal(i.Input, &in); err != nil {
		return nil, fmt.Errorf("outline: %s: %w", i.Tool, err)
	}
	r.now.options = in.Options
	return outline.NeedsClarification{NodeID: id, Question: in.Question, Report: prompts.CallsMade(r.now.tries.Moves)}, nil
}

// decidedBy says who settled a result.
func (r *runner) decidedBy(v event.Voting) string {
	if r.now.by != "" && r.now.by != event.ByModel {
		return r.now.by
	}
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
func (r *runner) question(c *outline.ExecuteTask, files []attachedFile) (*flow.Question, error) {
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
		Task: c.Parameters.Text, Headings: c.Parameters.Headings, Context: c.Parameters.ContextSummary, AskTool: r.askTool,
	}
	q := &flow.Question{
		Step: c.NodeID - 1, Scope: taskKey(c.NodeID), System: system, Answer: flow.Format{Reader: ResultReader, Params: params}, Schema: resultSchema,
		Terms: cfg.Terms, DelayMS: r.delay(c.Parameters.Attempt),
		Work: &flow.Work{Tools: r.tools, Repair: cfg.Repair, Done: r.now.tries.Moves},
	}
	if cfg.Meaning {
		q.Meaning = &flow.Meaning{}
	}
	if q.Rule.Strategy == vote.None {
		q.Rule.MaxSamples = 1 // another attempt is another sample
	}
	if c.Parameters.Attempt > 1 {
		q.FirstTemperature = q.Temperature // the greedy answer is known
	}
	data.Attached, q.Images = shown(files)
	return q, cfg.Prompts.Put(q, data)
}

// shown is how attachments are shown to agents.
func shown(files []attachedFile) ([]prompts.Attached, []flow.Image) {
	var list []prompts.Attached
	var images []flow.Image
	for _, f := range files {
		a := prompts.Attached{Ref: f.Ref, Label: f.Label}
		switch {
		case len(f.content.Data) > 0:
			images = append(images, flow.Image{MediaType: f.content.MediaType, Data: f.content.Data})
			a.Image = len(images)
		case f.content.Text != "":
			a.Text = f.content.Text
		default:
			a.Type = f.content.MediaType
		}
		list = append(list, a)
	}
	return list, images
}
