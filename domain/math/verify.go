package math

import (
	"fmt"
	"slices"
	"strings"
)

// Verify returns what is known to be wrong with a solution, and nil if nothing
// is. It knows three things:
//
//   - An equation between numbers in the solution is false.
//   - The problem is a computation ("Compute 12 * 34", "What is 15% of 80?",
//     "Simplify (x+1)^2 - 1"), and the solution has another value.
//   - The problem has equations or inequalities, the solution gives values of
//     their variables, and they do not hold; or it leaves solutions of a single
//     equation out.
//
// Arithmetic is exact. A decimal with two digits or more after its point may be a
// rounded one: it passes if it is a value without an end, rounded or cut off, or
// any value if the problem speaks of rounding; as the solution of an equation it
// passes if the equation has one less than a unit of its last digit away. The
// tolerance of the options applies besides.
//
// Everything else passes, and so does whatever has a reading in which it is
// right.
func (a *Adapter) Verify(problem, solution string) error {
	c := newComparer(a.options)
	if !usesOtherArithmetic(problem) && !usesOtherArithmetic(solution) {
		for _, claim := range claims(solution) {
			if r, ok := c.refute(claim); ok {
				return fmt.Errorf("math: the solution says %s, which is false", clip(r.String()))
			}
		}
	}
	v := finalValue(solution)
	if v == nil || len(problem) > MaxBytes {
		return nil
	}
	if target, ok := computation(problem); ok {
		return c.checkValue(target, v, mayRound(problem))
	}
	return c.checkConditions(problem, v)
}

// clip shortens text for a message.
func clip(s string) string {
	const longest = 80
	r := []rune(s)
	if len(r) <= longest {
		return s
	}
	return string(r[:longest-1]) + "…"
}

// refute returns a relation of the claim that is false. It has to be false in
// every reading.
func (c *comparer) refute(cl claim) (relation, bool) {
	// 1 = 10 is rather the legend of something.
	plain := func(e *Expr) bool { return e.Op == Num || e.Op == Neg && e.Args[0].Op == Num }
	if !slices.ContainsFunc(cl.readings[0], func(r relation) bool { return r.op != '=' || !plain(r.left) || !plain(r.right) }) {
		return relation{}, false
	}
	var first relation
	for i, relations := range cl.readings {
		at := slices.IndexFunc(relations, func(r relation) bool {
			return len(variables(r.left, r.right)) == 0 && c.isFalse(r, cl.rounded)
		})
		if at < 0 {
			return relation{}, false
		}
		if i == 0 {
			first = relations[at]
		}
	}
	return first, true
}

// isFalse reports whether a relation without variables is known not to hold.
func (c *comparer) isFalse(r relation, rounded bool) bool {
	truth := c.truth(r)
	if truth == Different && r.op == '=' && rounded {
		for _, side := range [][2]*Expr{{r.left, r.right}, {r.right, r.left}} {
			if places := decimalPlaces(side[0]); places > 0 && c.within(side[0], side[1], places) {
				return false
			}
		}
	}
	return truth == Different
}

// truth returns Same if a relation without variables holds, and Different if it
// does not.
func (c *comparer) truth(r relation) Relation {
	switch r.op {
	case '=':
		relation := c.exprs(r.left, r.right)
		return relation
	case '≠':
		switch relation := c.exprs(r.left, r.right); relation {
		case Same:
			return Different
		case Different:
			return Same
		}
		return Unknown
	case '<', '≤':
		relation := c.exprs(r.left, r.right)
		if relation == Same {
			return ofBool(r.op == '≤')
		}
		if sign := c.sign(minus(r.right, r.left)); relation == Different && sign != 0 {
			return ofBool(sign > 0)
		}
	}
	return Unknown
}

// decimalPlaces returns how many digits after the point a number needs, 0 if it is
// no decimal.
func decimalPlaces(e *Expr) int {
	if r := literal(e); r != nil {
		if n, exact := r.FloatPrec(); exact {
			return n
		}
	}
	return 0
}

// within reports whether a decimal with so many places can stand for b.
func (c *comparer) within(a, b *Expr, places int) bool {
	v := Value{kind: Expression, expr: a, decimals: places}
	return c.rounds(&v, b)
}

// finalValue is what a solution comes to: all of it, or the line that calls itself
// the answer. It is nil if there is none.
func finalValue(solution string) *Value {
	if v, open, err := parseText(solution, reading{}); err == nil {
		return unlessOpen(v, open)
	}
	if len(solution) > MaxBytes {
		return nil
	}
	lines := strings.Split(solution, "\n")
	for _, line := range slices.Backward(lines) {
		line = strings.Trim(strings.TrimSpace(line), "#*_ ")
		lower := strings.ToLower(line)
		if !strings.Contains(lower, "answer") && !strings.HasPrefix(lower, "result") {
			continue
		}
		v, open, err := parseText(strings.ReplaceAll(line, "**", ""), reading{})
		if err != nil {
			return nil // an answer that is not understood
		}
		return unlessOpen(v, open)
	}
	return nil
}

// unlessOpen drops a value that has several readings.
func unlessOpen(v *Value, open reading) *Value {
	if open.wide || open.natural {
		return nil
	}
	return v
}

// mayRound reports whether a problem speaks of rounding.
func mayRound(problem string) bool {
	lower := strings.ToLower(problem)
	return slices.ContainsFunc([]string{"round", "approx", "decimal", "nearest", "estimate", "significant", "about how"}, func(w string) bool {
		return strings.Contains(lower, w)
	})
}

// checkValue compares the value of a computation with that of a solution.
func (c *comparer) checkValue(target *Expr, v *Value, mayRound bool) error {
	if v.kind == Equation {
		if v = c.worked(v); v == nil {
			return nil
		}
	}
	if v.kind != Expression || v.name != "" && !v.words && slices.Contains(variables(target), v.name) {
		return nil
	}
	relation := c.exprs(target, v.expr)
	if relation != Different || v.approximate && c.rounds(v, target) {
		return nil
	}
	if v.decimals >= 2 && c.rounds(v, target) && (mayRound || c.endless(target)) {
		return nil
	}
	if mayRound && len(variables(v.expr, target)) == 0 && c.rounds(v, target) {
		return nil
	}
	if value := c.exact(target, nil); value != nil {
		return fmt.Errorf("math: %s is %s, not %s", clip(target.String()), clip(value.RatString()), clip(v.expr.String()))
	}
	return fmt.Errorf("math: %s is not %s", clip(target.String()), clip(v.expr.String()))
}

// endless reports whether a value cannot be written as a decimal.
func (c *comparer) endless(e *Expr) bool {
	r := c.exact(e, nil)
	if r == nil {
		return true
	}
	_, terminates := r.FloatPrec()
	return !terminates
}
