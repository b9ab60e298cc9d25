package problem

import (
	"errors"
	"math/big"
	"strings"
)

const (
	maxExpression = 10_000 // bytes; keeps a single prompt from taking seconds
	maxDepth      = 200    // of parentheses and signs
)

// An expr is an arithmetic expression as a tree.
type expr struct {
	op          byte     // one of + - * / and the constants below
	left, right *expr    // of a negation, left alone
	value       *big.Rat // of a literal
	decimal     bool     // the literal has a decimal point
}

const (
	literal  = '1'
	unknown  = 'x'
	negation = '~'
)

var errSyntax = errors.New("not an expression")

// parseExpression reads a text that is an expression and nothing else. With
// algebra there may be an unknown, one letter, and products without a sign.
func parseExpression(text string, algebra bool) (*expr, bool) {
	if strings.TrimSpace(text) == "" || len(text) > maxExpression {
		return nil, false
	}
	p := expressionParser{rest: text, algebra: algebra}
	e, err := p.sum(0)
	if err != nil || p.peek() != 0 {
		return nil, false
	}
	return e, true
}

// An expressionParser reads by recursive descent.
type expressionParser struct {
	rest    string
	algebra bool
	name    byte // of the unknown, once there is one
	width   int  // bytes of what peek saw
}

// peek returns the next operator, digit, letter or parenthesis; 0 at the end.
func (p *expressionParser) peek() byte {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest == "" {
		return 0
	}
	p.width = 1
	if p.rest[0] < 0x80 {
		return p.rest[0]
	}
	for _, sign := range [...]struct {
		text string
		op   byte
	}{{"×", '*'}, {"·", '*'}, {"÷", '/'}, {"−", '-'}} {
		if strings.HasPrefix(p.rest, sign.text) {
			p.width = len(sign.text)
			return sign.op
		}
	}
	return p.rest[0]
}

func (p *expressionParser) skip() { p.rest = p.rest[p.width:] }

func (p *expressionParser) sum(depth int) (*expr, error) {
	e, err := p.product(depth)
	for err == nil {
		op := p.peek()
		if op != '+' && op != '-' {
			return e, nil
		}
		p.skip()
		var right *expr
		right, err = p.product(depth)
		e = &expr{op: op, left: e, right: right}
	}
	return nil, err
}

func (p *expressionParser) product(depth int) (*expr, error) {
	e, err := p.factor(depth)
	for err == nil {
		op := p.peek()
		switch {
		case op == '*' || op == '/':
			p.skip()
		case p.algebra && (op == '(' || isLetter(op)): // 3x, 2(x + 1)
			op = '*'
		default:
			return e, nil
		}
		var right *expr
		right, err = p.factor(depth)
		e = &expr{op: op, left: e, right: right}
	}
	return nil, err
}

func (p *expressionParser) factor(depth int) (*expr, error) {
	if depth > maxDepth {
		return nil, errSyntax
	}
	switch c := p.peek(); {
	case c == '-' || c == '+':
		p.skip()
		e, err := p.factor(depth + 1)
		if err == nil && c == '-' {
			e = &expr{op: negation, left: e}
		}
		return e, err
	case c == '(':
		p.skip()
		e, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.peek() != ')' {
			return nil, errSyntax
		}
		p.skip()
		return e, nil
	case isDigit(c):
		return p.number()
	case p.algebra && isLetter(c) && (p.name == 0 || p.name == c):
		p.skip()
		p.name = c
		return &expr{op: unknown}, nil
	}
	return nil, errSyntax
}

func (p *expressionParser) number() (*expr, error) {
	n := digits(p.rest)
	e := &expr{op: literal}
	if rest := p.rest[n:]; len(rest) > 1 && rest[0] == '.' && isDigit(rest[1]) {
		n += 1 + digits(rest[1:])
		e.decimal = true
	}
	var ok bool
	if e.value, ok = new(big.Rat).SetString(p.rest[:n]); !ok {
		return nil, errSyntax
	}
	p.rest = p.rest[n:]
	return e, nil
}

// digits is how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// A form is what an expression is worth: constant + slope * unknown.
type form struct{ constant, slope *big.Rat }

var (
	errZero      = errors.New("it divides by zero")
	errNonlinear = errors.New("it is not linear")
)

// eval returns the value of an expression, exactly.
func (e *expr) eval() (form, error) {
	switch e.op {
	case literal:
		return form{new(big.Rat).Set(e.value), new(big.Rat)}, nil
	case unknown:
		return form{new(big.Rat), big.NewRat(1, 1)}, nil
	}
	a, err := e.left.eval()
	if err != nil {
		return a, err
	}
	if e.op == negation {
		a.constant.Neg(a.constant)
		a.slope.Neg(a.slope)
		return a, nil
	}
	b, err := e.right.eval()
	if err != nil {
		return b, err
	}
	switch e.op {
	case '+':
		a.constant.Add(a.constant, b.constant)
		a.slope.Add(a.slope, b.slope)
	case '-':
		a.constant.Sub(a.constant, b.constant)
		a.slope.Sub(a.slope, b.slope)
	case '*':
		if b.slope.Sign() != 0 {
			a, b = b, a
		}
		if b.slope.Sign() != 0 {
			return a, errNonlinear
		}
		a.constant.Mul(a.constant, b.constant)
		a.slope.Mul(a.slope, b.constant)
	case '/':
		if b.slope.Sign() != 0 {
			return a, errNonlinear
		}
		if b.constant.Sign() == 0 {
			return a, errZero
		}
		a.constant.Quo(a.constant, b.constant)
		a.slope.Quo(a.slope, b.constant)
	}
	return a, nil
}

// hasDecimals reports whether a number in it has a decimal point. Then the result
// is written with one too.
func (e *expr) hasDecimals() bool {
	return e != nil && (e.decimal || e.left.hasDecimals() || e.right.hasDecimals())
}

// numberText writes a value as a fraction, or with a decimal point if that is
// wanted and possible.
func numberText(v *big.Rat, decimal bool) string {
	if places, exact := v.FloatPrec(); decimal && exact {
		return v.FloatString(places)
	}
	return v.RatString()
}

// String writes the expression with as few parentheses as it needs.
func (e *expr) String() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

func (e *expr) write(b *strings.Builder) {
	switch e.op {
	case literal:
		b.WriteString(numberText(e.value, e.decimal))
		return
	case unknown:
		b.WriteByte(unknown)
		return
	case negation:
		b.WriteByte('-')
		e.left.writeWithin(b, rank('*')+1)
		return
	}
	e.left.writeWithin(b, rank(e.op))
	b.WriteString(" " + string(e.op) + " ")
	e.right.writeWithin(b, rank(e.op)+1)
}

// writeWithin writes an operand, which needs parentheses if it binds less.
func (e *expr) writeWithin(b *strings.Builder, least int) {
	if rank(e.op) >= least {
		e.write(b)
		return
	}
	b.WriteByte('(')
	e.write(b)
	b.WriteByte(')')
}

// rank says how closely an operator binds.
func rank(op byte) int {
	switch op {
	case '+', '-':
		return 1
	case '*', '/':
		return 2
	case negation:
		return 3
	}
	return 4
}
