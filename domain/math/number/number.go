// Package number computes the value of expressions, exactly if it can be and
// otherwise with bounds for the error, so that what it says about a value is
// certain.
package number

import (
	"errors"
	"math/big"

	"github.com/maker-mdap/maker/domain/math/notation"
)

// precisions, in bits, are tried one after the other, until something is decided.
var precisions = []uint{256, 1024, maxPrecision}

const maxPrecision = 4096

// A Calculator computes within a limit of work. It is not for concurrent use.
type Calculator struct {
	left  int // work, in units of about half a microsecond
	known constants
}

// New returns a calculator that works for about a tenth of a second.
func New() *Calculator { return &Calculator{left: 200_000, known: constants{}} }

// Exhausted reports whether the work is used up. Nothing is known any more then.
func (c *Calculator) Exhausted() bool { return c.left < 0 }

// Sign is the sign of e, given the values of its variables. It is not known where
// e is not defined.
//
// That something is 0 is proved if there are only arithmetic and roots in it.
// Otherwise it is 0 in 50 digits more than its size can explain.
func (c *Calculator) Sign(e *notation.Expr, at map[string]*notation.Expr) (sign int, known bool) {
	for _, prec := range precisions {
		ev := c.evaluator(prec, at)
		sign, err := attempt(func() int {
			x := ev.compute(e)
			if x.exact == nil && ev.isZero(x) {
				return 0 // also without a proof
			}
			if x.exact == nil && x.ball.hasZero() && x.ball.rad.MantExp(nil)+int(prec) > maxPrecision {
				fail(errLimit) // more digits would still be before the point
			}
			return ev.sign(x)
		})
		if !errors.Is(err, errPrecision) {
			return sign, err == nil
		}
	}
	return 0, false
}

// Exact is the value of an expression, given those of its variables; nil if it is
// not known exactly.
func (c *Calculator) Exact(e *notation.Expr, at map[string]*notation.Expr) *big.Rat {
	x, _ := attempt(func() real { return c.evaluator(precisions[0], at).compute(e) })
	return x.exact
}

// An evaluator computes the value of one expression. Its methods fail as those of
// its arena do.
type evaluator struct {
	arena
	calculator *Calculator
	at         map[string]*notation.Expr // the values of variables

	roots   map[string]bool // that were taken
	degree  float64         // of the field that they span
	numeric bool            // there is more than arithmetic and roots
}

func (c *Calculator) evaluator(prec uint, at map[string]*notation.Expr) *evaluator {
	return &evaluator{arena: arena{prec, c.known}, calculator: c, at: at, roots: map[string]bool{}, degree: 1}
}

// A failure is the panic with which an evaluation ends early.
type failure struct{ error }

func fail(err error) { panic(failure{err}) }

// attempt returns what f returns, or the error with which it failed: errUndefined,
// errPrecision or errLimit.
func attempt[T any](f func() T) (result T, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	return f(), nil
}

// spend takes n units of work.
func (ev *evaluator) spend(n int) {
	if ev.calculator.left -= n; ev.calculator.left < 0 {
		fail(errLimit)
	}
}

// spendSeries takes the work of a function that is computed by a series.
func (ev *evaluator) spendSeries() { ev.spend(int(ev.prec/16 + ev.prec*ev.prec/10_000)) }
