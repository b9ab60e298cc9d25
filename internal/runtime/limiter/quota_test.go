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

// bucket is a provider that takes so many calls at once and one more every so often, and
// says so.
type bucket struct {
	size  float64
	every time.Duration

	mu      sync.Mutex
	level   float64
	filled  time.Time
	refused atomic.Int64
	served  atomic.Int64
}

func (b *bucket) take() (left int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.level = min(b.level+float64(now.Sub(b.filled))/float64(b.every), b.size)
	b.filled = now
	if ok = b.level >= 1-1e-9; ok {
		b.level--
	}
	return int(max(b.level, 0)), ok
}

func (b *bucket) Generate(context.Context, *model.Request) (*model.Response, error) {
	left, ok := b.take()
	if !ok {
		b.refused.Add(1)
		time.Sleep(10 * time.Millisecond)
		return nil, &model.Error{Kind: model.RateLimited, RetryAfter: b.every}
	}
	time.Sleep(time.Duration(100+b.served.Add(1)%7*50) * time.Millisecond)
	return &model.Response{Quota: &model.Quota{Left: left, Every: b.every}}, nil
}

// TestQuota: a provider that says what is left is not asked for more, and gets all that it
// takes.
func TestQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Start: 8, Rand: half})
		b := &bucket{size: 40, every: 100 * time.Millisecond, level: 40, filled: time.Now()}
		load(t, l.Wrap(b), 30, time.Minute)
		t.Logf("%d calls were served and %d refused", b.served.Load(), b.refused.Load())
		// Calls that start at about the same time may overtake each other. Without the
		// quota about 500 are refused.
		if got := b.refused.Load(); got > 5 {
			t.Errorf("%d calls were refused, want few: it said how many it takes", got)
		}
		if got := b.served.Load(); got < 600 {
			t.Errorf("%d calls were served, want nearly 640", got)
		}
		if l.Calm() {
			t.Error("a provider that takes no more calls is calm")
		}
		time.Sleep(10 * time.Second)
		if !l.Calm() {
			t.Error("a provider that takes calls again is not calm")
		}
	})
}

// TestOldQuota: of answers that overtake each other the one to the latest call counts, and
// calls that were started after it are taken off.
func TestOldQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		begin := time.Now()
		first, second := mustAcquire(t, l), mustAcquire(t, l)
		mustAcquire(t, l)
		l.told(second, &model.Quota{Left: 2, Every: time.Second})
		l.told(first, &model.Quota{Left: 1000, Every: time.Second})
		var at []time.Duration
		for range 3 {
			mustAcquire(t, l)
			at = append(at, time.Since(begin))
		}
		if diff := cmp.Diff([]time.Duration{0, time.Second, 2 * time.Second}, at); diff != "" {
			t.Errorf("the times of the calls differ (-want +got):\n%s", diff)
		}
		last := mustAcquire(t, l)
		l.told(last, &model.Quota{Left: 1000, Every: time.Second})
		now := time.Now()
		mustAcquire(t, l)
		mustAcquire(t, l)
		if took := time.Since(now); took != 0 {
			t.Errorf("calls wait for %v where many are left", took)
		}
		l.told(mustAcquire(t, l), &model.Quota{Left: 0, Every: time.Hour})
		if got := time.Until(l.State().Until); got != MaxPause {
			t.Errorf("the next call is %v away, want %v at most", got, MaxPause)
		}
	})
}
