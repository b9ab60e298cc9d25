package ballot

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/maker-mdap/maker/internal/runtime/limiter"
	"github.com/maker-mdap/maker/model"
)

// A detour finds another voter for a sample whose voter would have to be waited for.
type detour struct {
	race  *race
	voter int          // who is asked
	next  atomic.Int32 // who is to be asked instead, from 1; 0 if nobody is
}

// withDetour returns a request that ends when another voter can be asked instead.
func (a *attempt) withDetour(req *model.Request) (*model.Request, *detour) {
	d := &detour{race: a.race, voter: a.voter}
	own := *req
	own.OnFault = d.mayRetry
	return &own, d
}

// mayRetry says whether to wait and ask again, as that of the race does, but for where
// another voter is free.
func (d *detour) mayRetry(e *model.Error) bool {
	if !errors.Is(e, limiter.ErrFailing) && !d.race.mayRetry(e) { // it was not even sent
		return false
	}
	refused := (e.Kind == model.RateLimited || e.Kind == model.Overloaded) && !e.RetryNow
	if !refused && !d.race.blocked(d.voter) {
		return true
	}
	other, ok := d.race.instead(d.voter)
	if ok {
		d.next.Store(int32(other) + 1)
	}
	return !ok
}

// taken reports whether a sample that ended as s goes on with another voter, whom it
// notes. The sample keeps its number.
func (d *detour) taken(a *attempt, s *Sample) bool {
	next := int(d.next.Load())
	if next == 0 || s.Err == nil || s.Flag != nil {
		return false
	}
	a.voter = next - 1
	return true
}

// blocked reports whether a voter has to be waited for.
func (r *race) blocked(voter int) bool {
	l := r.voters[voter].Limiter
	return l != nil && l.Blocked()
}

// instead is a voter who is asked in place of another that has to be waited for: one who is
// free or, if that other is out of order, one who is at work.
func (r *race) instead(of int) (int, bool) {
	if v, ok := r.free(of); ok {
		return v, true
	}
	if l := r.voters[of].Limiter; l == nil || !l.Failing() {
		return 0, false
	}
	for i := 1; i < len(r.voters); i++ {
		if v := (of + i) % len(r.voters); r.voters[v].Limiter != nil && !r.blocked(v) {
			return v, true
		}
	}
	return 0, false
}

// free is a voter who can be asked at once in place of another, the next one in turn.
func (r *race) free(instead int) (int, bool) {
	for i := 1; i < len(r.voters); i++ {
		v := (instead + i) % len(r.voters)
		if l := r.voters[v].Limiter; l != nil && l.Free() {
			return v, true
		}
	}
	return 0, false
}

// failedBefore adds what failed before the sample ended as it did.
func (s *Sample) failedBefore(faults []*model.Error) {
	switch {
	case len(faults) == 0:
	case s.Err != nil:
		e := *s.Err
		e.Faults = slices.Concat(faults, e.Faults)
		s.Err = &e
	case s.Response != nil:
		r := *s.Response
		r.Faults = slices.Concat(faults, r.Faults)
		s.Response = &r
	}
}
