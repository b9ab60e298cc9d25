// Package config is what can be said about a run before it begins: the settings, with
// their names, defaults and bounds.
//
// A [Config] is the settings of one run, as plain data that is kept in its log. A
// [Setting] describes one of them, once: from these descriptions come the defaults, the
// checks, the flags of the command line, the MAKER_* variables, the keys of maker.yaml
// and the table in the documentation.
package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// Defaults that others need to know. Those of all settings are in [Settings].
const (
	DefaultModel       = "anthropic/claude-sonnet-4-5" // of runs whose steps are done by agents
	DefaultMaxOutput   = 750                           // tokens, from the paper: beyond it errors multiply
	DefaultTemperature = 0.1
	DefaultDomain      = "text"
)

// A Config is everything about a run that belongs in its log: plain data
// without secrets. A field left zero has the documented default.
type Config struct {
	// Model is the model for everything: provider/model, such as sim/default or
	// openai/gpt-4.1-mini.
	Model string `json:"model"`

	// Models for a role, where it is not to be Model: planning, doing the
	// steps, and small jobs such as repairs. The cheap one's default is its
	// provider's.
	ModelReasoning string `json:"model_reasoning,omitempty"`
	ModelExecution string `json:"model_execution,omitempty"`
	ModelCheap     string `json:"model_cheap,omitempty"`

	// Voters, if there are any, share the samples of each question in turn, in
	// place of the execution model. A name may end in @temperature.
	Voters []string `json:"voters,omitempty"`

	// BaseURL is the address of an OpenAI-compatible server for compat/ models.
	BaseURL string `json:"base_url,omitempty"`

	// Voting is the rule; the default is first to lead by 3.
	Voting vote.Rule `json:"voting"`

	// TargetError is the chance with which some answer of the whole run may not be the
	// likeliest one of its voters, if Voting is adaptive (0.05); of a run that measures
	// voters the error for which it is to find a margin (0.01).
	TargetError float64 `json:"target_error,omitempty"`

	// OnFutile says what to do when more votes will not make the run right: "stop" (the
	// default, but for records, which are independent), or "warn" and go on.
	OnFutile string `json:"on_futile,omitempty"`

	// WarmRun names an earlier run with the same voters, and Warm is what it learnt about
	// classes of questions, with which an adaptive rule begins.
	WarmRun string                     `json:"warm_run,omitempty"`
	Warm    map[string]adaptive.Learnt `json:"warm,omitempty"`

	// ReplayFrom names a file that Options.Record wrote, to answer from instead of
	// asking the model.
	ReplayFrom string `json:"replay_from,omitempty"`

	// BatchSize bounds the samples of one question in flight (64), and Spare is
	// how many are launched beyond what is needed (0).
	BatchSize int `json:"batch_size,omitempty"`
	Spare     int `json:"spare,omitempty"`

	// Speculate says whether what will be asked next is guessed from what leads: "auto",
	// the default, "tools", which lets agents look at the world for that, or "off". Extra is
	// the share of calls that may come to nothing for the sake of speed (0.1).
	Speculate string   `json:"speculate,omitempty"`
	Extra     *float64 `json:"extra,omitempty"`

	// SamplesPerCall is how many samples one request may ask for, where a server
	// can give several (1).
	SamplesPerCall int `json:"samples_per_call,omitempty"`

	// StructuredMode asks providers for JSON: "json_schema", "json_object", or "none" for
	// text. The default is "auto": a schema where the question has one. A provider that
	// does not take it is asked for text from then on, with a warning.
	StructuredMode string `json:"structured_mode,omitempty"`

	// Compare is how answers that are prose are compared: "exact", which is the default, or
	// ByMeaning.
	Compare string `json:"compare,omitempty"`

	// Framings is in how many ways each question is put to voters, in turn (5).
	Framings int `json:"framings,omitempty"`

	// FirstTemperature is that of the first sample of a question (0),
	// Temperature that of the others (0.7; of chains 0.1, as in the paper).
	FirstTemperature *float64 `json:"first_temperature,omitempty"`
	Temperature      *float64 `json:"temperature,omitempty"`

	// MaxOutput bounds an answer, in tokens (750). A longer one is a red flag.
	MaxOutput int `json:"max_output,omitempty"`

	// Flags are the red flags; the default is the paper's.
	Flags *redflag.Config `json:"flags,omitempty"`

	// MaxFaults is how many failed attempts one question bears (20);
	// RetryAttempts how many one sample makes before it counts as failed (6);
	// RetryDelay the first, shortest wait between them.
	MaxFaults     int           `json:"max_faults,omitempty"`
	RetryAttempts int           `json:"retry_attempts,omitempty"`
	RetryDelay    time.Duration `json:"retry_delay_ns,omitempty"`
	CallTimeout   time.Duration `json:"call_timeout_ns,omitempty"`

	// MaxInFlight caps the calls in flight at one server; 0 leaves that to what it turns
	// out to bear. Runs of one engine that ask the same server keep to the lowest.
	MaxInFlight int `json:"max_in_flight,omitempty"`

	// Limits of the whole run, over all its sessions; 0 means none. Deadline
	// is per session.
	MaxCalls  int64         `json:"max_calls,omitempty"`
	MaxTokens int64         `json:"max_tokens,omitempty"`
	MaxUSD    float64       `json:"max_usd,omitempty"`
	Deadline  time.Duration `json:"deadline_ns,omitempty"`

	// FullLog keeps every sample in the log of a long chain, not only those of
	// contested steps.
	FullLog bool `json:"full_log,omitempty"`

	// Plan is for runs that plan or execute a plan, Solve for those that solve a
	// problem without a plan, Outline for those that do tasks as they are written,
	// and Tools for all whose steps use tools.
	Plan    Plan    `json:"plan,omitzero"`
	Solve   Solve   `json:"solve,omitzero"`
	Outline Outline `json:"outline,omitzero"`
	Tools   Tools   `json:"tools,omitzero"`

	// Agent is who does the steps: AgentNative (the default) or AgentClaudeCode,
	// which runs the program ClaudeProgram ("claude") for every attempt.
	Agent         string `json:"agent,omitempty"`
	ClaudeProgram string `json:"claude_program,omitempty"`

	// Prompts are templates that replace built-in ones, by name.
	Prompts map[string]string `json:"prompts,omitempty"`
}

// The agents.
const (
	AgentNative     = "native"
	AgentClaudeCode = "claude-code"
)

// A Plan is how a task is planned and the plan carried out. It stays as it is when a
// run is resumed.
type Plan struct {
	// Voting is how plans are voted on; the default takes one as it comes.
	Voting vote.Rule `json:"voting,omitzero"`

	// MaxRetries is how often a plan that was rejected is made anew (2; -1 for
	// never), MaxReplans how often the rest of a task is planned anew after a step
	// failed (0).
	MaxRetries int `json:"max_planner_retries,omitempty"`
	MaxReplans int `json:"max_replans,omitempty"`

	// QualityChecks has a model judge each plan; Threshold is the score it needs
	// (0.7).
	QualityChecks bool    `json:"quality_checks,omitempty"`
	Threshold     float64 `json:"quality_threshold,omitempty"`

	// Confirm has a person look at each plan before it is carried out.
	Confirm bool `json:"confirm,omitempty"`

	// StepMaxRetries is how often a step that failed is tried again if it has one
	// sample only (2; -1 for never).
	StepMaxRetries int `json:"step_max_retries,omitempty"`

	// Repair says what may be repaired in a step's answer before it is a red flag:
	// off, syntax or llm, which is the default.
	Repair string `json:"repair,omitempty"`

	// Parallel is how many independent steps may run at once (1).
	Parallel int `json:"parallel,omitempty"`

	// AllowLoops lets a plan go back, for MaxSteps steps in all (1000).
	AllowLoops bool `json:"allow_loops,omitempty"`
	MaxSteps   int  `json:"max_steps,omitempty"`

	// MaxPlan bounds a plan, in tokens (16,000).
	MaxPlan int `json:"max_plan,omitempty"`

	// Context says what a step is told of those before it: "inputs", the outputs that
	// it names, which is the default, or "summary", also a summary of all of them, of
	// ContextBudget tokens (4,000).
	Context       string `json:"context,omitempty"`
	ContextBudget int    `json:"context_budget,omitempty"`
}

// An Outline is how the tasks of a text are carried out. It stays as it is when a run
// is resumed.
type Outline struct {
	// OnFailure says what happens when a task has failed: "continue", which is the
	// default, or "stop".
	OnFailure string `json:"on_failure,omitempty"`

	// Retries is how often a task that failed is tried again (2; -1 for never).
	Retries int `json:"retries,omitempty"`

	// ContextBudget is how many tokens the results of earlier tasks may take in a
	// prompt (4,000).
	ContextBudget int `json:"context_budget,omitempty"`
}

// A Solve is how a problem is split, solved and put together. It stays as it is when
// a run is resumed. A zero field means its default.
type Solve struct {
	// Domain is the family of problems: "text", which is the default, "math", or one
	// of Options.Domains.
	Domain string `json:"domain,omitempty"`

	// ModelEscalation names the models, separated by commas, that are asked when the others
	// do not agree, as a second pool: it votes on its own, and what it decides for is the
	// answer if it led among the others too. Empty leaves that out. Chains, questions,
	// plans and tasks have this too.
	ModelEscalation string `json:"model_escalation,omitempty"`

	// EscalationPrice is what a sample of that pool costs in samples of the others, by
	// which an adaptive rule decides when to ask it. 0 means what the prices say when the
	// run begins, and 1 where they are not known.
	EscalationPrice float64 `json:"escalation_price,omitempty"`

	// NoDirect leaves out the attempt to solve the problem as it is.
	NoDirect bool `json:"no_direct,omitempty"`

	// MaxDepth bounds the depth of the tree (6), MaxNodes its size (511): what is
	// not split any further is solved as it is.
	MaxDepth int `json:"max_depth,omitempty"`
	MaxNodes int `json:"max_nodes,omitempty"`

	// MaxFillRounds is how often gaps in the answer are filled (2), MaxStagnant how
	// many rounds in a row may change nothing (2).
	MaxFillRounds int `json:"max_fill_rounds,omitempty"`
	MaxStagnant   int `json:"max_stagnant_rounds,omitempty"`

	// Escalate says what is done, in this order, when voters do not agree:
	// diversity, model, split, person. Nil means all of them, but for the person in runs
	// with plans and tasks, which have this and ModelEscalation too; an empty list, nothing.
	Escalate []string `json:"escalate"`

	// ComposeByCode lets the domain put solutions together where it can, instead of a
	// vote.
	ComposeByCode bool `json:"compose_by_code,omitempty"`

	// VerifyVotes discards answers that the domain knows to be wrong before they are
	// counted; otherwise it looks only at what won.
	VerifyVotes bool `json:"verify_votes,omitempty"`

	// AllowNoWork counts solutions that do not show how they were found, too.
	AllowNoWork bool `json:"allow_no_work,omitempty"`

	// Facts are what everybody who works on a part may know: at most five.
	Facts []string `json:"facts,omitempty"`

	// Tolerance is how far apart two numbers may be in the domain math and still be
	// the same, relative to the larger one (0: not at all).
	Tolerance float64 `json:"tolerance,omitempty"`

	// SymPy has the domain math ask SymPy about expressions that it cannot compare
	// itself. It needs python3 with the package sympy.
	SymPy bool `json:"sympy,omitempty"`

	// Calibrate measures the voters before the first vote, and sets the margin.
	Calibrate   bool        `json:"calibrate,omitempty"`
	Calibration Calibration `json:"calibration,omitzero"`
}

// A Calibration says how voters are measured. A zero field means its default.
type Calibration struct {
	Problems int     `json:"problems,omitempty"`     // that are asked (5)
	Samples  int     `json:"samples,omitempty"`      // of each problem (5)
	Target   float64 `json:"target_error,omitempty"` // that is accepted (0.01)
	Steps    int     `json:"steps,omitempty"`        // for which the target is meant (1)
	MaxK     int     `json:"max_k,omitempty"`        // the largest margin (5)
}

// Tools say which tools the agents of a run have and what these may do. The zero value
// is the safe one: all built-in tools, in the current folder, in the best sandbox there
// is, without network for commands, no MCP servers, and every call that changes
// something waits for a person.
type Tools struct {
	// Workspace is the folder that the tools work in and cannot leave.
	Workspace string `json:"workspace,omitempty"`

	// Builtin names the built-in tools; nil means all of them.
	Builtin []string `json:"builtin,omitempty"`

	Sandbox      string   `json:"sandbox,omitempty"` // of Bash: auto, strict or off
	Readable     []string `json:"readable,omitempty"`
	AllowNetwork bool     `json:"allow_network,omitempty"`
	AllowPrivate bool     `json:"allow_private,omitempty"`
	SearchURL    string   `json:"search_url,omitempty"`

	// MCPConfig names a JSON or YAML file with mcpServers. It is read again when a
	// run is resumed: what it says may be secret and is in no log.
	MCPConfig string `json:"mcp_config,omitempty"`

	// Approve says which calls wait for a person: none, mutate (or "") or all;
	// Allow and Deny are rules, such as Bash(git status) or Write(docs/).
	Approve string   `json:"approve,omitempty"`
	Allow   []string `json:"allow,omitempty"`
	Deny    []string `json:"deny,omitempty"`
}

// ByMeaning has the cheap model say whether two texts say the same.
const ByMeaning = "meaning"

// FirstToK is the rule that one answer must lead by k.
func FirstToK(k int) vote.Rule { return vote.Rule{Strategy: vote.FirstToK, K: k} }

// Execution is the model that does the steps.
func (c *Config) Execution() string { return cmp.Or(c.ModelExecution, c.Model) }

// Reasoning is the model that plans and splits.
func (c *Config) Reasoning() string { return cmp.Or(c.ModelReasoning, c.Model) }

// VoterNames are the models that share the samples of a question.
func (c *Config) VoterNames() []string {
	if len(c.Voters) > 0 {
		return c.Voters
	}
	return []string{c.Execution()}
}

// SecondPool are the models of the pool that is asked when the others do not agree.
func (s *Solve) SecondPool() []string {
	var names []string
	for name := range strings.SplitSeq(s.ModelEscalation, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Parse reads a configuration from a log.
func Parse(raw json.RawMessage) (Config, error) {
	var c Config
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("the run's configuration: %w", err)
	}
	return c, nil
}

// An Error is a setting that cannot be used. Field is its name in the configuration
// file; the flag is the same with dashes.
type Error struct {
	Field string
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Field, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf is an [Error] about a setting.
func Errorf(field, format string, args ...any) error {
	return &Error{Field: field, Err: fmt.Errorf(format, args...)}
}
