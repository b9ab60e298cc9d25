package number

import (
	"errors"
	"fmt"
	"math/big"
)

// A ball is a real number of which a bound for the error is known: it lies within
// rad of mid. Every operation adds its own rounding to the bound, so that what is
// outside of a ball is ruled out for certain.
type ball struct {
	mid, rad *big.Float
}

// Errors of an evaluation.
var (
	errUndefined = errors.New("not defined")
	errPrecision = errors.New("not decided with so many digits")
	errLimit     = errors.New("too large to compute")
)

// maxExponent bounds the size of numbers, in bits; big.Float has a little more.
const maxExponent = 1 << 28

// An arena makes balls of one precision, in bits. Its methods fail if a result is
// not defined, not known well enough or too large.
type arena struct {
	prec  uint
	known constants
}

// constants are what was computed before, by its name and its precision.
type constants map[string]*big.Float

// finer is an arena for the steps in between, with that many bits at least.
func (a *arena) finer(prec uint) *arena { return &arena{(prec + 127) &^ 63, a.known} }

func (a *arena) float() *big.Float { return new(big.Float).SetPrec(a.prec) }

func (a *arena) whole(n int64) *big.Float { return a.float().SetInt64(n) }

// radius is a number that only ever gets rounded up.
func radius() *big.Float { return new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf) }

// lower is a number that only ever gets rounded down.
func lower() *big.Float { return new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf) }

// twoTo is a power of 2.
func twoTo(n int) *big.Float { return radius().SetMantExp(big.NewFloat(1), n) }

// ulp is a bound for the rounding of x to the precision.
func (a *arena) ulp(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return radius()
	}
	return twoTo(x.MantExp(nil) - int(a.prec))
}

// rounded is a ball around a result that is about to be rounded, with a further
// error.
func (a *arena) rounded(x, rad *big.Float) ball {
	mid := a.float().Set(x)
	if mid.IsInf() || rad.IsInf() || mid.Sign() != 0 && (mid.MantExp(nil) > maxExponent || mid.MantExp(nil) < -maxExponent) {
		fail(errLimit)
	}
	return ball{mid, radius().Add(rad, a.ulp(mid))}
}

func (a *arena) fromRat(r *big.Rat) ball {
	mid := a.float().SetRat(r)
	if back, accuracy := mid.Rat(nil); accuracy == big.Exact && back.Cmp(r) == 0 {
		return ball{mid, radius()}
	}
	return ball{mid, a.ulp(mid)}
}

func (a *arena) fromInt(n int64) ball { return a.fromRat(big.NewRat(n, 1)) }

// magnitude is a bound for the absolute value.
func (b ball) magnitude() *big.Float {
	return radius().Add(new(big.Float).Abs(b.mid), b.rad)
}

// least is a bound for the absolute value from below; not positive if the ball
// has zero in it.
func (b ball) least() *big.Float { return lower().Sub(new(big.Float).Abs(b.mid), b.rad) }

func (b ball) hasZero() bool { return b.least().Sign() <= 0 }

// sign is the sign of the whole ball.
func (b ball) sign() int {
	if b.hasZero() && (b.mid.Sign() != 0 || b.rad.Sign() != 0) {
		fail(errPrecision)
	}
	return b.mid.Sign()
}

func (b ball) neg() ball { return ball{new(big.Float).Neg(b.mid), b.rad} }

func (a *arena) add(x, y ball) ball {
	return a.rounded(a.float().Add(x.mid, y.mid), radius().Add(x.rad, y.rad))
}

// crossed is |x| times the error of y plus |y| times that of x.
func crossed(x, y ball) *big.Float {
	rad := radius().Mul(x.magnitude(), y.rad)
	return rad.Add(rad, radius().Mul(y.magnitude(), x.rad))
}

func (a *arena) mul(x, y ball) ball { return a.rounded(a.float().Mul(x.mid, y.mid), crossed(x, y)) }

func (a *arena) div(x, y ball) ball {
	if y.sign() == 0 {
		fail(errUndefined)
	}
	// |x/y - x0/y0| <= (|x0| ry + |y0| rx) / (|y0| (|y0| - ry))
	rad := crossed(x, y)
	return a.rounded(a.float().Quo(x.mid, y.mid), rad.Quo(rad, lower().Mul(y.least(), y.least())))
}

func (a *arena) sqrt(x ball) ball {
	if x.sign() < 0 {
		fail(errUndefined)
	}
	// The slope is 1/(2 sqrt), which is largest at the lower end.
	return a.rounded(a.float().Sqrt(x.mid), radius().Quo(x.rad, lower().Sqrt(x.least())))
}

// power raises to a whole number, which is not negative.
func (a *arena) power(x ball, n int64) ball {
	if bits := int64(max(x.magnitude().MantExp(nil), -x.mid.MantExp(nil))); bits > 0 && n > maxExponent/bits {
		fail(errLimit)
	}
	result := a.fromInt(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result = a.mul(result, x)
		}
		if n > 1 {
			x = a.mul(x, x)
		}
	}
	return result
}

// taylor sums a series. Each term is the one before times q, divided by the next
// step whole numbers after n.
func (a *arena) taylor(first, q *big.Float, n, step int64) *big.Float {
	sum, term := a.float().Set(first), a.float().Set(first)
	for {
		divisor := int64(1)
		for range step {
			n++
			divisor *= n
		}
		term.Quo(term.Mul(term, q), a.whole(divisor))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-int(a.prec) {
			return sum
		}
		sum.Add(sum, term)
	}
}

// exp uses e^x = 2^k e^r with r small.
func (a *arena) exp(x ball) ball {
	if x.magnitude().Cmp(big.NewFloat(maxExponent/2)) > 0 || x.rad.Cmp(big.NewFloat(0.5)) > 0 {
		fail(errLimit)
	}
	const halvings = 16
	w := a.finer(a.prec + uint(max(0, x.mid.MantExp(nil))))
	k, _ := w.float().Quo(x.mid, w.ln2()).Int64()
	r := w.float().Sub(x.mid, w.float().Mul(w.ln2(), w.whole(k)))
	sum := w.taylor(w.whole(1), double(r, -halvings), 0, 1)
	for range halvings {
		sum.Mul(sum, sum)
	}
	double(sum, int(k))
	// e^(x+d) - e^x is at most 2 |d| e^x for |d| <= 1/2, here with some to spare.
	rad := radius().Mul(radius().Abs(sum), x.rad)
	rad.Mul(rad, big.NewFloat(4))
	return a.rounded(sum, rad.Add(rad, a.ulp(sum)))
}

// ln uses ln(2^k f) = k ln 2 + 2 artanh((f-1)/(f+1)).
func (a *arena) ln(x ball) ball {
	if x.sign() <= 0 {
		fail(errUndefined)
	}
	w := a.finer(max(a.prec, x.mid.Prec()))
	f := w.float()
	k := x.mid.MantExp(f)
	f.SetPrec(w.prec)
	if f.Cmp(big.NewFloat(0.7071)) < 0 {
		double(f, 1)
		k--
	}
	one := w.whole(1)
	sum := double(w.oddSeries(w.float().Quo(w.float().Sub(f, one), w.float().Add(f, one)), false), 1)
	if k != 0 {
		sum.Add(sum, w.float().Mul(w.ln2(), w.whole(int64(k))))
	}
	rad := radius().Quo(x.rad, x.least())
	return a.rounded(sum, rad.Add(rad, a.ulp(sum)))
}

// oddSeries is z + z^3/3 + z^5/5 + ..., or with alternating signs, for a small z.
func (a *arena) oddSeries(z *big.Float, alternating bool) *big.Float {
	sum := a.float().Set(z)
	if z.Sign() == 0 {
		return sum
	}
	square, power := a.float().Mul(z, z), a.float().Set(z)
	if alternating {
		square.Neg(square)
	}
	for n := int64(3); ; n += 2 {
		power.Mul(power, square)
		term := a.float().Quo(power, a.whole(n))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-int(a.prec) {
			return sum
		}
		sum.Add(sum, term)
	}
}

// constant returns a constant in this precision, and computes it the first time.
func (a *arena) constant(name string, compute func(w *arena) *big.Float) *big.Float {
	key := fmt.Sprint(name, a.prec)
	if a.known[key] == nil {
		a.known[key] = a.float().Set(compute(a.finer(a.prec)))
	}
	return a.known[key]
}

// inverse is the series of 1/n.
func (a *arena) inverse(n int64, alternating bool) *big.Float {
	return a.oddSeries(a.float().Quo(a.whole(1), a.whole(n)), alternating)
}

// ln2 is 2 artanh(1/3).
func (a *arena) ln2() *big.Float {
	return a.constant("ln 2", func(w *arena) *big.Float { return double(w.inverse(3, false), 1) })
}

// pi is 16 arctan(1/5) - 4 arctan(1/239).
func (a *arena) pi() *big.Float {
	return a.constant("pi", func(w *arena) *big.Float {
		return w.float().Sub(double(w.inverse(5, true), 4), double(w.inverse(239, true), 2))
	})
}

// double multiplies x by 2 a number of times.
func double(x *big.Float, times int) *big.Float { return x.SetMantExp(x, times) }

func (a *arena) piBall() ball { return ball{a.pi(), a.ulp(a.pi())} }

// maxAngle bounds the arguments of sine and cosine, in bits.
const maxAngle = 4096

// sinCos brings the angle to at most a quarter of pi around zero first.
func (a *arena) sinCos(x ball) (sin, cos ball) {
	bits := max(0, x.mid.MantExp(nil))
	if bits > maxAngle {
		fail(errLimit)
	}
	w := a.finer(max(a.prec, x.mid.Prec()) + uint(bits))
	half := w.float().SetMantExp(w.pi(), -1)
	k, _ := w.float().Add(w.float().Quo(w.float().Abs(x.mid), half), big.NewFloat(0.5)).Int(nil)
	r := w.float().Sub(w.float().Abs(x.mid), w.float().Mul(half, w.float().SetInt(k)))
	q := w.float().Neg(w.float().Mul(r, r))
	s, c := w.taylor(r, q, 1, 2), w.taylor(w.whole(1), q, 0, 2)
	switch new(big.Int).And(k, big.NewInt(3)).Int64() {
	case 1:
		s, c = c, s.Neg(s)
	case 2:
		s, c = s.Neg(s), c.Neg(c)
	case 3:
		s, c = c.Neg(c), s
	}
	if x.mid.Sign() < 0 {
		s.Neg(s)
	}
	// Neither slope is more than 1.
	rad := radius().Set(x.rad)
	if k.Sign() != 0 {
		rad.Add(rad, twoTo(-int(a.prec)))
	}
	return a.rounded(s, radius().Add(rad, a.ulp(s))), a.rounded(c, radius().Add(rad, a.ulp(c)))
}
