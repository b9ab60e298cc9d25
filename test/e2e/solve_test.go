//go:build slow && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// problem is a problem with its solution, which this package finds out by itself.
type problem struct {
	text string
	want string // without white space
}

// products are multiplications of two numbers of a number of digits.
func products(seed uint64, n, digits int) []problem {
	r := rand.New(rand.NewPCG(seed, uint64(digits)))
	number := func() *big.Int {
		s := strconv.Itoa(1 + r.IntN(9))
		for len(s) < digits {
			s += strconv.Itoa(r.IntN(10))
		}
		v, _ := new(big.Int).SetString(s, 10) // digits are a number
		return v
	}
	var list []problem
	for range n {
		a, b := number(), number()
		list = append(list, problem{fmt.Sprintf("Multiply %s by %s", a, b), new(big.Int).Mul(a, b).String()})
	}
	return list
}

// lists are numbers to be sorted.
func lists(seed uint64, n, length int) []problem {
	r := rand.New(rand.NewPCG(seed, uint64(length)))
	write := func(list []int) string { return strings.Join(strings.Fields(fmt.Sprint(list)), ",") }
	var out []problem
	for range n {
		list := make([]int, length)
		for i := range list {
			list[i] = r.IntN(1000)
		}
		text := "Sort: " + strings.ReplaceAll(write(list), ",", ", ")
		slices.Sort(list)
		out = append(out, problem{text, write(list)})
	}
	return out
}

// outcomes count what came of problems.
type outcomes struct {
	right, wrong, unsolved int
	calls                  int64
	margins                map[int]int // runs by k
}

func (o outcomes) String() string {
	return fmt.Sprintf("%d right, %d wrong, %d unsolved, %d calls, runs by k: %v", o.right, o.wrong, o.unsolved, o.calls, o.margins)
}

// solveAll solves problems with the model of a server, several at a time.
func solveAll(t *testing.T, s *simServer, problems []problem, flags ...string) outcomes {
	t.Helper()
	out := outcomes{margins: map[int]int{}}
	var mu sync.Mutex
	t.Run("solve", func(t *testing.T) {
		for _, p := range problems {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				args := []string{
					"solve", p.text, "--json", "--model", "compat/default", "--base-url", s.base,
					"--max-total-tokens", "0", "--escalate", "diversity,split",
				}
				o := maker(t, append(args, flags...)...)
				var r struct {
					Status string
					Reason string
					Output struct{ Answer string }
					Usage  struct{ Calls int64 }
					Voting struct{ Rule struct{ K int } }
				}
				lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
				if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
					t.Fatalf("maker solve %q printed no result: %v: %v", p.text, err, o)
				}
				mu.Lock()
				defer mu.Unlock()
				out.calls += r.Usage.Calls
				out.margins[r.Voting.Rule.K]++
				switch answer := strings.ReplaceAll(r.Output.Answer, " ", ""); {
				case r.Status != "completed":
					out.unsolved++
					t.Logf("%.60s: %s: %.300s", p.text, r.Status, r.Reason)
				case answer == p.want:
					out.right++
				default:
					out.wrong++
				}
			})
		}
	})
	return out
}

// fewer returns a small number of problems in short tests.
func fewer(n int) int {
	if testing.Short() {
		return max(2, n/10)
	}
	return n
}

// calibrated are the flags of a run whose margin follows from samples, for a tree
// with a number of votes.
func calibrated(votes int) []string {
	return []string{"--calibrate", "--steps", strconv.Itoa(votes), "--target-error", "0.01", "--samples-per-problem", "10", "--max-k", "9", "--max-rounds", "10"}
}

// TestSolveMultiplication: with a model that is right nine times in ten about a digit
// times a number and about a sum, and that makes one bad split in ten, products of
// five and six digits come out right. The domain is text, so that nobody but the
// voters knows arithmetic.
func TestSolveMultiplication(t *testing.T) {
	problems := slices.Concat(products(1, fewer(50), 5), products(2, fewer(50), 6))
	s := startSim(t, "sim/default?p=0.9&rivals=3&seed=1", "")

	single := solveAll(t, s, problems, "--ahead-by", "1", "--batch-size", "1", "--max-rounds", "1")
	t.Logf("a single sample: %v", single)
	if 5*single.right >= len(problems) && !testing.Short() {
		t.Errorf("a single sample is right on %d of %d: the problems are too easy to show anything", single.right, len(problems))
	}
	tree := solveAll(t, s, problems, "--ahead-by", "1", "--direct=false")
	t.Logf("a tree with one vote each: %v", tree)

	voted := solveAll(t, s, problems, calibrated(30)...)
	t.Logf("with a calibrated margin: %v", voted)
	if 100*voted.right < 99*len(problems) {
		t.Errorf("%d of %d products are right, want 99 of 100", voted.right, len(problems))
	}
}

// TestSolveSorting: 100 numbers are sorted by splitting and merging.
func TestSolveSorting(t *testing.T) {
	problems := lists(3, fewer(20), 100)
	s := startSim(t, "sim/default?p=0.9&rivals=3&seed=2", "")
	tree := solveAll(t, s, problems, "--ahead-by", "1", "--direct=false")
	t.Logf("a tree with one vote each: %v", tree)
	if 5*tree.right >= len(problems) {
		t.Errorf("a tree with one vote each is right on %d of %d: the lists are too easy to show anything", tree.right, len(problems))
	}
	voted := solveAll(t, s, problems, calibrated(100)...)
	t.Logf("with a calibrated margin: %v", voted)
	if voted.right < len(problems) {
		t.Errorf("%d of %d lists are sorted, want all", voted.right, len(problems))
	}
}
