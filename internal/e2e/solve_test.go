//go:build slow && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/maker-mdap/maker/domain/text"
)

// workers is a server of a model that is right nine times in ten about small
// problems and hardly ever about large ones. It speaks the wire format of OpenAI and
// shares no code with the simulator.
type workers struct {
	*httptest.Server
	p     float64 // right about what is small
	whole float64 // right about what is not
	bad   float64 // proposals that are wrong, or none
	mu    sync.Mutex
	rand  *rand.Rand
	calls atomic.Int64
}

func startWorkers(t testing.TB, seed uint64) *workers {
	t.Helper()
	w := &workers{p: 0.9, whole: 0.15, bad: 0.2, rand: rand.New(rand.NewPCG(seed, 1))}
	w.Server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.Close)
	return w
}

// asked is the input of a prompt.
type asked struct {
	Ask     string `json:"ask"`
	Problem string `json:"problem"`
	Options []struct {
		Label    string `json:"label"`
		IsAtomic bool   `json:"is_atomic"`
		PartA    string `json:"subproblem_a"`
		PartB    string `json:"subproblem_b"`
	} `json:"options"`
	A struct {
		Solution string `json:"solution"`
	} `json:"a"`
	B struct {
		Solution string `json:"solution"`
	} `json:"b"`
}

func (w *workers) serve(out http.ResponseWriter, req *http.Request) {
	var request struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	err := json.NewDecoder(req.Body).Decode(&request)
	var q asked
	if err == nil && len(request.Messages) > 0 {
		_, line, _ := strings.Cut(request.Messages[len(request.Messages)-1].Content, "\nInput:\n")
		err = json.Unmarshal([]byte(line), &q)
	}
	if err != nil {
		http.Error(out, `{"error":{"message":"`+strconv.Quote(err.Error())+`"}}`, http.StatusBadRequest)
		return
	}
	w.calls.Add(1)
	answer := w.answer(q)
	out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(out).Encode(map[string]any{ // whoever is gone needs no answer
		"id": "1", "object": "chat.completion", "model": "workers",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": answer}}},
		"usage":   map[string]any{"prompt_tokens": 200, "completion_tokens": 1 + len(answer)/4},
	})
}

// chance reports whether something of a probability happens; pick is a number below n.
func (w *workers) chance(p float64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.Float64() < p
}

func (w *workers) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.IntN(n)
}

func (w *workers) answer(q asked) string {
	switch q.Ask {
	case "decompose":
		return w.propose(q.Problem)
	case "pick":
		right := w.split(q.Problem)
		for _, o := range q.Options {
			if o.IsAtomic == (right == [2]string{}) && o.PartA == right[0] && o.PartB == right[1] && w.chance(w.p) {
				return encoded(map[string]any{"pick": o.Label, "reason": "it is right"})
			}
		}
		return encoded(map[string]any{"pick": q.Options[w.pick(len(q.Options))].Label, "reason": "it looks right"})
	case "solve":
		return encoded(map[string]any{"solution": w.solve(q.Problem), "confidence": 0.9, "work_shown": "by head"})
	case "compose", "answer":
		solution := w.say(q.Problem, joined(q.Problem, q.A.Solution, q.B.Solution), w.p, fewRivals)
		if q.Ask == "compose" {
			return encoded(map[string]any{"solution": solution, "confidence": 0.9, "work_shown": "by head"})
		}
		return encoded(map[string]any{"answer": solution, "confidence": 0.9, "support": map[string]any{"summary": "", "equations": []string{}, "points": []string{}}})
	default:
		if w.chance(w.p) {
			return `{"requirements":[{"requirement":"it","status":"ADDRESSED","reason":"it is there"}],"complete":true,"missing_work":[]}`
		}
		return `{"requirements":[{"requirement":"units","status":"MISSING","reason":"none are given"}],"complete":false,"missing_work":["Say which unit it is"]}`
	}
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// propose splits a problem. Some proposals are the problem again, some are no JSON,
// and some lose a digit or a number.
func (w *workers) propose(problem string) string {
	parts := w.split(problem)
	if w.chance(w.bad) {
		switch w.pick(3) {
		case 0:
			parts = [2]string{problem, "Check it."}
		case 1:
			return "I would split it in the middle."
		default:
			if parts == ([2]string{}) {
				parts = [2]string{problem + " First half.", problem + " Second half."}
			} else {
				parts[1] = shorter(parts[1])
			}
		}
	}
	return encoded(map[string]any{
		"subproblem_a": parts[0], "subproblem_b": parts[1], "compose_fn": "put them together",
		"is_atomic": parts == [2]string{}, "rationale": "r",
	})
}

// shorter is a problem without one of its digits.
func shorter(problem string) string {
	at := strings.LastIndexAny(problem, "123456789")
	return problem[:at] + problem[at+1:]
}

const (
	product = "What is %s * %s?"
	sorting = "Sort these numbers in ascending order: ["
)

// split is how a problem should be split; nothing if it should not be.
func (w *workers) split(problem string) [2]string {
	if list, ok := numbersOf(problem); ok {
		if len(list) <= 8 {
			return [2]string{}
		}
		half := len(list) / 2
		return [2]string{sortingOf(list[:half]), sortingOf(list[half:])}
	}
	a, b, ok := factorsOf(problem)
	digits := strings.TrimRight(b, "0")
	if !ok || len(digits) <= 1 {
		return [2]string{}
	}
	half := len(digits) / 2
	high := digits[:half] + strings.Repeat("0", len(b)-half)
	low := strings.TrimLeft(b[half:], "0")
	return [2]string{fmt.Sprintf(product, a, high), fmt.Sprintf(product, a, low)}
}

func factorsOf(problem string) (a, b string, ok bool) {
	rest, ok := strings.CutPrefix(problem, "What is ")
	if !ok {
		return "", "", false
	}
	a, b, ok = strings.Cut(strings.TrimSuffix(rest, "?"), " * ")
	return a, b, ok
}

func numbersOf(problem string) ([]int, bool) {
	rest, ok := strings.CutPrefix(problem, sorting)
	if !ok {
		return nil, false
	}
	rest, _, _ = strings.Cut(rest, "]")
	return listOf(rest), true
}

func listOf(text string) []int {
	var list []int
	for part := range strings.SplitSeq(strings.Trim(text, "[]"), ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(part)); err == nil {
			list = append(list, n)
		}
	}
	return list
}

func sortingOf(list []int) string {
	return sorting + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ", "), "[]") + "]"
}

func writeList(list []int) string { return strings.Join(strings.Fields(fmt.Sprint(list)), ", ") }

// solutionOf is the true solution of a problem.
func solutionOf(problem string) string {
	if list, ok := numbersOf(problem); ok {
		slices.Sort(list)
		return writeList(list)
	}
	if a, b, ok := factorsOf(problem); ok {
		x, okX := new(big.Int).SetString(a, 10)
		y, okY := new(big.Int).SetString(b, 10)
		if okX && okY {
			return x.Mul(x, y).String()
		}
	}
	for _, trial := range (text.Adapter{}).Calibration() {
		if trial.Problem == problem {
			return trial.Solution
		}
	}
	return "metres" // the unit that nobody asked for
}

// joined puts two solutions together, right or wrong as they are.
func joined(problem, a, b string) string {
	if _, ok := numbersOf(problem); ok {
		list := slices.Concat(listOf(a), listOf(b))
		slices.Sort(list)
		return writeList(list)
	}
	x, okX := new(big.Int).SetString(a, 10)
	y, okY := new(big.Int).SetString(b, 10)
	if !okX || !okY {
		return "nothing"
	}
	return x.Add(x, y).String()
}

// Who errs about something small errs in one of a few ways. There are many ways to
// get something large wrong.
const (
	fewRivals  = 3
	manyRivals = 1000
)

// solve gives the solution of a problem, right or wrong.
func (w *workers) solve(problem string) string {
	if w.split(problem) != [2]string{} {
		return w.say(problem, solutionOf(problem), w.whole, manyRivals)
	}
	return w.say(problem, solutionOf(problem), w.p, fewRivals)
}

// say gives the truth with a probability, and otherwise one of several rivals that
// are the same for everybody who is asked.
func (w *workers) say(problem, truth string, p float64, rivals int) string {
	if w.chance(p) {
		return truth
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", problem, w.pick(rivals))
	slip := h.Sum64()
	if list := listOf(truth); len(list) > 1 {
		at := int(slip % uint64(len(list)-1))
		if slip/1000%2 == 0 && list[at] != list[at+1] {
			list[at], list[at+1] = list[at+1], list[at]
			return writeList(list)
		}
		return writeList(slices.Delete(list, at, at+1))
	}
	if n, ok := new(big.Int).SetString(truth, 10); ok {
		place := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(slip%uint64(len(truth)))), nil)
		return n.Add(n, place.Mul(place, big.NewInt(int64(1+slip/100%9)))).String()
	}
	return truth + fmt.Sprint(" or so ", slip%10)
}

// solved runs maker solve and returns the answer, if there is one, and the margin of
// the votes.
func (w *workers) solved(t testing.TB, problem string, flags ...string) (answer string, k int) {
	t.Helper()
	args := slices.Concat([]string{
		"solve", problem, "--json", "--model", "compat/workers", "--base-url", w.URL + "/v1", "--max-total-tokens", "0", "--escalate", "diversity,split",
	}, flags)
	o := maker(t, args...)
	var result struct {
		Status string `json:"status"`
		Reason string `json:"reason"`
		Output struct {
			Answer string `json:"answer"`
		} `json:"output"`
		Voting struct {
			Rule struct {
				K int `json:"k"`
			} `json:"rule"`
		} `json:"voting"`
	}
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &result); err != nil {
		t.Fatalf("maker solve %q printed no result: %v: %v", problem, err, o)
	}
	if result.Status != "completed" {
		t.Logf("%.60s: %s: %.300s", problem, result.Status, result.Reason)
		return "", result.Voting.Rule.K
	}
	return result.Output.Answer, result.Voting.Rule.K
}

// score solves problems, several at a time, and counts those that come out right.
func (w *workers) score(t *testing.T, problems []string, flags ...string) (right int, margins map[int]int) {
	t.Helper()
	margins = map[int]int{}
	var mu sync.Mutex
	t.Run("solve", func(t *testing.T) {
		for _, problem := range problems {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				answer, k := w.solved(t, problem, flags...)
				mu.Lock()
				defer mu.Unlock()
				margins[k]++
				if (text.Adapter{}).Equivalent(answer, solutionOf(problem)) {
					right++
				} else if answer != "" && k > 1 {
					t.Logf("%.60s = %.60s, want %.60s", problem, answer, solutionOf(problem))
				}
			})
		}
	})
	return right, margins
}

// products are multiplications of two numbers of a number of digits.
func products(seed uint64, n, digits int) []string {
	r := rand.New(rand.NewPCG(seed, uint64(digits)))
	number := func() string {
		s := fmt.Sprint(1 + r.IntN(9))
		for len(s) < digits {
			s += fmt.Sprint(r.IntN(10))
		}
		return s
	}
	var list []string
	for range n {
		list = append(list, fmt.Sprintf(product, number(), number()))
	}
	return list
}

// calibrated are the flags of a run whose margin follows from samples, for a tree of
// some 30 votes.
var calibrated = []string{"--calibrate", "--steps", "30", "--target-error", "0.01", "--max-k", "7", "--max-rounds", "10"}

// TestSolveMultiplication: with workers who are right nine times in ten about a
// digit times a number, and about a sum, products of five and six digits come out
// right. The domain is text, so that nobody but the voters knows arithmetic.
func TestSolveMultiplication(t *testing.T) {
	each := 50
	if testing.Short() {
		each = 5
	}
	problems := slices.Concat(products(1, each, 5), products(2, each, 6))

	alone := startWorkers(t, 11)
	single := 0
	for _, problem := range problems {
		if alone.solve(problem) == solutionOf(problem) {
			single++
		}
	}
	t.Logf("a single sample of the whole: %d of %d right", single, len(problems))
	if 5*single >= len(problems) && !testing.Short() {
		t.Errorf("a single sample is right on %d of %d: the problems are too easy to show anything", single, len(problems))
	}
	once, _ := alone.score(t, problems, "--ahead-by", "1", "--direct=false")
	t.Logf("the same tree with one vote each: %d of %d right, %d calls", once, len(problems), alone.calls.Load())
	if 3*once >= len(problems) && !testing.Short() {
		t.Errorf("the tree with one vote each is right on %d of %d: the parts are too easy to show anything", once, len(problems))
	}

	crowd := startWorkers(t, 12)
	right, margins := crowd.score(t, problems, calibrated...)
	t.Logf("with a calibrated margin: %d of %d right, %d calls, runs by k: %v", right, len(problems), crowd.calls.Load(), margins)
	if 100*right < 99*len(problems) {
		t.Errorf("%d of %d products are right, want 99 of 100", right, len(problems))
	}
}

// TestSolveSorting: 100 numbers are sorted by splitting and merging.
func TestSolveSorting(t *testing.T) {
	n := 20
	if testing.Short() {
		n = 3
	}
	r := rand.New(rand.NewPCG(3, 4))
	var problems []string
	for range n {
		list := make([]int, 100)
		for i := range list {
			list[i] = r.IntN(1000)
		}
		problems = append(problems, sortingOf(list))
	}
	alone := startWorkers(t, 21)
	once, _ := alone.score(t, problems, "--ahead-by", "1", "--direct=false")
	t.Logf("the tree with one vote each: %d of %d right, %d calls", once, len(problems), alone.calls.Load())
	if 5*once >= len(problems) && !testing.Short() {
		t.Errorf("the tree with one vote each is right on %d of %d: the parts are too easy to show anything", once, len(problems))
	}
	crowd := startWorkers(t, 22)
	right, margins := crowd.score(t, problems, append(slices.Clone(calibrated), "--steps", "70")...)
	t.Logf("with a calibrated margin: %d of %d right, %d calls, runs by k: %v", right, len(problems), crowd.calls.Load(), margins)
	if right < n {
		t.Errorf("%d of %d lists are sorted, want all", right, len(problems))
	}
}
