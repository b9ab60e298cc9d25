package math

import (
	"math/big"
	"slices"

	"github.com/maker-mdap/maker/domain/math/notation"
)

// A polynomial in one variable has its coefficients by their power. The last one
// is not 0; zero has none.
type polynomial []*big.Rat

// The limits of what roots are counted of.
const (
	maxDegree      = 20
	maxCoefficient = 1024 // bits
)

// realRoots counts the real solutions of e = 0, if e is a polynomial in one
// variable with rational coefficients.
func (c *comparer) realRoots(e *notation.Expr) (int, bool) {
	names := notation.Variables(e)
	if len(names) != 1 {
		return 0, false
	}
	num, den, rational := fractionOf(e, names)
	if !rational || num.degree > maxDegree || den.degree > 0 {
		return 0, false
	}
	p := c.interpolated(e, names[0], num.degree)
	if len(p) < 2 || slices.ContainsFunc(p, func(r *big.Rat) bool { return max(r.Num().BitLen(), r.Denom().BitLen()) > maxCoefficient }) {
		return 0, false
	}
	return p.countRoots(), true
}

// interpolated is the polynomial of some degree at most that e is, found by its
// values; nil if they are not known.
func (c *comparer) interpolated(e *notation.Expr, name string, degree int) polynomial {
	p, zeros := polynomial{}, polynomial{big.NewRat(1, 1)} // (x - 0)(x - 1)...
	for i := range int64(degree + 1) {
		x := big.NewRat(i, 1)
		v := c.Exact(e, environment{name: notation.Number(x)})
		if v == nil {
			return nil
		}
		factor := new(big.Rat).Sub(v, p.at(x))
		p = p.plus(zeros, factor.Quo(factor, zeros.at(x)))
		shifted := append(polynomial{new(big.Rat)}, zeros...)
		zeros = shifted.plus(zeros, big.NewRat(-i, 1))
	}
	return p
}

// at is the value at x.
func (p polynomial) at(x *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, c := range slices.Backward(p) {
		sum.Add(sum.Mul(sum, x), c)
	}
	return sum
}

// plus adds a multiple of q.
func (p polynomial) plus(q polynomial, factor *big.Rat) polynomial {
	out := make(polynomial, max(len(p), len(q)))
	for i := range out {
		out[i] = new(big.Rat)
		if i < len(q) {
			out[i].Mul(q[i], factor)
		}
		if i < len(p) {
			out[i].Add(out[i], p[i])
		}
	}
	for len(out) > 0 && out[len(out)-1].Sign() == 0 {
		out = out[:len(out)-1]
	}
	return out
}

// countRoots counts distinct real roots by the theorem of Sturm: they are as many
// as the sign changes that the chain loses from one end of the line to the other.
func (p polynomial) countRoots() int {
	derivative := polynomial{}
	for i, c := range p[1:] {
		derivative = append(derivative, new(big.Rat).Mul(c, big.NewRat(int64(i+1), 1)))
	}
	roots := 0
	beforeMinus, beforePlus := 0, 0 // the signs at the ends
	for q, next := p, derivative; len(q) > 0; q, next = next, q.remainder(next) {
		plus := q[len(q)-1].Sign()
		minus := plus
		if len(q)%2 == 0 { // of odd degree
			minus = -plus
		}
		if minus*beforeMinus < 0 {
			roots++
		}
		if plus*beforePlus < 0 {
			roots--
		}
		beforeMinus, beforePlus = minus, plus
	}
	return roots
}

// remainder is the negative remainder of the division by q; zero if q is.
func (p polynomial) remainder(q polynomial) polynomial {
	if len(q) == 0 {
		return nil
	}
	for len(p) >= len(q) {
		shifted := slices.Concat(slices.Repeat(polynomial{new(big.Rat)}, len(p)-len(q)), q)
		factor := new(big.Rat).Quo(p[len(p)-1], q[len(q)-1])
		p = p.plus(shifted, factor.Neg(factor))
	}
	return polynomial{}.plus(p, big.NewRat(-1, 1))
}
