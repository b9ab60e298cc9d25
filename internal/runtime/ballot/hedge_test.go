package ballot

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
)

// timed answers the n-th request after a time, or fails then.
type timed struct {
	asked atomic.Int64
	after func(n int) (wait time.Duration, text string, err error)
	by    func(prompt string) (wait time.Duration, text string)
}

func (m *timed) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	wait, text, err := m.after(int(m.asked.Add(1)) - 1)
	if m.by != nil {
		wait, text = m.by(req.Messages[0].Text)
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
	}
	if err != nil {
		return nil, err
	}
	return &model.Response{Text: text, Stop: model.StopEnd}, nil
}

// TestHedge: once it is known how long samples take, one that takes far longer is sent
// again, and counts once.
func TestHedge(t *testing.T) {
	const usual = 40 * time.Millisecond
	broken := &model.Error{Kind: model.Invalid, Message: "no"}
	for name, test := range map[string]struct {
		first, second time.Duration // of the slow sample, and of what is sent again
		firstErr      error
		may           bool
		want          time.Duration
		calls, wasted int
	}{
		"the second is faster":     {time.Hour, usual, nil, true, 3 * usual, 4, 1},
		"the first is":             {100 * time.Millisecond, time.Hour, nil, true, 100 * time.Millisecond, 4, 1},
		"none is spent":            {time.Minute, usual, nil, false, time.Minute, 3, 0},
		"as slow as usual":         {usual, usual, nil, true, usual, 3, 0},
		"the first fails later on": {100 * time.Millisecond, usual, broken, true, 3 * usual, 4, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const before = 3 * 40
				m := &timed{after: func(n int) (time.Duration, string, error) {
					switch n {
					case before:
						return test.first, "a", test.firstErr
					case before + 3:
						return test.second, "a", nil
					default:
						return usual, "a", nil
					}
				}}
				b := New([]Voter{{Name: "m", Model: m}}, readers, &Options{})
				defer b.Close()
				wasted := 0
				w := Watch{Hedge: &Hedge{May: func() bool { return test.may }, Wasted: func(n int) { wasted += n }}}
				for range before / 3 {
					if _, err := b.Decide(t.Context(), question(firstToK(3, 9)), w); err != nil {
						t.Fatal(err)
					}
				}
				start := time.Now()
				v, err := b.Decide(t.Context(), question(firstToK(3, 9)), w)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != test.want {
					t.Errorf("it took %s, want %s", took, test.want)
				}
				if v.Status != flow.Decided || v.Voting.Samples != 3 || v.Voting.Votes["a"] != 3 {
					t.Errorf("it came to %s with %+v, want three votes", v.Status, v.Voting)
				}
				b.Settle()
				if calls := int(m.asked.Load()) - before; calls != test.calls || wasted != test.wasted {
					t.Errorf("it took %d calls, %d wasted; want %d and %d", calls, wasted, test.calls, test.wasted)
				}
			})
		})
	}
}

// noted reads answers that agree in what is before a colon.
type noted struct{}

func (noted) Read(text string) (domain.Answer, *redflag.Flag) {
	key, _, _ := strings.Cut(text, ":")
	return domain.Answer{Key: key, Value: json.RawMessage(strconv.Quote(text)), IsJSON: true}, nil
}

// TestTheFirstAskedStands: what is committed does not depend on which of several answers
// that agree came first.
func TestTheFirstAskedStands(t *testing.T) {
	waits := []time.Duration{5, 3, 1, 2, 4}
	for _, texts := range [][]string{{"a:0", "a:1", "a:2"}, {"b:0", "a:1", "a:2", "a:3", "a:4"}} {
		synctest.Test(t, func(t *testing.T) {
			q := question(firstToK(3, 9))
			q.Variants = texts // which tell it what to answer
			m := &timed{after: func(int) (time.Duration, string, error) { return 0, "", nil }, by: func(prompt string) (time.Duration, string) {
				return waits[slices.Index(texts, prompt)] * time.Second, prompt
			}}
			b := New([]Voter{{Name: "m", Model: m}}, domain.Readers{"plain": func(json.RawMessage) (domain.Reader, error) { return noted{}, nil }}, &Options{})
			defer b.Close()
			v, err := b.Decide(t.Context(), q, Watch{})
			if err != nil {
				t.Fatal(err)
			}
			want := `"a:0"`
			if len(texts) > 3 {
				want = `"a:1"`
			}
			if diff := cmp.Diff(want, string(v.Answer)); diff != "" {
				t.Errorf("%q came to (-want +got):\n%s", texts, diff)
			}
		})
	}
}
