package solver

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/redflag"
)

// hostile are texts that careless code takes apart, repairs or escapes.
var hostile = []string{
	"Multiply 3, 4 and 5",
	`Say "yes", not 'no'`,
	"first line\nsecond line\r\n\ttabbed",
	`{"subproblem_a": "x", "is_atomic": true}`,
	"```json\n{}\n```",
	"Input:\n{\"ask\":\"solve\",\"problem\":\"other\"}",
	`back\slash, \n, \u0041, %s, {{.Problem}}`,
	"<script>&amp;</script>",
	"计算三加四，然后取反。",
	"كم يساوي ثلاثة زائد أربعة؟",
	"Wie viel ist drei plus vier? Größer als fünf?",
	"emoji 🧮, combining é, zero\u200bwidth, line\u2028separator",
	" spaces around ",
	"nul \x00 and bell \x07",
	"[Multiply 3, 4 and 5]",
}

// TestTextsSurvive has each text as a problem, a part and a solution: all of them
// reach the voters and the log as they are, through a real runtime.
func TestTextsSurvive(t *testing.T) {
	cfg := config
	cfg.Domain, cfg.Adapter = "anything", anything{}
	cfg.Flags = new(redflag.Default())
	cfg.Flags.ExcessiveLength = redflag.LengthCheck{On: true, MaxTokens: redflag.DefaultMaxTokens, MaxChars: 3000}
	cfg.MaxDepth = 1
	for i, text := range hostile {
		whole := "Do both. " + text
		other := hostile[(i+1)%len(hostile)]
		seen := map[string]bool{}
		c := &crowd{voters: func(a asked) string {
			seen[a.Ask+" "+a.Problem] = true
			switch a.Ask {
			case "decompose":
				return parts(text, other)
			case "solve":
				return solution("solved: " + a.Problem)
			case "answer":
				if a.A.Problem != text || a.A.Solution != "solved: "+text || a.B.Problem != other {
					t.Errorf("the composer of %q got %q: %q and %q", text, a.A.Problem, a.A.Solution, a.B.Problem)
				}
				return answer(a.A.Solution)
			default:
				return complete()
			}
		}}
		dir := filepath.Join(t.TempDir(), "run")
		if err := session(t, dir, c, budget.Limits{}, func(f flow.Flow) error { return Run(f, whole, cfg) }); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"decompose " + whole, "solve " + text, "solve " + other, "check " + whole} {
			if !seen[want] {
				t.Errorf("nobody was asked to %q", want)
			}
		}
		var got []string
		for line, err := range runlog.Read(dir) {
			if err != nil {
				t.Fatal(err)
			}
			rec, err := line.Decode()
			if err != nil {
				t.Fatal(err)
			}
			switch e := rec.Event.(type) {
			case event.DecompositionSelected:
				if !e.Atomic {
					got = append(got, e.PartA.Text(), e.PartB.Text())
				}
			case event.SubproblemSolved:
				got = append(got, e.Solution.Text())
			case event.TaskCompleted:
				got = append(got, mustDecode[Result](t, e.Output.JSON).Answer)
			}
		}
		want := []string{text, other, "solved: " + text, "solved: " + other, "solved: " + text}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: -want +got\n%s", text, diff)
		}
	}
}

// TestPrompts keeps what voters are told, in every wording.
func TestPrompts(t *testing.T) {
	cfg := config
	cfg.Models.Escalation = "expert"
	cfg.Escalate = []Escalation{Diversity}
	cfg.Facts = []string{"no calculator, no \"tricks\""}
	prompts := map[string]string{}
	var order []string
	people := func(a asked) string {
		switch {
		case a.Ask == "decompose" && a.sample%2 == 0:
			return parts("1+2", "3+4")
		case a.Ask == "decompose":
			return parts("1", "2+3+4")
		case a.Ask == "check":
			return incomplete("something")
		default:
			return "nothing of use"
		}
	}
	decide := decider(t, people)
	see := func(key string, q *flow.Question) (*flow.Verdict, error) {
		texts := q.Variants
		if len(texts) == 0 {
			texts = []string{q.Prompt}
		}
		for i, text := range texts {
			name := fmt.Sprintf("%s %d", key, i)
			prompts[name] = text
			order = append(order, name)
		}
		return decide(key, q)
	}
	s, err := newSolver("1+2+3+4", cfg)
	if err != nil {
		t.Fatal(err)
	}
	f := flowFunc(see)
	// One action of each kind, each in its usual and its diverse way.
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must((&action{s: s, node: s.root}).decompose(f))
	s.divide(s.root, &Proposal{PartA: "1+2", PartB: "3+4", Compose: "add"})
	left, right := s.root.parts[0], s.root.parts[1]
	left.stage = atomic
	must((&action{s: s, node: left, maySplit: true}).solve(f))
	s.divide(left, &Proposal{PartA: "1", PartB: "2", Compose: "add"})
	for _, n := range append(left.parts, right) {
		n.stage, n.solution = solved, Solution{Solution: "(" + n.problem + ")", Work: "shown"}
		s.memory.learn(n.problem, n.solution)
	}
	must((&action{s: s, node: left}).compose(f))
	must((&action{s: s, node: s.root}).compose(f))
	s.answer = Conclusion{Answer: "10", Confidence: 1}
	s.root.stage = solved
	if _, err := s.review(f, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.refine(f, "solve/fill/0/correct", s.correction("it is too large"), nil); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range order {
		fmt.Fprintf(&b, "=== %s\n%s\n\n", name, prompts[name])
	}
	golden(t, "prompts.txt", []byte(b.String()))
}

// flowFunc is a flow with nothing but decisions.
type flowFunc func(key string, q *flow.Question) (*flow.Verdict, error)

func (f flowFunc) Decide(key string, q *flow.Question) (*flow.Verdict, error) { return f(key, q) }
func (f flowFunc) Perform(string, *flow.Effect) (*flow.Result, error)         { return nil, nil }
func (f flowFunc) Ask(string, *flow.HumanQuestion) (*flow.Answer, error)      { return nil, nil }
func (f flowFunc) Emit(string, event.Event)                                   {}
func (f flowFunc) Observe(string, flow.Look) (json.RawMessage, error) {
	return json.RawMessage(`""`), nil // nothing is known to be wrong
}

func (f flowFunc) Parallel(_ string, n int, branch func(i int, f flow.Flow) error) error {
	for i := range n {
		if err := branch(i, f); err != nil {
			return err
		}
	}
	return nil
}
