package math

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		kind Kind
		want string
	}{
		{"2 sin x cos x", Expression, "2*sin(x)*cos(x)"},
		{"2^-1", Expression, "2^(-1)"},
		{"-x^2", Expression, "-x^2"},
		{"a - b - c", Expression, "a - b - c"},
		{"a - (b - c)", Expression, "a - (b - c)"},
		{"a/b/c", Expression, "a/b/c"},
		{"a/(b/c)", Expression, "a/(b/c)"},
		{"0.125", Expression, "1/8"},
		{"x^0.5", Expression, "x^(1/2)"},
		{"sin²x", Expression, "sin(x)^2"},
		{"xⁿ + 2ˣ", Expression, "x^n + 2^x"},
		{"sin⁻¹ x", Expression, "asin(x)"},
		{"ln|x| + C", Expression, "ln(abs(x)) + C"},
		{"25π cm²", Expression, "25*pi*cm^2"},
		{"-∞", Expression, "-oo"},
		{"2e3", Expression, "2000"},
		{"2e", Expression, "2*e"},
		{"x₁²", Expression, "x_1^2"},
		{"```\n42\n```", Expression, "42"},
		{"The total cost is $25.", Expression, "cost = 25"},
		{"x = sqrt(2) ≈ 1.414", Expression, "x = sqrt(2)"},
		{"x = 1\ny = 2", Assignment, "x = 1, y = 2"},
		{"x = \\frac{-1 \\pm \\sqrt{5}}{2}", Set, "x = {(-1 + sqrt(5))/2, (-1 - sqrt(5))/2}"},
		{"\\left[1, 2\\right)", Interval, "[1, 2)"},
		{"[1, [2, 3]]", List, "[1, [2, 3]]"},
		{"(1,234)", Point, "(1, 234)"},
		{"3 ≤ x < 5", Equation, "3 ≤ x, x < 5"},
		{"x + y = 3; x - y = 1", Equation, "x + y = 3, x - y = 1"},
		{"f(2) = 7", Expression, "f(2) = 7"},
		{"The roots are 2 and 3.", List, "[2, 3]"},
	}
	for _, test := range tests {
		v, err := Parse(test.text)
		if err != nil {
			t.Errorf("Parse(%q) = %v, want %s", test.text, err, test.want)
			continue
		}
		if v.Kind() != test.kind || v.String() != test.want {
			t.Errorf("Parse(%q) = %s %s, want %s %s", test.text, v.Kind(), v, test.kind, test.want)
		}
		if _, err := Parse(v.String()); err != nil && !strings.Contains(v.String(), "cm") {
			t.Errorf("Parse(%q), which is how a value was written, = %v", v, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", ".", "=", "x =", "(", "((1)", "1)", "|x", "{1,}", "[,]", "1,,2", "12 +", "* 3", "x^^2", "3 4", "x2", "100 200 300", "1 000 000",
		"12:30", "3:4", "0.333...", "0.(3)", "1..2", "1.2.3", "f'(x)", "dy/dx", "∫ x dx", "5 choose 2", "7 mod 3", "7 % 3", "10!!", "sin", "sin()",
		"\\frac{a}{b", "\\unknown{3}", "\\", "\\boxed{}", "not 5", "The answer is not 5", "x is not 5", "5 red apples", "cat", "one half", "true",
		"x = 2 or y = 3", "a b", "A B C", "xy", "1 < 2 or x = 3", "{1, 2]", "x → 3", "log(8)2", "ⁿ", "ˣ", "²", "\x00", "\xff\xfe", "日本", "e3", "(1, 2, x = 3)",
		strings.Repeat("9", maxDigits+1), "1e99999", strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), strings.Repeat("√", 200) + "1",
		strings.Repeat("2^", 200) + "2", strings.Repeat("sin ", 200) + "x", strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat("x", MaxBytes+1),
	} {
		if v, err := Parse(text); err == nil {
			t.Errorf("Parse(%.40q) = %s %s, want an error", text, v.Kind(), v)
		}
	}
}

// Refusing takes no time, and neither do large numbers.
func TestHostile(t *testing.T) {
	r := strings.Repeat
	nines := r("9", 9000)
	texts := []string{
		"9^9^9^9", "9^9^9", "9^99999", "(9^9999)^9999", "2^(2^(2^(2^(2^2))))", "3000!", "99999999999!", "(20!)!", nines + "*" + nines[:7000],
		"1/" + nines[:4000] + "+1/" + nines[:3999], "(x+1)^1000000", "(x+y+z+a+b+c)^30", r("x+", 5000) + "1", r("sin(x)+", 1000) + "1",
		r("(x+1)", 1000), "e^e^e^e^e", "sin(10^500)", "sin(10^9999)", "sqrt(" + nines + ")", "10^-9999", "x^x^x^x^x", r("1/(x+", 49) + "y" + r(")", 49),
		r("sqrt(x+", 49) + "y" + r(")", 49), r("(x+sqrt(2)+sqrt(3)+sqrt(5))", 20), r("1/2x+", 1000) + "1", "{" + r("sin(1)+sqrt(2), ", 900) + "1}",
		"{" + r("1, ", 5000) + "1}", r("-", 9999) + "1", r("1 = ", 3000) + "1", r("x = 1 or ", 1500) + "x = 2", r("{", 90) + r("}", 90),
		r("log(", 40) + "x" + r(")", 40), "tan(tan(tan(x)))^99", "2^(1/3)+3^(1/5)+5^(1/7)+7^(1/11)", "(1/3)^99999", "0.1^9999", "|" + r("x|+|", 2000) + "x|",
	}
	for i, a := range texts {
		if raceDetector && i%6 != 0 { // it is slow, and nothing here is concurrent
			continue
		}
		b := texts[(i+1)%len(texts)]
		if got := Equal(a, a); got != Same {
			t.Errorf("Equal(a, a) = %v for %.40q, want same", got, a)
		}
		there := Equal(a, b)
		if back := Equal(b, a); back != there || there == Same {
			t.Errorf("Equal(%.40q, %.40q) = %v, and %v the other way round", a, b, there, back)
		}
		if got := Equal(a, a+" + 1"); got == Same {
			t.Errorf("Equal(a, a + 1) = same for %.40q", a)
		}
	}
	adapter := newAdapter(t, nil)
	for i, text := range texts {
		if raceDetector && i%6 != 0 {
			continue
		}
		_ = adapter.Verify("Compute "+text, text+" = 1")
		_ = adapter.Verify("Solve "+text+" = 0", "x = "+text)
		_ = adapter.Evidence(text + " = 1, (" + text + ", 1)")
	}
}

func FuzzParse(f *testing.F) {
	for _, table := range []string{samePairs, differentPairs, unknownPairs} {
		for _, p := range pairs(f, table) {
			f.Add(p[0])
			f.Add(p[1])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse(text)
		if err != nil {
			return
		}
		if !utf8.ValidString(text) {
			t.Errorf("Parse(%q) = %s, want an error for broken text", text, v)
		}
		for _, r := range []reading{{wide: true}, {natural: true}} {
			if _, _, err := parseText(text, r); err != nil {
				t.Errorf("Parse(%q) in the reading %+v = %v, want a value", text, r, err)
			}
		}
		e := v.Expr()
		if e == nil || hasWords(e) {
			return
		}
		back, err := Parse(e.String())
		if err != nil && isLetters(lexProse(e.String())) {
			return
		}
		if err != nil || back.Kind() != Expression {
			t.Fatalf("Parse(%q) = %v %v, want the expression that was written like that, read from %q", e, back, err, text)
		}
		if relation := newComparer(Options{}).exprs(e, back.Expr()); relation == Different {
			t.Errorf("%q was read as %s, which was read as %s: different", text, e, back)
		}
	})
}

func FuzzEqual(f *testing.F) {
	for _, table := range []string{samePairs, differentPairs, unknownPairs} {
		for i, p := range pairs(f, table) {
			if !raceDetector || i%6 == 0 {
				f.Add(p[0], p[1])
			}
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, text := range []string{a, b} {
			if got := Equal(text, text); got != Same {
				t.Errorf("Equal(%q, itself) = %v, want same", text, got)
			}
		}
		there := Equal(a, b)
		if back := Equal(b, a); back != there {
			t.Errorf("Equal(%q, %q) = %v, but the other way round %v", a, b, there, back)
		}
	})
}

func FuzzVerify(f *testing.F) {
	f.Add("Solve x^2 - 5x + 6 = 0", "x = 2 or x = 3")
	f.Add("Compute 12345 * 67890", "3 + 4 = 7, so (1, 2)")
	f.Add("The sum of 3 and 4", "- 3 + 4 = 8\n+ 1")
	f.Fuzz(func(t *testing.T, problem, solution string) {
		a := newAdapter(t, nil)
		_ = a.Evidence(problem)
		if a.Verify(problem, solution) != nil && strings.TrimSpace(solution) == "" {
			t.Errorf("Verify(%q, %q) knows something wrong with nothing", problem, solution)
		}
		if out, ok := a.Compose("", solution, domainPart(problem), domainPart("7")); ok && out == "" {
			t.Errorf("Compose(%q, %q, 7) = nothing", solution, problem)
		}
	})
}
