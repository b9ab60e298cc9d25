package math

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// An environment gives variables their values.
type environment map[string]*Expr

// checkConditions puts the values of a solution into the equations and
// inequalities of the problem.
func (c *comparer) checkConditions(problem string, v *Value) error {
	conditions, ok := conditionsOf(problem)
	if !ok {
		return nil
	}
	var sides []*Expr
	for _, r := range conditions {
		sides = append(sides, r.left, r.right)
	}
	names := variables(sides...)
	all := environments(v, names, asksFor(problem, names))
	for _, env := range all {
		if r, wrong := c.violated(conditions, env); wrong {
			return fmt.Errorf("math: %s does not hold for %s", clip(r.String()), clip(env.String()))
		}
	}
	return c.checkComplete(problem, conditions, all)
}

// conditionsOf returns what has to hold in a problem. A problem that has several
// readings, or gives alternatives, has no conditions.
func conditionsOf(problem string) ([]relation, bool) {
	if usesOtherArithmetic(problem) {
		return nil, false
	}
	var out []relation
	for _, c := range claims(problem) {
		if len(c.readings) > 1 {
			return nil, false
		}
		for _, r := range c.readings[0] {
			if len(variables(r.left, r.right)) > 0 {
				out = append(out, r)
			}
		}
	}
	words := strings.Fields(strings.ToLower(problem))
	for _, w := range []string{"or", "either", "not", "unless", "except", "false", "whether"} {
		if slices.Contains(words, w) {
			return nil, false
		}
	}
	return out, len(out) > 0
}

// asksFor returns the variable that a bare number stands for: the only one there
// is, if the problem asks to solve for it or to find it. It is "" if that is not
// certain.
func asksFor(problem string, names []string) string {
	if len(names) != 1 {
		return ""
	}
	tokens := lexProse(problem)
	word := func(i int) string {
		if i < 0 || i >= len(tokens) || tokens[i].kind != wordToken {
			return ""
		}
		return strings.ToLower(tokens[i].text)
	}
	asked := ""
	for i := range tokens {
		at := i + 1
		switch word(i) {
		case "solve":
			if i == 0 {
				asked = names[0]
			}
			continue
		case "root", "roots", "solution", "solutions", "zeros":
			asked = names[0]
			continue
		case "of":
			if word(i-1) != "value" && word(i-1) != "values" {
				continue
			}
		case "find", "determine", "is", "for":
		default:
			continue
		}
		if at >= len(tokens) || tokens[at].kind != nameToken || tokens[at].text != names[0] {
			continue
		}
		// "find x" asks for x, and "find x + 1" does not.
		if at+1 < len(tokens) {
			after := tokens[at+1]
			if after.kind == opToken && !slices.Contains([]rune{opOther, '\n', ',', ';', ':'}, after.op) {
				return ""
			}
		}
		asked = names[0]
	}
	return asked
}

// environments returns what the variables are according to a solution, one for
// each of its alternatives.
func environments(v *Value, names []string, asked string) []environment {
	one := func(name string, item *Value) []environment {
		if item.kind != Expression || v.approximate || item.approximate {
			return nil
		}
		return []environment{{name: item.expr}}
	}
	name := asked
	if v.name != "" && !v.words {
		name = v.name
	}
	var out []environment
	switch v.kind {
	case Expression:
		if slices.Contains(names, name) {
			return one(name, v)
		}
	case Set, List:
		for _, item := range v.items {
			switch {
			case item.kind == Point:
				out = append(out, pointEnvironment(item, names)...)
			case slices.Contains(names, name) && (v.kind == Set || v.bare):
				out = append(out, one(name, item)...)
			}
		}
	case Assignment:
		env := environment{}
		for _, item := range v.items {
			if slices.Contains(names, item.name) && !item.words {
				env[item.name] = item.expr
			}
		}
		if len(env) > 0 {
			out = append(out, env)
		}
	case Point:
		return pointEnvironment(v, names)
	}
	return out
}

// pointEnvironment gives the variables x, y, z the values of a point.
func pointEnvironment(v *Value, names []string) []environment {
	if len(v.items) != len(names) || !slices.ContainsFunc([]string{"xyz", "abc", "uvw", "pqr", "mn"}, func(s string) bool {
		return strings.HasPrefix(s, strings.Join(names, ""))
	}) {
		return nil
	}
	env := environment{}
	for i, item := range v.items {
		if item.kind != Expression {
			return nil
		}
		env[names[i]] = item.expr
	}
	return []environment{env}
}

// String writes x = 1, y = 2.
func (env environment) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		parts = append(parts, name+" = "+env[name].String())
	}
	return strings.Join(parts, ", ")
}

// violated returns a condition that does not hold. Several equations of a single
// variable may be several problems; then all of them have to fail.
func (c *comparer) violated(conditions []relation, env environment) (relation, bool) {
	var failed []relation
	passed := 0 // equations of one variable
	for _, r := range conditions {
		names := variables(r.left, r.right)
		if slices.ContainsFunc(names, func(name string) bool { return env[name] == nil }) {
			continue
		}
		bound := relation{r.op, r.left.substitute(env), r.right.substitute(env)}
		switch {
		case len(variables(bound.left, bound.right)) == 0 && c.truth(bound) == Different && !c.nearRoot(r, env):
			failed = append(failed, r)
		case r.op == '=' && len(names) == 1:
			passed++
		}
	}
	for _, r := range failed {
		if r.op != '=' || len(variables(r.left, r.right)) > 1 || passed == 0 {
			return r, true
		}
	}
	return relation{}, false
}

// nearRoot reports whether an equation of one variable has a solution less than
// one unit of the last digit away from a decimal.
func (c *comparer) nearRoot(r relation, env environment) bool {
	names := variables(r.left, r.right)
	if r.op != '=' || len(names) != 1 {
		return false
	}
	places := decimalPlaces(env[names[0]])
	if places < 2 {
		return false
	}
	unit := number(new(big.Rat).SetFrac(big.NewInt(1), powerOfTen(places)))
	f := minus(r.left, r.right)
	lower := f.substitute(environment{names[0]: minus(env[names[0]], unit)})
	upper := f.substitute(environment{names[0]: binary(Add, env[names[0]], unit)})
	return c.sign(lower)*c.sign(upper) < 0
}

// solveWords are the words of a problem that asks for all real solutions.
var solveWords = []string{
	"solve", "the", "equation", "for", "find", "all", "real", "solutions", "solution", "roots", "root", "of", "please", "a", "quadratic",
	"cubic", "polynomial", "following", "what", "are", "x", "values", "over", "reals", "numbers", "every", "set",
}

// checkComplete finds out whether a solution leaves out solutions of the only
// equation of a problem, which has one variable and asks for all solutions.
func (c *comparer) checkComplete(problem string, conditions []relation, all []environment) error {
	if len(conditions) != 1 || conditions[0].op != '=' || len(all) == 0 {
		return nil
	}
	r := conditions[0]
	names := variables(r.left, r.right)
	if len(names) != 1 {
		return nil
	}
	asksAll := false
	for _, t := range lexProse(problem) {
		word := strings.ToLower(t.text)
		if t.kind == wordToken && !slices.Contains(solveWords, word) {
			return nil
		}
		asksAll = asksAll || t.kind == wordToken && slices.Contains([]string{"solve", "all", "solutions", "roots"}, word)
	}
	var given []*Value
	for _, env := range all {
		bound := relation{'=', r.left.substitute(env), r.right.substitute(env)}
		if !asksAll || c.truth(bound) != Same {
			return nil
		}
		value := &Value{kind: Expression, expr: env[names[0]]}
		if !slices.ContainsFunc(given, func(v *Value) bool { return c.unnamed(v, value) != Different }) {
			given = append(given, value)
		}
	}
	if n, ok := c.realRoots(minus(r.left, r.right)); ok && n > len(given) {
		return fmt.Errorf("math: %s has %d real solutions, and the solution gives %d", clip(r.String()), n, len(given))
	}
	return nil
}
