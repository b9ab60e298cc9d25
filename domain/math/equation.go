package math

import (
	"errors"
	"math/big"
	"slices"
)

// relations returns what a value claims: the equations, or x = 5.
func (v *Value) relations() []relation {
	if v.kind == Expression && v.name != "" && !v.words {
		return []relation{{'=', symbol(v.name), v.expr}}
	}
	return v.holds
}

// equations compares equations and inequalities, as sets. What is true without
// variables, such as 2 + 3 = 5, is the value on its right.
func (c *comparer) equations(x, y *Value) Relation {
	if x.kind == Equation || y.kind == Equation {
		if x, y := c.worked(x), c.worked(y); x != nil && y != nil {
			return c.unnamed(x, y)
		}
	}
	p, q := x.relations(), y.relations()
	if len(p) == 0 || len(q) == 0 {
		return Unknown
	}
	found := Same
	for range 2 {
		for _, r := range p {
			best := Different
			for _, s := range q {
				if relation := c.relations(r, s); relation == Same {
					best = Same
					break
				} else if relation == Unknown {
					best = Unknown
				}
				if c.meter.spend(20) != nil {
					return Unknown
				}
			}
			if best == Unknown || best == Different && len(p)+len(q) > 2 {
				found = Unknown // several equations can say the same in other ways
			} else if best == Different {
				return Different
			}
		}
		p, q = q, p
	}
	if found == Unknown {
		return Unknown
	}
	return Same
}

// worked returns the value at the end of a computation that is written as an
// equation; nil if it is none, or not true.
func (c *comparer) worked(v *Value) *Value {
	if v.kind != Equation {
		return v
	}
	if !v.allEqual() {
		return nil
	}
	for _, r := range v.holds {
		if len(variables(r.left, r.right)) > 0 {
			return nil
		}
		if relation := c.exprs(r.left, r.right); relation != Same {
			return nil
		}
	}
	return &Value{kind: Expression, expr: v.holds[len(v.holds)-1].right}
}

// relations compares two equations or inequalities: each is brought to the form
// "something = 0", and the two may differ by a constant factor, which is not 0,
// and positive for an inequality.
func (c *comparer) relations(r, s relation) Relation {
	if r.op != s.op {
		return Different
	}
	if r.left.same(s.left) && r.right.same(s.right) {
		return Same
	}
	names := variables(r.left, r.right)
	if !slices.Equal(names, variables(s.left, s.right)) {
		return Different
	}
	f, g := minus(r.left, r.right), minus(s.left, s.right)
	ordered := r.op == '<' || r.op == '≤'
	if relation, ok := c.proportional(f, g, ordered); ok {
		return relation
	}
	return c.ratios(names, f, g, ordered)
}

// proportional compares by algebra. It is decided only if the factor is rational.
func (c *comparer) proportional(f, g *Expr, ordered bool) (Relation, bool) {
	al, done := c.algebra()
	defer done()
	a, b, err := al.numerators(f, g)
	if err != nil || len(a) == 0 || len(b) == 0 || len(a) != len(b) {
		return Unknown, false
	}
	var factor *big.Rat
	for key, t := range a {
		u, ok := b[key]
		if !ok {
			return Unknown, false
		}
		q := new(big.Rat).Quo(t.coef, u.coef)
		if factor != nil && factor.Cmp(q) != 0 {
			return Unknown, false
		}
		factor = q
	}
	return ofBool(!ordered || factor.Sign() > 0), true
}

// ratios compares by numbers: the ratio has to be the same at all points.
func (c *comparer) ratios(names []string, f, g *Expr, ordered bool) Relation {
	if isVague(f) || isVague(g) || slices.Contains(names, symInfinity) {
		return Unknown
	}
	arena := c.arenas[0]
	var first ball
	agreed := 0
	for _, point := range points(names, f, g) {
		ev := &evaluator{arena: arena, meter: &c.meter, at: point}
		ratio, err := ev.ratio(f, g)
		if c.meter.left < 0 {
			return Unknown
		}
		if errors.Is(err, errDiffers) {
			return Different
		}
		if err != nil {
			continue
		}
		if agreed > 0 {
			d, err := ev.add(ratio, first.neg())
			if err != nil {
				continue
			}
			if !d.hasZero() {
				return Different
			}
			if d.rad.Cmp(radius().Mul(first.magnitude(), radius().SetMantExp(radius().SetInt64(1), -agreeBits))) > 0 {
				continue
			}
		} else if first = ratio; first.hasZero() {
			continue
		}
		agreed++
	}
	if agreed < minPoints {
		return Unknown
	}
	if ordered && first.mid.Sign() < 0 {
		return Different
	}
	return Same
}

var errDiffers = errors.New("one is 0 where the other is not")

// ratio is f/g at the point of the evaluator.
func (ev *evaluator) ratio(f, g *Expr) (ball, error) {
	x, err := ev.eval(f)
	if err != nil {
		return ball{}, err
	}
	y, err := ev.eval(g)
	if err != nil {
		return ball{}, err
	}
	p, q := ev.inBalls(x), ev.inBalls(y)
	zeroX, zeroY := x.exact != nil && x.exact.Sign() == 0, y.exact != nil && y.exact.Sign() == 0
	switch {
	case zeroX && zeroY:
		return ball{}, errUndefined
	case zeroX && !q.hasZero(), zeroY && !p.hasZero():
		return ball{}, errDiffers
	}
	return ev.div(p, q)
}
