package math

import (
	"errors"
	"slices"
	"strings"
)

// An answer is read from its tokens: first the words before it, then its commas,
// then its equations, then the expressions.
type answer struct {
	reading reading
	open    reading
	depth   int
}

// whole reads an answer with the words before it.
func (p *answer) whole(tokens []token) (*Value, error) {
	tokens = trimLines(tokens)
	if v, ok := wordsForEmpty(tokens); ok {
		return v, nil
	}
	tokens, label, approximate, err := cutLabel(tokens)
	if err != nil {
		return nil, err
	}
	if last := len(tokens) - 1; label != nil && last >= 0 && tokens[last].op == '!' {
		return nil, errExclamation
	}
	v, err := p.several(cutConnectives(tokens))
	if err != nil {
		return nil, err
	}
	v.approximate = v.approximate || approximate
	if name, words := labelName(label); name != "" && v.name == "" && v.kind != Equation && v.kind != Assignment {
		v.name, v.words = name, words
	}
	return v, nil
}

var errExclamation = errors.New("a factorial or an exclamation")

func trimLines(tokens []token) []token {
	for len(tokens) > 0 && tokens[0].op == '\n' {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].op == '\n' {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

func wordsForEmpty(tokens []token) (*Value, bool) {
	for _, words := range [][]string{{"no", "solution"}, {"no", "solutions"}, {"empty", "set"}, {"the", "empty", "set"}} {
		if len(tokens) == len(words) && matchWords(tokens, words) {
			return &Value{kind: Set}, true
		}
	}
	return nil, false
}

// several reads values with commas, lines or the words "or" and "and" between
// them.
func (p *answer) several(tokens []token) (*Value, error) {
	parts, or, commas := split(tokens)
	if len(parts) == 1 {
		v, err := p.one(parts[0])
		if err == nil {
			v.commas = v.commas || commas
		}
		return v, err
	}
	items := make([]*Value, len(parts))
	for i, part := range parts {
		if len(part) == 0 {
			return nil, errSeveral
		}
		v, err := p.one(part)
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	v, err := together(items, or)
	if err == nil {
		v.commas = commas
	}
	return v, err
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

// split cuts tokens at what separates values, outside of brackets. A comma with
// three digits and no space after it is one between thousands.
func split(tokens []token) (parts [][]token, or, commas bool) {
	depth, start := 0, 0
	for i, t := range tokens {
		if depth += nesting(t); depth != 0 {
			continue
		}
		cut := false
		switch word := strings.ToLower(t.text); {
		case t.isOp(','):
			spaced := i+1 < len(tokens) && tokens[i+1].space
			commas = commas || !spaced
			cut = !isGroupAt(tokens, i)
		case t.isOp(';', '\n'):
			cut = true
		case t.kind == wordToken && (word == "or" || word == "and"):
			cut = true
			or = or || word == "or"
		}
		if !cut {
			continue
		}
		// ", and" is one separator, and so is the end of a line after a comma.
		if part := tokens[start:i]; len(part) > 0 || len(parts) == 0 || t.kind == opToken && t.op != '\n' {
			parts = append(parts, part)
		}
		start = i + 1
	}
	return append(parts, tokens[start:]), or, commas
}

// together makes one value of several.
func together(items []*Value, or bool) (*Value, error) {
	equations, named, points := 0, 0, 0
	for _, v := range items {
		switch {
		case v.kind == Equation:
			equations++
		case v.kind != Expression && v.kind != Point && v.kind != Set:
			return nil, errSeveral
		case v.name != "":
			named++
		}
		if v.kind == Point || v.kind == Set {
			points++
		}
	}
	switch {
	case equations > 0:
		if or || points > 0 {
			return nil, errSeveral
		}
		v := &Value{kind: Equation}
		for _, item := range items {
			v.holds = append(v.holds, item.relations()...)
			if item.kind != Equation && item.name == "" {
				return nil, errSeveral
			}
		}
		return v, nil
	case named == 0:
		if or {
			return &Value{kind: Set, items: items}, nil
		}
		return &Value{kind: List, items: items, bare: true}, nil
	case items[0].name == "":
		return nil, errSeveral
	}
	// x = 1 or x = 2, x = 1 or 2, x_1 = 1 and x_2 = 2
	base := baseName(items[0].name)
	if !slices.ContainsFunc(items, func(v *Value) bool { return v.name != "" && baseName(v.name) != base }) {
		return setOf(items, base)
	}
	if named < len(items) || or {
		return nil, errSeveral
	}
	names := map[string]bool{}
	for _, v := range items {
		if names[v.name] || v.kind != Expression {
			return nil, errSeveral
		}
		names[v.name] = true
	}
	return &Value{kind: Assignment, items: items}, nil
}

// setOf is the set of all that one variable can be.
func setOf(items []*Value, name string) (*Value, error) {
	set := &Value{kind: Set, name: name}
	for _, item := range items {
		plain := *item
		plain.name = ""
		switch item.kind {
		case Set:
			set.items = append(set.items, item.items...)
		case Expression:
			set.items = append(set.items, &plain)
		default:
			return nil, errSeveral
		}
	}
	return set, nil
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
func (p *answer) one(tokens []token) (*Value, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errDepth
	}
	defer func() { p.depth-- }()
	tokens = cutConnectives(tokens)
	var at []int // relations outside of brackets
	depth := 0
	for i, t := range tokens {
		if depth += nesting(t); depth == 0 && t.isOp(relations...) {
			at = append(at, i)
		}
	}
	if len(at) > 0 {
		return p.related(tokens, at)
	}
	if v, err := p.enclosed(tokens); v != nil || err != nil {
		return v, err
	}
	if isSize(tokens) {
		return nil, errSize
	}
	return p.expression(tokens)
}

var errSize = errors.New("it may be a size, a range or a date")

// isSize reports whether there are only numbers with crosses between them (3×4),
// or only with dashes and without spaces (3-5, 2024-1-15). That is hardly meant
// to be worked out.
func isSize(tokens []token) bool {
	if len(tokens) < 3 || len(tokens)%2 == 0 {
		return false
	}
	for i, t := range tokens {
		switch {
		case i%2 == 0 && (t.kind != numberToken || t.decimals > 0):
			return false
		case i%2 == 1 && (t.kind != opToken || !t.cross && (t.op != '-' || t.space || tokens[i+1].space)):
			return false
		}
	}
	return true
}

// expression reads an expression; one with ± is a set of two.
func (p *answer) expression(tokens []token) (*Value, error) {
	if isLetters(tokens) {
		return nil, errWords
	}
	e, open, err := parseExpr(tokens, p.reading)
	if err != nil {
		return nil, err
	}
	p.open.wide = p.open.wide || open.wide
	p.open.natural = p.open.natural || open.natural
	v := &Value{kind: Expression, expr: e}
	if last := tokens[len(tokens)-1]; last.kind == numberToken && len(tokens) <= 2 {
		v.decimals = last.decimals
	}
	if !open.minus {
		return v, nil
	}
	lower := p.reading
	lower.minus = true
	f, _, err := parseExpr(tokens, lower)
	if err != nil {
		return nil, err
	}
	return &Value{kind: Set, items: []*Value{v, {kind: Expression, expr: f}}}, nil
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
func (p *answer) enclosed(tokens []token) (*Value, error) {
	if len(tokens) == 1 && tokens[0].op == '∅' {
		return &Value{kind: Set}, nil
	}
	if len(tokens) < 2 || nesting(tokens[0]) != 1 || nesting(tokens[len(tokens)-1]) != -1 || !isOnePair(tokens) {
		return nil, nil
	}
	open, end := tokens[0].op, tokens[len(tokens)-1].op
	inner := tokens[1 : len(tokens)-1]
	set := open == '{' || open == opSetOpen
	parts, commas := splitItems(inner)
	if len(parts) == 1 && !set && open != '[' {
		return nil, nil // brackets around an expression
	}
	v := &Value{kind: Point, commas: commas}
	switch {
	case set && (end == '}' || end == opSetClose):
		v.kind = Set
	case open == '[' && end == ']':
		v.kind = List
	case open == '(' && end == ')':
	case set || end == '}' || end == opSetClose:
		return nil, errors.New("brackets that do not match")
	default:
		v.kind, v.ends = Interval, string(open)+string(end)
		if len(parts) != 2 {
			return nil, errors.New("brackets that do not match")
		}
	}
	if len(inner) == 0 {
		if v.kind == Point {
			return nil, errEmpty
		}
		return v, nil
	}
	for _, part := range parts {
		item, err := p.one(part)
		if err != nil {
			return nil, err
		}
		if item.kind == Equation || item.name != "" {
			return nil, errSeveral
		}
		v.items = append(v.items, item)
	}
	return v, nil
}

// isOnePair reports whether the first bracket is closed by the last.
func isOnePair(tokens []token) bool {
	depth := 0
	for i, t := range tokens {
		change := nesting(t)
		if depth += change; change < 0 && depth == 0 && i < len(tokens)-1 {
			return false
		}
	}
	return depth == 0
}

// splitItems cuts what is in brackets at its commas. There (1,234) is a point; if
// other commas have spaces, those without are between thousands.
func splitItems(tokens []token) (parts [][]token, commas bool) {
	depth, start := 0, 0
	var at []int
	spaced := false
	for i, t := range tokens {
		if depth += nesting(t); depth == 0 && t.isOp(',', ';', '\n') {
			at = append(at, i)
			spaced = spaced || i+1 < len(tokens) && tokens[i+1].space
			commas = commas || isGroupAt(tokens, i)
		}
	}
	for _, i := range at {
		if spaced && tokens[i].op == ',' && isGroupAt(tokens, i) {
			continue
		}
		if tokens[i].op == '\n' && (i == start || i == len(tokens)-1) {
			start = i + 1
			continue
		}
		parts = append(parts, tokens[start:i])
		start = i + 1
	}
	return append(parts, tokens[min(start, len(tokens)):]), commas
}
