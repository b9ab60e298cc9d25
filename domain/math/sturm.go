package math

import (
	"math/big"
	"slices"
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
func (c *comparer) realRoots(e *Expr) (int, bool) {
	if len(variables(e)) != 1 {
		return 0, false
	}
	p := c.polynomial(e)
	if len(p) < 2 || slices.ContainsFunc(p, func(r *big.Rat) bool { return bits(r) > maxCoefficient }) {
		return 0, false
	}
	return p.countRoots(), true
}

// polynomial returns e as a polynomial in its only variable; nil if it is none.
func (c *comparer) polynomial(e *Expr) polynomial {
	if len(variables(e)) == 0 {
		if r := c.exact(e, nil); r != nil {
			return polynomial{r}.trimmed()
		}
		return nil
	}
	if e.Op == Sym {
		return polynomial{new(big.Rat), big.NewRat(1, 1)}
	}
	p := c.polynomial(e.Args[0])
	if p == nil || e.Op == Fact || e.Op == Call {
		return nil
	}
	if e.Op == Neg {
		return p.times(polynomial{big.NewRat(-1, 1)})
	}
	q := c.polynomial(e.Args[1])
	switch {
	case q == nil:
		return nil
	case e.Op == Add:
		return p.plus(q)
	case e.Op == Mul:
		return p.times(q)
	case e.Op == Div && len(q) == 1:
		return p.times(polynomial{new(big.Rat).Inv(q[0])})
	case e.Op == Pow && len(q) <= 1:
		return p.power(q)
	}
	return nil
}

// power is p to a constant power, nil if that is no polynomial.
func (p polynomial) power(q polynomial) polynomial {
	if len(q) == 0 || !q[0].IsInt() || q[0].Sign() < 0 || q[0].Num().Cmp(big.NewInt(maxDegree)) > 0 {
		return nil // x^0 is not defined everywhere
	}
	out := polynomial{big.NewRat(1, 1)}
	for range q[0].Num().Int64() {
		if out = out.times(p); out == nil {
			return nil
		}
	}
	return out
}

func (p polynomial) plus(q polynomial) polynomial {
	out := make(polynomial, max(len(p), len(q)))
	for i := range out {
		out[i] = new(big.Rat)
		for _, r := range []polynomial{p, q} {
			if i < len(r) {
				out[i].Add(out[i], r[i])
			}
		}
	}
	return out.trimmed()
}

// times is the product, nil if its degree is too high.
func (p polynomial) times(q polynomial) polynomial {
	if len(p)+len(q) > maxDegree+2 {
		return nil
	}
	out := make(polynomial, len(p)+len(q))
	for i := range out {
		out[i] = new(big.Rat)
	}
	for i, x := range p {
		for j, y := range q {
			out[i+j].Add(out[i+j], new(big.Rat).Mul(x, y))
		}
	}
	return out.trimmed()
}

// countRoots counts distinct real roots by the theorem of Sturm: they are as many
// as the sign changes that the chain loses from one end of the line to the other.
func (p polynomial) countRoots() int {
	chain := []polynomial{p, p.derivative()}
	for {
		last := chain[len(chain)-1]
		if len(last) == 0 {
			chain = chain[:len(chain)-1]
			break
		}
		rest := chain[len(chain)-2].remainder(last)
		for _, c := range rest {
			c.Neg(c)
		}
		chain = append(chain, rest)
	}
	changes := func(atMinus bool) int {
		n, before := 0, 0
		for _, q := range chain {
			sign := q[len(q)-1].Sign()
			if atMinus && len(q)%2 == 0 { // of odd degree
				sign = -sign
			}
			if before != 0 && sign != before {
				n++
			}
			before = sign
		}
		return n
	}
	return changes(true) - changes(false)
}

func (p polynomial) derivative() polynomial {
	out := polynomial{}
	for i := 1; i < len(p); i++ {
		out = append(out, new(big.Rat).Mul(p[i], big.NewRat(int64(i), 1)))
	}
	return out.trimmed()
}

func (p polynomial) trimmed() polynomial {
	for len(p) > 0 && p[len(p)-1].Sign() == 0 {
		p = p[:len(p)-1]
	}
	return p
}

// remainder is that of the division by q, which is not zero.
func (p polynomial) remainder(q polynomial) polynomial {
	rest := make(polynomial, len(p))
	for i, c := range p {
		rest[i] = new(big.Rat).Set(c)
	}
	for len(rest) >= len(q) {
		factor := new(big.Rat).Quo(rest[len(rest)-1], q[len(q)-1])
		shift := len(rest) - len(q)
		for i, c := range q {
			rest[shift+i].Sub(rest[shift+i], new(big.Rat).Mul(factor, c))
		}
		rest = rest[:len(rest)-1].trimmed()
	}
	return rest
}
