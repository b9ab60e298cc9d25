package math

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain/math/notation"
)

// A Relation is what is known about two answers.
type Relation string

// The relations.
const (
	Unknown   Relation = "unknown"
	Same      Relation = "same"
	Different Relation = "different"
)

// Equal compares two answers as values. It is reflexive and symmetric.
func Equal(a, b string) Relation { return compare(a, b, Options{}) }

func compare(a, b string, o Options) Relation {
	if strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ") {
		return Same
	}
	if a > b { // so that the work is the same both ways
		a, b = b, a
	}
	if max(len(a), len(b)) > notation.MaxBytes {
		return Unknown
	}
	c := newComparer(o)
	x, openX, okX := notation.Read(a, notation.Reading{})
	y, openY, okY := notation.Read(b, notation.Reading{})
	if !okX || !okY || isLetter(x) && isLetter(y) {
		return texts(notation.Canonical(a), notation.Canonical(b))
	}
	relation := c.compare(x, y)
	open := notation.Reading{Wide: openX.Wide || openY.Wide, Natural: openX.Natural || openY.Natural}
	for _, r := range open.Others() {
		x, _, okX := notation.Read(a, r)
		y, _, okY := notation.Read(b, r)
		if !okX || !okY || c.compare(x, y) != relation {
			return Unknown
		}
	}
	return relation
}

// isLetter reports whether an answer is a single letter, which is rather an
// option than a variable.
func isLetter(v *notation.Value) bool {
	return v.Kind == notation.Expression && v.Name == "" && v.Expr.Op == notation.Sym && len(v.Expr.Text) == 1
}

// opposites are words that exclude each other.
var opposites = []string{"true", "false", "yes", "no"}

// texts compares answers that are not both mathematics.
func texts(x, y string) Relation {
	switch {
	case x == y && x != "":
		return Same
	case slices.Contains(opposites, x) && slices.Contains(opposites, y), len(x) == 1 && len(y) == 1:
		return Different
	}
	return Unknown
}

// compare compares two values.
func (c *comparer) compare(x, y *notation.Value) Relation {
	if x.Kind == notation.Equation || y.Kind == notation.Equation || isFormula(x) && isFormula(y) && x.Name != y.Name {
		return c.equations(x, y)
	}
	relation := c.unnamed(x, y)
	if relation == Same && x.Name != "" && y.Name != "" && !strings.EqualFold(x.Name, y.Name) {
		if x.Words || y.Words {
			return Unknown
		}
		return Different
	}
	return relation
}

// isFormula reports whether a value is something like y = 2x, which is an equation
// as well.
func isFormula(v *notation.Value) bool {
	return v.Kind == notation.Expression && v.Name != "" && !v.Words && len(notation.Variables(v.Expr)) > 0
}

func (c *comparer) unnamed(x, y *notation.Value) Relation {
	if x.Kind != notation.Expression || y.Kind != notation.Expression {
		return c.collections(x, y)
	}
	relation := c.exprs(x.Expr, y.Expr)
	if relation == Different && (x.Approximate && c.rounds(x, y.Expr) || y.Approximate && c.rounds(y, x.Expr)) {
		return Unknown
	}
	return relation
}

// rounds reports whether the decimal x can stand for exact: it is within half a
// unit of its last digit, or it is the beginning of it.
func (c *comparer) rounds(x *notation.Value, exact *notation.Expr) bool {
	if len(notation.Variables(x.Expr, exact)) > 0 {
		return false
	}
	d := abs(notation.Minus(x.Expr, exact))
	return c.atMost(d, unit(x.Decimals, 2)) || c.less(d, unit(x.Decimals, 1)) && c.less(abs(x.Expr), abs(exact))
}

// unit is a unit of the last of some decimals, divided by a number.
func unit(decimals int, by int64) *notation.Expr {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return notation.Number(new(big.Rat).SetFrac(big.NewInt(1), power.Mul(power, big.NewInt(by))))
}

// kinds are the kinds in the order in which they are compared.
var kinds = []notation.Kind{
	notation.Expression, notation.Point, notation.List, notation.Interval, notation.Set, notation.Assignment,
}

// collections compares points, lists, intervals, sets and assignments, also with
// single values.
func (c *comparer) collections(x, y *notation.Value) Relation {
	if slices.Index(kinds, x.Kind) > slices.Index(kinds, y.Kind) {
		x, y = y, x
	}
	switch pair := [2]notation.Kind{x.Kind, y.Kind}; {
	case pair == [2]notation.Kind{notation.Expression, notation.Set} && len(y.Items) == 1:
		return c.unnamed(x, y.Items[0])
	case x.Kind == notation.Expression:
		if x.Commas || y.Commas {
			return Unknown // a comma may be between thousands, or between values
		}
		return Different
	case y.Kind == notation.Assignment && (x.Kind == y.Kind || x.Kind == notation.Point):
		return c.ordered(byName(x), byName(y))
	case y.Kind == notation.Set && (x.Kind == notation.Set || x.Bare):
		return c.sets(x.Items, y.Items)
	case x.Kind != y.Kind && pair != [2]notation.Kind{notation.Point, notation.List}:
		return Unknown
	case x.Ends != y.Ends:
		return Different
	}
	relation := c.ordered(x.Items, y.Items)
	switch {
	case relation == Same && x.Kind != y.Kind && len(x.Items) == 2 && !y.Bare:
		return Unknown // (1, 2) and [1, 2] may be intervals
	case relation == Different && (x.Bare || x.Kind == y.Kind && y.Bare) && len(x.Items) == len(y.Items) && c.sets(x.Items, y.Items) != Different:
		return Unknown // the same values in another order
	}
	return relation
}

// byName returns the values of an assignment in the order of their names, and
// those of a point as they are.
func byName(v *notation.Value) []*notation.Value {
	return slices.SortedStableFunc(slices.Values(v.Items), func(a, b *notation.Value) int { return strings.Compare(a.Name, b.Name) })
}

// ordered compares values one by one.
func (c *comparer) ordered(xs, ys []*notation.Value) Relation {
	if len(xs) != len(ys) {
		return Different
	}
	relation := Same
	for i, x := range xs {
		if x.Name != "" && x.Name != ys[i].Name {
			return Unknown
		}
		switch c.unnamed(x, ys[i]) {
		case Different:
			return Different
		case Unknown:
			relation = Unknown
		}
	}
	return relation
}

// literals returns the values of items if they are all just numbers.
func literals(items []*notation.Value) map[string]bool {
	out := map[string]bool{}
	for _, v := range items {
		if v.Kind != notation.Expression || v.Expr.Literal() == nil {
			return nil
		}
		out[v.Expr.Literal().RatString()] = true
	}
	return out
}

// sets compares values in any order; how often one is there does not matter.
func (c *comparer) sets(xs, ys []*notation.Value) Relation {
	if p, q := literals(xs), literals(ys); p != nil && q != nil && c.options.Tolerance == 0 {
		return ofBool(maps.Equal(p, q))
	}
	return matched(c, xs, ys, c.unnamed)
}

// matched compares collections in which everything in one has to be the same as
// something in the other.
func matched[T any](c *comparer, xs, ys []T, compare func(x, y T) Relation) Relation {
	relation := Same
	for range 2 {
		for _, x := range xs {
			best := Different
			for _, y := range ys {
				if best == Same || c.Exhausted() {
					break
				}
				if r := compare(x, y); r != Different {
					best = r
				}
			}
			if c.Exhausted() || best == Unknown {
				relation = Unknown
			} else if best == Different {
				return Different
			}
		}
		xs, ys = ys, xs
	}
	return relation
}

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
		relation := c.decide(notation.Make(notation.Mul, f, g.Substitute(at)), notation.Make(notation.Mul, g, f.Substitute(at)))
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
