package math

import (
	"errors"
	"math/big"
	"slices"
)

// The rules of comparing by numbers.
const (
	agreeBits = 166 // some 50 digits and as many decimals
	minPoints = 5   // at which both are defined
)

// precisions, in bits, are tried one after the other, until something is decided.
var precisions = []uint{256, 1024, 4096}

// The work of one comparison, in units of about half a microsecond.
const (
	maxWork    = 200_000
	maxAlgebra = 60_000 // of it, for one normal form
)

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
	if x, y := literal(a), literal(b); x != nil && y != nil && c.options.Tolerance == 0 {
		if c.meter.spend(1+(bits(x)+bits(y))/256) != nil {
			return Unknown
		}
		return ofBool(x.Cmp(y) == 0)
	}
	if c.meter.spend(20) != nil {
		return Unknown
	}
	relation := c.decide(a, b)
	if relation == Different && (isVague(a) || isVague(b)) {
		relation = Unknown // units can be converted, and i may be the imaginary unit
	}
	if relation == Unknown && c.options.CAS != nil && !hasWords(a) && !hasWords(b) {
		if equal, known := c.options.CAS(a.String(), b.String()); known {
			return ofBool(equal)
		}
	}
	return relation
}

// literal is the value of an expression that is just a number, such as -5 or 1/3;
// nil if it is anything else.
func literal(e *Expr) *big.Rat {
	switch {
	case e.Op == Num:
		return e.value
	case e.Op == Neg:
		if x := literal(e.Args[0]); x != nil {
			return new(big.Rat).Neg(x)
		}
	case e.Op == Div && e.Args[0].Op == Num && e.Args[1].Op == Num && e.Args[1].value.Sign() != 0:
		return new(big.Rat).Quo(e.Args[0].value, e.Args[1].value)
	}
	return nil
}

func ofBool(equal bool) Relation {
	if equal {
		return Same
	}
	return Different
}

// isVague reports whether there are symbols of which the meaning is not certain.
func isVague(e *Expr) bool {
	vague := false
	e.walk(func(part *Expr) {
		vague = vague || part.Op == Sym && (part.word || part.Text == symI)
	})
	return vague
}

func hasWords(e *Expr) bool {
	words := false
	e.walk(func(part *Expr) { words = words || part.word })
	return words
}

func (c *comparer) decide(a, b *Expr) Relation {
	relation, proved := c.byAlgebra(a, b)
	if relation == Different && c.options.Tolerance > 0 && len(variables(a, b)) == 0 {
		relation, proved = Unknown, false
	}
	if proved {
		return relation
	}
	return c.byNumbers(a, b, relation)
}

// algebra returns one that has a share of the work that is left. What it did is
// accounted for by done.
func (c *comparer) algebra() (g *algebra, done func()) {
	share := meter{min(c.meter.left, maxAlgebra)}
	before := share.left
	return newAlgebra(&share), func() { c.meter.left -= before - max(0, share.left) }
}

// byAlgebra compares normal forms. Without a proof the relation holds if they are
// defined at all.
func (c *comparer) byAlgebra(a, b *Expr) (relation Relation, proved bool) {
	g, done := c.algebra()
	defer done()
	x, y, err := g.numerators(a, b)
	if err != nil {
		return Unknown, false
	}
	d, err := g.add(x, y, -1)
	switch {
	case err != nil:
		return Unknown, false
	case len(d) == 0:
		return Same, !g.vague
	}
	// They differ by something other than 0, whatever the unknowns are.
	if _, constant := d.constant(); constant || !g.vague {
		return Different, !g.vague
	}
	return Unknown, false
}

// byNumbers compares values at points. If algebra knows the relation, one point at
// which both are defined is enough.
func (c *comparer) byNumbers(a, b *Expr, known Relation) Relation {
	if slices.Contains(variables(a, b), symInfinity) {
		return c.infinities(a, b)
	}
	agreed, needed := 0, minPoints
	names := variables(a, b)
	if len(names) == 0 {
		needed = 1
	}
	for _, at := range points(names, a, b) {
		relation, err := known, error(nil)
		if known == Unknown {
			relation, err = c.at(at, a, b)
		} else {
			err = c.defined(at, a, b)
		}
		switch {
		case errors.Is(err, errWork):
			return Unknown
		case err != nil:
		case known != Unknown:
			return known
		case relation == Different:
			return Different
		default:
			agreed++
		}
	}
	if agreed < needed {
		return Unknown
	}
	return Same
}

// infinities knows that the two infinities differ, from each other and from
// numbers, and nothing else.
func (c *comparer) infinities(a, b *Expr) Relation {
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

// errWork ends a comparison that has used up its work.
var errWork = errors.New("too much work")

// at compares the values at one point.
func (c *comparer) at(point map[string]*big.Rat, a, b *Expr) (Relation, error) {
	for _, arena := range c.arenas {
		ev := &evaluator{arena: arena, meter: &c.meter, at: point}
		x, err := ev.eval(a)
		var y real
		if err == nil {
			y, err = ev.eval(b)
		}
		switch {
		case c.meter.left < 0:
			return Unknown, errWork
		case errors.Is(err, errPrecision):
			continue
		case err != nil:
			return Unknown, err
		}
		if relation, ok := c.values(ev, x, y); ok {
			return relation, nil
		}
	}
	return Unknown, errPrecision
}

// exact is the value of an expression, given those of its variables; nil if it is
// not known exactly.
func (c *comparer) exact(e *Expr, at map[string]*big.Rat) *big.Rat {
	ev := &evaluator{arena: c.arenas[0], meter: &c.meter, at: at}
	v, err := ev.eval(e)
	if err != nil {
		return nil
	}
	return v.exact
}

// defined returns an error unless both are defined at the point.
func (c *comparer) defined(point map[string]*big.Rat, a, b *Expr) error {
	ev := &evaluator{arena: c.arenas[0], meter: &c.meter, at: point}
	_, err := ev.eval(a)
	if err == nil {
		_, err = ev.eval(b)
	}
	if c.meter.left < 0 {
		return errWork
	}
	return err
}

// values compares two numbers, if the precision is enough for that.
func (c *comparer) values(ev *evaluator, x, y real) (Relation, bool) {
	if x.exact != nil && y.exact != nil && x.exact.Cmp(y.exact) == 0 {
		return Same, true
	}
	p, q := ev.inBalls(x), ev.inBalls(y)
	d, err := ev.add(p, q.neg())
	if err != nil {
		return Unknown, false
	}
	larger := p.magnitude()
	if q.magnitude().Cmp(larger) > 0 {
		larger = q.magnitude()
	}
	if c.options.Tolerance > 0 && len(ev.at) == 0 {
		if d.magnitude().Cmp(radius().Mul(larger, big.NewFloat(c.options.Tolerance))) <= 0 {
			return Same, true
		}
	}
	if x.exact != nil && y.exact != nil {
		return Different, true
	}
	if !d.hasZero() {
		return Different, true
	}
	// Both as many digits and as many decimals: a large number is not the same as
	// the next one. Of two balls around zero only the decimals are known.
	bound := radius().SetMantExp(radius().SetInt64(1), -agreeBits)
	if larger.Cmp(big.NewFloat(1)) < 0 && (!p.hasZero() || !q.hasZero()) {
		bound.Mul(bound, larger)
	}
	return Same, d.rad.Cmp(bound) <= 0
}

// spread are the values that variables get: fractions on both sides of 0 and 1,
// whole numbers, and large ones.
var spread = [][2]int64{
	{1, 3}, {-2, 7}, {3, 5}, {-5, 11}, {7, 9}, {-8, 13}, {3, 2}, {-7, 4}, {17, 5}, {-22, 9}, {29, 3}, {-41, 6},
	{2, 1}, {3, 1}, {5, 1}, {7, 1}, {11, 1}, {13, 1}, {-4, 1}, {1009, 7}, {-2003, 9}, {1, 1000}, {100003, 7},
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
