package math

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/maker-mdap/maker/domain/math/notation"
)

func pairs(t testing.TB, table string) [][2]string {
	t.Helper()
	var out [][2]string
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		a, b, ok := strings.Cut(line, " || ")
		if !ok {
			t.Fatalf("no pair: %s", line)
		}
		out = append(out, [2]string{a, b})
	}
	return out
}

func TestEqual(t *testing.T) {
	total := 0
	for _, table := range []struct {
		pairs string
		want  Relation
	}{{samePairs, Same}, {differentPairs, Different}, {unknownPairs, Unknown}} {
		list := pairs(t, table.pairs)
		if table.want != Unknown {
			total += len(list)
		}
		for _, p := range list {
			got := Equal(p[0], p[1])
			if got != table.want {
				t.Errorf("Equal(%q, %q) = %v, want %v", p[0], p[1], got, table.want)
			}
			if back := Equal(p[1], p[0]); back != got {
				t.Errorf("Equal(%q, %q) = %v, want %v as the other way round", p[1], p[0], back, got)
			}
		}
	}
	if total < 200 {
		t.Errorf("%d pairs are compared, want at least 200", total)
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
	f.Add("2^1/2^(1/22)") // has two readings, and a power in the denominator of one
	for _, table := range []string{samePairs, differentPairs, unknownPairs} {
		for _, p := range pairs(f, table) {
			f.Add(p[0])
			f.Add(p[1])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := notation.Parse(text)
		if !ok {
			return
		}
		if !utf8.ValidString(text) {
			t.Errorf("Parse(%q) = %s, want broken text refused", text, v)
		}
		for _, r := range []notation.Reading{{Wide: true}, {Natural: true}} {
			if _, _, ok := notation.Read(text, r); !ok {
				t.Errorf("Read(%q, %+v) refuses, want a value", text, r)
			}
		}
		e := v.Expr
		if e == nil || hasWords(e, e) {
			return
		}
		back, ok := notation.Parse(e.String())
		if !ok && e.Op == notation.Sym {
			return // several letters, which are rather a word
		}
		if !ok || back.Kind != notation.Expression {
			t.Fatalf("Parse(%q) = %v %v, want the expression that was written like that, read from %q", e, back, ok, text)
		}
		if relation := newComparer(Options{}).exprs(e, back.Expr); relation == Different {
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
