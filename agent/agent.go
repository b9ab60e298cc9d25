// Package agent makes one isolated attempt at a question.
//
// An [Agent] starts with a fresh context, may use the tools it was given and no
// others, and ends with exactly one thing: an answer, or the call of a tool that
// it may not make itself. Such a call is an intent. It ends the attempt, is voted
// on like an answer, and is executed once, by somebody else, if it wins.
//
// Agents that do not know of each other are what makes their votes worth
// counting: an attempt sees the question and the moves that were already decided,
// never another attempt.
package agent

import (
	"context"
	"encoding/json"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// An Agent attempts tasks.
//
// Implementations are safe for concurrent use, return promptly when ctx ends, and
// leave nothing running. An error is a [*model.Error] (a fault, or a reason to
// end the run) or the budget's; an attempt that ended badly by its own doing is a
// result with a flag.
type Agent interface {
	Attempt(ctx context.Context, t *Task) (*Result, error)
}

// A Task is what an agent is given.
type Task struct {
	System string
	Prompt string
	Shared int           // bytes at the beginning of the prompt that other attempts have too
	Images []model.Image // shown with the prompt
	Tools  []tool.Tool   // it may use these
	Done   []flow.Move   // decided and executed before, in order

	Output      *model.OutputFormat
	Temperature *float64
	MaxOutput   int // tokens of one message

	// MaxMoves bounds the turns of the attempt, and MaxTokens what it may use in
	// all; 0 means DefaultMaxMoves and DefaultMaxTokens.
	MaxMoves  int
	MaxTokens int64

	// Repair says what is made of an answer that should be data; see WithRepair.
	Repair flow.Repair

	// OnFault is told of each failed call, as in model.Request.
	OnFault func(*model.Error) bool

	// CachePrefix says that other attempts have the same system prompt and tools.
	CachePrefix bool

	// Earlier is how many attempts like this one an earlier process made, as in
	// model.Request.
	Earlier int
}

// Bounds of an attempt that was given none.
const (
	DefaultMaxMoves  = 12
	DefaultMaxTokens = 200_000
)

// A Result is how an attempt ended: with Text, with Intent, or with Flag.
type Result struct {
	Text   string        // the last text of the final message, as it was written
	Intent *tool.Intent  // the call that ended the attempt
	Flag   *redflag.Flag // why nothing of it counts

	// Output is what was made of the text, if it was read as data, and Repaired
	// says that this took more than reading.
	Output   json.RawMessage
	Repaired bool

	Stop    model.StopReason
	Model   string // that answered
	Usage   usage.Tokens
	CostUSD *float64 // nil if it is not known
	Faults  []*model.Error
	Calls   int // of tools, by the agent itself
}

// FlagTooManyMoves is the red flag of an attempt that did not come to an end.
const FlagTooManyMoves = "too_many_moves"
