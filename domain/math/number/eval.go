package number

import (
	"math/big"

	"github.com/maker-mdap/maker/domain/math/notation"
)

// The limits of numbers.
const (
	maxBits      = 1 << 17 // of an exact number, numerator and denominator each
	maxFactorial = 3000    // has some 30,000 bits
)

// A real is a number as it was computed: exact if it can be, otherwise a ball.
//
// It is also the quotient of two algebraic integers, each of which is, with all
// its conjugates, at most 2^up and 2^down. See [evaluator.isZero].
type real struct {
	exact    *big.Rat
	ball     ball
	up, down float64
}

// exactly is the real number r.
func exactly(r *big.Rat) real {
	return real{exact: r, up: magnitude(r.Num()), down: magnitude(r.Denom())}
}

func whole(n int64) real { return exactly(big.NewRat(n, 1)) }

// magnitude is the logarithm of |n| to base 2, rounded up.
func magnitude(n *big.Int) float64 {
	size := new(big.Int).Abs(n)
	return float64(size.Sub(size, big.NewInt(1)).BitLen())
}

// inexactly is a real number in a ball.
func inexactly(b ball, up, down float64) real {
	if b.rad.Sign() == 0 && b.mid.Sign() == 0 {
		return whole(0)
	}
	return real{ball: b, up: up, down: down}
}

// numerically is the value of a function of some numbers that is not algebraic.
func (ev *evaluator) numerically(b ball, of ...real) real {
	ev.spendSeries()
	ev.numeric = true
	exponent, down := 0.0, 0.0
	if !b.hasZero() {
		exponent = float64(b.mid.MantExp(nil))
	}
	for _, x := range of {
		down += x.up + x.down
	}
	return inexactly(b, max(0, exponent), down+max(0, -exponent))
}

// inBall returns x as a ball.
func (ev *evaluator) inBall(x real) ball {
	if x.exact != nil {
		return ev.fromRat(x.exact)
	}
	return x.ball
}

// sign is the sign of a number, if that is certain.
func (ev *evaluator) sign(x real) int {
	switch {
	case x.exact != nil:
		return x.exact.Sign()
	case !ev.numeric && ev.isZero(x):
		return 0
	}
	return x.ball.sign()
}

// isZero reports whether x is closer to 0 than it can be without being 0.
//
// With arithmetic and roots only that is a proof. The numerator of x and its
// conjugates have a product that is a whole number: if it is not 0, the numerator
// is at least 1 over the product of the others, and there are no more than the
// degree of the field. (Burnikel and others, A Separation Bound for Real Algebraic
// Expressions, 2001.) Other functions count as if their values were unrelated
// numbers, and then 50 digits more are looked at.
func (ev *evaluator) isZero(x real) bool {
	bits := x.down + (ev.degree-1)*x.up
	if ev.numeric {
		const fiftyDigits = 166
		bits += fiftyDigits
	}
	return bits < maxBits && x.ball.magnitude().Cmp(twoTo(-int(bits)-1)) < 0
}

func (ev *evaluator) compute(e *notation.Expr) real {
	ev.spend(1 + int(ev.prec)/256)
	switch e.Op {
	case notation.Num:
		ev.spend(bits(e.Value) / 64)
		return exactly(e.Value)
	case notation.Sym:
		return ev.symbol(e.Text)
	}
	if e.Op == notation.Pow && e.Args[0].Text == notation.E {
		y := ev.compute(e.Args[1])
		if y.exact != nil && y.exact.Sign() == 0 {
			return whole(1)
		}
		return ev.numerically(ev.exp(ev.inBall(y)), y)
	}
	var args [2]real
	for i, arg := range e.Args {
		args[i] = ev.compute(arg)
	}
	x, y := args[0], args[1]
	switch e.Op {
	case notation.Neg:
		return negated(x)
	case notation.Fact:
		return ev.factorial(x)
	case notation.Call:
		return ev.call(e, x)
	case notation.Add:
		return ev.plus(x, y)
	case notation.Mul:
		return ev.times(x, y)
	case notation.Div:
		return ev.over(x, y)
	}
	switch {
	case y.exact != nil && y.exact.IsInt():
		return ev.raiseWhole(x, y.exact.Num())
	case y.exact == nil || len(notation.Variables(e.Args[1])) > 0: // an exponential function, even if it is a root here
		return ev.numerically(ev.exp(ev.mul(ev.ln(ev.inBall(x)), ev.inBall(y))), x, y)
	}
	return ev.root(e.Args[0], x, y.exact)
}

func (ev *evaluator) symbol(name string) real {
	switch name {
	case notation.Pi:
		return ev.numerically(ev.piBall())
	case notation.E:
		return ev.numerically(ev.exp(ev.fromInt(1)))
	}
	if ev.at[name] == nil {
		fail(errUndefined)
	}
	return ev.compute(ev.at[name])
}

// bits is the length of a number.
func bits(r *big.Rat) int { return max(r.Num().BitLen(), r.Denom().BitLen()) }

// counted returns a result of arithmetic. Long ones take a long time, and most of
// it to find the greatest common divisor.
func (ev *evaluator) counted(r *big.Rat) real {
	n := bits(r)
	if ev.spend(n / 64); !r.IsInt() {
		ev.spend(n * n >> 20)
	}
	return exactly(r)
}

// combined is the result of an operation: exact if it is not too long, otherwise
// a ball.
func (ev *evaluator) combined(x, y real, exact func(z, x, y *big.Rat) *big.Rat, inBalls func(x, y ball) ball, up, down float64) real {
	if x.exact != nil && y.exact != nil && bits(x.exact)+bits(y.exact) < maxBits {
		return ev.counted(exact(new(big.Rat), x.exact, y.exact))
	}
	return inexactly(inBalls(ev.inBall(x), ev.inBall(y)), up, down)
}

func (ev *evaluator) plus(x, y real) real {
	return ev.combined(x, y, (*big.Rat).Add, ev.add, max(x.up+y.down, y.up+x.down)+1, x.down+y.down)
}

func (ev *evaluator) times(x, y real) real {
	return ev.combined(x, y, (*big.Rat).Mul, ev.mul, x.up+y.up, x.down+y.down)
}

func (ev *evaluator) over(x, y real) real {
	if ev.sign(y) == 0 {
		fail(errUndefined)
	}
	return ev.combined(x, y, (*big.Rat).Quo, ev.div, x.up+y.down, x.down+y.up)
}

func negated(x real) real {
	if x.exact != nil {
		return exactly(new(big.Rat).Neg(x.exact))
	}
	x.ball = x.ball.neg()
	return x
}

func (ev *evaluator) factorial(x real) real {
	switch {
	case x.exact == nil:
		fail(errPrecision) // perhaps a whole number, perhaps just near one
	case !x.exact.IsInt() || x.exact.Sign() < 0:
		fail(errUndefined)
	case x.exact.Cmp(big.NewRat(maxFactorial, 1)) > 0:
		fail(errLimit)
	}
	n := x.exact.Num().Int64()
	ev.spend(int(n))
	return exactly(new(big.Rat).SetInt(new(big.Int).MulRange(1, n)))
}

func (ev *evaluator) raiseWhole(x real, n *big.Int) real {
	switch {
	case n.Sign() < 0:
		return ev.over(whole(1), ev.raiseWhole(x, new(big.Int).Neg(n)))
	case x.exact == nil:
	case x.exact.Sign() == 0 && n.Sign() == 0:
		fail(errUndefined)
	case x.exact.Sign() == 0 || bits(x.exact) == 1 && n.Bit(0) == 1:
		return x
	case bits(x.exact) == 1: // 1 or -1
		return whole(1)
	}
	if n.Cmp(big.NewInt(maxExponent)) > 0 {
		fail(errLimit)
	}
	m := n.Int64()
	if x.exact != nil && int64(bits(x.exact))*m < maxBits {
		num, den := new(big.Int).Exp(x.exact.Num(), n, nil), new(big.Int).Exp(x.exact.Denom(), n, nil)
		return ev.counted(new(big.Rat).SetFrac(num, den))
	}
	return inexactly(ev.power(ev.inBall(x), m), float64(m)*x.up, float64(m)*x.down)
}

// root computes a power of x, which is the value of base, with an exponent that is
// no whole number. The base must be positive, even if there is a real root.
func (ev *evaluator) root(base *notation.Expr, x real, exponent *big.Rat) real {
	switch sign := ev.sign(x); {
	case sign < 0 || sign == 0 && exponent.Sign() < 0:
		fail(errUndefined)
	case sign == 0:
		return whole(0)
	}
	square := exponent.Denom().Cmp(big.NewInt(2)) == 0
	key := exponent.Denom().String() + " " + base.String()
	if x.exact != nil {
		key = exponent.Denom().String() + " " + x.exact.RatString()
		r := new(big.Rat).SetFrac(new(big.Int).Sqrt(x.exact.Num()), new(big.Int).Sqrt(x.exact.Denom()))
		if square && new(big.Rat).Mul(r, r).Cmp(x.exact) == 0 {
			return ev.raiseWhole(exactly(r), exponent.Num())
		}
	}
	k, _ := new(big.Float).SetInt(exponent.Denom()).Float64()
	if !ev.roots[key] {
		ev.roots[key] = true
		ev.degree *= k
	}
	// u/v is u v^(k-1) / v^k, and also u^k / (u^(k-1) v).
	up, down := (x.up+(k-1)*x.down)/k, x.down
	if x.up < x.down {
		up, down = x.up, ((k-1)*x.up+x.down)/k
	}
	if square {
		return ev.raiseWhole(real{ball: ev.sqrt(ev.inBall(x)), up: up, down: down}, exponent.Num())
	}
	ev.spendSeries()
	n, _ := new(big.Float).SetInt(exponent.Num()).Float64()
	if n < 0 {
		up, down, n = down, up, -n
	}
	return inexactly(ev.exp(ev.mul(ev.ln(ev.inBall(x)), ev.fromRat(exponent))), n*up, n*down)
}

var half, third = big.NewRat(1, 2), big.NewRat(1, 3)

func (ev *evaluator) call(e *notation.Expr, x real) real {
	ev.spend(20 + int(ev.prec)/16)
	switch b := ev.inBall(x); e.Text {
	case "sqrt":
		return ev.root(e.Args[0], x, half)
	case "cbrt":
		if ev.sign(x) < 0 {
			return negated(ev.root(e.Args[0], negated(x), third))
		}
		return ev.root(e.Args[0], x, third)
	case "abs":
		if x.exact != nil {
			return exactly(new(big.Rat).Abs(x.exact))
		}
		x.ball.mid = new(big.Float).Abs(b.mid) // also of a ball around zero, which is as wide on both sides
		return x
	case "ln":
		if x.exact != nil && x.exact.Cmp(big.NewRat(1, 1)) == 0 {
			return whole(0)
		}
		return ev.numerically(ev.ln(b), x)
	case "sin":
		sin, _ := ev.sinCos(b)
		return ev.numerically(sin, x)
	case "cos":
		_, cos := ev.sinCos(b)
		return ev.numerically(cos, x)
	case "tan":
		return ev.numerically(ev.div(ev.sinCos(b)), x)
	}
	fail(errUndefined) // the inverse functions: SymPy knows them
	return real{}
}
