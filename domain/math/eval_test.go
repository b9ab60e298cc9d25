package math

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func parsed(t testing.TB, text string) *Expr {
	t.Helper()
	v, err := Parse(text)
	if err != nil || v.Expr() == nil {
		t.Fatalf("Parse(%q) = %v, %v, want an expression", text, v, err)
	}
	return v.Expr()
}

func evaluated(t testing.TB, e *Expr, prec uint, at map[string]*big.Rat) (real, error) {
	t.Helper()
	return newEvaluator(newArena(prec), &meter{1 << 30}, at).eval(e)
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
		{"asin(1/3)", "0.3398369094541219370963925133917640663882446903324580714319239624899159"},
		{"asin(-1)", "-1.570796326794896619231321691639751442098584699687552910487472296153908"},
		{"acos(1/3)", "1.230959417340774682134929178247987375710340009355094839055548333663992"},
		{"acos(-1)", "3.141592653589793238462643383279502884197169399375105820974944592307816"},
		{"atan(2)", "1.10714871779409050301706546017853704007004764540143264667653920743371"},
		{"atan(-1000)", "-1.569796327128229752564797882004830898086963765133284897396041247966263"},
		{"atan(1/1000)", "0.0009999996666668666665238096349205440116209345542680130914310481876454723"},
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

// randomExpr makes an expression of the given depth.
func randomExpr(rng *rand.Rand, depth int) *Expr {
	if depth == 0 {
		switch rng.IntN(5) {
		case 0:
			return symbol("x")
		case 1:
			return symbol(symPi)
		default:
			return number(big.NewRat(rng.Int64N(19)-9, 1+rng.Int64N(4)))
		}
	}
	a, b := randomExpr(rng, depth-1), randomExpr(rng, rng.IntN(depth))
	switch rng.IntN(9) {
	case 0, 1:
		return binary(Add, a, b)
	case 2:
		return minus(a, b)
	case 3, 4:
		return binary(Mul, a, b)
	case 5:
		return binary(Div, a, b)
	case 6:
		return binary(Pow, a, integer(rng.Int64N(5)-1))
	default:
		names := []string{fnSqrt, fnCbrt, fnAbs, fnSin, fnCos, fnTan, fnAsin, fnAcos, fnAtan, fnLn}
		return call(names[rng.IntN(len(names))], a)
	}
}

// TestBallsHold checks that the bounds of the error hold: a value of four times
// the precision lies within them.
func TestBallsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	compared := 0
	rounds := 1500
	if raceDetector {
		rounds = 300
	}
	for range rounds {
		e := randomExpr(rng, 1+rng.IntN(4))
		at := map[string]*big.Rat{"x": big.NewRat(rng.Int64N(99)-49, 1+rng.Int64N(9))}
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

// TestRewritingHolds checks that rewriting an expression does not change its value,
// and that adding something to it does.
func TestRewritingHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	same := 0
	rounds := 600
	if raceDetector {
		rounds = 120
	}
	for range rounds {
		a := randomExpr(rng, 1+rng.IntN(3))
		b := rewritten(rng, a)
		c := newComparer(Options{})
		relation := c.exprs(a, b)
		if relation == Different {
			t.Errorf("%s and %s, which is the same in other words, are different", a, b)
		}
		if relation == Same {
			same++
		}
		// Something else added must show, whoever looks.
		d := binary(Add, b, integer(1))
		if relation := newComparer(Options{}).exprs(a, d); relation == Same {
			t.Errorf("%s and %s are the same", a, d)
		}
	}
	if same < rounds/2 {
		t.Errorf("%d of %d were found to be the same, want more", same, rounds)
	}
}

// rewritten returns an expression of the same value.
func rewritten(rng *rand.Rand, e *Expr) *Expr {
	args := make([]*Expr, len(e.Args))
	for i, arg := range e.Args {
		args[i] = rewritten(rng, arg)
	}
	out := &Expr{Op: e.Op, Text: e.Text, Args: args, value: e.value}
	switch {
	case (e.Op == Add || e.Op == Mul) && rng.IntN(2) == 0:
		out.Args = []*Expr{args[1], args[0]}
	case e.Op == Mul && args[0].Op == Add && rng.IntN(2) == 0:
		out = binary(Add, binary(Mul, args[0].Args[0], args[1]), binary(Mul, args[0].Args[1], args[1]))
	case e.Op == Div && rng.IntN(2) == 0:
		out = binary(Mul, args[0], binary(Pow, args[1], integer(-1)))
	case e.Op == Pow && args[1].Text == "2":
		out = binary(Mul, args[0], args[0])
	case e.Op == Num && rng.IntN(4) == 0:
		out = minus(number(new(big.Rat).Add(e.value, big.NewRat(1, 3))), number(big.NewRat(1, 3)))
	case e.Op == Call && e.Text == fnTan:
		out = binary(Div, call(fnSin, args[0]), call(fnCos, args[0]))
	case e.Op == Call && e.Text == fnAcos:
		out = minus(binary(Div, symbol(symPi), integer(2)), call(fnAsin, args[0]))
	}
	return out
}

// TestZeroIsProved adds little to what agrees: however little it is, the two must
// never be the same.
func TestZeroIsProved(t *testing.T) {
	for i, text := range []string{
		"sqrt(2)", "sqrt(2) + sqrt(3)", "2^(1/3)", "sqrt(x)", "|x|", "pi", "e^100", "sin(x)", "ln(5)", "x^2", "x/y", "2^x",
	} {
		if raceDetector && i%4 != 0 {
			continue
		}
		for _, digits := range []string{"60", "200", "3000"} {
			for _, more := range []string{" + 10^-" + digits, " + sin(10^-" + digits + ")", " + e^-" + digits, " + 1/(7^" + digits + " + sqrt(x^2 + 5))"} {
				if got := Equal(text, text+more); got == Same {
					t.Errorf("Equal(%s, %s) = %v, want something else", text, text+more, got)
				}
			}
		}
	}
}

// A polynomial that is 0 at every point where expressions are compared is still not
// 0, whatever it is multiplied with.
func TestNoPointIsSpecial(t *testing.T) {
	x := symbol("x")
	product := integer(1)
	for range 2 { // what it has in it adds points
		for _, at := range points([]string{"x"}, product) {
			product = binary(Mul, product, minus(x, number(at["x"])))
		}
	}
	for _, factor := range []*Expr{integer(1), call(fnSqrt, x), call(fnSin, x), call(fnSqrt, integer(2))} {
		if got := newComparer(Options{}).exprs(binary(Mul, product, factor), integer(0)); got == Same {
			t.Errorf("a product times %s and 0 are %v, want something else", factor, got)
		}
	}
}

func TestCountRoots(t *testing.T) {
	for text, want := range map[string]int{
		"x^2 - 5x + 6": 2, "x^2 + 1": 0, "(x-1)^2": 1, "x^3 - x": 3, "(x-1)(x-2)(x-3)(x-4)(x-5)": 5, "x^3 + x + 1": 1, "(x^2-2)(x^2-3)": 4,
		"x": 1, "x^4 + x^2 + 1": 0, "x^20 - 1": 2,
	} {
		if got, ok := newComparer(Options{}).realRoots(parsed(t, text)); !ok || got != want {
			t.Errorf("realRoots(%s) = %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"5", "x + y", "sin(x)", "1/x", "sqrt(x)", "x^21", "sqrt(2) x", "x^x"} {
		if got, ok := newComparer(Options{}).realRoots(parsed(t, text)); ok {
			t.Errorf("realRoots(%s) = %d, want none", text, got)
		}
	}
}
