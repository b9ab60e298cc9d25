package math

import (
	"math/big"
)

// normal brings an expression into normal form.
func (g *algebra) normal(e *Expr) (fraction, error) {
	if err := g.meter.spend(1); err != nil {
		return fraction{}, err
	}
	one := big.NewRat(1, 1)
	switch e.Op {
	case Num:
		return constantFraction(e.value), nil
	case Sym:
		kind := variableAtom
		if isConstant(e.Text) {
			kind = positiveAtom
		}
		if e.word || e.Text == symI || e.Text == symInfinity {
			g.vague = true // units can be converted, i^2 may be -1
		}
		return g.atomFraction(g.atom(atom{key: e.Text, kind: kind}), one)
	}
	x, err := g.normal(e.Args[0])
	if err != nil {
		return fraction{}, err
	}
	switch e.Op {
	case Neg:
		return g.negated(x)
	case Fact:
		return g.factorial(x)
	case Call:
		return g.call(e.Text, x)
	}
	y, err := g.normal(e.Args[1])
	if err != nil {
		return fraction{}, err
	}
	switch e.Op {
	case Add:
		return g.addFractions(x, y)
	case Mul:
		return g.mulFractions(x, y)
	case Div:
		return g.divFractions(x, y)
	default:
		return g.raise(x, y)
	}
}

func (g *algebra) negated(x fraction) (fraction, error) {
	num, err := g.add(sum{}, x.num, -1)
	return fraction{num, x.den}, err
}

func (g *algebra) factorial(x fraction) (fraction, error) {
	r, ok := x.constant()
	if !ok {
		return g.opaque("fact", x)
	}
	ev := evaluator{meter: g.meter}
	v, err := ev.factorial(real{exact: r})
	if err != nil {
		return fraction{}, err
	}
	return constantFraction(v.exact), nil
}

// opaque takes a function of something as an unknown.
func (g *algebra) opaque(name string, x fraction) (fraction, error) {
	return g.atomFraction(g.atom(atom{key: name + "(" + x.key() + ")", kind: opaqueAtom}), big.NewRat(1, 1))
}

// isNegative reports whether the first term is negative. Of x and -x it is one.
func (f fraction) isNegative() bool {
	terms := f.num.sorted()
	return len(terms) > 0 && terms[0].coef.Sign() < 0
}

func (g *algebra) call(name string, x fraction) (fraction, error) {
	zero := len(x.num) == 0
	switch name {
	case fnSqrt:
		return g.raise(x, constantFraction(big.NewRat(1, 2)))
	case fnCbrt:
		return g.cubeRoot(x)
	case fnLn:
		return g.logarithm(x)
	case fnAbs:
		if r, ok := x.constant(); ok {
			return constantFraction(new(big.Rat).Abs(r)), nil
		}
	case fnSin, fnTan, fnAsin, fnAtan:
		if zero {
			return x, nil
		}
	case fnCos:
		if zero {
			return constantFraction(big.NewRat(1, 1)), nil
		}
	}
	if name == fnAcos || !x.isNegative() {
		return g.opaque(name, x)
	}
	// Even functions forget the sign, odd ones pass it on.
	x, err := g.negated(x)
	if err != nil {
		return fraction{}, err
	}
	f, err := g.opaque(name, x)
	if err != nil || name == fnCos || name == fnAbs {
		return f, err
	}
	return g.negated(f)
}

func (g *algebra) cubeRoot(x fraction) (fraction, error) {
	third := constantFraction(big.NewRat(1, 3))
	r, ok := x.constant()
	if !ok {
		if _, positive := g.positive(x); positive {
			return g.raise(x, third)
		}
		return g.opaque(fnCbrt, x)
	}
	root, err := g.raise(constantFraction(new(big.Rat).Abs(r)), third)
	if err != nil || r.Sign() >= 0 {
		return root, err
	}
	return g.negated(root)
}

// A monomial is a single product that is positive whatever the variables are.
type monomial struct {
	coef    *big.Rat
	factors []factor // with exponents of any sign
}

// positive returns x as such a product, if it is one.
func (g *algebra) positive(x fraction) (monomial, bool) {
	if len(x.num) != 1 || len(x.den) != 1 {
		return monomial{}, false
	}
	m := monomial{coef: big.NewRat(1, 1)}
	for i, s := range []sum{x.num, x.den} {
		for _, t := range s {
			if t.coef.Sign() < 0 {
				return monomial{}, false
			}
			for _, f := range t.factors {
				if kind := g.atoms[f.atom].kind; kind != primeAtom && kind != positiveAtom {
					return monomial{}, false
				}
				exp := new(big.Rat).Set(f.exp)
				if i == 1 {
					exp.Neg(exp)
				}
				m.factors = append(m.factors, factor{f.atom, exp})
			}
			if i == 0 {
				m.coef = t.coef
			} else {
				m.coef = new(big.Rat).Quo(m.coef, t.coef)
			}
		}
	}
	return m, true
}

// split turns the coefficient into powers of primes as well.
func (g *algebra) split(m monomial) ([]factor, error) {
	factors := m.factors
	for i, n := range []*big.Int{m.coef.Num(), m.coef.Denom()} {
		primes, sure, err := factorize(n, g.meter)
		if err != nil {
			return nil, err
		}
		if !sure {
			g.vague = true
		}
		for _, p := range primes {
			exp := big.NewRat(p.times, 1)
			if i == 1 {
				exp.Neg(exp)
			}
			a := g.atom(atom{key: p.prime.String(), kind: primeAtom, prime: p.prime})
			factors = append(factors, factor{a, exp})
		}
	}
	return factors, nil
}

// raise computes a power.
func (g *algebra) raise(x, y fraction) (fraction, error) {
	r, ok := y.constant()
	if ok && r.IsInt() {
		return g.raiseWhole(x, r.Num())
	}
	if m, positive := g.positive(x); positive {
		return g.raisePositive(m, x, y)
	}
	if !ok || bits(r) > 32 {
		return g.opaquePower(x, y)
	}
	if base, constant := x.constant(); constant {
		if base.Sign() == 0 && r.Sign() > 0 {
			return x, nil
		}
		return fraction{}, errUndefined // of a negative number
	}
	// A root of one variable is a power of it, a root of a sum an atom.
	if len(x.den) == 1 && len(x.den[""].factors) == 0 && x.den[""].coef != nil {
		return g.rootOfSum(x.num, r)
	}
	return g.opaquePower(x, y)
}

func (g *algebra) opaquePower(x, y fraction) (fraction, error) {
	return g.atomFraction(g.atom(atom{key: "pow(" + x.key() + "," + y.key() + ")", kind: opaqueAtom}), big.NewRat(1, 1))
}

func (g *algebra) rootOfSum(s sum, r *big.Rat) (fraction, error) {
	if len(s) == 1 {
		for _, t := range s {
			one := big.NewRat(1, 1)
			if len(t.factors) == 1 && t.factors[0].exp.Cmp(one) == 0 && t.coef.Cmp(one) == 0 && g.atoms[t.factors[0].atom].kind == variableAtom {
				return g.atomFraction(t.factors[0].atom, r)
			}
		}
	}
	return g.atomFraction(g.atom(atom{key: "sum(" + s.key() + ")", kind: sumAtom, base: s}), r)
}

// raisePositive distributes a power over a product of constants: each factor
// b^c to the power of a term q*m becomes the atom b^m, to the power of c*q.
func (g *algebra) raisePositive(m monomial, x, y fraction) (fraction, error) {
	factors, err := g.split(m)
	if err != nil {
		return fraction{}, err
	}
	if _, constant := y.den.constant(); !constant {
		return g.opaquePower(x, y)
	}
	result := constantFraction(big.NewRat(1, 1))
	for _, t := range y.num.sorted() {
		for _, f := range factors {
			exp := new(big.Rat).Mul(f.exp, t.coef)
			if bits(exp) > 64 {
				return fraction{}, errLimit
			}
			i := f.atom
			if len(t.factors) > 0 {
				i = g.atom(atom{key: g.atoms[f.atom].key + "^(" + keyOf(t.factors) + ")", kind: positiveAtom})
			}
			power, err := g.atomFraction(i, exp)
			if err != nil {
				return fraction{}, err
			}
			if result, err = g.mulFractions(result, power); err != nil {
				return fraction{}, err
			}
		}
	}
	return result, nil
}

// logarithm takes a product apart: ln 12 = 2 ln 2 + ln 3.
func (g *algebra) logarithm(x fraction) (fraction, error) {
	m, ok := g.positive(x)
	if !ok {
		if r, constant := x.constant(); constant && r.Sign() <= 0 {
			return fraction{}, errUndefined
		}
		return g.opaque(fnLn, x)
	}
	factors, err := g.split(m)
	if err != nil {
		return fraction{}, err
	}
	result := constantFraction(new(big.Rat))
	for _, f := range factors {
		one := big.NewRat(1, 1)
		ln := constantFraction(one)
		if key := g.atoms[f.atom].key; key != symE {
			if ln, err = g.atomFraction(g.atom(atom{key: "ln " + key, kind: opaqueAtom}), one); err != nil {
				return fraction{}, err
			}
		}
		if ln, err = g.mulFractions(ln, constantFraction(f.exp)); err != nil {
			return fraction{}, err
		}
		if result, err = g.addFractions(result, ln); err != nil {
			return fraction{}, err
		}
	}
	return result, nil
}

// A primePower is a prime factor of a number.
type primePower struct {
	prime *big.Int
	times int64
}

// factorize takes a positive number apart by trial division. What is left is a
// prime, or sure is false.
func factorize(n *big.Int, m *meter) (primes []primePower, sure bool, err error) {
	const limit = 10_000
	rest := new(big.Int).Set(n)
	if err := m.spend(1 + rest.BitLen()*rest.BitLen()/4096); err != nil {
		return nil, false, err
	}
	remainder, quotient := new(big.Int), new(big.Int)
	try := func(p int64) error {
		d := big.NewInt(p)
		times := int64(0)
		for {
			quotient.QuoRem(rest, d, remainder)
			if remainder.Sign() != 0 {
				break
			}
			rest.Set(quotient)
			times++
		}
		if times > 0 {
			primes = append(primes, primePower{d, times})
		}
		return m.spend(rest.BitLen() / 512)
	}
	for p := int64(2); p < limit; p++ {
		if p > 3 && (p%2 == 0 || p%3 == 0) {
			continue
		}
		if rest.IsInt64() && rest.Int64() < p*p {
			break
		}
		if err := try(p); err != nil {
			return nil, false, err
		}
	}
	if rest.Cmp(big.NewInt(1)) == 0 {
		return primes, true, nil
	}
	if rest.Cmp(big.NewInt(limit*limit)) < 0 {
		return append(primes, primePower{rest, 1}), true, nil
	}
	if root := new(big.Int).Sqrt(rest); new(big.Int).Mul(root, root).Cmp(rest) == 0 {
		return append(primes, primePower{root, 2}), root.BitLen() <= 512 && root.ProbablyPrime(10), nil
	}
	return append(primes, primePower{rest, 1}), rest.BitLen() <= 512 && rest.ProbablyPrime(10), nil
}
