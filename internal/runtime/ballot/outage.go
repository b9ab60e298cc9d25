package ballot

import (
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
	if e.Kind == model.RateLimited {
		// A provider that answers others in between is busy, and not out of order.
		if now := r.ballot.answers.Load(); r.answered.Swap(now) != now {
			r.excused.Add(1)
		}
	}
	return failed-r.excused.Load() < r.bears(e)
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
