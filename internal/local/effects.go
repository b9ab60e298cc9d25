package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/person"
	"github.com/maker-mdap/maker/internal/secret"
	"github.com/maker-mdap/maker/tool"
)

// errNoJournal is why a chain cannot have effects: its log leaves out verdicts,
// so that a resume may decide differently from what was executed.
var errNoJournal = errors.New("local: effects need a run that keeps all its verdicts")

// pastEffect is what earlier sessions did about an effect.
type pastEffect struct {
	claims  int // without an outcome
	intent  event.Intent
	unknown bool // and it was said so
	result  *flow.Result
}

func (p *Past) takeEffect(e event.Event) {
	switch e := e.(type) {
	case event.EffectClaimed:
		p.close(e.Step)
		p.effects[e.Effect] = pastEffect{claims: p.effects[e.Effect].claims + 1, intent: intentOf(e.Tool, e.Input)}
	case event.EffectDone:
		was := p.effects[e.Effect]
		was.result = &flow.Result{Text: e.Result.Text(), IsError: e.IsError}
		p.effects[e.Effect] = was
		if e.Spent.Calls > 0 {
			p.Spent = e.Spent
		}
	case event.EffectRefused:
		p.close(e.Step)
		p.effects[e.Effect] = pastEffect{intent: intentOf(e.Tool, e.Input), result: refusal(e.Reason)}
	case event.EffectUnknown:
		was := p.effects[e.Effect]
		was.unknown = true
		p.effects[e.Effect] = was
	}
}

// intentOf is an intent as it was before it was logged.
func intentOf(tool string, input event.Value) event.Intent {
	return event.Intent{Tool: tool, Input: json.RawMessage(input.Compact())}
}

func (p *Past) takeAnswer(e event.Event) {
	switch e := e.(type) {
	case event.ClarificationRequested:
		p.close(e.Step)
		p.answers[e.Question] = nil // not yet
	case event.ClarificationProvided:
		p.answers[e.Question] = &flow.Answer{Text: e.Answer, By: e.By}
	}
}

// refusal is what a model reads of a call that it may not make.
func refusal(reason string) *flow.Result {
	return &flow.Result{Text: "The call was not made: " + reason, IsError: true}
}

// Perform implements flow.Flow: approved, claimed on disk, executed, recorded on
// disk, in that order.
func (b *branch) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	key, err := b.journalKey(key)
	if err != nil {
		return nil, err
	}
	if b.ctx.Err() != nil {
		return nil, context.Cause(b.ctx)
	}
	past, known := b.effect[key]
	if known && past.intent.Key() != e.Intent.Key() && past.intent.Tool != "" {
		return nil, fmt.Errorf("local: the effect %q was %s in an earlier session and is %s now; the log does not belong to this run", key, past.intent.Key(), e.Intent.Key())
	}
	if past.result != nil {
		return past.result, nil
	}
	t, err := b.toolOf(e.Intent.Tool)
	if past.claims > 0 {
		return b.settleUnknown(key, e, t, err, past)
	}
	if err != nil {
		return b.refuse(key, e, err.Error(), "registry")
	}
	if t.Effect == tool.Human {
		return b.askFor(key, e)
	}
	if b.hasSecret(e.Intent.Input) {
		return b.refuse(key, e, "its input contains a key of ours", "secrets")
	}
	approved, refused, err := b.approve(key, e, t)
	if err != nil || refused != nil {
		return refused, err
	}
	return b.execute(key, e, t, event.EffectClaimed{Approved: approved})
}

// hasSecret reports whether an input contains a key of ours, or did before a log took
// it out.
func (b *branch) hasSecret(input json.RawMessage) bool {
	redact := b.opts.Redact
	return redact != nil && !bytes.Equal(redact(input), input) || bytes.Contains(input, []byte(secret.Redacted))
}

func (b *branch) toolOf(name string) (tool.Tool, error) {
	if b.opts.Tools == nil {
		return tool.Tool{}, fmt.Errorf("there is no tool called %s", name)
	}
	return b.opts.Tools.Get(name)
}

// askFor puts the question of an agent to the person; the answer is the result.
func (b *branch) askFor(key string, e *flow.Effect) (*flow.Result, error) {
	var in struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
	}
	if err := json.Unmarshal(e.Intent.Input, &in); err != nil || in.Question == "" {
		return nil, fmt.Errorf("local: %s asks nothing: %s", e.Intent.Tool, e.Intent.Input)
	}
	a, err := b.ask(key, &flow.HumanQuestion{
		Step: e.Step, Kind: event.ClarifyQuestion, Text: in.Question, Options: in.Options, Free: true,
	})
	if err != nil {
		return nil, err
	}
	return &flow.Result{Text: a.Text}, nil
}

// approve asks whoever has to be asked before a call is made. It returns who let
// it pass, or the result of a call that did not.
func (b *branch) approve(key string, e *flow.Effect, t tool.Tool) (by string, refused *flow.Result, err error) {
	d := b.opts.Approve.Decide(e.Intent, t.Effect)
	switch {
	case d.Denied:
		refused, err = b.refuse(key, e, d.Reason, d.Reason)
		return "", refused, err
	case !d.Ask:
		return d.Reason, nil, nil
	}
	a, err := b.ask(key+"/approve", &flow.HumanQuestion{
		Step: e.Step, Kind: event.ClarifyApproval, Text: fmt.Sprintf("May %s be called?", e.Intent.Tool),
		Options: []string{person.Yes, person.No}, Free: true, Call: &e.Intent, Voting: &e.Voting,
	})
	if err != nil {
		return "", nil, err
	}
	if person.IsYes(a.Text) {
		return "person (" + a.By + ")", nil, nil
	}
	reason := "a person refused it"
	if !person.IsNo(a.Text) {
		reason += ": " + a.Text
	}
	refused, err = b.refuse(key, e, reason, "person ("+a.By+")")
	return "", refused, err
}

func (b *branch) refuse(key string, e *flow.Effect, reason, by string) (*flow.Result, error) {
	b.append(event.EffectRefused{
		Effect: key, Step: e.Step, Tool: e.Intent.Tool, Input: event.JSONValue(e.Intent.Input), Reason: reason, By: by,
	})
	return refusal(reason), b.failed.get()
}

// execute claims the effect, runs it and records its outcome.
func (b *branch) execute(key string, e *flow.Effect, t tool.Tool, claim event.EffectClaimed) (*flow.Result, error) {
	claim.Effect, claim.Step, claim.Tool = key, e.Step, e.Intent.Tool
	claim.Input, claim.Voting = event.JSONValue(e.Intent.Input), e.Voting
	if err := b.record(b.ctx, claim); err != nil {
		return nil, err
	}
	start := time.Now()
	result, err := t.Run(b.ctx, e.Intent.Input)
	cut := b.ctx.Err() != nil && (err != nil || result.IsError)
	switch {
	case cut, errors.Is(err, tool.ErrUnknownOutcome):
		if err == nil {
			err = errors.New(result.Text)
		}
		return b.leaveUnknown(key, e, err, cut, claim.Again)
	case err != nil:
		result = tool.Failed("%v", err)
	}
	// It happened; that is recorded even if the run is being ended.
	return &result, b.record(context.WithoutCancel(b.ctx), event.EffectDone{
		Effect: key, Step: e.Step, Tool: e.Intent.Tool, Result: event.TextValue(result.Text), IsError: result.IsError,
		DurationMS: time.Since(start).Milliseconds(), Spent: b.opts.Ledger.Spent(),
	})
}

// record appends an event and waits until it is on disk.
func (b *branch) record(ctx context.Context, e event.Event) error {
	b.append(e)
	if err := b.failed.get(); err != nil {
		return err
	}
	return b.opts.Log.Sync(ctx)
}

// leaveUnknown says that an effect of this session has no known outcome. If the run
// is being ended there is nothing more to do about it now; and what was repeated once
// is not repeated again.
func (b *branch) leaveUnknown(key string, e *flow.Effect, cause error, ending, again bool) (*flow.Result, error) {
	b.append(unknownEvent(key, e, cause.Error()))
	if ending {
		return nil, context.Cause(b.ctx)
	}
	if again {
		return unknownResult(e, cause.Error()), b.failed.get()
	}
	t, err := b.toolOf(e.Intent.Tool)
	return b.settleUnknown(key, e, t, err, pastEffect{claims: 1, unknown: true})
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
	happened = "it happened"
	notYet   = "it did not happen: do it"
	giveUp   = "stop here"
)

// settleUnknown deals with an effect that was claimed and has no outcome. One that
// can be repeated is, once; about another the person is asked, anew for each claim. A
// tool that is not there any more, or that a rule now denies, is not run.
func (b *branch) settleUnknown(key string, e *flow.Effect, t tool.Tool, gone error, past pastEffect) (*flow.Result, error) {
	const interrupted = "the run was interrupted while it was being executed"
	if !past.unknown {
		b.append(unknownEvent(key, e, interrupted))
	}
	may := b.opts.Approve.Decide(e.Intent, t.Effect)
	options := []string{happened, notYet, giveUp}
	if gone != nil || may.Denied {
		options = []string{happened, giveUp}
	} else if t.Idempotent { // it was approved before
		return b.execute(key, e, t, event.EffectClaimed{Approved: "idempotent: it can be repeated", Again: true})
	}
	a, err := b.ask(fmt.Sprintf("%s/outcome/%d", key, past.claims), &flow.HumanQuestion{
		Step: e.Step, Kind: event.ClarifyOutcome, Call: &e.Intent, Options: options,
		Text: fmt.Sprintf("A call of %s was begun, and nobody knows whether it took effect. Did it?", e.Intent.Tool),
	})
	if _, waiting := errors.AsType[*WaitingError](err); waiting {
		return unknownResult(e, interrupted+"; nobody was there to be asked"), nil
	}
	if err != nil {
		return nil, err
	}
	switch a.Text {
	case happened:
		result := &flow.Result{Text: "A person says that the call took effect. Its output is lost."}
		return result, b.record(b.ctx, event.EffectDone{
			Effect: key, Step: e.Step, Tool: e.Intent.Tool, Result: event.TextValue(result.Text), By: "person (" + a.By + ")", Spent: b.opts.Ledger.Spent(),
		})
	case notYet:
		return b.execute(key, e, t, event.EffectClaimed{Approved: "person (" + a.By + ")", Again: true})
	default:
		return unknownResult(e, "a person ended the step"), nil
	}
}

// A WaitingError ends a session because only a person can say how it goes on.
type WaitingError struct {
	Key      string
	Question flow.HumanQuestion
}

func (e *WaitingError) Error() string {
	return fmt.Sprintf("waiting for a person: %s", e.Question.Text)
}

// Ask implements flow.Flow.
func (b *branch) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	key, err := b.journalKey(key)
	if err != nil {
		return nil, err
	}
	return b.ask(key, q)
}

// journalKey is the full key of something that must be in the journal.
func (b *branch) journalKey(key string) (string, error) {
	if b.opts.Checkpoints {
		return "", errNoJournal
	}
	return b.fullKey(key)
}

// ask is Ask under a full key.
func (b *branch) ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	past, asked := b.answer[key]
	if past != nil {
		return past, nil
	}
	if !asked {
		request := event.ClarificationRequested{Question: key, Step: q.Step, Kind: q.Kind, Text: q.Text, Options: q.Options, Free: q.Free}
		if q.Call != nil {
			call, err := json.Marshal(q.Call)
			if err != nil {
				return nil, fmt.Errorf("local: %w", err)
			}
			request.Call = call
		}
		if err := b.record(b.ctx, request); err != nil {
			return nil, err
		}
	}
	if b.opts.Person == nil {
		return nil, &WaitingError{key, *q}
	}
	a, err := b.opts.Person.Ask(b.ctx, key, q)
	switch {
	case errors.Is(err, person.ErrAbsent):
		return nil, &WaitingError{key, *q}
	case err != nil:
		return nil, err
	}
	return a, b.record(b.ctx, event.ClarificationProvided{Question: key, Step: q.Step, Answer: a.Text, By: a.By})
}
