// Package flow is the seam between what decides and what makes it happen.
//
// An orchestrator is plain sequential Go written against [Flow]: it asks
// questions, looks at verdicts and asks the next ones. A runtime implements
// Flow: on this machine with goroutines and a run log, elsewhere as a workflow.
//
// # Rules for orchestrators
//
// Resuming is running the same code again while the runtime hands back recorded
// verdicts. Therefore an orchestrator never reads a clock, a random source, a
// file, the environment, the tools or models that happen to be there, or a map in
// iteration order, and never starts a goroutine; [Flow.Parallel] is how it does
// things at once. What it must know of the world it asks for through
// [Flow.Observe]. A closure that sees the world is part of the world.
//
// Every call has a key that is the same when the code runs again. Keys are unique
// among the calls of one method; those of a step begin with the key of the step, as
// in "plan/0/step/3" and "plan/0/step/3/effect/0".
//
// # What is asked again after a failure
//
// What was recorded stays, whatever came of it: something may have been built on it.
// An orchestrator that gives up says in [event.TaskFailed] which keys a resume is to
// forget, so that the run can go on from there. Effects are never forgotten; a call that
// the person refused is none. Turns of a loop that are committed stay as well: see [Loop].
package flow

import (
	"encoding/json"
	"strconv"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// A Flow carries out what an orchestrator wants.
//
// An error from any of its methods means that the run is over (cancelled, out
// of budget, disk full): the orchestrator returns it unchanged. A question
// without a winner is not an error; it is a verdict.
type Flow interface {
	// Decide asks the voters. The same key in the same run gives the same
	// verdict, even after a crash.
	Decide(key string, q *Question) (*Verdict, error)

	// Perform executes the effect, once: a key that was performed before gives the
	// recorded result, and one whose outcome is not known is not simply repeated.
	// A call that was refused, or that failed in a way that a model can read, is a
	// result with IsError.
	Perform(key string, e *Effect) (*Result, error)

	// Ask asks the person, once: the same key gives the recorded answer.
	Ask(key string, q *HumanQuestion) (*Answer, error)

	// Observe looks at the world, once: the same key gives what was seen when it was
	// first looked at, however the world has changed since.
	Observe(key string, l Look) (json.RawMessage, error)

	// Parallel calls f for each i in [0,n), possibly at the same time, and
	// returns when all have returned: nil, or the error of the lowest i that
	// failed. Keys used inside a branch need to be unique only within it: in the run
	// they begin with [Branch](key, i). A branch that waits for a person, or that the
	// budget ends, does not end the others.
	Parallel(key string, n int, f func(i int, f Flow) error) error

	// Emit appends an event to the run, once: one whose key the log already holds is
	// not appended again. The events that end a run, task_completed and task_failed,
	// are appended in every session that comes to one.
	Emit(key string, e event.Event)
}

// A Committer is a flow that takes a step as Emit does, without keeping it: whoever has a
// million of them makes one. The verdict that the step is from is the flow's again, but for
// its answer.
type Committer interface {
	Commit(key string, step *event.StepCompleted)
}

// Commit emits a step, which may be used again afterwards. The verdict that it is from, but
// for its answer, must not be.
func Commit(f Flow, key string, step *event.StepCompleted) {
	if c, ok := f.(Committer); ok {
		c.Commit(key, step)
		return
	}
	f.Emit(key, *step)
}

// An Expecter is a flow that is told how many questions the run comes to, those that were
// decided included, for whoever watches it.
type Expecter interface {
	Expect(questions int)
}

// Expect tells a flow how many questions the run comes to, as far as that is known now.
func Expect(f Flow, questions int) {
	if e, ok := f.(Expecter); ok {
		e.Expect(questions)
	}
}

// A Numberer is a flow that knows numbers of steps by their keys: other code, which came to them
// in another order, may have begun the run.
type Numberer interface {
	Number(key string, n int) int
}

// Number is the number of the step with a key, the n-th that the code comes to. All that belongs
// to the step has to be recorded under the key or below it.
func Number(f Flow, key string, n int) int {
	if k, ok := f.(Numberer); ok {
		return k.Number(key, n)
	}
	return n
}

// Branch is what the keys of a branch of a Parallel begin with.
func Branch(key string, i int) string { return key + "/" + strconv.Itoa(i) + "/" }

// Records is the key of the Parallel over the records of a table: what lies below one of
// its branches is over once the record is.
const Records = "record"

// Below returns a function that reports whether a key is one of those in keys, or lies
// below one: what [event.TaskFailed] reopens.
func Below(keys []string) func(key string) bool {
	named := map[string]bool{}
	for _, key := range keys {
		named[key] = true
	}
	return func(key string) bool {
		if named[key] {
			return true
		}
		for i := range len(key) {
			if key[i] == '/' && named[key[:i]] {
				return true
			}
		}
		return false
	}
}

// A Question is what the voters of a step are asked. It is plain data: it can
// be logged, hashed and sent to another machine.
type Question struct {
	Step   int    `json:"step"`            // for the log; steps count from 0
	Scope  string `json:"scope,omitempty"` // the key of the step, if it can have effects: a step has one
	System string `json:"system,omitempty"`
	Prompt string `json:"prompt"`

	// Variants, if there are any, are asked instead of Prompt, in turn: sample n
	// gets the n-th, modulo their number. They are framings of the same content, in
	// other words or in another order: who is asked in other words errs in other ways,
	// and no order can win by being one. The first is the plain one.
	Variants []string `json:"variants,omitempty"`

	// Framing is which framing Prompt is, from 1, if this is one of several and the
	// question is asked in no other: so framings are measured.
	Framing int `json:"framing,omitempty"`

	// Asked are the framings, from 1, in which each voter has answered a question with the same
	// framings before: others come first.
	Asked map[string][]int `json:"asked,omitempty"`

	// Meaning, if not nil, has texts compared by what they say. Known are the keys of what
	// was answered before: whoever says the same votes for that.
	Meaning *Meaning `json:"meaning,omitempty"`
	Known   []string `json:"known,omitempty"`

	// Class names what kind of question it is, such as the prompt that it was made
	// from: how framings do is counted by class, and how hard questions are. Questions of
	// a chain are all of one class unless its family names others here.
	Class string `json:"class,omitempty"`

	// Shared is how many bytes at the beginning of Prompt and of all Variants are the
	// same and worth caching.
	Shared int `json:"shared,omitempty"`

	// Images are shown with the prompt.
	Images []Image `json:"images,omitempty"`

	// Model names the group of voters that is asked: see [Voters] and the others.
	Model string `json:"model,omitempty"`

	// Next, if not nil, is what will be asked after an answer to this question, under its
	// key in the run, branches included; no question if that is not known. It is called while the question is being
	// decided, also for answers that do not win, but never while the orchestrator's own code
	// runs; only questions of a run's main line are asked ahead.
	Next func(answer json.RawMessage) (key string, next *Question) `json:"-"`

	// Scattered is after how many votes that are all for different answers, none of which
	// calls a tool, the question is given up as undecided; 0 means never.
	Scattered int `json:"scattered,omitempty"`

	// Second says that other voters will be asked if these do not agree: under an adaptive
	// rule a race that they can settle for less is then left to them.
	Second bool `json:"second,omitempty"`

	// Confirm, if not nil, has only such an answer accepted as other voters were about to
	// give.
	Confirm *Confirm `json:"confirm,omitempty"`

	// Work, if not nil, has each sample made by an agent with tools.
	Work *Work `json:"work,omitempty"`

	// Chat, if not nil, is the conversation that voters are asked to go on with; then there
	// is no Prompt. Answers are turns: see [ChatTurn]. Answer says how text is read.
	Chat *Chat `json:"chat,omitempty"`

	Answer Format `json:"answer"`

	Terms

	// Schema is what the JSON of an answer fits, with the structured modes "json_schema"
	// and "auto". Its reader reads text as well: a provider may not take a schema, and
	// where there are tools none is asked for.
	Schema json.RawMessage `json:"schema,omitempty"`

	// TimeoutMS is how long deciding may take; 0 means no limit of its own.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`

	// DelayMS is how long to wait before the first sample: a question that is asked
	// again after a failure gives the world time to mend.
	DelayMS int64 `json:"delay_ms,omitempty"`
}

// Confirm says what voters who do not agree were about to answer, to those who are asked
// after them: these vote on their own, and win only with one of the answers that led.
// Another winner leaves the question undecided, for one pool is not asked to overrule
// another.
type Confirm struct {
	Leads []string `json:"leads"`           // the keys that led, as in [event.Voting]
	Model string   `json:"model,omitempty"` // the group of voters that led: whatever comes next is for them
}

// Meaning says which parts of an answer are compared by what they say instead of to the
// letter: those that the paths name (see [vote.KeyOptions]), or all strings. A new text is
// put to the cheap model against the first one of each group, and joins the first that
// says the same.
type Meaning struct {
	Paths []string `json:"paths,omitempty"`
	Model string   `json:"model,omitempty"` // who is asked instead of the cheap model
}

// Terms are how a question is put and decided, whatever it is about.
type Terms struct {
	Rule  vote.Rule       `json:"rule"`
	Flags *redflag.Config `json:"flags"` // nil for none; questions share it, and nobody changes it

	// FirstTemperature is used for the first sample, Temperature for all
	// others: one greedy answer is worth having, a second copy of it is not a
	// second opinion. Nil leaves the temperature to the provider.
	FirstTemperature *float64 `json:"first_temperature,omitempty"`
	Temperature      *float64 `json:"temperature,omitempty"`

	// Structured asks the provider for JSON, unless the voters are offered tools: "json_schema" for JSON that fits a
	// schema, "json_object" for any object, [StructuredAuto] for the former if the
	// question has a schema, "" for text.
	Structured string `json:"structured,omitempty"`

	// MaxOutput bounds the tokens of one answer.
	MaxOutput int `json:"max_output,omitempty"`

	// MaxFaults is how many failed attempts the question bears.
	MaxFaults int `json:"max_faults,omitempty"`
}

// StructuredAuto asks for JSON where the question has a schema for it.
const StructuredAuto = "auto"

// An Image is a picture that voters are shown.
type Image struct {
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// Groups of voters.
const (
	Voters    = ""          // those that do the steps
	Reasoning = "reasoning" // the model that plans
	Cheap     = "cheap"     // the model for small jobs
)

// Work is what an agent needs beyond the question.
type Work struct {
	// Tools are the names of those that it may use.
	Tools []string `json:"tools"`

	// Done are the moves that were decided and executed before, in order. They
	// are part of what every sample sees.
	Done []Move `json:"done,omitempty"`

	// MaxMoves bounds the turns of one sample and MaxTokens what it may use in
	// all; 0 is the agent's default.
	MaxMoves  int   `json:"max_moves,omitempty"`
	MaxTokens int64 `json:"max_tokens,omitempty"`

	// Repair says what may be done to an answer that should be YAML or JSON and
	// cannot be read, before it is a red flag.
	Repair Repair `json:"repair,omitempty"`
}

// Repair is a policy for answers that cannot be read as data.
type Repair string

// The policies. The zero value leaves answers as they are and is for those that
// are not data.
const (
	RepairOff    Repair = "off"    // read as it is, without what is written around it
	RepairSyntax Repair = "syntax" // mend what is certainly a slip of syntax
	RepairLLM    Repair = "llm"    // then have the cheap model write it again
)

// A Move is a call of a tool that won its vote, and what came of it.
type Move struct {
	Intent event.Intent `json:"intent"`
	Result Result       `json:"result"`
}

// A Result is what came of a call. It is what the model reads.
type Result struct {
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`

	// Unknown says that nobody knows whether the call took effect; Text says why.
	Unknown bool `json:"unknown,omitempty"`

	// Refused says that the person refused the call: nothing happened, and the person
	// may be asked again.
	Refused bool `json:"refused,omitempty"`

	// Ran is what the tool was called with, if the person changed that before: not what
	// won the vote.
	Ran json.RawMessage `json:"ran,omitempty"`
}

// An Effect is an intent that won its vote and is to be executed.
type Effect struct {
	Step   int          `json:"step"`
	Scope  string       `json:"scope,omitempty"` // the key of the step
	Intent event.Intent `json:"intent"`
	Voting event.Voting `json:"voting"` // that it won

	// By says who decided on it, if it was not a vote, as in [event.EffectClaimed].
	By string `json:"by,omitempty"`
}

// A HumanQuestion is put to the person.
type HumanQuestion struct {
	Step    int           `json:"step"`
	Kind    string        `json:"kind"` // one of the kinds of clarification in package event
	Text    string        `json:"text"`
	Options []string      `json:"options,omitempty"` // to choose from; see Free
	Free    bool          `json:"free,omitempty"`    // another answer than the options is fine
	Call    *event.Intent `json:"call,omitempty"`    // what the question is about
	Voting  *event.Voting `json:"voting,omitempty"`  // the vote that the call won; without a call, the one that gave no result, its answers in the order of the options
	Folder  string        `json:"folder,omitempty"`  // that the call would be made in
	Plan    string        `json:"plan,omitempty"`    // that the question is about

	// Holds stands for what the file that the call would change holds: an approval is for
	// the change that the person was shown.
	Holds string `json:"holds,omitempty"`

	// Against is what a person's own arguments of the call, or plan, have to fit: the JSON
	// schema of the input, or a plan.Checks.
	Against json.RawMessage `json:"against,omitempty"`
}

// An Answer is what the person said.
type Answer struct {
	Text string `json:"text"`
	By   string `json:"by"`

	Holds string `json:"holds,omitempty"` // of the question, when it was put
}

// A Format says how to turn the text of an answer into a value and a vote key.
// It names a reader that the runtime knows, with that reader's parameters.
type Format struct {
	Reader string          `json:"reader"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Status is how a question ended.
type Status string

// The statuses of a verdict.
const (
	Decided    Status = "decided"
	Undecided  Status = "undecided"   // votes, but no winner within the cap
	FlaggedOut Status = "flagged_out" // nothing but red flags, up to the cap or to Hopeless
	Failed     Status = "failed"      // too many faults
)

// Hopeless is how many red flags without a single vote end a question before its cap.
const Hopeless = 20

// A Verdict is the outcome of a question.
type Verdict struct {
	Status Status          `json:"status"`
	Answer json.RawMessage `json:"answer,omitempty"` // of the winner
	Intent *event.Intent   `json:"intent,omitempty"` // of the winner, if that is a call instead of an answer
	Reason string          `json:"reason,omitempty"` // why there is none
	Voting event.Voting    `json:"voting"`

	// Repaired says that the answer that won had to be repaired to be read.
	Repaired bool `json:"repaired,omitempty"`

	// Said is what the last discarded sample said, in part, if none was valid.
	Said string `json:"said,omitempty"`

	// Candidates are the answers that got votes, most of them first, if none won.
	Candidates []event.Candidate `json:"candidates,omitempty"`

	// Tokens are what the sample took whose answer won, or has the most votes, of a question
	// with a Chat that was voted on in this session.
	Tokens usage.Tokens `json:"tokens,omitzero"`

	// Fault is the kind of the last fault, of a question that failed in this session.
	Fault string `json:"fault,omitempty"`

	// CostUSD is the cost of the question's samples, nil if it is not known.
	CostUSD    *float64 `json:"cost_usd"`
	DurationMS int64    `json:"duration_ms"`
}
