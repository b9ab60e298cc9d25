package math

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/maker-mdap/maker/domain/math/notation"
)

func parsed(t testing.TB, text string) *notation.Expr {
	t.Helper()
	v, ok := notation.Parse(text)
	if !ok || v.Expr == nil {
		t.Fatalf("Parse(%q) = %v, %v, want an expression", text, v, ok)
	}
	return v.Expr
}

// randomExpr makes an expression of the given depth.
func randomExpr(rng *rand.Rand, depth int) *notation.Expr {
	if depth == 0 {
		switch rng.IntN(5) {
		case 0:
			return notation.Symbol("x")
		case 1:
			return notation.Symbol(notation.Pi)
		default:
			return notation.Number(big.NewRat(rng.Int64N(19)-9, 1+rng.Int64N(4)))
		}
	}
	a, b := randomExpr(rng, depth-1), randomExpr(rng, rng.IntN(depth))
	switch rng.IntN(9) {
	case 0, 1:
		return notation.Make(notation.Add, a, b)
	case 2:
		return notation.Minus(a, b)
	case 3, 4:
		return notation.Make(notation.Mul, a, b)
	case 5:
		return notation.Make(notation.Div, a, b)
	case 6:
		return notation.Make(notation.Pow, a, notation.Integer(rng.Int64N(5)-1))
	default:
		names := []string{"sqrt", "cbrt", "abs", "sin", "cos", "tan", "asin", "acos", "atan", "ln"}
		return notation.Apply(names[rng.IntN(len(names))], a)
	}
}

// TestRewritingHolds checks that rewriting an expression does not change its value,
// and that adding something to it does.
func TestRewritingHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	same := 0
	rounds := 600
	if raceDetector {
		rounds = 120
	}
	for range rounds {
		a := randomExpr(rng, 1+rng.IntN(3))
		b := rewritten(rng, a)
		c := newComparer(Options{})
		relation := c.exprs(a, b)
		if relation == Different {
			t.Errorf("%s and %s, which is the same in other words, are different", a, b)
		}
		if relation == Same {
			same++
		}
		// Something else added must show, whoever looks.
		d := notation.Make(notation.Add, b, notation.Integer(1))
		if relation := newComparer(Options{}).exprs(a, d); relation == Same {
			t.Errorf("%s and %s are the same", a, d)
		}
	}
	if same < rounds/2 {
		t.Errorf("%d of %d were found to be the same, want more", same, rounds)
	}
}

// rewritten returns an expression of the same value.
func rewritten(rng *rand.Rand, e *notation.Expr) *notation.Expr {
	args := make([]*notation.Expr, len(e.Args))
	for i, arg := range e.Args {
		args[i] = rewritten(rng, arg)
	}
	out := &notation.Expr{Op: e.Op, Text: e.Text, Args: args, Value: e.Value}
	switch {
	case (e.Op == notation.Add || e.Op == notation.Mul) && rng.IntN(2) == 0:
		out.Args = []*notation.Expr{args[1], args[0]}
	case e.Op == notation.Mul && args[0].Op == notation.Add && rng.IntN(2) == 0:
		out = notation.Make(notation.Add, notation.Make(notation.Mul, args[0].Args[0], args[1]), notation.Make(notation.Mul, args[0].Args[1], args[1]))
	case e.Op == notation.Div && rng.IntN(2) == 0:
		out = notation.Make(notation.Mul, args[0], notation.Make(notation.Pow, args[1], notation.Integer(-1)))
	case e.Op == notation.Pow && args[1].Text == "2":
		out = notation.Make(notation.Mul, args[0], args[0])
	case e.Op == notation.Num && rng.IntN(4) == 0:
		out = notation.Minus(notation.Number(new(big.Rat).Add(e.Value, big.NewRat(1, 3))), notation.Number(big.NewRat(1, 3)))
	case e.Op == notation.Call && e.Text == "tan":
		out = notation.Make(notation.Div, notation.Apply("sin", args[0]), notation.Apply("cos", args[0]))
	}
	return out
}

// TestZeroIsProved adds little to what agrees: however little it is, the two must
// never be the same.
func TestZeroIsProved(t *testing.T) {
	for i, text := range []string{
		"sqrt(2)", "sqrt(2) + sqrt(3)", "2^(1/3)", "sqrt(x)", "|x|", "pi", "e^100", "sin(x)", "ln(5)", "x^2", "x/y", "2^x",
	} {
		if raceDetector && i%4 != 0 {
			continue
		}
		for _, digits := range []string{"60", "200", "3000"} {
			for _, more := range []string{" + 10^-" + digits, " + sin(10^-" + digits + ")", " + e^-" + digits, " + 1/(7^" + digits + " + sqrt(x^2 + 5))"} {
				if got := Equal(text, text+more); got == Same {
					t.Errorf("Equal(%s, %s) = %v, want something else", text, text+more, got)
				}
			}
		}
	}
}

// A polynomial that is 0 at every point where expressions are compared is still not
// 0, whatever it is multiplied with.
func TestNoPointIsSpecial(t *testing.T) {
	x := notation.Symbol("x")
	product := notation.Integer(1)
	for range 2 { // what it has in it adds points
		for _, at := range points([]string{"x"}, product) {
			product = notation.Make(notation.Mul, product, notation.Minus(x, at["x"]))
		}
	}
	for _, factor := range []*notation.Expr{notation.Integer(1), notation.Apply("sqrt", x), notation.Apply("sin", x), notation.Apply("sqrt", notation.Integer(2))} {
		if got := newComparer(Options{}).exprs(notation.Make(notation.Mul, product, factor), notation.Integer(0)); got == Same {
			t.Errorf("a product times %s and 0 are %v, want something else", factor, got)
		}
	}
}

func TestCountRoots(t *testing.T) {
	for text, want := range map[string]int{
		"x^2 - 5x + 6": 2, "x^2 + 1": 0, "(x-1)^2": 1, "x": 1, "x^2/3 - x/7": 2, "9 - x^2": 2, "-x^2 - x - 1": 0, "(x+1)^2 - x^2": 1, "2x^2 - 4x + 2": 1,
	} {
		if got, ok := newComparer(Options{}).realRoots(parsed(t, text)); !ok || got != want {
			t.Errorf("realRoots(%s) = %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"5", "x + y", "sin(x)", "1/x", "sqrt(x)", "x^3 - x", "x^2 - x^2", "sqrt(2) x", "x^x"} {
		if got, ok := newComparer(Options{}).realRoots(parsed(t, text)); ok {
			t.Errorf("realRoots(%s) = %d, want none", text, got)
		}
	}
}
