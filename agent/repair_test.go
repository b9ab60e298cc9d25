package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// says is an agent that always ends alike.
type says agent.Result

func (s says) Attempt(context.Context, *agent.Task) (*agent.Result, error) {
	r := agent.Result(s)
	return &r, nil
}

// Neither YAML nor anything that code would mend, but a model might.
const hopeless = "a: [1, {b: 'c\n]"

func TestRepair(t *testing.T) {
	for name, test := range map[string]struct {
		policy   flow.Repair
		text     string
		rewrite  string // what the cheap model writes
		output   string // "" if there is none
		repaired bool
		asked    int // the cheap model
	}{
		"no policy":              {"", "a: 1", "", "", false, 0},
		"off: read":              {flow.RepairOff, "a: 1", "", `{"a":1}`, false, 0},
		"off: fences are no fix": {flow.RepairOff, "Here:\n```yaml\na: 1\n```\n", "", `{"a":1}`, false, 0},
		"off: nothing mended":    {flow.RepairOff, `{"a": 1,}}`, "a: 2", "", false, 0},
		"syntax: mended":         {flow.RepairSyntax, "a: b: c", "", `{"a":"b: c"}`, true, 0},
		"syntax: no model":       {flow.RepairSyntax, hopeless, "a: 2", "", false, 0},
		"llm: not needed":        {flow.RepairLLM, "a: b: c", "a: 2", `{"a":"b: c"}`, true, 0},
		"llm: written again":     {flow.RepairLLM, hopeless, "a: 2", `{"a":2}`, true, 1},
		"llm: in vain":           {flow.RepairLLM, hopeless, hopeless, "", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cost, asked := 0.5, 0
			cheap := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
				asked++
				if !strings.Contains(req.Messages[0].Text, test.text) {
					t.Errorf("the cheap model was asked %q, want the broken text in it", req.Messages[0].Text)
				}
				return &model.Response{Text: test.rewrite, CostUSD: &cost, Usage: usage.Tokens{Output: 3}}, nil
			})
			a := agent.WithRepair(says{Text: test.text, CostUSD: &cost, Usage: usage.Tokens{Output: 4}}, cheap, prompts.Default())
			got, err := a.Attempt(t.Context(), &agent.Task{Repair: test.policy})
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Output) != test.output || got.Repaired != test.repaired || asked != test.asked {
				t.Errorf("Attempt() = %s, repaired %t, cheap model asked %d times, want %s, %t, %d", got.Output, got.Repaired, asked, test.output, test.repaired, test.asked)
			}
			if got.Text != test.text {
				t.Errorf("Attempt() = %q, want the text as it was written", got.Text)
			}
			if want := 0.5 * float64(1+asked); *got.CostUSD != want || got.Usage.Output != int64(4+3*asked) {
				t.Errorf("Attempt() cost $%v and %d tokens, want $%v with the repair", *got.CostUSD, got.Usage.Output, want)
			}
		})
	}
}

// TestNothingToRepair: a call, a flag and an error are no text.
func TestNothingToRepair(t *testing.T) {
	cheap := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		t.Error("the cheap model was asked")
		return nil, errors.New("no")
	})
	for name, result := range map[string]says{
		"an intent": {Text: hopeless, Intent: &tool.Intent{Tool: "Write"}},
		"a flag":    {Text: hopeless, Flag: redflag.New(redflag.Truncated, "cut")},
	} {
		got, err := agent.WithRepair(result, cheap, prompts.Default()).Attempt(t.Context(), &agent.Task{Repair: flow.RepairLLM})
		if err != nil || got.Output != nil {
			t.Errorf("Attempt(%s) = %+v, %v, want it as it was", name, got, err)
		}
	}
}

// TestNoRepairOfWhatWasCut: what is missing cannot be repaired. It is a red flag even if
// what there is can be read.
func TestNoRepairOfWhatWasCut(t *testing.T) {
	cheap := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		t.Error("the cheap model was asked")
		return nil, errors.New("no")
	})
	for _, policy := range []flow.Repair{flow.RepairOff, flow.RepairSyntax, flow.RepairLLM} {
		for _, text := range []string{hopeless, "a: 1\nb: 2"} {
			a := agent.WithRepair(says{Text: text, Stop: model.StopLength}, cheap, prompts.Default())
			got, err := a.Attempt(t.Context(), &agent.Task{Repair: policy, MaxOutput: 9})
			if err != nil || got.Output != nil || got.Flag == nil || got.Flag.Name != redflag.Truncated || !strings.Contains(got.Flag.Reason, "9 tokens (--max-output)") {
				t.Errorf("Attempt(%s, %q cut off) = %+v, %v, want a red flag", policy, text, got, err)
			}
		}
	}
	// A text that is none of data is for the checks of its question.
	got, err := agent.WithRepair(says{Text: "cut", Stop: model.StopLength}, cheap, prompts.Default()).Attempt(t.Context(), &agent.Task{})
	if err != nil || got.Flag != nil {
		t.Errorf("Attempt() of a text = %+v, %v, want it as it was", got, err)
	}
}

// TestRepairsAreShort: a repair writes about as much as there is, not as much as an answer
// may have, and one that is cut off is none.
func TestRepairsAreShort(t *testing.T) {
	for _, test := range []struct {
		name        string
		text        string
		stop        model.StopReason
		least, most int
		want        string
	}{
		{"short", hopeless, model.StopEnd, len(hopeless), 100, `{"a":2}`},
		{"long", hopeless + strings.Repeat(" long", 1000), model.StopEnd, 2000, 3000, `{"a":2}`},
		{"endless", hopeless + strings.Repeat(" long", 100_000), model.StopEnd, 32_000, 32_000, `{"a":2}`},
		{"cut off", hopeless, model.StopLength, 1, 100, ""},
	} {
		limit := 0
		cheap := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
			limit = req.MaxOutput
			return &model.Response{Text: "a: 2", Stop: test.stop}, nil
		})
		got, err := agent.WithRepair(says{Text: test.text}, cheap, prompts.Default()).Attempt(t.Context(), &agent.Task{Repair: flow.RepairLLM, MaxOutput: 4096})
		if err != nil || string(got.Output) != test.want || limit < test.least || limit > test.most {
			t.Errorf("%s: Attempt() = %s, %v with a limit of %d, want %s with %d to %d", test.name, got.Output, err, limit, test.want, test.least, test.most)
		}
	}
}

// TestAFailedRepair leaves the answer to its reader, unless the run is over.
func TestAFailedRepair(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	down := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		return nil, &model.Error{Kind: model.Transient}
	})
	task := &agent.Task{Repair: flow.RepairLLM}
	got, err := agent.WithRepair(says{Text: hopeless}, down, prompts.Default()).Attempt(ctx, task)
	if err != nil || got.Output != nil || got.Text != hopeless {
		t.Errorf("Attempt() = %+v, %v, want the text as it was", got, err)
	}
	cancelled := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		cancel(over)
		return nil, &model.Error{Kind: model.Cancelled}
	})
	if _, err := agent.WithRepair(says{Text: hopeless}, cancelled, prompts.Default()).Attempt(ctx, task); !errors.Is(err, over) {
		t.Errorf("Attempt(cancelled) = %v, want %v", err, over)
	}
}
