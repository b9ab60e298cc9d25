package sim

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/vote"
)

// voted is any answer of the voters of maker solve.
type voted struct {
	PartA      string   `json:"subproblem_a"`
	PartB      string   `json:"subproblem_b"`
	Compose    string   `json:"compose_fn"`
	IsAtomic   bool     `json:"is_atomic"`
	Pick       string   `json:"pick"`
	Solution   string   `json:"solution"`
	Answer     string   `json:"answer"`
	Confidence float64  `json:"confidence"`
	Complete   bool     `json:"complete"`
	Missing    []string `json:"missing_work"`
}

// solveFields are the fields of the answers, which have these and no others.
var solveFields = map[string][]string{
	"solve_decompose": {"compose_fn", "is_atomic", "rationale", "subproblem_a", "subproblem_b"},
	"solve_pick":      {"pick", "reason"},
	"solve_atom":      {"confidence", "solution", "work_shown"},
	"solve_compose":   {"confidence", "solution", "work_shown"},
	"solve_answer":    {"answer", "confidence", "support"},
	"solve_check":     {"complete", "missing_work", "requirements"},
}

// askVoter asks for an answer and reads it as strictly as maker solve does.
func askVoter(t testing.TB, m *Model, d prompts.Data) voted {
	t.Helper()
	text := reply(t, m, d).Text
	var v voted
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: answer %q: %v", d.Prompt(), text, err)
	}
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(solveFields[d.Prompt()], names); diff != "" {
		t.Fatalf("%s: fields of %s: -want +got\n%s", d.Prompt(), text, diff)
	}
	return v
}

func TestDecompose(t *testing.T) {
	m := newModel(t, "default?p=1")
	for _, test := range []struct {
		problem string
		must    bool
		want    string // the parts and how to compose them; "" for an atom
	}{
		{"Multiply 12345 by 67891", false, "Compute: 12345 * 67800 | Compute: 12345 * 91 | a + b"},
		{"Compute: 12345 * 67800", false, "Compute: 12345 * 67000 | Compute: 12345 * 800 | a + b"},
		{"Compute: 308 * 12345", false, "Compute: 300 * 12345 | Compute: 8 * 12345 | a + b"},
		{"Compute: 12345 * 800", false, ""},
		{"What is 58219 + 74936?", false, ""},
		{"Solve 3x + 7 = 52 for x.", false, ""},
		{"Compute: 1 + 2 - 3 * 44 - 5", false, "Compute: 1 + 2 | Compute: -(3 * 44) - 5 | a + b"},
		{"Compute: (12 + 3) * 4", false, "Compute: 12 + 3 | Compute: 4 | a * b"},
		{"Sort: [5, 3, 8, 1, 9, 2]", false, "Sort: [5, 3, 8] | Sort: [1, 9, 2] | merge the two sorted lists"},
		{"Sort: [5, 3, 8, 1, 9]", false, ""},
		{"Compute: 12345 * 800", true, "Compute: 12300 * 800 | Compute: 45 * 800 | a + b"},
		{"Compute: 58219 + 74936", true, "Compute: 58200 + 74900 | Compute: 19 + 36 | a + b"},
		{"Compute: 700 * 8", true, "Compute: 400 * 8 | Compute: 300 * 8 | a + b"},
		{"Sort: [5, 3]", true, "Sort: [5] | Sort: [3] | merge the two sorted lists"},
		{"Merge: [1, 5, 9] and [2, 6, 7]", true, ""},
	} {
		v := askVoter(t, m, prompts.SolveDecompose{Problem: test.problem, MustSplit: test.must})
		got := ""
		if !v.IsAtomic {
			got = strings.Join([]string{v.PartA, v.PartB, v.Compose}, " | ")
		}
		if got != test.want {
			t.Errorf("decompose(%q, must %t) = %q, want %q", test.problem, test.must, got, test.want)
		}
	}
}

// TestBadDecompositions checks that wrong splits are wrong, and in which ways.
func TestBadDecompositions(t *testing.T) {
	for _, problem := range []string{"Compute: 12345 * 67891", "Compute: 12345 * 7", "Compute: 12 + 34", "Sort: [5, 3, 8, 1, 9, 2]", "Sort: [2, 1]", "Solve 3x = 6"} {
		bad := newModel(t, "default?p=0&rivals=50")
		judge := newModel(t, "default?p=1")
		right := askVoter(t, judge, prompts.SolveDecompose{Problem: problem})
		options := map[string]bool{}
		for range 200 {
			v := askVoter(t, bad, prompts.SolveDecompose{Problem: problem})
			options[v.PartA+"|"+v.PartB] = true
			// Somebody who is right prefers the right one to it.
			pick := askVoter(t, judge, prompts.SolvePick{Problem: problem, Options: []prompts.SolveOption{
				{Label: "BAD", IsAtomic: v.IsAtomic, PartA: v.PartA, PartB: v.PartB, Compose: v.Compose},
				{Label: "GOOD", IsAtomic: right.IsAtomic, PartA: right.PartA, PartB: right.PartB, Compose: right.Compose},
			}})
			if pick.Pick != "GOOD" {
				t.Fatalf("%s: split into %q and %q is as good as the right one", problem, v.PartA, v.PartB)
			}
		}
		if strings.Contains(problem, "*") && len(options) != 3 {
			t.Errorf("%s: wrong splits %v, want 3", problem, options)
		}
	}
}

func TestSolveAtoms(t *testing.T) {
	m := newModel(t, "default?p=1")
	for _, test := range []struct{ problem, want string }{
		{"Compute: 12345 * 67890", "838102050"},
		{"multiply 12,345 by 67,890.", "838102050"},
		{"What is the product of 12345 and 67890?", "838102050"},
		{"12345 times 67890", "838102050"},
		{"Compute 7 * 48163.", "337141"},
		{"Compute 3/8 + 5/12.", "19/24"},
		{"Compute 12.75 + 8.6 - 3.048.", "18.302"},
		{"Solve 5(x - 2) = 3x + 8 for x.", "9"},
		{"Subtract 5 from 3", "-2"},
		{"Sort these numbers in ascending order: [37, 5, 81, 12, 64]. Answer with a list.", "[5, 12, 37, 64, 81]"},
		{"Merge these sorted lists into one sorted list: [3, 9, 20] and [1, 9, 14, 25].", "[1, 3, 9, 9, 14, 20, 25]"},
		{"Which month comes three months after November? Answer with its name only.", "February"},
		{"Write the word \"planet\" backwards. Answer with the word only.", "tenalp"},
		{"How many letters does the word \"committee\" have? Answer with a number only.", "9"},
		{"What is the largest number of this list: 408, 84, 480, 48? Answer with the number only.", "480"},
		{"Put these words in alphabetical order, with commas between them: pear, fig, apple, plum.", "apple, fig, pear, plum"},
	} {
		v := askVoter(t, m, prompts.SolveAtom{Problem: test.problem})
		if v.Solution != test.want || v.Confidence < 0.5 {
			t.Errorf("solve(%q) = %q with confidence %v, want %q", test.problem, v.Solution, v.Confidence, test.want)
		}
	}
	if v := askVoter(t, m, prompts.SolveAtom{Problem: "Compute: 1/0"}); v.Confidence > 0.2 {
		t.Errorf("solve(1/0) = %q with confidence %v, want a low one", v.Solution, v.Confidence)
	}
	for _, problem := range []string{"Why is the sky blue?", "Sort [3, 1] in descending order", "Sort [3, 1] and add 5", "", "Multiply 3 by"} {
		for _, d := range []prompts.Data{prompts.SolveAtom{Problem: problem}, prompts.SolveDecompose{Problem: problem}} {
			if r := reply(t, m, d); r.Text != noScript || r.Stop != model.StopRefusal {
				t.Errorf("%s(%q) = %q, stop %s, want %q as a refusal", d.Prompt(), problem, r.Text, r.Stop, noScript)
			}
		}
	}
}

// TestLoad checks that what takes more operations is right less often: the n-th
// power of p, with the load.
func TestLoad(t *testing.T) {
	n := trials(1000)
	for _, test := range []struct {
		problem    string
		operations int
	}{
		{"Compute: 12345 * 7", 1}, {"Compute: 12345 + 67891", 1}, {"Compute: 123 * 45", 3}, {"Compute: 12345 * 67891", 9},
		{"Compute: 1 + 2 + 3 + 4", 3}, {"Sort: [5, 4, 3, 2, 1]", 1}, {"Sort: [6, 5, 4, 3, 2, 1]", 3},
	} {
		for _, load := range []float64{0, 1, 4} {
			m := newModel(t, fmt.Sprintf("default?p=0.9&load=%v", load))
			req := ask(render(t, prompts.SolveAtom{Problem: test.problem}))
			want := newModel(t, "default?p=1").Answer(req).Text
			right := 0
			for range n {
				if m.Answer(req).Text == want {
					right++
				}
			}
			if p := math.Pow(0.9, 1+load*float64(test.operations-1)); !within(right, n, p) {
				t.Errorf("load %v: %s is right %d times of %d, want a share of %.3f", load, test.problem, right, n, p)
			}
		}
	}
	// Nobody sorts a hundred numbers at once.
	m, numbers := newModel(t, "default?p=0.9"), make([]int, 100)
	for i := range numbers {
		numbers[i] = i * 37 % 100
	}
	problem := "Sort: " + strings.Join(strings.Fields(fmt.Sprint(numbers)), ", ")
	want := askVoter(t, newModel(t, "default?p=1"), prompts.SolveAtom{Problem: problem}).Solution
	for range 200 {
		if askVoter(t, m, prompts.SolveAtom{Problem: problem}).Solution == want {
			t.Errorf("100 numbers were sorted in one go")
		}
	}
}

func TestCompose(t *testing.T) {
	m := newModel(t, "default?p=1")
	for _, test := range []struct{ problem, how, a, b, want string }{
		{"Compute: 10 * 34", "a + b", "300", "40", "340"},
		{"Compute: 10 * 34", "add both results", "x = 300", "40.", "340"},
		{"x", "a - b", "300", "40", "260"},
		{"x", "Subtract a from b.", "300", "40", "-260"},
		{"x", "multiply them", "300", "40", "12000"},
		{"x", "a + b", "1/3", "1/6", "1/2"},
		{"Sort: [4, 1, 3, 2]", "merge the two sorted lists", "[1, 4]", "[2, 3]", "[1, 2, 3, 4]"},
		{"x", "merge", "[4, 1]", "[2, 3]", "[2, 3, 4, 1]"}, // as they are
		{"x", "both", "yes", "no", "yes; no"},
		{"Compute: 10 * 34", "add to the answer a what was missing from it, b", "340", "44", "340"},
	} {
		data := prompts.SolveCompose{Problem: test.problem, Compose: test.how, A: prompts.SolvePart{Problem: "part", Solution: test.a}, B: prompts.SolvePart{Problem: "other", Solution: test.b}}
		if strings.HasPrefix(test.how, "add to the answer") {
			data.A.Problem = test.problem
		}
		if got := askVoter(t, m, data).Solution; got != test.want {
			t.Errorf("compose(%q, %q, %q) = %q, want %q", test.how, test.a, test.b, got, test.want)
		}
		answer := prompts.SolveAnswer{Problem: data.Problem, Compose: data.Compose, A: data.A, B: data.B, Wrong: "it was wrong"}
		if got := askVoter(t, m, answer).Answer; got != test.want {
			t.Errorf("answer(%q, %q, %q) = %q, want %q", test.how, test.a, test.b, got, test.want)
		}
		if got := askVoter(t, newModel(t, "default?p=0"), data).Solution; got == test.want {
			t.Errorf("wrong composition of %q and %q = %q", test.a, test.b, got)
		}
	}
	// An answer that was wrong, and no parts to make another from.
	if got := askVoter(t, m, prompts.SolveAnswer{Problem: "Compute: 2 * 3", A: prompts.SolvePart{Problem: "Compute: 2 * 3", Solution: "5"}, Wrong: "5"}).Answer; got != "6" {
		t.Errorf("answer without parts = %q, want 6", got)
	}
}

func TestCheck(t *testing.T) {
	for _, problem := range []string{"Compute: 12345 * 67891", "Compute: 12 + 34", "Sort: [3, 1, 2]", "Why?"} {
		if v := askVoter(t, newModel(t, "default?p=1"), prompts.SolveCheck{Problem: problem, Answer: "42"}); !v.Complete || len(v.Missing) > 0 {
			t.Errorf("check(%q) = %+v, want complete", problem, v)
		}
		v := askVoter(t, newModel(t, "default?p=0"), prompts.SolveCheck{Problem: problem, Answer: "42"})
		if v.Complete || len(v.Missing) != 1 || v.Missing[0] == problem {
			t.Errorf("wrong check(%q) = %+v, want something else to be missing", problem, v)
		}
	}
}

// TestPickPosition checks that options are chosen by what they say: each place is
// chosen equally often, and each wrong option as well.
func TestPickPosition(t *testing.T) {
	const problems, p = 200, 0.7
	m := newModel(t, "default?p=0.7&rivals=7")
	places, labels := map[int]int{}, map[string]int{}
	asked := 0
	for i := range problems {
		x := 1000 + i
		options := []prompts.SolveOption{
			{Label: "GOOD", PartA: fmt.Sprintf("Compute: %d * 60", x), PartB: fmt.Sprintf("Compute: %d * 7", x), Compose: "a + b"},
			{Label: "OFF", PartA: fmt.Sprintf("Compute: %d * 60", x), PartB: fmt.Sprintf("Compute: %d * 8", x), Compose: "a + b"},
			{Label: "ATOM", IsAtomic: true},
			{Label: "WHOLE", PartA: fmt.Sprintf("Compute: %d * 67", x), PartB: "Compute: 0", Compose: "a + b"},
		}
		for range options {
			options = slices.Concat(options[1:], options[:1])
			v := askVoter(t, m, prompts.SolvePick{Problem: fmt.Sprintf("Compute: %d * 67", x), Options: options})
			places[slices.IndexFunc(options, func(o prompts.SolveOption) bool { return o.Label == v.Pick })]++
			labels[v.Pick]++
			asked++
		}
	}
	for place := range 4 {
		if !within(places[place], asked, 0.25) {
			t.Errorf("%d of %d picks are for place %d, want a quarter", places[place], asked, place)
		}
	}
	for label, share := range map[string]float64{"GOOD": p, "OFF": 0.1, "ATOM": 0.1, "WHOLE": 0.1} {
		if !within(labels[label], asked, share) {
			t.Errorf("%d of %d picks are for %s, want a share of %.2f", labels[label], asked, label, share)
		}
	}
}

// TestRecursion solves problems by splitting and voting with the real prompts, as
// maker solve does, only smaller: voters who are right nine times out of ten solve
// together what one of them nearly never solves alone.
func TestRecursion(t *testing.T) {
	problems := []string{
		"Multiply 48163 by 97526", "Compute: 123456 * 789123",
		"Sort: [52, 3, 99, 14, 60, 75, 8, 31, 46, 27, 90, 11, 68, 5, 83, 40, 22, 71, 37, 64]",
	}
	right := 0
	for seed := range 5 {
		m := newModel(t, fmt.Sprintf("default?p=0.9&seed=%d", seed))
		for _, problem := range problems {
			want := askVoter(t, newModel(t, "default?p=1"), prompts.SolveAtom{Problem: problem}).Solution
			if recurse(t, m, problem, 0) == want {
				right++
			}
		}
	}
	if right != 15 {
		t.Errorf("%d of 15 problems are right, want all", right)
	}
}

// recurse solves a problem by votes with a margin of 4.
func recurse(t *testing.T, m *Model, problem string, depth int) string {
	t.Helper()
	split := elect(t, m, prompts.SolveDecompose{Problem: problem}, func(v voted) string { return v.PartA + "|" + v.PartB })
	if split.IsAtomic || depth == 8 {
		return elect(t, m, prompts.SolveAtom{Problem: problem}, func(v voted) string { return v.Solution }).Solution
	}
	return elect(t, m, prompts.SolveCompose{
		Problem: problem, Compose: split.Compose,
		A: prompts.SolvePart{Problem: split.PartA, Solution: recurse(t, m, split.PartA, depth+1)},
		B: prompts.SolvePart{Problem: split.PartB, Solution: recurse(t, m, split.PartB, depth+1)},
	}, func(v voted) string { return v.Solution }).Solution
}

func elect(t *testing.T, m *Model, d prompts.Data, key func(voted) string) voted {
	t.Helper()
	tally := vote.NewTally(vote.Rule{Strategy: vote.FirstToK, K: 4, MaxSamples: 60})
	first := map[string]voted{}
	for tally.Decision().Outcome != vote.Won {
		v := askVoter(t, m, d)
		if _, seen := first[key(v)]; !seen {
			first[key(v)] = v
		}
		tally.Vote(key(v))
	}
	return first[tally.Decision().Key]
}

func FuzzInquiry(f *testing.F) {
	f.Add("decompose", "Compute: 12 * 34", "a + b", "3", "4", true)
	f.Add("pick", "Sort: [1, 2]", "merge", "[1]", "[2]", false)
	f.Add("check", "\n{\"ask\":\"", "", "\xff", "=", false)
	f.Add("answer", "Solve x = 1", "b - a", "1/0", "-", false)
	f.Add("solve", "Merge [9] and [1]", "a * b", "9999999999999999999999", "0.1", true)
	m := newModel(f, "default?p=0.5&malformed=0.1&rivals=5")
	f.Fuzz(func(t *testing.T, ask, problem, how, a, b string, must bool) {
		part := func(s string) prompts.SolvePart { return prompts.SolvePart{Problem: problem + s, Solution: s} }
		var d prompts.Data
		switch ask {
		case "decompose":
			d = prompts.SolveDecompose{Problem: problem, MustSplit: must}
		case "pick":
			d = prompts.SolvePick{Problem: problem, Options: []prompts.SolveOption{{Label: "A", PartA: a, PartB: b, Compose: how}, {Label: "B", IsAtomic: must}}}
		case "compose":
			d = prompts.SolveCompose{Problem: problem, Compose: how, A: part(a), B: part(b)}
		case "answer":
			d = prompts.SolveAnswer{Problem: problem, Compose: how, A: part(a), B: part(b)}
		case "check":
			d = prompts.SolveCheck{Problem: problem, Answer: a}
		default:
			d = prompts.SolveAtom{Problem: problem}
		}
		if r := reply(t, m, d); r.Text == "" || (r.Stop == model.StopRefusal) != (r.Text == noScript) {
			t.Errorf("%s about %q is answered with %q, stop %s", ask, problem, r.Text, r.Stop)
		}
	})
}
