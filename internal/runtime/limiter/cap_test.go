package limiter

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

// busiest answers in a second and notes how many calls were in flight at most.
type busiest struct{ now, most atomic.Int64 }

func (b *busiest) Generate(context.Context, *model.Request) (*model.Response, error) {
	defer b.now.Add(-1)
	if n := b.now.Add(1); n > b.most.Load() {
		b.most.Store(n)
	}
	time.Sleep(time.Second)
	return response, nil
}

// TestCap: the lowest of the caps that are in force holds, or what all leases have, and the limit neither grows
// beyond it nor is forgotten under it.
func TestCap(t *testing.T) {
	tests := []struct {
		name         string
		start        int
		caps, leases []int
		want         int64 // in flight at most, of 40 callers for 20 s
	}{
		{"none", 4, nil, nil, 40},
		{"zero is none", 4, []int{0}, []int{0}, 40},
		{"below the start", 16, []int{2}, nil, 2},
		{"above the start", 4, []int{7}, nil, 7},
		{"the lowest of two", 16, []int{5, 3}, nil, 3},
		{"above what there is to do", 4, []int{1000}, nil, 40},
		{"leases add up", 16, nil, []int{5, 3}, 8},
		{"a cap below the leases", 16, []int{6}, []int{5, 3}, 6},
		{"leases below a cap", 16, []int{9}, []int{5, 3}, 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(Options{Start: tt.start})
				for _, n := range tt.caps {
					defer l.Cap(n)()
				}
				for _, n := range tt.leases {
					defer l.Lease(n)()
				}
				b := &busiest{}
				load(t, l.Wrap(b), 40, 20*time.Second+time.Millisecond)
				if got := b.most.Load(); got != tt.want {
					t.Errorf("%d calls were in flight with caps %v and leases %v, want %d", got, tt.caps, tt.leases, tt.want)
				}
			})
		})
	}
}

// TestCapEnds: calls that a cap held back start when it is lifted, and lifting it twice
// lifts no other.
func TestCapEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: 8})
		low, high := l.Cap(1), l.Cap(3)
		m := l.Wrap(&busiest{})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { m.Generate(t.Context(), request) })
		}
		var got []int
		look := func() {
			synctest.Wait()
			got = append(got, l.State().InFlight, l.State().Limit)
		}
		look()
		low()
		low()
		look()
		high()
		look()
		wg.Wait()
		if diff := cmp.Diff([]int{1, 1, 3, 3, 8, 8}, got); diff != "" {
			t.Errorf("calls in flight and limits differ (-want +got):\n%s", diff)
		}
	})
}

// queue is a server with some slots: a call that finds none free waits, and its time goes
// on. A caller that gives up leaves the queue.
type queue struct {
	slots  chan struct{}
	served atomic.Int64
}

func (q *queue) Generate(ctx context.Context, _ *model.Request) (*model.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	late := &model.Error{Kind: model.Transient, TimedOut: true, Message: "no answer"}
	select {
	case q.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, late
	}
	defer func() { <-q.slots }()
	select {
	case <-time.After(4 * time.Second):
		q.served.Add(1)
		return response, nil
	case <-ctx.Done():
		return nil, late
	}
}

// TestTimeoutsLowerTheLimit: a server whose queue is longer than a call may wait is given
// fewer calls, as after a 429.
func TestTimeoutsLowerTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &transcript{start: time.Now()}
		l := New(Options{Start: 8, OnChange: tr.add, Rand: half})
		q := &queue{slots: make(chan struct{}, 1)}
		load(t, l.Wrap(q), 8, 22*time.Second)
		// Two of eight are served within 10 s, and two of the four that then may start.
		tr.check(t, `
10s: limit 4, transient: no answer
20s: limit 2, transient: no answer`)
	})
}

// TestOtherFailuresDoNot: what breaks says nothing about how much is too much.
func TestOtherFailuresDoNot(t *testing.T) {
	l := New(Options{Start: 8})
	m := l.Wrap(model.Func(func(context.Context, *model.Request) (*model.Response, error) { return nil, transient }))
	m.Generate(t.Context(), request)
	if got := l.State().Limit; got != 8 {
		t.Errorf("Limit = %d after a broken call, want 8", got)
	}
}
