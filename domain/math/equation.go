package math

import (
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
	relation := matched(c, p, q, c.relations)
	if relation == Different && len(p)+len(q) > 2 {
		return Unknown // several equations can say the same in other ways
	}
	return relation
}

// worked returns the value at the end of a computation that is written as an
// equation; nil if it is none, or not true.
func (c *comparer) worked(v *Value) *Value {
	if v.kind != Equation {
		return v
	}
	for _, r := range v.holds {
		if r.op != '=' || len(variables(r.left, r.right)) > 0 || c.exprs(r.left, r.right) != Same {
			return nil
		}
	}
	return &Value{kind: Expression, expr: v.holds[len(v.holds)-1].right}
}

// relations compares two equations or inequalities: each is brought to the form
// "something = 0", and the two may differ by a constant factor, which is not 0,
// and positive for an inequality.
func (c *comparer) relations(r, s relation) Relation {
	names := variables(r.left, r.right)
	if r.op != s.op || !slices.Equal(names, variables(s.left, s.right)) {
		return Different
	}
	f, g := minus(r.left, r.right), minus(s.left, s.right)
	if f.same(g) {
		return Same
	}
	if len(names) == 0 {
		return Unknown // whatever is true is as true as anything else
	}
	for _, at := range points(names, f, g) {
		x, knownX := c.signAt(f, at)
		y, knownY := c.signAt(g, at)
		if !knownX || !knownY || x*y == 0 {
			continue
		}
		// The factor is that of their values at this point.
		relation := c.decide(binary(Mul, f, g.substitute(numbers(at))), binary(Mul, g, f.substitute(numbers(at))))
		switch {
		case relation == Different && isVague(f, g):
			return Unknown
		case relation == Same && x != y && (r.op == '<' || r.op == '≤'):
			return Different // the other direction
		}
		return relation
	}
	return Unknown
}

// numbers are the values of variables as expressions.
func numbers(at map[string]*big.Rat) map[string]*Expr {
	out := map[string]*Expr{}
	for name, v := range at {
		out[name] = number(v)
	}
	return out
}
