package math

import (
	"maps"
	"math/big"
	"slices"
	"strings"
)

// A Relation is what is known about two answers.
type Relation int

// The relations.
const (
	Unknown Relation = iota
	Same
	Different
)

// String returns unknown, same or different.
func (r Relation) String() string {
	switch r {
	case Same:
		return "same"
	case Different:
		return "different"
	}
	return "unknown"
}

// Equal compares two answers as values. It is reflexive and symmetric.
func Equal(a, b string) Relation { return compare(a, b, Options{}) }

func compare(a, b string, o Options) Relation {
	if strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ") {
		return Same
	}
	if a > b { // so that the work is the same both ways
		a, b = b, a
	}
	if len(a) > MaxBytes || len(b) > MaxBytes {
		return Unknown
	}
	c := newComparer(o)
	x, openX, errX := parseText(a, reading{})
	y, openY, errY := parseText(b, reading{})
	if errX != nil || errY != nil || isLetter(x) && isLetter(y) {
		return texts(a, b)
	}
	relation := c.compare(x, y)
	open := reading{wide: openX.wide || openY.wide, natural: openX.natural || openY.natural}
	for _, r := range open.others() {
		x, _, errX := parseText(a, r)
		y, _, errY := parseText(b, r)
		if errX != nil || errY != nil {
			return Unknown
		}
		if again := c.compare(x, y); again != relation {
			return Unknown
		}
	}
	return relation
}

// others are the readings besides the usual one.
func (r reading) others() []reading {
	var out []reading
	for _, other := range []reading{{wide: true}, {natural: true}, {wide: true, natural: true}} {
		if (r.wide || !other.wide) && (r.natural || !other.natural) {
			out = append(out, other)
		}
	}
	return out
}

// isLetter reports whether an answer is a single letter, which is rather an
// option than a variable.
func isLetter(v *Value) bool {
	return v.kind == Expression && v.name == "" && v.expr.Op == Sym && len(v.expr.Text) == 1
}

// opposites are words that exclude each other.
var opposites = []string{"true", "false", "yes", "no"}

// texts compares answers that are not both mathematics.
func texts(a, b string) Relation {
	x, y := canonicalText(a), canonicalText(b)
	switch {
	case x == y && x != "":
		return Same
	case slices.Contains(opposites, x) && slices.Contains(opposites, y), len(x) == 1 && len(y) == 1:
		return Different
	}
	return Unknown
}

// compare compares two values.
func (c *comparer) compare(x, y *Value) Relation {
	if x.kind == Equation || y.kind == Equation || isFormula(x) && isFormula(y) && x.name != y.name {
		return c.equations(x, y)
	}
	relation := c.unnamed(x, y)
	if relation == Same && x.name != "" && y.name != "" && !strings.EqualFold(x.name, y.name) {
		if x.words || y.words {
			return Unknown
		}
		return Different
	}
	return relation
}

// isFormula reports whether a value is something like y = 2x, which is an equation
// as well.
func isFormula(v *Value) bool {
	return v.kind == Expression && v.name != "" && !v.words && len(variables(v.expr)) > 0
}

func (c *comparer) unnamed(x, y *Value) Relation {
	if x.kind != Expression || y.kind != Expression {
		return c.collections(x, y)
	}
	relation := c.exprs(x.expr, y.expr)
	if relation == Different && (x.approximate && c.rounds(x, y.expr) || y.approximate && c.rounds(y, x.expr)) {
		return Unknown
	}
	return relation
}

// rounds reports whether the decimal x can stand for exact: it is within half a
// unit of its last digit, or it is the beginning of it.
func (c *comparer) rounds(x *Value, exact *Expr) bool {
	if len(variables(x.expr, exact)) > 0 {
		return false
	}
	unit := number(new(big.Rat).SetFrac(big.NewInt(1), powerOfTen(x.decimals)))
	d := call(fnAbs, minus(x.expr, exact))
	if sign, known := c.signAt(minus(binary(Div, unit, integer(2)), d), nil); known && sign >= 0 {
		return true
	}
	return c.sign(minus(unit, d)) > 0 && c.sign(minus(call(fnAbs, exact), call(fnAbs, x.expr))) > 0
}

// sign is the sign of an expression without variables; 0 also if it is not known.
func (c *comparer) sign(e *Expr) int {
	sign, _ := c.signAt(e, nil)
	return sign
}

// collections compares points, lists, intervals, sets and assignments, also with
// single values.
func (c *comparer) collections(x, y *Value) Relation {
	if rank(x.kind) > rank(y.kind) {
		x, y = y, x
	}
	switch {
	case x.kind == Expression && y.kind == Set && len(y.items) == 1:
		return c.unnamed(x, y.items[0])
	case x.kind == Expression:
		if x.commas || y.commas {
			return Unknown
		}
		return Different
	case x.kind == Assignment && y.kind == Assignment:
		return c.assignments(x, y)
	case x.kind == Point && y.kind == Assignment:
		return c.ordered(x.items, byName(y))
	case x.kind == Set && y.kind == Set, x.kind == List && x.bare && y.kind == Set:
		return c.sets(x.items, y.items)
	case x.kind == Interval && y.kind == Interval:
		if x.ends != y.ends {
			return Different
		}
		return c.ordered(x.items, y.items)
	case x.kind == y.kind, x.kind == Point && y.kind == List:
		relation := c.ordered(x.items, y.items)
		// (1, 2) and [1, 2] may be intervals.
		if relation == Same && x.kind != y.kind && len(x.items) == 2 && !y.bare {
			return Unknown
		}
		if relation == Different && x.kind == List && (x.bare || y.bare) && len(x.items) == len(y.items) {
			if again := c.sets(x.items, y.items); again != Different {
				return Unknown
			}
		}
		return relation
	}
	return Unknown
}

func rank(k Kind) int {
	return slices.Index([]Kind{Expression, Point, List, Interval, Set, Assignment, Equation}, k)
}

// byName returns the values of an assignment in the order of their names.
func byName(v *Value) []*Value {
	items := slices.Clone(v.items)
	slices.SortFunc(items, func(a, b *Value) int { return strings.Compare(a.name, b.name) })
	return items
}

func (c *comparer) assignments(x, y *Value) Relation {
	p, q := byName(x), byName(y)
	for i := range min(len(p), len(q)) {
		if p[i].name != q[i].name {
			return Unknown
		}
	}
	return c.ordered(p, q)
}

// ordered compares values one by one.
func (c *comparer) ordered(xs, ys []*Value) Relation {
	if len(xs) != len(ys) {
		return Different
	}
	relation := Same
	for i := range xs {
		r := c.unnamed(xs[i], ys[i])
		if r == Different {
			return r
		}
		if c.meter.left < 0 {
			return Unknown
		}
		if r == Unknown {
			relation = Unknown
		}
	}
	return relation
}

// literals returns the values of items if they are all just numbers.
func literals(items []*Value) map[string]bool {
	out := map[string]bool{}
	for _, v := range items {
		if v.kind != Expression || literal(v.expr) == nil {
			return nil
		}
		out[literal(v.expr).RatString()] = true
	}
	return out
}

// sets compares values in any order; how often one is there does not matter.
func (c *comparer) sets(xs, ys []*Value) Relation {
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
				if r := compare(x, y); r != Different {
					best = r
				}
				if c.meter.left < 0 {
					return Unknown
				}
				if best == Same {
					break
				}
			}
			switch best {
			case Different:
				return Different
			case Unknown:
				relation = Unknown
			}
		}
		xs, ys = ys, xs
	}
	return relation
}
