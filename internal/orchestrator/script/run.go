package script

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/vote"
)

// Config is what a script is run with.
type Config struct {
	Program *Program
	Args    map[string]string

	flow.Terms // of its questions, unless they say otherwise

	// Pool names the voters who are asked where others do not agree; empty if there are
	// none.
	Pool string

	// Meaning says that texts are compared by what they say, unless a question says
	// otherwise.
	Meaning bool

	Prompts *prompts.Set

	// Room reports whether the program has memory left for what scripts keep. Nil means
	// that it has.
	Room func() error
}

// Run runs a script. It emits step_completed or step_failed for each step, and then
// task_completed with what main returned, or task_failed. Its error is the flow's: the run is
// over for a reason outside the script.
func Run(f flow.Flow, c Config) error {
	end, err := run(f, c)
	if err == nil {
		f.Emit("end", end)
	}
	return err
}

// run runs a script and returns the event that ends it.
func run(f flow.Flow, c Config) (event.Event, error) {
	r := &runner{Config: c}
	output, err := r.main(f)
	if over, ok := errors.AsType[*overError](err); ok {
		return nil, over
	}
	if err != nil {
		return r.failed(err), nil
	}
	return event.TaskCompleted{Steps: r.steps, Output: event.JSONValue(output)}, nil
}

// An Executor is the last module of a pipeline whose plans are scripts: it runs the one that
// passed its checks.
type Executor struct {
	Config        // without a program
	Name   string // of the script
}

// Process implements [flow.Module].
func (x *Executor) Process(f flow.Flow, e event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		passed, ok := e.(event.ValidationPassed)
		if !ok {
			return
		}
		c := x.Config
		var end event.Event
		var err error
		if c.Program, err = Compile(Source{Name: x.Name, Text: passed.Plan.Text()}); err != nil { // it passed a moment ago
			end = event.TaskFailed{Status: event.StatusFailed, Reason: err.Error()}
		} else if end, err = run(f, c); err != nil {
			return // the run is over; the pipeline knows why
		}
		yield(flow.Keyed{Event: end, Key: "end"})
	}
}

type runner struct {
	Config
	steps int // numbered so far
}

func (r *runner) main(f flow.Flow) (json.RawMessage, error) {
	globals, err := r.Program.init(r.Room)
	if err != nil {
		return nil, err
	}
	main := globals[mainFunction].(*starlark.Function) // as Compile has checked
	var args starlark.Tuple
	if main.NumParams() > 0 {
		args = starlark.Tuple{arguments(r.Args)}
	}
	s := &scope{runner: r, flow: f, step: onMainLine, counts: map[string]int{}, known: map[string]*prepared{}}
	t := s.thread(r.Program.source.Name)
	v, err := starlark.Call(t, main, args, nil)
	if err != nil {
		return nil, err
	}
	output, err := toJSON(t, v)
	if err != nil {
		return nil, fmt.Errorf("what main returns: %w", err)
	}
	return output, nil
}

// A scope is the main line, an item of a map or a turn of a chain: what has keys and, but for
// the main line, a step of its own.
type scope struct {
	*runner
	flow   flow.Flow
	prefix string         // of its keys in the run
	step   int            // its number; onMainLine there, where each question is a step
	counts map[string]int // how often there was a key
	known  map[string]*prepared
	taken  flow.Outcome  // by the questions of the step
	depth  int           // maps around it
	title  string        // of its first question
	spent  chan struct{} // fills up as the items of a map take their time; nil outside of maps
}

const onMainLine = -1

const scopeLocal = "scope"

func (s *scope) thread(name string) *starlark.Thread {
	t := newThread(name, maxSteps, func() error {
		if s.spent != nil {
			select {
			case s.spent <- struct{}{}:
			default:
				return fmt.Errorf("the items of a map take more than %d steps of execution: is this loop meant to end?", maxSteps)
			}
		}
		if s.Room == nil {
			return nil
		}
		return s.Room()
	})
	t.SetLocal(scopeLocal, s)
	return t
}

// scopeOf is that of a thread. What stands outside of functions has none: it is the same in
// every run.
func scopeOf(t *starlark.Thread) (*scope, error) {
	s, ok := t.Local(scopeLocal).(*scope)
	if !ok {
		return nil, errOutside
	}
	return s, nil
}

var errOutside = errors.New("this can be called by main and the functions that it calls, not outside of functions, nor by until of a chain")

// within is the scope of a branch or a turn.
func (s *scope) within(f flow.Flow, prefix string, step int) *scope {
	return &scope{runner: s.runner, flow: f, prefix: prefix, step: step, counts: map[string]int{}, known: map[string]*prepared{}, depth: s.depth + 1, spent: s.spent}
}

// key is the key of a call: which functions made it, what it asks for, and how often that was
// asked for before.
func (s *scope) key(t *starlark.Thread, what string, about any) (string, error) {
	var b strings.Builder
	stack := t.CallStack()
	for _, frame := range stack[:len(stack)-1] { // without the built-in function
		if frame.Pos.Line > 0 {
			b.WriteString(frame.Name)
			b.WriteByte('/')
		}
	}
	b.WriteString(what)
	if about != nil {
		data, err := json.Marshal(about)
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(data)
		b.WriteByte('/')
		b.WriteString(hex.EncodeToString(sum[:4]))
	}
	b.WriteByte('/')
	n := s.counts[b.String()]
	s.counts[b.String()]++
	b.WriteString(strconv.Itoa(n))
	return b.String(), nil
}

// begin is the number of the step that a call belongs to, and whether it is one by itself.
func (s *scope) begin() (step int, own bool) {
	if s.step != onMainLine {
		return s.step, false
	}
	s.steps++
	return s.steps - 1, true
}

// complete writes down that a call which is a step by itself came to something.
func (s *scope) complete(key string, e event.StepCompleted) {
	if e.CostUSD == nil && e.Voting.Samples == 0 {
		e.CostUSD = new(float64) // nobody was asked
	}
	s.flow.Emit(key+"/completed", e)
}

// completed is a step of which code was a part.
func (s *scope) completed(output json.RawMessage) event.StepCompleted {
	e := event.StepCompleted{Step: s.step, Title: s.title, Output: event.JSONValue(output), Voting: s.taken.Voting, CostUSD: s.taken.CostUSD, DurationMS: s.taken.DurationMS}
	if s.taken.Verdict == nil {
		e.By, e.Voting.Strategy, e.CostUSD = event.ByCode, vote.None, new(float64)
	}
	return e
}

// An overError is the flow's: the run is over.
type overError struct {
	err   error
	where string // in the script, if that can be why
}

func (e *overError) Error() string { return e.err.Error() }
func (e *overError) Unwrap() error { return e.err }

// Where is the place in the script at which the flow ended the run, of an error of [Run];
// empty if the script has no part in it.
func Where(err error) string {
	if over, ok := errors.AsType[*overError](err); ok {
		return over.where
	}
	return ""
}

// callerOf is where the built-in function that is running was called.
func callerOf(t *starlark.Thread) string { return place(t.CallFrame(1)) }

func place(f starlark.CallFrame) string { return fmt.Sprintf("%s in %s", f.Pos, f.Name) }

// over marks an error of the flow.
func over(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*overError](err); ok { // of a branch
		return e
	}
	return &overError{err: err}
}

// A stepError is why a step has no result.
type stepError struct {
	step   int
	status flow.Status
	reason string
	open   []string // keys that a resume is to forget
}

func (e *stepError) Error() string { return e.reason }

// failed is how a run ends that an error ended.
func (r *runner) failed(err error) event.TaskFailed {
	e := event.TaskFailed{Status: event.StatusFailed, Step: max(r.steps-1, 0), Reason: Describe(err), Final: true}
	if s, ok := errors.AsType[*stepError](err); ok {
		e.Step, e.Reopen, e.Final = s.step, s.open, len(s.open) == 0
		if s.status == flow.Undecided {
			e.Status = event.StatusUndecided
		}
	}
	return e
}

// Describe says what went wrong in a script, and where: the place first, then the calls that
// led there.
func Describe(err error) string {
	var where []string // from the outermost call to the innermost
	for {
		e, ok := errors.AsType[*starlark.EvalError](err)
		if !ok {
			break
		}
		for _, f := range e.CallStack {
			if f.Pos.Line > 0 {
				where = append(where, place(f))
			}
		}
		err = cause(e)
		if i, ok := err.(*itemError); ok && len(where) > 0 {
			where[len(where)-1] += fmt.Sprintf(" (item %d)", i.item)
		}
	}
	text := strings.TrimPrefix(err.Error(), "Starlark computation cancelled: ")
	if len(where) == 0 {
		return text
	}
	slices.Reverse(where)
	text = where[0] + ": " + text
	for _, w := range where[1:] {
		text += "\n  called by " + w
	}
	return text
}

// An itemError is what went wrong in an item of a map.
type itemError struct {
	item int // from 0
	err  error
}

func (e *itemError) Error() string { return e.err.Error() }
func (e *itemError) Unwrap() error { return e.err }
