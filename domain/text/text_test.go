package text

import (
	"slices"
	"strings"
	"testing"
)

func TestEquivalent(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		// Spelling.
		{"Paris", "paris", true},
		{"Paris.", " paris ", true},
		{"Paris", `"Paris"`, true},
		{"Paris", "`Paris`", true},
		{"Paris", "**Paris**", true},
		{"It’s  here", "it's\nhere!", true},
		{"caf\u00e9", "cafe\u0301", true},
		{"ΟΔΟΣ", "οδος", true},
		{"οδός", "ΟΔΌΣ", true},
		{"Yes", "yes!", true},
		{"a–b", "a-b", true},
		{"Paris", "Rome", false},
		{"Paris", "Paris, France", false},
		{"new york", "newyork", false},
		{"not Paris", "Paris", false},
		{"-5", "5", false},
		{"5", "five", false},
		{"a.b", "ab", false},
		{"c++", "c", false},
		{"", " ", true},
		{"", "x", false},

		// Numbers.
		{"1", "1.0", true},
		{"1", "1.", true},
		{"1e3", "1000", true},
		{"1,000", "1000", true},
		{"1,234,567.50", "1234567.5", true},
		{`"7"`, "7.0", true},
		{"0.1", "0.10000000000000000000001", false},
		{"9007199254740993", "9007199254740992", false},
		{"007", "7", false},
		{"3.10", "3.1", true},
		{"Python 3.10", "Python 3.1", false},
		{"1,2", "1.2", false},
		{"1,2", "[1, 2]", false},

		// Lists: order counts.
		{"[1, 2, 3]", "[1,2,3.0]", true},
		{"1, 2, 3", "[1, 2, 3]", true},
		{"1\n2\n3", "[1, 2, 3]", true},
		{"[1, 2, 3].", "[1, 2, 3]", true},
		{"```json\n[1, 2]\n```", "[1,2]", true},
		{"[1, 2, 3]", "[3, 2, 1]", false},
		{"1, 2", "2, 1", false},
		{"[1]", "1", false},
		{"[]", "[ ]", true},

		// JSON.
		{`{"a": 1, "b": "x"}`, `{"b":"x","a":1.0}`, true},
		{`{"a": 1}`, `{"a": 2}`, false},
		{`{"a": "Yes"}`, `{"a": "yes"}`, false},
		{`{"a": 1, "a": 2}`, `{"a": 2}`, false},
		{"true", "True", true},
		{"```\n{\"a\": 1}\n```", `{"a":1}`, true},

		// Programs.
		{"if a:\n    b\nc", "if a:\n    b\n    c", false},
		{"if a:\n    b  \n", "if a:\n    b", true},
		{"if a:\n    X", "if a:\n    x", false},
		{"```go\na := B\nc\n```", "```\na := B\nc\n```", true},
		{"```go\na := B\nc\n```", "```go\na := b\nc\n```", false},
		{"```\nParis\n```", "paris", true},
	}
	var a Adapter
	for _, test := range tests {
		for range 2 {
			if got := a.Equivalent(test.a, test.b); got != test.want {
				t.Errorf("Equivalent(%q, %q) = %v, want %v", test.a, test.b, got, test.want)
			}
			test.a, test.b = test.b, test.a
		}
	}
}

func TestVerify(t *testing.T) {
	tests := []struct {
		problem, solution string
		want              string // a part of the error; "" for none
	}{
		{"What is the capital of France?", "Paris", ""},
		{"What is the capital of France?", "", "empty"},
		{"What is the capital of France?", " \n\t", "empty"},
		{"What is the capital of France?", "\u200b", "empty"},
		{"What is the capital of France?", "...", "placeholder"},
		{"What is the capital of France?", "TBD", "placeholder"},
		{"What is the capital of France?", "[insert answer here]", "placeholder"},
		{"What is the capital of France?", "What is the capital of France?", "says the problem again"},
		{"What is the capital of France?", "what is the capital of france", "says the problem again"},
		{"What is the capital of France?", "The problem is: What is the capital of France?", "says the problem again"},
		{"What is the capital of France?", "What is the capital of France? Paris", ""},
		{"What is the capital of France?", "The capital of France is Paris.", ""},
		{"Sort [1, 2, 3]", "[1, 2, 3]", ""},
		{"[1, 2, 3]", "[1, 2, 3]", ""},
		{"echo hello", "echo hello", ""},
		{"Compute 12 + 5 step by step", "Compute 12 + 5 step by step: 17", ""},
		{"", "anything", ""},
	}
	var a Adapter
	for _, test := range tests {
		err := a.Verify(test.problem, test.solution)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("Verify(%q, %q) = %v, want an error with %q", test.problem, test.solution, err, test.want)
		}
	}
}

func TestCalibration(t *testing.T) {
	var a Adapter
	known, unknown := 0, 0
	var seen []string
	for _, trial := range a.Calibration() {
		if slices.Contains(seen, trial.Problem) {
			t.Errorf("Calibration() has %q twice", trial.Problem)
		}
		seen = append(seen, trial.Problem)
		if trial.Solution == "" {
			unknown++
			continue
		}
		known++
		if err := a.Verify(trial.Problem, trial.Solution); err != nil {
			t.Errorf("Verify(%q, %q) = %v, want nil", trial.Problem, trial.Solution, err)
		}
	}
	if known < 5 || unknown < 1 {
		t.Errorf("Calibration() has %d problems with solutions and %d without, want both", known, unknown)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{"Paris.", `"7.0"`, "1,234", "[1, 2]", "1, 2, 3", "{\"a\": 1}", "```json\n[1]\n```", "if a:\n  b", "**x**", "\"\\\"a\\\"\"", "'5.0'"} {
		f.Add(seed, "add")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		key := Canonical(text)
		if got := Canonical("  " + text + "\n"); got != key && !strings.Contains(text, "`") {
			t.Errorf("Canonical(%q) with white space around it = %q, want %q", text, got, key)
		}
		var a Adapter
		if !a.Equivalent(text, text) || a.Equivalent(text, other) != a.Equivalent(other, text) {
			t.Errorf("Equivalent(%q, %q) is not reflexive and symmetric", text, other)
		}
		_ = a.Verify(text, other)
	})
}
