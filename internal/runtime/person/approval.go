package person

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/tool"
)

// An Approval is what a person says about a call.
type Approval struct {
	OK bool

	// Rule lets calls like this one pass for the rest of the run without asking, and Always
	// says that the person wants that in later runs too.
	Rule   string
	Always bool

	// Input is what the person wants it to be called with instead.
	Input json.RawMessage

	Reason string // why not; empty if it is not said
}

// The words that an approval begins with, if it is not yes or no.
const (
	ForRun   = "run"    // yes, and calls like it for the rest of the run: run RULE
	ForEver  = "always" // the same, and in later runs: always RULE
	WithEdit = "edit"   // yes, with other arguments: edit JSON
)

// String is the approval in the words that [ReadApproval] reads.
func (a Approval) String() string {
	switch {
	case a.Input != nil:
		return WithEdit + " " + string(a.Input)
	case a.Always:
		return ForEver + " " + a.Rule
	case a.Rule != "":
		return ForRun + " " + a.Rule
	case a.OK:
		return Yes
	case a.Reason == "":
		return No
	}
	return a.Reason
}

// ReadApproval reads what a person wrote about the call of a question: yes, no, one of the
// words above, or the reason why not. A slip of the keyboard is none of these: a reason has
// more than one word, and what begins like a yes is no refusal. A reason that begins with
// one of the words has a no before it.
func ReadApproval(q *flow.HumanQuestion, text string) (Approval, error) {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, " ")
	first, rest = strings.ToLower(strings.TrimRight(first, ",;.:!")), strings.TrimSpace(rest)
	switch {
	case IsYes(text), text == "1":
		return Approval{OK: true}, nil
	case text != "" && IsNo(text), text == "2":
		return Approval{}, nil
	case first == ForRun || first == ForEver:
		rule, err := readRule(q, first, rest)
		return Approval{OK: err == nil, Rule: rule, Always: first == ForEver}, err
	case first == WithEdit:
		input, err := readInput(q, rest)
		return Approval{OK: err == nil, Input: input}, err
	case len(strings.Fields(text)) < 2:
		return Approval{}, fmt.Errorf("%q is neither yes nor no; say why not in more than one word", text)
	case IsYes(first):
		return Approval{}, fmt.Errorf("%q begins with yes and says more; say yes, or no and why not", text)
	}
	return Approval{Reason: text}, nil
}

// readRule reads the rule that is to let calls like that of a question pass.
func readRule(q *flow.HumanQuestion, word, text string) (string, error) {
	if q.Call == nil {
		return "", errors.New("there is no call that a rule could be about")
	}
	policy := approval.Policy{Workspace: q.Folder}
	if text == "" {
		rule, ok := policy.Suggest(*q.Call)
		if !ok {
			return "", fmt.Errorf("no rule fits this call of %s, because anything may follow in it: say yes for this once, or no", q.Call.Tool)
		}
		return rule, nil
	}
	r, err := approval.ParseRule(text)
	switch {
	case err != nil || !r.Names(q.Call.Tool):
		return "", fmt.Errorf("%q is no rule about %s, such as %s %s or %s %s(...); a reason why not that begins like this needs a no before it", text, q.Call.Tool, word, q.Call.Tool, word, q.Call.Tool)
	}
	if _, fits := policy.Allowing(*q.Call, []approval.Rule{r}); !fits {
		return "", fmt.Errorf("the rule %s does not let this call pass", r)
	}
	return r.String(), nil
}

// readInput reads other arguments for the call of a question.
func readInput(q *flow.HumanQuestion, text string) (json.RawMessage, error) {
	if q.Call == nil {
		return nil, errors.New("there is no call whose arguments could be changed")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return nil, fmt.Errorf("want edit and the arguments as a JSON object, such as edit %s", q.Call.Input)
	}
	if len(q.Against) > 0 {
		if err := (tool.Tool{Name: q.Call.Tool, Schema: q.Against}).Validate(json.RawMessage(text)); err != nil {
			return nil, err
		}
	}
	i, err := tool.NewIntent(q.Call.Tool, json.RawMessage(text))
	if err != nil {
		return nil, err
	}
	return i.Input, nil
}
