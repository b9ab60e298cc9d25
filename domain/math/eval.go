package math

import "math/big"

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

func exactly(r *big.Rat) real {
	return real{exact: r, up: magnitude(r.Num()), down: magnitude(r.Denom())}
}

func wholeReal(n int64) real { return exactly(big.NewRat(n, 1)) }

// magnitude is the logarithm of |n| to base 2, rounded up.
func magnitude(n *big.Int) float64 {
	size := new(big.Int).Abs(n)
	return float64(size.Sub(size, big.NewInt(1)).BitLen())
}

// A meter counts down what a comparison may still do.
type meter struct{ left int }

// An evaluator computes the value of one expression.
type evaluator struct {
	*arena
	meter *meter
	at    map[string]*big.Rat // the values of variables

	roots   map[string]bool // that were taken
	degree  float64         // of the field that they span
	numeric bool            // there is more than arithmetic and roots
}

func newEvaluator(a *arena, m *meter, at map[string]*big.Rat) *evaluator {
	return &evaluator{arena: a, meter: m, at: at, roots: map[string]bool{}, degree: 1}
}

// spend takes n units of work.
func (ev *evaluator) spend(n int) {
	if ev.meter.left -= n; ev.meter.left < 0 {
		fail(errLimit)
	}
}

// spendSeries takes the work of a function that is computed by a series.
func (ev *evaluator) spendSeries() {
	prec := int(ev.prec)
	ev.spend(prec/16 + prec*prec/10_000)
}

// eval computes e. Errors are errUndefined, errPrecision and errLimit.
func (ev *evaluator) eval(e *Expr) (r real, err error) {
	defer caught(&err)
	return ev.compute(e), nil
}

// sign returns the sign of e.
func (ev *evaluator) sign(e *Expr) (sign int, err error) {
	defer caught(&err)
	x := ev.compute(e)
	if x.exact == nil && ev.numeric && ev.isZero(x) {
		return 0, nil
	}
	return ev.signOf(x), nil
}

// signOf is the sign of a number, if that is certain.
func (ev *evaluator) signOf(x real) int {
	switch {
	case x.exact != nil:
		return x.exact.Sign()
	case !ev.numeric && ev.isZero(x):
		return 0
	}
	return x.ball.sign()
}

// agreeBits is how many bits have to be 0 besides, if there is no proof: some 50
// digits.
const agreeBits = 166

// isZero reports whether x is closer to 0 than it can be without being 0.
//
// With arithmetic and roots only that is a proof. The numerator of x and its
// conjugates have a product that is a whole number: if it is not 0, the numerator
// is at least 1 over the product of the others, and there are no more than the
// degree of the field. (Burnikel and others, A Separation Bound for Real Algebraic
// Expressions, 2001.) Other functions count as if their values were unrelated
// numbers, and then many more digits are looked at.
func (ev *evaluator) isZero(x real) bool {
	bits := x.down + (ev.degree-1)*x.up
	if ev.numeric {
		bits += agreeBits
	}
	return bits < maxBits && x.ball.magnitude().Cmp(twoTo(-int(bits)-1)) < 0
}

// inBalls returns x as a ball.
func (ev *evaluator) inBalls(x real) ball {
	if x.exact != nil {
		return ev.fromRat(x.exact)
	}
	return x.ball
}

func inexactly(b ball, up, down float64) real {
	if b.rad.Sign() == 0 && b.mid.Sign() == 0 {
		return wholeReal(0)
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

func (ev *evaluator) compute(e *Expr) real {
	ev.spend(1 + int(ev.prec)/256)
	switch e.Op {
	case Num:
		ev.spend(bits(e.value) / 64)
		return exactly(e.value)
	case Sym:
		return ev.symbol(e.Text)
	}
	if e.Op == Pow && e.Args[0].Op == Sym && e.Args[0].Text == symE {
		y := ev.compute(e.Args[1])
		if y.exact != nil && y.exact.Sign() == 0 {
			return wholeReal(1)
		}
		return ev.numerically(ev.exp(ev.inBalls(y)), y)
	}
	x := ev.compute(e.Args[0])
	switch e.Op {
	case Neg:
		return ev.negated(x)
	case Fact:
		return ev.factorial(x)
	case Call:
		return ev.call(e, x)
	}
	y := ev.compute(e.Args[1])
	switch e.Op {
	case Add:
		return ev.plus(x, y)
	case Mul:
		return ev.times(x, y)
	case Div:
		return ev.over(x, y)
	default:
		if y.exact != nil && !y.exact.IsInt() && len(variables(e.Args[1])) > 0 {
			y = real{ball: ev.fromRat(y.exact), up: y.up, down: y.down} // an exponential function, though a root here
		}
		return ev.raise(e.Args[0], x, y)
	}
}

func (ev *evaluator) symbol(name string) real {
	switch name {
	case symPi:
		return ev.numerically(ev.piBall())
	case symE:
		return ev.numerically(ev.exp(ev.fromInt(1)))
	}
	v, ok := ev.at[name]
	if !ok {
		fail(errUndefined)
	}
	return exactly(v)
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
	return inexactly(inBalls(ev.inBalls(x), ev.inBalls(y)), up, down)
}

func (ev *evaluator) plus(x, y real) real {
	return ev.combined(x, y, (*big.Rat).Add, ev.add, max(x.up+y.down, y.up+x.down)+1, x.down+y.down)
}

func (ev *evaluator) times(x, y real) real {
	return ev.combined(x, y, (*big.Rat).Mul, ev.mul, x.up+y.up, x.down+y.down)
}

func (ev *evaluator) over(x, y real) real {
	if ev.signOf(y) == 0 {
		fail(errUndefined)
	}
	return ev.combined(x, y, (*big.Rat).Quo, ev.div, x.up+y.down, x.down+y.up)
}

func (ev *evaluator) negated(x real) real {
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
	case !x.exact.Num().IsInt64() || x.exact.Num().Int64() > maxFactorial:
		fail(errLimit)
	}
	n := x.exact.Num().Int64()
	ev.spend(int(n))
	return exactly(new(big.Rat).SetInt(new(big.Int).MulRange(1, n)))
}

// raise computes a power of x, which is the value of base. The base of a power
// that is no whole number must be positive, even if there is a real root.
func (ev *evaluator) raise(base *Expr, x, y real) real {
	if y.exact != nil && y.exact.IsInt() {
		return ev.raiseWhole(x, y.exact.Num())
	}
	sign := ev.signOf(x)
	switch {
	case sign < 0 || sign == 0 && (y.exact == nil || y.exact.Sign() < 0):
		fail(errUndefined)
	case sign == 0:
		return wholeReal(0)
	case y.exact == nil:
		return ev.numerically(ev.exp(ev.mul(ev.ln(ev.inBalls(x)), ev.inBalls(y))), x, y)
	case y.exact.Denom().Cmp(big.NewInt(2)) == 0:
		return ev.raiseWhole(ev.root(base, x), y.exact.Num())
	}
	ev.spendSeries()
	n, _ := new(big.Float).SetInt(y.exact.Num()).Float64()
	root := ev.rooted(base, x, y.exact.Denom())
	if n < 0 {
		root.up, root.down, n = root.down, root.up, -n
	}
	return inexactly(ev.exp(ev.mul(ev.ln(ev.inBalls(x)), ev.inBalls(y))), n*root.up, n*root.down)
}

// rooted says of what size a root of x is, which is the value of of.
func (ev *evaluator) rooted(of *Expr, x real, index *big.Int) real {
	k, _ := new(big.Float).SetInt(index).Float64()
	key := index.String() + " " + of.String()
	if x.exact != nil {
		key = index.String() + " " + x.exact.RatString()
	}
	if !ev.roots[key] {
		ev.roots[key] = true
		ev.degree *= k
	}
	// u/v is u v^(k-1) / v^k, and also u^k / (u^(k-1) v).
	if x.up >= x.down {
		return real{up: (x.up + (k-1)*x.down) / k, down: x.down}
	}
	return real{up: x.up, down: ((k-1)*x.up + x.down) / k}
}

func (ev *evaluator) raiseWhole(x real, n *big.Int) real {
	if x.exact != nil && x.exact.Sign() == 0 {
		if n.Sign() <= 0 {
			fail(errUndefined) // 0^0 as well
		}
		return x
	}
	if x.exact != nil && x.exact.IsInt() && x.exact.Num().CmpAbs(big.NewInt(1)) == 0 {
		if n.Bit(0) == 1 {
			return x
		}
		return wholeReal(1)
	}
	if !n.IsInt64() || n.Int64() > maxExponent || n.Int64() < -maxExponent {
		fail(errLimit)
	}
	m := n.Int64()
	if m < 0 {
		return ev.over(wholeReal(1), ev.raiseWhole(x, new(big.Int).Neg(n)))
	}
	if x.exact != nil && int64(bits(x.exact))*m < maxBits {
		num, den := new(big.Int).Exp(x.exact.Num(), n, nil), new(big.Int).Exp(x.exact.Denom(), n, nil)
		return ev.counted(new(big.Rat).SetFrac(num, den))
	}
	return inexactly(ev.power(ev.inBalls(x), m), float64(m)*x.up, float64(m)*x.down)
}

// root is the square root of x, which is the value of of; exact if it is rational.
func (ev *evaluator) root(of *Expr, x real) real {
	if x.exact != nil && x.exact.Sign() >= 0 {
		n, d := new(big.Int).Sqrt(x.exact.Num()), new(big.Int).Sqrt(x.exact.Denom())
		r := new(big.Rat).SetFrac(n, d)
		if new(big.Rat).Mul(r, r).Cmp(x.exact) == 0 {
			return exactly(r)
		}
	}
	if ev.signOf(x) == 0 {
		return wholeReal(0)
	}
	size := ev.rooted(of, x, big.NewInt(2))
	return inexactly(ev.sqrt(ev.inBalls(x)), size.up, size.down)
}

func (ev *evaluator) call(e *Expr, x real) real {
	ev.spend(20 + int(ev.prec)/16)
	switch b := ev.inBalls(x); e.Text {
	case fnSqrt:
		return ev.root(e.Args[0], x)
	case fnCbrt: // of negative numbers too
		if ev.signOf(x) < 0 {
			return ev.negated(ev.raise(e.Args[0], ev.negated(x), exactly(big.NewRat(1, 3))))
		}
		return ev.raise(e.Args[0], x, exactly(big.NewRat(1, 3)))
	case fnAbs:
		if x.exact != nil {
			return exactly(new(big.Rat).Abs(x.exact))
		}
		// Also for a ball around zero: it is as wide on both sides.
		return real{ball: ball{new(big.Float).Abs(b.mid), b.rad}, up: x.up, down: x.down}
	case fnLn:
		if x.exact != nil && x.exact.Cmp(big.NewRat(1, 1)) == 0 {
			return wholeReal(0)
		}
		return ev.numerically(ev.ln(b), x)
	case fnSin:
		sin, _ := ev.sinCos(b)
		return ev.numerically(sin, x)
	case fnCos:
		_, cos := ev.sinCos(b)
		return ev.numerically(cos, x)
	case fnTan:
		return ev.numerically(ev.div(ev.sinCos(b)), x)
	case fnAtan:
		return ev.numerically(ev.atan(b), x)
	case fnAsin:
		return ev.arcsine(e, x)
	case fnAcos:
		return ev.plus(ev.halfPi(1), ev.negated(ev.arcsine(e, x)))
	}
	fail(errUndefined)
	return real{}
}

// halfPi is half of pi, or of -pi.
func (ev *evaluator) halfPi(sign int) real {
	return ev.numerically(ev.div(ev.piBall(), ev.fromInt(int64(2*sign))))
}

// arcsine is arctan(x / sqrt(1 - x^2)).
func (ev *evaluator) arcsine(e *Expr, x real) real {
	rest := ev.plus(wholeReal(1), ev.negated(ev.times(x, x)))
	if ev.signOf(rest) == 0 {
		return ev.halfPi(ev.signOf(x))
	}
	return ev.numerically(ev.atan(ev.inBalls(ev.over(x, ev.root(e, rest)))), x)
}
