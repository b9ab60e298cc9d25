package problem

import (
	"math/big"
	"strings"
)

// A Number is the value of an expression.
type Number struct {
	Value   *big.Rat // nil if something is divided by zero
	Decimal bool     // it is written with a decimal point, if that is possible
}

// Evaluate reads and evaluates an expression that takes up a line.
func Evaluate(line string) (Number, bool) {
	e, ok := parseExpression(strings.TrimRight(strings.TrimSpace(line), "?.= "), false)
	if !ok {
		return Number{}, false
	}
	v, err := e.eval()
	if err != nil {
		return Number{}, true
	}
	return Number{v.constant, e.hasDecimals()}, true
}

// Text writes the number.
func (n Number) Text() string { return numberText(n.Value, n.Decimal) }

// Off returns a wrong number: off by a carry (1 in some place) or by a slip of a
// digit (2 to 9 in some place), upwards or downwards.
func (n Number) Off(s Slip) Number {
	places := len(new(big.Int).Abs(n.Value.Num()).String())
	which := s.Among(places * 18)
	place, size := int64(which%places), int64(which/places)
	by := new(big.Int).Exp(big.NewInt(10), big.NewInt(place), nil)
	by.Mul(by, big.NewInt(size/2+1))
	if size%2 == 1 {
		by.Neg(by)
	}
	return Number{new(big.Rat).Add(n.Value, new(big.Rat).SetInt(by)), n.Decimal}
}
