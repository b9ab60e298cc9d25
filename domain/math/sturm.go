package math

import (
	"math/big"
)

// A polynomial in one variable has its coefficients by their power. The last one
// is not 0; zero has none.
type polynomial []*big.Rat

const maxDegree = 20

// realRoots counts the real solutions of e = 0, if e is a polynomial in one
// variable with rational coefficients.
func (c *comparer) realRoots(e *Expr) (int, bool) {
	g := newAlgebra(&c.meter)
	f, err := g.normal(e)
	if err != nil || g.vague || len(g.atoms) != 1 || g.atoms[0].kind != variableAtom {
		return 0, false
	}
	if _, ok := f.den.constant(); !ok {
		return 0, false
	}
	p := polynomial{}
	for _, t := range f.num {
		power := 0
		if len(t.factors) == 1 {
			exp := t.factors[0].exp
			if !exp.IsInt() || !exp.Num().IsInt64() || exp.Num().Int64() > maxDegree {
				return 0, false
			}
			power = int(exp.Num().Int64())
		}
		for len(p) <= power {
			p = append(p, new(big.Rat))
		}
		p[power] = t.coef
	}
	if len(p) < 2 || bits(p[len(p)-1]) > 256 {
		return 0, false
	}
	return p.countRoots(), true
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
