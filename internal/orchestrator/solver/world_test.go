package solver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

// asked is the input of a prompt, as whoever answers it reads it.
type asked struct {
	Ask       string `json:"ask"`
	Problem   string `json:"problem"`
	Facts     []string
	MustSplit bool `json:"must_split"`
	Options   []struct {
		Label    string `json:"label"`
		IsAtomic bool   `json:"is_atomic"`
		PartA    string `json:"subproblem_a"`
		PartB    string `json:"subproblem_b"`
	} `json:"options"`
	A      struct{ Problem, Solution string } `json:"a"`
	B      struct{ Problem, Solution string } `json:"b"`
	Answer string                             `json:"answer"`
	Notes  []string                           `json:"notes"`
	Wrong  string                             `json:"known_problem"`
	Work   string                             `json:"work"`

	model  string // group that is asked
	sample int
}

// read finds the input of a prompt.
func read(prompt string) (asked, error) {
	var a asked
	line := inputOf(prompt)
	if line == "" {
		return a, errors.New("the prompt has no input")
	}
	return a, json.Unmarshal([]byte(line), &a)
}

// inputOf is the line of a prompt that is its input, wherever a framing has it.
func inputOf(prompt string) string {
	_, after, _ := strings.Cut("\n"+prompt, "\nInput:\n")
	line, _, _ := strings.Cut(after, "\n")
	return line
}

// voters say what a sample answers.
type voters func(a asked) string

// sums is a domain in which everything is known: problems are sums such as
// "1+2+3".
type sums struct{}

func (sums) Equivalent(a, b string) bool {
	x, errX := strconv.Atoi(strings.TrimSpace(a))
	y, errY := strconv.Atoi(strings.TrimSpace(b))
	return errX == nil && errY == nil && x == y || a == b
}

func (sums) Verify(problem, solution string) error {
	want, ok := sumOf(problem)
	if got, err := strconv.Atoi(strings.TrimSpace(solution)); ok && (err != nil || got != want) {
		return fmt.Errorf("%s is not %s", problem, solution)
	}
	return nil
}

func (sums) Compose(_, how string, a, b domain.Part) (string, bool) {
	x, errX := strconv.Atoi(a.Solution)
	y, errY := strconv.Atoi(b.Solution)
	return strconv.Itoa(x + y), how == "add" && errX == nil && errY == nil
}

func (sums) FlagPatterns() []string { return []string{`^n/a$`} }

func sumOf(problem string) (int, bool) {
	sum := 0
	for term := range strings.SplitSeq(problem, "+") {
		n, err := strconv.Atoi(strings.TrimSpace(term))
		if err != nil {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

// anything is a domain in which nothing is known.
type anything struct{}

func (anything) Equivalent(a, b string) bool { return a == b }
func (anything) Verify(string, string) error { return nil }

var adapters = map[string]domain.Adapter{"sums": sums{}, "anything": anything{}}

func solution(text string) string {
	return string(encode(Solution{Solution: text, Confidence: 0.9, Work: "it is " + text}))
}

func answer(text string) string {
	return string(encode(Conclusion{Answer: text, Confidence: 0.9, Support: Support{Summary: "so it is", Equations: []string{}, Points: []string{}}}))
}

func parts(a, b string) string {
	return string(encode(Proposal{PartA: a, PartB: b, Compose: "add", Rationale: "two are simpler than one"}))
}

func atom() string { return string(encode(Proposal{IsAtomic: true, Rationale: "it is small"})) }

func complete() string {
	return `{"requirements":[{"requirement":"the sum","status":"ADDRESSED","reason":"it is there"}],"complete":true,"missing_work":[]}`
}

func incomplete(items ...string) string {
	return string(encode(Check{Missing: items, Requirements: []event.Requirement{{Requirement: "all", Status: Missing, Reason: "not there"}}}))
}

// adders are always right, except that nobody adds more than two numbers at once.
func adders(a asked) string {
	terms := strings.Split(a.Problem, "+")
	switch a.Ask {
	case "decompose":
		if len(terms) <= 2 && !a.MustSplit {
			return atom()
		}
		half := (len(terms) + 1) / 2
		return parts(strings.Join(terms[:half], "+"), strings.Join(terms[half:], "+"))
	case "pick":
		best := a.Options[0]
		for _, o := range a.Options[1:] {
			if o.PartA > best.PartA {
				best = o
			}
		}
		return picked(best.Label)
	case "solve":
		if len(terms) > 2 {
			return solution(fmt.Sprint("too many: ", a.sample))
		}
		sum, _ := sumOf(a.Problem)
		return solution(strconv.Itoa(sum))
	case "compose", "answer":
		sum, _ := sumOf(a.A.Solution + "+" + a.B.Solution)
		if a.Ask == "answer" {
			return answer(strconv.Itoa(sum))
		}
		return solution(strconv.Itoa(sum))
	default:
		return complete()
	}
}

func picked(label string) string {
	return string(encode(map[string]string{"pick": label, "reason": "it is best"}))
}

// but has some questions answered by others: those for which they have an answer.
func (v voters) but(others voters) voters {
	return func(a asked) string {
		if text := others(a); text != "" {
			return text
		}
		return v(a)
	}
}

// decider has voters decide questions, as a ballot does: one sample at a time.
func decider(t testing.TB, v voters) flowtest.Decider {
	t.Helper()
	readers, err := Readers(adapters)
	if err != nil {
		t.Fatal(err)
	}
	return func(_ string, q *flow.Question) (*flow.Verdict, error) {
		reader, err := readers.New(q.Answer.Reader, q.Answer.Params)
		if err != nil {
			return nil, err
		}
		if err := q.Rule.Validate(); err != nil {
			return nil, err
		}
		tally := vote.NewTally(q.Rule)
		first := map[string]json.RawMessage{}
		reason := ""
		for n := 0; ; n++ {
			switch d := tally.Decision(); d.Outcome {
			case vote.Won:
				return verdict(flow.Decided, tally, first[d.Key], first, ""), nil
			case vote.Stuck:
				if tally.Votes() == 0 {
					return verdict(flow.FlaggedOut, tally, nil, first, "all were discarded: "+reason), nil
				}
				return verdict(flow.Undecided, tally, nil, first, "no answer won"), nil
			}
			prompt := q.Prompt
			if len(q.Variants) > 0 {
				prompt = q.Variants[n%len(q.Variants)]
			}
			a, err := read(prompt)
			if err != nil {
				return nil, err
			}
			a.model, a.sample = q.Model, n
			got, flag := reader.Read(v(a))
			if flag != nil {
				reason = flag.Name
				tally.Flag()
				continue
			}
			if first[got.Key] == nil {
				first[got.Key] = got.Value
			}
			tally.Vote(got.Key)
		}
	}
}

func verdict(status flow.Status, tally *vote.Tally, won json.RawMessage, first map[string]json.RawMessage, reason string) *flow.Verdict {
	v := &flow.Verdict{Status: status, Answer: won, Reason: reason, Voting: event.Voting{
		Strategy: vote.FirstToK, Samples: tally.Samples(), RedFlagged: tally.Flags(), Margin: tally.Margin(), Votes: map[string]int{},
	}}
	counts := slices.Clone(tally.Counts())
	slices.SortStableFunc(counts, func(a, b vote.Count) int { return b.Votes - a.Votes })
	for _, c := range counts {
		v.Voting.Votes[vote.ShortKey(c.Key)] = c.Votes
		if status == flow.Undecided && len(v.Candidates) < 8 {
			v.Candidates = append(v.Candidates, event.Candidate{Answer: first[c.Key], Votes: c.Votes})
			v.Voting.Answers = v.Candidates
		}
	}
	return v
}

var config = Config{
	Domain: "sums", Adapter: sums{}, NoDirect: true, Prompts: prompts.Default(),
	Terms:      flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 6}, MaxOutput: 750},
	AtomOutput: 500, MaxDepth: 6, MaxNodes: 511, MaxFillRounds: 2, MaxStagnant: 2,
	Escalate: []Escalation{Diversity, Model, Split, Person},
}

// newFlow is a scripted flow that knows the domains of the tests.
func newFlow(t testing.TB, decide flowtest.Decider) *flowtest.Flow {
	f := flowtest.New(decide)
	f.OnObserve = func(_ string, l flow.Look) (any, error) {
		look, ok := Looks(adapters)[l.Kind]
		if !ok {
			t.Fatalf("nobody looks at %s", l.Kind)
		}
		return look(t.Context(), l.Params)
	}
	return f
}

// run solves problem with a scripted flow.
func run(t testing.TB, problem string, cfg Config, v voters) *flowtest.Flow {
	t.Helper()
	f := newFlow(t, decider(t, v))
	if err := Run(f, problem, cfg); err != nil {
		t.Fatalf("Run(%q) = %v", problem, err)
	}
	return f
}

// result returns how the run ended: its result, or that of its best draft with the
// reason.
func result(t testing.TB, f *flowtest.Flow) (Result, string) {
	t.Helper()
	var draft Result
	for _, e := range f.Events {
		switch e := e.(type) {
		case event.AnswerComposed:
			if e.Draft {
				draft = mustDecode[Result](t, e.Answer.JSON)
			}
		case event.TaskCompleted:
			return mustDecode[Result](t, e.Output.JSON), ""
		case event.TaskFailed:
			return draft, e.Status + ": " + e.Reason
		}
	}
	t.Fatal("the run did not end")
	return draft, ""
}

func mustDecode[T any](t testing.TB, raw json.RawMessage) T {
	t.Helper()
	v, err := decode[T](raw)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// events of one type.
func eventsOf[E event.Event](f *flowtest.Flow) []E {
	var list []E
	for _, e := range f.Events {
		if e, ok := e.(E); ok {
			list = append(list, e)
		}
	}
	return list
}
