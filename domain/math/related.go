package math

import (
	"fmt"
	"slices"
	"strings"
)

// relations are the signs between the sides of an equation or an inequality.
var relations = []rune{'=', '<', '>', '≤', '≥', '≠', '≈', '∈'}

// related reads what has relations in it, at the given places.
func (p *answer) related(tokens []token, at []int) (*Value, error) {
	var sides [][]token
	start := 0
	for _, i := range append(at, len(tokens)) {
		sides = append(sides, tokens[start:i])
		start = i + 1
	}
	if op := tokens[at[0]].op; len(at) == 1 && (op == '=' || op == '≈' || op == '∈') {
		if v, ok, err := p.assigned(sides[0], sides[1], op); ok || err != nil {
			return v, err
		}
	}
	if tokens[at[0]].op == '∈' {
		return nil, errSeveral
	}
	v := &Value{kind: Equation}
	values := make([]*Value, len(sides))
	for i, side := range sides {
		var err error
		if values[i], err = p.expression(side); err != nil {
			return nil, err
		}
		if values[i].kind != Expression {
			return nil, errSeveral // an equation with ±
		}
	}
	for i, place := range at {
		op := tokens[place].op
		if op == '∈' {
			return nil, errSeveral
		}
		v.holds = append(v.holds, relate(values[i].expr, op, values[i+1].expr))
	}
	// x = sqrt(2) ≈ 1.414: what is exact counts.
	if last := v.holds[len(v.holds)-1]; last.op == '≈' && len(at) > 1 {
		return p.related(tokens[:at[len(at)-1]], at[:len(at)-1])
	}
	// x = 2 + 3 = 5
	first := v.holds[0].left
	if first.Op == Sym && !isConstant(first.Text) && v.allEqual() {
		last := v.holds[len(v.holds)-1].right
		if !slices.Contains(variables(last), first.Text) {
			return &Value{kind: Expression, name: first.Text, expr: last, decimals: values[len(values)-1].decimals}, nil
		}
	}
	return v, nil
}

func (v *Value) allEqual() bool {
	return !slices.ContainsFunc(v.holds, func(r relation) bool { return r.op != '=' })
}

// assigned reads name = value, in either direction, also with words for the name
// and with a point of names.
func (p *answer) assigned(left, right []token, op rune) (*Value, bool, error) {
	if len(left) == 0 { // = 5
		v, err := p.one(right)
		if err == nil {
			v.approximate = v.approximate || op == '≈'
		}
		return v, true, err
	}
	name, words := "", false
	if isLabel(left) {
		name, words = labelName(left)
	} else if n, ok := p.variable(left); ok {
		name = n
	} else if v, ok, err := p.pointOfNames(left, right); ok || err != nil {
		return v, ok, err
	} else if n, ok := p.variable(right); ok && op == '=' {
		name, right = n, left
	} else {
		return nil, false, nil
	}
	v, err := p.one(right)
	if err != nil {
		return nil, false, err
	}
	if v.kind == Equation || v.name != "" {
		return nil, false, errSeveral
	}
	if op == '∈' && v.kind == Expression {
		return nil, false, errSeveral
	}
	if !words && v.kind == Expression && slices.Contains(variables(v.expr), name) {
		return nil, false, nil // x = 2x - 1 is an equation
	}
	v.name, v.words = name, words
	v.approximate = v.approximate || op == '≈'
	return v, true, nil
}

// variable returns the name if tokens are one: x, x_1, f(x), f(2).
func (p *answer) variable(tokens []token) (string, bool) {
	if len(tokens) == 4 && tokens[0].kind == nameToken && tokens[1].op == '(' && tokens[2].kind != wordToken && tokens[2].text != "" &&
		tokens[3].op == ')' && strings.Contains("fghFGHPQpq", tokens[0].text) {
		return fmt.Sprintf("%s(%s)", tokens[0].text, tokens[2].text), true
	}
	e, _, err := parseExpr(tokens, p.reading)
	if err != nil || e.Op != Sym || isConstant(e.Text) || e.word || e.Text == symInfinity {
		return "", false
	}
	return e.Text, true
}

// pointOfNames reads (x, y) = (1, 2).
func (p *answer) pointOfNames(left, right []token) (*Value, bool, error) {
	names, err := p.enclosed(left)
	if err != nil || names == nil || names.kind != Point {
		return nil, false, nil
	}
	values, err := p.enclosed(right)
	if err != nil || values == nil || values.kind != Point || len(values.items) != len(names.items) {
		return nil, false, errSeveral
	}
	v := &Value{kind: Assignment}
	seen := map[string]bool{}
	for i, n := range names.items {
		if n.expr == nil || n.expr.Op != Sym || seen[n.expr.Text] || values.items[i].kind != Expression {
			return nil, false, errSeveral
		}
		seen[n.expr.Text] = true
		item := *values.items[i]
		item.name = n.expr.Text
		v.items = append(v.items, &item)
	}
	return v, true, nil
}
