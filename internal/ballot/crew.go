package ballot

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/model"
)

// attempt is a sample to be made.
type attempt struct {
	race *race
	n    int
	req  *model.Request
}

// crew runs attempts, each in a goroutine of its own. Goroutines are kept for
// the next attempt: a fresh one grows its stack again on every call, which
// costs more than everything else the engine does for a sample.
type crew struct {
	next    chan attempt // reaches a goroutine that waits for work
	quit    chan struct{}
	members *sync.WaitGroup
}

func newCrew() crew {
	return crew{next: make(chan attempt), quit: make(chan struct{}), members: new(sync.WaitGroup)}
}

// do starts an attempt and returns at once.
func (c *crew) do(a attempt) {
	select {
	case c.next <- a:
	default:
		c.members.Go(func() { c.work(a) })
	}
}

func (c *crew) work(a attempt) {
	for {
		a.race.arrived <- a.race.sample(a.race.ctx, a.n, a.req, time.Now())
		select {
		case a = <-c.next:
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

// pace knows how fast the model answers.
type pace struct{ quick atomic.Int32 } // answers in a row that took no time worth mentioning

const (
	// handover is about what it costs to have another goroutine do something
	// and to be told of it.
	handover = 30 * time.Microsecond

	// quickAnswers in a row make a model instant.
	quickAnswers = 32
)

// took notes how long an answer took.
func (p *pace) took(d time.Duration) {
	switch {
	case d > handover:
		p.quick.Store(0)
	case p.quick.Load() < quickAnswers:
		p.quick.Add(1)
	}
}

// instant reports whether waiting for an answer costs less than handing the
// question over.
func (p *pace) instant() bool { return p.quick.Load() >= quickAnswers }
