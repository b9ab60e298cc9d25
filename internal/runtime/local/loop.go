package local

import (
	"fmt"
	"slices"
	"sync"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// A loop is one of the run's. What earlier sessions recorded of turns that are committed is
// forgotten by the history; what this one has to forget are the keys.
type loop struct {
	*branch        // that it belongs to
	key     string // in the run
	at      flow.Turn
	next    int     // the turn to be committed
	turn    *branch // it, once it is begun

	idleTurn *decision // of the last turn, to use again
}

// Loop implements flow.Looper.
func (b *branch) Loop(key string) (flow.Turns, error) {
	key, err := b.journalKey(byLoop, key)
	if err != nil {
		return nil, err
	}
	at := b.past.Loops[key]
	return &loop{branch: b, key: key, at: at, next: at.N}, nil
}

func (l *loop) At() flow.Turn { return l.at }

func (l *loop) Turn(n int) flow.Flow {
	l.expect(n)
	if l.turn == nil {
		b := *l.branch
		b.prefix, b.keys, b.loops, b.idle = flow.TurnKey(l.key, l.next)+"/", new(keys), true, l.idleTurn
		l.turn, l.idleTurn = &b, nil
	}
	return l.turn
}

// Commit ends a turn, after which its keys are not used again.
func (l *loop) Commit(n int, step *event.StepCompleted) {
	l.expect(n)
	if l.failed.get() != nil {
		return
	}
	if l.turn != nil {
		l.turn.keys.end()
		l.idleTurn, l.turn.idle = l.turn.idle, nil
		l.turn = nil
	}
	l.next++
	step.Spent, step.Loop = l.opts.Ledger.Spent(), true
	l.progress.commit(step)
	l.failed.set(l.opts.Log.AppendStep(flow.TurnKey(l.key, n), step))
	step.Loop = false
}

// expect ends the run if it is another turn's turn: a resume would not go the same way.
func (l *loop) expect(n int) {
	if n != l.next {
		l.failed.set(fmt.Errorf("local: turn %d of the loop %q comes where turn %d belongs", n, l.key, l.next))
	}
}

// keys are those that were used, by the methods of a flow.
type keys struct {
	mu    sync.Mutex
	few   []usedKey        // the first ones: most turns of loops have no more
	used  map[usedKey]bool // the others
	ended bool             // none can be used any more
}

// fewKeys is how many are looked through one by one.
const fewKeys = 4

type usedKey struct {
	method method
	key    string
}

type method byte

const (
	byDecide method = iota
	byPerform
	byAsk
	byObserve
	byParallel
	byEmit
	byLoop
)

// claim takes a key that is to be used once.
func (k *keys) claim(m method, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	use := usedKey{m, key}
	switch {
	case k.ended:
		return fmt.Errorf("local: the key %q is used after its turn was committed", key)
	case k.used[use] || slices.Contains(k.few, use):
		return fmt.Errorf("local: the key %q is used twice", key)
	case len(k.few) < fewKeys:
		k.few = append(k.few, use)
		return nil
	case k.used == nil:
		k.used = map[usedKey]bool{}
	}
	k.used[use] = true
	return nil
}

// end forgets them.
func (k *keys) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.few, k.used, k.ended = nil, nil, true
}
