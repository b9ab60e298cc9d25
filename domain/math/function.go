package math

import (
	"errors"
	"fmt"
)

// bracketed reads what begins with a sign: brackets, bars, roots, fractions.
func (p *parser) bracketed(op rune) (*Expr, error) {
	switch op {
	case '(', '[', '{':
		return p.group()
	case '|':
		done, err := p.deeper()
		if err != nil {
			return nil, err
		}
		defer done()
		p.at++
		p.bars++
		e, err := p.sum()
		p.bars--
		if err != nil {
			return nil, err
		}
		if !p.take('|') {
			return nil, p.unexpected()
		}
		return call(fnAbs, e), nil
	case '√', '∛':
		return p.root(op)
	case opFrac:
		p.at++
		n, err := p.argument()
		if err != nil {
			return nil, err
		}
		d, err := p.argument()
		if err != nil {
			return nil, err
		}
		return binary(Div, n, d), nil
	case '∞':
		p.at++
		return symbol(symInfinity), nil
	}
	return nil, p.unexpected()
}

// group reads an expression in brackets.
func (p *parser) group() (*Expr, error) {
	open := p.peek().op
	p.at++
	bars := p.bars
	p.bars = 0
	e, err := p.sum()
	p.bars = bars
	if err != nil {
		return nil, err
	}
	if !p.take(map[rune]rune{'(': ')', '[': ']', '{': '}'}[open]) {
		return nil, p.unexpected()
	}
	return e, nil
}

// argument reads an argument of LaTeX: braces, or a single digit or letter.
func (p *parser) argument() (*Expr, error) {
	if p.isOp('{') {
		return p.group()
	}
	t := p.peek()
	if t.kind == nameToken && !isFunction(t) {
		p.at++
		return symbol(t.text), nil
	}
	// \frac12 is one half.
	if t.kind == numberToken && t.decimals == 0 && !t.fraction && len(t.text) > 0 {
		digit := integer(int64(t.text[0] - '0'))
		if len(t.text) == 1 {
			p.at++
			return digit, nil
		}
		if len(t.text) == 2 {
			rest := int64(t.text[1] - '0')
			tokens := append([]token{}, p.tokens...)
			tokens[p.at] = token{kind: numberToken, text: t.text[1:], value: integer(rest).value}
			p.tokens = tokens
			return digit, nil
		}
	}
	return nil, p.unexpected()
}

// root reads √2, √(x+1) and \sqrt[3]{x}.
func (p *parser) root(op rune) (*Expr, error) {
	done, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	p.at++
	name := fnSqrt
	if op == '∛' {
		name = fnCbrt
	}
	if op == '√' && p.isOp('[') {
		index, err := p.group()
		if err != nil {
			return nil, err
		}
		if !p.isOp('{') {
			return nil, p.unexpected()
		}
		e, err := p.group()
		switch {
		case err != nil:
			return nil, err
		case index.Op == Num && index.Text == "2":
			return call(fnSqrt, e), nil
		case index.Op == Num && index.Text == "3":
			return call(fnCbrt, e), nil
		}
		return binary(Pow, e, binary(Div, integer(1), index)), nil
	}
	return p.rootOf(name)
}

// rootOf reads what a root is taken of. In √2x it is not clear where that ends.
func (p *parser) rootOf(name string) (*Expr, error) {
	bracket := p.isOp('(', '[', '{')
	e, err := p.primary()
	if err == nil && !bracket {
		e, err = p.wider(e)
	}
	if err != nil {
		return nil, err
	}
	return call(name, e), nil
}

// inverses are the functions that sin^-1 and the like stand for.
var inverses = map[string]string{fnSin: fnAsin, fnCos: fnAcos, fnTan: fnAtan}

// function reads a function with what it is applied to: sin(x), sin x, sin^2 x,
// log_2 8.
func (p *parser) function() (*Expr, error) {
	done, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	name := p.peek().text
	p.at++
	var base, exponent *Expr
	if name == "log" {
		if base, err = p.base(); err != nil {
			return nil, err
		}
	}
	if p.isOp('^') && p.at+1 < len(p.tokens) {
		p.at++
		if exponent, err = p.signedArgument(); err != nil {
			return nil, err
		}
	}
	var e *Expr
	switch {
	case p.isOp('(', '{', '['):
		e, err = p.group()
	case name == fnSqrt || name == fnCbrt:
		e, err = p.rootOf(name)
		if err == nil {
			e = e.Args[0]
		}
	default:
		e, err = p.bareArgument()
	}
	if err != nil {
		return nil, err
	}
	if exponent != nil && exponent.Op == Neg && exponent.Args[0].Text == "1" {
		inverse, ok := inverses[name]
		if !ok {
			return nil, errors.New("a function to the power -1 is its inverse or its reciprocal")
		}
		return p.apply(inverse, e, nil)
	}
	e, err = p.apply(name, e, base)
	if err == nil && exponent != nil {
		e = binary(Pow, e, exponent)
	}
	return e, err
}

// signedArgument reads the exponent of sin^2 and sin^{-1}.
func (p *parser) signedArgument() (*Expr, error) {
	if p.take('-') {
		e, err := p.argument()
		if err != nil {
			return nil, err
		}
		return unary(Neg, e), nil
	}
	if p.isOp('(') {
		return p.group()
	}
	return p.argument()
}

// base reads the base of log_2 and log10.
func (p *parser) base() (*Expr, error) {
	if p.isOp(opBinding) {
		p.at++
		if p.isOp('{') {
			return p.group()
		}
		t := p.peek()
		switch {
		case t.kind == numberToken:
			p.at++
			return number(t.value), nil
		case t.kind == nameToken && !isFunction(t):
			p.at++
			return symbol(t.text), nil
		}
		return nil, p.unexpected()
	}
	t := p.peek()
	if t.kind == numberToken && !t.space && p.at+1 < len(p.tokens) && p.tokens[p.at+1].op == '(' && (t.text == "2" || t.text == "10") {
		p.at++
		return number(t.value), nil
	}
	return nil, nil
}

// bareArgument reads the argument of sin 2x: numbers and variables side by side.
func (p *parser) bareArgument() (*Expr, error) {
	negative := p.take('-')
	e, err := p.power()
	for err == nil {
		t := p.peek()
		if t.kind == nameToken && !isFunction(t) {
			var right *Expr
			if right, err = p.power(); err == nil {
				e = binary(Mul, e, right)
			}
			continue
		}
		if p.isOp('/') && !t.space { // sin π/6
			p.open.wide = true
			if p.reading.wide {
				p.at++
				var right *Expr
				if right, err = p.signed(); err == nil {
					e = binary(Div, e, right)
				}
				continue
			}
		}
		break
	}
	if err == nil && negative {
		e = unary(Neg, e)
	}
	return e, err
}

// apply makes the call of a function, or what it stands for.
func (p *parser) apply(name string, e, base *Expr) (*Expr, error) {
	ln := func(e *Expr) *Expr { return call(fnLn, e) }
	exp := func(e *Expr) *Expr { return binary(Pow, symbol(symE), e) }
	switch name {
	case "exp":
		return exp(e), nil
	case "sinh":
		return binary(Div, minus(exp(e), exp(unary(Neg, e))), integer(2)), nil
	case "cosh":
		return binary(Div, binary(Add, exp(e), exp(unary(Neg, e))), integer(2)), nil
	case "tanh":
		return minus(integer(1), binary(Div, integer(2), binary(Add, exp(binary(Mul, integer(2), e)), integer(1)))), nil
	case "cot":
		return binary(Div, call(fnCos, e), call(fnSin, e)), nil
	case "sec":
		return binary(Div, integer(1), call(fnCos, e)), nil
	case "csc":
		return binary(Div, integer(1), call(fnSin, e)), nil
	case "lg":
		return binary(Div, ln(e), ln(integer(10))), nil
	case "log":
		if base != nil {
			return binary(Div, ln(e), ln(base)), nil
		}
		p.open.natural = true
		if p.reading.natural {
			return ln(e), nil
		}
		return binary(Div, ln(e), ln(integer(10))), nil
	}
	if _, ok := functions[name]; !ok {
		return nil, fmt.Errorf("%s is no function", name)
	}
	return call(name, e), nil
}
