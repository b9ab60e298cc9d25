package ballot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// plain reads an answer as it stands; texts that start with "!" are malformed.
type plain struct{}

func (plain) Read(text string) (domain.Answer, *redflag.Flag) {
	if strings.HasPrefix(text, "!") {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "malformed")
	}
	return domain.Answer{Value: json.RawMessage(fmt.Sprintf("%q", text)), Key: text}, nil
}

var readers = domain.Readers{"plain": func(json.RawMessage) (domain.Reader, error) { return plain{}, nil }}

func question(rule vote.Rule) *flow.Question {
	cold, warm := 0.0, 0.1
	return &flow.Question{
		Prompt: "?", Answer: flow.Format{Reader: "plain"},
		Terms: flow.Terms{Rule: rule, Flags: new(redflag.Format()), FirstTemperature: &cold, Temperature: &warm},
	}
}

// reply is what a scripted model does with one call.
type reply struct {
	text  string
	err   error
	after time.Duration
}

// script answers the n-th call with the n-th reply, after its time, and records
// what it was asked.
type script struct {
	mu      sync.Mutex
	replies []reply
	calls   int
	open    int
	most    int // in flight at once
	temps   []float64
	gone    int // calls that ended with their context
}

func (s *script) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	s.mu.Lock()
	if s.calls >= len(s.replies) {
		s.mu.Unlock()
		return nil, &model.Error{Kind: model.Invalid, Message: "the script has ended"}
	}
	r := s.replies[s.calls]
	s.calls++
	s.open++
	s.most = max(s.most, s.open)
	s.temps = append(s.temps, *req.Temperature)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
	}()
	select {
	case <-time.After(r.after):
	case <-ctx.Done():
		s.mu.Lock()
		s.gone++
		s.mu.Unlock()
		return nil, &model.Error{Kind: model.Cancelled, Err: ctx.Err()}
	}
	if r.err != nil {
		return nil, r.err
	}
	cost := 0.5
	return &model.Response{Text: r.text, Stop: model.StopEnd, Usage: usage.Tokens{Input: 2, Output: 1}, CostUSD: &cost}, nil
}

func texts(list ...string) []reply {
	out := make([]reply, len(list))
	for i, t := range list {
		out[i] = reply{text: t, after: time.Duration(i+1) * time.Millisecond}
	}
	return out
}

func only(m model.Model) []Voter { return []Voter{{Name: "m", Model: m}} }

func decide(t *testing.T, m model.Model, opts *Options, q *flow.Question) *flow.Verdict {
	t.Helper()
	b := New(only(m), readers, opts)
	defer b.Close()
	v, err := b.Decide(t.Context(), q, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func firstToK(k, most int) vote.Rule {
	return vote.Rule{Strategy: vote.FirstToK, K: k, MaxSamples: most}
}

func TestVerdicts(t *testing.T) {
	long := strings.Repeat("long ", 20)
	quoted := func(text string) json.RawMessage { return json.RawMessage(strconv.Quote(text)) }
	busy := &model.Error{Kind: model.Overloaded, Provider: "p", Status: 529, Message: "no capacity"}
	for _, c := range []struct {
		name    string
		rule    vote.Rule
		faults  int
		replies []reply
		status  flow.Status
		answer  string
		voting  event.Voting
		reason  string
	}{
		{name: "unanimous", rule: firstToK(3, 10), replies: texts("a", "a", "a"), status: flow.Decided, answer: "a",
			voting: event.Voting{Samples: 3, Votes: map[string]int{"a": 3}, Margin: 3}},
		{name: "dissent tops up the shortfall", rule: firstToK(3, 10), replies: texts("a", "b", "a", "a", "a"), status: flow.Decided, answer: "a",
			voting: event.Voting{Samples: 5, Votes: map[string]int{"a": 4, "b": 1}, Margin: 3}},
		{name: "the later answer wins", rule: firstToK(2, 10), replies: texts("a", "b", "b", "b"), status: flow.Decided, answer: "b",
			voting: event.Voting{Samples: 4, Votes: map[string]int{"a": 1, "b": 3}, Margin: 2}},
		{name: "a win on the last permitted sample", rule: firstToK(2, 4), replies: texts("a", "b", "a", "a"), status: flow.Decided, answer: "a",
			voting: event.Voting{Samples: 4, Votes: map[string]int{"a": 3, "b": 1}, Margin: 2}},
		{name: "flags are resampled", rule: firstToK(2, 10), replies: texts("!", "a", "!", "a"), status: flow.Decided, answer: "a",
			voting: event.Voting{Samples: 4, RedFlagged: 2, Votes: map[string]int{"a": 2}, Margin: 2}},
		{name: "a plurality at the cap is no win", rule: firstToK(3, 5), replies: texts("a", "b", "a", "c", "a"), status: flow.Undecided,
			voting: event.Voting{Samples: 4, Cancelled: 1, Votes: map[string]int{"a": 2, "b": 1, "c": 1}, Margin: 1,
				Answers: []event.Candidate{{Answer: json.RawMessage(`"a"`), Votes: 2}, {Answer: json.RawMessage(`"b"`), Votes: 1}, {Answer: json.RawMessage(`"c"`), Votes: 1}}},
			reason: "no answer won within 5 samples: the best one has 2 of 4 votes, a margin of 1"},
		{name: "only flags", rule: firstToK(2, 3), replies: texts("!", "!", "!"), status: flow.FlaggedOut,
			voting: event.Voting{Samples: 2, RedFlagged: 2, Cancelled: 1, Votes: map[string]int{},
				Discarded: []event.Discarded{{Flag: "schema_invalid", Count: 2, Reason: "malformed", Said: "!"}}},
			reason: "all 2 samples were discarded; the last one: malformed (schema_invalid); it was: !"},
		{name: "dissent with long keys is kept", rule: firstToK(2, 9), replies: texts(long+"a", long+"b", long+"b", long+"b"), status: flow.Decided, answer: long + "b",
			voting: event.Voting{Samples: 4, Votes: map[string]int{vote.ShortKey(long + "a"): 1, vote.ShortKey(long + "b"): 3}, Margin: 2,
				Answers: []event.Candidate{{Answer: quoted(long + "a"), Votes: 1}}}},
		{name: "faults are neither votes nor flags", rule: firstToK(2, 2), replies: append([]reply{{err: busy}, {err: busy}, {err: busy}}, texts("a", "a")...), status: flow.Decided, answer: "a",
			voting: event.Voting{Samples: 2, Faults: 3, Votes: map[string]int{"a": 2}, Margin: 2}},
		{name: "the fault cap", rule: firstToK(1, 9), faults: 3, replies: []reply{{err: busy}, {err: busy}, {err: busy}}, status: flow.Failed,
			voting: event.Voting{Faults: 3, Votes: map[string]int{}},
			reason: "3 failed attempts; the last one: p: overloaded (HTTP 529): no capacity"},
		{name: "a refusal is a flag", rule: firstToK(1, 9), replies: append([]reply{{err: &model.Error{Kind: model.Refused, Message: "no"}}}, texts("a")...), status: flow.Decided, answer: "a",
			voting: event.Voting{Samples: 2, RedFlagged: 1, Votes: map[string]int{"a": 1}, Margin: 1}},
		{name: "too long cannot be retried", rule: firstToK(1, 9), replies: []reply{{err: &model.Error{Kind: model.TooLong, Message: "context"}}}, status: flow.Failed,
			voting: event.Voting{Faults: 1, Votes: map[string]int{}}, reason: "1 failed attempts; the last one: too long: context"},
		{name: "majority", rule: vote.Rule{Strategy: vote.Majority, N: 3, MaxSamples: 9}, replies: texts("a", "b", "b"), status: flow.Decided, answer: "b",
			voting: event.Voting{Samples: 3, Votes: map[string]int{"a": 1, "b": 2}, Margin: 1}},
		{name: "none", rule: vote.Rule{Strategy: vote.None, MaxSamples: 3}, replies: texts("!", "a"), status: flow.Decided, answer: "a",
			voting: event.Voting{Samples: 2, RedFlagged: 1, Votes: map[string]int{"a": 1}, Margin: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{replies: c.replies}
				q := question(c.rule)
				q.MaxFaults = c.faults
				got := decide(t, s, nil, q)
				c.voting.Strategy = c.rule.Strategy
				if got.Status != c.status || got.Reason != c.reason {
					t.Errorf("Decide() = %s, %q, want %s, %q", got.Status, got.Reason, c.status, c.reason)
				}
				if want := fmt.Sprintf("%q", c.answer); c.status == flow.Decided && string(got.Answer) != want {
					t.Errorf("Decide() = answer %s, want %s", got.Answer, want)
				}
				if diff := cmp.Diff(c.voting, got.Voting); diff != "" {
					t.Errorf("voting (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestMoreFaultsThanInt32Counts: a question may bear more faults than 32 bits count.
func TestMoreFaultsThanInt32Counts(t *testing.T) {
	busy := &model.Error{Kind: model.Overloaded}
	for _, most := range []int{1 << 31, 3_000_000_000, 1 << 32, math.MaxInt} {
		synctest.Test(t, func(t *testing.T) {
			q := question(firstToK(1, 9))
			q.MaxFaults = most
			s := &script{replies: append([]reply{{err: busy}, {err: busy}}, texts("a")...)}
			if v := decide(t, s, nil, q); v.Status != flow.Decided || v.Voting.Faults != 2 {
				t.Errorf("Decide(at most %d faults) = %s, %s after %d, want an answer after 2", most, v.Status, v.Reason, v.Voting.Faults)
			}
		})
	}
}

func TestEmptyAnswerWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := question(firstToK(2, 5))
		q.Flags.Empty.On = false
		if v := decide(t, &script{replies: texts("", "")}, nil, q); v.Status != flow.Decided || string(v.Answer) != `""` {
			t.Errorf("Decide() = %s %s, want the empty answer to win", v.Status, v.Answer)
		}
	})
}

func TestAllAtOnceAndFirstGreedy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{replies: []reply{{"a", nil, time.Second}, {"a", nil, time.Second}, {"a", nil, time.Second}}}
		start := time.Now()
		decide(t, s, nil, question(firstToK(3, 10)))
		if took := time.Since(start); took != time.Second {
			t.Errorf("three samples of a second took %s", took)
		}
		if s.calls != 3 || s.most != 3 {
			t.Errorf("%d calls, %d at once, want 3 and 3", s.calls, s.most)
		}
		greedy := 0
		for _, temp := range s.temps {
			if temp == 0 {
				greedy++
			}
		}
		if greedy != 1 {
			t.Errorf("%d samples at temperature 0, want 1: %v", greedy, s.temps)
		}
	})
}

// TestTopUpOnArrival shows that a dissenting or discarded answer is made up for
// at once, not when the batch has ended.
func TestTopUpOnArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{replies: []reply{
			{"!", nil, 1 * time.Second}, {"a", nil, 10 * time.Second}, {"a", nil, 10 * time.Second},
			{"a", nil, 5 * time.Second}, // launched at 1 s, when the first one is discarded
		}}
		start := time.Now()
		decide(t, s, nil, question(firstToK(3, 10)))
		if took := time.Since(start); took != 10*time.Second || s.calls != 4 {
			t.Errorf("took %s and %d calls, want 10s and 4", took, s.calls)
		}
	})
}

// TestGauge: while a question is decided it can be seen how many samples are on their way
// and how many attempts were made again.
func TestGauge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &script{replies: []reply{{"a", nil, time.Second}, {"b", nil, 2 * time.Second}, {"a", nil, 3 * time.Second}, {"a", nil, time.Second}, {"a", nil, time.Second}}}
		var gauge Gauge
		var seen []int64
		retrying := model.Func(func(ctx context.Context, req *model.Request) (*model.Response, error) {
			if req.OnFault != nil {
				req.OnFault(&model.Error{Kind: model.Overloaded})
			}
			return m.Generate(ctx, req)
		})
		b := New([]Voter{{Model: retrying}}, readers, nil)
		defer b.Close()
		_, err := b.Decide(t.Context(), question(vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 20}), Watch{
			Gauge: &gauge, Sample: func(*Sample) { seen = append(seen, gauge.InFlight.Load()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		// The sample that has arrived is not taken off until whoever watches does.
		if diff := cmp.Diff([]int64{3, 2, 3, 2, 1}, seen); diff != "" || gauge.Retried.Load() != 5 {
			t.Errorf("in flight, %d retried: -want +got\n%s", gauge.Retried.Load(), diff)
		}
	})
}

func TestSpareSamplesAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{replies: []reply{
			{"a", nil, time.Second}, {"a", nil, time.Hour}, {"a", nil, time.Second}, {"a", nil, 2 * time.Second}, {"a", nil, time.Hour},
		}}
		start := time.Now()
		v := decide(t, s, &Options{Spare: 2}, question(firstToK(3, 10)))
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %s, want 2s", took)
		}
		if s.calls != 5 || s.gone != 2 || v.Voting.Cancelled != 2 || v.Voting.Samples != 3 {
			t.Errorf("%d calls, %d gone, voting %+v, want 5 calls and 2 cancelled", s.calls, s.gone, v.Voting)
		}
	})
}

func TestBatchSizeBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{replies: texts("a", "a", "a", "a", "a", "a", "a")}
		decide(t, s, &Options{BatchSize: 2}, question(firstToK(7, 20)))
		if s.most != 2 || s.calls != 7 {
			t.Errorf("%d at once and %d calls, want 2 and 7", s.most, s.calls)
		}
	})
}

func TestTheCapBoundsWhatIsLaunched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{replies: texts("a", "b", "a", "b", "a", "b", "a", "b")}
		v := decide(t, s, &Options{Spare: 5}, question(firstToK(3, 6)))
		if v.Status != flow.Undecided || s.calls > 6 {
			t.Errorf("%s after %d calls, want undecided within 6", v.Status, s.calls)
		}
	})
}

func TestErrorsEndTheRun(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
	}{
		{"auth", &model.Error{Kind: model.Auth, Message: "wrong key"}},
		{"invalid", &model.Error{Kind: model.Invalid, Message: "no such model"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{replies: []reply{{err: c.err}, {"a", nil, time.Hour}, {"a", nil, time.Hour}}}
			b := New(only(s), readers, nil)
			_, err := b.Decide(t.Context(), question(firstToK(3, 10)), Watch{})
			if !errors.Is(err, c.err) {
				t.Errorf("%s: Decide() = %v, want %v", c.name, err, c.err)
			}
			b.Close()
			if s.open != 0 || s.gone != 2 {
				t.Errorf("%s: %d calls open, %d gone, want 0 and 2", c.name, s.open, s.gone)
			}
		})
	}
}

// TestBudgetEndsTheRunGently lets the samples in flight decide, if they can.
func TestBudgetEndsTheRunGently(t *testing.T) {
	broke := errors.New("the budget is exhausted")
	for _, c := range []struct {
		name    string
		replies []reply
		spare   int
		want    error
	}{
		{"they decide", []reply{{"a", nil, time.Second}, {"a", nil, 2 * time.Second}, {err: broke}}, 1, nil},
		{"they do not", []reply{{"a", nil, time.Second}, {"b", nil, 2 * time.Second}, {err: broke}}, 1, broke},
		{"there are none", []reply{{err: broke}, {err: broke}}, 0, broke},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := New(only(&script{replies: c.replies}), readers, &Options{Spare: c.spare})
			defer b.Close()
			v, err := b.Decide(t.Context(), question(firstToK(2, 10)), Watch{})
			if !errors.Is(err, c.want) || err == nil && v.Status != flow.Decided {
				t.Errorf("%s: Decide() = %v, %v, want %v", c.name, v, err, c.want)
			}
		})
	}
}

func TestCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &script{replies: []reply{{"a", nil, time.Hour}, {"a", nil, time.Hour}, {"a", nil, time.Hour}}}
		b := New(only(s), readers, nil)
		time.AfterFunc(time.Second, func() { cancel(stop) })
		start := time.Now()
		_, err := b.Decide(ctx, question(firstToK(3, 10)), Watch{})
		if !errors.Is(err, stop) || time.Since(start) != time.Second {
			t.Errorf("Decide() = %v after %s, want %v after 1s", err, time.Since(start), stop)
		}
		b.Close()
	})
}

// TestMinVotes: as many samples as the rule wants at least are in flight at once, all of
// which find a place when nobody waits for them any more.
func TestMinVotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule := vote.Rule{Strategy: vote.FirstToK, K: 2, MinVotes: 5, MaxSamples: 10}
		s := &script{replies: texts("a", "a", "a", "b", "a")}
		if v := decide(t, s, nil, question(rule)); v.Status != flow.Decided || v.Voting.Samples != 5 || v.Voting.Margin != 3 {
			t.Errorf("%s with %+v, want 5 votes and a margin of 3", v.Status, v.Voting)
		}
		b := New(only(s), readers, nil)
		defer b.Close()
		if got := b.room(rule); got < 5 {
			t.Errorf("there is room for %d samples of %+v, want 5", got, rule)
		}
	})
}

func TestBadQuestions(t *testing.T) {
	b := New(only(&script{}), readers, nil)
	defer b.Close()
	if _, err := b.Decide(t.Context(), question(firstToK(0, 3)), Watch{}); err == nil {
		t.Error("Decide() with k = 0: no error")
	}
	q := question(firstToK(1, 3))
	q.Answer.Reader = "nobody"
	if _, err := b.Decide(t.Context(), q, Watch{}); err == nil {
		t.Error("Decide() with an unknown reader: no error")
	}
}

func TestObserveInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{replies: []reply{
			{"slow", nil, 3 * time.Second}, {"!", nil, time.Second}, {"b", nil, 2 * time.Second},
			{"b", nil, 3 * time.Second}, {"b", nil, 3 * time.Second}, {"b", nil, 9 * time.Second},
		}}
		b := New(only(s), readers, nil)
		defer b.Close()
		var seen []string
		_, err := b.Decide(t.Context(), question(firstToK(3, 10)), Watch{Sample: func(s *Sample) {
			seen = append(seen, fmt.Sprintf("%s %s", s.Response.Text, s.Duration))
		}})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"! 1s", "b 2s", "slow 3s", "b 3s", "b 3s", "b 9s"}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
	})
}

// TestCostIsUnknownNotZero has one answer without a price among others.
func TestCostIsUnknownNotZero(t *testing.T) {
	cost := 0.25
	var n atomic.Int32
	m := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		r := &model.Response{Text: "a", Stop: model.StopEnd}
		if n.Add(1) > 1 {
			r.CostUSD = &cost
		}
		return r, nil
	})
	if v := decide(t, m, nil, question(firstToK(3, 9))); v.CostUSD != nil {
		t.Errorf("cost = %v, want unknown", *v.CostUSD)
	}
	if v := decide(t, m, nil, question(firstToK(3, 9))); v.CostUSD == nil || *v.CostUSD != 0.75 {
		t.Errorf("cost = %v, want 0.75", v.CostUSD)
	}
}

// TestSameSamplesAsOneByOne races with random latencies and answers: the number
// of samples is what a sequential race over the order of arrival needs, and no
// launched sample is wasted.
func TestSameSamplesAsOneByOne(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			s := &script{}
			for range 200 {
				text := "a"
				switch x := r.Float64(); {
				case x < 0.2:
					text = "b"
				case x < 0.3:
					text = "!"
				}
				s.replies = append(s.replies, reply{text, nil, time.Duration(1+r.IntN(1000)) * time.Millisecond})
			}
			b := New(only(s), readers, nil)
			defer b.Close()
			reference := vote.NewTally(firstToK(3, 200))
			v, err := b.Decide(t.Context(), question(firstToK(3, 200)), Watch{Sample: func(s *Sample) {
				if reference.Decision().Outcome != vote.Open {
					t.Errorf("seed %d: a sample arrived after the decision", seed)
				}
				if s.Flag != nil {
					reference.Flag()
				} else {
					reference.Vote(s.Answer.Key)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			if v.Voting.Samples != s.calls || v.Voting.Cancelled != 0 || reference.Samples() != s.calls {
				t.Errorf("seed %d: %d samples of %d calls, %d cancelled", seed, v.Voting.Samples, s.calls, v.Voting.Cancelled)
			}
		})
	}
}

func BenchmarkDecide(b *testing.B) {
	cost := 0.1
	m := model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		return &model.Response{Text: "a", Stop: model.StopEnd, CostUSD: &cost}, nil
	})
	ballot := New(only(m), readers, nil)
	defer ballot.Close()
	q := question(firstToK(3, 150))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ballot.Decide(b.Context(), q, Watch{}); err != nil {
			b.Fatal(err)
		}
	}
}
