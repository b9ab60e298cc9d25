// Package wire is what workflows and activities say to each other. All of it goes through a
// store: histories have hashes.
package wire

import (
	"encoding/json"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/usage"
)

// Version is that of the workflow's code. One that was begun by another is not continued: its
// history would not fit.
const Version = 1

// The names of the activities.
const (
	Begin   = "maker.begin"
	Append  = "maker.append"
	Decide  = "maker.decide"
	Perform = "maker.perform"
	Observe = "maker.observe"
	Answer  = "maker.answer"
	Block   = "maker.block"
)

// Lines are events as they stand in a log, one each.
type Lines []json.RawMessage

// Encode is json.Marshal of lines that were encoded by us: there is nothing to look at in them.
func (l Lines) Encode() []byte {
	data := []byte{'['}
	for i, line := range l {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(data, line...)
	}
	return append(data, ']')
}

// A Chunk is a piece of the events of a run, which is written once: some lines, and then perhaps
// those of a block.
type Chunk struct {
	Run     string    `json:"run"`
	Session int       `json:"session"`
	N       int       `json:"n"`
	Lines   Lines     `json:"lines,omitempty"`
	Block   *BlockRef `json:"block,omitempty"`
}

// A BlockRef is a block of steps or records that is done.
type BlockRef struct {
	N      int    `json:"n"`
	Pieces int    `json:"pieces"`
	Bases  []Base `json:"bases"` // one for each worker that was at it, in order
	Counts
}

// Counts are how records ended.
type Counts struct {
	Decided   int `json:"decided,omitempty"`
	Undecided int `json:"undecided,omitempty"`
	Failed    int `json:"failed,omitempty"`
	Known     int `json:"known,omitempty"`
	Right     int `json:"right,omitempty"`
}

// A Base is what the run had spent, in all, before what events from a piece on count.
type Base struct {
	Piece int         `json:"piece"`
	Spent usage.Spent `json:"spent"`
}

// An Allowance is what a part of a run may spend: what is lent to it counts as spent until it
// says what it was. Zero means no limit.
type Allowance struct {
	Calls  int64   `json:"calls,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`

	InFlight int `json:"in_flight,omitempty"` // calls at once, which are free again when the part ends
}

// A BeginRequest claims the next session of a run for an execution of its workflow.
type BeginRequest struct {
	Run   string `json:"run"`
	Owner string `json:"owner"` // the execution
}

// A Begun is a session. Of the one before it the first so many chunks count.
type Begun struct {
	Session int `json:"session"`
}

// A DecideRequest has a question decided.
type DecideRequest struct {
	Chunks    []*Chunk      `json:"chunks,omitempty"` // to be written before
	Run       string        `json:"run"`
	Key       string        `json:"key"`
	Time      int           `json:"time"` // how often the run has decided it before: it may be asked again
	Question  flow.Question `json:"question"`
	Told      local.Told    `json:"told"`
	Earlier   Lines         `json:"earlier,omitempty"` // samples of the question that were taken before
	Allowance Allowance     `json:"allowance"`
}

// A Stop is why a part of a run came to no end.
type Stop struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	Limit  string `json:"limit,omitempty"` // of a budget
	Max    string `json:"max,omitempty"`
}

// The kinds of stops.
const (
	Cancelled = "cancelled" // the run is being ended
	Moved     = "moved"     // the worker is: another one goes on
	Exhausted = "exhausted" // the allowance is used up
	Failed    = "failed"    // the run cannot go on
)

// A Decision is what came of a question: a verdict, or a stop.
type Decision struct {
	Verdict *flow.Verdict `json:"verdict,omitempty"`
	Stop    *Stop         `json:"stop,omitempty"`
	Lines   Lines         `json:"lines,omitempty"`
	Spent   usage.Spent   `json:"spent"`
}

// A PerformRequest has an effect performed.
type PerformRequest struct {
	Chunks  []*Chunk                `json:"chunks,omitempty"`
	Run     string                  `json:"run"`
	Key     string                  `json:"key"`
	Effect  flow.Effect             `json:"effect"`
	Known   int                     `json:"known"`             // events about it that the run has
	Answers map[string]*flow.Answer `json:"answers,omitempty"` // about it, and those that let others pass too
	Asked   map[string]bool         `json:"asked,omitempty"`   // questions about it that were put
	Absent  []string                `json:"absent,omitempty"`  // those to which nobody is there to answer
}

// A Question is one to the person.
type Question struct {
	Key      string             `json:"key"`
	Question flow.HumanQuestion `json:"question"`
}

// A Performance is what came of an effect: a result, a question to the person first, or a
// stop.
type Performance struct {
	Result *flow.Result `json:"result,omitempty"`
	Ask    *Question    `json:"ask,omitempty"`
	Stop   *Stop        `json:"stop,omitempty"`
	Lines  Lines        `json:"lines,omitempty"`
}

// A LookRequest has the world looked at.
type LookRequest struct {
	Run  string    `json:"run"`
	Look flow.Look `json:"look"`
}

// A Seen is what a look saw, or why there was nothing to see.
type Seen struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// An AnswerRequest asks for an answer that was prepared.
type AnswerRequest struct {
	Run string `json:"run"`
	Question
}

// A Given is an answer, nil if nobody has prepared one.
type Given struct {
	Answer *flow.Answer `json:"answer,omitempty"`
}
