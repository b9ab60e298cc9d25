package effect

import (
	"encoding/json"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// A State is how an effect stands.
type State struct {
	Claims  int // without an outcome
	Intent  event.Intent
	Unknown bool         // and it was said so
	Reason  string       // why it is unknown
	Result  *flow.Result // nil until there is an outcome
}

// States are the effects of a run by their keys, as its events tell.
type States map[string]State

// Take learns from an event. Those that are not about effects say nothing.
func (s States) Take(e event.Event) {
	switch e := e.(type) {
	case event.EffectClaimed:
		s[e.Effect] = State{Claims: s[e.Effect].Claims + 1, Intent: intentOf(e.Tool, e.Input)}
	case event.EffectReleased:
		was := s[e.Effect]
		was.Claims = max(was.Claims-1, 0)
		s[e.Effect] = was
	case event.EffectDone:
		was := s[e.Effect]
		was.Result = &flow.Result{Text: e.Result.Text(), IsError: e.IsError}
		s[e.Effect] = was
	case event.EffectRefused:
		s[e.Effect] = State{Intent: intentOf(e.Tool, e.Input), Result: refusal(e.Reason)}
	case event.EffectUnknown:
		was := s[e.Effect]
		was.Unknown, was.Reason = true, e.Reason
		s[e.Effect] = was
	}
}

// intentOf is an intent as it was before it was logged.
func intentOf(tool string, input event.Value) event.Intent {
	return event.Intent{Tool: tool, Input: json.RawMessage(input.Compact())}
}

// refusal is what a model reads of a call that it may not make.
func refusal(reason string) *flow.Result {
	return &flow.Result{Text: "The call was not made: " + reason, IsError: true}
}
