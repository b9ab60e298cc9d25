package outline

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
)

// attached is an attachment as the tool that reads it returns it.
type attached struct {
	MediaType string `json:"media_type"`
	Text      string `json:"text,omitempty"` // of a text file
	Data      []byte `json:"data,omitempty"` // of an image
}

// attach looks whether everything that a task refers to is there, and reads what can
// be shown to a model. What is missing is a question to the person.
func (r *runner) attach(c *ExecuteTask) ([]attachedFile, Event, error) {
	if r.config.AttachTool == "" {
		return nil, nil, nil
	}
	var list []attachedFile
	for i, a := range c.Parameters.Attachments {
		if a.Output {
			continue // the task makes it
		}
		intent, err := intentOf(r.config.AttachTool, map[string]string{"kind": string(a.Kind), "ref": a.Ref})
		if err != nil {
			return nil, nil, err
		}
		result, err := r.flow.Perform(fmt.Sprintf("%s/attachment/%d", r.key(c), i), &flow.Effect{Step: c.ID - 1, Intent: intent})
		if err != nil {
			return nil, nil, err
		}
		if result.IsError {
			question := fmt.Sprintf("%s cannot be used: %s. What should be used instead?", a.Ref, result.Text)
			return nil, NeedsClarification{ID: c.ID, Question: question, Attachment: a.Ref}, nil
		}
		file := attachedFile{Attachment: a}
		if err := json.Unmarshal([]byte(result.Text), &file.content); err != nil {
			return nil, nil, fmt.Errorf("outline: attachment %s: %w", a.Ref, err)
		}
		list = append(list, file)
	}
	return list, nil, nil
}

type attachedFile struct {
	Attachment
	content attached
}

// think has agents do a task, move by move.
func (r *runner) think(c *ExecuteTask, files []attachedFile) (Event, error) {
	q, err := r.question(c, files)
	if err != nil {
		return nil, err
	}
	out, err := flow.ActUntil(r.flow, r.key(c), q, r.config.MaxMoves, func(i event.Intent) bool {
		return r.config.AskTool != "" && i.Tool == r.config.AskTool
	})
	if err != nil {
		return nil, err
	}
	r.tally.add(out)
	r.moves[c.ID] = append(slices.Clip(r.moves[c.ID]), out.Moves...)
	v := out.Verdict
	switch {
	case v.Status != flow.Decided:
		unknown := len(out.Moves) > 0 && out.Moves[len(out.Moves)-1].Result.Unknown
		return TaskFailed{ID: c.ID, Error: v.Reason, Final: unknown}, nil
	case v.Intent != nil:
		var in struct {
			Question string   `json:"question"`
			Options  []string `json:"options"`
		}
		if err := json.Unmarshal(v.Intent.Input, &in); err != nil {
			return nil, fmt.Errorf("outline: %s: %w", v.Intent.Tool, err)
		}
		for i, option := range in.Options {
			in.Question += fmt.Sprintf("\n%d) %s", i+1, option)
		}
		return NeedsClarification{ID: c.ID, Question: in.Question}, nil
	}
	var a answer
	if err := json.Unmarshal(v.Answer, &a); err != nil {
		return nil, fmt.Errorf("outline: %w", err)
	}
	if a.Needs != "" {
		return NeedsClarification{ID: c.ID, Question: a.Needs}, nil
	}
	return TaskCompleted{ID: c.ID, Result: a.Result, By: "vote " + v.Voting.Split()}, nil
}

// maxDelayMS bounds the wait before another attempt.
const maxDelayMS = 60_000

// question is what the agents of a task are asked.
func (r *runner) question(c *ExecuteTask, files []attachedFile) (*flow.Question, error) {
	cfg := &r.config
	system, err := cfg.Prompts.Render(prompts.OutlineSystem{})
	if err != nil {
		return nil, err
	}
	data := prompts.OutlineTask{
		Task: c.Parameters.Text, Headings: c.Parameters.Headings, Context: c.Parameters.Summary, AskTool: cfg.AskTool,
	}
	q := &flow.Question{
		Step: c.ID - 1, System: system, Answer: flow.Format{Reader: ResultReader},
		Rule: cfg.Rule, Flags: cfg.Flags,
		FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults,
		Work: &flow.Work{Tools: cfg.Tools, Repair: cfg.Repair, Done: r.moves[c.ID]},
	}
	if n := c.Parameters.Attempt; n > 1 && cfg.RetryDelayMS > 0 {
		q.DelayMS = min(cfg.RetryDelayMS<<min(n-2, 16), maxDelayMS)
	}
	for _, f := range files {
		switch {
		case len(f.content.Data) > 0:
			q.Images = append(q.Images, flow.Image{MediaType: f.content.MediaType, Data: f.content.Data})
			data.Attached = append(data.Attached, prompts.Attached{Ref: f.Ref, Label: f.Label, Note: "an image, shown above"})
		case f.content.Text != "":
			data.Attached = append(data.Attached, prompts.Attached{Ref: f.Ref, Label: f.Label, Text: f.content.Text})
		default:
			data.Attached = append(data.Attached, prompts.Attached{Ref: f.Ref, Label: f.Label, Note: "it is there: " + f.content.MediaType})
		}
	}
	q.Prompt, err = cfg.Prompts.Render(data)
	return q, err
}

// compact brings the context back into its budget.
func (r *runner) compact(id int) error {
	for n := 0; ; n++ {
		request := r.compactor.Request()
		if request == nil {
			return nil
		}
		before := r.compactor.size
		summary, err := r.summarise(id, n, request)
		if err != nil {
			return err
		}
		if _, err := r.compactor.Accept(summary); err != nil {
			r.compactor.Fallback() // sentences of the text itself
		}
		r.flow.Emit(event.ContextCompacted{
			Step: id - 1, Before: before, After: r.compactor.size, Summary: event.TextValue(r.compactor.summary.text),
		})
	}
}

// summarise asks for a summary; "" if there is none to be had.
func (r *runner) summarise(id, n int, request *SummaryRequest) (string, error) {
	cfg := &r.config
	prompt, err := cfg.Prompts.Render(prompts.OutlineSummary{Text: request.Text, Must: request.Must, MaxWords: max(request.MaxTokens*2/3, 50)})
	if err != nil {
		return "", err
	}
	params, err := json.Marshal(summaryFormat{Text: request.Text, Must: request.Must, MaxTokens: request.MaxTokens})
	if err != nil {
		return "", fmt.Errorf("outline: %w", err)
	}
	v, err := r.flow.Decide(fmt.Sprintf("task/%d/summary/%d", id, n), &flow.Question{
		Step: id - 1, Prompt: prompt, Answer: flow.Format{Reader: SummaryReader, Params: params},
		Rule: cfg.Rule, Flags: cfg.Flags, FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		MaxOutput: max(cfg.MaxOutput, request.MaxTokens*2), MaxFaults: cfg.MaxFaults,
	})
	if err != nil || v.Status != flow.Decided {
		return "", err
	}
	var summary string
	if err := json.Unmarshal(v.Answer, &summary); err != nil {
		return "", fmt.Errorf("outline: %w", err)
	}
	return summary, nil
}
