package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/usage"
)

// WithRepair returns an agent that makes data of the answers of a, by the policy of
// each task. Where the policy allows it, cheap is asked to write a text again that
// cannot be read, once.
func WithRepair(a Agent, cheap model.Model, set *prompts.Set) Agent {
	return &repairing{a, cheap, set}
}

type repairing struct {
	agent   Agent
	cheap   model.Model
	prompts *prompts.Set
}

// Attempt implements [Agent].
func (r *repairing) Attempt(ctx context.Context, t *Task) (*Result, error) {
	result, err := r.agent.Attempt(ctx, t)
	if err != nil || t.Repair == "" || result.Intent != nil || result.Flag != nil {
		return result, err
	}
	if result.Stop == model.StopLength {
		// What is missing cannot be repaired, only invented.
		result.Flag = redflag.New(redflag.Truncated, "the answer was cut off at its output limit of %d tokens (--max-output)", t.MaxOutput)
		return result, nil
	}
	var cleaned yamlclean.Result
	switch t.Repair {
	case flow.RepairLLM:
		cleaned, err = yamlclean.CleanWith(result.Text, func(text string, problem error) (string, error) {
			return r.rewrite(ctx, t, result, text, problem)
		})
	case flow.RepairSyntax:
		cleaned, err = yamlclean.Clean(result.Text)
	default:
		cleaned, err = yamlclean.Read(result.Text)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil { // otherwise the reader says what is wrong with it
		result.Output, result.Repaired = cleaned.Data, cleaned.Repaired
	}
	return result, nil
}

// Reread is the output of an answer that was read without a repair, once more; nil if
// it was not read as data.
func Reread(text string, policy flow.Repair) json.RawMessage {
	if policy == "" {
		return nil
	}
	read, err := yamlclean.Read(text)
	if err != nil {
		return nil
	}
	return read.Data
}

// rewrite has the cheap model write a text again, and adds what that took.
func (r *repairing) rewrite(ctx context.Context, t *Task, result *Result, text string, problem error) (string, error) {
	prompt, err := r.prompts.Render(prompts.YAMLFixer{Text: text, Problem: problem.Error()})
	if err != nil {
		return "", err
	}
	resp, err := r.cheap.Generate(ctx, &model.Request{
		Messages:    []model.Message{{Role: model.User, Text: prompt}},
		Temperature: new(float64), MaxOutput: repairedSize(text), OnFault: t.OnFault,
	})
	if err != nil {
		return "", err
	}
	result.Usage = result.Usage.Add(resp.Usage)
	result.Faults = append(result.Faults, resp.Faults...)
	switch {
	case result.CostUSD == nil || resp.CostUSD == nil:
		result.CostUSD = nil
	default:
		sum := usage.AddUSD(*result.CostUSD, *resp.CostUSD)
		result.CostUSD = &sum
	}
	if resp.Stop == model.StopLength {
		return "", errors.New("the repaired text was cut off")
	}
	return resp.Text, nil
}

// repairedSize bounds what a repair of a text may write, in tokens: the text again and a
// little more. Tokens have two bytes at least in any language that we know of.
func repairedSize(text string) int {
	const quotes, most = 64, 32_000
	return min(len(text)/2+quotes, most)
}
