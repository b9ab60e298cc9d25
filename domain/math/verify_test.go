package math

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
)

func newAdapter(t testing.TB, o *Options) *Adapter {
	t.Helper()
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestVerify(t *testing.T) {
	const quadratic = "Solve x^2 - 5x + 6 = 0"
	tests := []struct {
		problem, solution string
		want              string // a part of the error; "" for none
	}{
		// Computations.
		{"Compute 12345 * 67890", "838102050", ""},
		{"Compute 12345 * 67890", "838,102,050", ""},
		{"Compute 12345 * 67890", "838102051", "is 838102050, not 838102051"},
		{"Compute 12345 * 67890.", "The answer is 838102051.", "not 838102051"},
		{"What is 12345 × 67890?", "838102051", "not 838102051"},
		{"What is 15% of 80?", "12", ""},
		{"What is 15% of 80?", "13", "not 13"},
		{"12 + 5 = ?", "17", ""},
		{"12 + 5 = ?", "18", "is 17, not 18"},
		{"12 + 5", "18", "is 17"},
		{"What's 7 times 8?", "54", "is 56"},
		{"Calculate the sum of 12 and 30.", "41", "is 42"},
		{"Find the product of 6 and 7.", "41", "is 42"},
		{"Add 12 and 30.", "43", "is 42"},
		{"Subtract 12 from 30", "-18", "is 18"},
		{"Divide 84 by 2.", "41", "is 42"},
		{"Multiply 123 by 9", "1107", ""},
		{"Compute 12345 * 67890. Show your work.", "1", "is 838102050"},
		{"Compute 12,345 * 67,890.", "838,102,051", "is 838102050"},
		{"What is the product of 12345 and 67890?", "838102051", "is 838102050"},
		{"Please calculate: 3/8 + 5/12", "19/24", ""},
		{"Please calculate: 3/8 + 5/12", "8/20", "is 19/24"},
		{"Simplify (x+1)^2 - 1", "x^2 + 2x", ""},
		{"Simplify (x+1)^2 - 1", "x(x+2)", ""},
		{"Simplify (x+1)^2 - 1", "x^2 + x", "is not x^2 + x"},
		{"Compute sqrt(2)^2 + 1", "4", "is not 4"},
		{"Compute \\frac{1}{2} + \\frac{1}{3}", "\\boxed{\\frac{5}{6}}", ""},
		{"Compute \\frac{1}{2} + \\frac{1}{3}", "\\boxed{\\frac{2}{5}}", "is 5/6"},
		{"Compute 25!", "15511210043330985984000000", ""},
		{"Compute 9^9^9^9", "5", ""},
		{"Compute 1/0", "0", ""},

		// Rounding: a value that ends has to be given in full.
		{"Compute 1/3", "0.333", ""},
		{"Compute 1/3", "0.34", "is 1/3"},
		{"Compute 1/3", "0.3", "is 1/3"},
		{"Compute 1/3", "0", "is 1/3"},
		{"Compute sqrt(2)", "1.4142", ""},
		{"Compute sqrt(2)", "1.4242", "is not"},
		{"Compute 1/8", "0.13", "is 1/8"},
		{"Compute 1/8, rounded to two decimals", "0.13", ""},
		{"Compute 1/8 to the nearest hundredth.", "0.13", ""},
		{"Compute 1/8 to the nearest hundredth.", "0.14", "is 1/8"},
		{"Compute 22/7 to 3 decimals.", "3.143", ""},
		{"Compute 22/7 to 3 decimals.", "3.145", "is 22/7"},
		{"Compute 0.1 + 0.2", "0.30000000000000004", "is 3/10"},

		// What is not only a computation, or not understood, passes.
		{"What is 5 * 3 apples plus a pear?", "2", ""},
		{"Compute 5 * 3. Then add 1.", "16", ""},
		{"Compute log(100)", "2", ""},
		{"Compute ln(100)", "log(100)", ""},
		{"Compute 1/2x", "7", ""},
		{"Find x", "5", ""},
		{"How many primes are below 10?", "4", ""},
		{"What is the capital of France?", "Paris", ""},
		{"Compute 12 + 5", "seventeen", ""},
		{"Compute 12 + 5", "it is 18, I think", ""},
		{"Compute 12 + 5", "18 apples", ""},
		{"Compute 17 mod 5", "2", ""},
		{"", "", ""},

		// Equations.
		{quadratic, "x = 2 or x = 3", ""},
		{quadratic, "{3, 2}", ""},
		{quadratic, "2, 3", ""},
		{quadratic, "x = 2 and x = 4", "does not hold for x = 4"},
		{quadratic, "x = 1", "does not hold for x = 1"},
		{quadratic, "4", "does not hold for x = 4"},
		{quadratic, "x = 2", "has 2 real solutions, and the solution gives 1"},
		{quadratic, "x = 2, x = 4/2", "has 2 real solutions"},
		{"Find a positive root of x^2 - 4 = 0", "2", ""},
		{"Find a positive root of x^2 - 4 = 0", "3", "does not hold"},
		{"Find the roots of x^2 - 4 = 0.", "x = ±2", ""},
		{"Find the roots of x^2 - 4 = 0.", "x = ±3", "does not hold"},
		{"Solve x^2 - x = 0", "x = 0", "has 2 real solutions"},
		{"Solve x^2 + 1 = 0", "no solution", ""},
		{"Solve x^2 + 1 = 0", "x = i", ""},
		{"Solve x^2 = 2", "x = ±sqrt(2)", ""},
		{"Solve x^2 = 2", "x = 1.41421 or x = -1.41421", ""},
		{"Solve x^2 = 2", "x = 1.43", "does not hold"},
		{"Solve x^2 = 2", "x ≈ 1.4", ""},
		{"Solve 2x + 3 = 11 for x.", "4", ""},
		{"Solve 2x + 3 = 11 for x.", "x = 5", "does not hold for x = 5"},
		{"If 2x = 6, what is x?", "4", "does not hold"},
		{"If 2x = 6, what is x + 1?", "4", ""},
		{"If 2x = 6, what is the value of x + 1?", "4", ""},
		{"If 2x = 6, what is the value of x?", "4", "does not hold"},
		{"If 2x = 6, what is x + 1?", "x = 4", "does not hold"},
		{"Solve the system x + y = 5, x - y = 1.", "x = 3, y = 2", ""},
		{"Solve the system x + y = 5, x - y = 1.", "(3, 2)", ""},
		{"Solve the system x + y = 5, x - y = 1.", "(2, 3)", "x - y = 1 does not hold for x = 2, y = 3"},
		{"Solve the system x + y = 5 and x - y = 1", "x = 4, y = 1", "does not hold"},
		{"Find x such that x^2 = 9 and x > 0", "x = -3", "0 < x does not hold"},
		{"Find x such that x^2 = 9 and x > 0", "x = 3", ""},
		{"Solve sin(x) = 1/2", "x = pi/6", ""},
		{"Solve sin(x) = 1/2", "x = pi/3", "does not hold"},
		{"Solve x + 1 = 2. Then solve x + 2 = 5.", "x = 1 or x = 3", ""},
		{"Solve x + 1 = 2. Then solve x + 2 = 5.", "x = 1 or x = 4", "does not hold"},
		{"The sum of x and y = 10. Find y.", "y = 4", ""},
		{"Is x = 3 or x = 4 a root of x^2 = 9?", "x = 4", ""},
		{"17 mod x = 2, find x", "x = 3", ""},

		// Claims on the way.
		{"Add some numbers.", "3 + 4 = 7", ""},
		{"Add some numbers.", "3 + 4 = 8", "says 3 + 4 = 8, which is false"},
		{"Add some numbers.", "First, 3 + 4 = 7. Then 7 + 5 = 13.", "says 7 + 5 = 13"},
		{"Add some numbers.", "We get 3 + 4 = 8, so it is 8", "says 3 + 4 = 8"},
		{"Add some numbers.", "- 3 + 4 = 8\n- 5 + 1 = 6", "says 3 + 4 = 8"},
		{"Add some numbers.", "1) 3 + 4 = 8", "says 3 + 4 = 8"},
		{"Add some numbers.", "1. 3 + 4 = 7\n2. 7 * 2 = 15", "says 7*2 = 15"},
		{"Add some numbers.", "2 + 2 = 4 = 5", "says 4 = 5"},
		{"Add some numbers.", "12 * 3 = 36 > 40", "which is false"},
		{"Add some numbers.", "So 2 < 3 and thus 3 < 2.", "says 3 < 2"},
		{"Add some numbers.", "1/3 = 0.33", ""},
		{"Add some numbers.", "1/3 = 0.35", "which is false"},
		{"Add some numbers.", "10^20 + 1 = 10^20", "which is false"},
		{"Add some numbers.", "$5 + $3 = $9", "which is false"},
		{"Add some numbers.", "\\frac{1}{2} + \\frac{1}{2} = 2", "which is false"},

		// What only looks like a false claim.
		{"Divide.", "17/5 = 3 remainder 2", ""},
		{"Divide.", "17/5 = 3 rest 2", ""},
		{"Divide.", "17 mod 5 = 2", ""},
		{"Work mod 12.", "10 + 5 = 3", ""},
		{"Count.", "5 choose 2 = 10", ""},
		{"Count.", "C(5, 2) = 10", ""},
		{"Count.", "gcd(12, 18) = 6", ""},
		{"Count.", "the sum of 3 and 4 = 7", ""},
		{"Count.", "3:4 = 6:8", ""},
		{"Count.", "100 - 30% = 70", ""},
		{"Count.", "101_2 = 5", ""},
		{"Count.", "12 +\n3 = 15", ""},
		{"Count.", "12 +\n3 + 4 = 19", ""},
		{"Count.", "100\n- 6 + 2 = 96", ""},
		{"Count.", "- 3 + 5 = 2", ""},
		{"Count.", "  12\n+  3\n= 15", ""},
		{"Count.", "12\n+ 3 = 15", ""},
		{"Count.", "pi ≈ 3", ""},
		{"Count.", "n = n + 1", ""},
		{"Count.", "3 km = 3000 m", ""},
		{"Count.", "log(100) = 2", ""},
		{"Count.", "log(100) = 3", "which is false"},
		{"Count.", "the square of 5 = 25", ""},
		{"Count.", "5 apples + 3 = 8", ""},
		{"Count.", "1 != 2", ""},
		{"Count.", "1 = 10\n2 = 20", ""},
		{"Count.", "Step 3 = 5", ""},
	}
	a := newAdapter(t, nil)
	for _, test := range tests {
		err := a.Verify(test.problem, test.solution)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("Verify(%q, %q) = %v, want an error with %q", test.problem, test.solution, err, test.want)
		}
	}
}

func TestVerifyWithTolerance(t *testing.T) {
	a := newAdapter(t, &Options{Tolerance: 0.01})
	for solution, ok := range map[string]bool{"100": true, "101": true, "102": false} {
		if err := a.Verify("Compute 10 * 10", solution); (err == nil) != ok {
			t.Errorf("Verify(10 * 10, %s) with a tolerance of 0.01 = %v, want ok %v", solution, err, ok)
		}
	}
}

func TestEvidence(t *testing.T) {
	tests := []struct {
		text string
		want domain.Evidence
	}{
		{"The line goes through (3, 4) and (-1, 1/2).", domain.Evidence{Points: []string{"(3, 4)", "(-1, 1/2)"}}},
		{"We have 3 + 4 = 7, so x = 7. Hence 2x = 14.", domain.Evidence{Equations: []string{"3 + 4 = 7", "x = 7", "2*x = 14"}}},
		{"Then x > 3 and thus x^2 ≥ 9.", domain.Evidence{Equations: []string{"3 < x", "9 ≤ x^2"}}},
		{"f(2, 3) and sin(1) and 2(1, 2) are no points", domain.Evidence{}},
		{"(x, y) = (1, 2)", domain.Evidence{Points: []string{"(1, 2)"}}},
		{"x = 1\nx = 1\n(0, 0) (0, 0)", domain.Evidence{Equations: []string{"x = 1"}, Points: []string{"(0, 0)"}}},
		{"So $y = \\frac{1}{2}$ at $(2, \\sqrt{3})$.", domain.Evidence{Equations: []string{"y = 1/2"}, Points: []string{"(2, sqrt(3))"}}},
		{"nothing", domain.Evidence{}},
		{"", domain.Evidence{}},
	}
	a := newAdapter(t, nil)
	for _, test := range tests {
		if diff := cmp.Diff(test.want, a.Evidence(test.text)); diff != "" {
			t.Errorf("Evidence(%q): -want +got\n%s", test.text, diff)
		}
	}
}
