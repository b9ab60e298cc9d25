package flow

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/event"
)

// A Looper is a flow with loops of its own: see [Loop].
type Looper interface {
	Loop(key string) (Turns, error)
}

// Loop begins a loop, or goes on with it where it stood. A loop has turns, one after the
// other, each of which makes a new state of the one before, and is one step:
//
//	turns, err := flow.Loop(f, key)
//	if err != nil {
//		return err
//	}
//	at := turns.At()
//	for n, state := at.N, at.State; !over(state); n++ {
//		next, err := work(turns.Turn(n), state) // asks, acts and looks
//		if err != nil {
//			return err
//		}
//		turns.Commit(n, &event.StepCompleted{Step: first + n, Output: event.JSONValue(next)})
//		state = next
//	}
//
// The state is all that a turn knows of those before it, and therefore has to be what the
// rest of the code needs of the loop as well. A [Looper] forgets everything else about a
// turn once it is committed, so that a million of them take no more memory than one, and a
// resume does not go through them again. Other flows have all turns gone through again, from
// the first.
func Loop(f Flow, key string) (Turns, error) {
	if l, ok := f.(Looper); ok {
		return l.Loop(key)
	}
	return plainTurns{f, key}, nil
}

// Turns are those of a loop.
type Turns interface {
	// At is where the loop goes on.
	At() Turn

	// Turn is the flow of turn n, from that of At on. Its keys need to be unique only within
	// the turn: in the run they begin with [TurnKey](key, n) and a slash. It is not to be
	// used after the turn is committed.
	Turn(n int) Flow

	// Commit ends turn n. The output of the step is the state after it. The step may be used
	// again afterwards.
	Commit(n int, step *event.StepCompleted)
}

// A Turn is how a loop stands: how many turns are committed, and the output of the last one,
// nil if there is none.
type Turn struct {
	N     int
	State json.RawMessage
}

// TurnKey is the key of turn n of a loop, under which it is committed.
func TurnKey(loop string, n int) string { return loop + turnInfix + strconv.Itoa(n) }

const turnInfix = "/turn/"

// CutTurn is the loop and the number of a turn by its key; false if it is not that of one.
func CutTurn(key string) (loop string, n int, ok bool) {
	i := strings.LastIndexByte(key, '/')
	if i < 0 || !strings.HasSuffix(key[:i+1], turnInfix) {
		return "", 0, false
	}
	n, err := strconv.Atoi(key[i+1:])
	loop = key[:i+1-len(turnInfix)]
	return loop, n, err == nil && n >= 0 && TurnKey(loop, n) == key
}

// plainTurns are those of a flow that remembers all of them.
type plainTurns struct {
	flow Flow
	key  string
}

func (t plainTurns) At() Turn { return Turn{} }

func (t plainTurns) Turn(n int) Flow { return prefixed{t.flow, TurnKey(t.key, n) + "/"} }

func (t plainTurns) Commit(n int, step *event.StepCompleted) { Commit(t.flow, TurnKey(t.key, n), step) }

// prefixed is a flow with something before its keys.
type prefixed struct {
	flow   Flow
	prefix string
}

func (p prefixed) Decide(key string, q *Question) (*Verdict, error) {
	return p.flow.Decide(p.prefix+key, q)
}

func (p prefixed) Perform(key string, e *Effect) (*Result, error) {
	return p.flow.Perform(p.prefix+key, e)
}

func (p prefixed) Ask(key string, q *HumanQuestion) (*Answer, error) {
	return p.flow.Ask(p.prefix+key, q)
}

func (p prefixed) Observe(key string, l Look) (json.RawMessage, error) {
	return p.flow.Observe(p.prefix+key, l)
}

func (p prefixed) Parallel(key string, n int, f func(i int, f Flow) error) error {
	return p.flow.Parallel(p.prefix+key, n, f)
}

func (p prefixed) Emit(key string, e event.Event) { p.flow.Emit(p.prefix+key, e) }

func (p prefixed) Ended() error { return Ended(p.flow) }
