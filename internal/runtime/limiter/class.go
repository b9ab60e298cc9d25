package limiter

import (
	"container/list"
	"context"
	"errors"
	"sync/atomic"
)

// A Class says what a call is for, and so who goes first where calls wait.
type Class int32

// The classes, those that matter most first.
const (
	Asked  Class = iota // a vote on what was asked, which the run waits for
	Hedge               // the same once more, because the first takes long
	Likely              // a vote on a guess for which there are several votes
	Thin                // a vote on a guess for which there is one

	classes = iota
)

// A Rank is the class of some calls, which may change while they wait: a guess may come
// to be asked. The zero value is [Asked].
type Rank struct{ class atomic.Int32 }

// Set changes the class. A call that waits already gets its new place when a place
// becomes free, behind those that waited there before.
func (r *Rank) Set(c Class) { r.class.Store(int32(c)) }

// Class returns the class.
func (r *Rank) Class() Class { return Class(r.class.Load()) }

type rankKey struct{}

// WithRank returns a context whose calls are of a rank. Calls of a context without one
// were asked.
func WithRank(ctx context.Context, r *Rank) context.Context {
	return context.WithValue(ctx, rankKey{}, r)
}

// WithClass is [WithRank] for calls whose class does not change.
func WithClass(ctx context.Context, c Class) context.Context {
	r := new(Rank)
	r.Set(c)
	return WithRank(ctx, r)
}

type leaveKey struct{}

// MayLeave returns a context whose calls do not wait for a provider that turns out to be
// failing: they end with [ErrFailing], because somebody else can be asked.
func MayLeave(ctx context.Context) context.Context { return context.WithValue(ctx, leaveKey{}, true) }

// ErrFailing is why a call was not made that had not to be waited for.
var ErrFailing = errors.New("limiter: the provider is failing")

// A waiter is a call that has no place yet.
type waiter struct {
	granted chan token    // room for one
	left    chan struct{} // closed when it waits no more; nil if it does in any case
	rank    *Rank         // nil if it was asked
	class   Class         // of the line in which it stands,
	place   *list.Element
}

func newWaiter(ctx context.Context) *waiter {
	w := &waiter{granted: make(chan token, 1)}
	w.rank, _ = ctx.Value(rankKey{}).(*Rank)
	if ctx.Value(leaveKey{}) != nil {
		w.left = make(chan struct{})
	}
	return w
}

// now is the class that the waiter has at present.
func (w *waiter) now() Class {
	if w.rank == nil {
		return Asked
	}
	return w.rank.Class()
}

// waiting is those who wait, a line of them for each class.
type waiting struct {
	lines [classes]list.List
	n     int // in all
}

func (q *waiting) push(w *waiter) {
	w.class = w.now()
	w.place = q.lines[w.class].PushBack(w)
	q.n++
}

func (q *waiting) remove(w *waiter) {
	q.lines[w.class].Remove(w.place)
	q.n--
}

// pop takes the waiter whose turn it is; there must be one.
func (q *waiting) pop() *waiter {
	q.sort()
	for i := range q.lines {
		if first := q.lines[i].Front(); first != nil {
			w := first.Value.(*waiter)
			q.remove(w)
			return w
		}
	}
	panic("limiter: nobody waits")
}

// leave ends the waiting of those who may leave.
func (q *waiting) leave() {
	for i := range q.lines {
		for at := q.lines[i].Front(); at != nil; {
			w := at.Value.(*waiter)
			if at = at.Next(); w.left != nil {
				q.remove(w)
				close(w.left)
			}
		}
	}
}

// asked reports whether a call waits that was asked.
func (q *waiting) asked() bool {
	if q.n == 0 {
		return false
	}
	q.sort()
	return q.lines[Asked].Len() > 0
}

// sort has waiters change the line whose class has changed. Those that were asked stay
// so: there may be many.
func (q *waiting) sort() {
	for i := int(Asked) + 1; i < classes; i++ {
		for at := q.lines[i].Front(); at != nil; {
			w := at.Value.(*waiter)
			if at = at.Next(); w.now() != w.class {
				q.remove(w)
				q.push(w)
			}
		}
	}
}
