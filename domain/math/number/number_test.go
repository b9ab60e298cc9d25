package number

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/maker-mdap/maker/domain/math/notation"
)

func parsed(t testing.TB, text string) *notation.Expr {
	t.Helper()
	v, ok := notation.Parse(text)
	if !ok || v.Expr == nil {
		t.Fatalf("Parse(%q) = %v, %v, want an expression", text, v, ok)
	}
	return v.Expr
}

func evaluated(t testing.TB, e *notation.Expr, prec uint, at map[string]*notation.Expr) (real, error) {
	t.Helper()
	c := &Calculator{left: 1 << 30, known: constants{}}
	return attempt(func() real { return c.evaluator(prec, at).compute(e) })
}

// TestDigits compares with digits that another program computed.
func TestDigits(t *testing.T) {
	tests := []struct{ text, want string }{
		{"pi", "3.141592653589793238462643383279502884197169399375105820974944592307816"},
		{"e", "2.718281828459045235360287471352662497757247093699959574966967627724077"},
		{"ln(2)", "0.6931471805599453094172321214581765680755001343602552541206800094933936"},
		{"ln(10)", "2.302585092994045684017991454684364207601101488628772976033327900967573"},
		{"sqrt(2)", "1.414213562373095048801688724209698078569671875376948073176679737990732"},
		{"cbrt(2)", "1.2599210498948731647672106072782283505702514647015079800819751121553"},
		{"cbrt(-5)", "-1.709975946676696989353108872543860109868055110543054924382861707444296"},
		{"sin(1)", "0.8414709848078965066525023216302989996225630607983710656727517099919104"},
		{"cos(1)", "0.5403023058681397174009366074429766037323104206179222276700972553811004"},
		{"tan(1)", "1.557407724654902230506974807458360173087250772381520038383946605698861"},
		{"sin(10^30)", "-0.09011690191213805803038642895298733027439633299304344988546066657977398"},
		{"cos(-22/7)", "-0.9999992005335529032683357396565749515758288206610964906755434814480029"},
		{"tan(pi/2 - 10^-20)", "99999999999999999999.99999999999999999999666666666666666666666666666667"},
		{"sin(10^-20)", "0.000000000000000000009999999999999999999999999999999999999999833333333333333333333333333333"},
		{"e^10", "22026.4657948067165169579006452842443663535126185567810742354263552252"},
		{"e^-10", "0.00004539992976248485153559151556055061023791808886656496925907130565099942"},
		{"e^(1/1000)", "1.00100050016670834166805575399305831156307620058070146022851467446036"},
		{"2^(1/3)", "1.2599210498948731647672106072782283505702514647015079800819751121553"},
		{"pi^e", "22.45915771836104547342715220454373502758931513399669224920300255406693"},
		{"10^(1/7)", "1.3894954943731376371299852173530116221130467144910002049456286790316"},
		{"ln(1 + 10^-20)", "0.000000000000000000009999999999999999999950000000000000000000333333333333333333330833333333"},
		{"ln(1/1000)", "-6.907755278982137052053974364053092622803304465886318928099983702902718"},
		{"|-pi|", "3.141592653589793238462643383279502884197169399375105820974944592307816"},
		{"e^(sin(1))*ln(3)", "2.548535326600323783779262334853356296239452858332794474895971246949588"},
	}
	near, large := big.NewFloat(1e-68), big.NewFloat(1e-55)
	for _, test := range tests {
		got, err := evaluated(t, parsed(t, test.text), 256, nil)
		if err != nil || got.exact != nil {
			t.Errorf("eval(%s) = %v, %v, want a ball", test.text, got.exact, err)
			continue
		}
		want, _ := new(big.Float).SetPrec(400).SetString(test.want)
		bound := new(big.Float).Mul(near, new(big.Float).Abs(want)) // of the digits above
		bound.Add(bound, got.ball.rad)
		most := new(big.Float).Mul(large, new(big.Float).Abs(want))
		d := new(big.Float).Sub(got.ball.mid, want)
		if d.Abs(d).Cmp(bound) > 0 || got.ball.rad.Cmp(most) > 0 {
			t.Errorf("eval(%s) = %.75g ± %.3g, want %s", test.text, got.ball.mid, got.ball.rad, test.want)
		}
	}
}

func TestExactValues(t *testing.T) {
	tests := []struct{ text, want string }{
		{"sqrt(9/4)", "3/2"}, {"2^-3", "1/8"}, {"(-2)^3", "-8"}, {"4^(3/2)", "8"}, {"20!", "2432902008176640000"}, {"|-1/2|", "1/2"},
		{"1^(10^30)", "1"}, {"(-1)^(10^30 + 1)", "-1"}, {"0^5", "0"}, {"ln(1)", "0"}, {"e^0", "1"}, {"sqrt(0)", "0"}, {"0*pi", "0"},
	}
	for _, test := range tests {
		got, err := evaluated(t, parsed(t, test.text), 256, nil)
		if err != nil || got.exact == nil || got.exact.RatString() != test.want {
			t.Errorf("eval(%s) = %v, %v, want exactly %s", test.text, got.exact, err, test.want)
		}
	}
	for text, want := range map[string]error{
		"1/0": errUndefined, "0^0": errUndefined, "0^-1": errUndefined, "sqrt(-1)": errUndefined, "ln(0)": errUndefined, "ln(-1)": errUndefined,
		"asin(2)": errUndefined, "(1/2)!": errUndefined, "(-1)!": errUndefined, "(-8)^(1/3)": errUndefined, "x": errUndefined,
		"1/sin(pi)": errPrecision, "ln(sin(pi))": errPrecision, "pi!": errPrecision,
		"9^9^9^9": errLimit, "e^(10^9)": errLimit, "99999!": errLimit, "sin(10^9999)": errLimit, "2^(10^30)": errLimit,
	} {
		if got, err := evaluated(t, parsed(t, text), 256, nil); err != want {
			t.Errorf("eval(%s) = %v, %v, want %v", text, got, err, want)
		}
	}
}

// TestBallsHold checks that the bounds of the error hold: a value of four times
// the precision lies within them.
func TestBallsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	compared := 0
	const rounds = 1000
	for range rounds {
		e := randomExpr(rng, 1+rng.IntN(4))
		at := map[string]*notation.Expr{"x": notation.Number(big.NewRat(rng.Int64N(99)-49, 1+rng.Int64N(9)))}
		coarse, err := evaluated(t, e, 128, at)
		if err != nil || coarse.exact != nil {
			continue
		}
		fine, err := evaluated(t, e, 512, at)
		if err != nil {
			t.Errorf("eval(%s) at %v with 512 bits = %v, want a value as with 128", e, at["x"], err)
			continue
		}
		compared++
		mid := fine.ball.mid
		if fine.exact != nil {
			mid = new(big.Float).SetPrec(512).SetRat(fine.exact)
		}
		d := new(big.Float).SetPrec(600).Sub(mid, coarse.ball.mid)
		if d.Abs(d).Cmp(coarse.ball.rad) > 0 {
			t.Errorf("eval(%s) at %v = %.40g ± %.3g, want %.60g within", e, at["x"], coarse.ball.mid, coarse.ball.rad, mid)
		}
	}
	if compared < rounds/5 {
		t.Errorf("%d values of %d were compared, want more", compared, rounds)
	}
}

// randomExpr makes an expression of the given depth.
func randomExpr(rng *rand.Rand, depth int) *notation.Expr {
	if depth == 0 {
		switch rng.IntN(5) {
		case 0:
			return notation.Symbol("x")
		case 1:
			return notation.Symbol(notation.Pi)
		default:
			return notation.Number(big.NewRat(rng.Int64N(19)-9, 1+rng.Int64N(4)))
		}
	}
	a, b := randomExpr(rng, depth-1), randomExpr(rng, rng.IntN(depth))
	switch rng.IntN(9) {
	case 0, 1:
		return notation.Make(notation.Add, a, b)
	case 2:
		return notation.Minus(a, b)
	case 3, 4:
		return notation.Make(notation.Mul, a, b)
	case 5:
		return notation.Make(notation.Div, a, b)
	case 6:
		return notation.Make(notation.Pow, a, notation.Integer(rng.Int64N(5)-1))
	default:
		names := []string{"sqrt", "cbrt", "abs", "sin", "cos", "tan", "asin", "acos", "atan", "ln"}
		return notation.Apply(names[rng.IntN(len(names))], a)
	}
}
