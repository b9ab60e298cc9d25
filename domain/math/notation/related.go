package notation

import (
	"fmt"
	"slices"
	"strings"
)

// relations are the signs between the sides of an equation or an inequality.
var relations = []rune{'=', '<', '>', '≤', '≥', '≠', '≈', '∈'}

// related reads what has relations in it, at the given places.
func (p *answer) related(tokens []token, at []int) *Value {
	first, last := at[0], at[len(at)-1]
	if len(at) == 1 && tokens[first].isOp('=', '≈', '∈') {
		if v := p.assigned(tokens[:first], tokens[first+1:], tokens[first].op); v != nil {
			return v
		}
	}
	holds, sides := p.sides(tokens, at)
	// x = sqrt(2) ≈ 1.414: what is exact counts.
	if tokens[last].isOp('≈') && len(at) > 1 {
		return p.related(tokens[:last], at[:len(at)-1])
	}
	// x = 2 + 3 = 5
	name, value := holds[0].Left, sides[len(sides)-1]
	unequal := slices.ContainsFunc(holds, func(s Statement) bool { return s.Op != '=' })
	if name.Op == Sym && !isConstant(name.Text) && !unequal && !slices.Contains(Variables(value.Expr), name.Text) {
		return &Value{Kind: Expression, Name: name.Text, Expr: value.Expr, Decimals: value.Decimals}
	}
	return &Value{Kind: Equation, Holds: holds}
}

// sides reads a = b < c, with relations at the given places.
func (p *answer) sides(tokens []token, at []int) (holds []Statement, sides []*Value) {
	start := 0
	for i, end := range append(at, len(tokens)) {
		side := p.expression(tokens[start:end])
		if side.Kind != Expression || isCallOf(tokens[start:end]) || end < len(tokens) && tokens[end].isOp('∈') {
			refuse() // ±, a function, or a set
		}
		if sides = append(sides, side); i > 0 {
			holds = append(holds, state(sides[i-1].Expr, tokens[at[i-1]].op, side.Expr))
		}
		start = end + 1
	}
	return holds, sides
}

// assigned reads name = value, in either direction, also with words for the name
// and with a point of names. It returns nil if it is something else.
func (p *answer) assigned(left, right []token, op rune) *Value {
	var name string
	var words bool
	switch {
	case len(left) == 0: // = 5
	case isLabel(left):
		name, words = labelName(left)
	default:
		if name = p.variable(left); name != "" {
			break
		}
		if v := p.pointOfNames(left, right); v != nil {
			return v
		}
		if name = p.variable(right); name == "" || op != '=' {
			return nil
		}
		right = left
	}
	v := p.one(right)
	v.Approximate = v.Approximate || op == '≈'
	switch {
	case len(left) == 0:
		return v
	case v.Kind == Equation || v.Name != "" || op == '∈' && v.Kind == Expression:
		refuse()
	case !words && v.Kind == Expression && slices.Contains(Variables(v.Expr), name):
		return nil // x = 2x - 1 is an equation
	}
	v.Name, v.Words = name, words
	return v
}

// variable returns the name if tokens are one: x, x_1, f(x), f(2).
func (p *answer) variable(tokens []token) string {
	if isCallOf(tokens) && len(tokens) == 4 && tokens[2].kind != wordToken && tokens[2].text != "" && tokens[3].isOp(')') {
		return fmt.Sprintf("%s(%s)", tokens[0].text, tokens[2].text)
	}
	e, _, ok := parseExpr(tokens, p.reading)
	if !ok || e.Op != Sym || isConstant(e.Text) || e.Word || e.Text == Infinity {
		return ""
	}
	return e.Text
}

// isCallOf reports whether a side is something like f(x), which is no product.
func isCallOf(side []token) bool {
	return len(side) >= 4 && side[0].kind == nameToken && strings.Contains("fghFGHPQpq", side[0].text) && side[1].isOp('(')
}

// pointOfNames reads (x, y) = (1, 2). It returns nil if there is no point on the
// left.
func (p *answer) pointOfNames(left, right []token) *Value {
	names, _ := attempt(func() *Value { return p.enclosed(left) })
	if names == nil || names.Kind != Point {
		return nil
	}
	values := p.enclosed(right)
	if values == nil || values.Kind != Point || len(values.Items) != len(names.Items) {
		refuse()
	}
	v := &Value{Kind: Assignment}
	seen := map[string]bool{}
	for i, n := range names.Items {
		item := *values.Items[i]
		if n.Expr == nil || n.Expr.Op != Sym || seen[n.Expr.Text] || item.Kind != Expression {
			refuse()
		}
		item.Name = n.Expr.Text
		seen[item.Name] = true
		v.Items = append(v.Items, &item)
	}
	return v
}
