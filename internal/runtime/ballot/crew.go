package ballot

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/limiter"
	"github.com/maker-mdap/maker/model"
)

// attempt is a sample to be made, or several in one call.
type attempt struct {
	race  *race
	voter int
	n     int // the first sample
	count int // how many
}

// request is what is asked.
func (a *attempt) request() *model.Request {
	r := a.race
	req := &r.others
	if a.n == 0 {
		req = &r.first
	}
	temperature := r.voters[a.voter].Temperature
	if len(r.q.Variants) == 0 && (a.n == 0 || temperature == nil) && !r.resumed {
		return req
	}
	own := *req
	if r.resumed {
		own.Earlier = r.askedBefore(a.n)
	}
	if a.n > 0 && temperature != nil {
		own.Temperature = temperature
	}
	if i := r.framing(a.n, a.voter); i > 0 {
		message := r.message[0]
		message.Text = r.q.Variants[i-1]
		own.Messages = []model.Message{message}
	}
	return &own
}

// framing is which of the variants a sample of a voter gets, from 1; 0 if there are none. Each
// voter goes through all of its framings and begins with another one, so that neither
// sees the other's only. Those in which a voter has answered before come last. Samples of
// one call are asked in the same words.
func (r *race) framing(n, voter int) int {
	if len(r.active) == 0 {
		return 0
	}
	call, voters := n, len(r.voters)
	if voters == 1 {
		call = r.callOf(n)
	}
	own, turn := r.active[voter], call/voters
	turn %= len(own.fresh) + len(own.asked)
	among := own.fresh
	if turn >= len(own.fresh) {
		among, turn = own.asked, turn-len(own.fresh)
	}
	return among[(call%voters+turn)%len(among)]
}

// callOf is the number of the call that a sample of a single voter is asked for with,
// if every call asks for as many as it may. The first is alone if it is asked at
// another temperature.
func (r *race) callOf(n int) int {
	per, alone := max(r.ballot.opts.PerCall, 1), r.firstAlone()
	if n < alone {
		return 0
	}
	return alone + (n-alone)/per
}

// firstAlone is 1 if the first sample needs a call of its own, and 0 otherwise.
func (r *race) firstAlone() int {
	first, others := r.q.FirstTemperature, r.q.Temperature
	if first == others || first != nil && others != nil && *first == *others {
		return 0
	}
	return 1
}

// sameWords is how many samples from the n-th on one call can ask for.
func (r *race) sameWords(n int) int {
	more := 1
	for more < r.ballot.opts.PerCall && r.callOf(n+more) == r.callOf(n) {
		more++
	}
	return more
}

// askedBefore is how many of the samples before the n-th the same voter was asked for in
// the same words, but for a greedy one.
func (r *race) askedBefore(n int) int {
	before := 0
	greedy := r.q.FirstTemperature != nil && *r.q.FirstTemperature == 0
	for m := range n {
		if m%len(r.voters) == n%len(r.voters) && r.framing(m, m%len(r.voters)) == r.framing(n, n%len(r.voters)) && !(m == 0 && greedy) {
			before++
		}
	}
	return before
}

// prefix stands for what is the same in all requests of the question.
func (r *race) prefix() string { return r.q.System + r.q.Prompt[:r.q.Shared] }

// batcher is the voter's model if it can give several samples in one call and
// is allowed to.
func (a *attempt) batcher() model.Batcher {
	r := a.race
	if r.ballot.opts.PerCall < 2 || len(r.voters) > 1 || r.work != nil {
		return nil
	}
	m, _ := model.AsBatcher(r.voters[a.voter].Model)
	return m
}

// sample makes one attempt and says in s what became of it.
func (a *attempt) sample(ctx context.Context, start time.Time, s *Sample) {
	if len(a.race.voters) == 1 {
		a.ask(ctx, a.request(), start, s)
		return
	}
	if a.race.blocked(a.voter) {
		if other, ok := a.race.instead(a.voter); ok {
			a.voter = other
		}
	}
	ctx = limiter.MayLeave(ctx)
	var faults []*model.Error
	for {
		req, detour := a.withDetour(a.request())
		a.ask(ctx, req, start, s)
		if !detour.taken(a, s) {
			s.failedBefore(faults)
			return
		}
		if s.Err == nil || !errors.Is(s.Err, limiter.ErrFailing) {
			faults = append(faults, s.Faults()...)
		}
	}
}

// ask asks the voter and says in s what became of it.
func (a *attempt) ask(ctx context.Context, req *model.Request, start time.Time, s *Sample) {
	if a.race.work != nil {
		a.doWork(ctx, req, start, s)
		return
	}
	resp, err := a.generate(ctx, req)
	a.ended(ctx, a.n, req, resp, err, start, s)
}

// ended says in s what became of one sample.
func (a *attempt) ended(ctx context.Context, n int, req *model.Request, resp *model.Response, err error, start time.Time, s *Sample) {
	*s = Sample{}
	s.N, s.voter, s.Voter, s.Framing = n, a.voter, a.race.voters[a.voter].Name, a.race.framing(n, a.voter)
	s.Temperature, s.Response, s.Duration = req.Temperature, resp, time.Since(start)
	a.race.ballot.pace.took(s.Duration)
	if err != nil {
		s.fail(ctx, err)
	}
}

// run makes the attempt and delivers what came of it.
func (a *attempt) run() {
	ctx, start := a.race.ctx, time.Now()
	var s Sample
	if a.count == 1 {
		a.sample(ctx, start, &s)
		a.race.arrived <- s
		return
	}
	req := a.request()
	responses, err := a.batcher().GenerateN(ctx, req, a.count)
	if err != nil {
		// One call failed: one fault, however many samples it was for.
		a.ended(ctx, a.n, req, nil, err, start, &s)
		a.race.arrived <- s
		responses = []*model.Response{nil}
	}
	for i := range a.count {
		switch {
		case i >= len(responses):
			a.race.arrived <- Sample{N: a.n + i, missing: true}
		case responses[i] != nil:
			a.ended(ctx, a.n+i, req, responses[i], nil, start, &s)
			a.race.arrived <- s
		}
	}
}

// crew runs attempts, each in a goroutine of its own. Goroutines are kept for
// the next attempt: a fresh one grows its stack again on every call, which
// costs more than everything else the engine does for a sample. One that has waited
// in vain for some time leaves: a run may go on for months after its busiest minute.
type crew struct {
	next    chan attempt // reaches a goroutine that waits for work
	quit    chan struct{}
	members *sync.WaitGroup
	busy    *sync.WaitGroup // attempts that have not ended
}

func newCrew() crew {
	return crew{next: make(chan attempt), quit: make(chan struct{}), members: new(sync.WaitGroup), busy: new(sync.WaitGroup)}
}

// do starts an attempt and returns at once.
func (c *crew) do(a attempt) {
	c.busy.Add(1)
	select {
	case c.next <- a:
	default:
		c.members.Go(func() { c.work(a) })
	}
}

// crewWaits is how long a goroutine waits for the next attempt.
const crewWaits = 10 * time.Second

func (c *crew) work(a attempt) {
	leave := time.NewTimer(crewWaits)
	defer leave.Stop()
	for {
		a.run()
		c.busy.Done()
		leave.Reset(crewWaits)
		select {
		case a = <-c.next:
		case <-leave.C:
			return
		case <-c.quit:
			return
		}
	}
}

// close waits until all attempts have ended.
func (c *crew) close() {
	close(c.quit)
	c.members.Wait()
}

// pace knows how fast the model answers lately.
type pace struct {
	credit atomic.Int32
	slow   atomic.Int32 // answers lately that took some time, and were not outweighed
}

const (
	// handover is about what it costs to have another goroutine do something
	// and to be told of it.
	handover = 30 * time.Microsecond

	// A quick answer earns a credit of one, a slow one loses several: a model is
	// instant if it is quick nearly always. An answer now and then that was held up
	// by something else, such as the garbage collector, does not matter.
	maxCredit     = 64
	instantCredit = 32
	slowLoses     = 8
)

// took notes how long an answer took.
func (p *pace) took(d time.Duration) {
	if n := p.slow.Load(); d >= worthAhead {
		p.slow.Store(min(n+1, maxSlow))
	} else if n > 0 {
		p.slow.Store(max(n-2, 0))
	}
	credit := p.credit.Load() // two answers at once may count as one
	if d > handover {
		p.credit.Store(max(credit-slowLoses, 0))
	} else if credit < maxCredit {
		p.credit.Store(credit + 1)
	}
}

// instant reports whether waiting for an answer costs less than handing the
// question over.
func (p *pace) instant() bool { return p.credit.Load() >= instantCredit }

// takesTime reports whether answers take so long lately that something can be gained by
// asking ahead.
func (p *pace) takesTime() bool { return p.slow.Load() >= someSlow }

// Dear reports whether an answer is worth keeping as soon as it has come: it took time, and
// is not of a simulator of this process, whose runs are to go on after a kill as if there had
// been none: it begins what it has to say about an open question anew.
func (b *Ballot) Dear() bool { return b.pace.takesTime() && !b.voters[0].InProcess }

const (
	worthAhead = 10 * time.Millisecond
	someSlow   = 3
	maxSlow    = 16
)

// cachedPrefix is the size in bytes from which a system prompt is worth caching:
// providers cache from about 1,024 tokens on.
const cachedPrefix = 4 * 1024

// cacheLife is how long a prefix is taken to stay cached after it was used.
// Providers keep it for five minutes at least.
const cacheLife = 4 * time.Minute

// warmth knows which prefixes providers have cached.
type warmth struct {
	mu   sync.Mutex
	used map[string]time.Time
}

// warm reports whether a prefix is cached, and notes that it is used again.
func (w *warmth) warm(prefix string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.used[prefix]
	if !ok || time.Since(last) > cacheLife {
		return false
	}
	w.used[prefix] = time.Now()
	return true
}

// heat notes that a prefix was just cached.
func (w *warmth) heat(prefix string) {
	const most = 64 // a run has few prefixes; one with many gains nothing from this
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used == nil || len(w.used) >= most {
		w.used = map[string]time.Time{}
	}
	w.used[prefix] = time.Now()
}
