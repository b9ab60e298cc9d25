package maker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/outline"
	"github.com/maker-mdap/maker/plan"
)

// KindDo is the kind of run that does tasks as a person wrote them.
const KindDo = event.KindDo

// An OutlineConfig is how the tasks of an outline are carried out. It stays as it is
// when a run is resumed.
type OutlineConfig struct {
	// OnFailure says what happens when a task has failed: "continue", which is the
	// default, or "stop".
	OnFailure string `json:"on_failure,omitempty"`

	// Retries is how often a task that failed is tried again (2; -1 for never).
	Retries int `json:"retries,omitempty"`

	// ContextBudget is how many tokens the results of earlier tasks may take in a
	// prompt (4,000).
	ContextBudget int `json:"context_budget,omitempty"`
}

// DefaultContextBudget is the budget of a configuration that has none.
const DefaultContextBudget = 4000

func (c OutlineConfig) withDefaults() OutlineConfig {
	c.OnFailure = cmp.Or(c.OnFailure, string(outline.Continue))
	c.Retries = cmp.Or(c.Retries, outline.DefaultRetries)
	c.ContextBudget = cmp.Or(c.ContextBudget, DefaultContextBudget)
	return c
}

func (c OutlineConfig) validate() error {
	switch outline.Policy(c.OnFailure) {
	case outline.Continue, outline.Stop:
	default:
		return badConfig("on_failure", "%q, want stop or continue", c.OnFailure)
	}
	return checkBounds(
		bound{"task_retries", int64(c.Retries), -1, maxCount},
		bound{"context_budget", int64(c.ContextBudget), outline.MinBudget, maxCount},
	)
}

// outlineParams are what a run is about, as its log has it.
type outlineParams struct {
	Text   string   `json:"text"`
	Attach []string `json:"attach,omitempty"`
}

// Do starts to do the tasks of a text, in the order in which a person wrote them. No
// model splits it: bullets, numbered lines and sentences are the tasks. A task that
// is a literal command runs as it is; the others are done by voting agents. Files and
// addresses in attach are shown with the tasks that mention them, or with all if none
// does. It returns at once, and the run ends with ctx.
func (e *Engine) Do(ctx context.Context, text string, attach ...string) (*Run, error) {
	if !utf8.ValidString(text) {
		return nil, badConfig("text", "the text is not valid UTF-8")
	}
	raw, err := json.Marshal(outlineParams{text, attach})
	if err != nil {
		return nil, fmt.Errorf("maker: %w", err)
	}
	return e.launch(ctx, KindDo, raw)
}

func (e *Engine) outlineJob(params json.RawMessage, cfg Config) (*job, error) {
	var p outlineParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	tasks := outline.Split(p.Text)
	if len(tasks) == 0 {
		return nil, badConfig("text", "there is no task in it")
	}
	tasks, err := outline.Attach(tasks, p.Attach)
	if err != nil {
		return nil, &ConfigError{Field: "attach", Err: err}
	}
	set, err := cfg.promptSet()
	if err != nil {
		return nil, err
	}
	j := &job{
		kind: KindDo, task: tasks[0].Title(), agents: true, prompts: set,
		readers: outline.Readers(),
		noModel: !slices.ContainsFunc(tasks, func(t outline.Task) bool { return t.NeedsModel() }),
	}
	for _, t := range tasks {
		if !t.Done {
			j.steps++
		}
	}
	if n := len(tasks); n > 1 {
		j.task = fmt.Sprintf("%s … (%d tasks)", tasks[0].Title(), n)
	}
	j.run = func(f flow.Flow, s *stack, _ chain.Checkpoint) error {
		return outline.Run(f, tasks, outlineConfig(cfg, s))
	}
	return j, nil
}

func outlineConfig(cfg Config, s *stack) outline.Config {
	return outline.Config{
		Prompts: s.prompts,
		Machine: outline.Options{OnFailure: outline.Policy(cfg.Outline.OnFailure), Retries: cfg.Outline.Retries},
		Rule:    cfg.Voting, Flags: *cfg.Flags,
		FirstTemperature: cfg.FirstTemperature, Temperature: cfg.Temperature,
		MaxOutput: cfg.MaxOutput, MaxFaults: cfg.MaxFaults, Repair: flow.Repair(cfg.Plan.Repair),
		AskTool: plan.LastResort, ShellTool: "Bash", ReadAttachments: true,
		ContextBudget: cfg.Outline.ContextBudget, RetryDelayMS: cfg.RetryDelay.Milliseconds(),
	}
}
