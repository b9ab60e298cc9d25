package math

import (
	"errors"
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

// An arena makes balls of one precision, in bits.
type arena struct {
	prec  uint
	known *constantCache
}

// A constantCache has constants by their precision, for all arenas of a
// comparison.
type constantCache struct {
	pi, ln2 map[uint]*big.Float
}

func newArena(prec uint) *arena {
	return &arena{prec, &constantCache{map[uint]*big.Float{}, map[uint]*big.Float{}}}
}

// finer is an arena for the steps in between, with that many bits at least.
func (a *arena) finer(prec uint) *arena { return &arena{(prec + 127) &^ 63, a.known} }

func (a *arena) float() *big.Float { return new(big.Float).SetPrec(a.prec) }

// radius is a number that only ever gets rounded up.
func radius() *big.Float { return new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf) }

// ulp is a bound for the rounding of x to the precision.
func (a *arena) ulp(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return radius()
	}
	return radius().SetMantExp(radius().SetInt64(1), x.MantExp(nil)-int(a.prec))
}

// rounded is a ball around a rounded result, with a further error.
func (a *arena) rounded(mid, rad *big.Float) (ball, error) {
	if mid.IsInf() || rad.IsInf() || mid.Sign() != 0 && (mid.MantExp(nil) > maxExponent || mid.MantExp(nil) < -maxExponent) {
		return ball{}, errLimit
	}
	return ball{mid, radius().Add(rad, a.ulp(mid))}, nil
}

func (a *arena) fromRat(r *big.Rat) ball {
	mid := a.float().SetRat(r)
	if back, accuracy := mid.Rat(nil); accuracy == big.Exact && back.Cmp(r) == 0 {
		return ball{mid, radius()}
	}
	return ball{mid, a.ulp(mid)}
}

// magnitude is a bound for the absolute value.
func (b ball) magnitude() *big.Float {
	return radius().Add(new(big.Float).Abs(b.mid), b.rad)
}

// least is a bound for the absolute value from below; not positive if the ball
// has zero in it.
func (b ball) least() *big.Float {
	return new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf).Sub(new(big.Float).Abs(b.mid), b.rad)
}

func (b ball) hasZero() bool { return b.least().Sign() <= 0 }

// sign returns the sign, if it is the same for the whole ball.
func (b ball) sign() (int, error) {
	switch {
	case !b.hasZero():
		return b.mid.Sign(), nil
	case b.mid.Sign() == 0 && b.rad.Sign() == 0:
		return 0, nil
	}
	return 0, errPrecision
}

func (b ball) neg() ball { return ball{new(big.Float).Neg(b.mid), b.rad} }

func (a *arena) add(x, y ball) (ball, error) {
	return a.rounded(a.float().Add(x.mid, y.mid), radius().Add(x.rad, y.rad))
}

func (a *arena) mul(x, y ball) (ball, error) {
	rad := radius().Mul(x.magnitude(), y.rad)
	rad.Add(rad, radius().Mul(y.magnitude(), x.rad))
	return a.rounded(a.float().Mul(x.mid, y.mid), rad)
}

func (a *arena) div(x, y ball) (ball, error) {
	if s, err := y.sign(); err != nil {
		return ball{}, err
	} else if s == 0 {
		return ball{}, errUndefined
	}
	// |x/y - x0/y0| <= (|x0| ry + |y0| rx) / (|y0| (|y0| - ry))
	rad := radius().Mul(x.magnitude(), y.rad)
	rad.Add(rad, radius().Mul(y.magnitude(), x.rad))
	least := y.least()
	rad.Quo(rad, new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf).Mul(least, least))
	return a.rounded(a.float().Quo(x.mid, y.mid), rad)
}

func (a *arena) sqrt(x ball) (ball, error) {
	s, err := x.sign()
	switch {
	case err != nil:
		return ball{}, err
	case s < 0:
		return ball{}, errUndefined
	case s == 0:
		return x, nil
	}
	// The slope is 1/(2 sqrt), which is largest at the lower end.
	lower := new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf).Sqrt(x.least())
	return a.rounded(a.float().Sqrt(x.mid), radius().Quo(x.rad, lower))
}

// power raises to a whole number.
func (a *arena) power(x ball, n int64) (ball, error) {
	if n < 0 {
		p, err := a.power(x, -n)
		if err != nil {
			return ball{}, err
		}
		return a.div(a.fromRat(big.NewRat(1, 1)), p)
	}
	if bits := int64(max(x.magnitude().MantExp(nil), -x.mid.MantExp(nil))); bits > 0 && n > maxExponent/bits {
		return ball{}, errLimit
	}
	result, err := a.fromRat(big.NewRat(1, 1)), error(nil)
	for ; n > 0 && err == nil; n >>= 1 {
		if n&1 == 1 {
			if result, err = a.mul(result, x); err != nil {
				break
			}
		}
		if n > 1 {
			x, err = a.mul(x, x)
		}
	}
	return result, err
}

// exp uses e^x = 2^k e^r with r small.
func (a *arena) exp(x ball) (ball, error) {
	if x.magnitude().Cmp(big.NewFloat(maxExponent/2)) > 0 || x.rad.Cmp(big.NewFloat(0.5)) > 0 {
		return ball{}, errLimit
	}
	const halvings = 16
	w := a.finer(a.prec + uint(max(0, x.mid.MantExp(nil))))
	ln2 := w.ln2()
	k, _ := w.float().Quo(x.mid, ln2).Int64()
	r := w.float().Sub(x.mid, w.float().Mul(ln2, w.float().SetInt64(k)))
	r.SetMantExp(r, -halvings)
	sum, term := w.float().SetInt64(1), w.float().SetInt64(1)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > -int(w.prec); n++ {
		term.Mul(term, r)
		term.Quo(term, w.float().SetInt64(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	mid := a.float().SetMantExp(sum, int(k))
	// e^(x+d) - e^x is at most 2 |d| e^x for |d| <= 1/2, here with some to spare.
	rad := radius().Mul(radius().Abs(mid), x.rad)
	rad.Mul(rad, radius().SetInt64(4))
	return a.rounded(mid, rad.Add(rad, a.ulp(mid)))
}

// ln uses ln(2^k f) = k ln 2 + 2 artanh((f-1)/(f+1)).
func (a *arena) ln(x ball) (ball, error) {
	s, err := x.sign()
	if err != nil {
		return ball{}, err
	}
	if s <= 0 {
		return ball{}, errUndefined
	}
	w := a.finer(max(a.prec, x.mid.Prec()))
	f := w.float()
	k := x.mid.MantExp(f)
	f.SetPrec(w.prec)
	if f.Cmp(big.NewFloat(0.7071)) < 0 {
		f.SetMantExp(f, 1)
		k--
	}
	one := w.float().SetInt64(1)
	z := w.float().Quo(w.float().Sub(f, one), w.float().Add(f, one))
	sum := w.oddSeries(z, false)
	sum.SetMantExp(sum, 1)
	if k != 0 {
		sum.Add(sum, w.float().Mul(w.ln2(), w.float().SetInt64(int64(k))))
	}
	mid := a.float().Set(sum)
	rad := radius().Quo(x.rad, x.least())
	return a.rounded(mid, rad.Add(rad, a.ulp(mid)))
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
		term := a.float().Quo(power, a.float().SetInt64(n))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-int(a.prec) {
			return sum
		}
		sum.Add(sum, term)
	}
}

// ln2 is 2 artanh(1/3).
func (a *arena) ln2() *big.Float {
	if c, ok := a.known.ln2[a.prec]; ok {
		return c
	}
	w := a.finer(a.prec)
	sum := w.oddSeries(w.float().Quo(w.float().SetInt64(1), w.float().SetInt64(3)), false)
	c := a.float().Set(sum.SetMantExp(sum, 1))
	a.known.ln2[a.prec] = c
	return c
}

// pi is 16 arctan(1/5) - 4 arctan(1/239).
func (a *arena) pi() *big.Float {
	if c, ok := a.known.pi[a.prec]; ok {
		return c
	}
	w := a.finer(a.prec)
	inverse := func(n int64) *big.Float {
		return w.oddSeries(w.float().Quo(w.float().SetInt64(1), w.float().SetInt64(n)), true)
	}
	x, y := inverse(5), inverse(239)
	c := a.float().Sub(x.SetMantExp(x, 4), y.SetMantExp(y, 2))
	a.known.pi[a.prec] = c
	return c
}

func (a *arena) piBall() ball {
	mid := a.float().Set(a.pi())
	return ball{mid, a.ulp(mid)}
}

// maxAngle bounds the arguments of sine and cosine, in bits.
const maxAngle = 4096

// sinCos brings the angle to at most a quarter of pi around zero first.
func (a *arena) sinCos(x ball) (sin, cos ball, err error) {
	bits := max(0, x.mid.MantExp(nil))
	if bits > maxAngle {
		return ball{}, ball{}, errLimit
	}
	w := a.finer(max(a.prec, x.mid.Prec()) + uint(bits))
	half := w.float().SetMantExp(w.pi(), -1)
	k, _ := w.float().Add(w.float().Quo(w.float().Abs(x.mid), half), big.NewFloat(0.5)).Int(nil)
	r := w.float().Sub(w.float().Abs(x.mid), w.float().Mul(half, w.float().SetInt(k)))
	s, c := w.taylor(r, 1), w.taylor(r, 0)
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
	absolute := radius()
	if k.Sign() != 0 {
		absolute.SetMantExp(radius().SetInt64(1), -int(a.prec))
	}
	absolute.Add(absolute, x.rad)
	mid := a.float().Set(s)
	if sin, err = a.rounded(mid, radius().Add(absolute, a.ulp(mid))); err != nil {
		return ball{}, ball{}, err
	}
	mid = a.float().Set(c)
	cos, err = a.rounded(mid, radius().Add(absolute, a.ulp(mid)))
	return sin, cos, err
}

// taylor is the series of sine (first 1) or cosine (first 0).
func (a *arena) taylor(r *big.Float, first int64) *big.Float {
	term := a.float().SetInt64(1)
	if first == 1 {
		term.Set(r)
	}
	sum := a.float().Set(term)
	square := a.float().Neg(a.float().Mul(r, r))
	for n := first + 1; ; n += 2 {
		term.Mul(term, square)
		term.Quo(term, a.float().SetInt64(n*(n+1)))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-int(a.prec) {
			return sum
		}
		sum.Add(sum, term)
	}
}

// atan halves the angle a few times before it uses the series.
func (a *arena) atan(x ball) (ball, error) {
	w := a.finer(max(a.prec, x.mid.Prec()))
	one := w.float().SetInt64(1)
	z := w.float().Abs(x.mid)
	inverted := z.Cmp(one) > 0
	if inverted {
		z.Quo(one, z)
	}
	const halvings = 3
	for range halvings {
		root := w.float().Sqrt(w.float().Add(one, w.float().Mul(z, z)))
		z.Quo(z, root.Add(root, one))
	}
	sum := w.oddSeries(z, true)
	sum.SetMantExp(sum, halvings)
	if inverted {
		sum.Sub(w.float().SetMantExp(w.pi(), -1), sum)
	}
	if x.mid.Sign() < 0 {
		sum.Neg(sum)
	}
	mid := a.float().Set(sum)
	return a.rounded(mid, radius().Add(x.rad, a.ulp(mid)))
}
