package notation

import "math/big"

// The limits of a text that is read.
const (
	MaxBytes = 16 << 10 // of a text
	maxDepth = 100      // of brackets, powers and roots inside each other
)

// A Reading settles what a text leaves open. The zero value is the usual one.
type Reading struct {
	Wide    bool // 1/2x is 1/(2x), √2x is √(2x), sin π/6 is sin(π/6), e^2x is e^(2x)
	Natural bool // log is the natural logarithm, not the one to base 10
	minus   bool // ± is the lower sign
}

// Others are the readings besides the usual one of a text that leaves this open.
func (r Reading) Others() []Reading {
	var out []Reading
	for _, other := range []Reading{{Wide: true}, {Natural: true}, {Wide: true, Natural: true}} {
		if (r.Wide || !other.Wide) && (r.Natural || !other.Natural) {
			out = append(out, other)
		}
	}
	return out
}

// refusal is the panic with which reading ends when it meets something else than
// mathematics.
type refusal struct{}

func refuse() *Expr { panic(refusal{}) }

// attempt returns what f returns, unless it refuses.
func attempt[T any](f func() T) (result T, ok bool) {
	defer func() {
		if r := recover(); r != nil && r != (refusal{}) {
			panic(r)
		}
	}()
	return f(), true
}

// A parser reads one expression. Its methods refuse where there is none.
type parser struct {
	tokens  []token
	at      int
	depth   int
	reading Reading

	// open is what the text leaves open: a field is true if it mattered.
	open Reading

	// bars is true right within two |, for the same sign opens and closes.
	bars bool

	called int // where the last function or subscript ended
}

// parseExpr reads all tokens as one expression.
func parseExpr(tokens []token, r Reading) (e *Expr, open Reading, ok bool) {
	p := &parser{tokens: tokens, reading: r}
	e, ok = attempt(p.sum)
	return e, p.open, ok && p.at == len(p.tokens)
}

// parseOnly reads tokens that leave nothing open.
func parseOnly(tokens []token) *Expr {
	e, open, ok := parseExpr(tokens, Reading{})
	if !ok || open != (Reading{}) {
		refuse()
	}
	return e
}

// ahead returns the token n places after the next one.
func (p *parser) ahead(n int) token {
	if i := p.at + n; 0 <= i && i < len(p.tokens) {
		return p.tokens[i]
	}
	return token{}
}

func (p *parser) peek() token { return p.ahead(0) }

func (p *parser) next() token {
	p.at++
	return p.ahead(-1)
}

func (p *parser) isOp(ops ...rune) bool { return p.peek().isOp(ops...) }

func (p *parser) take(ops ...rune) bool {
	taken := p.isOp(ops...)
	if taken {
		p.at++
	}
	return taken
}

// deeper is called before something is read inside something else. The returned
// function ends that.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		refuse()
	}
	return func() { p.depth-- }
}

func negated(e *Expr, negative bool) *Expr {
	if negative {
		return Make(Neg, e)
	}
	return e
}

// sign takes a sign, and reports whether it is a minus in this reading.
func (p *parser) sign() (negative, ok bool) {
	switch t := p.peek(); {
	case t.isOp('+'):
	case t.isOp('-'):
		negative = true
	case t.isOp('±', '∓'):
		p.open.minus = true
		negative = t.op == '∓' != p.reading.minus
	default:
		return false, false
	}
	p.at++
	return negative, true
}

func (p *parser) sum() *Expr {
	defer p.deeper()()
	left := p.product()
	for {
		negative, ok := p.sign()
		if !ok {
			return left
		}
		left = Make(Add, left, negated(p.product(), negative))
	}
}

func (p *parser) product() *Expr {
	left := p.signed()
	for {
		switch {
		case p.take('*'):
			left = Make(Mul, left, p.signed())
		case p.take('/'): // in 1/2x it is not clear where the denominator ends, unless there is a space
			left = Make(Div, left, p.wider(p.signed()))
		case p.isFactor():
			left = Make(Mul, left, p.power())
		case p.isOf():
			p.at++
			left = Make(Mul, left, p.signed())
		default:
			return left
		}
	}
}

// wider goes on with the factors right behind e, if they belong to it in this
// reading.
func (p *parser) wider(e *Expr) *Expr {
	for p.isFactor() && !p.peek().space && p.mayWiden() {
		e = Make(Mul, e, p.power())
	}
	return e
}

// mayWiden notes that the reading matters here.
func (p *parser) mayWiden() bool {
	p.open.Wide = true
	return p.reading.Wide
}

// isOf reports whether the next word multiplies, as in 15% of 80 and 2/3 of 9.
func (p *parser) isOf() bool {
	before := p.ahead(-1)
	return p.peek().isWord("of") &&
		(before.isOp('%') || before.fraction || before.kind == numberToken && p.ahead(-2).isOp('/') && p.ahead(-3).kind == numberToken)
}

// isFactor reports whether the next token begins a factor without a sign before
// it.
func (p *parser) isFactor() bool {
	switch t := p.peek(); t.kind {
	case nameToken:
		return true
	case wordToken:
		return p.isUnit()
	case numberToken: // 3 4 is not 12, nor is x2 twice x
		return p.ahead(-1).isOp(')', '}') && p.called != p.at && !t.space
	default:
		return t.isOp('(', '[', '{', '√', '∛', opFrac) || t.isOp('|') && !p.bars
	}
}

// isUnit reports whether the next word can be the unit of the number before it:
// one word, after which nothing follows but an operator.
func (p *parser) isUnit() bool {
	before, after := p.ahead(-1), p.ahead(1)
	return !p.peek().isWord("of") && (after.kind == endToken || after.isOp('/', '^', ')')) &&
		(before.kind == numberToken || before.isOp(')', '}', '/') || before.kind == nameToken && isConstant(before.text))
}

// signed reads a power with signs before it. A sign binds weaker than a power.
func (p *parser) signed() *Expr {
	negative := false
	for {
		minus, ok := p.sign()
		if !ok {
			return negated(p.power(), negative)
		}
		negative = negative != minus
	}
}

func (p *parser) power() *Expr {
	base := p.postfix()
	if !p.take('^') {
		return base
	}
	defer p.deeper()()
	if p.take('°') { // ^\circ
		return degrees(base)
	}
	first := p.at
	exponent := p.signed()
	bare := p.at == first+1 && p.tokens[first].kind != opToken
	switch next := p.peek(); {
	case bare && base.Text == E && next.kind == nameToken && !next.space && !isFunction(next): // e^2x, e^xy
		if p.mayWiden() {
			exponent = Make(Mul, exponent, p.power())
		}
	case bare && p.tokens[first].text == "1" && next.isOp('/') && !next.space && p.ahead(1).kind == numberToken: // x^1/2
		if p.mayWiden() {
			p.at++
			exponent = Make(Div, exponent, p.power())
		}
	}
	return Make(Pow, base, exponent)
}

func degrees(e *Expr) *Expr { return Make(Mul, e, Make(Div, Symbol(Pi), Integer(180))) }

// postfix reads a primary and the signs after it.
func (p *parser) postfix() *Expr {
	e := p.primary()
	for {
		switch {
		case p.take('!'):
			if e.Op == Fact {
				refuse()
			}
			e = Make(Fact, e)
		case p.take('%'):
			if next := p.peek(); next.kind == numberToken || next.kind == nameToken || next.isOp('(') {
				refuse() // a percentage or a remainder
			}
			e = Make(Div, e, Integer(100))
		case p.take('°'):
			e = degrees(e)
		default:
			return e
		}
	}
}

func (p *parser) primary() *Expr {
	switch t := p.peek(); {
	case t.kind == numberToken:
		return p.number()
	case isFunction(t):
		e := p.function()
		p.called = p.at
		return e
	case t.kind == nameToken:
		return p.variable()
	case t.kind == wordToken && p.isUnit():
		return &Expr{Op: Sym, Text: p.next().text, Word: true}
	}
	return p.bracketed()
}

// bracketed reads what begins with a sign: brackets, bars, roots, fractions.
func (p *parser) bracketed() *Expr {
	switch {
	case p.isOp('(', '[', '{'):
		return p.group()
	case p.isOp('|'):
		return Apply("abs", p.group())
	case p.take('√'):
		return p.root()
	case p.take('∛'):
		return Apply("cbrt", p.radicand())
	case p.take(opFrac):
		n := p.argument(1)
		return Make(Div, n, p.argument(1))
	case p.take('∞'):
		return Symbol(Infinity)
	}
	return refuse()
}

// group reads an expression in brackets or bars.
func (p *parser) group() *Expr {
	open, outer := p.next().op, p.bars
	p.bars = open == '|'
	e := p.sum()
	p.bars = outer
	if !p.take(map[rune]rune{'(': ')', '[': ']', '{': '}', '|': '|'}[open]) {
		refuse()
	}
	return e
}

// argument reads an argument of LaTeX: braces, a name, or a number of so many
// digits at most.
func (p *parser) argument(digits int) *Expr {
	switch t := p.peek(); {
	case t.isOp('{'):
		return p.group()
	case t.kind == nameToken && !isFunction(t):
		return Symbol(p.next().text)
	case t.kind == numberToken && t.text != "" && len(t.text) <= digits:
		return Number(p.next().value)
	}
	return refuse()
}

// root reads √2, √(x+1) and \sqrt[3]{x}.
func (p *parser) root() *Expr {
	if !p.isOp('[') {
		return Apply("sqrt", p.radicand())
	}
	index := p.group()
	if !p.isOp('{') {
		refuse()
	}
	switch e := p.group(); index.Text {
	case "2":
		return Apply("sqrt", e)
	case "3":
		return Apply("cbrt", e)
	default:
		return Make(Pow, e, Make(Div, Integer(1), index))
	}
}

// radicand reads what a root is taken of. In √2x it is not clear where that ends.
func (p *parser) radicand() *Expr {
	defer p.deeper()()
	if p.isOp('(', '[', '{') {
		return p.primary()
	}
	return p.wider(p.primary())
}

// number reads a number, a mixed one (2 1/2, 2½, 2\frac{1}{2}) included.
func (p *parser) number() *Expr {
	t := p.next()
	value := new(big.Rat).Set(t.value)
	for isGroupAt(p.tokens, p.at) { // 1,234
		group := p.tokens[p.at+1]
		value.Mul(value, big.NewRat(1000, 1)).Add(value, group.value)
		p.at += 2
		t.decimals = group.decimals
	}
	if t.decimals > 0 || t.fraction || !value.IsInt() {
		return Number(value)
	}
	before, e := *p, Number(value)
	switch next := p.peek(); {
	case next.fraction:
		return Number(value.Add(value, p.next().value))
	case next.kind == numberToken && next.space && p.ahead(1).isOp('/') && p.ahead(2).kind == numberToken:
		e = Make(Div, Number(next.value), Number(p.ahead(2).value))
		p.at += 3
	case next.isOp(opFrac):
		e = p.bracketed()
	}
	if r := e.Literal(); r != nil && e.Op == Div && e.Args[0].Value.IsInt() && e.Args[1].Value.IsInt() && r.Sign() > 0 && r.Cmp(big.NewRat(1, 1)) < 0 {
		return Number(value.Add(value, r))
	}
	*p = before
	return Number(value)
}

// isGroupAt reports whether there is a comma between thousands at i. Where commas
// separate, they are taken out before.
func isGroupAt(tokens []token, i int) bool {
	if i < 1 || i+1 >= len(tokens) || !tokens[i].isOp(',') || tokens[i].space || tokens[i+1].space {
		return false
	}
	before, after := tokens[i-1], tokens[i+1]
	first := len(before.text) <= 3 && before.text != "" && before.text[0] != '0'
	later := len(before.text) == 3 && i >= 2 && isGroupAt(tokens, i-2)
	digits := len(after.text)
	if after.decimals > 0 {
		digits -= after.decimals + 1
	}
	return (first || later) && digits == 3 && before.kind == numberToken && before.decimals == 0 && after.kind == numberToken
}

// variable reads a name, perhaps with a subscript: _1, _n or _{12}.
func (p *parser) variable() *Expr {
	name := p.next().text
	if !p.take(opBinding) {
		return Symbol(name)
	}
	braces := p.take('{')
	t := p.next()
	if t.kind == opToken || t.text == "" || isConstant(name) || braces && !p.take('}') {
		refuse()
	}
	p.called = p.at
	return Symbol(name + "_" + t.text)
}
