package retry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

// batch answers n times at once, after its errors in turn.
type batch struct {
	errs  []error
	calls []int // how many answers each call was for
	block bool  // until its context ends
}

func (b *batch) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	list, err := b.GenerateN(ctx, req, 1)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (b *batch) GenerateN(ctx context.Context, _ *model.Request, n int) ([]*model.Response, error) {
	b.calls = append(b.calls, n)
	if b.block {
		<-ctx.Done()
		return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
	}
	if len(b.errs) > 0 {
		err := b.errs[0]
		b.errs = b.errs[1:]
		return nil, err
	}
	list := make([]*model.Response, n)
	for i := range list {
		list[i] = shared
	}
	return list, nil
}

// TestBatches: a call for several answers is repeated as a whole, and what went wrong
// before goes with the first answer.
func TestBatches(t *testing.T) {
	overloaded := &model.Error{Kind: model.Overloaded}
	auth := &model.Error{Kind: model.Auth}
	for name, test := range map[string]struct {
		errs   []error
		want   error
		calls  []int
		faults []model.Kind
	}{
		"at once":     {nil, nil, []int{3}, nil},
		"after two":   {[]error{overloaded, overloaded}, nil, []int{3, 3, 3}, []model.Kind{model.Overloaded, model.Overloaded}},
		"final":       {[]error{auth}, auth, []int{3}, nil},
		"final later": {[]error{overloaded, auth}, auth, []int{3, 3}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &batch{errs: test.errs}
			m, ok := model.AsBatcher(New(b, Options{}))
			if !ok {
				t.Fatal("a retried batcher is none")
			}
			list, err := m.GenerateN(t.Context(), &model.Request{}, 3)
			if model.KindOf(err) != model.KindOf(test.want) || (err == nil) != (test.want == nil) || !cmp.Equal(b.calls, test.calls) {
				t.Fatalf("%s: GenerateN() = %v after calls for %v, want %v after %v", name, err, b.calls, test.want, test.calls)
			}
			if err != nil {
				return
			}
			if len(list) != 3 || list[1] != shared || list[2] != shared || !cmp.Equal(kinds(list[0].Faults), test.faults) {
				t.Errorf("%s: GenerateN() = %v with faults %v, want 3 answers, the first with %v", name, list, kinds(list[0].Faults), test.faults)
			}
			if shared.Faults != nil {
				t.Errorf("%s: the model's own answer was changed", name)
			}
		})
	}
}

// TestBatchesTakeTheirTime: a call for several answers has the time of one call.
func TestBatchesTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, ok := model.AsBatcher(Timeout(&batch{block: true}, 30*time.Second))
		if !ok {
			t.Fatal("a timed batcher is none")
		}
		start := time.Now()
		list, err := m.GenerateN(t.Context(), &model.Request{}, 2)
		if got, want := time.Since(start), 30*time.Second; list != nil || model.KindOf(err) != model.Transient || got != want {
			t.Errorf("GenerateN() = %v, %v after %v, want a transient fault after %v", list, err, got, want)
		}
		quick, _ := model.AsBatcher(Timeout(&batch{}, 30*time.Second))
		if list, err := quick.GenerateN(t.Context(), &model.Request{}, 2); err != nil || len(list) != 2 {
			t.Errorf("GenerateN() = %v, %v, want 2 answers", list, err)
		}
	})
}

// TestTheRequestHasEnough: who asks may say after a fault that it was one too many.
func TestTheRequestHasEnough(t *testing.T) {
	for enough, want := range map[int]int{1: 1, 2: 2, 3: 3, 99: DefaultMaxAttempts} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{start: time.Now(), always: &model.Error{Kind: model.Transient}}
			told := 0
			req := &model.Request{OnFault: func(*model.Error) bool { told++; return told < enough }}
			_, err := New(s, Options{}).Generate(t.Context(), req)
			e, _ := errors.AsType[*model.Error](err)
			if e == nil || len(e.Faults) != want-1 || len(s.at) != want || told != want {
				t.Errorf("a request that has enough after %d: %d attempts, %d told, %+v; want %d", enough, len(s.at), told, err, want)
			}
		})
	}
}

// TestDefaults: what is not set, or makes no sense, is as documented.
func TestDefaults(t *testing.T) {
	for _, o := range []Options{{}, {MaxAttempts: -1, BaseDelay: -1, MaxDelay: -1}} {
		synctest.Test(t, func(t *testing.T) {
			o.Rand = half
			s := &script{start: time.Now(), always: &model.Error{Kind: model.Overloaded}}
			if _, err := New(s, o).Generate(t.Context(), &model.Request{}); model.KindOf(err) != model.Overloaded {
				t.Errorf("Generate() = %v, want overloaded", err)
			}
			want := []time.Duration{0, 250 * time.Millisecond, 750 * time.Millisecond, 1750 * time.Millisecond, 3750 * time.Millisecond, 7750 * time.Millisecond}
			if diff := cmp.Diff(want, s.at); diff != "" {
				t.Errorf("the times of the attempts with %+v differ (-want +got):\n%s", o, diff)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := &script{start: time.Now(), always: &model.Error{Kind: model.Overloaded}}
		_, err := New(s, Options{MaxAttempts: 1, BaseDelay: time.Nanosecond, MaxDelay: time.Nanosecond}).Generate(t.Context(), &model.Request{})
		if err == nil || len(s.at) != 1 {
			t.Errorf("Generate() with one attempt = %v after %d", err, len(s.at))
		}
	})
	s := &script{}
	if got := Timeout(s, -time.Second); got != model.Model(s) {
		t.Errorf("Timeout(m, -1s) = %v, want m", got)
	}
}
