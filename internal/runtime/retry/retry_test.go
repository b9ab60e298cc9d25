package retry

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

// script answers with its errors in turn, then with text, and notes when it was
// asked.
type script struct {
	start  time.Time
	errs   []error
	always error
	at     []time.Duration
}

func (s *script) Generate(context.Context, *model.Request) (*model.Response, error) {
	s.at = append(s.at, time.Since(s.start))
	if n := len(s.at); n <= len(s.errs) {
		return nil, s.errs[n-1]
	}
	if s.always != nil {
		return nil, s.always
	}
	return shared, nil
}

var shared = &model.Response{Text: "ok"}

func half() float64 { return 0.5 }

func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		overloaded := &model.Error{Kind: model.Overloaded, Status: 529}
		limited := &model.Error{Kind: model.RateLimited, Status: 429, RetryAfter: 3 * time.Second}
		broken := fmt.Errorf("reading: %w", &model.Error{Kind: model.Transient})
		s := &script{start: time.Now(), errs: []error{overloaded, limited, broken, overloaded}}
		var told []model.Kind
		m := New(s, Options{
			BaseDelay: time.Second, MaxDelay: 3 * time.Second, Rand: half,
		})
		resp, err := m.Generate(t.Context(), &model.Request{OnFault: func(e *model.Error) bool { told = append(told, e.Kind); return true }})
		if err != nil || resp.Text != "ok" {
			t.Fatalf("Generate() = %v, %v, want ok", resp, err)
		}
		// Half of 1 s; 3 s and half of 2 s; half of 50 ms twice doubled; half of 3 s, the bound.
		want := []time.Duration{0, 500 * time.Millisecond, 4500 * time.Millisecond, 4600 * time.Millisecond, 6100 * time.Millisecond}
		if diff := cmp.Diff(want, s.at); diff != "" {
			t.Errorf("the times of the attempts differ (-want +got):\n%s", diff)
		}
		wantKinds := []model.Kind{model.Overloaded, model.RateLimited, model.Transient, model.Overloaded}
		if diff := cmp.Diff(wantKinds, told); diff != "" {
			t.Errorf("OnFault was told other kinds (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantKinds, kinds(resp.Faults)); diff != "" {
			t.Errorf("Faults differ (-want +got):\n%s", diff)
		}
		if shared.Faults != nil {
			t.Error("the model's own response was changed")
		}
	})
}

func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fault := &model.Error{Kind: model.Transient, Provider: "sim", Status: 500, Message: "oops"}
		s := &script{start: time.Now(), always: fault}
		_, err := New(s, Options{MaxAttempts: 3}).Generate(t.Context(), &model.Request{})
		e, ok := err.(*model.Error)
		if !ok || e.Message != "oops" || len(e.Faults) != 2 || len(s.at) != 3 {
			t.Errorf("Generate() = %+v after %d attempts, want the last fault of 3 with 2 before it", err, len(s.at))
		}
		if fault.Faults != nil {
			t.Error("the model's own error was changed")
		}
	})
}

func TestReturnsAtOnce(t *testing.T) {
	exhausted := errors.New("budget exhausted")
	for _, err := range []error{
		&model.Error{Kind: model.Invalid},
		&model.Error{Kind: model.Auth},
		&model.Error{Kind: model.TooLong},
		&model.Error{Kind: model.Refused},
		&model.Error{Kind: model.Cancelled},
		exhausted,
	} {
		s := &script{always: err}
		m := New(s, Options{})
		req := &model.Request{OnFault: func(e *model.Error) bool { t.Errorf("OnFault(%v) was called", e); return true }}
		if _, got := m.Generate(t.Context(), req); got != err || len(s.at) != 1 {
			t.Errorf("Generate() = %v after %d attempts, want %v after one", got, len(s.at), err)
		}
	}
}

func TestFinalErrorKeepsFaultsAndWrapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("bad key")
		auth := &model.Error{Kind: model.Auth, Err: cause}
		s := &script{errs: []error{&model.Error{Kind: model.Overloaded}, fmt.Errorf("login: %w", auth)}}
		_, err := New(s, Options{}).Generate(t.Context(), &model.Request{})
		e, ok := err.(*model.Error)
		if !ok || e.Kind != model.Auth || !errors.Is(err, cause) || !errors.Is(err, auth) {
			t.Fatalf("Generate() = %#v, want the error about the key", err)
		}
		if diff := cmp.Diff([]model.Kind{model.Overloaded}, kinds(e.Faults)); diff != "" {
			t.Errorf("Faults differ (-want +got):\n%s", diff)
		}
	})
}

func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{start: time.Now(), always: &model.Error{Kind: model.RateLimited, RetryAfter: time.Minute}}
		cause := errors.New("decided")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(7*time.Second, func() { cancel(cause) })
		_, err := New(s, Options{}).Generate(ctx, &model.Request{})
		if got, want := time.Since(s.start), 7*time.Second; got != want {
			t.Errorf("Generate() took %v, want %v", got, want)
		}
		e, ok := err.(*model.Error)
		if !ok || e.Kind != model.Cancelled || !errors.Is(err, cause) || len(e.Faults) != 1 {
			t.Errorf("Generate() = %+v, want cancelled because %v, after one fault", err, cause)
		}
	})
}

// A fault that arrives when the caller is gone is not retried.
func TestFaultAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	m := New(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		calls++
		cancel()
		return nil, &model.Error{Kind: model.Transient}
	}), Options{Rand: func() float64 { return 0 }})
	if _, err := m.Generate(ctx, &model.Request{}); model.KindOf(err) != model.Cancelled || calls != 1 {
		t.Errorf("Generate() = %v after %d calls, want cancelled after 1", err, calls)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{start: time.Now(), always: &model.Error{Kind: model.RateLimited, Status: 429, RetryAfter: 2 * time.Second}}
		m := New(s, Options{MaxAttempts: 1000})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		m.Generate(ctx, &model.Request{})
		if got, most := len(s.at), 30; got > most {
			t.Errorf("a server that asks for 2 s got %d requests in a minute, want at most %d", got, most)
		}
	})
}

func TestDelay(t *testing.T) {
	m := New(nil, Options{Rand: func() float64 { return 0.999 }}).(*retrier)
	const ms, us = time.Millisecond, time.Microsecond
	busy := &model.Error{Kind: model.Overloaded}
	asks := func(wait time.Duration) *model.Error { return &model.Error{Kind: model.RateLimited, RetryAfter: wait} }
	now := &model.Error{Kind: model.RateLimited, RetryNow: true}
	broken := &model.Error{Kind: model.Transient, Status: 500}
	tests := []struct {
		name    string
		latency time.Duration
		faults  int
		err     *model.Error
		want    time.Duration
	}{
		{"overloaded", 0, 1, busy, 499_500 * us},
		{"overloaded", 20 * ms, 2, busy, 999 * ms},
		{"overloaded", 0, 7, busy, 29_970 * ms},
		{"overloaded", 0, 1_000_000, busy, 29_970 * ms},
		{"asked for an hour", 0, 1, asks(time.Hour), 5*time.Minute + 499_500*us},
		{"asked for nonsense", 0, 1, asks(-time.Hour), 1499 * ms},
		{"did not ask", 20 * ms, 1, asks(0), 1499 * ms},
		{"did not ask", 20 * ms, 2, asks(0), 2498 * ms},
		{"asked for 0", 20 * ms, 1, now, 0},
		{"asked for 0", 20 * ms, 2, now, 19_980 * us},
		{"asked for 0", 20 * ms, 3, now, 39_960 * us},
		{"asked for 0", 20 * ms, 1000, now, 29_970 * ms},
		{"broken, latency not known", 0, 1, broken, 49_950 * us},
		{"broken", 20 * ms, 1, broken, 19_980 * us},
		{"broken", 20 * ms, 3, broken, 79_920 * us},
		{"broken, slow", time.Minute, 1, broken, 499_500 * us},
		{"usage that cannot be", 20 * ms, 1, &model.Error{Kind: model.BadUsage}, 19_980 * us},
		{"not there", 20 * ms, 1, &model.Error{Kind: model.Transient, NotSent: true}, 499_500 * us},
		{"timed out", 20 * ms, 1, &model.Error{Kind: model.Transient, TimedOut: true}, 499_500 * us},
	}
	for _, tt := range tests {
		m.latency.Store(int64(tt.latency))
		if got := m.delay(tt.faults, tt.err); got != tt.want {
			t.Errorf("%s: the wait after %d faults is %v with a latency of %v, want %v", tt.name, tt.faults, got, tt.latency, tt.want)
		}
	}
}

// TestLatency: answers are timed once something failed, and how long they take lately
// bounds the wait after what broke.
func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takes, fail := 10*time.Millisecond, false
		m := New(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
			time.Sleep(takes)
			if fail = !fail; fail {
				return nil, &model.Error{Kind: model.Transient, Status: 500}
			}
			return shared, nil
		}), Options{Rand: func() float64 { return 0.999999 }}).(*retrier)
		wait := func() time.Duration {
			begin := time.Now()
			m.Generate(t.Context(), &model.Request{})
			return (time.Since(begin) - 2*takes).Round(time.Millisecond)
		}
		got := []time.Duration{wait(), wait()}
		takes = 90 * time.Millisecond
		got = append(got, wait(), wait())
		want := []time.Duration{unknownLatency, 10 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the waits differ (-want +got):\n%s", diff)
		}
	})
}

func TestTimeout(t *testing.T) {
	// obedient returns the way a provider does when its context ends.
	obedient := model.Func(func(ctx context.Context, _ *model.Request) (*model.Response, error) {
		<-ctx.Done()
		return nil, &model.Error{Kind: model.Cancelled, Provider: "sim", Err: context.Cause(ctx)}
	})
	raw := model.Func(func(ctx context.Context, _ *model.Request) (*model.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	gone := errors.New("gone")
	tests := []struct {
		name    string
		model   model.Model
		after   time.Duration // when the caller ends it
		cause   error
		want    string
		wantIs  error // nil if it must not be the end of a context
		wantErr model.Kind
	}{
		{"expiry", obedient, time.Hour, gone, "sim: transient: no answer within 30s (--call-timeout)", nil, model.Transient},
		{"expiry, unclassified", raw, time.Hour, gone, "transient: no answer within 30s (--call-timeout)", nil, model.Transient},
		{"caller cancels", obedient, time.Second, gone, "sim: cancelled: gone", gone, model.Cancelled},
		{"caller cancels, unclassified", raw, time.Second, gone, "context canceled", context.Canceled, model.Cancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				stop := time.AfterFunc(tt.after, func() { cancel(tt.cause) })
				defer stop.Stop()
				_, err := Timeout(tt.model, 30*time.Second).Generate(ctx, &model.Request{})
				if err == nil || err.Error() != tt.want || model.KindOf(err) != tt.wantErr {
					t.Errorf("Generate() = %v (%s), want %s (%s)", err, model.KindOf(err), tt.want, tt.wantErr)
				}
				if tt.wantIs == nil && errors.Is(err, context.DeadlineExceeded) || tt.wantIs != nil && !errors.Is(err, tt.wantIs) {
					t.Errorf("Generate() = %#v, want that it is %v", err, tt.wantIs)
				}
			})
		})
	}
	t.Run("deadline of the caller", func(t *testing.T) {
		for _, m := range []model.Model{obedient, raw} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := Timeout(m, 30*time.Second).Generate(ctx, &model.Request{})
				if model.KindOf(err) != model.Cancelled || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Generate() = %v, want cancelled by the deadline", err)
				}
			})
		}
	})
	t.Run("other errors pass", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			exhausted := errors.New("budget exhausted")
			for _, want := range []error{exhausted, &model.Error{Kind: model.RateLimited}} {
				late := model.Func(func(ctx context.Context, _ *model.Request) (*model.Response, error) {
					<-ctx.Done()
					return nil, want
				})
				if _, err := Timeout(late, time.Second).Generate(t.Context(), &model.Request{}); err != want {
					t.Errorf("Generate() = %v, want %v", err, want)
				}
			}
		})
	})
	t.Run("none", func(t *testing.T) {
		s := &script{}
		if got := Timeout(s, 0); got != model.Model(s) {
			t.Errorf("Timeout(m, 0) = %v, want m", got)
		}
	})
}

// TestTimeoutsOfCallsInARow: a call has all of its time, whether the one before it waited or
// not, and ends with its own caller.
func TestTimeoutsOfCallsInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var takes time.Duration
		m := Timeout(model.Func(func(ctx context.Context, _ *model.Request) (*model.Response, error) {
			if takes == 0 {
				return shared, ctx.Err()
			}
			select {
			case <-time.After(takes):
				return shared, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}), 30*time.Second)
		for _, takes = range []time.Duration{0, 20 * time.Second, 0, 0, 20 * time.Second, 20 * time.Second} {
			if _, err := m.Generate(t.Context(), &model.Request{}); err != nil {
				t.Errorf("Generate() = %v for an answer that takes %s", err, takes)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for _, takes = range []time.Duration{0, time.Second} {
			if _, err := m.Generate(ended, &model.Request{}); !errors.Is(err, context.Canceled) {
				t.Errorf("Generate() = %v for a caller that is gone", err)
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	m := New(model.Func(func(context.Context, *model.Request) (*model.Response, error) { return shared, nil }), Options{})
	m = Timeout(m, time.Minute)
	ctx, req := t.Context(), &model.Request{}
	if got := testing.AllocsPerRun(1000, func() { m.Generate(ctx, req) }); got != 0 {
		t.Errorf("Generate allocates %g times, want 0", got)
	}
}

func kinds(errs []*model.Error) []model.Kind {
	var k []model.Kind
	for _, e := range errs {
		k = append(k, e.Kind)
	}
	return k
}
