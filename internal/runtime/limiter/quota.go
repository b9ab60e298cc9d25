package limiter

import (
	"time"

	"github.com/maker-mdap/maker/model"
)

// quota is what a provider said last that it still takes.
type quota struct {
	call  uint64        // the number of the call with whose answer it said so
	at    time.Time     // when
	left  int           // calls after that one
	every time.Duration // one more is added; 0 if there is no end of them
}

// plenty is how many times as many calls as may be in flight are no reason to count.
const plenty = 4

// told takes note of what a provider said with the answer to a call, if that is newer than
// what is known.
func (l *Limiter) told(t token, said *model.Quota) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.n < l.quota.call {
		return
	}
	now := time.Now()
	if l.quota.every > 0 {
		// Calls in flight may have overtaken each other, so that what was left for this one
		// was more than what is left after all of them.
		more := float64(said.Left) - float64(l.calls-t.n) - l.quota.now(l.calls, now)
		if more >= 0 && more <= float64(l.inFlight) {
			return
		}
	}
	l.quota = quota{call: t.n}
	if said.Every > 0 && said.Left < plenty*l.allowed() {
		l.quota = quota{t.n, now, max(said.Left, 0), min(said.Every, MaxPause)}
	}
}

// now is how many calls are left after so many in all.
func (q *quota) now(calls uint64, now time.Time) float64 {
	return float64(q.left) - float64(calls-q.call) + float64(now.Sub(q.at))/float64(q.every)
}

// start is when the n-th call may start, or zero if the provider takes it anyway. It took
// those into account that had been started before the one that it answered.
func (q *quota) start(n uint64) time.Time {
	if q.every == 0 {
		return time.Time{}
	}
	missing := int(n-q.call) - q.left
	if missing <= 0 {
		return time.Time{}
	}
	return q.at.Add(min(time.Duration(missing)*q.every, MaxPause))
}
