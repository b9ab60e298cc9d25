package math

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// The limits of a text that is read.
const (
	MaxBytes = 16 << 10 // of a text
	maxDepth = 100      // of brackets, powers and roots inside each other
)

// A reading settles what a text leaves open. The zero value is the usual one.
type reading struct {
	wide    bool // 1/2x is 1/(2x), √2x is √(2x), sin π/6 is sin(π/6), e^2x is e^(2x)
	natural bool // log is the natural logarithm, not the one to base 10
	minus   bool // ± is the lower sign
}

// A parser reads one expression.
type parser struct {
	tokens  []token
	at      int
	depth   int
	reading reading

	// open is what the text leaves open: a field is true if it mattered.
	open reading

	// bars counts the | that are open, for the same sign opens and closes.
	bars int

	called int // where the last function ended
}

var (
	errDepth = fmt.Errorf("more than %d brackets, powers or roots inside each other", maxDepth)
	errEmpty = errors.New("there is no expression")
	errWords = errors.New("words among the mathematics")
)

// parseExpr reads all tokens as one expression.
func parseExpr(tokens []token, r reading) (e *Expr, open reading, err error) {
	p := &parser{tokens: tokens, reading: r}
	if len(tokens) == 0 {
		return nil, reading{}, errEmpty
	}
	e, err = p.sum()
	if err == nil && p.at < len(p.tokens) {
		err = p.unexpected()
	}
	if err != nil {
		return nil, reading{}, err
	}
	return e, p.open, nil
}

func (p *parser) peek() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{}
}

func (p *parser) isOp(ops ...rune) bool { return p.peek().isOp(ops...) }

func (p *parser) take(op rune) bool {
	if p.isOp(op) {
		p.at++
		return true
	}
	return false
}

func (p *parser) unexpected() error {
	switch t := p.peek(); t.kind {
	case endToken:
		return errors.New("the expression breaks off")
	case opToken:
		return fmt.Errorf("%q is not expected there", t.op)
	case wordToken:
		return fmt.Errorf("%w: %q", errWords, t.text)
	default:
		return fmt.Errorf("%q is not expected there", t.text)
	}
}

// deeper is called before something is read inside something else. The returned
// function ends that.
func (p *parser) deeper() (func(), error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errDepth
	}
	return func() { p.depth-- }, nil
}

func (p *parser) sum() (*Expr, error) {
	done, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	left, err := p.product()
	for err == nil {
		negative := false
		switch {
		case p.take('+'):
		case p.take('-'):
			negative = true
		case p.isOp('±', '∓'):
			negative = p.signOf()
		default:
			return left, nil
		}
		var right *Expr
		if right, err = p.product(); err != nil {
			break
		}
		if negative {
			right = unary(Neg, right)
		}
		left = binary(Add, left, right)
	}
	return nil, err
}

// signOf takes ± or ∓ and reports whether it is a minus in this reading.
func (p *parser) signOf() (negative bool) {
	p.open.minus = true
	negative = p.isOp('∓') != p.reading.minus
	p.at++
	return negative
}

func (p *parser) product() (*Expr, error) {
	left, err := p.signed()
	for err == nil {
		var right *Expr
		switch {
		case p.take('*'):
			if right, err = p.signed(); err == nil {
				left = binary(Mul, left, right)
			}
		case p.take('/'):
			if right, err = p.denominator(); err == nil {
				left = binary(Div, left, right)
			}
		case p.isFactor():
			if right, err = p.power(); err == nil {
				left = binary(Mul, left, right)
			}
		case p.isOf():
			p.at++
			if right, err = p.signed(); err == nil {
				left = binary(Mul, left, right)
			}
		default:
			return left, nil
		}
	}
	return nil, err
}

// denominator reads what is after a slash. In 1/2x it is not clear where that
// ends, unless there is a space.
func (p *parser) denominator() (*Expr, error) {
	e, err := p.signed()
	if err != nil {
		return nil, err
	}
	return p.wider(e)
}

// wider goes on with the factors right behind e, if they belong to it in this
// reading.
func (p *parser) wider(e *Expr) (*Expr, error) {
	var err error
	for err == nil && p.isFactor() && !p.peek().space {
		p.open.wide = true
		if !p.reading.wide {
			break
		}
		var right *Expr
		if right, err = p.power(); err == nil {
			e = binary(Mul, e, right)
		}
	}
	return e, err
}

// isOf reports whether the next word multiplies, as in 15% of 80 and 2/3 of 9.
func (p *parser) isOf() bool {
	t := p.peek()
	if t.kind != wordToken || t.text != "of" || p.at < 1 {
		return false
	}
	before := p.tokens[p.at-1]
	return before.kind == opToken && before.op == '%' || before.kind == numberToken && before.fraction ||
		p.at >= 3 && before.kind == numberToken && p.tokens[p.at-2].op == '/' && p.tokens[p.at-3].kind == numberToken
}

// isFactor reports whether the next token begins a factor without a sign before
// it.
func (p *parser) isFactor() bool {
	t := p.peek()
	switch t.kind {
	case nameToken:
		return true
	case wordToken:
		return p.isUnit()
	case numberToken:
		// 3 4 is not 12, nor is x2 twice x.
		before := p.tokens[p.at-1]
		return before.kind == opToken && (before.op == ')' || before.op == '}') && p.called != p.at && !t.space
	case opToken:
		switch t.op {
		case '(', '[', '{', '√', '∛', opFrac:
			return true
		case '|':
			return p.bars == 0
		}
	}
	return false
}

// isUnit reports whether the next word can be the unit of the number before it:
// one word, after which nothing follows but an operator.
func (p *parser) isUnit() bool {
	if p.at == 0 || p.peek().text == "of" {
		return false
	}
	switch before := p.tokens[p.at-1]; before.kind {
	case numberToken:
	case opToken:
		if before.op != ')' && before.op != '}' && before.op != '/' {
			return false
		}
	default:
		if !isConstant(before.text) {
			return false
		}
	}
	if p.at+1 == len(p.tokens) {
		return true
	}
	after := p.tokens[p.at+1]
	return after.kind == opToken && slices.Contains([]rune{'/', '^', ')'}, after.op)
}

// signed reads a power with signs before it. A sign binds weaker than a power.
func (p *parser) signed() (*Expr, error) {
	negative := false
	for {
		switch {
		case p.take('+'):
		case p.take('-'):
			negative = !negative
		case p.isOp('±', '∓'):
			if p.signOf() {
				negative = !negative
			}
		default:
			e, err := p.power()
			if err == nil && negative {
				e = unary(Neg, e)
			}
			return e, err
		}
	}
}

func (p *parser) power() (*Expr, error) {
	base, err := p.postfix()
	if err != nil || !p.take('^') {
		return base, err
	}
	done, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	if p.isOp('°') { // ^\circ
		return p.degrees(base), nil
	}
	first := p.at
	exponent, err := p.signed()
	if err != nil {
		return nil, err
	}
	bare := p.at == first+1 && p.tokens[first].kind != opToken
	switch next := p.peek(); {
	case bare && base.Op == Sym && base.Text == symE && next.kind == nameToken && !next.space && !isFunction(next):
		p.open.wide = true // e^2x, e^xy
		if p.reading.wide {
			var right *Expr
			if right, err = p.power(); err != nil {
				return nil, err
			}
			exponent = binary(Mul, exponent, right)
		}
	case bare && p.tokens[first].text == "1" && p.isOp('/') && !next.space && p.isNumberAt(p.at+1):
		p.open.wide = true // x^1/2
		if p.reading.wide {
			p.at++
			var right *Expr
			if right, err = p.postfix(); err != nil {
				return nil, err
			}
			exponent = binary(Div, exponent, right)
		}
	}
	return binary(Pow, base, exponent), nil
}

func (p *parser) isNumberAt(i int) bool {
	return i < len(p.tokens) && p.tokens[i].kind == numberToken
}

func (p *parser) degrees(e *Expr) *Expr {
	p.at++
	return binary(Mul, e, binary(Div, symbol(symPi), integer(180)))
}

// postfix reads a primary and the signs after it.
func (p *parser) postfix() (*Expr, error) {
	e, err := p.primary()
	for err == nil {
		switch {
		case p.isOp('!'):
			if e.Op == Fact {
				return nil, errors.New("a double factorial")
			}
			p.at++
			e = unary(Fact, e)
		case p.isOp('%'):
			p.at++
			if next := p.peek(); next.kind == numberToken || next.kind == nameToken || next.kind == opToken && next.op == '(' {
				return nil, errors.New("% is a percentage or a remainder")
			}
			e = binary(Div, e, integer(100))
		case p.isOp('°'):
			e = p.degrees(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

func (p *parser) primary() (*Expr, error) {
	t := p.peek()
	switch t.kind {
	case numberToken:
		return p.number()
	case nameToken:
		if isFunction(t) {
			e, err := p.function()
			p.called = p.at
			return e, err
		}
		return p.variable()
	case wordToken:
		if !p.isUnit() {
			return nil, p.unexpected()
		}
		p.at++
		return &Expr{Op: Sym, Text: t.text, word: true}, nil
	case opToken:
		return p.bracketed(t.op)
	default:
		return nil, p.unexpected()
	}
}

// number reads a number, a mixed one (2 1/2, 2½) included.
func (p *parser) number() (*Expr, error) {
	t := p.peek()
	p.at++
	value := new(big.Rat).Set(t.value)
	for !t.fraction && p.isGroup() { // 1,234
		group := p.tokens[p.at+1]
		if value.IsInt() && t.decimals == 0 {
			value.Mul(value, big.NewRat(1000, 1)).Add(value, group.value)
		}
		p.at += 2
		t.decimals = group.decimals
	}
	next := p.peek()
	switch {
	case t.decimals > 0 || t.fraction || !value.IsInt():
	case next.kind == numberToken && next.fraction:
		p.at++
		return number(value.Add(value, next.value)), nil
	case next.kind == numberToken && next.space && p.isNumberAt(p.at+2) && p.tokens[p.at+1].op == '/' &&
		properFraction(next, p.tokens[p.at+2]):
		fraction := new(big.Rat).Quo(next.value, p.tokens[p.at+2].value)
		p.at += 3
		return number(value.Add(value, fraction)), nil
	case next.kind == opToken && next.op == opFrac && p.isMixedFrac():
		fraction := new(big.Rat).Quo(p.tokens[p.at+2].value, p.tokens[p.at+5].value)
		p.at += 7
		return number(value.Add(value, fraction)), nil
	}
	return number(value), nil
}

// isGroup reports whether a comma and three digits follow. Where commas separate,
// they are taken out before.
func (p *parser) isGroup() bool {
	return p.isOp(',') && isGroupAt(p.tokens, p.at)
}

// isGroupAt reports whether the comma at i is one between thousands.
func isGroupAt(tokens []token, i int) bool {
	if i < 1 || i+1 >= len(tokens) {
		return false
	}
	before, after := tokens[i-1], tokens[i+1]
	if before.kind != numberToken || after.kind != numberToken || tokens[i].space || after.space || before.decimals > 0 || before.fraction {
		return false
	}
	first := len(before.text) <= 3 && before.text != "" && before.text[0] != '0'
	later := len(before.text) == 3 && i >= 2 && isGroupAt(tokens, i-2)
	digits := len(after.text)
	if after.decimals > 0 {
		digits -= after.decimals + 1
	}
	return (first || later) && digits == 3
}

func properFraction(n, d token) bool {
	return n.decimals == 0 && d.decimals == 0 && !n.fraction && !d.fraction && n.value.Cmp(d.value) < 0 && n.value.Sign() > 0
}

// isMixedFrac reports whether \frac{1}{2} with two plain numbers follows.
func (p *parser) isMixedFrac() bool {
	rest := p.tokens[p.at:]
	if len(rest) < 7 {
		return false
	}
	for i, op := range map[int]rune{1: '{', 3: '}', 4: '{', 6: '}'} {
		if rest[i].kind != opToken || rest[i].op != op {
			return false
		}
	}
	return rest[2].kind == numberToken && rest[5].kind == numberToken && properFraction(rest[2], rest[5])
}

// variable reads a name, perhaps with a subscript.
func (p *parser) variable() (*Expr, error) {
	name := p.peek().text
	p.at++
	if p.isOp(opBinding) {
		index, err := p.subscript()
		if err != nil {
			return nil, err
		}
		if isConstant(name) {
			return nil, p.unexpected()
		}
		name += "_" + index
	}
	return symbol(name), nil
}

// subscript reads what comes after a variable's name: _1, _n or _{12}.
func (p *parser) subscript() (string, error) {
	p.at++
	braces := p.take('{')
	t := p.peek()
	if t.kind != numberToken && t.kind != nameToken && t.kind != wordToken || t.text == "" {
		return "", p.unexpected()
	}
	p.at++
	if braces && !p.take('}') {
		return "", p.unexpected()
	}
	return t.text, nil
}
