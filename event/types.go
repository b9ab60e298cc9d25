package event

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// The types of event.
const (
	TypeTaskSubmitted    Type = "task_submitted"
	TypeStepStarted      Type = "step_started"
	TypeSampleCompleted  Type = "agent_sample_completed"
	TypeSampleRedFlagged Type = "agent_sample_red_flagged"
	TypeSampleFaulted    Type = "agent_sample_faulted"
	TypeVoteResumed      Type = "vote_resumed"
	TypeVoteCompleted    Type = "vote_completed"
	TypeQuestionChanged  Type = "question_changed"
	TypeFramingRetired   Type = "framing_retired"
	TypePolicyChanged    Type = "policy_changed"
	TypePolicyFutile     Type = "policy_futile"
	TypeObserved         Type = "observed"
	TypeStepCompleted    Type = "step_completed"
	TypeStepFailed       Type = "step_failed"
	TypeTaskCompleted    Type = "task_completed"
	TypeTaskFailed       Type = "task_failed"
	TypeBudgetClaimed    Type = "budget_claimed"
	TypeBudgetExhausted  Type = "budget_exhausted"
	TypeRunResumed       Type = "run_resumed"
	TypeRunCancelled     Type = "run_cancelled"
	TypeRunPaused        Type = "run_paused"
	TypeNoted            Type = "noted"
)

// How a run stands.
const (
	StatusCompleted = "completed"
	StatusFailed    = "failed"
	StatusUndecided = "undecided"
	StatusStopped   = "stopped" // by a budget, a deadline or a person
	StatusRunning   = "running" // also one that crashed and was not resumed
)

// What can stop a run, beside the limits of its budget.
const (
	StopCancelled     = "cancelled"     // a person ended it
	StopPaused        = "paused"        // a person ended its process, to go on later
	StopWaiting       = "waiting"       // it needs a person, and none is there
	StopFutile        = "futile"        // more votes will not make it right
	StopDeclined      = "declined"      // a person did not want its plan
	StopConfiguration = "configuration" // the model refuses every request: a wrong key or name
)

var decoders = map[Type]func(line []byte) (Event, error){
	TypeTaskSubmitted:    decodeAs[TaskSubmitted],
	TypeStepStarted:      decodeAs[StepStarted],
	TypeSampleCompleted:  decodeAs[SampleCompleted],
	TypeSampleRedFlagged: decodeAs[SampleRedFlagged],
	TypeSampleFaulted:    decodeAs[SampleFaulted],
	TypeVoteResumed:      decodeAs[VoteResumed],
	TypeVoteCompleted:    decodeAs[VoteCompleted],
	TypeQuestionChanged:  decodeAs[QuestionChanged],
	TypeFramingRetired:   decodeAs[FramingRetired],
	TypePolicyChanged:    decodeAs[PolicyChanged],
	TypePolicyFutile:     decodeAs[PolicyFutile],
	TypeObserved:         decodeAs[Observed],
	TypeStepCompleted:    decodeAs[StepCompleted],
	TypeStepFailed:       decodeAs[StepFailed],
	TypeTaskCompleted:    decodeAs[TaskCompleted],
	TypeTaskFailed:       decodeAs[TaskFailed],
	TypeBudgetClaimed:    decodeAs[BudgetClaimed],
	TypeBudgetExhausted:  decodeAs[BudgetExhausted],
	TypeRunResumed:       decodeAs[RunResumed],
	TypeRunCancelled:     decodeAs[RunCancelled],
	TypeRunPaused:        decodeAs[RunPaused],

	TypeEffectClaimed:          decodeAs[EffectClaimed],
	TypeEffectReleased:         decodeAs[EffectReleased],
	TypeEffectDone:             decodeAs[EffectDone],
	TypeEffectRefused:          decodeAs[EffectRefused],
	TypeEffectUnknown:          decodeAs[EffectUnknown],
	TypeClarificationRequested: decodeAs[ClarificationRequested],
	TypeClarificationProvided:  decodeAs[ClarificationProvided],

	TypePlanCreated:      decodeAs[PlanCreated],
	TypeValidationPassed: decodeAs[ValidationPassed],
	TypeValidationFailed: decodeAs[ValidationFailed],
	TypeReplanRequested:  decodeAs[ReplanRequested],
	TypeContextCompacted: decodeAs[ContextCompacted],
	TypeOutlineCreated:   decodeAs[OutlineCreated],

	TypeDecompositionSelected: decodeAs[DecompositionSelected],
	TypeSubproblemSolved:      decodeAs[SubproblemSolved],
	TypeAnswerComposed:        decodeAs[AnswerComposed],
	TypeCompletenessChecked:   decodeAs[CompletenessChecked],
	TypeEscalated:             decodeAs[Escalated],
	TypeCalibrated:            decodeAs[Calibrated],
	TypeNoted:                 decodeAs[Noted],
}

func decodeAs[E Event](line []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, err
	}
	return e, nil
}

// TaskSubmitted opens every log. It holds all that a resume needs.
type TaskSubmitted struct {
	Format int             `json:"format"`           // see [Format]
	Maker  string          `json:"maker"`            // version of the program
	Kind   string          `json:"kind"`             // "hanoi", ...
	Form   Form            `json:"form"`             // of its steps
	Task   string          `json:"task"`             // in words, for people
	Params json.RawMessage `json:"params,omitempty"` // of the kind
	Config json.RawMessage `json:"config,omitempty"` // of the engine; no secrets
	Steps  int             `json:"steps,omitempty"`  // how many there will be, if known

	// Simulated says that no real model answers.
	Simulated bool `json:"simulated,omitempty"`

	Setup Setup `json:"setup"`

	// Prompts are the hashes of the templates that the run asks with, by name.
	Prompts map[string]string `json:"prompts,omitempty"`

	// Races is how many questions are put to voters, if known. In a chain each step is one,
	// and about records there are more if several are asked about each.
	Races int `json:"races,omitempty"`

	// Checks says what code that knows the answer looks at: ChecksSteps or ChecksLast;
	// empty if there is none, or nobody knows.
	Checks string `json:"checks,omitempty"`

	// Class is that of the questions of its steps, unless a step names another; the kind
	// if it is empty. By classes it is learnt how hard questions are.
	Class string `json:"class,omitempty"`

	// Owner is whose the run is, where several people or programs start runs; empty where
	// nobody said so. Keeper is what keeps it going: see Options.Keeper of package maker.
	Owner  string `json:"owner,omitempty"`
	Keeper string `json:"keeper,omitempty"`
}

// StepClass is the class of the questions of steps that name no other.
func (e *TaskSubmitted) StepClass() string { return cmp.Or(e.Class, e.Kind) }

// What code that knows the answer looks at.
const (
	ChecksSteps = "steps" // the output of each step, and the last one
	ChecksLast  = "last"  // the last output
)

// StepStarted marks the start of a step; long runs log it only on request.
type StepStarted struct {
	Step  int    `json:"step"`
	Title string `json:"title,omitempty"`

	// Request are the parts of what came from outside, in a run of [FormRequests]: how it is
	// to be answered, and then the turns of a conversation, which requests have in common.
	Request []Value `json:"request,omitempty"`
}

// Sample is what the three outcomes of a sample have in common.
type Sample struct {
	Question    string       `json:"question"` // the key under which it was asked
	Step        int          `json:"step"`
	Sample      int          `json:"sample"`          // from 0, in order of launch
	Model       string       `json:"model,omitempty"` // that answered, as it calls itself
	Temperature *float64     `json:"temperature,omitempty"`
	Tokens      usage.Tokens `json:"tokens"`
	CostUSD     *float64     `json:"cost_usd"`
	DurationMS  int64        `json:"duration_ms"`
	Voter       string       `json:"voter,omitempty"`   // that was asked, if it goes by another name
	Framing     int          `json:"framing,omitempty"` // of the question that it was asked in, from 1, if there are several

	// Of a sample that an agent made: the tools it called itself, the call that it
	// proposes, and whether its answer had to be repaired to be read.
	ToolCalls int     `json:"tool_calls,omitempty"`
	Intent    *Intent `json:"intent,omitempty"`
	Repaired  bool    `json:"repaired,omitempty"`
}

// SampleCompleted is a sample that became a vote.
type SampleCompleted struct {
	Sample
	Vote string `json:"vote"` // its key, as in [Voting.Votes]
	Text Value  `json:"text"` // the whole answer

	// Read is what the answer was read as, if that is not what it says: it was
	// repaired.
	Read Value `json:"read,omitzero"`
}

// SampleRedFlagged is a sample that was discarded.
type SampleRedFlagged struct {
	Sample
	Flag   string `json:"flag"`
	Reason string `json:"reason"`
	Text   Value  `json:"text"`
}

// SampleFaulted is an attempt that produced no answer.
type SampleFaulted struct {
	Question string `json:"question"`
	Step     int    `json:"step"`
	Sample   int    `json:"sample"`
	Kind     string `json:"kind"`
	Status   int    `json:"status,omitempty"`
	Message  string `json:"message"`
}

// Voting says how a question was decided, or why it was not.
type Voting struct {
	Strategy   vote.Strategy  `json:"strategy"`
	Samples    int            `json:"samples"` // votes plus red flags
	RedFlagged int            `json:"red_flagged"`
	Faults     int            `json:"faults"`
	Cancelled  int            `json:"cancelled,omitempty"` // launched, then not needed
	Votes      map[string]int `json:"votes"`
	Margin     int            `json:"margin"`

	// Unvoted are the parts of the answer that were not compared, as paths: they are one
	// agent's words, whatever the votes are.
	Unvoted []string `json:"unvoted,omitempty"`

	// ByModel has the votes of each model, if several were asked.
	ByModel map[string]map[string]int `json:"by_model,omitempty"`

	// Shares say what each voter contributed in each framing, if there are several of
	// one or the other.
	Shares []Share `json:"shares,omitempty"`

	// Answers are those that got votes, most of them first, if nothing won, or if Votes
	// has a hash in the place of one of several: then without the winner, unless that is a
	// call.
	Answers []Candidate `json:"answers,omitempty"`

	// Discarded are the red flags, if nothing won.
	Discarded []Discarded `json:"discarded,omitempty"`

	// Policy is the number of the policy whose margins were in force, of an adaptive rule.
	Policy int `json:"policy,omitempty"`

	// Disputed is over how many other questions of its class voters differed that were still
	// being decided, by an adaptive rule, at its end.
	Disputed int `json:"disputed,omitempty"`

	// GivenUp says that it was left to other voters before its cap, because they are
	// thought to settle it for less.
	GivenUp bool `json:"given_up,omitempty"`
}

// Plus is the vote with what another one of the same step took and discarded.
func (v Voting) Plus(other Voting) Voting {
	v.Samples += other.Samples
	v.RedFlagged += other.RedFlagged
	v.Faults += other.Faults
	v.Cancelled += other.Cancelled
	v.Discarded = slices.Clone(v.Discarded)
	for _, d := range other.Discarded {
		v.Discarded = AddDiscarded(v.Discarded, d)
	}
	return v
}

// With is what the votes of two pools about the same question came to, neither of which
// gave a result: all that was voted for and discarded.
func (v Voting) With(other Voting) Voting {
	if other.Samples == 0 {
		return v.Plus(other)
	}
	if v.Samples == 0 {
		return other.Plus(v)
	}
	sum := v.Plus(other)
	sum.Votes = map[string]int{}
	maps.Copy(sum.Votes, v.Votes)
	for key, n := range other.Votes {
		sum.Votes[key] += n
	}
	sum.Answers = slices.Clone(v.Answers)
	for _, c := range other.Answers {
		if i := slices.IndexFunc(sum.Answers, func(known Candidate) bool { return bytes.Equal(known.Answer, c.Answer) }); i >= 0 {
			sum.Answers[i].Votes += c.Votes
		} else {
			sum.Answers = append(sum.Answers, c)
		}
	}
	slices.SortStableFunc(sum.Answers, func(a, b Candidate) int { return b.Votes - a.Votes })
	counts := append([]int{0, 0}, slices.Sorted(maps.Values(sum.Votes))...)
	sum.Margin = counts[len(counts)-1] - counts[len(counts)-2]
	return sum
}

// Discarded are the answers to a question that got the same red flag for the same reason.
type Discarded struct {
	Flag   string `json:"flag"`
	Count  int    `json:"count"`
	Reason string `json:"reason"`
	Said   string `json:"said,omitempty"` // the beginning of the first one
}

// A flag may have a reason of its own for each answer. MaxReasons of each are told, and the others
// are counted as having OtherReasons.
const (
	MaxReasons   = 3
	OtherReasons = "other reasons"
)

// AddDiscarded adds answers to a list.
func AddDiscarded(list []Discarded, more Discarded) []Discarded {
	for range 2 {
		reasons := 0
		for i := range list {
			if list[i].Flag != more.Flag {
				continue
			}
			if list[i].Reason == more.Reason {
				list[i].Count += more.Count
				return list
			}
			reasons++
		}
		if reasons < MaxReasons || more.Reason == OtherReasons {
			break
		}
		more.Reason = OtherReasons
	}
	return append(list, more)
}

// A Share is what became of the samples that one voter was asked for in one framing.
type Share struct {
	Voter   string   `json:"voter"`
	Framing int      `json:"framing,omitempty"` // from 1; 0 if there are no several
	Votes   int      `json:"votes,omitempty"`
	Dissent int      `json:"dissent,omitempty"` // those of them that were for an answer that lost
	Flagged int      `json:"flagged,omitempty"`
	CostUSD *float64 `json:"cost_usd,omitempty"` // nil if that of any sample is not known; in early logs also if it is 0
}

// Record is how it did, for a comparison with others.
func (s Share) Record() vote.Record {
	return vote.Record{Samples: s.Votes + s.Flagged, Bad: s.Dissent + s.Flagged}
}

// Contested reports whether there was more than one answer.
func (v Voting) Contested() bool { return len(v.Votes) > 1 }

// Split gives the votes of the candidates from most to least, such as "5-2-1".
func (v Voting) Split() string {
	counts := slices.Sorted(maps.Values(v.Votes))
	var b []byte
	for _, n := range slices.Backward(counts) {
		if len(b) > 0 {
			b = append(b, '-')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}

// FramingRetired says that a voter is not asked in a framing any more in questions of a
// class: it did clearly worse in it than in the others.
type FramingRetired struct {
	Class   string      `json:"class"`
	Voter   string      `json:"voter"`
	Framing int         `json:"framing"`
	Own     vote.Record `json:"own"`
	Others  vote.Record `json:"others"` // that are left
}

// PolicyChanged says how far the leader of a race must be ahead from now on, in questions
// of a class, by the votes of the runner-up: an adaptive rule has learnt something. The
// races that begin after it go by it.
type PolicyChanged struct {
	adaptive.Change

	// How the run stands: so far, and as it is thought to end.
	Outlook adaptive.Outlook `json:"outlook"`
}

// PolicyFutile says that more votes will not make the run right.
type PolicyFutile struct {
	adaptive.Futility
}

// VoteResumed says that a question which an earlier session left open is being
// decided, and which of its samples count. It comes before the first new sample.
type VoteResumed struct {
	Question string `json:"question"`
	Step     int    `json:"step"`
	Samples  []int  `json:"samples"` // their numbers, in the order in which they are counted
}

// VoteCompleted is a verdict. On resume, a question whose verdict is in the log
// is not asked again.
type VoteCompleted struct {
	Question   string   `json:"question"`
	Step       int      `json:"step"`
	Scope      string   `json:"scope,omitempty"` // the key of the step, if it can have effects
	Status     string   `json:"status"`
	Answer     Value    `json:"answer"`
	Reason     string   `json:"reason,omitempty"`
	Voting     Voting   `json:"voting"`
	CostUSD    *float64 `json:"cost_usd"`
	DurationMS int64    `json:"duration_ms"`

	// Intent is the call that won instead of an answer.
	Intent *Intent `json:"intent,omitempty"`

	// Candidates are what was voted for, if nothing won, in old logs: Voting has them now.
	Candidates []Candidate `json:"candidates,omitempty"`

	Rule  vote.Rule   `json:"rule"`  // that was asked for
	Spent usage.Spent `json:"spent"` // by the whole run so far

	// Repaired says that the answer that won had to be repaired to be read.
	Repaired bool `json:"repaired,omitempty"`

	// Class is that of the question, by which it is counted how framings do, and Pool is
	// who was asked, if not the run's own voters.
	Class string `json:"class,omitempty"`
	Pool  string `json:"pool,omitempty"`

	// Leads are the answers that led among the voters before, of a question in which only
	// these can win.
	Leads []string `json:"leads,omitempty"`

	// Second says that other voters would have been asked next.
	Second bool `json:"second,omitempty"`

	// Asked are hashes of the parts of the question but for its rule, by name, so that
	// a resume can tell whether it asks the same.
	Asked map[string]string `json:"asked,omitempty"`

	// Said is what the last discarded sample said, if none was valid.
	Said string `json:"said,omitempty"`
}

// QuestionChanged says that a question would now be asked differently than it was.
// What was decided stands.
type QuestionChanged struct {
	Question string   `json:"question"`
	Step     int      `json:"step"`
	Changed  []string `json:"changed"` // names of parts: prompt, tools, ...
}

// Observed is what a look at the world saw. On resume the same look is not taken
// again.
type Observed struct {
	Look   string          `json:"look"` // the key under which it was taken
	Kind   string          `json:"kind"`
	Params json.RawMessage `json:"params,omitempty"`
	Result Value           `json:"result"`
}

// A Candidate is an answer that got votes.
type Candidate struct {
	Answer json.RawMessage `json:"answer"`
	Votes  int             `json:"votes"`
	Key    string          `json:"key,omitempty"` // in full, if answers are compared by meaning
}

// Noted is something that a script wrote down.
type Noted struct {
	Step int    `json:"step"` // the last one that was begun
	Text string `json:"text"`
}

// StepCompleted commits a step. There is exactly one for each, in all modes.
type StepCompleted struct {
	Step       int         `json:"step"`
	Title      string      `json:"title,omitempty"`
	By         string      `json:"by,omitempty"`    // who settled it, if its own voters did not: ByPerson, BySplit or ByModel
	Class      string      `json:"class,omitempty"` // of its question, in a chain that has several
	Pool       string      `json:"pool,omitempty"`  // whose answer it is, if not that of the run's own voters: who settled it, or whom a request was put to
	First      *Voting     `json:"first,omitempty"` // how those stood who were asked before and gave no result
	Output     Value       `json:"output"`
	Voting     Voting      `json:"voting"`
	CostUSD    *float64    `json:"cost_usd"`
	DurationMS int64       `json:"duration_ms"`
	Spent      usage.Spent `json:"spent"` // by the whole run so far

	// Right says whether the output is the known answer, where there is one.
	Right *bool `json:"right,omitempty"`

	// Loop says that it is a turn of a loop: with its output nothing is needed any more of
	// what happened in it.
	Loop bool `json:"loop,omitempty"`

	// Rule is how a request was decided that had a rule of its own.
	Rule *vote.Rule `json:"rule,omitempty"`
}

// Taken is what the step took: its vote, with the samples of those who were asked before.
// The second result is how many different answers got votes.
func (e *StepCompleted) Taken() (all Voting, answers int) {
	if e.First == nil {
		return e.Voting, len(e.Voting.Votes)
	}
	return e.Voting.Plus(*e.First), max(len(e.Voting.Votes), len(e.First.Votes))
}

// StepFailed ends a step without a result.
type StepFailed struct {
	Step    int         `json:"step"`
	Status  string      `json:"status"` // of the verdict
	Reason  string      `json:"reason"`
	Voting  Voting      `json:"voting"`
	CostUSD *float64    `json:"cost_usd,omitempty"` // of a record, where it is known
	Output  Value       `json:"output,omitzero"`    // what was decided of a record before that
	Pool    string      `json:"pool,omitempty"`     // whom a request was put to, if not to the run's own voters
	Spent   usage.Spent `json:"spent"`

	// Candidates are what was voted for, if nothing won, in old logs: Voting has them now.
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Voted are the answers that got votes, most of them first, if nothing won.
func (e *StepFailed) Voted() []Candidate { return votedFor(e.Status, e.Candidates, e.Voting) }

// Voted are the answers that got votes, most of them first, if nothing won.
func (e *VoteCompleted) Voted() []Candidate { return votedFor(e.Status, e.Candidates, e.Voting) }

func votedFor(status string, old []Candidate, v Voting) []Candidate {
	if len(old) > 0 || status == "decided" {
		return old
	}
	return v.Answers
}

// A Setup is what a session of a run was done with. A resume can change it.
type Setup struct {
	Model     string    `json:"model,omitempty"` // all voters, separated by commas
	Rule      vote.Rule `json:"rule"`
	Simulated bool      `json:"simulated,omitempty"` // no real model answered
	Sandbox   string    `json:"sandbox,omitempty"`   // what confines the commands of tools, if there are any

	// Sessions are what each part of the run was done with, if that changed.
	Sessions []Session `json:"sessions,omitempty"`
}

// A Session is a part of a run, from a step on.
type Session struct {
	Step      int       `json:"step"`
	Model     string    `json:"model"`
	Rule      vote.Rule `json:"rule"`
	Simulated bool      `json:"simulated,omitempty"`
}

// TaskCompleted ends a run that did what it was asked.
type TaskCompleted struct {
	Setup
	Steps      int         `json:"steps"`
	Output     Value       `json:"output"`
	DurationMS int64       `json:"duration_ms"` // over all sessions
	Spent      usage.Spent `json:"spent"`

	// Futile is why more votes could not make it right, if it went on all the same.
	Futile *adaptive.Futility `json:"futile,omitempty"`
}

// TaskFailed ends a session of a run without success. The run can be resumed,
// unless what it committed is known to be wrong.
type TaskFailed struct {
	Setup
	Status string `json:"status"` // StatusFailed, StatusUndecided or StatusStopped
	Reason string `json:"reason"`
	Step   int    `json:"step"`            // where it ended
	Wrong  bool   `json:"wrong,omitempty"` // what is committed is known to be wrong

	// Final says that a resume would end in the same way: nothing would be done or asked
	// again that could come out differently.
	Final bool `json:"final,omitempty"`

	// Reopen are the keys of what a resume is to forget: verdicts, looks and events,
	// with all that is below them. Effects and answers of the person are not forgotten,
	// but for calls that the person refused.
	Reopen []string `json:"reopen,omitempty"`

	// Open are the votes that were under way, at most MaxOpen. Their samples are in the
	// log, and a resume counts them.
	Open []OpenVote `json:"open,omitempty"`

	Stop       string      `json:"stop,omitempty"` // the limit that stopped it, or one of the Stop constants
	DurationMS int64       `json:"duration_ms"`
	Spent      usage.Spent `json:"spent"`

	// Futile is why more votes cannot make it right, if they cannot.
	Futile *adaptive.Futility `json:"futile,omitempty"`

	// Output is what there is all the same.
	Output Value `json:"output,omitzero"`
}

// An OpenVote is how a vote stood that had no verdict when the session ended.
type OpenVote struct {
	Question string `json:"question"`
	Step     int    `json:"step"`
	Voting   Voting `json:"voting"`

	Flag   string `json:"flag,omitempty"`   // of the last answer that was discarded
	Reason string `json:"reason,omitempty"` // why it was
	Fault  string `json:"fault,omitempty"`  // what the last attempt that failed said
}

// MaxOpen is how many open votes an event lists.
const MaxOpen = 20

// BudgetClaimed says, before it happens, up to what totals the run may now spend.
// It is logged only where there is a limit. If the session ends without a word,
// what was claimed counts as spent: calls that were in flight may be billed.
type BudgetClaimed struct {
	Calls  int64   `json:"calls"`
	Tokens int64   `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`
}

// BudgetExhausted says which limit stopped the run.
type BudgetExhausted struct {
	Limit string      `json:"limit"` // "max_calls", "max_tokens", "max_usd" or "deadline"
	Max   string      `json:"max"`
	Spent usage.Spent `json:"spent"`
}

// RunResumed marks a new session.
type RunResumed struct {
	Maker string `json:"maker"`
	Step  int    `json:"step"` // the first step to do

	// Config is the engine's configuration from here on.
	Config json.RawMessage `json:"config,omitempty"`

	// Dropped is the size of an unfinished line that the last session left.
	Dropped int64 `json:"dropped,omitempty"`

	// Spent is what the sessions before have used, and what they may have: see
	// BudgetClaimed.
	Spent usage.Spent `json:"spent"`

	Setup Setup `json:"setup"`

	// Retry are the statuses of the records without an answer that are asked about again.
	Retry []string `json:"retry,omitempty"`

	// Params are those of the kind from here on, if they were changed: a script was edited.
	Params json.RawMessage `json:"params,omitempty"`

	// Keeper is what keeps this session going, as in TaskSubmitted.
	Keeper string `json:"keeper,omitempty"`
}

// RunCancelled says that somebody stopped the run.
type RunCancelled struct {
	Reason string      `json:"reason"`
	By     string      `json:"by,omitempty"` // who, if that was asked for from elsewhere
	Spent  usage.Spent `json:"spent"`
}

// RunPaused says that somebody ended the process of the run, to go on later.
type RunPaused struct {
	By    string      `json:"by"`
	Spent usage.Spent `json:"spent"`
}

// Type implements [Event] for each type of event.
func (TaskSubmitted) Type() Type    { return TypeTaskSubmitted }
func (StepStarted) Type() Type      { return TypeStepStarted }
func (SampleCompleted) Type() Type  { return TypeSampleCompleted }
func (SampleRedFlagged) Type() Type { return TypeSampleRedFlagged }
func (SampleFaulted) Type() Type    { return TypeSampleFaulted }
func (VoteResumed) Type() Type      { return TypeVoteResumed }
func (VoteCompleted) Type() Type    { return TypeVoteCompleted }
func (QuestionChanged) Type() Type  { return TypeQuestionChanged }
func (FramingRetired) Type() Type   { return TypeFramingRetired }
func (PolicyChanged) Type() Type    { return TypePolicyChanged }
func (PolicyFutile) Type() Type     { return TypePolicyFutile }
func (Observed) Type() Type         { return TypeObserved }
func (StepCompleted) Type() Type    { return TypeStepCompleted }
func (StepFailed) Type() Type       { return TypeStepFailed }
func (TaskCompleted) Type() Type    { return TypeTaskCompleted }
func (TaskFailed) Type() Type       { return TypeTaskFailed }
func (BudgetClaimed) Type() Type    { return TypeBudgetClaimed }
func (BudgetExhausted) Type() Type  { return TypeBudgetExhausted }
func (RunResumed) Type() Type       { return TypeRunResumed }
func (RunCancelled) Type() Type     { return TypeRunCancelled }
func (RunPaused) Type() Type        { return TypeRunPaused }
func (Noted) Type() Type            { return TypeNoted }
