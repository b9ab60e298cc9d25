package math

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// The normal form of an expression is a fraction of two sums of products. The
// factors of a product are atoms with rational exponents: variables, primes (of
// which only roots are left as factors), pi, e, exponentials such as e^x, and
// everything else, each taken as an unknown of its own.

// An atom is an unknown of the algebra.
type atom struct {
	key   string
	kind  atomKind
	prime *big.Int // of a root
	base  sum      // of a power of a sum, such as (x+1)^(1/2)
}

type atomKind uint8

const (
	variableAtom atomKind = iota
	primeAtom             // its exponents are between 0 and 1
	sumAtom               // likewise
	positiveAtom          // pi, e, and constants and e to the power of something
	opaqueAtom            // a function of something
)

// A factor is an atom with its exponent, which is positive.
type factor struct {
	atom int
	exp  *big.Rat
}

// A term is a product with its coefficient, which is not 0. Factors are sorted.
type term struct {
	factors []factor
	coef    *big.Rat
}

// A sum has its terms by the key of their factors.
type sum map[string]term

// A fraction is the normal form of an expression. The denominator is not 0.
type fraction struct{ num, den sum }

// An algebra knows the atoms of the expressions that it has brought into normal
// form. Only normal forms of one algebra can be compared.
type algebra struct {
	atoms []atom
	index map[string]int
	meter *meter

	// vague is set if atoms may be related in ways that are not known.
	vague bool
}

func newAlgebra(m *meter) *algebra { return &algebra{index: map[string]int{}, meter: m} }

// atom returns the number of the atom with that key.
func (g *algebra) atom(a atom) int {
	if a.kind != variableAtom && a.kind != primeAtom {
		g.vague = true
	}
	if i, ok := g.index[a.key]; ok {
		return i
	}
	g.atoms = append(g.atoms, a)
	g.index[a.key] = len(g.atoms) - 1
	return len(g.atoms) - 1
}

func keyOf(factors []factor) string {
	var b strings.Builder
	for _, f := range factors {
		fmt.Fprintf(&b, "%d^%s ", f.atom, f.exp.RatString())
	}
	return b.String()
}

func constantSum(r *big.Rat) sum {
	if r.Sign() == 0 {
		return sum{}
	}
	return sum{"": {nil, r}}
}

func constantFraction(r *big.Rat) fraction {
	return fraction{constantSum(r), constantSum(big.NewRat(1, 1))}
}

// atomFraction is an atom to a power, which may be negative.
func (g *algebra) atomFraction(i int, exp *big.Rat) (fraction, error) {
	one := constantSum(big.NewRat(1, 1))
	if exp.Sign() == 0 {
		return fraction{one, one}, nil
	}
	a := g.atoms[i]
	if a.kind == primeAtom || a.kind == sumAtom {
		return g.reduced(i, exp)
	}
	factors := []factor{{i, new(big.Rat).Abs(exp)}}
	s := sum{keyOf(factors): {factors, big.NewRat(1, 1)}}
	if exp.Sign() < 0 {
		return fraction{one, s}, nil
	}
	return fraction{s, one}, nil
}

// reduced is a power of a prime or a sum, of which whole powers are worked out.
func (g *algebra) reduced(i int, exp *big.Rat) (fraction, error) {
	a := g.atoms[i]
	floor := new(big.Int).Div(exp.Num(), exp.Denom())
	rest := new(big.Rat).Sub(exp, new(big.Rat).SetInt(floor))
	var whole fraction
	if a.kind == primeAtom {
		if !floor.IsInt64() || max(floor.Int64(), -floor.Int64())*int64(a.prime.BitLen()) > maxBits {
			return fraction{}, errLimit
		}
		whole = constantFraction(ratPower(new(big.Rat).SetInt(a.prime), floor.Int64()))
	} else {
		var err error
		if whole, err = g.raiseWhole(fraction{a.base, constantSum(big.NewRat(1, 1))}, floor); err != nil {
			return fraction{}, err
		}
	}
	if rest.Sign() == 0 {
		return whole, nil
	}
	factors := []factor{{i, rest}}
	root := sum{keyOf(factors): {factors, big.NewRat(1, 1)}}
	num, err := g.mul(whole.num, root)
	return fraction{num, whole.den}, err
}

func (g *algebra) add(x, y sum, sign int) (sum, error) {
	if err := g.meter.spend(len(x) + len(y)); err != nil {
		return nil, err
	}
	out := make(sum, len(x)+len(y))
	for key, t := range x {
		out[key] = t
	}
	for key, t := range y {
		if err := g.accumulate(out, key, t, sign); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (g *algebra) accumulate(out sum, key string, t term, sign int) error {
	coef := new(big.Rat)
	if before, ok := out[key]; ok {
		coef.Set(before.coef)
	}
	if sign < 0 {
		coef.Sub(coef, t.coef)
	} else {
		coef.Add(coef, t.coef)
	}
	if bits(coef) > maxBits {
		return errLimit
	}
	if coef.Sign() == 0 {
		delete(out, key)
		return nil
	}
	out[key] = term{t.factors, coef}
	return nil
}

// maxTerms bounds a sum.
const maxTerms = 4000

func (g *algebra) mul(x, y sum) (sum, error) {
	out := sum{}
	// In order, so that the work is the same every time.
	xs, ys := x.sorted(), y.sorted()
	for _, s := range xs {
		for _, t := range ys {
			if err := g.meter.spend(10 + (bits(s.coef)+bits(t.coef))/16); err != nil {
				return nil, err
			}
			factors, carry, err := g.join(s.factors, t.factors)
			if err != nil {
				return nil, err
			}
			product := term{factors, new(big.Rat).Mul(s.coef, t.coef)}
			if carry == nil {
				if err := g.accumulate(out, keyOf(factors), product, 1); err != nil {
					return nil, err
				}
			} else if out, err = g.carried(out, product, carry); err != nil {
				return nil, err
			}
			if len(out) > maxTerms {
				return nil, errLimit
			}
		}
	}
	return out, nil
}

// carried adds a product times a sum that came out of joining its factors.
func (g *algebra) carried(out sum, product term, carry sum) (sum, error) {
	more, err := g.mul(sum{keyOf(product.factors): product}, carry)
	if err != nil {
		return nil, err
	}
	return g.add(out, more, 1)
}

func (s sum) sorted() []term {
	out := make([]term, 0, len(s))
	for _, key := range sortedKeys(s) {
		out = append(out, s[key])
	}
	return out
}

// join multiplies two products without coefficients. The exponents of primes and
// sums stay below 1; what is whole in them comes back as carry.
func (g *algebra) join(x, y []factor) (factors []factor, carry sum, err error) {
	i, j := 0, 0
	one := big.NewRat(1, 1)
	for i < len(x) || j < len(y) {
		switch {
		case j == len(y) || i < len(x) && x[i].atom < y[j].atom:
			factors = append(factors, x[i])
			i++
		case i == len(x) || y[j].atom < x[i].atom:
			factors = append(factors, y[j])
			j++
		default:
			a := g.atoms[x[i].atom]
			exp := new(big.Rat).Add(x[i].exp, y[j].exp)
			if bits(exp) > 64 {
				return nil, nil, errLimit
			}
			if exp.Cmp(one) >= 0 && (a.kind == primeAtom || a.kind == sumAtom) {
				exp.Sub(exp, one)
				whole := a.base
				if a.kind == primeAtom {
					whole = constantSum(new(big.Rat).SetInt(a.prime))
				}
				if carry == nil {
					carry = whole
				} else if carry, err = g.mul(carry, whole); err != nil {
					return nil, nil, err
				}
			}
			if exp.Sign() != 0 {
				factors = append(factors, factor{x[i].atom, exp})
			}
			i++
			j++
		}
	}
	return factors, carry, nil
}

// constant returns the value of a sum that has no atoms.
func (s sum) constant() (*big.Rat, bool) {
	switch len(s) {
	case 0:
		return new(big.Rat), true
	case 1:
		t, ok := s[""]
		return t.coef, ok
	}
	return nil, false
}

func (f fraction) constant() (*big.Rat, bool) {
	n, ok := f.num.constant()
	if !ok {
		return nil, false
	}
	d, ok := f.den.constant()
	if !ok {
		return nil, false
	}
	return new(big.Rat).Quo(n, d), true
}

// tidy makes a constant denominator 1.
func (g *algebra) tidy(f fraction) (fraction, error) {
	if len(f.den) == 0 {
		return fraction{}, errUndefined
	}
	d, ok := f.den.constant()
	if !ok || d.Cmp(big.NewRat(1, 1)) == 0 {
		return f, nil
	}
	num, err := g.mul(f.num, constantSum(new(big.Rat).Inv(d)))
	return fraction{num, constantSum(big.NewRat(1, 1))}, err
}

func (g *algebra) addFractions(x, y fraction) (fraction, error) {
	if same(x.den, y.den) {
		num, err := g.add(x.num, y.num, 1)
		return fraction{num, x.den}, err
	}
	a, b, err := g.cross(x, y)
	if err != nil {
		return fraction{}, err
	}
	num, err := g.add(a, b, 1)
	if err != nil {
		return fraction{}, err
	}
	den, err := g.mul(x.den, y.den)
	if err != nil {
		return fraction{}, err
	}
	return g.tidy(fraction{num, den})
}

func (g *algebra) mulFractions(x, y fraction) (fraction, error) {
	num, err := g.mul(x.num, y.num)
	if err != nil {
		return fraction{}, err
	}
	den, err := g.mul(x.den, y.den)
	if err != nil {
		return fraction{}, err
	}
	return g.tidy(fraction{num, den})
}

func (g *algebra) divFractions(x, y fraction) (fraction, error) {
	if len(y.num) == 0 {
		return fraction{}, errUndefined
	}
	return g.mulFractions(x, fraction{y.den, y.num})
}

// raiseWhole raises to a whole power.
func (g *algebra) raiseWhole(x fraction, n *big.Int) (fraction, error) {
	if !n.IsInt64() {
		return fraction{}, errLimit
	}
	e := n.Int64()
	if e < 0 {
		if len(x.num) == 0 {
			return fraction{}, errUndefined
		}
		x, e = fraction{x.den, x.num}, -e
	}
	if e == 0 && len(x.num) == 0 {
		return fraction{}, errUndefined
	}
	num, err := g.sumPower(x.num, e)
	if err != nil {
		return fraction{}, err
	}
	den, err := g.sumPower(x.den, e)
	if err != nil {
		return fraction{}, err
	}
	return g.tidy(fraction{num, den})
}

func (g *algebra) sumPower(s sum, n int64) (sum, error) {
	if len(s) > 1 && n > maxTerms {
		return nil, errLimit
	}
	for _, t := range s {
		if isOne := t.coef.IsInt() && t.coef.Num().CmpAbs(big.NewInt(1)) == 0; !isOne && n > maxBits/int64(max(1, bits(t.coef)-1)) {
			return nil, errLimit
		}
	}
	result, err := constantSum(big.NewRat(1, 1)), error(nil)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			if result, err = g.mul(result, s); err != nil {
				return nil, err
			}
		}
		if n > 1 {
			if s, err = g.mul(s, s); err != nil {
				return nil, err
			}
		}
	}
	return result, nil
}

// same reports whether two sums are equal.
func same(x, y sum) bool {
	if len(x) != len(y) {
		return false
	}
	for key, t := range x {
		if u, ok := y[key]; !ok || u.coef.Cmp(t.coef) != 0 {
			return false
		}
	}
	return true
}

// key is the same for equal sums.
func (s sum) key() string {
	var b strings.Builder
	for _, key := range sortedKeys(s) {
		fmt.Fprintf(&b, "%s*%s+", s[key].coef.RatString(), key)
	}
	return b.String()
}

func (f fraction) key() string { return f.num.key() + "/" + f.den.key() }

// cross returns the numerators of two fractions over the product of their
// denominators.
func (g *algebra) cross(x, y fraction) (a, b sum, err error) {
	if a, err = g.mul(x.num, y.den); err != nil {
		return nil, nil, err
	}
	b, err = g.mul(y.num, x.den)
	return a, b, err
}

// numerators returns those of the normal forms of two expressions over one
// denominator. The expressions are equal exactly if these are.
func (g *algebra) numerators(x, y *Expr) (a, b sum, err error) {
	p, err := g.normal(x)
	if err != nil {
		return nil, nil, err
	}
	q, err := g.normal(y)
	if err != nil {
		return nil, nil, err
	}
	return g.cross(p, q)
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
