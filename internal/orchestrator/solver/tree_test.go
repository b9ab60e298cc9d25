package solver

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/vote"
)

// TestMemo: a problem is asked about once, wherever it comes up, and the solution
// is the same everywhere.
func TestMemo(t *testing.T) {
	asking := map[string]int{}
	f := run(t, "1+2+3+1+2+4+ 1+2", config, voters(adders).but(func(a asked) string {
		if a.sample == 0 {
			asking[a.Ask+" "+Normal(a.Problem)]++
		}
		return ""
	}))
	for what, n := range asking {
		if n != 1 {
			t.Errorf("asked %d times to %q", n, what)
		}
	}
	memo := 0
	for _, e := range eventsOf[event.SubproblemSolved](f) {
		if e.By == event.ByMemo {
			memo++
			if e.From == "" || e.From == e.Path {
				t.Errorf("%+v, want where it is known from", e)
			}
		}
	}
	if memo == 0 {
		t.Error("nothing was known from before")
	}
	if got, failure := result(t, f); got.Answer != "16" {
		t.Errorf("result = %+v, %s, want 16", got, failure)
	}
	checkSteps(t, f)
}

// TestMemoOfGaps: what is missing may be known already.
func TestMemoOfGaps(t *testing.T) {
	cfg := config
	cfg.Domain, cfg.Adapter = "anything", anything{}
	f := run(t, "1+2+3", cfg, voters(adders).but(func(a asked) string {
		if a.Ask == "check" && a.Answer == "6" {
			return incomplete("1+2", "4")
		}
		return ""
	}))
	solved := map[string]string{}
	for _, e := range eventsOf[event.SubproblemSolved](f) {
		solved[e.Path] = e.By + " " + e.From
	}
	if diff := cmp.Diff(map[string]string{"0.0": "vote ", "0.1": "vote ", "f0.0": "memo 0.0", "f0.1": "vote "}, solved); diff != "" {
		t.Errorf("solved: -want +got\n%s", diff)
	}
	checkSteps(t, f)
}

// TestProblemsThatLeadToEachOther: P needs Q and Q needs P. Neither may wait for
// the other for ever.
func TestProblemsThatLeadToEachOther(t *testing.T) {
	cfg := config
	cfg.Domain, cfg.Adapter = "anything", anything{}
	cfg.Escalate = []Escalation{}
	f := run(t, "the whole of it", cfg, func(a asked) string {
		switch {
		case a.Ask == "decompose" && a.Problem == "the whole of it":
			return parts("P", "Q")
		case a.Ask == "decompose" && a.Problem == "P":
			return parts("Q", "x")
		case a.Ask == "decompose" && a.Problem == "Q":
			return parts("P", "y")
		case a.Ask == "decompose":
			return atom()
		case a.Ask == "answer":
			return answer("done")
		case a.Ask == "check":
			return complete()
		default:
			return solution("solved " + a.Problem)
		}
	})
	if got, failure := result(t, f); failure != "" || !strings.Contains(strings.Join(got.Remarks, "\n"), "nobody agrees on how to split it") {
		t.Errorf("result = %+v, %s, want success and a remark about the cycle", got, failure)
	}
	checkSteps(t, f)
}

// TestAnyTreeEnds draws voters at random who split a few problems into each other,
// in every way, disagree and fail: every run ends by itself, within bounds, with
// its steps in order, and does the same when it runs again.
func TestAnyTreeEnds(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(80) {
		cfg := config
		cfg.Domain, cfg.Adapter = "anything", anything{}
		cfg.MaxDepth, cfg.MaxNodes = 4, 20
		cfg.Escalate = []Escalation{Diversity, Split}
		people := func(a asked) string {
			// The same question has the same answers, and samples mostly agree.
			mood := rand.New(rand.NewPCG(seed, uint64(len(a.Problem))*131+uint64(a.Problem[0])))
			if rand.New(rand.NewPCG(seed, uint64(a.sample))).IntN(5) == 0 {
				mood = rand.New(rand.NewPCG(seed, uint64(a.sample)*7+1))
			}
			name := func() string { return fmt.Sprintf("%c problem", 'A'+mood.IntN(8)) }
			switch n := mood.IntN(10); {
			case n == 0:
				return "nonsense"
			case a.Ask == "decompose" && n < 3:
				return atom()
			case a.Ask == "decompose":
				return parts(name(), name())
			case a.Ask == "pick":
				return picked(a.Options[mood.IntN(len(a.Options))].Label)
			case a.Ask == "answer":
				return answer(name())
			case a.Ask == "check" && n < 4:
				return incomplete(name(), name())
			case a.Ask == "check":
				return complete()
			default:
				return solution(name())
			}
		}
		f := run(t, "The problem of problems", cfg, people)
		checkSteps(t, f)
		// Each node is split, solved and composed at most, with two ways, a split and
		// picks; then there are checks and gaps.
		if len(f.Asked) > cfg.MaxNodes*3*3*2+100 {
			t.Fatalf("seed %d: %d questions", seed, len(f.Asked))
		}
		again := run(t, "The problem of problems", cfg, people)
		if !reflect.DeepEqual(f.Asked, again.Asked) {
			t.Fatalf("seed %d: the second run asked something else: -first +second\n%s", seed, cmp.Diff(f.Asked, again.Asked))
		}
		if !reflect.DeepEqual(f.Events, again.Events) {
			t.Fatalf("seed %d: the second run said something else: -first +second\n%s", seed, cmp.Diff(f.Events, again.Events))
		}
		_, failure := result(t, f)
		status, _, _ := strings.Cut(failure, ":")
		ends[status]++
	}
	// The drawing is worth something only if runs end in all ways.
	for _, status := range []string{"", event.StatusFailed, event.StatusUndecided} {
		if ends[status] < 5 {
			t.Errorf("%d runs ended as %q: %v", ends[status], status, ends)
		}
	}
}

// TestLimits: the tree is never larger than allowed.
func TestLimits(t *testing.T) {
	terms := strings.TrimSuffix(strings.Repeat("1+", 64), "+")
	for i := range 64 { // all different, so that the memo has nothing to do
		terms = strings.Replace(terms, "1", fmt.Sprint(i+2), 1)
	}
	for _, test := range []struct {
		depth, nodes int
		limit        string
		most         int
	}{
		{1, 511, "the depth limit is 1", 3},
		{3, 511, "the depth limit is 3", 15},
		{20, 9, "the limit of nodes is 9", 9},
		{20, 10, "the limit of nodes is 10", 9},
	} {
		cfg := config
		cfg.MaxDepth, cfg.MaxNodes = test.depth, test.nodes
		cfg.Domain, cfg.Adapter = "anything", anything{}
		f := run(t, terms, cfg, voters(adders).but(func(a asked) string {
			if a.Ask == "solve" {
				return solution("some")
			}
			return ""
		}))
		paths := map[string]bool{}
		limited := 0
		for _, e := range eventsOf[event.DecompositionSelected](f) {
			paths[e.Path] = true
			if e.By == event.ByLimit && e.Reason == test.limit && e.Atomic {
				limited++
			}
		}
		if len(paths) > test.most || limited == 0 {
			t.Errorf("depth %d, nodes %d: %d nodes, %d of them limited; want at most %d and some", test.depth, test.nodes, len(paths), limited, test.most)
		}
		checkSteps(t, f)
	}
}

func TestMemory(t *testing.T) {
	var m memory
	for i := range 50 {
		m.learn(fmt.Sprint("problem ", i), Solution{Solution: strings.Repeat("长", 400), Work: fmt.Sprint(i, strings.Repeat("é", 50))})
	}
	if len(m.notes) != MaxNotes || !strings.HasPrefix(m.notes[MaxNotes-1], "problem 49: 长") {
		t.Errorf("%d notes, the last one %q, want the latest %d", len(m.notes), m.notes[len(m.notes)-1], MaxNotes)
	}
	for _, note := range m.notes {
		if n := utf8.RuneCountInString(note); n > maxNote || !utf8.ValidString(note) {
			t.Errorf("a note of %d characters, want at most %d", n, maxNote)
		}
	}
	if n := utf8.RuneCountInString(m.work); n != MaxWork || !strings.HasSuffix(m.work, "é") || !utf8.ValidString(m.work) {
		t.Errorf("%d characters of work, want the last %d", n, MaxWork)
	}
}

// finder finds the same things everywhere.
type finder struct{ anything }

func (finder) Evidence(text string) domain.Evidence {
	return domain.Evidence{Equations: []string{"x = 1", "y = 2", "z = 3"}, Points: []string{"(1, 2)", "(3, 4)", "(5, 6)"}}
}

func TestFacts(t *testing.T) {
	cfg := config
	cfg.Adapter, cfg.Domain, cfg.Facts = finder{}, "anything", []string{"given", "x = 1"}
	s, err := newSolver("1+2+3", cfg)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"given", "x = 1", "y = 2", "z = 3", "(1, 2)"}, s.memory.facts); diff != "" {
		t.Errorf("facts: -want +got\n%s", diff)
	}
	// They are what support an answer that was not composed, too.
	f := run(t, "1+2", cfg, adders)
	got, _ := result(t, f)
	if diff := cmp.Diff(Support{Summary: "it is 3", Equations: []string{"x = 1", "y = 2", "z = 3"}, Points: []string{"(1, 2)", "(3, 4)", "(5, 6)"}}, got.Support); diff != "" {
		t.Errorf("support: -want +got\n%s", diff)
	}
}

func TestConfigErrors(t *testing.T) {
	ok := config
	for _, test := range []struct {
		problem string
		change  func(*Config)
		want    string
	}{
		{"  \n", func(*Config) {}, "the problem is empty"},
		{"\xff", func(*Config) {}, "not valid UTF-8"},
		{"p", func(c *Config) { c.Adapter = nil }, "set Adapter"},
		{"p", func(c *Config) { c.Rule = vote.Rule{} }, "Rule: vote: max samples"},
	} {
		cfg := ok
		test.change(&cfg)
		f := newFlow(t, decider(t, adders))
		if err := Run(f, test.problem, cfg); err == nil || !strings.Contains(err.Error(), test.want) || len(f.Events) > 0 {
			t.Errorf("Run(%q) = %v with %d events, want an error with %q and none", test.problem, err, len(f.Events), test.want)
		}
	}
	for _, rule := range []vote.Rule{
		{Strategy: vote.None, MaxSamples: 3}, {Strategy: vote.Majority, N: 3, MaxSamples: 5}, {Strategy: vote.FirstToK, K: 4, MaxSamples: 4},
	} {
		cfg := ok
		cfg.NoDirect, cfg.Rule = false, rule
		if got, failure := result(t, run(t, "1+2+3", cfg, adders)); got.Answer != "6" {
			t.Errorf("%s: result = %+v, %s, want 6", rule.Strategy, got, failure)
		}
	}
}
