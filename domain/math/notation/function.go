package notation

// inverses are the functions that sin^-1 and the like stand for.
var inverses = map[string]string{"sin": "asin", "cos": "acos", "tan": "atan"}

// definitions are the functions that are made from others.
var definitions = map[string]string{
	"exp": "e^x", "sinh": "(e^x - e^(-x))/2", "cosh": "(e^x + e^(-x))/2", "tanh": "1 - 2/(e^(2*x) + 1)",
	"cot": "cos(x)/sin(x)", "sec": "1/cos(x)", "csc": "1/sin(x)", "lg": "ln(x)/ln(10)",
}

// function reads a function with what it is applied to: sin(x), sin x, sin^2 x,
// log_2 8.
func (p *parser) function() *Expr {
	defer p.deeper()()
	name := p.next().text
	var base, exponent *Expr
	if name == "log" {
		base = p.base()
	}
	if p.take('^') {
		if negative := p.take('-'); p.isOp('(') {
			exponent = negated(p.group(), negative)
		} else {
			exponent = negated(p.argument(1), negative)
		}
	}
	var e *Expr
	switch {
	case p.isOp('(', '{', '['):
		e = p.group()
	case name == "sqrt" || name == "cbrt":
		e = p.radicand()
	default:
		e = p.bareArgument()
	}
	if exponent == nil {
		return p.apply(name, e, base)
	}
	if exponent.String() == "-1" {
		inverse, ok := inverses[name]
		if !ok {
			refuse() // its inverse or its reciprocal
		}
		return Apply(inverse, e)
	}
	return Make(Pow, p.apply(name, e, base), exponent)
}

// base reads the base of log_2 and log10.
func (p *parser) base() *Expr {
	if p.take(opBinding) {
		return p.argument(maxDigits)
	}
	if t := p.peek(); (t.text == "2" || t.text == "10") && !t.space && p.ahead(1).isOp('(') {
		return Number(p.next().value)
	}
	return nil
}

// bareArgument reads the argument of sin 2x: numbers and variables side by side.
func (p *parser) bareArgument() *Expr {
	negative := p.take('-')
	e := p.power()
	for {
		switch t := p.peek(); {
		case t.kind == nameToken && !isFunction(t):
			e = Make(Mul, e, p.power())
		case t.isOp('/') && !t.space && p.mayWiden(): // sin π/6
			p.at++
			e = Make(Div, e, p.signed())
		default:
			return negated(e, negative)
		}
	}
}

// apply makes the call of a function, or what it stands for.
func (p *parser) apply(name string, e, base *Expr) *Expr {
	if name == "log" {
		if base == nil {
			base = Integer(10)
			p.open.Natural = true
			if p.reading.Natural {
				return Apply("ln", e)
			}
		}
		return Make(Div, Apply("ln", e), Apply("ln", base))
	}
	definition, ok := definitions[name]
	if !ok {
		return Apply(name, e)
	}
	tokens, _ := lex(definition)
	return parseOnly(tokens).Substitute(map[string]*Expr{"x": e})
}
