package ballot

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/limiter"
	"github.com/maker-mdap/maker/model"
)

// A Hedge lets samples that are slow be sent a second time. It is the same sample: whichever
// answer comes first counts, once.
type Hedge struct {
	May    func() bool     // whether a call may be spent on that now
	Wasted func(calls int) // is told of each
}

// A tail knows how long samples of a voter take lately, for questions of a class.
type tail struct {
	slow atomic.Int64 // from when on a sample is slow; 0 as long as that is not known

	mu     sync.Mutex
	recent [tailRoom]time.Duration
	seen   int
}

const (
	tailRoom  = 64
	tailEvery = 16 // samples after which it is seen to again
	fewSeen   = 32 // samples that say nothing yet

	worthHedging = 50 * time.Millisecond
)

type tailKey struct{ voter, class string }

// tailOf is that of a voter and a class of questions.
func (b *Ballot) tailOf(voter, class string) *tail {
	key := tailKey{voter, class}
	if t, ok := b.tails.Load(key); ok {
		return t.(*tail)
	}
	t, _ := b.tails.LoadOrStore(key, new(tail))
	return t.(*tail)
}

// took notes how long a sample took.
func (t *tail) took(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recent[t.seen%tailRoom] = d
	if t.seen++; t.seen < fewSeen || t.seen%tailEvery != 0 {
		return
	}
	sorted := t.recent // a copy
	known := sorted[:min(t.seen, tailRoom)]
	slices.Sort(known)
	// Nineteen of twenty take less; and where all take about as long, none is slow.
	t.slow.Store(int64(max(known[len(known)*19/20], 2*known[len(known)/2], worthHedging)))
}

// errHedged ends a call whose second was faster.
var errHedged = errors.New("ballot: it was sent again, and that was answered first")

// generate asks a voter for a sample, and asks again if it is slow.
func (a *attempt) generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	r := a.race
	voter := &r.voters[a.voter]
	if r.hedge == nil || voter.InProcess || !r.ballot.pace.takesTime() {
		return voter.Model.Generate(ctx, req)
	}
	t, start := r.ballot.tailOf(voter.Name, r.q.Class), time.Now()
	defer func() { t.took(time.Since(start)) }()
	slow := time.Duration(t.slow.Load())
	if slow == 0 {
		return voter.Model.Generate(ctx, req)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(ErrDecided)
	var second *model.Response
	done := make(chan struct{})
	r.ballot.crew.busy.Add(1) // the ballot is not settled before it is over
	timer := time.AfterFunc(slow, func() {
		defer r.ballot.crew.busy.Done()
		defer close(done)
		// What waits for its place here is not slow, and would not be faster.
		if ctx.Err() != nil || voter.Limiter != nil && !voter.Limiter.Free() || !r.hedge.May() {
			return
		}
		r.hedge.Wasted(1) // one of the two
		if resp, err := voter.Model.Generate(limiter.WithClass(ctx, limiter.Hedge), req); err == nil {
			second = resp
			cancel(errHedged)
		}
	})
	resp, err := voter.Model.Generate(ctx, req)
	if timer.Stop() {
		r.ballot.crew.busy.Done()
		return resp, err
	}
	if err == nil {
		return resp, nil
	}
	if <-done; second != nil {
		return second, nil
	}
	return nil, err
}
