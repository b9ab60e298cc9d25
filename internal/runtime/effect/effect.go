// Package effect executes the intents that won a vote, once: approved, claimed,
// executed and recorded, each in the journal before the next. After a crash an
// effect is in one of four states that the journal tells apart: not begun, claimed,
// done, refused. Only the second is ambiguous, and it is not resolved by guessing.
//
// It knows no run log: any runtime that has a [Journal] can use it.
package effect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/secret"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// A Journal is where effects are written down.
type Journal interface {
	// Effect is what earlier sessions did about the effect of a key.
	Effect(key string) State

	// Append adds an event. It need not be durable yet.
	Append(e event.Event) error

	// Sync returns when all that was appended is durable. Nothing cancels it: whether
	// a claim is there must be known.
	Sync() error

	// Ask puts a question to the person, once for each key. If nobody is there it is a
	// [*person.WaitingError].
	Ask(ctx context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error)

	// Asked reports whether an earlier session put the question of a key.
	Asked(key string) bool
}

// A Performer executes effects. It is safe for concurrent use if its journal is.
type Performer struct {
	Journal Journal

	// Tools execute effects, and Approve lets them pass. Without tools all calls are
	// refused.
	Tools   *tool.Registry
	Approve approval.Policy

	// Redact is what the journal takes out of events, nil for nothing.
	Redact func([]byte) []byte

	// Spent is what the run has used so far.
	Spent func() usage.Spent

	// Keep keeps what the file holds that an intent is about to change. It returns nil if
	// that is not known or could not be kept, and may be nil itself.
	Keep func(key string, i event.Intent) *event.Before

	// Holds stands for what the file holds that an intent is about to change, as far as
	// whoever approves the change is shown it. It is empty for other intents, and may be nil.
	Holds func(i event.Intent) string

	mu      sync.Mutex
	allowed []approval.Rule // by the person, for the rest of the run
}

// Recall takes the rules of the person from the answers of earlier sessions.
func (p *Performer) Recall(answers map[string]*flow.Answer) {
	for key, a := range answers {
		if rule, ok := Allows(key, a); ok {
			p.allow(rule)
		}
	}
}

// Allows is the rule by which the answer to a question lets further calls pass for the rest of
// the run; false if it does not.
func Allows(key string, a *flow.Answer) (rule string, ok bool) {
	if effect, _, asked := strings.Cut(key, Approval("")); !asked || a == nil || effect == "" {
		return "", false
	}
	word, rule, _ := strings.Cut(a.Text, " ")
	return rule, word == person.ForRun || word == person.ForEver
}

// allow lets calls that fit a rule pass for the rest of the run. A text that is none, as a
// reason can be that begins like one, lets nothing pass.
func (p *Performer) allow(rule string) {
	if r, err := approval.ParseRule(rule); err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.allowed = append(p.allowed, r)
	}
}

func (p *Performer) allowing(i event.Intent) (approval.Rule, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Approve.Allowing(i, p.allowed)
}

// Perform executes the effect of a key, unless the journal says what came of it.
func (p *Performer) Perform(ctx context.Context, key string, e *flow.Effect) (*flow.Result, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	past := p.Journal.Effect(key)
	if past.Intent.Tool != "" && past.Intent.Key() != e.Intent.Key() {
		return nil, fmt.Errorf("the effect %q was %s in an earlier session and is %s now; the log does not belong to this run", key, past.Intent.Key(), e.Intent.Key())
	}
	if past.Result != nil {
		return past.Result, nil
	}
	t, err := p.tool(e.Intent.Tool)
	if past.Claims > 0 {
		return p.settleUnknown(ctx, key, e, t, err, past)
	}
	if err != nil {
		return p.refuse(key, e, err.Error(), "registry")
	}
	if t.Class == tool.Human {
		return p.askFor(ctx, key, e)
	}
	if reason := p.lostSecret(e.Intent.Input); reason != "" {
		return p.refuse(key, e, reason, "secrets")
	}
	if e.By == event.ByCode { // what voters propose was looked at before the vote
		if err := t.Validate(e.Intent.Input); err != nil {
			return p.refuse(key, e, err.Error(), "schema")
		}
	}
	claim, refused, err := p.approve(ctx, key, e, t)
	if err != nil || refused != nil {
		return refused, err
	}
	return p.execute(ctx, key, e, t, claim)
}

// lostSecret says why a call with this input is not the one that was decided on, or
// would give a key away; empty if neither is so.
func (p *Performer) lostSecret(input json.RawMessage) string {
	switch {
	case p.Redact != nil && !bytes.Equal(p.Redact(input), input):
		return "its input contains a key of ours"
	case bytes.Contains(input, []byte(secret.Redacted)):
		return "its input contained a key of ours, which the log does not keep"
	}
	return ""
}

func (p *Performer) tool(name string) (tool.Tool, error) {
	if p.Tools == nil {
		return tool.Tool{}, fmt.Errorf("there is no tool called %s", name)
	}
	return p.Tools.Get(name)
}

// askFor puts the question of an agent to the person; the answer is the result. A
// tool of one's own need not call it a question: then its whole input is shown.
func (p *Performer) askFor(ctx context.Context, key string, e *flow.Effect) (*flow.Result, error) {
	var in struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
	}
	if err := json.Unmarshal(e.Intent.Input, &in); err != nil || in.Question == "" {
		in.Question, in.Options = fmt.Sprintf("%s asks: %s", e.Intent.Tool, e.Intent.Input), nil
	}
	a, err := p.Journal.Ask(ctx, key, &flow.HumanQuestion{
		Step: e.Step, Kind: event.ClarifyQuestion, Text: in.Question, Options: in.Options, Free: true,
	})
	if err != nil {
		return nil, err
	}
	return &flow.Result{Text: a.Text}, nil
}

// approve asks whoever has to be asked before a call is made. It returns the claim of one
// that passed, whose input is set if the person changed it, or the result of one that did
// not.
func (p *Performer) approve(ctx context.Context, key string, e *flow.Effect, t tool.Tool) (claim event.EffectClaimed, refused *flow.Result, err error) {
	d := p.Approve.Decide(e.Intent, t.Class)
	switch rule, ok := p.allowing(e.Intent); {
	case d.Denied:
		refused, err = p.refuse(key, e, d.Reason, d.Reason)
		return claim, refused, err
	case !d.Ask:
		return event.EffectClaimed{Approved: d.Reason}, nil, nil
	case ok:
		return event.EffectClaimed{Approved: "the person's rule for this run: " + rule.String()}, nil, nil
	}
	q := &flow.HumanQuestion{
		Step: e.Step, Kind: event.ClarifyApproval, Text: fmt.Sprintf("May %s be called?", e.Intent.Tool),
		Options: []string{person.Yes, person.No}, Free: true, Call: &e.Intent, Voting: &e.Voting, Folder: p.Approve.Workspace,
		Against: t.Schema,
	}
	given, a, err := p.askApproval(ctx, Approval(key), q, t)
	if err != nil {
		return claim, nil, err
	}
	if !a.OK {
		reason := "a person refused it"
		if a.Reason != "" {
			reason += ": " + a.Reason
		}
		refused, err = p.refuse(key, e, reason, byPerson(given.By))
		return claim, refused, err
	}
	claim.Approved = byPerson(given.By)
	if a.Rule != "" {
		p.allow(a.Rule)
		claim.Approved += ", from now on " + a.Rule
	}
	if a.Input != nil && string(a.Input) != string(e.Intent.Input) {
		claim.Approved += ", who changed its arguments"
		claim.Input, claim.Voted = event.JSONValue(a.Input), event.JSONValue(e.Intent.Input)
		changed := tool.Intent{Tool: e.Intent.Tool, Input: a.Input}
		if d := p.Approve.Decide(changed, t.Class); d.Denied {
			refused, err = p.refuse(key, e, d.Reason, d.Reason)
		} else if reason := p.lostSecret(a.Input); reason != "" {
			refused, err = p.refuse(key, e, reason, "secrets")
		}
	}
	return claim, refused, err
}

// askApproval asks whether a call may be made. It asks again if it is to be made with arguments
// that the tool does not take, because whoever gave them was not there to be told, and if the
// file was changed since: what is approved is the change that was shown.
func (p *Performer) askApproval(ctx context.Context, key string, q *flow.HumanQuestion, t tool.Tool) (*flow.Answer, person.Approval, error) {
	first, text := key, q.Text
	var own json.RawMessage // the person's arguments, once they are what is asked about
	for n := 2; ; n++ {
		q.Holds = p.holds(*q.Call)
		given, err := p.Journal.Ask(ctx, key, q)
		if err != nil {
			return nil, person.Approval{}, err
		}
		a, err := person.ReadApproval(q, given.Text)
		if err == nil && a.Input != nil {
			err = t.Validate(a.Input)
		}
		key = fmt.Sprintf("%s/%d", first, n)
		wrong, amiss := errors.AsType[*tool.InputError](err)
		switch {
		case amiss:
			q.Text = fmt.Sprintf("%s With the arguments that you gave it cannot be: %v", text, wrong)
			continue
		case err != nil: // it was read before; a log of another version may have another form
			return given, person.Approval{Reason: given.Text}, nil
		case a.OK && a.Input == nil:
			a.Input = own
		}
		approved, happens := *q.Call, " The file was changed since you were asked: this is what would happen to it now."
		if a.Input != nil && string(a.Input) != string(own) {
			approved.Input = a.Input
			if p.holds(*q.Call) == given.Holds { // the question was about another file, or another place in it
				happens = " This is what would happen with the arguments that you gave."
			}
		}
		// A rule is for whatever fits it. What was put again was so because of another change.
		changed := a.OK && a.Rule == "" && given.Holds != "" && given.Holds != p.holds(approved)
		if !changed && !p.Journal.Asked(key) {
			return given, a, nil
		}
		q.Text = text + happens
		if a.Input != nil {
			own, q.Call, q.Voting = a.Input, &approved, nil
		}
	}
}

func (p *Performer) holds(i event.Intent) string {
	if p.Holds == nil {
		return ""
	}
	return p.Holds(i)
}

func (p *Performer) refuse(key string, e *flow.Effect, reason, by string) (*flow.Result, error) {
	return refusal(reason, by), p.Journal.Append(event.EffectRefused{
		Effect: key, Step: e.Step, Tool: e.Intent.Tool, Input: event.JSONValue(e.Intent.Input), Reason: reason, By: by,
		Voting: e.Voting,
	})
}

// execute claims the effect, runs it and records its outcome.
func (p *Performer) execute(ctx context.Context, key string, e *flow.Effect, t tool.Tool, claim event.EffectClaimed) (*flow.Result, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	claim.Effect, claim.Step, claim.Scope, claim.Tool = key, e.Step, e.Scope, e.Intent.Tool
	intent, changed := e.Intent, claim.Input.JSON != nil
	if changed {
		intent.Input = claim.Input.JSON
	}
	claim.Input, claim.Voting, claim.By, claim.Looks = event.JSONValue(intent.Input), e.Voting, e.By, t.Class.BySample()
	if p.Keep != nil && !claim.Again { // what an earlier try has left is not what was before
		claim.Before = p.Keep(key, intent)
	}
	if err := p.record(claim); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		// The run was ended while the claim was on its way to the disk.
		return nil, errors.Join(context.Cause(ctx), p.record(event.EffectReleased{Effect: key, Step: e.Step, Tool: e.Intent.Tool}))
	}
	start := time.Now()
	result, err := t.Run(ctx, intent.Input)
	cut := ctx.Err() != nil && (err != nil || result.IsError)
	switch {
	case cut, errors.Is(err, tool.ErrUnknownOutcome):
		if err == nil {
			err = errors.New(result.Text)
		}
		return p.leaveUnknown(ctx, key, e, err, cut, claim)
	case err != nil:
		result = tool.Failed("%v", err)
	}
	if changed {
		result.Ran = intent.Input
	}
	return &result, p.record(event.EffectDone{
		Effect: key, Step: e.Step, Tool: e.Intent.Tool, Result: event.TextValue(result.Text), IsError: result.IsError,
		DurationMS: time.Since(start).Milliseconds(), Spent: p.Spent(),
	})
}

// record appends an event and waits until it is durable.
func (p *Performer) record(e event.Event) error {
	if err := p.Journal.Append(e); err != nil {
		return err
	}
	return p.Journal.Sync()
}

// leaveUnknown says that an effect of this session has no known outcome. If the run
// is being ended there is nothing more to do about it now; and what was repeated once
// is not repeated again.
func (p *Performer) leaveUnknown(ctx context.Context, key string, e *flow.Effect, cause error, ending bool, claim event.EffectClaimed) (*flow.Result, error) {
	err := p.Journal.Append(unknownEvent(key, e, cause.Error()))
	switch {
	case ending:
		return nil, errors.Join(context.Cause(ctx), err)
	case err != nil:
		return nil, err
	case claim.Again:
		return unknownResult(e, cause.Error()), nil
	}
	t, gone := p.tool(e.Intent.Tool)
	return p.settleUnknown(ctx, key, e, t, gone, stateOf(claim, State{Claims: 1, Unknown: true, Reason: cause.Error()}))
}

func unknownEvent(key string, e *flow.Effect, reason string) event.EffectUnknown {
	return event.EffectUnknown{Effect: key, Step: e.Step, Tool: e.Intent.Tool, Input: event.JSONValue(e.Intent.Input), Reason: reason}
}

func unknownResult(e *flow.Effect, reason string) *flow.Result {
	return &flow.Result{
		Text:    fmt.Sprintf("nobody knows whether the call of %s took effect: %s", e.Intent.Tool, reason),
		IsError: true, Unknown: true,
	}
}

// Answers to the question about an effect of unknown outcome.
const (
	Happened = "it happened"
	NotYet   = "it did not happen: do it"
	GiveUp   = "stop here"
)

// settleUnknown deals with an effect that was claimed and has no outcome. One that
// can be repeated is, once; about another the person is asked, anew for each claim. A
// tool that is not there any more, or that a rule now denies, is not run.
func (p *Performer) settleUnknown(ctx context.Context, key string, e *flow.Effect, t tool.Tool, gone error, past State) (*flow.Result, error) {
	why := cmp.Or(past.Reason, "no reason was recorded")
	if !past.Unknown {
		why = "the run was interrupted while it was being executed"
		if err := p.Journal.Append(unknownEvent(key, e, why)); err != nil {
			return nil, err
		}
	}
	may := p.Approve.Decide(e.Intent, t.Class)
	if past.Ran != nil {
		may = p.Approve.Decide(tool.Intent{Tool: e.Intent.Tool, Input: past.Ran}, t.Class)
	}
	options := []string{Happened, NotYet, GiveUp}
	if gone != nil || may.Denied {
		options = []string{Happened, GiveUp}
	} else if t.Idempotent { // it was approved before
		return p.execute(ctx, key, e, t, past.claim("idempotent: it can be repeated"))
	}
	asked := e.Intent
	if past.Ran != nil {
		asked.Input = past.Ran
	}
	a, err := p.Journal.Ask(ctx, fmt.Sprintf("%s/outcome/%d", key, past.Claims), &flow.HumanQuestion{
		Step: e.Step, Kind: event.ClarifyOutcome, Call: &asked, Options: options, Folder: p.Approve.Workspace,
		Text: fmt.Sprintf("A call of %s was begun, and nobody knows whether it took effect. Did it?", e.Intent.Tool),
	})
	if _, waiting := errors.AsType[*person.WaitingError](err); waiting {
		return unknownResult(e, why+"; nobody was there to be asked"), nil
	}
	if err != nil {
		return nil, err
	}
	switch a.Text {
	case Happened:
		result := &flow.Result{Text: "A person says that the call took effect. Its output is lost.", Ran: past.Ran}
		return result, p.record(event.EffectDone{
			Effect: key, Step: e.Step, Tool: e.Intent.Tool, Result: event.TextValue(result.Text), By: byPerson(a.By), Spent: p.Spent(),
		})
	case NotYet:
		return p.execute(ctx, key, e, t, past.claim(byPerson(a.By)))
	default:
		return unknownResult(e, "a person ended the step"), nil
	}
}
