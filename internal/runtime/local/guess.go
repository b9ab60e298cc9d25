package local

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/limiter"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// A line is the main one of a run, through whatever branches it goes. It is locked while the
// orchestrator's own code runs, so that this is not asked what follows on a guess at the same
// time.
type line struct {
	sync.Mutex
	ahead *guess // at the question that will be asked next
}

// A guess is a question that is being decided before it is asked: the one that follows if
// what leads in another wins. Nothing of it is in the log until it is asked indeed, in the
// same words; then it is a question like any other, of which a part is done. Guesses stand
// on each other. One that stood on an answer that lost the lead is dropped with all that
// stand on it.
type guess struct {
	*decision
	rank   limiter.Rank // of its calls
	thin   bool         // it was begun on a single vote
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error

	mu      sync.Mutex
	asked   bool            // it is a guess no more
	dropped bool            // it comes to nothing
	before  []ballot.Sample // that came while it was one
	calls   int             // that it took in the end
}

// stage is where guesses on a question stand: with the answer that leads.
type stage struct {
	mu     sync.Mutex
	over   bool          // nothing stands on it any more
	answer domain.Answer // that leads
	on     string        // the key of the one that next stands on
	next   *guess

	below atomic.Pointer[stage] // the question that this one is a guess on; nil if it was asked
	lead  atomic.Int32          // votes of the answer that leads
}

// errGuess ends what stood on a guess that was wrong.
var errGuess = errors.New("local: it was a wrong guess")

// maxAhead is how many questions are guessed at once.
const maxAhead = 64

// leads is told which answer to a question leads.
func (d *decision) leads(a domain.Answer, votes int) {
	s := &d.stage
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lead.Store(int32(votes)) // 0 in a tie, which the answer that led may still win
	if s.answer = a; s.next != nil && votes > 0 && a.Key != s.on {
		if s.next.thin {
			d.extra.wrong.Add(1)
		}
		s.next.drop()
		s.next = nil
	}
	if s.next != nil && votes > 1 {
		s.next.rank.Set(limiter.Likely)
	}
	d.goOn()
}

// goOn guesses what follows on the answer that leads, if it may, and then what follows on
// what leads in that. The stage is locked.
func (d *decision) goOn() {
	s := &d.stage
	votes := int(s.lead.Load())
	if s.next == nil && !s.over && votes > 0 && s.answer.Value != nil && d.q.Next != nil && d.mayGuess() {
		d.line.Lock()
		key, q := d.q.Next(s.answer.Value)
		d.line.Unlock()
		if q != nil {
			if s.next = d.guess(key, q, votes); s.next != nil {
				s.on = s.answer.Key
			}
		}
		return // what leads in it is not known yet
	}
	if s.next != nil {
		s.next.stage.mu.Lock()
		defer s.next.stage.mu.Unlock()
		s.next.goOn()
	}
}

// mayGuess reports whether another question may be guessed.
func (d *decision) mayGuess() bool {
	depth, thin := 0, 0
	for s := &d.stage; s != nil; s = s.below.Load() {
		switch s.lead.Load() {
		case 0:
			return false
		case 1:
			thin++
		}
		depth++
	}
	return depth <= maxAhead && d.extra.mayGuess(thin, d.need(d.q)) && d.opts.Ledger.Roomy(keptCalls(d.q.Rule))
}

// need is how many samples a question takes at least.
func (b *branch) need(q *flow.Question) int {
	if margins := b.margins(q).Margins; len(margins) > 0 {
		return margins[0]
	}
	return q.Rule.Least()
}

// keptCalls is how many calls a budget must have room for before a question is guessed: two
// votes of the questions that are asked, and the guess itself.
func keptCalls(r vote.Rule) int { return 3 * max(r.K, r.N, 4) }

// guess begins to decide a question that may be asked later, on an answer with so many votes;
// nil if that cannot be.
func (d *decision) guess(key string, q *flow.Question, votes int) *guess {
	b := d.branch
	if _, known := b.past.Verdicts[key]; known || b.past.Votes[key] != nil || q.Meaning != nil || q.DelayMS > 0 || !b.mayWorkAhead(q.Work) {
		return nil
	}
	g := &guess{decision: newDecision(b), done: make(chan struct{})}
	if q.Rule.Strategy == vote.Adaptive {
		if b.policyClass(q) != b.policyClass(d.q) {
			return nil // it may not have begun
		}
		g.policy = b.margins(q)
	}
	g.key, g.q, g.decision.ahead = key, q, true
	if g.shown = b.Runtime.watch.ahead(key, q.Step); g.shown != nil {
		g.watch.Gauge = &g.shown.gauge
	}
	g.stage.below.Store(&d.stage)
	g.watch.Sample, g.watch.Stopped = g.sample, g.stopped
	if h := g.watch.Hedge; h != nil {
		h.May = func() bool { return g.stage.below.Load() == nil && b.mayHedge() }
	}
	g.rank.Set(limiter.Thin)
	if g.thin = votes == 1; !g.thin {
		g.rank.Set(limiter.Likely)
	}
	ctx, cancel := context.WithCancelCause(limiter.WithRank(b.ctx, &g.rank))
	g.cancel = cancel
	go func() {
		defer close(g.done)
		v, err := b.opts.Ballot.DecideBy(ctx, q, g.policy.Margins, g.policy.GiveUp, g.watch)
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.verdict, g.err = v, err; v != nil {
			g.calls = v.Voting.Samples + v.Voting.Cancelled
		}
		if g.dropped {
			b.waste(g.calls)
		}
	}()
	return g
}

// mayWorkAhead reports whether agents may work on what may come to nothing: they look at the
// world then, unless they have no tools to do so. What changes it is voted on first, and
// done when the question was asked indeed.
func (b *branch) mayWorkAhead(w *flow.Work) bool {
	if w == nil || b.opts.GuessTools {
		return true
	}
	return !slices.ContainsFunc(w.Tools, func(name string) bool {
		t, err := b.opts.Tools.Get(name)
		return err == nil && t.Class.BySample()
	})
}

// sample takes a sample that has arrived.
func (g *guess) sample(s *ballot.Sample) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked {
		g.decision.sampled(s)
		return
	}
	g.before = append(g.before, *s)
}

// stopped notes how many calls were made for nothing, or how the vote of a question that
// was asked stands.
func (g *guess) stopped(s ballot.Standing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = s.Voting.Samples + s.Voting.Cancelled
	if g.asked {
		g.leftOpen(g.key, g.q.Step, s)
	}
}

// drop ends a guess and what stands on it.
func (g *guess) drop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dropped || g.asked {
		return
	}
	g.dropped = true
	g.cancel(errGuess)
	select {
	case <-g.done:
		g.waste(g.calls)
	default: // it counts them when it ends
	}
	g.stage.clear()
}

// clear drops what stands on a question.
func (s *stage) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over = true; s.next != nil {
		s.next.drop()
		s.next = nil
	}
}

// take is the guess on the answer that won, if there is one, which goes on.
func (s *stage) take() *guess {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.next
	s.over, s.next = true, nil
	return g
}

// guessed is the guess at a question that is asked now, with its verdict; nil if there is
// none.
func (b *branch) guessed(key string, q *flow.Question, policy adaptive.Change) (*decision, error) {
	if b.line == nil || b.line.ahead == nil {
		return nil, nil
	}
	g := b.line.ahead
	b.line.ahead = nil
	if g.key != key || !sameQuestion(g.q, q) || !asStrict(g.policy, policy) || !g.ask() {
		g.drop()
		return nil, nil
	}
	g.stage.mu.Lock()
	g.goOn() // there is one less between
	g.stage.mu.Unlock()
	<-g.done // at the latest when the branch ends
	g.cancel(nil)
	return g.decision, g.err
}

// ask makes the guess a question that was asked, unless it has come to nothing.
func (g *guess) ask() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.done:
		if g.err != nil {
			return false
		}
	default:
	}
	g.asked = true
	g.rank.Set(limiter.Asked)
	if g.thin {
		g.extra.right.Add(1)
	}
	g.shown, g.counted = g.Runtime.watch.asked(g.shown)
	g.stage.below.Store(nil)
	for i := range g.before {
		g.decision.sampled(&g.before[i])
	}
	g.before = nil
	return true
}

// asStrict reports whether a policy asks for no less than the one that is in force now.
func asStrict(p, now adaptive.Change) bool {
	if len(p.Margins) != len(now.Margins) || !reflect.DeepEqual(p.GiveUp, now.GiveUp) {
		return false
	}
	for i, m := range now.Margins {
		if p.Margins[i] < m {
			return false
		}
	}
	return true
}

// sameQuestion reports whether two questions are the same, whatever follows on them.
func sameQuestion(a, b *flow.Question) bool {
	x, y := *a, *b
	x.Next, y.Next = nil, nil
	return reflect.DeepEqual(&x, &y)
}

// An extra is how many calls may be made that come to nothing: a share of those that come
// to something, and a few at the start.
type extra struct {
	share   float64      // of the others that may be wasted; 0 means none
	right   atomic.Int64 // guesses on a single vote
	wrong   atomic.Int64
	useful  atomic.Int64
	wasted  atomic.Int64
	calmNow func() bool // whether providers take what they get; nil if they do
}

// atStart is how many calls may be wasted before others were of use.
const atStart = 6

// mayGuess reports whether a guess may be made that takes so many samples and stands, with
// those beneath it, on so many answers with a single vote.
func (e *extra) mayGuess(thin, samples int) bool {
	if e.share <= 0 || e.calmNow != nil && !e.calmNow() {
		return false
	}
	left := e.left()
	if left <= 0 {
		return thin == 0 && left > -atStart
	}
	// A wrong one takes those down that stand on it, each with all of its samples.
	wrong := float64(e.wrong.Load()+1) / float64(e.right.Load()+e.wrong.Load()+20)
	return float64(thin)*wrong*float64(samples) <= 3*e.share
}

// mayHedge reports whether a call may be spent on a sample that is slow. Guesses gain more:
// they have half of what may be wasted to themselves.
func (r *Runtime) mayHedge() bool {
	e := &r.extra
	return e.share > 0 && (e.calmNow == nil || e.calmNow()) && 2*e.left() > e.share*float64(e.useful.Load()) && r.opts.Ledger.Roomy(keptCalls(r.opts.Setup.Rule))
}

// left is how many calls may still be wasted.
func (e *extra) left() float64 {
	return atStart + e.share*float64(e.useful.Load()) - float64(e.wasted.Load())
}

func (e *extra) use(calls int) { e.useful.Add(int64(calls)) }

// waste notes calls that came to nothing.
func (r *Runtime) waste(calls int) {
	r.extra.wasted.Add(int64(calls))
	r.opts.Ledger.Waste(calls)
}
