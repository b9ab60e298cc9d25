package local

import (
	"context"
	"slices"
	"sync"
)

// A gate lets votes begin as soon as servers can take their samples, and not before: a vote
// that waits in a queue gains nothing, has the margins of when it began, and what was paid
// for it is lost with the process.
type gate struct {
	mu    sync.Mutex
	load  int     // samples that the votes inside still need if their voters agree
	queue []*pass // those that go first, and the others, in the order in which they came
}

// A pass is the right of a vote to go on.
type pass struct {
	width func() int // how many calls servers take at once
	need  func() int // samples that the vote takes at least
	first bool       // it ends what has begun: others are waiting to learn from it
	given chan struct{}
	left  int // of these samples; the last stays until the vote ends
}

// ahead is how many samples may be wanted for each call that servers take: some wait, so
// that it shows if servers take more.
const ahead = 2

// enter waits for a pass.
func (g *gate) enter(ctx context.Context, p *pass) error {
	g.mu.Lock()
	p.given = make(chan struct{})
	i := len(g.queue)
	if others := slices.IndexFunc(g.queue, func(other *pass) bool { return !other.first }); p.first && others >= 0 {
		i = others
	}
	g.queue = slices.Insert(g.queue, i, p)
	g.admit()
	g.mu.Unlock()
	select {
	case <-p.given:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.queue, p); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	} else {
		g.lower(p, 0) // it came at the same moment
	}
	return context.Cause(ctx)
}

// admit lets in those for whom there is room.
func (g *gate) admit() {
	for len(g.queue) > 0 && (g.load == 0 || g.load < ahead*g.queue[0].width()) {
		p := g.queue[0]
		g.queue = slices.Delete(g.queue, 0, 1)
		p.left = p.need()
		g.load += p.left
		close(p.given)
	}
}

// lower says that a vote needs no more than so many samples.
func (g *gate) lower(p *pass, to int) {
	if p.left > to {
		g.load -= p.left - to
		p.left = to
		g.admit()
	}
}

// sampled notes that a sample of a vote has come.
func (g *gate) sampled(p *pass) {
	if p == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lower(p, max(1, p.left-1))
}

// leave ends a vote, or lets others pass it by while it waits for them.
func (g *gate) leave(p *pass) {
	if p == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lower(p, 0)
}
