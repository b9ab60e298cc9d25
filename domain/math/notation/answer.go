package notation

import (
	"slices"
	"strings"
)

// An answer is read from its tokens: first the words before it, then its commas,
// then its equations, then the expressions. Its methods refuse where they cannot.
type answer struct {
	reading Reading
	open    Reading
	depth   int
}

// whole reads an answer with the words before it.
func (p *answer) whole(tokens []token) *Value {
	tokens, label, approximate := cutLabel(tokens)
	if last := len(tokens) - 1; label != nil && last >= 0 && tokens[last].isOp('!') {
		refuse() // a factorial or an exclamation
	}
	parts, or, commas := split(cutConnectives(tokens), false)
	var items []*Value
	for _, part := range parts {
		items = append(items, p.one(part))
	}
	v := together(items, or)
	v.Commas = v.Commas || commas
	v.Approximate = v.Approximate || approximate
	if name, words := labelName(label); name != "" && v.Name == "" && v.Kind != Equation && v.Kind != Assignment {
		v.Name, v.Words = name, words
	}
	return v
}

// nesting is 1 for a bracket that opens, -1 for one that closes, and otherwise 0.
func nesting(t token) int {
	switch {
	case t.isOp('(', '[', '{', opSetOpen):
		return 1
	case t.isOp(')', ']', '}', opSetClose):
		return -1
	}
	return 0
}

// outside returns where some tokens are outside of brackets.
func outside(tokens []token, is func(t token) bool) []int {
	var at []int
	depth := 0
	for i, t := range tokens {
		if depth += nesting(t); depth == 0 && is(t) {
			at = append(at, i)
		}
	}
	return at
}

// split cuts tokens at what separates values, outside of brackets. A comma with
// three digits and no space after it is one between thousands. In brackets it is
// only if others have spaces: (1,234) is a point.
func split(tokens []token, inBrackets bool) (parts [][]token, or, commas bool) {
	at := outside(tokens, func(t token) bool { return t.isOp(',', ';', '\n') || !inBrackets && t.isWord("or", "and") })
	spaced := func(i int) bool { return i+1 < len(tokens) && tokens[i+1].space }
	start := 0
	for _, i := range at {
		t, group := tokens[i], isGroupAt(tokens, i)
		commas = commas || group || t.isOp(',') && !inBrackets && !spaced(i)
		or = or || t.isWord("or")
		if group && (!inBrackets || slices.ContainsFunc(at, spaced)) {
			continue
		}
		// ", and" is one separator, and so is the end of a line after a comma.
		if i > start || t.isOp(',', ';') || len(parts) == 0 && !t.isOp('\n') {
			parts = append(parts, tokens[start:i])
		}
		start = i + 1
	}
	if start == len(tokens) && len(parts) > 0 && tokens[start-1].isOp('\n') {
		return parts, or, commas
	}
	return append(parts, tokens[start:]), or, commas
}

// together makes one value of several.
func together(items []*Value, or bool) *Value {
	has := func(is func(v *Value) bool) bool { return slices.ContainsFunc(items, is) }
	base := baseName(items[0].Name)
	switch {
	case len(items) == 1:
		return items[0]
	case has(func(v *Value) bool { return v.Kind == Equation }):
		v := &Value{Kind: Equation}
		for _, item := range items {
			if or || len(item.Statements()) == 0 {
				refuse()
			}
			v.Holds = append(v.Holds, item.Statements()...)
		}
		return v
	case has(func(v *Value) bool { return v.Kind != Expression && v.Kind != Point && v.Kind != Set }):
		refuse()
	case !has(func(v *Value) bool { return v.Name != "" }):
		if or {
			return &Value{Kind: Set, Items: items}
		}
		return &Value{Kind: List, Items: items, Bare: true}
	case base != "" && !has(func(v *Value) bool { return v.Name != "" && baseName(v.Name) != base }):
		return setOf(items, base) // x = 1 or x = 2, x = 1 or 2, x_1 = 1 and x_2 = 2
	}
	seen := map[string]bool{}
	for _, v := range items {
		if or || v.Name == "" || seen[v.Name] || v.Kind != Expression {
			refuse()
		}
		seen[v.Name] = true
	}
	return &Value{Kind: Assignment, Items: items}
}

// setOf is the set of all that one variable can be.
func setOf(items []*Value, name string) *Value {
	set := &Value{Kind: Set, Name: name}
	for _, item := range items {
		switch item.Kind {
		case Set:
			set.Items = append(set.Items, item.Items...)
		case Expression:
			plain := *item
			plain.Name = ""
			set.Items = append(set.Items, &plain)
		default:
			refuse()
		}
	}
	return set
}

// baseName is a variable's name without a number behind it.
func baseName(name string) string {
	base, index, ok := strings.Cut(name, "_")
	if ok && strings.Trim(index, "0123456789") == "" {
		return base
	}
	return name
}

// one reads one value: x = 5, an equation, something in brackets, an expression.
func (p *answer) one(tokens []token) *Value {
	if p.depth++; p.depth > maxDepth {
		refuse()
	}
	defer func() { p.depth-- }()
	tokens = cutConnectives(tokens)
	if at := outside(tokens, func(t token) bool { return t.isOp(relations...) }); len(at) > 0 {
		return p.related(tokens, at)
	}
	if v := p.enclosed(tokens); v != nil {
		return v
	}
	if isSize(tokens) {
		refuse()
	}
	return p.expression(tokens)
}

// isSize reports whether there are only numbers with crosses between them (3×4),
// or only with dashes and without spaces (3-5, 2024-1-15). That is hardly meant
// to be worked out.
func isSize(tokens []token) bool {
	for i, t := range tokens {
		switch {
		case i%2 == 0 && (t.kind != numberToken || t.decimals > 0):
			return false
		case i%2 == 1 && !t.cross && (!t.isOp('-') || t.space || i+1 < len(tokens) && tokens[i+1].space):
			return false
		}
	}
	return len(tokens) >= 3 && len(tokens)%2 == 1
}

// expression reads an expression; one with ± is a set of two.
func (p *answer) expression(tokens []token) *Value {
	if isLetters(tokens) {
		refuse()
	}
	e, open, ok := parseExpr(tokens, p.reading)
	if !ok {
		refuse()
	}
	p.open.Wide = p.open.Wide || open.Wide
	p.open.Natural = p.open.Natural || open.Natural
	v := &Value{Kind: Expression, Expr: e}
	if last := tokens[len(tokens)-1]; last.kind == numberToken && len(tokens) <= 2 {
		v.Decimals = last.decimals
	}
	if !open.minus {
		return v
	}
	lower := p.reading
	lower.minus = true
	if e, _, ok = parseExpr(tokens, lower); !ok {
		refuse() // ln^±1 x has a meaning with the upper sign only
	}
	return &Value{Kind: Set, Items: []*Value{v, {Kind: Expression, Expr: e}}}
}

// isLetters reports whether there are several letters and nothing else. That is
// rather a word, or a row of options, than a product, in which the order would
// not matter.
func isLetters(tokens []token) bool {
	return len(tokens) > 1 && !slices.ContainsFunc(tokens, func(t token) bool {
		return t.kind != nameToken || isFunction(t) || isConstant(t.text)
	})
}

// enclosed reads a point, a list, an interval or a set. It returns nil if the
// tokens are none of these.
func (p *answer) enclosed(tokens []token) *Value {
	if len(tokens) == 1 && tokens[0].isOp('∅') {
		return &Value{Kind: Set}
	}
	last := len(tokens) - 1
	ends := outside(tokens, func(t token) bool { return nesting(t) < 0 })
	if last < 1 || nesting(tokens[0]) != 1 || len(ends) == 0 || ends[0] != last {
		return nil
	}
	parts, _, commas := split(tokens[1:last], true)
	v := &Value{Commas: commas}
	switch open, end := tokens[0], tokens[last]; {
	case open.isOp('{', opSetOpen) && end.isOp('}', opSetClose):
		v.Kind = Set
	case open.isOp('[') && end.isOp(']'):
		v.Kind = List
	case len(parts) == 1 && open.isOp('('):
		return nil // brackets around an expression
	case open.isOp('(') && end.isOp(')'):
		v.Kind = Point
	case open.isOp('{', opSetOpen) || end.isOp('}', opSetClose) || len(parts) != 2:
		refuse()
	default:
		v.Kind, v.Ends = Interval, string(open.op)+string(end.op)
	}
	if last == 1 {
		return v
	}
	for _, part := range parts {
		item := p.one(part)
		if item.Kind == Equation || item.Name != "" {
			refuse()
		}
		v.Items = append(v.Items, item)
	}
	return v
}
