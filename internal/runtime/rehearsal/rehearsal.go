// Package rehearsal tells what of the log of a run an edited script would use again, before
// anything is asked or written: the script is run on a flow that only knows what is recorded,
// and each line of execution ends at the first thing that is not.
package rehearsal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/history"
)

// A Report says what an edited script makes of what is recorded.
type Report struct {
	// Changed says that it is another script than the run has. Otherwise the rest is empty.
	Changed bool

	// Answers are those of voters and of the person, and Calls are those of tools that were
	// made. Of the turns of a chain that are committed neither are counted.
	Answers, Calls Share

	// New is what the script comes to first that is not recorded, because it is new or was
	// changed: nobody can tell what comes after that. Open is what the script as it was would
	// have come to next as well.
	New, Open []Call

	// Unused are the calls that were made and that the script does not come to. They stay
	// made. If it does not End, it may come to them later.
	Unused []Made

	// Chains are those of which turns are committed.
	Chains []Chain

	// Again is how many committed steps come to something else now, or to something that is
	// not recorded. They stay in the log, and are made again as steps of their own.
	Again int

	// Ends says that the script comes to its end with what is recorded, and Failure why it
	// would fail, if so.
	Ends    bool
	Failure string
}

// A Share is how many of those that are recorded are used again.
type Share struct{ Used, Recorded int }

// A Call is where a script calls a built-in function.
type Call struct {
	What  string // the function
	File  string
	Line  int
	From  string // the file and the line of main, or of a function of map or chain, that led there; empty if that is the same
	Times int    // that it is reached, as in the items of a map
}

// A Made is a call of a tool that was made.
type Made struct {
	Tool    string
	Input   json.RawMessage
	Unknown bool // nobody knows whether it took effect
}

// A Chain is a loop of which turns are committed. They stay as they are: the function of the
// script makes those that follow.
type Chain struct {
	Key   string
	Turns int
	Call  // where the script goes on with it; no line if it does not come to it

	// Other says that the chain begins with another state than the one whose turns are
	// recorded: it may be another chain.
	Other bool
}

// Of tells what a script makes of what is recorded, given functions that run the script as it was
// and as it is now on the flow of a trace.
func Of(past *history.History, was, now func(*Trace) error) (*Report, error) {
	before, after := newTrace(past), newTrace(past)
	if err := before.run(was); err != nil {
		return nil, err
	}
	if err := after.run(now); err != nil {
		return nil, err
	}
	r := &Report{Changed: true, Again: after.again, Ends: after.ends, Failure: after.failure}
	r.count(past, after)
	fresh := maps.Clone(after.missing)
	maps.DeleteFunc(fresh, func(key string, _ Call) bool { _, open := before.missing[key]; return open })
	open := maps.Clone(after.missing)
	maps.DeleteFunc(open, func(key string, _ Call) bool { _, isNew := fresh[key]; return isNew })
	r.New, r.Open = grouped(fresh), grouped(open)
	for _, key := range slices.Sorted(maps.Keys(past.Loops)) {
		first, known := before.chains[key]
		here := after.chains[key]
		r.Chains = append(r.Chains, Chain{
			Key: key, Turns: past.Loops[key].N, Call: here.Call,
			Other: known && here.Line > 0 && !bytes.Equal(first.state, here.state),
		})
	}
	return r, nil
}

// count counts what is recorded and what of it is used.
func (r *Report) count(past *history.History, t *Trace) {
	for key, v := range past.Verdicts {
		if v.Status == flow.Decided && !history.IsJudgement(key) {
			r.Answers.add(t.used[key])
		}
	}
	var effects []string
	for _, key := range slices.Sorted(maps.Keys(past.Effects)) {
		effects = append(effects, key)
		e := past.Effects[key]
		if e.Claims == 0 {
			continue // it was not made
		}
		if e.Result != nil {
			r.Calls.add(t.used[key])
		}
		if !t.used[key] {
			made := Made{Tool: e.Intent.Tool, Input: e.Intent.Input, Unknown: e.Result == nil}
			if e.Ran != nil {
				made.Input = e.Ran
			}
			r.Unused = append(r.Unused, made)
		}
	}
	ofEffect := flow.Below(effects)
	for key, a := range past.Answers {
		if a != nil && !ofEffect(key) {
			r.Answers.add(t.used[key])
		}
	}
}

func (s *Share) add(used bool) {
	if s.Recorded++; used {
		s.Used++
	}
}

// grouped are calls by their places.
func grouped(calls map[string]Call) []Call {
	times := map[Call]int{}
	for _, c := range calls {
		times[c]++
	}
	var list []Call
	for c, n := range times {
		c.Times = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Call) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.From, b.From), strings.Compare(a.What, b.What))
	})
	return list
}

// A Trace is one rehearsal of a script.
type Trace struct {
	past    *history.History
	at      Call            // the call that is being made
	used    map[string]bool // keys of what is recorded
	missing map[string]Call // likewise of what is not
	chains  map[string]begun
	again   int
	ends    bool
	failure string
}

type begun struct {
	Call
	state json.RawMessage
}

func newTrace(past *history.History) *Trace {
	return &Trace{past: past, used: map[string]bool{}, missing: map[string]Call{}, chains: map[string]begun{}}
}

func (t *Trace) run(script func(*Trace) error) error {
	if err := script(t); !errors.Is(err, errMissing) {
		return err
	}
	return nil
}

// Called tells which built-in function is called, and where.
func (t *Trace) Called(what, file string, line int, from string) {
	t.at = Call{What: what, File: file, Line: line, From: from}
}

// Chained tells with which state a chain begins.
func (t *Trace) Chained(key string, state json.RawMessage) { t.chains[key] = begun{t.at, state} }

// Flow is what the script is run on.
func (t *Trace) Flow() flow.Flow { return line{t, ""} }

// errMissing ends a line of execution.
var errMissing = errors.New("this is not recorded")

// line is a line of execution.
type line struct {
	*Trace
	prefix string
}

// stop ends a line of execution at something that is not recorded.
func (l line) stop(key string) error {
	l.missing[key] = l.at
	return errMissing
}

func (l line) Decide(key string, _ *flow.Question) (*flow.Verdict, error) {
	key = l.prefix + key
	v, ok := l.past.Verdicts[key]
	if !ok {
		return nil, l.stop(key)
	}
	l.used[key] = true
	verdict := *v.Verdict
	return &verdict, nil
}

func (l line) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	key = l.prefix + key
	was := l.past.Effects[key]
	l.used[key] = was.Intent.Tool != ""
	switch {
	case was.Result != nil && was.Intent.Key() == e.Intent.Key():
		return was.Result, nil
	case l.past.Answers[key] != nil: // of a tool that asks the person
		l.used[key] = true
		return &flow.Result{Text: l.past.Answers[key].Text}, nil
	}
	return nil, l.stop(key)
}

func (l line) Ask(key string, _ *flow.HumanQuestion) (*flow.Answer, error) {
	key = l.prefix + key
	a := l.past.Answers[key]
	if a == nil {
		return nil, l.stop(key)
	}
	l.used[key] = true
	return a, nil
}

func (l line) Observe(key string, _ flow.Look) (json.RawMessage, error) {
	key = l.prefix + key
	seen, ok := l.past.Looks[key]
	if !ok {
		return nil, l.stop(key)
	}
	return seen, nil
}

// Parallel goes through one branch after the other.
func (l line) Parallel(key string, n int, f func(i int, f flow.Flow) error) error {
	var first error
	for i := range n {
		branch := line{l.Trace, flow.Branch(l.prefix+key, i)}
		err := f(i, branch)
		if errors.Is(err, errMissing) && l.past.IsCommitted(branch.prefix+"completed") {
			l.again++
		}
		first = cmp.Or(first, err)
	}
	return first
}

func (l line) Emit(key string, e event.Event) {
	switch e := e.(type) {
	case event.TaskCompleted:
		l.ends = true
	case event.TaskFailed:
		l.failure = e.Reason
	case event.StepCompleted:
		if known, err := l.past.Emitted(l.prefix+key, e, nil); known && err != nil {
			l.again++
		}
	}
}

// Loop goes on after the turns that are committed.
func (l line) Loop(key string) (flow.Turns, error) { return turns{l, l.prefix + key}, nil }

type turns struct {
	line line
	key  string
}

func (t turns) At() flow.Turn { return t.line.past.Loops[t.key] }

func (t turns) Turn(n int) flow.Flow { return line{t.line.Trace, flow.TurnKey(t.key, n) + "/"} }

func (t turns) Commit(int, *event.StepCompleted) {}
