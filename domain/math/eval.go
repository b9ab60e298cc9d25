package math

import (
	"math/big"
)

// The limits of numbers.
const (
	maxBits      = 1 << 16 // of an exact number, numerator and denominator each
	maxFactorial = 3000    // has some 30,000 bits
)

// A real is a number as it was computed: exact if it can be, otherwise a ball.
type real struct {
	exact *big.Rat
	ball  ball
}

// A meter counts down what a comparison may still do.
type meter struct{ left int }

// spend takes n units of work, and reports whether there were as many.
func (m *meter) spend(n int) error {
	if m.left -= n; m.left < 0 {
		return errLimit
	}
	return nil
}

// An evaluator computes the value of expressions.
type evaluator struct {
	*arena
	meter *meter
	at    map[string]*big.Rat // the values of variables
}

// counted returns a result of arithmetic. Long ones take a long time.
func (ev *evaluator) counted(r *big.Rat) (real, error) {
	return real{exact: r}, ev.meter.spend(bits(r) / 64)
}

// inBalls returns x as a ball.
func (ev *evaluator) inBalls(x real) ball {
	if x.exact != nil {
		return ev.fromRat(x.exact)
	}
	return x.ball
}

func inexactly(b ball, err error) (real, error) {
	if err != nil {
		return real{}, err
	}
	if b.rad.Sign() == 0 && b.mid.Sign() == 0 {
		return real{exact: new(big.Rat)}, nil
	}
	return real{ball: b}, nil
}

// eval computes e. Errors are errUndefined, errPrecision and errLimit.
func (ev *evaluator) eval(e *Expr) (real, error) {
	if err := ev.meter.spend(1 + int(ev.prec)/256); err != nil {
		return real{}, err
	}
	switch e.Op {
	case Num:
		if err := ev.meter.spend(bits(e.value) / 64); err != nil {
			return real{}, err
		}
		return real{exact: e.value}, nil
	case Sym:
		return ev.symbol(e.Text)
	}
	if e.Op == Pow && e.Args[0].Op == Sym && e.Args[0].Text == symE {
		y, err := ev.eval(e.Args[1])
		if err != nil {
			return real{}, err
		}
		if y.exact != nil && y.exact.Sign() == 0 {
			return real{exact: big.NewRat(1, 1)}, nil
		}
		return inexactly(ev.exp(ev.inBalls(y)))
	}
	x, err := ev.eval(e.Args[0])
	if err != nil {
		return real{}, err
	}
	switch e.Op {
	case Neg:
		if x.exact != nil {
			return real{exact: new(big.Rat).Neg(x.exact)}, nil
		}
		return real{ball: x.ball.neg()}, nil
	case Fact:
		return ev.factorial(x)
	case Call:
		return ev.call(e.Text, x)
	}
	y, err := ev.eval(e.Args[1])
	if err != nil {
		return real{}, err
	}
	switch e.Op {
	case Add:
		return ev.plus(x, y)
	case Mul:
		return ev.times(x, y)
	case Div:
		return ev.over(x, y)
	default:
		return ev.raise(x, y)
	}
}

func (ev *evaluator) symbol(name string) (real, error) {
	switch name {
	case symPi:
		return real{ball: ev.piBall()}, nil
	case symE:
		return inexactly(ev.exp(ev.fromRat(big.NewRat(1, 1))))
	}
	if v, ok := ev.at[name]; ok {
		return real{exact: v}, nil
	}
	return real{}, errUndefined
}

// fits reports whether the exact result of two numbers is not too long. Longer
// ones go on as balls.
func fits(x, y real) bool {
	if x.exact == nil || y.exact == nil {
		return false
	}
	const enough = 1 << 12
	return bits(x.exact)+bits(y.exact) < enough || x.exact.IsInt() && y.exact.IsInt() && bits(x.exact)+bits(y.exact) < maxBits
}

// bits is the length of a number.
func bits(r *big.Rat) int { return max(r.Num().BitLen(), r.Denom().BitLen()) }

func (ev *evaluator) plus(x, y real) (real, error) {
	if fits(x, y) {
		return ev.counted(new(big.Rat).Add(x.exact, y.exact))
	}
	return inexactly(ev.add(ev.inBalls(x), ev.inBalls(y)))
}

func (ev *evaluator) times(x, y real) (real, error) {
	if fits(x, y) {
		return ev.counted(new(big.Rat).Mul(x.exact, y.exact))
	}
	return inexactly(ev.mul(ev.inBalls(x), ev.inBalls(y)))
}

func (ev *evaluator) over(x, y real) (real, error) {
	if y.exact != nil && y.exact.Sign() == 0 {
		return real{}, errUndefined
	}
	if fits(x, y) {
		return ev.counted(new(big.Rat).Quo(x.exact, y.exact))
	}
	return inexactly(ev.div(ev.inBalls(x), ev.inBalls(y)))
}

func (ev *evaluator) factorial(x real) (real, error) {
	if x.exact == nil {
		return real{}, errPrecision // perhaps a whole number, perhaps just near one
	}
	if !x.exact.IsInt() || x.exact.Sign() < 0 {
		return real{}, errUndefined
	}
	if !x.exact.Num().IsInt64() || x.exact.Num().Int64() > maxFactorial {
		return real{}, errLimit
	}
	n := x.exact.Num().Int64()
	if err := ev.meter.spend(int(n)); err != nil {
		return real{}, err
	}
	return real{exact: new(big.Rat).SetInt(new(big.Int).MulRange(1, n))}, nil
}

// raise computes a power. The base of a power that is no whole number must be
// positive, even if there is a real root.
func (ev *evaluator) raise(x, y real) (real, error) {
	if y.exact != nil && y.exact.IsInt() {
		return ev.raiseWhole(x, y.exact.Num())
	}
	b := ev.inBalls(x)
	s, err := b.sign()
	switch {
	case err != nil:
		return real{}, err
	case s < 0:
		return real{}, errUndefined
	case s == 0:
		if y.exact != nil && y.exact.Sign() > 0 {
			return real{exact: new(big.Rat)}, nil
		}
		return real{}, errUndefined
	}
	if y.exact != nil && y.exact.Denom().Cmp(big.NewInt(2)) == 0 {
		root, err := ev.root(x)
		if err != nil {
			return real{}, err
		}
		return ev.raiseWhole(root, y.exact.Num())
	}
	ln, err := ev.ln(b)
	if err != nil {
		return real{}, err
	}
	product, err := ev.mul(ln, ev.inBalls(y))
	if err != nil {
		return real{}, err
	}
	return inexactly(ev.exp(product))
}

func (ev *evaluator) raiseWhole(x real, n *big.Int) (real, error) {
	if x.exact != nil && x.exact.Sign() == 0 {
		if n.Sign() <= 0 {
			return real{}, errUndefined // 0^0 as well
		}
		return x, nil
	}
	if x.exact != nil && x.exact.IsInt() && x.exact.Num().CmpAbs(big.NewInt(1)) == 0 {
		if x.exact.Sign() < 0 && n.Bit(0) == 1 {
			return x, nil
		}
		return real{exact: big.NewRat(1, 1)}, nil
	}
	if !n.IsInt64() || n.Int64() > maxExponent || n.Int64() < -maxExponent {
		return real{}, errLimit
	}
	m := n.Int64()
	if x.exact != nil {
		if length := int64(bits(x.exact)) * max(m, -m); length < maxBits {
			if err := ev.meter.spend(int(1 + length/64)); err != nil {
				return real{}, err
			}
			return real{exact: ratPower(x.exact, m)}, nil
		}
	}
	return inexactly(ev.power(ev.inBalls(x), m))
}

// ratPower is r^n for a small n; r is not 0.
func ratPower(r *big.Rat, n int64) *big.Rat {
	e := big.NewInt(max(n, -n))
	num, den := new(big.Int).Exp(r.Num(), e, nil), new(big.Int).Exp(r.Denom(), e, nil)
	if n < 0 {
		num, den = den, num
	}
	return new(big.Rat).SetFrac(num, den)
}

// root is the square root, exact if it is rational.
func (ev *evaluator) root(x real) (real, error) {
	if x.exact != nil {
		if x.exact.Sign() < 0 {
			return real{}, errUndefined
		}
		n, d := new(big.Int).Sqrt(x.exact.Num()), new(big.Int).Sqrt(x.exact.Denom())
		if new(big.Int).Mul(n, n).Cmp(x.exact.Num()) == 0 && new(big.Int).Mul(d, d).Cmp(x.exact.Denom()) == 0 {
			return real{exact: new(big.Rat).SetFrac(n, d)}, nil
		}
	}
	return inexactly(ev.sqrt(ev.inBalls(x)))
}

func (ev *evaluator) call(name string, x real) (real, error) {
	if err := ev.meter.spend(20 + int(ev.prec)/16); err != nil {
		return real{}, err
	}
	b := ev.inBalls(x)
	switch name {
	case fnSqrt:
		return ev.root(x)
	case fnCbrt:
		return ev.cubeRoot(x)
	case fnAbs:
		if x.exact != nil {
			return real{exact: new(big.Rat).Abs(x.exact)}, nil
		}
		// Also for a ball around zero: it is as wide on both sides.
		return real{ball: ball{new(big.Float).Abs(b.mid), b.rad}}, nil
	case fnLn:
		if x.exact != nil && x.exact.Cmp(big.NewRat(1, 1)) == 0 {
			return real{exact: new(big.Rat)}, nil
		}
		return inexactly(ev.ln(b))
	case fnSin:
		sin, _, err := ev.sinCos(b)
		return inexactly(sin, err)
	case fnCos:
		_, cos, err := ev.sinCos(b)
		return inexactly(cos, err)
	case fnTan:
		sin, cos, err := ev.sinCos(b)
		if err != nil {
			return real{}, err
		}
		return inexactly(ev.div(sin, cos))
	case fnAtan:
		return inexactly(ev.atan(b))
	case fnAsin:
		return ev.arcsine(x)
	case fnAcos:
		asin, err := ev.arcsine(x)
		if err != nil {
			return real{}, err
		}
		half, err := ev.div(ev.piBall(), ev.fromRat(big.NewRat(2, 1)))
		if err != nil {
			return real{}, err
		}
		return inexactly(ev.add(half, ev.inBalls(asin).neg()))
	}
	return real{}, errUndefined
}

// cubeRoot is defined for negative numbers too.
func (ev *evaluator) cubeRoot(x real) (real, error) {
	b := ev.inBalls(x)
	s, err := b.sign()
	if err != nil {
		return real{}, err
	}
	if s == 0 {
		return real{exact: new(big.Rat)}, nil
	}
	if s < 0 {
		b = b.neg()
	}
	third := real{exact: big.NewRat(1, 3)}
	r, err := ev.raise(real{ball: b}, third)
	if err == nil && s < 0 {
		return inexactly(ev.inBalls(r).neg(), nil)
	}
	return r, err
}

// arcsine is arctan(x / sqrt(1 - x^2)).
func (ev *evaluator) arcsine(x real) (real, error) {
	one := ev.fromRat(big.NewRat(1, 1))
	b := ev.inBalls(x)
	square, err := ev.mul(b, b)
	if err != nil {
		return real{}, err
	}
	if x.exact != nil && new(big.Rat).Abs(x.exact).Cmp(big.NewRat(1, 1)) == 0 {
		half, err := ev.div(ev.piBall(), ev.fromRat(big.NewRat(int64(2*x.exact.Sign()), 1)))
		return inexactly(half, err)
	}
	rest, err := ev.add(one, square.neg())
	if err != nil {
		return real{}, err
	}
	root, err := ev.sqrt(rest)
	if err != nil {
		return real{}, err
	}
	quotient, err := ev.div(b, root)
	if err != nil {
		return real{}, err
	}
	return inexactly(ev.atan(quotient))
}
