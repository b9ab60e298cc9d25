// Package notation reads mathematics as models and people write it: answers
// ([Parse]), the claims in a text ([Claims]), and what a problem asks to compute
// ([Computation]). What it reads and what it refuses is described in package math.
package notation

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
	Call Op = "call" // one argument; Text is one of sqrt cbrt abs sin cos tan asin acos atan ln
)

// Symbols that are no plain variables.
const (
	Pi       = "pi"
	E        = "e"
	Infinity = "oo"
	I        = "i" // perhaps the imaginary unit, perhaps a variable
)

// An Expr is an expression without any ambiguity. It does not change.
type Expr struct {
	Op   Op      `json:"op"`
	Text string  `json:"text,omitempty"`
	Args []*Expr `json:"args,omitempty"`

	Value *big.Rat `json:"-"` // of a number
	Word  bool     `json:"-"` // the symbol is a word after a number, such as a unit
}

// Number, Integer and Symbol make expressions without arguments.
func Number(r *big.Rat) *Expr  { return &Expr{Op: Num, Text: r.RatString(), Value: r} }
func Integer(n int64) *Expr    { return Number(big.NewRat(n, 1)) }
func Symbol(name string) *Expr { return &Expr{Op: Sym, Text: name} }

// Make applies an operation, Apply a function.
func Make(op Op, args ...*Expr) *Expr  { return &Expr{Op: op, Args: args} }
func Apply(name string, a *Expr) *Expr { return &Expr{Op: Call, Text: name, Args: []*Expr{a}} }

// Minus is a - b.
func Minus(a, b *Expr) *Expr { return Make(Add, a, Make(Neg, b)) }

// String writes the expression in a form that leaves nothing open and that [Parse]
// reads back as the same value, unless there is a unit in it.
func (e *Expr) String() string { return e.within(inSum) }

// The precedence of what is around an expression.
const (
	inSum = iota
	inProduct
	inSign
	inPower
	inPostfix
)

// within writes the expression, in brackets if what is around it binds stronger.
func (e *Expr) within(around int) string {
	text, own := e.Text, inPostfix
	arg := func(i, around int) string { return e.Args[i].within(around) }
	switch e.Op {
	case Num:
		if strings.ContainsAny(e.Text, "-/") {
			own = inSum // a fraction is always in brackets, unless it is all there is
		}
	case Neg:
		text, own = "-"+arg(0, inPower), inSign
	case Add:
		sign, right := " + ", e.Args[1]
		if right.Op == Neg {
			sign, right = " - ", right.Args[0]
		}
		text, own = arg(0, inSum)+sign+right.within(inProduct), inSum
	case Mul:
		text, own = arg(0, inProduct)+"*"+arg(1, inSign), inProduct
	case Div:
		text, own = arg(0, inProduct)+"/"+arg(1, inSign), inProduct
	case Pow:
		text, own = arg(0, inPostfix)+"^"+arg(1, inPower), inPower
	case Fact:
		text = arg(0, inPostfix) + "!"
	case Call:
		text += "(" + arg(0, inSum) + ")"
	}
	if own < around {
		return "(" + text + ")"
	}
	return text
}

// Walk calls f for every part of the expression.
func (e *Expr) Walk(f func(*Expr)) {
	f(e)
	for _, arg := range e.Args {
		arg.Walk(f)
	}
}

// isConstant reports whether a symbol has a fixed value.
func isConstant(name string) bool { return name == Pi || name == E }

// Variables returns the names of the unknowns, sorted, without the constants.
func Variables(es ...*Expr) []string {
	seen := map[string]bool{}
	for _, e := range es {
		e.Walk(func(part *Expr) {
			if part.Op == Sym && !isConstant(part.Text) {
				seen[part.Text] = true
			}
		})
	}
	return slices.Sorted(maps.Keys(seen))
}

// Substitute returns the expression with symbols replaced.
func (e *Expr) Substitute(values map[string]*Expr) *Expr {
	if v, ok := values[e.Text]; ok && e.Op == Sym {
		return v
	}
	if len(e.Args) == 0 {
		return e
	}
	out := &Expr{Op: e.Op, Text: e.Text}
	for _, arg := range e.Args {
		out.Args = append(out.Args, arg.Substitute(values))
	}
	return out
}

// Literal is the value of an expression that is just a number, such as -5 or 1/3;
// nil if it is anything else.
func (e *Expr) Literal() *big.Rat {
	switch {
	case e.Op == Num:
		return e.Value
	case e.Op == Neg:
		if x := e.Args[0].Literal(); x != nil {
			return new(big.Rat).Neg(x)
		}
	case e.Op == Div && e.Args[0].Op == Num && e.Args[1].Op == Num && e.Args[1].Value.Sign() != 0:
		return new(big.Rat).Quo(e.Args[0].Value, e.Args[1].Value)
	}
	return nil
}
