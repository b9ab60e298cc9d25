package sim

import (
	"errors"
	"math/big"
	"strings"
)

const (
	maxExpression = 10_000 // bytes; keeps a single prompt from taking seconds
	maxDepth      = 200    // of parentheses and signs
)

// A result is the value of an expression, or why it has none.
type result struct {
	value *big.Rat // nil after a division by zero
}

var errSyntax = errors.New("not an expression")

// parseArithmetic reads and evaluates an expression that takes up a line.
func parseArithmetic(line string) (result, bool) {
	line = strings.TrimRight(strings.TrimSpace(line), "?.= ")
	if line == "" || len(line) > maxExpression {
		return result{}, false
	}
	e := expression{rest: line}
	v, err := e.sum(0)
	if err != nil || e.peek() != 0 {
		return result{}, false
	}
	if e.zero {
		return result{}, true
	}
	return result{v}, true
}

// An expression is read by recursive descent. Values are exact fractions.
type expression struct {
	rest string
	zero bool // something was divided by zero
}

// peek returns the next operator, digit or parenthesis; 0 at the end.
func (e *expression) peek() byte {
	e.rest = strings.TrimLeft(e.rest, " \t")
	for _, sign := range [...]struct {
		text string
		op   byte
	}{{"×", '*'}, {"·", '*'}, {"÷", '/'}, {"−", '-'}} {
		if rest, ok := strings.CutPrefix(e.rest, sign.text); ok {
			e.rest = string(sign.op) + rest
		}
	}
	if e.rest == "" {
		return 0
	}
	return e.rest[0]
}

func (e *expression) skip() { e.rest = e.rest[1:] }

func (e *expression) sum(depth int) (*big.Rat, error) {
	v, err := e.product(depth)
	for err == nil {
		op := e.peek()
		if op != '+' && op != '-' {
			return v, nil
		}
		e.skip()
		var w *big.Rat
		if w, err = e.product(depth); err != nil {
			break
		}
		if op == '+' {
			v.Add(v, w)
		} else {
			v.Sub(v, w)
		}
	}
	return nil, err
}

func (e *expression) product(depth int) (*big.Rat, error) {
	v, err := e.factor(depth)
	for err == nil {
		op := e.peek()
		if op != '*' && op != '/' {
			return v, nil
		}
		e.skip()
		var w *big.Rat
		if w, err = e.factor(depth); err != nil {
			break
		}
		switch {
		case op == '*':
			v.Mul(v, w)
		case w.Sign() == 0:
			e.zero = true // but the rest may turn out to be no expression at all
		default:
			v.Quo(v, w)
		}
	}
	return nil, err
}

func (e *expression) factor(depth int) (*big.Rat, error) {
	if depth > maxDepth {
		return nil, errSyntax
	}
	switch c := e.peek(); {
	case c == '-' || c == '+':
		e.skip()
		v, err := e.factor(depth + 1)
		if err == nil && c == '-' {
			v.Neg(v)
		}
		return v, err
	case c == '(':
		e.skip()
		v, err := e.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		if e.peek() != ')' {
			return nil, errSyntax
		}
		e.skip()
		return v, nil
	case '0' <= c && c <= '9':
		n := 1
		for n < len(e.rest) && '0' <= e.rest[n] && e.rest[n] <= '9' {
			n++
		}
		i, ok := new(big.Int).SetString(e.rest[:n], 10)
		if !ok {
			return nil, errSyntax
		}
		e.rest = e.rest[n:]
		return new(big.Rat).SetInt(i), nil
	}
	return nil, errSyntax
}

func (r result) answer(buf []byte, d *decision) []byte {
	buf = d.appendRamble(buf)
	if r.value == nil {
		return d.complain(buf, "This divides by zero, so there is no result.")
	}
	text := r.value.RatString()
	switch d.quality {
	case malformed:
		return r.malformed(buf, text, d)
	case wrong:
		text = r.rival(d)
	}
	buf = d.say(buf, len(text),
		"I worked through it term by term.\n",
		"Products first, then sums.\n",
		"Adding up the parts gives the result.\n")
	buf = d.field(buf, true, "answer")
	if strings.Contains(text, "/") {
		buf = d.text(buf, text) // JSON has no fractions
	} else {
		buf = append(buf, text...)
	}
	return d.end(buf)
}

func (r result) malformed(buf []byte, text string, d *decision) []byte {
	switch d.form % 3 {
	case 0:
		return d.chat(buf, "It comes to about "+text+", I would say.")
	case 1:
		if d.structured {
			return append(buf, `{"answer": null}`...)
		}
		return append(buf, "I worked through it term by term.\nanswer ="...)
	default:
		return d.end(d.text(d.field(buf, true, "answer"), text+" or a little more"))
	}
}

// rival returns a wrong value: off by a carry (1 in some place) or by a slip of
// a digit (2 to 9 in some place), upwards or downwards.
func (r result) rival(d *decision) string {
	places := len(new(big.Int).Abs(r.value.Num()).String())
	n := (d.step>>8 + uint64(d.rival)) % uint64(places*18)
	place, slip := n%uint64(places), int64(n/uint64(places))
	by := new(big.Int).Exp(big.NewInt(10), new(big.Int).SetUint64(place), nil)
	by.Mul(by, big.NewInt(slip/2+1))
	if slip%2 == 1 {
		by.Neg(by)
	}
	return new(big.Rat).Add(r.value, new(big.Rat).SetInt(by)).RatString()
}
