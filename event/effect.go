package event

import (
	"encoding/json"

	"github.com/maker-mdap/maker/usage"
)

// The types of event about effects and about the person.
const (
	TypeEffectClaimed          Type = "effect_claimed"
	TypeEffectReleased         Type = "effect_released"
	TypeEffectDone             Type = "effect_done"
	TypeEffectRefused          Type = "effect_refused"
	TypeEffectUnknown          Type = "effect_unknown"
	TypeClarificationRequested Type = "clarification_requested"
	TypeClarificationProvided  Type = "clarification_provided"
)

// An Intent is a call of a tool that somebody proposes and nobody has made yet.
type Intent struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"` // canonical: equal calls are equal bytes
}

// Key decides which intents agree.
func (i Intent) Key() string { return i.Tool + " " + string(i.Input) }

// NewIntent is a call of a tool, with its input in canonical form.
func NewIntent(tool string, input json.RawMessage) (Intent, error) {
	var i Intent
	data, err := json.Marshal(Intent{Tool: tool, Input: input})
	if err == nil {
		err = json.Unmarshal(data, &i)
	}
	return i, err
}

// UnmarshalJSON implements [json.Unmarshaler]. Logs escape some characters that
// the canonical form has as they are; what is read back is canonical again.
func (i *Intent) UnmarshalJSON(data []byte) error {
	type plain Intent
	if err := json.Unmarshal(data, (*plain)(i)); err != nil {
		return err
	}
	if i.Input == nil {
		return nil
	}
	var err error
	i.Input, err = unescaped(i.Input)
	return err
}

// EffectClaimed says that an intent is about to be executed. It is on disk before
// that begins, so an effect without one did not happen.
type EffectClaimed struct {
	Effect string `json:"effect"` // the key under which it is performed
	Step   int    `json:"step"`
	Scope  string `json:"scope,omitempty"` // the key of the step
	Tool   string `json:"tool"`
	Input  Value  `json:"input"`

	// Voting is the vote that the intent won; Approved says who let it pass:
	// a rule, a policy or a person.
	Voting   Voting `json:"voting"`
	Approved string `json:"approved"`

	// By says who decided on the call, if it was not a vote: [ByCode], of a script.
	By string `json:"by,omitempty"`

	// Again says that an earlier claim of the same effect had no outcome.
	Again bool `json:"again,omitempty"`

	// Voted is the input that won the vote, if the person changed it: Input is then the
	// person's.
	Voted Value `json:"voted,omitzero"`

	// Before is what the file that is about to be changed held, if that was kept.
	Before *Before `json:"before,omitempty"`

	// Looks says that the tool only looks, and changes nothing.
	Looks bool `json:"looks,omitempty"`
}

// Before is what a file held before an effect.
type Before struct {
	Path string `json:"path"`           // of the file, as the tool was told
	Kept string `json:"kept,omitempty"` // the copy in the run folder; empty if there was no file
}

// EffectReleased takes a claim back: the run was ended before the call was begun, so
// that it certainly did not happen.
type EffectReleased struct {
	Effect string `json:"effect"`
	Step   int    `json:"step"`
	Tool   string `json:"tool"`
}

// EffectDone is the outcome of an effect: it will not be executed again.
type EffectDone struct {
	Effect     string `json:"effect"`
	Step       int    `json:"step"`
	Tool       string `json:"tool"`
	Result     Value  `json:"result"`
	IsError    bool   `json:"is_error,omitempty"`
	DurationMS int64  `json:"duration_ms"`

	// By says who reported the outcome, if it was not the tool: a person who was
	// asked about an effect of unknown outcome.
	By string `json:"by,omitempty"`

	Spent usage.Spent `json:"spent"` // by the whole run so far
}

// EffectRefused is an intent that won its vote and was not executed.
type EffectRefused struct {
	Effect string `json:"effect"`
	Step   int    `json:"step"`
	Tool   string `json:"tool"`
	Input  Value  `json:"input"`
	Reason string `json:"reason"`
	By     string `json:"by"` // a rule or a person

	Voting Voting `json:"voting,omitzero"` // that it won; early logs do not have it
}

// EffectUnknown says that an effect was claimed and nobody knows whether it
// happened.
type EffectUnknown struct {
	Effect string `json:"effect"`
	Step   int    `json:"step"`
	Tool   string `json:"tool"`
	Input  Value  `json:"input"`
	Reason string `json:"reason"`
}

// Kinds of clarification.
const (
	ClarifyQuestion = "question" // somebody asked something
	ClarifyApproval = "approval" // may this call be made?
	ClarifyOutcome  = "outcome"  // did this call happen?
	ClarifyPlan     = "plan"     // is this plan to be carried out?
)

// ClarificationRequested says that the run needs a person.
type ClarificationRequested struct {
	Question string          `json:"question"` // the key under which it is asked
	Step     int             `json:"step"`
	Kind     string          `json:"kind"`
	Text     string          `json:"text"`
	Options  []string        `json:"options,omitempty"`
	Free     bool            `json:"free,omitempty"`   // another answer than the options is fine
	Call     json.RawMessage `json:"call,omitempty"`   // the Intent that it is about
	Voting   *Voting         `json:"voting,omitempty"` // the vote that the call won; without a call, the one that gave no result
	Folder   string          `json:"folder,omitempty"` // that the call would be made in
	Plan     string          `json:"plan,omitempty"`   // that it is about

	// Holds stands for what the file that the call would change held, as far as the change
	// shows it. A question is put again if that is another.
	Holds string `json:"holds,omitempty"`

	// Against is what a person's own arguments of the call, or plan, have to fit: the JSON
	// schema of the input, or a plan.Checks.
	Against json.RawMessage `json:"against,omitempty"`
}

// ClarificationProvided is what the person said.
type ClarificationProvided struct {
	Question string `json:"question"`
	Step     int    `json:"step"`
	Answer   string `json:"answer"`
	By       string `json:"by"` // terminal, answers file, maker answer, ...
}

// Type implements [Event] for each type of event.
func (EffectClaimed) Type() Type          { return TypeEffectClaimed }
func (EffectReleased) Type() Type         { return TypeEffectReleased }
func (EffectDone) Type() Type             { return TypeEffectDone }
func (EffectRefused) Type() Type          { return TypeEffectRefused }
func (EffectUnknown) Type() Type          { return TypeEffectUnknown }
func (ClarificationRequested) Type() Type { return TypeClarificationRequested }
func (ClarificationProvided) Type() Type  { return TypeClarificationProvided }
