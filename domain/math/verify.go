package math

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/math/notation"
	"github.com/maker-mdap/maker/internal/text/clip"
)

// Verify returns what is known to be wrong with a solution, and nil if nothing
// is. It knows three things:
//
//   - An equation between numbers in the solution is false.
//   - The problem is a computation ("Compute 12 * 34", "What is 15% of 80?",
//     "Simplify (x+1)^2 - 1"), and the solution has another value.
//   - The problem has equations or inequalities, the solution gives values of
//     their variables, and they do not hold; or it leaves out a solution of a
//     single equation, which is quadratic.
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
	if !notation.UsesOtherArithmetic(problem) && !notation.UsesOtherArithmetic(solution) {
		for _, claim := range notation.Claims(solution) {
			if s, ok := c.refuted(claim); ok {
				return fmt.Errorf("math: the solution says %s, which is false", clip.Text(s.String(), longest))
			}
		}
	}
	v := notation.Final(solution)
	if v == nil || len(problem) > notation.MaxBytes {
		return nil
	}
	if target, ok := notation.Computation(problem); ok {
		return c.checkValue(target, v, notation.MayRound(problem))
	}
	return c.checkConditions(problem, v)
}

// Evidence returns the equations and the points that a text contains, in plain
// notation.
func (a *Adapter) Evidence(text string) domain.Evidence {
	var equations []string
	for _, c := range notation.Claims(text) {
		for _, s := range c.Readings[0] {
			equations = append(equations, s.String())
		}
	}
	return domain.Evidence{Equations: unique(equations), Points: unique(notation.Points(text))}
}

// unique leaves out what was there before.
func unique(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// longest is what fits into a message.
const longest = 80

// refuted returns a statement of the claim that is false. It has to be false in
// every reading.
func (c *comparer) refuted(claim notation.Claim) (first notation.Statement, ok bool) {
	// 1 = 10 is rather the legend of something.
	plain := func(e *notation.Expr) bool { return e.Op != notation.Div && e.Literal() != nil }
	if !slices.ContainsFunc(claim.Readings[0], func(s notation.Statement) bool { return s.Op != '=' || !plain(s.Left) || !plain(s.Right) }) {
		return first, false
	}
	for i, statements := range slices.Backward(claim.Readings) {
		at := slices.IndexFunc(statements, func(s notation.Statement) bool {
			return len(notation.Variables(s.Left, s.Right)) == 0 && c.truth(s) == Different &&
				!(claim.Rounded && s.Op == '=' && (c.mayRound(s.Left, s.Right) || c.mayRound(s.Right, s.Left)))
		})
		if at < 0 {
			return first, false
		}
		if i == 0 {
			first = statements[at]
		}
	}
	return first, true
}

// truth returns Same if a statement without variables holds, and Different if it
// does not.
func (c *comparer) truth(s notation.Statement) Relation {
	relation := c.exprs(s.Left, s.Right)
	switch {
	case s.Op == '=' || relation == Unknown:
		return relation
	case s.Op == '≠':
		return ofBool(relation == Different)
	case relation == Same:
		return ofBool(s.Op == '≤')
	case c.less(s.Left, s.Right):
		return Same
	case c.less(s.Right, s.Left):
		return Different
	}
	return Unknown
}

// decimalPlaces returns how many digits after the point a number needs, 0 if it is
// no decimal.
func decimalPlaces(e *notation.Expr) int {
	if r := e.Literal(); r != nil {
		if n, exact := r.FloatPrec(); exact {
			return n
		}
	}
	return 0
}

// mayRound reports whether a is a decimal that can stand for b.
func (c *comparer) mayRound(a, b *notation.Expr) bool {
	places := decimalPlaces(a)
	return places > 0 && c.rounds(&notation.Value{Expr: a, Decimals: places}, b)
}

// checkValue compares the value of a computation with that of a solution.
func (c *comparer) checkValue(target *notation.Expr, v *notation.Value, mayRound bool) error {
	v = c.worked(v)
	if v == nil || v.Kind != notation.Expression || v.Name != "" && !v.Words && slices.Contains(notation.Variables(target), v.Name) {
		return nil
	}
	if c.exprs(target, v.Expr) != Different {
		return nil
	}
	value := c.Exact(target, nil)
	endless := value == nil // it cannot be written as a decimal
	if value != nil {
		_, ends := value.FloatPrec()
		endless = !ends
	}
	if (v.Approximate || mayRound || v.Decimals >= 2 && endless) && c.rounds(v, target) {
		return nil
	}
	if value != nil {
		return fmt.Errorf("math: %s is %s, not %s", clip.Text(target.String(), longest), clip.Text(notation.Number(value).String(), longest), clip.Text(v.Expr.String(), longest))
	}
	return fmt.Errorf("math: %s is not %s", clip.Text(target.String(), longest), clip.Text(v.Expr.String(), longest))
}

// checkConditions puts the values of a solution into the equations and
// inequalities of the problem.
func (c *comparer) checkConditions(problem string, v *notation.Value) error {
	conditions := notation.Conditions(problem)
	var sides []*notation.Expr
	for _, s := range conditions {
		sides = append(sides, s.Left, s.Right)
	}
	names := notation.Variables(sides...)
	if len(names) == 0 {
		return nil
	}
	name := v.Name
	if (v.Words || name == "") && len(names) == 1 && notation.AsksFor(problem, names[0]) {
		name = names[0]
	}
	all := environments(v, names, name)
	for _, env := range all {
		if s, wrong := c.violated(conditions, env); wrong {
			return fmt.Errorf("math: %s does not hold for %s", clip.Text(s.String(), longest), clip.Text(env.String(), longest))
		}
	}
	if len(conditions) != 1 || conditions[0].Op != '=' || len(names) != 1 || len(all) == 0 || !notation.AsksForAll(problem) {
		return nil
	}
	return c.checkComplete(conditions[0], names[0], all)
}

// environments returns what the variables are according to a solution, one for
// each of its alternatives. A value without a name is that of name.
func environments(v *notation.Value, names []string, name string) (out []environment) {
	env := environment{}
	switch {
	case v.Approximate:
	case v.Kind == notation.Expression && slices.Contains(names, name):
		env[name] = v.Expr
	case v.Kind == notation.Assignment:
		for _, item := range v.Items {
			if slices.Contains(names, item.Name) && !item.Words {
				env[item.Name] = item.Expr
			}
		}
	case v.Kind == notation.Point && len(v.Items) == len(names) && isOrder(names):
		for i, item := range v.Items {
			if item.Kind != notation.Expression {
				return nil
			}
			env[names[i]] = item.Expr
		}
	case v.Kind == notation.Set || v.Kind == notation.List:
		for _, item := range v.Items {
			if v.Kind == notation.Set || v.Bare || item.Kind == notation.Point {
				out = append(out, environments(item, names, name)...)
			}
		}
	}
	if len(env) > 0 {
		out = append(out, env)
	}
	return out
}

// isOrder reports whether names are in the order of the coordinates of a point.
func isOrder(names []string) bool {
	return slices.ContainsFunc([]string{"xyz", "abc", "uvw", "pqr", "mn"}, func(s string) bool {
		return strings.HasPrefix(s, strings.Join(names, ""))
	})
}

// violated returns a condition that does not hold. Several equations of a single
// variable may be several problems; then all of them have to fail.
func (c *comparer) violated(conditions []notation.Statement, env environment) (notation.Statement, bool) {
	var failed []notation.Statement
	passed := 0 // equations of one variable
	for _, s := range conditions {
		names := notation.Variables(s.Left, s.Right)
		if slices.ContainsFunc(names, func(name string) bool { return env[name] == nil }) {
			continue
		}
		bound := put(s, env)
		switch {
		case len(notation.Variables(bound.Left, bound.Right)) == 0 && c.truth(bound) == Different && !c.nearRoot(s, names, env):
			failed = append(failed, s)
		case s.Op == '=' && len(names) == 1:
			passed++
		}
	}
	for _, s := range failed {
		if s.Op != '=' || len(notation.Variables(s.Left, s.Right)) > 1 || passed == 0 {
			return s, true
		}
	}
	return notation.Statement{}, false
}

// put puts values into a statement.
func put(s notation.Statement, env environment) notation.Statement {
	return notation.Statement{Op: s.Op, Left: s.Left.Substitute(env), Right: s.Right.Substitute(env)}
}

// nearRoot reports whether an equation of one variable has a solution less than
// one unit of the last digit away from a decimal.
func (c *comparer) nearRoot(s notation.Statement, names []string, env environment) bool {
	if s.Op != '=' || len(names) != 1 || decimalPlaces(env[names[0]]) < 2 {
		return false
	}
	value := env[names[0]]
	last := unit(decimalPlaces(value), 1)
	below := put(s, environment{names[0]: notation.Minus(value, last)})
	above := put(s, environment{names[0]: notation.Make(notation.Add, value, last)})
	return c.less(below.Left, below.Right) && c.less(above.Right, above.Left) || c.less(below.Right, below.Left) && c.less(above.Left, above.Right)
}

// checkComplete finds out whether a solution leaves out solutions of an equation
// in one variable.
func (c *comparer) checkComplete(s notation.Statement, name string, all []environment) error {
	var given []*notation.Expr
	for _, env := range all {
		if c.truth(put(s, env)) != Same {
			return nil
		}
		if !slices.ContainsFunc(given, func(e *notation.Expr) bool { return c.exprs(e, env[name]) != Different }) {
			given = append(given, env[name])
		}
	}
	if n, ok := c.realRoots(notation.Minus(s.Left, s.Right)); ok && n > len(given) {
		return fmt.Errorf("math: %s has %d real solutions, and the solution gives %d", clip.Text(s.String(), longest), n, len(given))
	}
	return nil
}
