package ballot

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
)

// maxInvalid is how many questions in a row, without an answer to any other, a voter may
// call invalid before that is taken for its fault and not theirs: an account is empty, or a
// model was exchanged.
const maxInvalid = 50

// The statuses with which a server calls a request invalid.
const (
	badRequest    = 400
	unprocessable = 422
)

// lull is how long nothing new must begin until it is clear that nobody will answer any
// more.
const lull = 400 * time.Millisecond

// A proof is whether requests to a voter can be answered at all, as it turned out.
type proof struct {
	answers  atomic.Int64
	answered chan struct{} // closed by the first
	first    sync.Once

	mu     sync.Mutex
	seen   int64 // answers at the last question that was called invalid
	inARow int   // of these since the last answer
}

// took notes an answer.
func (p *proof) took() {
	p.answers.Add(1)
	p.first.Do(func() { close(p.answered) })
}

// refused notes a question that was called invalid, and reports whether there were too many
// of them.
func (p *proof) refused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.answers.Load(); n != p.seen {
		p.seen, p.inARow = n, 0
	}
	p.inARow++
	return p.inARow >= maxInvalid
}

// proofs are those of the voters of a ballot, and how many of its questions wait for one.
type proofs struct {
	byVoter              sync.Map // of *proof by name
	begun, open, waiting atomic.Int64
}

func (p *proofs) of(voter string) *proof {
	if known, ok := p.byVoter.Load(voter); ok {
		return known.(*proof)
	}
	known, _ := p.byVoter.LoadOrStore(voter, &proof{answered: make(chan struct{})})
	return known.(*proof)
}

// begin notes a question, until end is called.
func (p *proofs) begin() (end func()) {
	p.begun.Add(1)
	p.open.Add(1)
	return func() { p.open.Add(-1) }
}

// failsAlone reports whether a request that cannot be repeated is only its question's fault:
// a server calls it invalid, and answers others of the same voter. Until one was answered
// that is waited for, as long as any other question may still bring an answer.
func (r *race) failsAlone(ctx context.Context, s *Sample, waits func()) bool {
	e, ok := errors.AsType[*model.Error](s.fatal)
	if ok && r.ballot.opts.Served {
		return true
	}
	if !r.ballot.opts.Alone || !ok || e.Kind != model.Invalid || e.Status != badRequest && e.Status != unprocessable {
		return false
	}
	all := &r.ballot.proofs
	p := all.of(s.Voter)
	if p.refused() {
		return false
	}
	if r.ballot.opts.Answered || p.answers.Load() > 0 {
		return true
	}
	if waits != nil {
		waits()
	}
	all.waiting.Add(1)
	defer all.waiting.Add(-1)
	tick := time.NewTicker(lull)
	defer tick.Stop()
	for begun := int64(-1); ; {
		select {
		case <-p.answered:
			return true
		case <-ctx.Done():
			return false
		case <-tick.C:
			now := all.begun.Load()
			if now == begun && all.waiting.Load() >= all.open.Load() {
				return p.answers.Load() > 0 // it came at the same moment
			}
			begun = now
		}
	}
}

// judged is a judge whose question stands in for the one that it is about.
func (p *proofs) judged(judge Judge) Judge {
	return func(first, other string) (bool, *flow.Verdict, error) {
		p.open.Add(-1)
		defer p.open.Add(1)
		return judge(first, other)
	}
}
