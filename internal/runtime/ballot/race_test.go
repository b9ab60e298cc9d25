package ballot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
)

// asking answers every request alike, and keeps what it was asked.
type asking struct {
	mu       sync.Mutex
	requests []model.Request
	response model.Response
}

func (a *asking) Generate(_ context.Context, req *model.Request) (*model.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, *req)
	r := a.response
	return &r, nil
}

// TestRequests: what a question says about its answers reaches the model.
func TestRequests(t *testing.T) {
	q := question(firstToK(3, 9))
	a := &asking{response: model.Response{Text: "a", Stop: model.StopEnd, Faults: []*model.Error{{Kind: model.Overloaded}, {Kind: model.Overloaded}}}}
	v := decide(t, a, nil, q)
	for i, req := range a.requests {
		if req.Output != nil || req.Earlier != 0 {
			t.Errorf("request %d asks for %+v and says that there were %d before, want neither", i, req.Output, req.Earlier)
		}
	}
	if v.Voting.Faults != 6 {
		t.Errorf("the votes came after %d faults, want 6", v.Voting.Faults)
	}
	q.Structured, q.Schema = "json_schema", json.RawMessage(`{"type":"string"}`)
	a = &asking{response: model.Response{Text: "a", Stop: model.StopEnd}}
	decide(t, a, nil, q)
	for i, req := range a.requests {
		if req.Output == nil || req.Output.Mode != "json_schema" || string(req.Output.Schema) != `{"type":"string"}` {
			t.Errorf("request %d asks for %+v, want the schema", i, req.Output)
		}
	}

	// Auto asks for what there is a schema for.
	q.Structured = flow.StructuredAuto
	a = &asking{response: model.Response{Text: "a", Stop: model.StopEnd}}
	decide(t, a, nil, q)
	if got := a.requests[0].Output; got == nil || got.Mode != model.JSONSchema || string(got.Schema) != `{"type":"string"}` {
		t.Errorf("auto asks for %+v, want the schema", got)
	}
	q.Schema = nil
	a = &asking{response: model.Response{Text: "a", Stop: model.StopEnd}}
	decide(t, a, nil, q)
	if got := a.requests[0].Output; got != nil {
		t.Errorf("auto without a schema asks for %+v, want text", got)
	}
}

// TestTheFirstIsGreedyInItsWords: the first sample has the temperature of the first,
// also where voters have their own and questions several wordings.
func TestTheFirstIsGreedyInItsWords(t *testing.T) {
	hot := 0.7
	a := &asking{response: model.Response{Text: "a", Stop: model.StopEnd}}
	q := question(firstToK(4, 9))
	q.Variants = []string{"one?", "two?"}
	b := New([]Voter{{Name: "m", Model: a, Temperature: &hot}}, readers, &Options{BatchSize: 1})
	defer b.Close()
	if _, err := b.Decide(t.Context(), q, Watch{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, req := range a.requests {
		got = append(got, fmt.Sprint(req.Messages[0].Text, *req.Temperature))
	}
	if want := []string{"one?0", "two?0.7", "one?0.7", "two?0.7"}; !slices.Equal(got, want) {
		t.Errorf("it was asked %q, want %q", got, want)
	}
}

// TestAskedBefore counts the equal requests before one: those in the same words, but
// for the greedy first.
func TestAskedBefore(t *testing.T) {
	zero, warm := 0.0, 0.5
	for _, test := range []struct {
		first *float64
		words int
		want  []int // of sample 0, 1, 2, ...
	}{
		{&zero, 0, []int{0, 0, 1, 2, 3, 4}},
		{&warm, 0, []int{0, 1, 2, 3, 4, 5}},
		{nil, 0, []int{0, 1, 2, 3, 4, 5}},
		{&zero, 2, []int{0, 0, 0, 1, 1, 2, 2}},
		{&zero, 3, []int{0, 0, 0, 0, 1, 1, 1, 2, 2}},
		{nil, 3, []int{0, 0, 0, 1, 1, 1, 2, 2, 2}},
	} {
		r := &race{ballot: new(Ballot), voters: make([]Voter, 1), q: &flow.Question{Terms: flow.Terms{FirstTemperature: test.first}, Variants: make([]string, test.words)}}
		r.active = activeFramings(r.q, r.voters, nil)
		for n, want := range test.want {
			if got := r.askedBefore(n); got != want {
				t.Errorf("askedBefore(%d) of %d wordings = %d, want %d", n, test.words, got, want)
			}
		}
	}
}

// TestFramings: every voter goes through all framings, two voters see the same ones,
// and the samples of one call are asked in the same words.
func TestFramings(t *testing.T) {
	zero, warm := 0.0, 0.7
	for _, test := range []struct {
		voters, words, perCall int
		first                  *float64
		want                   []int // of sample 0, 1, 2, ...
	}{
		{1, 0, 1, &zero, []int{0, 0, 0, 0}},
		{1, 3, 1, &zero, []int{1, 2, 3, 1, 2, 3}},
		{2, 2, 1, &zero, []int{1, 2, 2, 1, 1, 2}},
		{2, 5, 1, &zero, []int{1, 2, 2, 3, 3, 4, 4, 5, 5, 1}},
		{3, 3, 1, &zero, []int{1, 2, 3, 2, 3, 1, 3, 1, 2}},
		{5, 5, 1, &zero, []int{1, 2, 3, 4, 5, 2, 3, 4, 5, 1}},
		{1, 5, 3, &warm, []int{1, 1, 1, 2, 2, 2, 3, 3, 3}},
		{1, 5, 3, &zero, []int{1, 2, 2, 2, 3, 3, 3, 4}}, // the greedy one is alone
	} {
		r := &race{
			ballot: &Ballot{opts: Options{PerCall: test.perCall}}, voters: make([]Voter, test.voters),
			q: &flow.Question{Terms: flow.Terms{FirstTemperature: test.first, Temperature: &warm}, Variants: make([]string, test.words)},
		}
		r.active = activeFramings(r.q, r.voters, nil)
		for n, want := range test.want {
			if got := r.framing(n, n%test.voters); got != want {
				t.Errorf("%d voters, %d framings, %d a call: sample %d gets framing %d, want %d", test.voters, test.words, test.perCall, n, got, want)
			}
		}
	}
}

// TestNobodyIsLeftBehind: samples that are in flight when a vote is ended find a place
// to end at, whatever the rule.
func TestNobodyIsLeftBehind(t *testing.T) {
	for _, rule := range []vote.Rule{
		firstToK(3, 9), {Strategy: vote.Majority, N: 3, MaxSamples: 9}, {Strategy: vote.None, MaxSamples: 9},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{replies: []reply{{after: time.Hour}, {after: time.Hour}, {after: time.Hour}}}
			b := New(only(s), readers, nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := b.Decide(ctx, question(rule), Watch{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: Decide() = %v, want that its time was over", rule.Strategy, err)
			}
			b.Close() // all of them have ended
			if s.gone == 0 || s.gone != s.calls {
				t.Errorf("%s: %d of %d calls ended with the vote", rule.Strategy, s.gone, s.calls)
			}
		})
	}
}

// TestInstantModelsAreAskedOneByOne: to hand a question over would take longer than the
// answer.
func TestInstantModelsAreAskedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{replies: []reply{{"a", nil, time.Second}, {"a", nil, time.Second}, {"a", nil, time.Second}}}
		b := New(only(s), readers, nil)
		defer b.Close()
		for range maxCredit {
			b.pace.took(0)
		}
		if v, err := b.Decide(t.Context(), question(firstToK(3, 9)), Watch{}); err != nil || v.Status != flow.Decided || v.DurationMS != 3000 {
			t.Errorf("Decide() = %+v, %v, want it decided in 3 seconds", v, err)
		}
		if s.most != 1 {
			t.Errorf("%d calls at once, want one by one", s.most)
		}
	})
}

// TestPace: a model is instant if it answers nearly always faster than a goroutine is
// woken.
func TestPace(t *testing.T) {
	const quick, slow = 30 * time.Microsecond, 30*time.Microsecond + 1
	for _, test := range []struct {
		quick, slow int // answers, in this order
		want        bool
	}{
		{0, 0, false}, {31, 0, false}, {32, 0, true}, {1000, 0, true}, {32, 1, false},
		{1000, 4, true}, {1000, 5, false}, {40, 1, true}, {39, 1, false}, {0, 5, false},
	} {
		var p pace
		for range test.quick {
			p.took(quick)
		}
		for range test.slow {
			p.took(slow)
		}
		if got := p.instant(); got != test.want {
			t.Errorf("instant() after %d quick and %d slow answers = %t, want %t", test.quick, test.slow, got, test.want)
		}
	}
}

// TestWarmth: a prefix stays cached for a while after each use, and there are not many.
func TestWarmth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w warmth
		if w.warm("a") {
			t.Error("warm() before anything was cached")
		}
		w.heat("a")
		for range 3 {
			time.Sleep(cacheLife)
			if !w.warm("a") {
				t.Errorf("warm() = false %v after it was used", cacheLife)
			}
		}
		time.Sleep(cacheLife + 1)
		if w.warm("a") {
			t.Errorf("warm() = true more than %v after it was used", cacheLife)
		}
	})
	var w warmth
	for i := range 1000 {
		w.heat(fmt.Sprint(i))
		if !w.warm(fmt.Sprint(i)) || i == 63 && !w.warm("0") || len(w.used) > 64 {
			t.Fatalf("after %d prefixes the last is warm: %t, the first: %t, of %d", i+1, w.warm(fmt.Sprint(i)), w.warm("0"), len(w.used))
		}
	}
}

// TestEndedWithSamplesAtTheDoor: what had arrived when the run was ended is paid for,
// and told.
func TestEndedWithSamplesAtTheDoor(t *testing.T) {
	const n = 30
	for _, watched := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var list []reply
			for i := range n {
				list = append(list, reply{fmt.Sprint(i % 2), nil, time.Second})
			}
			list[0].after = time.Millisecond
			list = append(list, slices.Repeat([]reply{{after: time.Hour}}, 2*n)...)
			s := &script{replies: list}
			b := New(only(s), readers, nil)
			defer b.Close()
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second+time.Millisecond, cancel) // right after those that take a second
			told := 0
			w := Watch{Sample: func(s *Sample) {
				if told++; told == 1 {
					time.Sleep(time.Minute) // nobody reads what arrives meanwhile
				}
				if s.Err != nil || s.Response == nil {
					t.Errorf("told of %+v, want answers only", s)
				}
			}}
			if !watched {
				w = Watch{}
			}
			_, err := b.Decide(ctx, question(firstToK(n, 3*n)), w)
			if !errors.Is(err, context.Canceled) || watched && told < n {
				t.Errorf("Decide() = %v after %d samples were told, want %v after %d", err, told, context.Canceled, n)
			}
		})
	}
}

// TestAttemptsAreShared: a model that retries by itself is told when the question has
// had enough, and a server that was never reached is given up sooner.
func TestAttemptsAreShared(t *testing.T) {
	for _, test := range []struct {
		name    string
		fault   model.Error
		most    int
		reached bool
		want    int
	}{
		{"as many as it bears", model.Error{Kind: model.Overloaded}, 3, false, 3},
		{"by default", model.Error{Kind: model.Overloaded}, 0, false, DefaultMaxFaults},
		{"never reached", model.Error{Kind: model.Transient, NotSent: true}, 0, false, 10},
		{"never reached, few", model.Error{Kind: model.Transient, NotSent: true}, 4, false, 4},
		{"reached before", model.Error{Kind: model.Transient, NotSent: true}, 0, true, DefaultMaxFaults},
		{"never answered", model.Error{Kind: model.Transient, Status: 500}, 0, false, patienceIfThere},
		{"never answered, few", model.Error{Kind: model.Transient, Status: 500}, 4, false, 4},
		{"answered before", model.Error{Kind: model.Transient, Status: 500}, 0, true, DefaultMaxFaults},
	} {
		attempts := 0
		answer := test.reached
		m := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
			if answer {
				answer = false
				return &model.Response{Text: "a", Stop: model.StopEnd}, nil
			}
			for {
				attempts++
				if !req.OnFault(&test.fault) {
					return nil, &test.fault
				}
			}
		})
		b := New(only(m), readers, nil)
		q := question(firstToK(1, 9))
		q.MaxFaults = test.most
		if test.reached {
			if _, err := b.Decide(t.Context(), q, Watch{}); err != nil {
				t.Fatal(err)
			}
		}
		v, err := b.Decide(t.Context(), q, Watch{EarlierFaults: 2})
		b.Close()
		if err != nil || v.Status != flow.Failed || attempts != test.want || v.Voting.Faults != test.want+2 {
			t.Errorf("%s: Decide() = %+v, %v after %d attempts, want that it failed after %d", test.name, v, err, attempts, test.want)
		}
	}
}

// TestSamplesInFlightShareTheirFaults: the faults of samples that go on trying count
// before those samples end.
func TestSamplesInFlightShareTheirFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		var mu sync.Mutex
		fault := &model.Error{Kind: model.Overloaded}
		m := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
			mu.Lock()
			calls++
			n := calls
			mu.Unlock()
			req.OnFault(fault)
			time.Sleep(time.Duration(n) * time.Second)
			return nil, fault
		})
		q := question(firstToK(3, 9))
		q.MaxFaults = 3
		b := New(only(m), readers, nil)
		defer b.Close()
		v, err := b.Decide(t.Context(), q, Watch{EarlierFaults: 2})
		if err != nil || v.Status != flow.Failed || calls != 3 || v.Voting.Faults != 5 {
			t.Errorf("Decide() = %+v, %v after %d calls, want that it failed with 2 and 3 faults after 3", v, err, calls)
		}
	})
}

// TestABusyProviderBurnsNoAttempts: refusals for want of room do not count while answers
// come in between, or will come soon, and do if none come for minutes.
func TestABusyProviderBurnsNoAttempts(t *testing.T) {
	for _, test := range []struct {
		kind  model.Kind
		every int // of so many calls, one a second, one is answered; 0 for none
		want  flow.Status
		after time.Duration // at least, and less than a minute more
	}{
		{model.RateLimited, 3, flow.Decided, 0}, {model.RateLimited, 100, flow.Decided, 790 * time.Second},
		{model.RateLimited, 0, flow.Failed, busyFor}, {model.Overloaded, 3, flow.Failed, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			m := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
				for { // as the retrier does
					if calls++; test.every > 0 && calls%test.every == 0 {
						return &model.Response{Text: "a", Stop: model.StopEnd}, nil
					}
					fault := &model.Error{Kind: test.kind}
					if !req.OnFault(fault) {
						return nil, fault
					}
					time.Sleep(time.Second)
				}
			})
			q := question(firstToK(8, 20))
			q.MaxFaults = 10
			b := New(only(m), readers, &Options{BatchSize: 1})
			defer b.Close()
			start := time.Now()
			v, err := b.Decide(t.Context(), q, Watch{})
			if took := time.Since(start); err != nil || v.Status != test.want || took < test.after || took > test.after+time.Minute {
				t.Errorf("%s, one of %d calls is answered: Decide() = %+v, %v after %d calls and %s, want %s after %s", test.kind, test.every, v, err, calls, took, test.want, test.after)
			}
		})
	}
}

// TestSamplesOfACallHaveTheirNumbers: each sample has its own number, also those of one
// call, and one that a call did not give is asked for again under its own.
func TestSamplesOfACallHaveTheirNumbers(t *testing.T) {
	for _, short := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := &batch{script: script{replies: texts("a", "a", "a", "b", "a", "a", "a", "a", "a", "a")}, short: short}
			b := New(only(m), readers, &Options{PerCall: 3})
			defer b.Close()
			var numbers []int
			if _, err := b.Decide(t.Context(), question(firstToK(6, 20)), Watch{Sample: func(s *Sample) { numbers = append(numbers, s.N) }}); err != nil {
				t.Fatal(err)
			}
			slices.Sort(numbers)
			if want := []int{0, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(numbers, want) {
				t.Errorf("the samples are %v, want %v", numbers, want)
			}
		})
	}
}

// counting counts what is read, and gives all answers the empty key.
type counting struct {
	n   *int
	key func(string) string
}

func (c counting) Read(text string) (domain.Answer, *redflag.Flag) {
	*c.n++
	return domain.Answer{Value: json.RawMessage(fmt.Sprintf("%q", text)), Key: c.key(text)}, nil
}

func countedReaders(n *int, key func(string) string) domain.Readers {
	return domain.Readers{"plain": func(json.RawMessage) (domain.Reader, error) { return counting{n, key}, nil }}
}

// TestEqualTextsAreReadOnce: to read an answer may be dear.
func TestEqualTextsAreReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		b := New(only(&script{replies: texts("a", "a", "b", "a", "a")}), countedReaders(&n, func(s string) string { return s }), nil)
		defer b.Close()
		if _, err := b.Decide(t.Context(), question(firstToK(3, 9)), Watch{}); err != nil || n != 2 {
			t.Errorf("%d of 5 answers were read (%v), want 2", n, err)
		}
	})
}

// TestNothingIsNoCall: an answer that is empty does not agree with a call, which has no
// text either.
func TestNothingIsNoCall(t *testing.T) {
	w := &workers{results: []agent.Result{wants("Write", `{"x":1}`), answers(""), answers("")}}
	b := New([]Voter{{Name: "m", Agent: w}}, readers, &Options{Tools: registry(t), BatchSize: 1})
	defer b.Close()
	q := question(firstToK(2, 4))
	q.Flags.Empty.On = false
	q.Work = &flow.Work{Tools: []string{"Write"}}
	var values []string
	v, err := b.Decide(t.Context(), q, Watch{Sample: func(s *Sample) { values = append(values, string(s.Answer.Value)) }})
	if err != nil || v.Intent != nil || v.Voting.Votes[""] != 3 || v.Voting.Votes[`call Write {"x":1}`] != 1 {
		t.Errorf("Decide() = %+v, %v, want the empty answer to win against the call", v, err)
	}
	want, _ := json.Marshal(tool.Intent{Tool: "Write", Input: json.RawMessage(`{"x":1}`)})
	if len(values) != 4 || values[0] != string(want) {
		t.Errorf("the samples are %q, want the call %s first", values, want)
	}
}

// TestRepairedIsWhatWins: a verdict is called repaired if the answer that won was, which
// is the first with its key.
func TestRepairedIsWhatWins(t *testing.T) {
	whole := agent.Result{Text: "x", Stop: model.StopEnd, Output: json.RawMessage(`"x"`)}
	broken := whole
	broken.Text, broken.Repaired = "x…", true
	for name, test := range map[string]struct {
		results []agent.Result
		key     func(string) string
		want    bool
	}{
		"neither":             {[]agent.Result{whole, whole}, func(s string) string { return s }, false},
		"the first":           {[]agent.Result{broken, whole}, func(s string) string { return s }, true},
		"the second":          {[]agent.Result{whole, broken}, func(s string) string { return s }, false},
		"the first, no key":   {[]agent.Result{broken, whole}, func(string) string { return "" }, true},
		"the second, no key":  {[]agent.Result{whole, broken}, func(string) string { return "" }, false},
		"the third of a kind": {[]agent.Result{answers("y"), whole, broken}, func(s string) string { return s }, false},
	} {
		n := 0
		w := &workers{results: test.results}
		b := New([]Voter{{Name: "m", Agent: w}}, countedReaders(&n, test.key), &Options{BatchSize: 1})
		q := question(firstToK(2, 6))
		q.Work = &flow.Work{}
		v, err := b.Decide(t.Context(), q, Watch{})
		b.Close()
		if err != nil || v.Status != flow.Decided || v.Repaired != test.want {
			t.Errorf("%s: Decide() = %+v, %v, want repaired %t", name, v, err, test.want)
		}
	}
}

// TestEarlierEdges: numbers that no sample has, sessions that had only faults, and
// voters who voted before.
func TestEarlierEdges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resumed := 0
		decideWith := func(w Watch) *flow.Verdict {
			t.Helper()
			w.Resumed = func(n []int) {
				resumed++
				if len(n) > 0 && n[0] >= maxEarlier {
					t.Errorf("the earlier samples %v count", n)
				}
			}
			voters := []Voter{{Name: "a", Model: &script{replies: texts("x", "x", "x")}}, {Name: "b", Model: &script{replies: texts("x", "x", "x")}}}
			b := New(voters, readers, nil)
			defer b.Close()
			v, err := b.Decide(t.Context(), question(firstToK(3, 9)), w)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if v := decideWith(Watch{EarlierFaults: 1}); v.Voting.Faults != 1 || resumed != 0 {
			t.Errorf("a vote with an earlier fault has %d and told %d times of earlier samples, want 1 and 0", v.Voting.Faults, resumed)
		}
		if v := decideWith(Watch{Earlier: []Earlier{sampled(maxEarlier, "x")}}); v.Voting.Samples != 3 || resumed != 1 {
			t.Errorf("%d samples, %d times resumed, want 3 and 1", v.Voting.Samples, resumed)
		}
		earlier := sampled(1, "x")
		earlier.Voter = "b"
		v := decideWith(Watch{Earlier: []Earlier{earlier}})
		if diff := cmp.Diff(map[string]map[string]int{"a": {"x": 2}, "b": {"x": 1}}, v.Voting.ByModel); diff != "" {
			t.Errorf("votes by model (-want +got):\n%s", diff)
		}
	})
}

// TestFewVotesAreNoNearTie: two votes, one each, do not show that further ones are in vain.
func TestFewVotesAreNoNearTie(t *testing.T) {
	for _, c := range []struct {
		rule  vote.Strategy
		votes string // one letter each
		want  bool
	}{
		{vote.Adaptive, "", false}, {vote.Adaptive, "ab", false}, {vote.Adaptive, "abababa", false},
		{vote.Adaptive, "abababababab", true}, {vote.Adaptive, "aaaaaaaaaabb", false}, {vote.FirstToK, "abababababab", false},
	} {
		rule := vote.Rule{Strategy: c.rule, K: 3, Target: .05, MaxSamples: 50}
		r := race{q: question(rule), tally: *vote.NewTally(rule, 20)}
		for _, v := range c.votes {
			r.tally.Vote(string(v))
		}
		if got := r.split() != ""; got != c.want {
			t.Errorf("%s, %q: a near tie is %t, want %t", c.rule, c.votes, got, c.want)
		}
	}
}
