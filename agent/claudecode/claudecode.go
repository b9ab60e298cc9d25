// Package claudecode is the agent that is the claude program (Claude Code). It is
// run once for each attempt, in print mode, and talked to in lines of JSON.
//
// # Tools
//
// The program's own tools are switched off. The task's tools are offered to it
// under the same names instead, by a tool server that is this process: the
// program asks for a call over its standard input and output, and the call is
// made here, as in every other agent. So a tool takes the same input and is
// confined as it always is, whatever the program allows: its own Read, once it
// may read, reads every file of the user, and its own Bash runs "ls" unasked.
//
// Before a call that is not a sample's to make, the program has to ask for
// permission. That is where the call becomes the intent and the attempt ends. If
// it does not ask, which no setting allows, the call itself arrives here and
// becomes the intent: nobody else could execute it.
//
// # Isolation
//
// The program runs in a throw-away folder that is also its home, with none of
// the user's settings, hooks, memory, skills and servers, and an environment of
// a few variables: see [Options.Env]. A setting of the machine's administrator
// still applies. The folder is removed when the attempt ends, and the processes
// are killed.
//
// # Answers
//
// The first message that does not ask for tools is the final one. The program
// would go on by itself after a message that was cut off, is empty, was refused
// or does not fit the schema; it is stopped there, because a repaired answer is
// no vote.
//
// What was decided and executed before, [agent.Task.Done], is told in the prompt:
// there is no documented way to give the program a history, and one that was lost
// on the way would have calls made twice. Its thinking mode is off, as with other
// agents. A temperature is passed on until the model refuses it. Failed requests
// are tried again by the program, a few times, and reported as faults. The cost is
// the program's own reckoning, and not known where it broke something off.
package claudecode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/model"
)

// Options say which program to run, and how. Model is required.
type Options struct {
	// Program is a path, or a name that is looked up in PATH; "claude" if empty.
	Program string

	// Model is what the program is told to ask, such as "claude-sonnet-4-5".
	Model string

	// Env looks up the variables that the program gets: its keys and address
	// (ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, CLAUDE_CODE_OAUTH_TOKEN,
	// ANTHROPIC_BASE_URL), those of proxies and certificates, PATH and the locale.
	// It gets no others. Nil is os.Getenv.
	Env func(name string) string

	// MaxUSD bounds what an attempt may cost, as the program counts it; it stops
	// after the message that exceeds it. 0 is no bound.
	MaxUSD float64

	// Timeout bounds an attempt; 0 is DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout bounds an attempt for which nothing else was said.
const DefaultTimeout = 10 * time.Minute

// provider is the name in errors.
const provider = "claude-code"

// New returns an agent that runs the program. Whether it can be run is found out
// by the first attempt.
func New(o Options) (agent.Agent, error) {
	if o.Program == "" {
		o.Program = "claude"
	}
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	switch {
	case o.Model == "":
		return nil, errors.New("claudecode: Model is missing; name one, such as claude-sonnet-4-5")
	case strings.HasPrefix(o.Model, "-"):
		return nil, fmt.Errorf("claudecode: Model: %q cannot be the name of a model", o.Model)
	case !(o.MaxUSD >= 0) || math.IsInf(o.MaxUSD, 0):
		return nil, fmt.Errorf("claudecode: MaxUSD: %v is no amount; leave it 0 for no bound", o.MaxUSD)
	case o.Timeout < 0:
		return nil, fmt.Errorf("claudecode: Timeout: %v is negative", o.Timeout)
	}
	return &claude{options: o, patience: patience}, nil
}

type claude struct {
	options  Options
	patience time.Duration

	// fixed says that the model takes no temperature, which it told us.
	fixed atomic.Bool
}

// Attempt implements [agent.Agent].
func (c *claude) Attempt(ctx context.Context, t *agent.Task) (*agent.Result, error) {
	result, err := c.attempt(ctx, t)
	if e, ok := errors.AsType[*model.Error](err); ok && t.Temperature != nil && refusesTemperature(e) && !c.fixed.Swap(true) {
		result, err = c.attempt(ctx, t)
	}
	return result, err
}

// refusesTemperature reports whether a request failed because it gave one.
func refusesTemperature(e *model.Error) bool {
	return e.Kind == model.Invalid && strings.Contains(strings.ToLower(e.Message), "temperature")
}

// attempt runs the program once.
func (c *claude) attempt(ctx context.Context, t *agent.Task) (*agent.Result, error) {
	limited, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, errTimeout)
	defer cancel()
	if limited.Err() != nil {
		return nil, c.given(limited)
	}
	folder, err := newFolder(t)
	if err != nil {
		return nil, &model.Error{Kind: model.Invalid, Provider: provider, NotSent: true, Message: err.Error(), Err: err}
	}
	defer folder.Remove()
	orders, err := c.command(t, folder)
	var p *process
	if err == nil {
		p, err = start(orders)
	}
	if err != nil {
		return nil, notStarted(c.options.Program, err)
	}
	d := newDialog(t)
	var calls sync.WaitGroup
	d.begin(p.write, func(call *pendingCall) { calls.Go(func() { call.make(limited) }) })
	failed := c.talk(limited, p, d)
	p.kill()
	cancel() // the calls, which nobody waits for any more
	calls.Wait()
	if failed != nil {
		return nil, d.fail(failed)
	}
	return &d.result, nil
}

// errTimeout is the cause of an end by [Options.Timeout].
var errTimeout = errors.New("the attempt took too long")

// given is the error of an attempt that was given up.
func (c *claude) given(ctx context.Context) *model.Error {
	cause := context.Cause(ctx)
	switch {
	case cause == errTimeout:
		return &model.Error{Kind: model.Transient, Provider: provider, Message: "no end within " + c.options.Timeout.String(), Err: context.DeadlineExceeded}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &model.Error{Kind: model.Transient, Provider: provider, Message: "no end within the deadline", Err: context.DeadlineExceeded}
	}
	return &model.Error{Kind: model.Cancelled, Provider: provider, Message: cause.Error(), Err: context.Canceled}
}

// patience is how long the program may take to report what an attempt cost after
// it has ended. It is killed in the end anyway.
const patience = 5 * time.Second

// talk leads the dialog to its end.
func (c *claude) talk(ctx context.Context, p *process, d *dialog) *model.Error {
	var late <-chan time.Time
	for {
		select {
		case l, ok := <-p.lines:
			var done bool
			var err *model.Error
			if ok {
				done, err = d.take(l)
			} else if !d.over {
				err = p.died()
			}
			switch {
			case d.over && (err != nil || !ok):
				return d.conclude(nil) // nothing but the cost is missing
			case done || err != nil:
				return err
			}
			if d.over && late == nil {
				timer := time.NewTimer(c.patience)
				defer timer.Stop()
				late = timer.C
			}
		case <-late:
			return d.conclude(nil)
		case <-ctx.Done():
			return c.given(ctx)
		}
	}
}
