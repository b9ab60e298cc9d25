package math

import (
	stdmath "math"
	"regexp"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/domain"
)

func domainPart(solution string) domain.Part { return domain.Part{Solution: solution} }

func TestCompose(t *testing.T) {
	tests := []struct {
		how, a, b string
		want      string // "" if a model has to do it
	}{
		{"add", "12", "30", "42"},
		{"Add the two results.", "12", "30", "42"},
		{"sum", "1/2", "1/3", "5/6"},
		{"Sum the partial products", "370,368,000", "98,760", "370466760"},
		{"add a and b to get the final answer", "x = 5", "The answer is 7.", "12"},
		{"a + b", "0.5", "0.25", "0.75"},
		{"10*a + b", "12", "3", "123"},
		{"a*10^3 + b", "12", "345", "12345"},
		{"lambda a, b: a * b", "6", "7", "42"},
		{"result = result_a - result_b", "6", "7", "-1"},
		{"multiply", "99999999999999999999", "99999999999999999999", "9999999999999999999800000000000000000001"},
		{"product of a and b", "6", "7", "42"},
		{"subtract b from a", "10", "4", "6"},
		{"Subtract the first result from the second result", "10", "4", "-6"},
		{"divide a by b", "10", "4", "2.5"},
		{"divide a by b", "10", "3", "10/3"},
		{"a / b", "1", "3", "1/3"},
		{"a^2 + b^2", "3", "4", "25"},
		{"12 * 3 = 36 added", "1", "2", ""},
		{"add", "12 * 3 = 36", "4", "40"},

		{"subtract", "10", "4", ""},
		{"difference", "10", "4", ""},
		{"add a and a", "10", "4", ""},
		{"add a to twice b", "10", "4", ""},
		{"add the digits of the results", "10", "4", ""},
		{"multiply the results and add 1", "10", "4", ""},
		{"add 5 to the result", "10", "4", ""},
		{"concatenate", "10", "4", ""},
		{"merge the sorted lists", "[1]", "[2]", ""},
		{"a + b + c", "10", "4", ""},
		{"a", "10", "4", ""},
		{"a/2b", "10", "4", ""},
		{"a / b", "10", "0", ""},
		{"a^b^b^b", "9", "9", ""},
		{"add", "12 apples", "3", ""},
		{"add", "about 12", "3", ""},
		{"add", "twelve", "3", ""},
		{"add", "x", "3", ""},
		{"add", "sqrt(2)", "3", ""},
		{"add", "1, 2", "3", ""},
		{"add", "3 + 4 = 8", "3", ""},
		{"", "1", "2", ""},
		{strings.Repeat("add ", 100), "1", "2", ""},
	}
	a := newAdapter(t, nil)
	for _, test := range tests {
		got, ok := a.Compose("", test.how, domainPart(test.a), domainPart(test.b))
		if got != test.want || ok != (test.want != "") {
			t.Errorf("Compose(%q, %q, %q) = %q, %v, want %q", test.how, test.a, test.b, got, ok, test.want)
		}
	}
}

// The known answers are checked by the adapter itself, which computes them.
func TestCalibration(t *testing.T) {
	a := newAdapter(t, nil)
	trials := a.Calibration()
	if len(trials) < 20 {
		t.Errorf("Calibration() has %d problems, want at least 20", len(trials))
	}
	seen := map[string]bool{}
	for _, trial := range trials {
		if seen[trial.Problem] {
			t.Errorf("Calibration() has %q twice", trial.Problem)
		}
		seen[trial.Problem] = true
		if err := a.Verify(trial.Problem, trial.Solution); err != nil {
			t.Errorf("Verify(%q, %q) = %v, want nil", trial.Problem, trial.Solution, err)
		}
		if err := a.Verify(trial.Problem, "123456"); err == nil {
			t.Errorf("Verify(%q, 123456) = nil, want an error: the problem is not understood", trial.Problem)
		}
	}
}

func TestFlagPatterns(t *testing.T) {
	a := newAdapter(t, nil)
	flagged := func(text string) bool {
		for _, p := range a.FlagPatterns() {
			if regexp.MustCompile(p).MatchString(text) {
				return true
			}
		}
		return false
	}
	for _, text := range []string{"NaN", "x = ?", "12 + 5 = ?", "n/a", "insert the answer here", "ZeroDivisionError: division by zero", `\boxed{}`} {
		if !flagged(text) {
			t.Errorf("%q matches no pattern, want one", text)
		}
	}
	for _, p := range pairs(t, samePairs) {
		if flagged(p[0]) || flagged(p[1]) {
			t.Errorf("%q or %q matches a pattern, want none", p[0], p[1])
		}
	}
}

func TestOptions(t *testing.T) {
	for _, bad := range []float64{-1, 1, 2, stdmath.NaN(), stdmath.Inf(1)} {
		if _, err := New(&Options{Tolerance: bad}); err == nil || !strings.Contains(err.Error(), "tolerance") {
			t.Errorf("New(Tolerance %v) = %v, want an error that names it", bad, err)
		}
	}
	a := newAdapter(t, &Options{Tolerance: 0.001})
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"0.333", "1/3", true},
		{"0.33", "1/3", false},
		{"3.1416", "pi", true},
		{"3.15", "pi", false},
		{"(0.333, 1.414)", "(1/3, sqrt(2))", true},
		{"{0.333, 2}", "{2, 1/3}", true},
		{"0.333x", "x/3", false}, // no tolerance with variables
		{"0", "0.0001", false},   // it is relative
		{"1000", "1001", true},
		{"1000", "1002", false},
	} {
		if got := a.Equivalent(test.a, test.b); got != test.want {
			t.Errorf("Equivalent(%q, %q) with a tolerance of 0.001 = %v, want %v", test.a, test.b, got, test.want)
		}
		if got := a.Equivalent(test.b, test.a); got != test.want {
			t.Errorf("Equivalent(%q, %q) with a tolerance of 0.001 = %v, want %v", test.b, test.a, got, test.want)
		}
	}
}

func TestCAS(t *testing.T) {
	var asked [][2]string
	answer := map[string][2]bool{}
	a := newAdapter(t, &Options{CAS: func(a, b string) (equal, known bool) {
		asked = append(asked, [2]string{a, b})
		r := answer[a]
		return r[0], r[1]
	}})
	// It is asked about what is unknown, in plain notation, and nothing else.
	if a.Equivalent("sqrt(-4)", "2*sqrt(-1)") || len(asked) != 1 || asked[0] != [2]string{"2*sqrt(-1)", "sqrt(-4)"} {
		t.Errorf("Equivalent(sqrt(-4), 2*sqrt(-1)) asked %q, want one question, not known", asked)
	}
	answer["2*sqrt(-1)"] = [2]bool{true, true}
	if !a.Equivalent("sqrt(-4)", "2√(-1)") {
		t.Errorf("Equivalent(sqrt(-4), 2√(-1)) = false, want true from the CAS")
	}
	asked = nil
	for _, p := range [][2]string{{"1/2", "0.5"}, {"x", "y"}, {"sin(x)^2 + cos(x)^2", "1"}, {"5 km", "5000 m"}, {"cat", "dog"}} {
		a.Equivalent(p[0], p[1])
	}
	if asked != nil {
		t.Errorf("the CAS was asked %q, want nothing: it is known, or no mathematics", asked)
	}
}
