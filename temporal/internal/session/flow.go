package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// branch is one line of execution: the main one, or one of a Parallel.
type branch struct {
	*Session
	ctx    workflow.Context
	prefix string // of its keys
}

// fullKey is a key with that of its branch before it, if the run can go on with it.
func (b *branch) fullKey(method, key string) (string, error) {
	if err := b.Ended(); err != nil {
		return "", err
	}
	key = b.prefix + key
	use := usedKey{method, key}
	if b.used[use] {
		return "", fmt.Errorf("temporal: the key %q is used twice", key)
	}
	b.used[use] = true
	return key, nil
}

// Ended implements flow.Ender.
func (b *branch) Ended() error {
	if b.failed != nil {
		return b.failed
	}
	if b.ctx.Err() != nil {
		return ErrCancelled
	}
	if workflow.GetInfo(b.ctx).GetContinueAsNewSuggested() {
		return ErrTooLong
	}
	return nil
}

// Decide implements flow.Flow.
func (b *branch) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	key, err := b.fullKey("decide", key)
	if err != nil {
		return nil, err
	}
	if v, ok := b.past.Verdicts[key]; ok {
		return v.Verdict, b.compare(key, q, v.Asked)
	}
	if err := workflow.Sleep(b.ctx, time.Duration(q.DelayMS)*time.Millisecond); err != nil {
		return nil, ErrCancelled
	}
	told, err := b.told(q)
	if err != nil {
		return nil, err
	}
	var out wire.Decision
	var loan *loan
	tries := 0
	borrow := func() (err error) {
		loan, err = b.lend(b.ctx, tries, false)
		return err
	}
	request := func(chunks []*wire.Chunk) any {
		return wire.DecideRequest{
			Chunks: chunks, Run: b.opts.Run, Key: key, Time: b.decided[key], Question: *q, Told: told,
			Earlier: b.samples[key], Allowance: loan.allowance,
		}
	}
	settle := func(did workflow.Future) (again bool, err error) {
		out = wire.Decision{}
		if err := did.Get(b.ctx, &out); err != nil {
			return false, err
		}
		b.settle(loan, out.Spent)
		if err := b.take(out.Lines); err != nil {
			return false, err
		}
		switch {
		case out.Stop == nil:
			return false, nil
		case moved(b.ctx, out.Stop):
			return true, borrow()
		case out.Stop.Kind == wire.Exhausted:
			if loan.all { // there is no more than it had
				b.failed = cmp.Or(b.failed, error(&budget.ExhaustedError{Limit: out.Stop.Limit, Max: out.Stop.Max, Spent: b.spent}))
				return false, nil
			}
			tries++
			return true, borrow()
		}
		return false, nil
	}
	if err := borrow(); err != nil {
		return nil, err
	}
	err = b.part(b.ctx, wire.Decide, key, request, settle, func() error {
		b.forfeit(loan)
		return borrow()
	})
	b.giveBack(loan)
	switch {
	case err != nil:
		return nil, err
	case b.failed != nil:
		return nil, b.failed
	case out.Stop != nil:
		return nil, stopError(out.Stop)
	}
	return out.Verdict, nil
}

// told is what a worker has to know about a question.
func (b *branch) told(q *flow.Question) (local.Told, error) {
	t := local.Told{Retired: b.past.Framings.AllRetired()}
	if q.Rule.Strategy != vote.Adaptive {
		return t, nil
	}
	class := adaptive.ClassOf(q.Class, q.Model)
	now, begins := b.past.Policies.Now(class)
	for _, e := range begins {
		if err := b.append("", e); err != nil {
			return t, err
		}
	}
	t.Policies = map[string]adaptive.Change{class: now}
	return t, nil
}

// compare says among the events if a question that was decided would now be asked
// differently.
func (b *branch) compare(key string, q *flow.Question, asked map[string]string) error {
	if asked == nil || b.past.Changed[key] {
		return nil
	}
	if changed := local.ChangedParts(q, asked); len(changed) > 0 {
		return b.append("", event.QuestionChanged{Question: key, Step: q.Step, Changed: changed})
	}
	return nil
}

// A StopError is why a part of a run ended the run, as its worker says.
type StopError struct{ wire.Stop }

func (e *StopError) Error() string { return e.Reason }

func stopError(s *wire.Stop) error {
	if s.Kind == wire.Cancelled {
		return ErrCancelled
	}
	return &StopError{*s}
}

// Perform implements flow.Flow.
func (b *branch) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	key, err := b.fullKey("perform", key)
	if err != nil {
		return nil, err
	}
	if past := b.past.Effects[key]; past.Intent.Tool != "" && past.Intent.Key() != e.Intent.Key() {
		return nil, fmt.Errorf("the effect %q was %s in an earlier session and is %s now; the store does not belong to this run", key, past.Intent.Key(), e.Intent.Key())
	} else if past.Result != nil {
		return past.Result, nil
	}
	var absent []string
	var out wire.Performance
	request := func(chunks []*wire.Chunk) any {
		answers, asked := b.about(key)
		return wire.PerformRequest{
			Chunks: chunks, Run: b.opts.Run, Key: key, Effect: *e, Known: b.effects[key], Answers: answers, Asked: asked, Absent: absent,
		}
	}
	settle := func(did workflow.Future) (bool, error) {
		out = wire.Performance{}
		if err := did.Get(b.ctx, &out); err != nil {
			return false, err
		}
		return moved(b.ctx, out.Stop), b.take(out.Lines)
	}
	for {
		if err := b.part(b.ctx, wire.Perform, key, request, settle, func() error { return nil }); err != nil {
			return nil, err
		}
		if out.Stop != nil {
			return nil, stopError(out.Stop)
		}
		if out.Ask == nil {
			return out.Result, nil
		}
		_, err := b.ask(b.ctx, out.Ask.Key, &out.Ask.Question)
		if _, nobody := errors.AsType[*person.WaitingError](err); nobody && out.Ask.Question.Kind == event.ClarifyOutcome {
			absent = append(absent, out.Ask.Key) // then the call stays one of unknown outcome
		} else if err != nil {
			return nil, err
		}
	}
}

// Observe implements flow.Flow.
func (b *branch) Observe(key string, l flow.Look) (json.RawMessage, error) {
	key, err := b.fullKey("observe", key)
	if err != nil {
		return nil, err
	}
	if seen, ok := b.past.Looks[key]; ok {
		return seen, nil
	}
	var seen wire.Seen
	ctx := workflow.WithLocalActivityOptions(b.ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
	if err := workflow.ExecuteLocalActivity(ctx, wire.Observe, wire.LookRequest{Run: b.opts.Run, Look: l}).Get(ctx, &seen); err != nil {
		return nil, b.ended(ctx, err)
	}
	if seen.Error != "" {
		return nil, errors.New(seen.Error)
	}
	return seen.Result, b.append("", event.Observed{Look: key, Kind: l.Kind, Params: l.Params, Result: event.JSONValue(seen.Result)})
}

// Ask implements flow.Flow.
func (b *branch) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	key, err := b.fullKey("ask", key)
	if err != nil {
		return nil, err
	}
	return b.ask(b.ctx, key, q)
}

// Emit implements flow.Flow.
func (b *branch) Emit(key string, e event.Event) {
	if b.failed != nil {
		return
	}
	e = b.stamp(e)
	key = b.prefix + key
	if local.EndsSession(e) {
		_ = b.append(key, e) // it is remembered
		return
	}
	if b.used[usedKey{"emit", key}] {
		b.failed = fmt.Errorf("temporal: the key %q is used twice", key)
		return
	}
	b.used[usedKey{"emit", key}] = true
	known, err := b.past.Emitted(key, e, nil)
	if err != nil {
		b.failed = err
	}
	if known || err != nil {
		return
	}
	_ = b.append(key, e)
}

// stamp fills in what an orchestrator cannot know.
func (s *Session) stamp(e event.Event) event.Event {
	elapsed := (s.past.Duration + workflow.Now(s.ctx).Sub(s.started)).Milliseconds()
	setup := s.opts.Setup
	setup.Sessions = s.past.SessionsWith(setup)
	switch e := e.(type) {
	case event.StepCompleted:
		e.Spent = s.spent
		return e
	case event.StepFailed:
		e.Spent = s.spent
		return e
	case event.TaskCompleted:
		e.Setup, e.Futile, e.Spent, e.DurationMS = setup, s.past.Policies.Futile(), s.spent, elapsed
		return e
	case event.TaskFailed:
		e.Setup, e.Futile, e.Spent, e.DurationMS = setup, s.past.Policies.Futile(), s.spent, elapsed
		return e
	case event.BudgetExhausted:
		e.Spent = s.spent
		return e
	case event.RunCancelled:
		e.Spent = s.spent
		return e
	case event.RunPaused:
		e.Spent = s.spent
		return e
	}
	return e
}

// window is how many branches are under way at once: a workflow may have 2,000 activities, and
// works well with 500.
const window = 256

// Parallel implements flow.Flow.
func (b *branch) Parallel(key string, n int, f func(i int, f flow.Flow) error) error {
	key, err := b.fullKey("parallel", key)
	if err != nil {
		return err
	}
	ctx, cancel := workflow.WithCancel(b.ctx)
	defer cancel()
	next, broke, aborted := 0, false, false
	errs := map[int]error{}
	done := workflow.NewWaitGroup(ctx)
	for range min(n, window) {
		done.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer done.Done()
			for next < n && !broke {
				i := next
				next++
				err := f(i, &branch{Session: b.Session, ctx: ctx, prefix: flow.Branch(key, i)})
				if err == nil {
					continue
				}
				if aborted && errors.Is(err, ErrCancelled) && b.ctx.Err() == nil {
					err = errBranch
				}
				errs[i] = err
				broke = broke || !isWaiting(err) // the others would fare no better
				if !endsAlone(err) {
					aborted = true
					cancel()
				}
			}
		})
	}
	done.Wait(workflowWithoutCancel(b.ctx))
	// A branch that ended only because a sibling failed does not hide it, and one that
	// waits does not hide a failure.
	var alone, after error
	for _, i := range slices.Sorted(maps.Keys(errs)) {
		switch err := errs[i]; {
		case errors.Is(err, errBranch):
			after = cmp.Or(after, err)
		case endsAlone(err):
			alone = cmp.Or(alone, err)
		default:
			return err
		}
	}
	return cmp.Or(alone, after)
}

// workflowWithoutCancel is a context in which branches are waited for that are being ended.
func workflowWithoutCancel(ctx workflow.Context) workflow.Context {
	free, _ := workflow.NewDisconnectedContext(ctx)
	return free
}

func isWaiting(err error) bool {
	_, waits := errors.AsType[*person.WaitingError](err)
	return waits
}

// endsAlone reports whether an error is no reason to end the branches beside the one that it
// is from.
func endsAlone(err error) bool {
	return isWaiting(err) || errors.Is(err, budget.ErrExhausted) || errors.Is(err, ErrTooLong)
}

var errBranch = errors.New("another branch of the run failed")
