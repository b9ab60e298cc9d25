package math

import (
	"maps"
	"math/big"
	"slices"
	"strings"
)

// Op is the operation at the root of an expression.
type Op string

// The operations. A difference is a sum with a [Neg] in it.
const (
	Num  Op = "num" // Text is an integer or a fraction such as -1/3
	Sym  Op = "sym" // Text is the name; pi and e are the constants
	Neg  Op = "neg" // one argument
	Add  Op = "add" // two arguments, as the following
	Mul  Op = "mul"
	Div  Op = "div"
	Pow  Op = "pow"
	Fact Op = "fact" // one argument
	Call Op = "call" // one argument; Text is the function
)

// The functions of [Call].
const (
	fnSqrt = "sqrt"
	fnCbrt = "cbrt"
	fnAbs  = "abs"
	fnSin  = "sin"
	fnCos  = "cos"
	fnTan  = "tan"
	fnAsin = "asin"
	fnAcos = "acos"
	fnAtan = "atan"
	fnLn   = "ln"
)

// An Expr is an expression without any ambiguity. It does not change.
type Expr struct {
	Op   Op      `json:"op"`
	Text string  `json:"text,omitempty"`
	Args []*Expr `json:"args,omitempty"`

	value *big.Rat // of a number
	word  bool     // the symbol is a word after a number, such as a unit
}

func number(r *big.Rat) *Expr         { return &Expr{Op: Num, Text: r.RatString(), value: r} }
func integer(n int64) *Expr           { return number(big.NewRat(n, 1)) }
func symbol(name string) *Expr        { return &Expr{Op: Sym, Text: name} }
func unary(op Op, a *Expr) *Expr      { return &Expr{Op: op, Args: []*Expr{a}} }
func binary(op Op, a, b *Expr) *Expr  { return &Expr{Op: op, Args: []*Expr{a, b}} }
func call(name string, a *Expr) *Expr { return &Expr{Op: Call, Text: name, Args: []*Expr{a}} }
func minus(a, b *Expr) *Expr          { return binary(Add, a, unary(Neg, b)) }

// The constants among the symbols.
const (
	symPi       = "pi"
	symE        = "e"
	symInfinity = "oo"
	symI        = "i" // perhaps the imaginary unit, perhaps a variable
)

// String writes the expression in a form that leaves nothing open and that [Parse]
// reads back as the same value, unless there is a unit in it.
func (e *Expr) String() string {
	var b strings.Builder
	e.write(&b, 0)
	return b.String()
}

// The precedence of what is around an expression.
const (
	inSum = iota
	inProduct
	inSign
	inPower
	inPostfix
)

func (e *Expr) write(b *strings.Builder, around int) {
	if own := e.precedence(); own < around {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch e.Op {
	case Num, Sym:
		b.WriteString(e.Text)
	case Neg:
		b.WriteByte('-')
		e.Args[0].write(b, inPower)
	case Add:
		e.Args[0].write(b, inSum)
		if right := e.Args[1]; right.Op == Neg {
			b.WriteString(" - ")
			right.Args[0].write(b, inProduct)
		} else {
			b.WriteString(" + ")
			right.write(b, inProduct)
		}
	case Mul, Div:
		e.Args[0].write(b, inProduct)
		if e.Op == Mul {
			b.WriteByte('*')
		} else {
			b.WriteByte('/')
		}
		e.Args[1].write(b, inSign)
	case Pow:
		e.Args[0].write(b, inPostfix)
		b.WriteByte('^')
		e.Args[1].write(b, inPower)
	case Fact:
		e.Args[0].write(b, inPostfix)
		b.WriteByte('!')
	case Call:
		b.WriteString(e.Text)
		b.WriteByte('(')
		e.Args[0].write(b, inSum)
		b.WriteByte(')')
	}
}

func (e *Expr) precedence() int {
	switch e.Op {
	case Num:
		if strings.ContainsAny(e.Text, "-/") {
			return inSum // a fraction is always in brackets, unless it is all there is
		}
		return inPostfix
	case Add:
		return inSum
	case Mul, Div:
		return inProduct
	case Neg:
		return inSign
	case Pow:
		return inPower
	default:
		return inPostfix
	}
}

// same reports whether two expressions are written alike.
func (e *Expr) same(f *Expr) bool {
	if e.Op != f.Op || e.Text != f.Text || len(e.Args) != len(f.Args) {
		return false
	}
	for i := range e.Args {
		if !e.Args[i].same(f.Args[i]) {
			return false
		}
	}
	return true
}

// walk calls f for every part of the expression.
func (e *Expr) walk(f func(*Expr)) {
	f(e)
	for _, arg := range e.Args {
		arg.walk(f)
	}
}

// isConstant reports whether a symbol has a fixed value.
func isConstant(name string) bool { return name == symPi || name == symE }

// variables returns the names of the unknowns, sorted, without the constants.
func variables(es ...*Expr) []string {
	seen := map[string]bool{}
	for _, e := range es {
		e.walk(func(part *Expr) {
			if part.Op == Sym && !isConstant(part.Text) {
				seen[part.Text] = true
			}
		})
	}
	return slices.Sorted(maps.Keys(seen))
}

// substitute returns the expression with symbols replaced.
func (e *Expr) substitute(values map[string]*Expr) *Expr {
	if e.Op == Sym {
		if v, ok := values[e.Text]; ok {
			return v
		}
		return e
	}
	if len(e.Args) == 0 {
		return e
	}
	args := make([]*Expr, len(e.Args))
	for i, arg := range e.Args {
		args[i] = arg.substitute(values)
	}
	return &Expr{Op: e.Op, Text: e.Text, Args: args}
}

// literal is the value of an expression that is just a number, such as -5 or 1/3;
// nil if it is anything else.
func literal(e *Expr) *big.Rat {
	switch {
	case e.Op == Num:
		return e.value
	case e.Op == Neg:
		if x := literal(e.Args[0]); x != nil {
			return new(big.Rat).Neg(x)
		}
	case e.Op == Div && e.Args[0].Op == Num && e.Args[1].Op == Num && e.Args[1].value.Sign() != 0:
		return new(big.Rat).Quo(e.Args[0].value, e.Args[1].value)
	}
	return nil
}
