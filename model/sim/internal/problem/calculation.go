package problem

import (
	"math/big"
	"strings"
)

// A Calculation is the problem to work out an expression, or to find the unknown
// for which two are equal.
type Calculation struct {
	expr   *expr
	equals *expr // nil if there is no unknown
}

// String implements [Problem].
func (c Calculation) String() string {
	if c.equals != nil {
		return "Solve " + c.expr.String() + " = " + c.equals.String() + " for x."
	}
	return "Compute: " + c.expr.String()
}

// value returns the exact result, false if there is none.
func (c Calculation) value() (Number, bool) {
	v, err := c.expr.eval()
	if err != nil {
		return Number{}, false
	}
	if c.equals == nil {
		return Number{v.constant, c.expr.hasDecimals()}, v.slope.Sign() == 0
	}
	w, err := c.equals.eval()
	if err != nil {
		return Number{}, false
	}
	slope := v.slope.Sub(v.slope, w.slope)
	if slope.Sign() == 0 {
		return Number{}, false
	}
	return Number{w.constant.Sub(w.constant, v.constant).Quo(w.constant, slope), c.expr.hasDecimals()}, true
}

// Solution implements [Problem].
func (c Calculation) Solution(mistakes []Slip) (string, bool) {
	r, ok := c.value()
	if !ok {
		return "", false
	}
	v := r
	for _, m := range mistakes {
		v = v.Off(m)
	}
	if len(mistakes) > 0 && v.Value.Cmp(r.Value) == 0 { // they make up for each other
		v = v.Off(mistakes[0])
	}
	return v.Text(), true
}

// Operations counts products of a number and one with a single digit other than 0,
// and sums of two numbers. A small equation is one operation.
func (c Calculation) Operations() int {
	if c.equals != nil {
		return 1
	}
	return max(c.expr.Operations(), 1)
}

func (e *expr) Operations() int {
	switch {
	case e.isNumber():
		return 0
	case e.op == negation:
		return e.left.Operations()
	case e.op == '*' && e.left.isNumber() && e.right.isNumber():
		return max(2*min(e.left.nonzero(), e.right.nonzero())-1, 1)
	}
	return e.left.Operations() + e.right.Operations() + 1
}

// isNumber reports whether there is nothing to work out: a number, maybe with a
// sign, or a fraction.
func (e *expr) isNumber() bool {
	switch e.op {
	case literal:
		return true
	case negation:
		return e.left.isNumber()
	}
	return e.op == '/' && e.left.isWhole() && e.right.isWhole()
}

// isWhole reports whether it is a whole number, written as one.
func (e *expr) isWhole() bool { return e.op == literal && e.value.IsInt() && e.value.Sign() >= 0 }

// nonzero counts the digits other than 0 of a number.
func (e *expr) nonzero() int {
	text := e.String()
	n := 0
	for i := range len(text) {
		if '1' <= text[i] && text[i] <= '9' {
			n++
		}
	}
	return n
}

// Nothing is the problem to compute 0: a part that adds nothing.
func Nothing() Problem { return Calculation{expr: wholeNumber(new(big.Int))} }

func wholeNumber(v *big.Int) *expr { return &expr{op: literal, value: new(big.Rat).SetInt(v)} }

// inTwo is a calculation whose parts are put together with an operator.
func inTwo(a *expr, op byte, b *expr) (Split, bool) {
	return Split{Calculation{expr: a}, Calculation{expr: b}, "a " + string(op) + " b"}, true
}

// Split implements [Problem]: by digits and by terms.
func (c Calculation) Split(must bool) (Split, bool) {
	e := c.expr
	if c.equals != nil || e.op == literal || e.op == negation {
		return Split{}, false
	}
	numbers := e.left.isNumber() && e.right.isNumber()
	switch {
	case e.op == '*' && e.left.isWhole() && e.right.isWhole():
		return splitProduct(e, must)
	case (e.op == '+' || e.op == '-') && !numbers:
		terms := e.terms(nil, false)
		half := (len(terms) + 1) / 2
		return inTwo(sumOf(terms[:half]), '+', sumOf(terms[half:]))
	case (e.op == '+' || e.op == '-') && must && e.left.isWhole() && e.right.isWhole():
		return splitColumns(e)
	case numbers:
		return Split{}, false
	}
	return inTwo(e.left, e.op, e.right)
}

// A term is one of those that a sum adds up.
type term struct {
	expr *expr
	neg  bool
}

func (e *expr) terms(all []term, neg bool) []term {
	switch e.op {
	case '+', '-':
		all = e.left.terms(all, neg)
		return e.right.terms(all, neg != (e.op == '-'))
	}
	return append(all, term{e, neg})
}

func sumOf(terms []term) *expr {
	sum := terms[0].expr
	if terms[0].neg {
		sum = &expr{op: negation, left: sum}
	}
	for _, t := range terms[1:] {
		op := byte('+')
		if t.neg {
			op = '-'
		}
		sum = &expr{op: op, left: sum, right: t.expr}
	}
	return sum
}

// splitProduct splits the factor with fewer digits other than 0, half of them into
// each part: 12345 * 678 is 12345 * 670 + 12345 * 8.
func splitProduct(e *expr, must bool) (Split, bool) {
	first := e.left.nonzero() < e.right.nonzero()
	if must && min(e.left.nonzero(), e.right.nonzero()) < 2 {
		first = !first // the other one can be split
	}
	factor := e.right
	if first {
		factor = e.left
	}
	high, low, ok := splitDigits(factor.value.Num(), must)
	if !ok {
		return Split{}, false
	}
	part := func(digits *big.Int) *expr {
		if first {
			return &expr{op: '*', left: wholeNumber(digits), right: e.right}
		}
		return &expr{op: '*', left: e.left, right: wholeNumber(digits)}
	}
	return inTwo(part(high), '+', part(low))
}

// splitDigits splits a number in two, by its digits; with must also one that has a
// single digit other than 0.
func splitDigits(n *big.Int, must bool) (high, low *big.Int, ok bool) {
	text := n.String()
	var at []int // of digits other than 0
	for i := range len(text) {
		if text[i] != '0' {
			at = append(at, i)
		}
	}
	switch {
	case len(at) >= 2:
		cut := at[(len(at)+1)/2]
		high, _ = new(big.Int).SetString(text[:cut]+strings.Repeat("0", len(text)-cut), 10)
	case len(at) == 1 && must && text[0] > '2':
		high, _ = new(big.Int).SetString(string('0'+(text[0]-'0')/2+1)+text[1:], 10)
	default:
		return nil, nil, false
	}
	return high, new(big.Int).Sub(n, high), true
}

// splitColumns splits the columns of a sum: 1234 + 567 is 1200 + 500 and 34 + 67.
func splitColumns(e *expr) (Split, bool) {
	a, b := e.left.value.Num(), e.right.value.Num()
	places := max(len(a.String()), len(b.String()))
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places/2)), nil)
	lowA, lowB := new(big.Int).Mod(a, unit), new(big.Int).Mod(b, unit)
	highA, highB := new(big.Int).Sub(a, lowA), new(big.Int).Sub(b, lowB)
	if lowA.Sign() == 0 && lowB.Sign() == 0 || highA.Sign() == 0 && highB.Sign() == 0 {
		return Split{}, false
	}
	return inTwo(&expr{op: e.op, left: wholeNumber(highA), right: wholeNumber(highB)}, '+', &expr{op: e.op, left: wholeNumber(lowA), right: wholeNumber(lowB)})
}

// Spoil makes one of the mistakes that happen when numbers are taken apart: a part
// that is the whole, one that is off by one, one with a digit dropped.
func (c Calculation) Spoil(s Split, mistake Slip) Split {
	b, _ := s.B.(Calculation)
	switch mistake.Among(3) {
	case 0:
		s.A = c
	case 1:
		numbers := b.expr.literals(nil)
		last := numbers[len(numbers)-1]
		s.B = Calculation{expr: b.expr.with(last, new(big.Rat).Add(last.value, big.NewRat(1, 1)))}
	default:
		longest := b.expr.literals(nil)[0]
		for _, e := range b.expr.literals(nil) {
			if e.value.Cmp(longest.value) > 0 {
				longest = e
			}
		}
		less := new(big.Rat).SetInt(new(big.Int).Quo(longest.value.Num(), big.NewInt(10)))
		if less.Cmp(longest.value) == 0 { // of 0 there is nothing to drop
			less.SetInt64(1)
		}
		s.B = Calculation{expr: b.expr.with(longest, less)}
	}
	return s
}

// literals are the numbers in an expression, from left to right.
func (e *expr) literals(all []*expr) []*expr {
	switch {
	case e == nil:
		return all
	case e.op == literal:
		return append(all, e)
	}
	return e.right.literals(e.left.literals(all))
}

// with returns the expression with another number in the place of one.
func (e *expr) with(number *expr, v *big.Rat) *expr {
	switch {
	case e == nil:
		return nil
	case e == number:
		return &expr{op: literal, value: v}
	}
	changed := *e
	changed.left, changed.right = e.left.with(number, v), e.right.with(number, v)
	return &changed
}

// Confuse asks for a small sum of two of the numbers, or for their difference.
func (c Calculation) Confuse() Problem {
	numbers := c.equals.literals(c.expr.literals(nil))
	sum := Calculation{expr: &expr{op: '+', left: numbers[0], right: numbers[len(numbers)-1]}}
	if sum.String() == c.String() {
		sum.expr.op = '-'
	}
	return sum
}
