package runs

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// Request is what a step of a session was asked: the conversation as a text, turn by turn.
// Other runs have none.
func (r *Run) Request(step int) (string, error) {
	if r.Form() != event.FormRequests {
		return "", nil
	}
	for e, err := range r.about(step, event.TypeStepStarted) {
		if err != nil {
			return "", err
		}
		if e, ok := e.(event.StepStarted); ok && e.Step == step {
			return r.conversation(e.Request)
		}
	}
	return "", nil
}

// conversation is a request as a text.
func (r *Run) conversation(parts []event.Value) (string, error) {
	var turns []string
	for i, part := range parts {
		value, err := r.Load(part)
		if err != nil {
			return "", err
		}
		if i == 0 {
			turns = describeHead(value.JSON)
			continue
		}
		var m flow.ChatMessage
		if err := json.Unmarshal(value.JSON, &m); err != nil {
			return "", fmt.Errorf("runs: turn %d of the request: %w", i, err)
		}
		turns = append(turns, m.Role+": "+describeTurn(m))
	}
	return strings.Join(turns, "\n\n"), nil
}

// describeHead is what a request says besides its turns: whom it was put to, and how it was
// decided, if not as the others of the session.
func describeHead(data json.RawMessage) []string {
	var head struct {
		System string
		Chat   struct{ Tools []flow.ChatTool }
		Model  string
		Terms  *flow.Terms

		Meaning bool // texts are compared by it
	}
	if json.Unmarshal(data, &head) != nil {
		return nil
	}
	var said, to []string
	if head.Model != "" {
		to = append(to, "put to "+head.Model)
	}
	if head.Terms != nil {
		to = append(to, DescribeRule(head.Terms.Rule))
	}
	if head.Meaning {
		to = append(to, "texts are compared by what they say")
	}
	if len(to) > 0 {
		said = append(said, "("+strings.Join(to, "; ")+")")
	}
	if head.System != "" {
		said = append(said, "system: "+head.System)
	}
	if n := len(head.Chat.Tools); n > 0 {
		said = append(said, "("+plural(n, "tool")+" offered)")
	}
	return said
}

func describeTurn(m flow.ChatMessage) string {
	var said []string
	for _, result := range m.Results {
		what := "result: "
		if result.IsError {
			what = "error: "
		}
		said = append(said, what+result.Text)
	}
	if n := len(m.Images); n > 0 {
		said = append(said, "("+plural(n, "picture")+")")
	}
	if m.Text != "" {
		said = append(said, m.Text)
	}
	for _, call := range m.Calls {
		said = append(said, fmt.Sprintf("call %s %s", call.Name, call.Input))
	}
	return strings.Join(said, "\n")
}
