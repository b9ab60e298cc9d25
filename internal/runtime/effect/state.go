package effect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// A State is how an effect stands.
type State struct {
	Claims  int             // without an outcome
	Intent  event.Intent    // that won the vote
	Ran     json.RawMessage // what it was called with, if the person changed that
	Unknown bool            // and it was said so
	Reason  string          // why it is unknown
	Result  *flow.Result    // nil until there is an outcome
}

// States are the effects of a run by their keys, as its events tell.
type States map[string]State

// Take learns from an event. Those that are not about effects say nothing.
func (s States) Take(e event.Event) {
	switch e := e.(type) {
	case event.EffectClaimed:
		s[e.Effect] = stateOf(e, State{Claims: s[e.Effect].Claims + 1})
	case event.EffectReleased:
		was := s[e.Effect]
		was.Claims = max(was.Claims-1, 0)
		s[e.Effect] = was
	case event.EffectDone:
		was := s[e.Effect]
		was.Result = &flow.Result{Text: e.Result.Text(), IsError: e.IsError, Ran: was.Ran}
		s[e.Effect] = was
	case event.EffectRefused:
		s[e.Effect] = State{Intent: intentOf(e.Tool, e.Input), Result: refusal(e.Reason, e.By)}
	case event.EffectUnknown:
		was := s[e.Effect]
		was.Unknown, was.Reason = true, e.Reason
		s[e.Effect] = was
	}
}

// stateOf is a state with what a claim says about the call.
func stateOf(e event.EffectClaimed, s State) State {
	s.Intent = intentOf(e.Tool, e.Input)
	if !e.Voted.IsZero() {
		s.Ran, s.Intent = s.Intent.Input, intentOf(e.Tool, e.Voted)
	}
	return s
}

// claim is another claim of an effect that was claimed before.
func (s State) claim(approved string) event.EffectClaimed {
	c := event.EffectClaimed{Approved: approved, Again: true}
	if s.Ran != nil {
		c.Input, c.Voted = event.JSONValue(s.Ran), event.JSONValue(s.Intent.Input)
	}
	return c
}

// intentOf is an intent as it was before it was logged.
func intentOf(tool string, input event.Value) event.Intent {
	return event.Intent{Tool: tool, Input: json.RawMessage(input.Compact())}
}

// Reopen forgets those of the calls that the person refused, and returns their keys.
// They did not happen, so that the person can be asked again. Everything else stays:
// what rules refused, what was claimed and what was done.
func (s States) Reopen(those func(key string) bool) []string {
	var keys []string
	for key, state := range s {
		if state.Claims == 0 && state.Result != nil && state.Result.Refused && those(key) {
			keys = append(keys, key)
			delete(s, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Approval is the key of the question whether the effect of a key may be executed. If it is
// put again its keys are below that.
func Approval(key string) string { return key + "/approve" }

// byPerson is what says that the person let a call pass or refused it.
func byPerson(by string) string { return personPrefix + by + ")" }

const personPrefix = "person ("

// IsPerson reports whether it was the person who let a call pass or refused it.
func IsPerson(by string) bool { return strings.HasPrefix(by, personPrefix) }

// refusal is what a model reads of a call that it may not make.
func refusal(reason, by string) *flow.Result {
	return &flow.Result{Text: "The call was not made: " + reason, IsError: true, Refused: IsPerson(by)}
}
