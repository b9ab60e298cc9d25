package notation

import (
	"strings"
	"testing"
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
		v, ok := Parse(test.text)
		if !ok {
			t.Errorf("Parse(%q) refuses, want %s", test.text, test.want)
			continue
		}
		if v.Kind != test.kind || v.String() != test.want {
			t.Errorf("Parse(%q) = %s %s, want %s %s", test.text, v.Kind, v, test.kind, test.want)
		}
		if _, ok := Parse(v.String()); !ok && !strings.Contains(v.String(), "cm") {
			t.Errorf("Parse(%q), which is how a value was written, refuses", v)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", ".", "=", "x =", "(", "((1)", "1)", "|x", "{1,}", "[,]", "1,,2", "12 +", "* 3", "x^^2", "3 4", "x2", "100 200 300", "1 000 000",
		"12:30", "3:4", "0.333...", "0.(3)", "1..2", "1.2.3", "f'(x)", "dy/dx", "∫ x dx", "5 choose 2", "7 mod 3", "7 % 3", "10!!", "sin", "sin()",
		"\\frac{a}{b", "\\unknown{3}", "\\", "\\boxed{}", "not 5", "The answer is not 5", "x is not 5", "5 red apples", "cat", "one half", "true",
		"x = 2 or y = 3", "a b", "A B C", "xy", "1 < 2 or x = 3", "{1, 2]", "x → 3", "log(8)2", "ⁿ", "ˣ", "²", "\x00", "\xff\xfe", "日本", "e3", "(1, 2, x = 3)", "ln^(±1) x",
		strings.Repeat("9", maxDigits+1), "1e99999", strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), strings.Repeat("√", 200) + "1",
		strings.Repeat("2^", 200) + "2", strings.Repeat("sin ", 200) + "x", strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat("x", MaxBytes+1),
	} {
		if v, ok := Parse(text); ok {
			t.Errorf("Parse(%.40q) = %s %s, want it refused", text, v.Kind, v)
		}
	}
}
