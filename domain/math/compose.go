package math

import (
	"math/big"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/math/notation"
)

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
	r := c.Exact(formula, map[string]*big.Rat{"a": p, "b": q})
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
