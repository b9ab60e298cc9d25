package math

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain/math/notation"
	"github.com/maker-mdap/maker/domain/math/number"
)

// An environment gives variables their values.
type environment map[string]*notation.Expr

// String writes x = 1, y = 2.
func (env environment) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		parts = append(parts, name+" = "+env[name].String())
	}
	return strings.Join(parts, ", ")
}

// minPoints is at how many points two expressions have to agree, if that is no
// proof.
const minPoints = 5

// A comparer compares expressions within a limit of work.
type comparer struct {
	options Options
	*number.Calculator
}

func newComparer(o Options) *comparer { return &comparer{o, number.New()} }

// exprs compares two expressions.
func (c *comparer) exprs(a, b *notation.Expr) Relation {
	if a.String() == b.String() {
		return Same
	}
	relation := c.decide(a, b)
	if relation == Different && isVague(a, b) {
		relation = Unknown
	}
	if relation == Unknown && c.options.CAS != nil && !hasWords(a, b) {
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
func isVague(a, b *notation.Expr) bool {
	return hasWords(a, b) || slices.Contains(notation.Variables(a, b), notation.I)
}

func hasWords(a, b *notation.Expr) bool {
	words := false
	for _, e := range []*notation.Expr{a, b} {
		e.Walk(func(part *notation.Expr) { words = words || part.Word })
	}
	return words
}

// decide compares by numbers.
func (c *comparer) decide(a, b *notation.Expr) Relation {
	names := notation.Variables(a, b)
	if slices.Contains(names, notation.Infinity) {
		return infinities(a, b)
	}
	difference := notation.Minus(a, b)
	if len(names) == 0 {
		sign, known := c.Sign(difference, nil)
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
		if sign, known := c.Sign(difference, beyond); known {
			return ofBool(sign == 0)
		}
	}
	agreed := 0
	for _, at := range append(points(names, difference), beyond) {
		switch sign, known := c.Sign(difference, at); {
		case c.Exhausted():
			return Unknown
		case known && sign != 0:
			return Different
		case known:
			agreed++
		}
	}
	if rational || agreed < minPoints || agreed <= num.degree {
		return Unknown // with fewer points than the degree a polynomial could have its roots there
	}
	return Same
}

// tolerates reports whether a difference is small in relation to a number.
func (c *comparer) tolerates(difference, of *notation.Expr) bool {
	if c.options.Tolerance == 0 {
		return false
	}
	most := notation.Make(notation.Mul, notation.Number(new(big.Rat).SetFloat64(c.options.Tolerance)), abs(of))
	return c.atMost(abs(difference), most)
}

func abs(e *notation.Expr) *notation.Expr { return notation.Apply("abs", e) }

// atMost reports whether a ≤ b is known of numbers.
func (c *comparer) atMost(a, b *notation.Expr) bool {
	sign, known := c.Sign(notation.Minus(b, a), nil)
	return known && sign >= 0
}

// less reports whether a < b is known of numbers.
func (c *comparer) less(a, b *notation.Expr) bool {
	sign, known := c.Sign(notation.Minus(b, a), nil)
	return known && sign > 0
}

// infinities knows that the two infinities differ, from each other and from
// numbers, and nothing else.
func infinities(a, b *notation.Expr) Relation {
	for _, e := range []*notation.Expr{a, b} {
		if e.Op == notation.Neg {
			e = e.Args[0]
		}
		if len(e.Args) > 0 {
			return Unknown
		}
	}
	return Different
}

// A size bounds a polynomial with whole coefficients: its degree, and the sum of its
// coefficients, in bits.
type size struct{ degree, bits int }

// times is the size of a product, plus that of a sum, and power that of a power.
func (s size) times(t size) size { return size{s.degree + t.degree, s.bits + t.bits} }
func (s size) plus(t size) size  { return size{max(s.degree, t.degree), max(s.bits, t.bits) + 1} }
func (s size) power(n int) size  { return size{min(n*s.degree, maxSize), min(n*s.bits, maxSize)} }

// maxSize bounds degrees and bits.
const maxSize = 1 << 16

// fractionOf returns how large the numerator and the denominator of e are, if it
// is written as one fraction of polynomials. Whatever is no such fraction, such as
// a root, counts as what is in it.
func fractionOf(e *notation.Expr, names []string) (num, den size, rational bool) {
	switch e.Op {
	case notation.Num:
		return size{0, e.Value.Num().BitLen()}, size{0, e.Value.Denom().BitLen()}, true
	case notation.Sym:
		return size{1, 0}, size{0, 0}, slices.Contains(names, e.Text)
	}
	num, den, rational = fractionOf(e.Args[0], names)
	if len(e.Args) == 1 {
		return num, den, rational && e.Op == notation.Neg
	}
	if e.Op == notation.Pow {
		exponent := e.Args[1].Literal()
		if exponent == nil || !exponent.IsInt() || exponent.Num().CmpAbs(big.NewInt(maxSize)) > 0 {
			return num, den, false
		}
		if exponent.Sign() < 0 {
			num, den = den, num
		}
		n := int(new(big.Int).Abs(exponent.Num()).Int64())
		return num.power(n), den.power(n), rational
	}
	n, d, also := fractionOf(e.Args[1], names)
	switch e.Op {
	case notation.Add:
		return num.times(d).plus(n.times(den)), den.times(d), rational && also
	case notation.Div:
		n, d = d, n
	}
	return num.times(n), den.times(d), rational && also
}

// beyondRoots returns a point at which no polynomial of these sizes is 0, unless
// it is 0 everywhere: a fraction of two that is 0 there is 0 wherever it is
// defined. The point is nil if it would be too far away.
//
// A polynomial in x with whole coefficients of less than B/2 is not 0 at B, for
// its first term is larger than all others together. Likewise if y is a power of
// x that is higher than those of x, and so on.
func beyondRoots(names []string, num, den size) environment {
	at := environment{}
	exponent := max(num.bits, den.bits) + 2
	for _, name := range names {
		at[name] = notation.Number(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(exponent))))
		if exponent *= max(num.degree, den.degree) + 1; exponent > maxSize {
			return nil
		}
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
func points(names []string, es ...*notation.Expr) []environment {
	var out []environment
	row := func(value func(j int64) *big.Rat) {
		at := environment{}
		for j, name := range names {
			at[name] = notation.Number(value(int64(j)))
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
func constantsOf(es []*notation.Expr) []*big.Rat {
	const most = 12
	seen := map[string]bool{}
	var out []*big.Rat
	limit := big.NewRat(1_000_000_000_000, 1)
	for _, e := range es {
		e.Walk(func(part *notation.Expr) {
			if part.Op != notation.Num || len(out) >= most || seen[part.Text] {
				return
			}
			if size := new(big.Rat).Abs(part.Value); size.Cmp(big.NewRat(13, 1)) > 0 && size.Cmp(limit) < 0 {
				seen[part.Text] = true
				out = append(out, part.Value, new(big.Rat).Neg(part.Value))
			}
		})
	}
	return out
}
