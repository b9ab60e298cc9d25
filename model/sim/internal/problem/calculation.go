package problem

import (
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain/math/notation"
	"github.com/maker-mdap/maker/domain/math/number"
)

// A Calculation is the problem to work out an expression, or to find the unknown
// for which two are equal.
type Calculation struct {
	expr   *notation.Expr
	equals *notation.Expr // nil if there is no unknown
}

// unknown is what an unknown is called, whatever its name was.
var unknown = notation.Symbol("x")

const maxExpression = 10_000 // bytes; keeps a single prompt from taking seconds

func readCalculation(text string) Problem {
	if len(text) > maxExpression {
		return nil
	}
	if e, ok := notation.Computation(strings.TrimRight(text, "?.!= \t\n")); ok && isArithmetic(e, false) {
		return Calculation{expr: exactly(e)}
	}
	if found := notation.Conditions(text); len(found) == 1 && found[0].Op == '=' && notation.AsksForAll(text) {
		return readEquation(found[0].Left, found[0].Right)
	}
	return nil
}

// readEquation returns the problem to solve a linear equation; nil if it is none.
func readEquation(left, right *notation.Expr) Problem {
	names := notation.Variables(left, right)
	if len(names) != 1 || !isArithmetic(left, true) || !isArithmetic(right, true) {
		return nil
	}
	named := map[string]*notation.Expr{names[0]: unknown}
	c := Calculation{exactly(left).Substitute(named), exactly(right).Substitute(named)}
	if c.value() == nil {
		return nil
	}
	return c
}

// isArithmetic reports whether there are only numbers and the four operations in an
// expression, and unknowns if they may be there.
func isArithmetic(e *notation.Expr, unknowns bool) bool {
	known := true
	e.Walk(func(part *notation.Expr) {
		arithmetic := slices.Contains([]notation.Op{notation.Num, notation.Neg, notation.Add, notation.Mul, notation.Div}, part.Op)
		known = known && !part.Word && (arithmetic || unknowns && part.Op == notation.Sym)
	})
	return known
}

// exactly writes the numbers of an expression with a decimal point, if that is
// possible, and otherwise as fractions.
func exactly(e *notation.Expr) *notation.Expr {
	if e.Op != notation.Num {
		out := *e
		out.Args = nil
		for _, arg := range e.Args {
			out.Args = append(out.Args, exactly(arg))
		}
		return &out
	}
	if _, finite := e.Value.FloatPrec(); !finite {
		return notation.Make(notation.Div, wholeNumber(e.Value.Num()), wholeNumber(e.Value.Denom()))
	}
	return &notation.Expr{Op: notation.Num, Text: numberText(e.Value, true), Value: e.Value}
}

func wholeNumber(v *big.Int) *notation.Expr { return notation.Number(new(big.Rat).SetInt(v)) }

// numberText writes a value as a fraction, or with a decimal point if that is
// wanted and possible.
func numberText(v *big.Rat, decimal bool) string {
	if places, exact := v.FloatPrec(); decimal && exact {
		return v.FloatString(places)
	}
	return v.RatString()
}

// String implements [Problem].
func (c Calculation) String() string {
	text := "Compute: " + c.expr.String()
	if c.equals != nil {
		text = "Solve " + c.expr.String() + " = " + c.equals.String() + " for x."
	}
	return spaced.Replace(text)
}

var spaced = strings.NewReplacer("*", " * ", "/", " / ")

// value returns the exact result, nil if there is none.
func (c Calculation) value() *big.Rat {
	if c.equals == nil {
		return number.New().Exact(c.expr, nil)
	}
	difference := notation.Minus(c.expr, c.equals)
	at := func(x int64) *big.Rat {
		return number.New().Exact(difference, map[string]*notation.Expr{unknown.Text: notation.Integer(x)})
	}
	const far = 1_000_003
	zero, one, line := at(0), at(1), at(far)
	if zero == nil || one == nil || line == nil {
		return nil
	}
	slope := one.Sub(one, zero)
	onLine := new(big.Rat).Mul(slope, big.NewRat(far, 1))
	if slope.Sign() == 0 || onLine.Add(onLine, zero).Cmp(line) != 0 {
		return nil
	}
	return zero.Neg(zero).Quo(zero, slope)
}

// Solution implements [Problem].
func (c Calculation) Solution(mistakes []Slip) (string, bool) {
	right := c.value()
	if right == nil {
		return "", false
	}
	v := erring(right, mistakes, off, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	return numberText(v, strings.Contains(c.expr.String(), ".")), true
}

// off returns a wrong number: off by a carry (1 in some place) or by a slip of a
// digit (2 to 9 in some place), upwards or downwards.
func off(v *big.Rat, s Slip) *big.Rat {
	places := len(new(big.Int).Abs(v.Num()).String())
	which := s.Among(places * 18)
	place, size := int64(which%places), int64(which/places)
	by := new(big.Int).Exp(big.NewInt(10), big.NewInt(place), nil)
	by.Mul(by, big.NewInt(size/2+1))
	if size%2 == 1 {
		by.Neg(by)
	}
	return new(big.Rat).Add(v, new(big.Rat).SetInt(by))
}

// Operations counts products of a number and one with a single digit other than 0,
// and sums of two numbers. A small equation is one operation.
func (c Calculation) Operations() int {
	if c.equals != nil {
		return 1
	}
	return max(operations(c.expr), 1)
}

func operations(e *notation.Expr) int {
	switch {
	case e.Literal() != nil:
		return 0
	case e.Op == notation.Neg:
		return operations(e.Args[0])
	case e.Op == notation.Mul && e.Args[0].Literal() != nil && e.Args[1].Literal() != nil:
		return max(2*min(nonzero(e.Args[0]), nonzero(e.Args[1]))-1, 1)
	}
	return operations(e.Args[0]) + operations(e.Args[1]) + 1
}

// nonzero counts the digits other than 0 of a number.
func nonzero(e *notation.Expr) int { return len(digit.FindAllString(e.String(), -1)) }

var digit = regexp.MustCompile(`[1-9]`)

func isWhole(e *notation.Expr) bool { return e.Op == notation.Num && e.Value.IsInt() }

// inTwo is a calculation whose parts are put together with an operator.
func inTwo(a *notation.Expr, op string, b *notation.Expr) (Split, bool) {
	return Split{Calculation{expr: a}.String(), Calculation{expr: b}.String(), "a " + op + " b"}, true
}

// Split implements [Problem]: by digits and by terms.
func (c Calculation) Split(must bool) (Split, bool) {
	e := c.expr
	if c.equals != nil || len(e.Args) < 2 {
		return Split{}, false
	}
	a, b := e.Args[0], e.Args[1]
	atom := a.Literal() != nil && b.Literal() != nil
	switch {
	case e.Op == notation.Mul && isWhole(a) && isWhole(b):
		return splitProduct(a, b, must)
	case e.Op == notation.Add && !atom:
		all := terms(e)
		half := (len(all) + 1) / 2
		return inTwo(sumOf(all[:half]), "+", sumOf(all[half:]))
	case e.Op == notation.Add && must && isWhole(a):
		return splitColumns(a, b)
	case atom:
		return Split{}, false
	}
	return inTwo(a, map[notation.Op]string{notation.Mul: "*", notation.Div: "/"}[e.Op], b)
}

// terms are what a sum adds up.
func terms(e *notation.Expr) []*notation.Expr {
	switch {
	case e.Op == notation.Add:
		return append(terms(e.Args[0]), terms(e.Args[1])...)
	case e.Op == notation.Neg && e.Args[0].Op == notation.Add:
		all := terms(e.Args[0])
		for i, t := range all {
			all[i] = negative(t)
		}
		return all
	}
	return []*notation.Expr{e}
}

func negative(e *notation.Expr) *notation.Expr {
	if e.Op == notation.Neg {
		return e.Args[0]
	}
	return notation.Make(notation.Neg, e)
}

func sumOf(terms []*notation.Expr) *notation.Expr {
	sum := terms[0]
	for _, t := range terms[1:] {
		sum = notation.Make(notation.Add, sum, t)
	}
	return sum
}

// splitProduct splits the factor with fewer digits other than 0, half of them into
// each part: 12345 * 678 is 12345 * 670 + 12345 * 8.
func splitProduct(a, b *notation.Expr, must bool) (Split, bool) {
	factors, which := [2]*notation.Expr{a, b}, 1
	if nonzero(a) < nonzero(b) {
		which = 0
	}
	if must && min(nonzero(a), nonzero(b)) < 2 {
		which = 1 - which // the other one can be split
	}
	high, low, ok := splitDigits(factors[which].Value.Num(), must)
	if !ok {
		return Split{}, false
	}
	part := func(digits *big.Int) *notation.Expr {
		parts := factors
		parts[which] = wholeNumber(digits)
		return notation.Make(notation.Mul, parts[:]...)
	}
	return inTwo(part(high), "+", part(low))
}

// splitDigits splits a number in two, by its digits; with must also one that has a
// single digit other than 0.
func splitDigits(n *big.Int, must bool) (high, low *big.Int, ok bool) {
	text := n.String()
	at := digit.FindAllStringIndex(text, -1)
	switch {
	case len(at) >= 2:
		cut := at[(len(at)+1)/2][0]
		text = text[:cut] + strings.Repeat("0", len(text)-cut)
	case len(at) == 1 && must && text[0] > '2':
		text = string('0'+(text[0]-'0')/2+1) + text[1:]
	default:
		return nil, nil, false
	}
	high, _ = new(big.Int).SetString(text, 10)
	return high, new(big.Int).Sub(n, high), true
}

// splitColumns splits the columns of a sum: 1234 + 567 is 1200 + 500 and 34 + 67.
func splitColumns(a, b *notation.Expr) (Split, bool) {
	x, y := a.Literal(), b.Literal()
	if !y.IsInt() {
		return Split{}, false
	}
	places := max(len(x.Num().String()), len(new(big.Int).Abs(y.Num()).String()))
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places/2)), nil)
	lowX, lowY := new(big.Int).Rem(x.Num(), unit), new(big.Int).Rem(y.Num(), unit)
	highX, highY := new(big.Int).Sub(x.Num(), lowX), new(big.Int).Sub(y.Num(), lowY)
	if lowX.Sign() == 0 && lowY.Sign() == 0 || highX.Sign() == 0 && highY.Sign() == 0 {
		return Split{}, false
	}
	sum := func(x, y *big.Int) *notation.Expr {
		if y.Sign() < 0 {
			return notation.Minus(wholeNumber(x), wholeNumber(new(big.Int).Neg(y)))
		}
		return notation.Make(notation.Add, wholeNumber(x), wholeNumber(y))
	}
	return inTwo(sum(highX, highY), "+", sum(lowX, lowY))
}
