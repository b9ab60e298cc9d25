package limiter

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/model"
)

// batch answers several times at once, after a second.
type batch struct {
	err  error
	most int // calls at once
	now  int
	mu   sync.Mutex
}

func (b *batch) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	list, err := b.GenerateN(ctx, req, 1)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (b *batch) GenerateN(_ context.Context, _ *model.Request, n int) ([]*model.Response, error) {
	b.mu.Lock()
	b.now++
	b.most = max(b.most, b.now)
	b.mu.Unlock()
	time.Sleep(time.Second)
	b.mu.Lock()
	b.now--
	b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	list := make([]*model.Response, n)
	for i := range list {
		list[i] = response
	}
	return list, nil
}

// TestBatches: a call for several answers takes one place, waits for it like any other,
// and tells as much about the provider.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &batch{}
		l := New(Options{Start: 2, Max: 2, Rand: half})
		m, ok := model.AsBatcher(l.Wrap(b))
		if !ok {
			t.Fatal("a limited batcher is none")
		}
		var wg sync.WaitGroup
		start := time.Now()
		for range 6 {
			wg.Go(func() {
				if list, err := m.GenerateN(t.Context(), request, 5); err != nil || len(list) != 5 {
					t.Errorf("GenerateN() = %v, %v, want 5 answers", list, err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); b.most != 2 || took != 3*time.Second {
			t.Errorf("6 calls took %v, %d at once, want 3s and 2", took, b.most)
		}
		b.err = transient
		for range FailuresToOpen {
			if list, err := m.GenerateN(t.Context(), request, 5); err != error(transient) {
				t.Errorf("GenerateN() = %v, %v, want %v", list, err, transient)
			}
		}
		if s := l.State(); !s.Open || s.InFlight != 0 {
			t.Errorf("State() = %+v after %d failures, want open and idle", s, FailuresToOpen)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if list, err := m.GenerateN(ended, request, 5); model.KindOf(err) != model.Cancelled {
			t.Errorf("GenerateN(ended context) = %v, %v, want cancelled", list, err)
		}
	})
}

// TestCutsKeepTheirDistance: refusals that follow each other within half a second cut
// the limit once.
func TestCutsKeepTheirDistance(t *testing.T) {
	for apart, want := range map[time.Duration]int{
		0:                                   16,
		time.Millisecond:                    16,
		minCutInterval - time.Nanosecond:    16,
		500 * time.Millisecond:              8,
		10*time.Second + 3*time.Microsecond: 8,
	} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Start: 32})
			for range 2 {
				l.release(mustAcquire(t, l), &model.Error{Kind: model.RateLimited})
				time.Sleep(apart)
			}
			if got := l.State().Limit; got != want {
				t.Errorf("Limit = %d after two refusals %v apart, want %d", got, apart, want)
			}
		})
	}
}
