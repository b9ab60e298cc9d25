package ballot

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/runtime/limiter"
	"github.com/maker-mdap/maker/internal/runtime/retry"
	"github.com/maker-mdap/maker/model"
)

// server is a voter behind a limiter, as in a run. It answers in a tenth of a second with
// what fail returns, if that is an error.
type server struct {
	calls atomic.Int64
	fail  func(call int64) *model.Error
}

func (s *server) Generate(ctx context.Context, _ *model.Request) (*model.Response, error) {
	n := s.calls.Add(1)
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return nil, &model.Error{Kind: model.Cancelled, Err: ctx.Err()}
	}
	if e := s.fail(n); e != nil {
		return nil, e
	}
	return &model.Response{Text: "x", Stop: model.StopEnd}, nil
}

func (s *server) voter(name string) Voter {
	l := limiter.New(limiter.Options{})
	return Voter{Name: name, Limiter: l, Model: retry.New(l.Wrap(s), retry.Options{})}
}

func always(e *model.Error) func(int64) *model.Error {
	return func(int64) *model.Error { return e }
}

// TestAnotherVoterIsAsked: a sample does not wait for a voter who has too much to do, or is
// out of order, where another one is free; the log says who answered.
func TestAnotherVoterIsAsked(t *testing.T) {
	limited := func(wait time.Duration) *model.Error {
		return &model.Error{Kind: model.RateLimited, Status: 429, RetryAfter: wait}
	}
	broken := &model.Error{Kind: model.Transient, Status: 500}
	well := always(nil)
	tests := []struct {
		name   string
		a, b   func(call int64) *model.Error
		voters []string // who answered the three samples, in order
		most   time.Duration
		calls  [2]int64 // of a and b, at most
		faults int      // at least
	}{
		{"nothing fails", well, well, []string{"a", "a", "b"}, 100 * time.Millisecond, [2]int64{2, 1}, 0},
		{"one asks for a minute", always(limited(time.Minute)), well, []string{"b", "b", "b"}, 300 * time.Millisecond, [2]int64{2, 3}, 2},
		{"one asks for nothing", always(limited(0)), well, []string{"b", "b", "b"}, 300 * time.Millisecond, [2]int64{2, 3}, 2},
		{"one is overloaded", always(&model.Error{Kind: model.Overloaded, Status: 529}), well, []string{"b", "b", "b"}, 300 * time.Millisecond, [2]int64{2, 3}, 2},
		{
			"one says that there is no need to wait",
			func(call int64) *model.Error {
				if call > 2 {
					return nil
				}
				return &model.Error{Kind: model.RateLimited, RetryNow: true}
			}, well, []string{"a", "a", "b"}, 300 * time.Millisecond, [2]int64{4, 1}, 2,
		},
		{"one is down", always(broken), well, []string{"b", "b", "b"}, 5 * time.Second, [2]int64{12, 3}, 10},
		{
			"both ask for a second", func(call int64) *model.Error {
				if call > 2 {
					return nil
				}
				return limited(time.Second)
			}, func(call int64) *model.Error {
				if call > 1 {
					return nil
				}
				return limited(time.Second)
			}, nil, 5 * time.Second, [2]int64{5, 5}, 3,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := &server{fail: tt.a}, &server{fail: tt.b}
				ballot := New([]Voter{a.voter("a"), b.voter("b")}, readers, nil)
				defer ballot.Close()
				begin := time.Now()
				var voters []string
				v, err := ballot.Decide(t.Context(), question(firstToK(3, 30)), Watch{Sample: func(s *Sample) {
					if s.Err == nil {
						voters = append(voters, s.Voter)
					}
				}})
				took := time.Since(begin)
				if err != nil || string(v.Answer) != `"x"` || took > tt.most {
					t.Fatalf("Decide() = %+v, %v after %v, want x within %v", v, err, took, tt.most)
				}
				if slices.Sort(voters); tt.voters != nil && !slices.Equal(voters, tt.voters) {
					t.Errorf("the samples are of %v, want %v", voters, tt.voters)
				}
				if got := [2]int64{a.calls.Load(), b.calls.Load()}; got[0] > tt.calls[0] || got[1] > tt.calls[1] {
					t.Errorf("the voters got %v calls, want %v at most", got, tt.calls)
				}
				if v.Voting.Faults < tt.faults {
					t.Errorf("the verdict has %d faults, want %d at least", v.Voting.Faults, tt.faults)
				}
				want, got := map[string]int{}, map[string]int{}
				for _, name := range voters {
					want[name]++
				}
				for name, votes := range v.Voting.ByModel {
					for _, n := range votes {
						got[name] += n
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the votes by model are not those of the samples (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestVotersInTurnDoNotStorm: two voters who refuse everything, and do not say for how
// long, are not asked in turn without an end.
func TestVotersInTurnDoNotStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := always(&model.Error{Kind: model.RateLimited, Status: 429})
		a, b := &server{fail: refuse}, &server{fail: refuse}
		ballot := New([]Voter{a.voter("a"), b.voter("b")}, readers, nil)
		defer ballot.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		q := question(firstToK(3, 30))
		q.MaxFaults = 1000
		ballot.Decide(ctx, q, Watch{})
		if got := a.calls.Load() + b.calls.Load(); got > 40 {
			t.Errorf("%d calls were made in 10 s, want one a second for each sample or so", got)
		}
	})
}

// TestComesBack: a voter who was out of order is asked again in time.
func TestComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		a := &server{fail: func(int64) *model.Error {
			if time.Since(begin) < 10*time.Second {
				return &model.Error{Kind: model.Transient, Status: 500}
			}
			return nil
		}}
		b := &server{fail: always(nil)}
		ballot := New([]Voter{a.voter("a"), b.voter("b")}, readers, nil)
		defer ballot.Close()
		late := map[string]int{}
		for time.Since(begin) < 2*time.Minute {
			_, err := ballot.Decide(t.Context(), question(firstToK(3, 30)), Watch{Sample: func(s *Sample) {
				if time.Since(begin) > time.Minute {
					late[s.Voter]++
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
		if late["a"] < late["b"] {
			t.Errorf("a minute after a failure samples are of %v, want two of a for one of b", late)
		}
	})
}
