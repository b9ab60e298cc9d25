package math

import (
	"errors"
	"math/big"
	"slices"
)

// precisions, in bits, are tried one after the other, until something is decided.
var precisions = []uint{256, 1024, 4096}

// maxWork is the work of one comparison, in units of about half a microsecond.
const maxWork = 200_000

// minPoints is at how many points two expressions have to agree, if that is no
// proof.
const minPoints = 5

// A comparer compares expressions within a limit of work.
type comparer struct {
	options Options
	meter   meter
	arenas  []*arena // for precisions
}

func newComparer(o Options) *comparer {
	c := &comparer{options: o, meter: meter{maxWork}}
	for _, prec := range precisions {
		c.arenas = append(c.arenas, newArena(prec))
	}
	return c
}

// exprs compares two expressions.
func (c *comparer) exprs(a, b *Expr) Relation {
	if a.same(b) {
		return Same
	}
	relation := c.decide(a, b)
	if relation == Different && isVague(a, b) {
		relation = Unknown
	}
	if relation == Unknown && c.options.CAS != nil && !hasWords(a) && !hasWords(b) {
		if equal, known := c.options.CAS(a.String(), b.String()); known {
			return ofBool(equal)
		}
	}
	return relation
}

func ofBool(equal bool) Relation {
	if equal {
		return Same
	}
	return Different
}

// isVague reports whether there are symbols of which the meaning is not certain:
// units can be converted, and i may be the imaginary unit.
func isVague(a, b *Expr) bool {
	return hasWords(a) || hasWords(b) || slices.Contains(variables(a, b), symI)
}

func hasWords(e *Expr) bool {
	words := false
	e.walk(func(part *Expr) { words = words || part.word })
	return words
}

// signAt is the sign of e, given the values of its variables. It is not known
// where e is not defined.
func (c *comparer) signAt(e *Expr, at map[string]*big.Rat) (sign int, known bool) {
	for _, arena := range c.arenas {
		sign, err := newEvaluator(arena, &c.meter, at).sign(e)
		if !errors.Is(err, errPrecision) {
			return sign, err == nil
		}
	}
	return 0, false
}

// exact is the value of an expression, given those of its variables; nil if it is
// not known exactly.
func (c *comparer) exact(e *Expr, at map[string]*big.Rat) *big.Rat {
	v, err := newEvaluator(c.arenas[0], &c.meter, at).eval(e)
	if err != nil {
		return nil
	}
	return v.exact
}

// decide compares by numbers.
func (c *comparer) decide(a, b *Expr) Relation {
	names := variables(a, b)
	if slices.Contains(names, symInfinity) {
		return infinities(a, b)
	}
	difference := minus(a, b)
	if len(names) == 0 {
		sign, known := c.signAt(difference, nil)
		switch {
		case !known:
			return Unknown
		case sign == 0 || c.tolerates(difference, a) || c.tolerates(difference, b):
			return Same
		}
		return Different
	}
	num, den, rational := fractionOf(difference, names)
	beyond := beyondRoots(names, num, den)
	if rational {
		if sign, known := c.signAt(difference, beyond); known {
			return ofBool(sign == 0)
		}
	}
	agreed := 0
	for _, at := range append(points(names, difference), beyond) {
		switch sign, known := c.signAt(difference, at); {
		case c.meter.left < 0:
			return Unknown
		case known && sign != 0:
			return Different
		case known:
			agreed++
		}
	}
	if rational || agreed < minPoints || agreed <= slices.Max(num.degrees) {
		return Unknown // with fewer points than the degree a polynomial could have its roots there
	}
	return Same
}

// tolerates reports whether a difference is small in relation to a number.
func (c *comparer) tolerates(difference, of *Expr) bool {
	if c.options.Tolerance == 0 {
		return false
	}
	least := binary(Mul, number(new(big.Rat).SetFloat64(c.options.Tolerance)), call(fnAbs, of))
	sign, known := c.signAt(minus(least, call(fnAbs, difference)), nil)
	return known && sign >= 0
}

// infinities knows that the two infinities differ, from each other and from
// numbers, and nothing else.
func infinities(a, b *Expr) Relation {
	plain := func(e *Expr) bool {
		if e.Op == Neg {
			e = e.Args[0]
		}
		return e.Op == Num || e.Op == Sym
	}
	if plain(a) && plain(b) {
		return Different
	}
	return Unknown
}

// A size bounds a polynomial with whole coefficients: its degree in each variable,
// and the sum of its coefficients, in bits.
type size struct {
	degrees []int
	bits    int
}

// times is the size of a product.
func (s size) times(t size) size {
	out := size{slices.Clone(s.degrees), s.bits + t.bits}
	for i, d := range t.degrees {
		out.degrees[i] += d
	}
	return out
}

// plus is the size of a sum.
func (s size) plus(t size) size {
	out := size{slices.Clone(s.degrees), max(s.bits, t.bits) + 1}
	for i, d := range t.degrees {
		out.degrees[i] = max(out.degrees[i], d)
	}
	return out
}

// maxSize bounds degrees and bits.
const maxSize = 1 << 16

// power is the size of a power.
func (s size) power(n int) size {
	out := size{slices.Clone(s.degrees), min(n*s.bits, maxSize)}
	for i, d := range s.degrees {
		out.degrees[i] = min(n*d, maxSize)
	}
	return out
}

// fractionOf returns how large the numerator and the denominator of e are, if it
// is written as one fraction of polynomials. Whatever is no such fraction, such as
// a root, counts as what is in it.
func fractionOf(e *Expr, names []string) (num, den size, rational bool) {
	one := size{make([]int, len(names)), 0}
	switch {
	case e.Op == Num:
		return size{one.degrees, e.value.Num().BitLen()}, size{one.degrees, e.value.Denom().BitLen()}, true
	case e.Op == Sym:
		i := slices.Index(names, e.Text)
		if i >= 0 {
			num = size{slices.Clone(one.degrees), 0}
			num.degrees[i] = 1
			return num, one, true
		}
		return one, one, false
	}
	n, d, rational := fractionOf(e.Args[0], names)
	if e.Op == Pow {
		exponent := literal(e.Args[1])
		if exponent == nil || !exponent.IsInt() || !exponent.Num().IsInt64() || exponent.Num().Int64() > maxSize || exponent.Num().Int64() < -maxSize {
			return n, d, false
		}
		k := int(exponent.Num().Int64())
		if k < 0 {
			n, d, k = d, n, -k
		}
		return n.power(k), d.power(k), rational
	}
	if len(e.Args) == 1 {
		return n, d, rational && e.Op == Neg
	}
	m, f, also := fractionOf(e.Args[1], names)
	rational = rational && also
	switch e.Op {
	case Add:
		return n.times(f).plus(m.times(d)), d.times(f), rational
	case Mul:
		return n.times(m), d.times(f), rational
	default:
		return n.times(f), d.times(m), rational
	}
}

// beyondRoots returns a point at which no polynomial of these sizes is 0, unless
// it is 0 everywhere: a fraction of two that is 0 there is 0 wherever it is
// defined. The point is nil if it would be too far away.
//
// A polynomial in x with whole coefficients of less than B/2 is not 0 at B, for
// its first term is larger than all others together. Likewise if y is a power of
// x that is higher than those of x, and so on.
func beyondRoots(names []string, num, den size) map[string]*big.Rat {
	at := map[string]*big.Rat{}
	exponent := max(num.bits, den.bits) + 2
	for i, name := range names {
		if exponent > maxSize {
			return nil
		}
		at[name] = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(exponent)))
		exponent *= max(num.degrees[i], den.degrees[i]) + 1
	}
	if exponent > maxSize {
		return nil
	}
	return at
}

// spread are the values that variables get: fractions on both sides of 0 and 1,
// whole numbers, and large ones.
var spread = [][2]int64{
	{1, 3}, {-2, 7}, {3, 5}, {-5, 11}, {7, 9}, {-8, 13}, {3, 2}, {-7, 4}, {17, 5}, {-22, 9}, {29, 3}, {-41, 6},
	{2, 1}, {3, 1}, {5, 1}, {7, 1}, {11, 1}, {13, 1}, {-4, 1}, {1009, 7}, {-2003, 9}, {1, 1000}, {100003, 7},
	{37, 2}, {-53, 3}, {101, 4}, {71, 1}, {202, 3}, {-307, 2},
}

// points are where expressions are compared: each variable gets another value.
// What a constant in them could divide has a point on each side of it.
func points(names []string, es ...*Expr) []map[string]*big.Rat {
	if len(names) == 0 {
		return []map[string]*big.Rat{nil}
	}
	var out []map[string]*big.Rat
	row := func(value func(j int64) *big.Rat) {
		at := make(map[string]*big.Rat, len(names))
		for j, name := range names {
			at[name] = value(int64(j))
		}
		out = append(out, at)
	}
	for i := range spread {
		row(func(j int64) *big.Rat {
			v := spread[(i*int(j+1)+7*int(j))%len(spread)]
			return big.NewRat(v[0], v[1])
		})
	}
	for i := range int64(8) {
		row(func(j int64) *big.Rat { return big.NewRat(2*i+1, 2*i+2*j+4) }) // between 0 and 1
	}
	for i := range int64(6) {
		row(func(j int64) *big.Rat { return big.NewRat(i+2+3*j, 1) }) // whole
	}
	for _, c := range constantsOf(es) {
		for _, offset := range []*big.Rat{big.NewRat(1, 7), big.NewRat(-1, 7)} {
			row(func(j int64) *big.Rat {
				v := new(big.Rat).Add(c, offset)
				return v.Add(v, big.NewRat(j, 11))
			})
		}
	}
	return out
}

// constantsOf returns the numbers in expressions and their negatives, as far as
// they are not small already.
func constantsOf(es []*Expr) []*big.Rat {
	const most = 12
	seen := map[string]bool{}
	var out []*big.Rat
	limit := big.NewRat(1_000_000_000_000, 1)
	for _, e := range es {
		e.walk(func(part *Expr) {
			if part.Op != Num || len(out) >= most || seen[part.Text] {
				return
			}
			if size := new(big.Rat).Abs(part.value); size.Cmp(big.NewRat(13, 1)) > 0 && size.Cmp(limit) < 0 {
				seen[part.Text] = true
				out = append(out, part.value, new(big.Rat).Neg(part.value))
			}
		})
	}
	return out
}
