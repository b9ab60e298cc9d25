package maker_test

import (
	"context"
	"testing"

	"github.com/maker-mdap/maker/domain/math"
	"github.com/maker-mdap/maker/internal/sympy"
)

func TestZZ(t *testing.T) {
	a, _ := math.New(nil)
	c, err := sympy.New(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b, _ := math.New(&math.Options{CAS: func(x, y string) (bool, bool) { e, k, _ := c.Equal(context.Background(), x, y); t.Log(x, y, e, k); return e, k }})
	for _, p := range [][2]string{{"sin(x)^2", "(1-cos(2x))/2"}, {"sqrt(2)+sqrt(3)", "sqrt(5+2*sqrt(6))"}, {"arctan(1)", "pi/4"}, {"log(x^2)", "2*log(abs(x))"}, {"sin(3x)", "3sin(x)-4sin(x)^3"}, {"cosh(x)", "(exp(x)+exp(-x))/2"}, {"abs(x)", "sqrt(x^2)"}, {"gamma(5)","24"},{"arcsin(x)+arccos(x)","pi/2"}} {
		t.Log(p, a.Equivalent(p[0], p[1]), b.Equivalent(p[0], p[1]))
	}
}
