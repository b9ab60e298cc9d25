package math

import (
	"math/big"
	"slices"

	"github.com/maker-mdap/maker/domain/math/notation"
)

// equations compares equations and inequalities, as sets. What is true without
// variables, such as 2 + 3 = 5, is the value on its right.
func (c *comparer) equations(x, y *notation.Value) Relation {
	if x.Kind == notation.Equation || y.Kind == notation.Equation {
		if x, y := c.worked(x), c.worked(y); x != nil && y != nil {
			return c.unnamed(x, y)
		}
	}
	p, q := x.Statements(), y.Statements()
	if len(p) == 0 || len(q) == 0 {
		return Unknown
	}
	relation := matched(c, p, q, c.statements)
	if relation == Different && len(p)+len(q) > 2 {
		return Unknown // several equations can say the same in other ways
	}
	return relation
}

// worked returns the value at the end of a computation that is written as an
// equation; nil if it is none, or not true.
func (c *comparer) worked(v *notation.Value) *notation.Value {
	if v.Kind != notation.Equation {
		return v
	}
	for _, s := range v.Holds {
		if s.Op != '=' || len(notation.Variables(s.Left, s.Right)) > 0 || c.exprs(s.Left, s.Right) != Same {
			return nil
		}
	}
	return &notation.Value{Kind: notation.Expression, Expr: v.Holds[len(v.Holds)-1].Right}
}

// statements compares two equations or inequalities: each is brought to the form
// "something = 0", and the two may differ by a constant factor, which is not 0,
// and positive for an inequality.
func (c *comparer) statements(r, s notation.Statement) Relation {
	names := notation.Variables(r.Left, r.Right)
	if r.Op != s.Op || !slices.Equal(names, notation.Variables(s.Left, s.Right)) {
		return Different
	}
	f, g := notation.Minus(r.Left, r.Right), notation.Minus(s.Left, s.Right)
	if f.String() == g.String() {
		return Same
	}
	if len(names) == 0 {
		return Unknown // whatever is true is as true as anything else
	}
	for _, at := range points(names, f, g) {
		x, knownX := c.Sign(f, at)
		y, knownY := c.Sign(g, at)
		if !knownX || !knownY || x*y == 0 {
			continue
		}
		// The factor is that of their values at this point.
		relation := c.decide(notation.Make(notation.Mul, f, valueAt(g, at)), notation.Make(notation.Mul, g, valueAt(f, at)))
		switch {
		case relation == Different && isVague(f, g):
			return Unknown
		case relation == Same && x != y && (r.Op == '<' || r.Op == '≤'):
			return Different // the other direction
		}
		return relation
	}
	return Unknown
}

// valueAt puts numbers in the place of variables.
func valueAt(e *notation.Expr, at map[string]*big.Rat) *notation.Expr {
	values := map[string]*notation.Expr{}
	for name, v := range at {
		values[name] = notation.Number(v)
	}
	return e.Substitute(values)
}
