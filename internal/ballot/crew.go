package ballot

import (
	"context"
	"sync"

	"github.com/maker-mdap/maker/model"
)

// attempt is a sample to be made.
type attempt struct {
	race *race
	ctx  context.Context // of the race
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
		a.race.arrived <- a.race.sample(a.ctx, a.n, a.req)
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
