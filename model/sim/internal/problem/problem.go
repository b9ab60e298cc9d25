// Package problem holds the problems that the simulator can solve and split:
// calculations and lists to sort. It says what is right, how much work that is, and
// what goes wrong when somebody makes a mistake. Whether a mistake is made is not its
// business.
package problem

import (
	"math/big"
	"regexp"
	"strings"

	"github.com/maker-mdap/maker/domain/math/notation"
)

// A Problem is one that the simulator knows how to go about.
type Problem interface {
	// String states the problem in words that Read reads.
	String() string

	// Operations is how many of the smallest operations it takes to solve the
	// problem as it is: 1 for one that nobody would split.
	Operations() int

	// Solution returns what comes out with some mistakes, the right solution with
	// none and a wrong one otherwise; false if there is no solution.
	Solution(mistakes []Slip) (string, bool)

	// Split returns the problem in two parts, if it is to be split; must says that
	// an atom is to be split too, if there is a way.
	Split(must bool) (Split, bool)
}

// A Slip is a mistake to make: one of those that are possible. The rivals of a
// step are different slips, as long as there are enough.
type Slip struct {
	Step  uint64 // random number of the step
	Rival int
}

// Among chooses one of n, which is 1 or more.
func (s Slip) Among(n int) int { return int((s.Step + uint64(s.Rival)) % uint64(n)) }

// erring returns what becomes of the right result with some mistakes, each of which
// makes it another one.
func erring[T any](right T, mistakes []Slip, off func(T, Slip) T, same func(a, b T) bool) T {
	v := right
	for _, m := range mistakes {
		v = off(v, m)
	}
	if len(mistakes) > 0 && same(v, right) { // they make up for each other
		v = off(v, mistakes[0])
	}
	return v
}

// A Split is a problem in two parts, and how to put their solutions together.
type Split struct{ A, B, How string }

// lastNumber is the last number of a text.
var lastNumber = regexp.MustCompile(`\d+(\D*)$`)

// Spoil returns a split of p with one of the mistakes that happen when something is
// taken apart: a part that is the whole, one that is off by one, one with a digit lost.
func Spoil(p Problem, s Split, mistake Slip) Split {
	at := lastNumber.FindStringSubmatchIndex(s.B)
	kind := mistake.Among(3)
	if kind == 0 || at == nil {
		s.A = p.String()
		return s
	}
	n, _ := new(big.Int).SetString(s.B[at[0]:at[2]], 10)
	if kind == 1 || n.Sign() == 0 { // which has nothing to lose
		n.Add(n, big.NewInt(1))
	} else {
		n.Quo(n, big.NewInt(10))
	}
	s.B = s.B[:at[0]] + n.String() + s.B[at[2]:]
	return s
}

const maxProblem = 100_000 // bytes of one that is looked at

// advice is a last sentence about the form of the answer.
var advice = regexp.MustCompile(`(?is)[.?]\s+(?:answer|reply|show|give|explain)\b[^.?\[\]]*[.?]?$`)

// Read reads a problem in a usual form; nil if it is of another kind.
func Read(text string) Problem {
	if len(text) > maxProblem {
		return nil
	}
	text = strings.TrimSpace(advice.ReplaceAllString(strings.TrimSpace(text), ""))
	if p := readOrdering(text); p != nil {
		return p
	}
	return readCalculation(text)
}

// Together is what it takes to make a solution from those of two parts; nil if
// they are neither numbers nor lists.
func Together(how, a, b string) Problem {
	a, b = solutionText(a), solutionText(b)
	if l, ok := readList(a); ok {
		if m, ok := readList(b); ok {
			return Ordering{l, m, true}
		}
		return nil
	}
	x, isNumber := readCalculation(a).(Calculation)
	y, also := readCalculation(b).(Calculation)
	if !isNumber || !also {
		return nil
	}
	parts := map[string]*notation.Expr{"a": x.expr, "b": y.expr}
	if e, ok := notation.Formula(how); ok {
		if e = exactly(e).Substitute(parts); isArithmetic(e, false) {
			return Calculation{expr: e}
		}
	}
	return Calculation{expr: notation.Make(notation.Add, x.expr, y.expr)}
}

// solutionText is a solution without a name before it: "x = 5" is 5.
func solutionText(s string) string {
	return strings.TrimRight(strings.TrimSpace(s[strings.LastIndexByte(s, '=')+1:]), ".")
}
