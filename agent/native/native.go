// Package native is the agent that is a loop around a model: ask, run the tools
// that were asked for, show the results, ask again.
package native

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// New returns an agent that asks m.
func New(m model.Model) agent.Agent { return &native{m} }

type native struct{ model model.Model }

// Attempt implements [agent.Agent].
func (n *native) Attempt(ctx context.Context, t *agent.Task) (*agent.Result, error) {
	a := attempt{task: t, tools: make(map[string]tool.Tool, len(t.Tools)), maxMoves: t.MaxMoves, maxTokens: t.MaxTokens}
	if a.maxMoves == 0 {
		a.maxMoves = agent.DefaultMaxMoves
	}
	if a.maxTokens == 0 {
		a.maxTokens = agent.DefaultMaxTokens
	}
	a.request = model.Request{
		System: t.System, Messages: transcript(t), Output: t.Output, Temperature: t.Temperature,
		MaxOutput: t.MaxOutput, OnFault: t.OnFault, CachePrefix: t.CachePrefix, Earlier: t.Earlier,
	}
	for _, t := range t.Tools {
		a.tools[t.Name] = t
		a.request.Tools = append(a.request.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	if err := a.run(ctx, n.model); err != nil {
		return nil, err
	}
	return &a.result, nil
}

// transcript is the conversation so far, as if the agent had made the moves that
// were decided.
func transcript(t *agent.Task) []model.Message {
	messages := []model.Message{{Role: model.User, Text: t.Prompt, Shared: t.Shared, Images: t.Images}}
	for i, move := range t.Done {
		id := fmt.Sprintf("move_%d", i)
		messages = append(messages,
			model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: id, Name: move.Intent.Tool, Input: move.Intent.Input}}},
			model.Message{Role: model.User, ToolResults: []model.ToolResult{{ID: id, Text: move.Result.Text, IsError: move.Result.IsError}}},
		)
	}
	return messages
}

type attempt struct {
	task      *agent.Task
	tools     map[string]tool.Tool
	request   model.Request
	maxMoves  int
	maxTokens int64
	said      int64 // bytes of the conversation since it began, whoever said them
	result    agent.Result
	cost      float64
	unpriced  bool
}

func (a *attempt) run(ctx context.Context, m model.Model) error {
	for range a.maxMoves {
		resp, err := m.Generate(ctx, &a.request)
		if err != nil {
			if e, ok := err.(*model.Error); ok && len(a.result.Faults) > 0 {
				// The calls before failed now and then too, and that is told.
				failed := *e
				failed.Faults = append(a.result.Faults, e.Faults...)
				return &failed
			}
			return err
		}
		a.account(resp)
		if len(resp.ToolCalls) == 0 {
			a.result.Text = resp.Text
			return nil
		}
		if resp.Stop == model.StopLength {
			a.result.Text = resp.Text
			a.result.Flag = redflag.New(redflag.Truncated, "the answer was cut off in the middle of a tool call")
			return nil
		}
		results, err := a.act(ctx, resp)
		if err != nil || a.result.Intent != nil || a.result.Flag != nil {
			return err
		}
		a.request.Messages = append(a.request.Messages,
			model.Message{Role: model.Assistant, Text: resp.Text, ToolCalls: resp.ToolCalls},
			model.Message{Role: model.User, ToolResults: results},
		)
		if used := a.result.Usage.Total(); used > a.maxTokens {
			a.result.Flag = redflag.New(agent.FlagTooManyMoves, "the attempt used %d tokens and came to no end; it may use %d", used, a.maxTokens)
			return nil
		}
	}
	a.result.Flag = redflag.New(agent.FlagTooManyMoves, "the attempt came to no end within %d moves", a.maxMoves)
	return nil
}

// bytesPerToken is more than tokens have on average, in any language. So a
// conversation with more bytes than that has used up its tokens, whatever the server
// says that it counted.
const bytesPerToken = 16

// hear adds to what was said, and reports whether that is too much.
func (a *attempt) hear(bytes int) (tooMuch bool) {
	a.said += int64(bytes)
	if a.said <= bytesPerToken*a.maxTokens {
		return false
	}
	a.result.Flag = redflag.New(agent.FlagTooManyMoves, "the attempt came to no end within the %d bytes that %d tokens are at the most", bytesPerToken*a.maxTokens, a.maxTokens)
	return true
}

func (a *attempt) account(resp *model.Response) {
	r := &a.result
	r.Stop, r.Model = resp.Stop, resp.Model
	r.Usage = r.Usage.Add(resp.Usage)
	r.Faults = append(r.Faults, resp.Faults...)
	if resp.CostUSD == nil {
		a.unpriced = true
	} else {
		a.cost = usage.AddUSD(a.cost, *resp.CostUSD)
	}
	r.CostUSD = nil
	if !a.unpriced {
		r.CostUSD = &a.cost
	}
}

// act runs the tools that a turn asks for. The first call that is not a sample's
// to make becomes the intent, and nothing else of that turn is run: it was meant
// to be seen together with that call's outcome.
func (a *attempt) act(ctx context.Context, resp *model.Response) ([]model.ToolResult, error) {
	results := make([]model.ToolResult, len(resp.ToolCalls))
	var mine []int
	tooMuch := a.hear(len(resp.Text))
	for i, call := range resp.ToolCalls {
		results[i].ID = call.ID
		tooMuch = a.hear(len(call.Name)+len(call.Input)) || tooMuch
		t, ok := a.tools[call.Name]
		if !ok {
			results[i].Text, results[i].IsError = a.unknown(call.Name), true
			tooMuch = a.hear(len(results[i].Text)) || tooMuch
			continue
		}
		if t.Class.BySample() {
			mine = append(mine, i)
			continue
		}
		intent, err := t.Intent(inputOf(call))
		if err != nil {
			results[i].Text, results[i].IsError = err.Error(), true
			continue
		}
		if !tooMuch {
			a.result.Intent, a.result.Text = &intent, resp.Text
		}
		return nil, nil
	}
	for _, i := range mine {
		if tooMuch {
			return nil, nil
		}
		call := resp.ToolCalls[i]
		a.result.Calls++
		got, err := a.tools[call.Name].Run(ctx, inputOf(call))
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			got = tool.Failed("%v", err)
		}
		results[i].Text, results[i].IsError = got.Text, got.IsError
		tooMuch = a.hear(len(got.Text))
	}
	return results, nil
}

// inputOf is the input of a call: models write nothing for a tool without
// arguments.
func inputOf(c model.ToolCall) json.RawMessage {
	if len(c.Input) == 0 {
		return json.RawMessage("{}")
	}
	return c.Input
}

func (a *attempt) unknown(name string) string {
	if len(a.task.Tools) == 0 {
		return fmt.Sprintf("There is no tool called %q here, nor any other.", name)
	}
	names := make([]string, len(a.task.Tools))
	for i, t := range a.task.Tools {
		names[i] = t.Name
	}
	return fmt.Sprintf("There is no tool called %q here. There are %s.", name, strings.Join(names, ", "))
}
