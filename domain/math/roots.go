package math

import (
	"math/big"

	"github.com/maker-mdap/maker/domain/math/notation"
)

// realRoots counts the real solutions of e = 0, if e is a polynomial in one
// variable with rational coefficients and of degree 2 at most.
func (c *comparer) realRoots(e *notation.Expr) (int, bool) {
	names := notation.Variables(e)
	if len(names) != 1 {
		return 0, false
	}
	num, den, rational := fractionOf(e, names)
	if !rational || num.degree > 2 || den.degree > 0 {
		return 0, false
	}
	at := func(x int64) *big.Rat { return c.Exact(e, environment{names[0]: notation.Integer(x)}) }
	left, middle, right := at(-1), at(0), at(1)
	if left == nil || middle == nil || right == nil {
		return 0, false
	}
	// With a x^2 + b x + c the sum of the outer values is 2a + 2c, their difference 2b.
	a2 := new(big.Rat).Add(left, right)
	a2.Sub(a2, new(big.Rat).Add(middle, middle))
	b2 := new(big.Rat).Sub(right, left)
	switch {
	case a2.Sign() != 0:
		// 4 (b^2 - 4ac) is (2b)^2 - 8 (2a) c.
		product := new(big.Rat).Mul(a2, middle)
		discriminant := new(big.Rat).Mul(b2, b2)
		return 1 + discriminant.Sub(discriminant, product.Mul(product, big.NewRat(8, 1))).Sign(), true
	case b2.Sign() != 0:
		return 1, true
	}
	return 0, false
}
