package ballot

import (
	"time"

	"github.com/maker-mdap/maker/internal/runtime/limiter"
	"github.com/maker-mdap/maker/model"
)

// mayRetry counts a failed attempt and says whether the question bears another.
func (r *race) mayRetry(e *model.Error) bool {
	r.lastFault.Store(e)
	if r.gauge != nil {
		r.gauge.Retried.Add(1)
	}
	failed := r.attempts.Add(1)
	if e.Kind == model.RateLimited && r.isBusy() {
		r.excused.Add(1)
	}
	return failed-r.excused.Load() < r.bears(e)
}

// busyFor is how long a provider may refuse everything, for want of room, before that is taken for
// a fault of it.
const busyFor = 5 * time.Minute

// isBusy reports whether a provider that refuses a call for want of room is busy, and not out of
// order: it has answered something lately.
func (r *race) isBusy() bool {
	waited := int64(time.Since(r.started))
	if now := r.ballot.answers.Load(); r.answered.Swap(now) != now {
		r.heard.Store(waited)
		return true
	}
	return waited-r.heard.Load() < int64(busyFor)
}

// tooMany reports whether the question bears no further faults after the last one.
func (r *race) tooMany(last *model.Error) bool {
	return max(int64(r.faults), r.attempts.Load())-r.excused.Load() >= r.bears(last)
}

// What is asked of a server that never answered anything: it is more likely not there, or
// not what it is taken for, than out of order for a while. One that can be reached is
// tried until its circuit is open and some probes have failed, which takes some seconds. One
// that is busy is not meant: it may still be loading its model.
const (
	patience        = 10
	patienceIfThere = limiter.FailuresToOpen + 3
)

// bears is how many failed attempts the question bears, of which e is the last.
func (r *race) bears(e *model.Error) int64 {
	switch {
	case r.absent(e):
		return min(r.maxFaults, patience)
	case r.neverAnswered(e):
		return min(r.maxFaults, patienceIfThere)
	}
	return r.maxFaults
}

func (r *race) absent(e *model.Error) bool { return e.NotSent && r.neverAnswered(e) }

// neverAnswered reports whether what failed with e did so for everybody so far.
func (r *race) neverAnswered(e *model.Error) bool {
	return e.Kind == model.Transient && r.ballot.answers.Load() == 0
}
