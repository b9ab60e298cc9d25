//go:build unix

package sympy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/maker-mdap/maker/domain/math"
	"github.com/maker-mdap/maker/internal/process/sandbox"
)

func open(t *testing.T, o *Options) *CAS {
	t.Helper()
	c, err := New(t.Context(), o)
	if errors.Is(err, ErrMissing) {
		t.Skipf("SymPy is not tested: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return c
}

// TestCAS uses one folder and sandbox for all that follows.
func TestCAS(t *testing.T) {
	c := open(t, nil)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *CAS)
	}{
		{"Equal", testEqual},
		{"AgreesWithPackageMath", testAgreesWithPackageMath},
		{"ConcurrentQuestions", testConcurrentQuestions},
		{"TimeoutEndsEverything", testTimeoutEndsEverything},
		{"CancelledQuestion", testCancelledQuestion},
		{"ProcessThatDies", testProcessThatDies},
		{"Close", testClose},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

func testEqual(t *testing.T, c *CAS) {
	t.Log(c.Sandbox())
	tests := []struct {
		a, b         string
		equal, known bool
	}{
		{"(x+1)^2", "x^2 + 2x + 1", true, true},
		{"sin(x)^2 + cos(x)^2", "1", true, true},
		{"sqrt(-4)", "2i", true, true},
		{"i^2", "-1", true, true},
		{"e^(i*pi)", "-1", true, true},
		{"sqrt(x^2)", "|x|", true, true},
		{"cbrt(-8)", "-2", true, true},
		{"n!/(n-1)!", "n", true, true},
		{"ln(8)", "3 ln 2", true, true},
		{"asin(1/2)", "pi/6", true, true},
		{"0.5", "1/2", true, true},
		{"tan(x)", "sin(x)/cos(x)", true, true},
		{"x", "y", false, true},
		{"0.333", "1/3", false, true},
		{"sqrt(2)", "1.41421356237309504880", false, true},
		{"1/0", "1/0", false, false},
		{"∞", "∞", false, false},
		// Nothing else is ever sent.
		{"__import__('os').system('id')", "1", false, false},
		{"x = 1", "x = 1", false, false},
		{"[1, 2]", "[1, 2]", false, false},
		{"five", "5", false, false},
		{"9^9^9^9", "1", false, false},
		{"99999!", "1", false, false},
		{"x^99999", "1", false, false},
		{strings.Repeat("x+", 600) + "1", "1", false, false},
	}
	var sent []int
	var questions []question
	for i, test := range tests {
		switch q := (question{sendable(test.a), sendable(test.b)}); {
		case q[0] != nil && q[1] != nil:
			sent, questions = append(sent, i), append(questions, q)
		case test.known:
			t.Errorf("%q and %q are not sent, want an answer", test.a, test.b)
		}
	}
	answers, err := c.ask(t.Context(), questions) // at once, for starting takes long
	if err != nil || len(answers) != len(sent) {
		t.Fatalf("ask(%d questions) = %d answers, %v", len(sent), len(answers), err)
	}
	for i, got := range answers {
		test := tests[sent[i]]
		if known := got != nil; known != test.known || known && *got != test.equal {
			t.Errorf("%q and %q: the answer is known: %v, want %v, %v", test.a, test.b, known, test.equal, test.known)
		}
	}
}

func TestWithoutSandbox(t *testing.T) {
	c := open(t, &Options{Sandbox: sandbox.Off})
	if !strings.HasPrefix(c.Sandbox(), "none") {
		t.Errorf("Sandbox() = %q with off, want none", c.Sandbox())
	}
	if equal, known, err := c.Equal(t.Context(), "2x", "x+x"); !equal || !known || err != nil {
		t.Errorf("Equal(2x, x+x) = %v, %v, %v, want true", equal, known, err)
	}
}

// What package math says and SymPy says must not contradict each other.
func testAgreesWithPackageMath(t *testing.T, c *CAS) {
	texts := []string{
		"(x+1)^2", "x^2+2x+1", "x^2+1", "sin(2x)", "2 sin x cos x", "2sin(x)", "sqrt(8)", "2sqrt(2)", "sqrt(3+2sqrt(2))", "1+sqrt(2)", "1/sqrt(2)",
		"sqrt(2)/2", "2^(1/3)", "cbrt(2)", "4^(1/6)", "e^(x+y)", "e^x e^y", "e^(xy)", "ln(12)", "2ln(2)+ln(3)", "ln 14", "1/(1+1/x)", "1 - 1/(x+1)",
		"pi", "4atan(1)", "22/7", "|x|", "sqrt(x^2)", "x", "tan(x)", "5!", "120",
	}
	var pairs [][2]string
	var questions []question
	for i, a := range texts {
		for _, b := range texts[i+1:] {
			pairs = append(pairs, [2]string{a, b})
			questions = append(questions, question{sendable(a), sendable(b)})
		}
	}
	answers, err := c.ask(t.Context(), questions)
	if err != nil || len(answers) != len(pairs) {
		t.Fatalf("ask(%d questions) = %d answers, %v", len(pairs), len(answers), err)
	}
	for i, equal := range answers {
		a, b := pairs[i][0], pairs[i][1]
		if ours := math.Equal(a, b); equal != nil && (ours == math.Same && !*equal || ours == math.Different && *equal) {
			t.Errorf("%q and %q are %v, and SymPy says equal %v", a, b, ours, *equal)
		}
	}
}

func testConcurrentQuestions(t *testing.T, c *CAS) {
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			want := i%2 == 0
			equal, known, err := c.Equal(t.Context(), fmt.Sprintf("(x+%d)^2", i), fmt.Sprintf("x^2 + %d x + %d", 2*i, i*i+i%2))
			if err != nil || !known || equal != want {
				t.Errorf("question %d: Equal = %v, %v, %v, want %v", i, equal, known, err, want)
			}
		})
	}
	wait.Wait()
}

// endless is a program in SymPy's place that never answers, and leaves a child.
const endless = `
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", sys.argv[1]])
time.sleep(300)
`

func testTimeoutEndsEverything(t *testing.T, c *CAS) {
	defer func(o Options) { c.script, c.options = server, o }(c.options)
	c.script, c.options.Start, c.options.Timeout = endless, 200*time.Millisecond, 100*time.Millisecond
	_, known, err := c.Equal(t.Context(), "x", "x")
	if known || err == nil || !strings.Contains(err.Error(), "no answer within 300ms") {
		t.Errorf("Equal of a program that never answers = %v, %v, want the time limit", known, err)
	}
	if left := withArgument(t, c.dir.Path); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// withArgument lists the processes that have an argument.
func withArgument(t *testing.T, argument string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pid,stat,args").Output()
	if err != nil {
		t.Skipf("ps: %v", err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, argument) {
			found = append(found, line)
		}
	}
	return found
}

func testCancelledQuestion(t *testing.T, c *CAS) {
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, known, err := c.Equal(ctx, "x", "y"); known || !errors.Is(err, reason) {
		t.Errorf("Equal with a cancelled context = %v, %v, want %v", known, err, reason)
	}
}

func testProcessThatDies(t *testing.T, c *CAS) {
	c.script = "import sys; print('out of luck'); sys.exit(9)"
	defer func() { c.script = server }()
	_, known, err := c.Equal(t.Context(), "x", "y")
	if known || err == nil || !strings.Contains(err.Error(), "exit code 9") || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("Equal of a program that dies = %v, %v, want its exit code and what it said", known, err)
	}
}

func testClose(t *testing.T, c *CAS) {
	for range 2 {
		if err := c.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	}
	if _, known, err := c.Equal(t.Context(), "x", "y"); known || err == nil {
		t.Errorf("Equal after Close = %v, %v, want an error", known, err)
	}
	if _, err := os.Stat(c.dir.Top()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat(%s) after Close = %v, want that it is gone", c.dir.Top(), err)
	}
	if left := withArgument(t, c.dir.Top()); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

func TestMissing(t *testing.T) {
	_, err := New(t.Context(), &Options{Python: "no-such-python"})
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "no-such-python") {
		t.Errorf("New(no-such-python) = %v, want %v with its name", err, ErrMissing)
	}
	// An interpreter without SymPy, and one that is none.
	for body, want := range map[string]string{"exit 3": "no module sympy", "exit 1": "does not work", "echo hello": "does not work"} {
		path := filepath.Join(t.TempDir(), "python3")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := New(t.Context(), &Options{Python: path}); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("New(an interpreter that does %q) = %v, want %q", body, err, want)
		}
	}
}

func TestSendable(t *testing.T) {
	for _, text := range []string{"x^2", "2^2000", "x^(y+1)", "10!", "e^sin(x)", "2^-3", "x^(1/3)"} {
		if sendable(text) == nil {
			t.Errorf("sendable(%q) = nil, want an expression", text)
		}
	}
	for _, text := range []string{"2^2001", "2^(3^4)", "2^(1000*1000*1000)", "(5!)!", "2^99999", "x^x^x", "", "x = 2", "yes", "2^12345/3"} {
		if e := sendable(text); e != nil {
			t.Errorf("sendable(%q) = %s, want nil", text, e)
		}
	}
}
