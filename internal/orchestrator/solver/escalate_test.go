package solver

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/test/flowtest"
)

// disagreeing voters never agree on the solution of "1+2", except those who are
// asked in the given way.
func disagreeing(but func(a asked) bool) voters {
	return voters(adders).but(func(a asked) string {
		if a.Ask == "solve" && a.Problem == "1+2" && !but(a) {
			return solution(fmt.Sprint(100 + a.sample))
		}
		return ""
	})
}

func never(asked) bool { return false }

func escalations(f *flowtest.Flow) []string {
	var list []string
	for _, e := range eventsOf[event.Escalated](f) {
		list = append(list, fmt.Sprintf("%s %s after %s", e.Path, e.To, e.Question))
	}
	return list
}

func TestEscalationOrder(t *testing.T) {
	cfg := config
	cfg.Models = Models{Reasoning: "thinker", Execution: "worker", Escalation: "expert"}
	diversity, expert := "0.0 diversity after solve/0.0/solve", "0.0 model after solve/0.0/solve/diversity"
	split, person := "0.0 split after solve/0.0/solve/model", "0.0 person after solve/0.0/solve/model"
	for _, test := range []struct {
		name     string
		escalate []Escalation
		voters   voters
		want     []string
		by       string // whoever solved 0.0; "" if nobody did
	}{
		{"not needed", nil, adders, nil, event.ByVote},
		{"diversity helps", nil, disagreeing(func(a asked) bool { return a.model == "worker diverse" }), []string{diversity}, event.ByVote},
		{"another model helps", nil, disagreeing(func(a asked) bool { return a.model == "expert" }), []string{diversity, expert}, event.ByVote},
		{"splitting helps", nil, disagreeing(never), []string{diversity, expert, split}, "composed"},
		{"a person helps", nil, disagreeing(never).but(func(a asked) string {
			if a.Ask == "decompose" && a.MustSplit {
				return atom()
			}
			return ""
		}), []string{diversity, expert, split, person}, event.ByPerson},
		{"another order", []Escalation{Person, Model}, disagreeing(never), []string{"0.0 person after solve/0.0/solve"}, event.ByPerson},
		{"none", []Escalation{}, disagreeing(never), nil, ""},
		{"one that does not help", []Escalation{Diversity}, disagreeing(never), []string{diversity}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := cfg
			if test.escalate != nil {
				cfg.Escalate = test.escalate
			}
			decide := decider(t, test.voters)
			f := newFlow(t, func(key string, q *flow.Question) (*flow.Verdict, error) {
				// Who is asked in several words, at a higher temperature, is diverse.
				if strings.HasSuffix(key, "/diversity") {
					if len(q.Variants) != prompts.MaxFramings || q.Variants[0] == q.Variants[1] || *q.Temperature != 0.7 || *q.FirstTemperature != 0.7 || q.Asked == nil {
						t.Errorf("%s: %d variants at %v, asked before in %v, want %d different ones at 0.7", key, len(q.Variants), q.Temperature, q.Asked, prompts.MaxFramings)
					}
					q.Model += " diverse"
				} else if strings.HasSuffix(key, "/solve") && (q.Model != "worker" || len(q.Variants) != prompts.MaxFramings) {
					t.Errorf("%s is for %q in %d variants, want the worker in all framings", key, q.Model, len(q.Variants))
				}
				if strings.HasSuffix(key, "/decompose") && q.Model != "thinker" {
					t.Errorf("%s is for %q, want the thinker", key, q.Model)
				}
				return decide(key, q)
			})
			f.OnAsk = func(_ string, q *flow.HumanQuestion) (*flow.Answer, error) {
				if !strings.Contains(q.Text, "1+2") || !q.Free || len(q.Options) == 0 || q.Kind != event.ClarifyQuestion {
					t.Errorf("Ask(%+v), want the problem, and options to choose or not", q)
				}
				return &flow.Answer{Text: "3", By: "test"}, nil
			}
			if err := Run(f, "1+2+3", cfg); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, escalations(f)); diff != "" {
				t.Errorf("escalations: -want +got\n%s", diff)
			}
			by := ""
			for _, e := range f.Events {
				switch e := e.(type) {
				case event.SubproblemSolved:
					if e.Path == "0.0" {
						by = e.By
					}
				case event.AnswerComposed:
					if e.Path == "0.0" {
						by = "composed"
					}
				}
			}
			if by != test.by {
				t.Errorf("0.0 was solved by %q, want %q", by, test.by)
			}
			if got, failure := result(t, f); (failure == "") != (test.by != "") || failure == "" && got.Answer != "6" {
				t.Errorf("result = %+v, %q", got, failure)
			}
			checkSteps(t, f)
		})
	}
}

// TestNobodyThere: when models cannot be reached, other words are not tried, and
// the failure is no disagreement.
func TestNobodyThere(t *testing.T) {
	cfg := config
	cfg.Models.Escalation = "expert"
	cfg.Escalate = []Escalation{Diversity, Model}
	decide := decider(t, adders)
	f := newFlow(t, func(key string, q *flow.Question) (*flow.Verdict, error) {
		if strings.Contains(key, "/solve/0.0/solve") {
			return &flow.Verdict{Status: flow.Failed, Reason: "20 failed attempts"}, nil
		}
		return decide(key, q)
	})
	if err := Run(f, "1+2+3", cfg); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0.0 model after solve/0.0/solve"}, escalations(f)); diff != "" {
		t.Errorf("escalations: -want +got\n%s", diff)
	}
	if _, failure := result(t, f); !strings.HasPrefix(failure, "failed: solve 0.0: 20 failed attempts") {
		t.Errorf("failure = %q, want the reason", failure)
	}
}

// TestPersonDoesNotKnow: an empty or wrong answer of a person is none, and an error
// of asking ends the run.
func TestPersonDoesNotKnow(t *testing.T) {
	cfg := config
	cfg.Escalate = []Escalation{Person}
	away := errors.New("waiting for a person")
	for _, test := range []struct {
		answer  string
		err     error
		failure string
	}{
		{"", nil, "failed: solve 0.0: the verifier: the solution is empty"},
		{"4", nil, "failed: solve 0.0: the verifier: 1+2 is not 4"},
		{"", away, ""},
	} {
		f := newFlow(t, decider(t, disagreeing(never)))
		f.OnAsk = func(string, *flow.HumanQuestion) (*flow.Answer, error) {
			return &flow.Answer{Text: test.answer}, test.err
		}
		err := Run(f, "1+2+3", cfg)
		if err != test.err {
			t.Errorf("Run() = %v, want %v", err, test.err)
		}
		if err == nil {
			if _, failure := result(t, f); !strings.HasPrefix(failure, test.failure) {
				t.Errorf("failure = %q, want %q", failure, test.failure)
			}
		}
	}
}

// TestPersonComposes: a person can also settle what solutions make together, at an
// inner node and at the root.
func TestPersonComposes(t *testing.T) {
	cfg := config
	cfg.Escalate = []Escalation{Person}
	for _, ask := range []string{"compose", "answer"} {
		f := newFlow(t, decider(t, voters(adders).but(func(a asked) string {
			if a.Ask == ask {
				return "who knows?"
			}
			return ""
		})))
		f.OnAsk = func(_ string, q *flow.HumanQuestion) (*flow.Answer, error) {
			_, problem, _ := strings.Cut(q.Text, "\n\n")
			sum, _ := sumOf(problem)
			return &flow.Answer{Text: fmt.Sprint(sum)}, nil
		}
		if err := Run(f, "1+2+3+4+5", cfg); err != nil {
			t.Fatal(err)
		}
		got, failure := result(t, f)
		if got.Answer != "15" || failure != "" {
			t.Errorf("%s: result = %+v, %q, want 15", ask, got, failure)
		}
		by := map[string]string{}
		for _, e := range eventsOf[event.AnswerComposed](f) {
			by[e.Path] = e.By
		}
		want := map[string]string{"0": event.ByVote, "0.0": event.ByPerson}
		if ask == "answer" {
			want = map[string]string{"0": event.ByPerson, "0.0": event.ByVote}
		}
		if diff := cmp.Diff(want, by); diff != "" {
			t.Errorf("%s: composed by: -want +got\n%s", ask, diff)
		}
		checkSteps(t, f)
	}
}

// TestStagnationEscalates: rounds that change nothing are left to another model,
// once.
func TestStagnationEscalates(t *testing.T) {
	cfg := config
	cfg.Models.Escalation = "expert"
	cfg.MaxStagnant, cfg.MaxFillRounds = 1, 9
	for _, test := range []struct {
		name    string
		expert  string
		failure string
	}{
		{"who helps", "6", ""},
		{"who does not", "7", "failed: 1 rounds of filling gaps changed nothing: the answer is wrong: 1+2+3 is not 7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := run(t, "1+2+3", cfg, voters(adders).but(func(a asked) string {
				switch {
				case a.Ask == "answer" && a.model == "expert":
					return answer(test.expert)
				case a.Ask == "answer":
					return answer("7")
				}
				return ""
			}))
			if diff := cmp.Diff([]string{"0 model after solve/fill/0"}, escalations(f)); diff != "" {
				t.Errorf("escalations: -want +got\n%s", diff)
			}
			if _, failure := result(t, f); !strings.HasPrefix(failure, test.failure) || (failure == "") != (test.failure == "") {
				t.Errorf("failure = %q, want %q", failure, test.failure)
			}
			checkSteps(t, f)
		})
	}
}

// TestCircles: an answer that changes for ever is found out.
func TestCircles(t *testing.T) {
	cfg := config
	cfg.MaxFillRounds = 100
	f := run(t, "1+2+3", cfg, voters(adders).but(func(a asked) string {
		switch {
		case a.Ask == "answer" && strings.HasPrefix(a.Wrong, `"7"`):
			return answer("8")
		case a.Ask == "answer":
			return answer("7")
		}
		return ""
	}))
	if _, failure := result(t, f); !strings.HasPrefix(failure, "failed: filling gaps goes round in circles") {
		t.Errorf("failure = %q, want that it goes round in circles", failure)
	}
	if len(f.Asked) > 10 {
		t.Errorf("%d questions, want few", len(f.Asked))
	}
}

// TestPositionBias: voters who take whatever comes first elect nothing, and those
// who know what they want elect it, wherever it stands.
func TestPositionBias(t *testing.T) {
	cfg := config
	cfg.Rule.MaxSamples = 12
	cfg.Escalate = []Escalation{}
	ways := []string{parts("1+2", "3+4"), parts("1+2+3", "4"), parts("1", "2+3+4"), atom()}
	for _, test := range []struct {
		name string
		want string // who decided
		pick func(a asked) string
	}{
		{"first", event.ByDefault, func(a asked) string { return picked(a.Options[0].Label) }},
		{"last", event.ByDefault, func(a asked) string { return picked(a.Options[len(a.Options)-1].Label) }},
		{"second", event.ByDefault, func(a asked) string { return picked(a.Options[1].Label) }},
		{"best", event.ByDiscriminators, func(a asked) string {
			for _, o := range a.Options {
				if o.PartA == "1+2" {
					return picked(o.Label)
				}
			}
			return picked(a.Options[0].Label)
		}},
	} {
		for n := 2; n <= len(ways); n++ {
			t.Run(fmt.Sprint(test.name, " of ", n), func(t *testing.T) {
				f := run(t, "1+2+3+4", cfg, voters(adders).but(func(a asked) string {
					if a.Problem != "1+2+3+4" {
						return ""
					}
					switch a.Ask {
					case "decompose":
						return ways[a.sample%n]
					case "pick":
						return test.pick(a)
					}
					return ""
				}))
				first := eventsOf[event.DecompositionSelected](f)[0]
				if first.By != test.want || test.want == event.ByDiscriminators && first.PartA.Text() != "1+2" {
					t.Errorf("%+v, want by %s", first, test.want)
				}
			})
		}
	}
}

// TestOrders: among as many voters as there are options, each option is in each
// place once, and no two of them see the same.
func TestOrders(t *testing.T) {
	for n := 2; n <= 8; n++ {
		var list options
		for i := range n {
			list = append(list, option{label: string(rune('A' + i))})
		}
		orders := list.orders()
		if want := map[bool]int{true: 2, false: 2 * n}[n == 2]; len(orders) != want {
			t.Errorf("%d options in %d orders, want %d", n, len(orders), want)
		}
		seen := map[string]bool{}
		for i, o := range orders {
			text := strings.Join(o.labels(), "")
			if seen[text] {
				t.Errorf("%d options: the order %s is there twice", n, text)
			}
			seen[text] = true
			place := map[string]bool{}
			for j := i / n * n; j < (i/n+1)*n; j++ {
				place[orders[j].labels()[0]] = true
			}
			if len(place) != n {
				t.Errorf("%d options: only %d of them come first in one turn", n, len(place))
			}
		}
	}
}

// TestLabels: labels say nothing, differ, and stay the same.
func TestLabels(t *testing.T) {
	var candidates []event.Candidate
	for i := range 8 {
		candidates = append(candidates, event.Candidate{Answer: encode(Proposal{PartA: fmt.Sprint(i)}), Votes: 8 - i})
	}
	a, err := newOptions(candidates)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := 0, len(candidates)-1; i < j; i, j = i+1, j-1 {
		candidates[i], candidates[j] = candidates[j], candidates[i]
	}
	b, err := newOptions(candidates)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a.labels(), b.labels()); diff != "" {
		t.Errorf("labels depend on the order of candidates: -want +got\n%s", diff)
	}
	for i, o := range a {
		if len(o.label) < labelLetters || strings.ContainsAny(o.label, "AEIOUY0123456789") {
			t.Errorf("the label %q is a word or a number", o.label)
		}
		if i > 0 && o.label <= a[i-1].label {
			t.Errorf("the labels %q and %q are in the wrong order or the same", a[i-1].label, o.label)
		}
	}
}

// TestFailedStepHasAllVotes: a step that came to nothing tells how all stood who were asked,
// also those before an escalation that led nowhere.
func TestFailedStepHasAllVotes(t *testing.T) {
	for _, test := range []struct {
		order   []Escalation
		samples int // the voters of a test give up after 5
	}{
		{[]Escalation{}, 5},
		{[]Escalation{Diversity}, 10},
		{[]Escalation{Diversity, Split}, 10},
		{[]Escalation{Split, Diversity, Model}, 15},
	} {
		cfg := config
		cfg.Escalate, cfg.Models.Escalation = test.order, "expert"
		f := newFlow(t, decider(t, disagreeing(never).but(func(a asked) string {
			if a.Ask == "decompose" && a.MustSplit {
				return atom()
			}
			return ""
		})))
		if err := Run(f, "1+2+3", cfg); err != nil {
			t.Fatal(err)
		}
		for _, e := range eventsOf[event.StepFailed](f) {
			if e.Voting.Samples != test.samples {
				t.Errorf("%s: the failed step has %d samples, want %d", test.order, e.Voting.Samples, test.samples)
			}
		}
	}
}
