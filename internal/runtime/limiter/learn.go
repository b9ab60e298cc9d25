package limiter

import (
	"errors"
	"time"

	"github.com/maker-mdap/maker/model"
)

// learn draws the conclusions from the outcome of one call, which still holds
// its place.
func (l *Limiter) learn(t token, err error) {
	if err == nil {
		l.alive()
		l.taken()
		l.grow(t)
		return
	}
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		return // such as an exhausted budget: the provider was not asked
	}
	switch e.Kind {
	case model.RateLimited, model.Overloaded, model.Transient:
		l.failed(t, e)
	case model.Cancelled:
		// The caller gave up, which says nothing about the provider.
	default:
		l.alive() // it read the request and answered, if only with a no
	}
}

// alive notes that the provider answered.
func (l *Limiter) alive() {
	l.failures = 0
	l.lastError = nil
	l.open = false
}

// taken notes that a call was not refused.
func (l *Limiter) taken() {
	l.rest = 0
	if l.refused > 0 {
		if l.refused -= l.refused / memory; l.refused < 1e-3 {
			l.refused = 0
		}
	}
}

// refusing reports whether the provider refuses most calls.
func (l *Limiter) refusing() bool { return l.refused > 0.5 }

// grow raises the limit if it is what holds callers back.
func (l *Limiter) grow(t token) {
	if t.cuts != l.cuts || l.inFlight < l.limit || !l.waiters.asked() {
		return // also under a cap, which then is what holds them back
	}
	l.credit++
	if quick := l.quick(t); (quick || l.credit >= l.limit) && l.limit < l.options.Max {
		l.limit++
		l.credit = 0
	}
}

// quick reports whether a call to a provider that never had too much, and was never down,
// took at most twice as long as calls at the start did on average.
func (l *Limiter) quick(t token) bool {
	if l.cuts > 0 || l.outages > 0 || t.started.IsZero() {
		return false
	}
	took := time.Since(t.started)
	if l.timed < l.options.Start {
		l.timed++
		l.inAll += took
		return false
	}
	return took <= 2*l.inAll/time.Duration(l.timed)
}

// failed notes a failure that may pass.
func (l *Limiter) failed(t token, e *model.Error) {
	now := time.Now()
	l.lastError = e
	if e.RetryAfter > 0 {
		if until := now.Add(min(e.RetryAfter, MaxPause)); until.After(l.pausedUntil) {
			l.pausedUntil = until
		}
	}
	if tooMuch(e) {
		l.cut(t, e, now)
	}
	switch {
	case t.outages != l.outages:
		// The call is older than the outage and tells nothing new.
	case l.open && t.probe:
		l.interval = min(2*l.interval, LastProbe)
		l.planProbe(now)
	case !l.open && e.Kind != model.RateLimited:
		l.failures++
		if l.failures >= FailuresToOpen {
			l.openCircuit(now)
		}
	}
}

// cut lowers the limit, as a call that was too much suggests.
func (l *Limiter) cut(t token, e *model.Error, now time.Time) {
	l.credit = 0
	if !e.TimedOut {
		l.refused += (1 - l.refused) / memory
		l.quota.call, l.quota.left, l.quota.at = l.calls, 0, now // whatever it said before
		if !e.RetryNow && e.RetryAfter <= 0 {
			l.calmAfter = now.Add(quietAfter)
		}
	}
	if t.cuts != l.cuts || now.Sub(l.lastCut) < minCutInterval {
		return
	}
	l.cuts++
	l.lastCut = now
	least := l.options.Min
	switch {
	case e.TimedOut || l.refusing():
	case e.RetryNow:
		least = l.limit
	default:
		least = min(l.limit, max(least, fewAtOnce))
	}
	l.limit = max(l.allowed()/2, least)
	if l.refusing() && e.Kind == model.RateLimited && e.RetryAfter <= 0 {
		l.rest = min(max(2*l.rest, FirstProbe), LastProbe)
		l.pausedUntil = l.spread(l.rest, now)
	}
}

// tooMuch reports whether fewer calls might not have failed: the provider says so, or
// the call got no answer in time.
func tooMuch(e *model.Error) bool { return e.Kind != model.Transient || e.TimedOut }

// openCircuit stops new calls. When the provider is back, it is treated as
// gently as at the start.
func (l *Limiter) openCircuit(now time.Time) {
	l.open = true
	l.outages++
	l.probing = false
	l.limit = min(l.limit, l.options.Start)
	l.credit = 0
	l.interval = FirstProbe
	l.planProbe(now)
	l.waiters.leave()
}

// planProbe sets the time of the next probe.
func (l *Limiter) planProbe(now time.Time) { l.nextProbe = l.spread(l.interval, now) }

// spread is a time from now: half of d, and a random part of the other half.
func (l *Limiter) spread(d time.Duration, now time.Time) time.Time {
	half := d / 2
	return now.Add(half + time.Duration(l.options.Rand()*float64(half)))
}
