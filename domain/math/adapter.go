package math

import (
	"fmt"
	"math/big"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/math/notation"
)

// Options tune an [Adapter].
type Options struct {
	// Tolerance is how far apart two numbers may be and still count as the same,
	// relative to the larger one: 0.001 lets 0.333 stand for 1/3. 0 means not at
	// all. Expressions with variables get none.
	Tolerance float64

	// CAS is asked about two expressions, in the notation of package notation, if
	// nothing is known about them: whether they are equal, and whether that is
	// known. It gives the same answer whenever it is asked again, and may be
	// called from several goroutines.
	CAS func(a, b string) (equal, known bool)
}

// An Adapter solves problems of mathematics. It is safe for concurrent use.
type Adapter struct {
	options Options
}

var (
	_ domain.Adapter    = (*Adapter)(nil)
	_ domain.Composer   = (*Adapter)(nil)
	_ domain.Evidencer  = (*Adapter)(nil)
	_ domain.Calibrated = (*Adapter)(nil)
	_ domain.Flagger    = (*Adapter)(nil)
)

// New returns an adapter. The options may be nil.
func New(o *Options) (*Adapter, error) {
	a := &Adapter{}
	if o != nil {
		a.options = *o
	}
	if t := a.options.Tolerance; !(t >= 0 && t < 1) {
		return nil, fmt.Errorf("math: the tolerance is %v, want 0 or more and less than 1", t)
	}
	return a, nil
}

// Equivalent reports whether two solutions are known to be the same value; see
// [Equal].
func (a *Adapter) Equivalent(x, y string) bool {
	relation := compare(x, y, a.options)
	return relation == Same
}

// Compose combines two numbers if how is certain to be arithmetic on them: a
// formula in a and b ("10*a + b"), or plain words ("add the two results",
// "subtract b from a"). The result is exact. Whether code may compose at all is
// up to the caller: what is computed here is not voted on.
func (a *Adapter) Compose(problem, how string, x, y domain.Part) (string, bool) {
	formula, ok := notation.Formula(how)
	if !ok {
		return "", false
	}
	c := newComparer(Options{})
	p, decimalP := c.partValue(x.Solution)
	q, decimalQ := c.partValue(y.Solution)
	if p == nil || q == nil {
		return "", false
	}
	r := c.Exact(formula, environment{"a": notation.Number(p), "b": notation.Number(q)})
	if r == nil {
		return "", false
	}
	if places, ends := r.FloatPrec(); ends && decimalP && decimalQ {
		return r.FloatString(places), true
	}
	return r.RatString(), true
}

// partValue is the number that a partial solution is, and whether it is written
// without a fraction; nil if it is none.
func (c *comparer) partValue(solution string) (value *big.Rat, decimal bool) {
	v, open, ok := notation.Read(solution, notation.Reading{})
	if !ok || open != (notation.Reading{}) || v.Approximate {
		return nil, false
	}
	if v = c.worked(v); v == nil || v.Kind != notation.Expression {
		return nil, false
	}
	return c.Exact(v.Expr, nil), v.Expr.Op == notation.Num || v.Expr.Op == notation.Neg
}

// FlagPatterns returns patterns of answers that are none: nothing was computed,
// or a program failed to.
func (a *Adapter) FlagPatterns() []string {
	return []string{
		`(?i)^\s*(x\s*=\s*)?(nan|null|none|undefined|error|n/a|\?+)\s*\.?\s*$`,
		`=\s*\?+\s*$`,
		`(?i)\b(insert|enter|put) (the |your )?(answer|value|number|result) here\b`,
		`Traceback \(most recent call last\)|\b(ZeroDivision|Syntax|Name|Value)Error\b`,
		`\\boxed\{\s*\}`,
	}
}

// Calibration returns problems with known solutions, from single steps of written
// arithmetic to small equations, the same ones in the same order every time.
func (a *Adapter) Calibration() []domain.Trial {
	return []domain.Trial{
		{Problem: "Compute 7 * 48163.", Solution: "337141"},
		{Problem: "Compute 58219 + 74936.", Solution: "133155"},
		{Problem: "Solve 3x + 7 = 52 for x.", Solution: "15"},
		{Problem: "Compute 3/8 + 5/12.", Solution: "19/24"},
		{Problem: "Compute 90412 - 57846.", Solution: "32566"},
		{Problem: "Compute 6 * 90753.", Solution: "544518"},
		{Problem: "Compute 438 * 27.", Solution: "11826"},
		{Problem: "Solve x^2 - 11x + 24 = 0.", Solution: "x = 3 or x = 8"},
		{Problem: "Compute 481630 + 2889780 + 96326.", Solution: "3467736"},
		{Problem: "Compute 9 * 68047.", Solution: "612423"},
		{Problem: "Compute 7/9 - 1/6.", Solution: "11/18"},
		{Problem: "What is 35% of 460?", Solution: "161"},
		{Problem: "Compute 1000000 - 387264.", Solution: "612736"},
		{Problem: "Compute 8 * 375926.", Solution: "3007408"},
		{Problem: "Solve 5(x - 2) = 3x + 8 for x.", Solution: "9"},
		{Problem: "Compute 12.75 + 8.6 - 3.048.", Solution: "18.302"},
		{Problem: "Compute (4/15) * (25/6).", Solution: "10/9"},
		{Problem: "Compute 2^10 - 3^5.", Solution: "781"},
		{Problem: "Compute 84672 / 12.", Solution: "7056"},
		{Problem: "Simplify (x + 3)^2 - (x - 3)^2.", Solution: "12x"},
		{Problem: "Compute 276349 + 598177.", Solution: "874526"},
		{Problem: "Solve x/4 - 3 = 9 for x.", Solution: "48"},
		{Problem: "Compute 4 * 719386.", Solution: "2877544"},
		{Problem: "Compute (17 - 29) * 13 + 200.", Solution: "44"},
	}
}
