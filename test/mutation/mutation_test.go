package main

import (
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const code = `package p

const most = 4 * 1024

func (t *T[K]) Grow(n int) bool {
	switch {
	case n > most:
		return n-1 >= 0 && n != 7
	}
	return false
}
`

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestIdentity: a mutant is named by the code around it.
func TestIdentity(t *testing.T) {
	s, err := readSource(write(t, code))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line, column   int
		function, code string
	}{
		{3, 16, "-", "const most = 4 [[*]] 1024"},
		{7, 9, "T.Grow", "case n [[>]] most:"},
		{8, 11, "T.Grow", "return n[[-]]1 >= 0 && n != 7"},
		{8, 14, "T.Grow", "return n-1 [[>=]] 0 && n != 7"},
		{8, 24, "T.Grow", "return n-1 >= 0 && n [[!=]] 7"},
	} {
		got := s.identity("A B", test.line, test.column)
		if want := (identity{s.name, test.function, "A_B", test.code}); got != want {
			t.Errorf("identity(%d, %d) = %q, want %q", test.line, test.column, got, want)
		}
	}
}

// TestUnseen: the conditions of cases count as covered where their switch is.
func TestUnseen(t *testing.T) {
	s, err := readSource(write(t, code))
	if err != nil {
		t.Fatal(err)
	}
	for _, reached := range []bool{true, false} {
		var holds []bool
		for _, p := range []token.Position{{Line: 3, Column: 16}, {Line: 7, Column: 9}, {Line: 8, Column: 14}} {
			found := false
			for _, u := range s.unseen(func(token.Position) bool { return reached }) {
				found = found || u.holds(p)
			}
			holds = append(holds, found)
		}
		if diff := cmp.Diff([]bool{true, reached, false}, holds); diff != "" {
			t.Errorf("unseen() with the switch reached %t (-want +got):\n%s", reached, diff)
		}
	}
}

// TestSummary: those that are listed are left out, and a list that is not true any more
// is told.
func TestSummary(t *testing.T) {
	name := write(t, "# a comment\n\np/a.go  f  K\n  a [[<]] b\n  it is so\n\np/a.go  f  K\n  killed\n  it is\n  so\n\np/a.go  f  K\n  gone\n  so\n\nq/a.go  f  K\n  elsewhere\n  so\n")
	list, err := readEquivalents(name)
	if err != nil || len(list) != 4 {
		t.Fatalf("readEquivalents() = %v, %v, want 4", list, err)
	}
	one := func(code, status string) mutant {
		return mutant{identity: identity{"p/a.go", "f", "K", code}, status: status}
	}
	mutants := []mutant{one("a [[<]] b", "LIVED"), one("killed", "KILLED"), one("x", "NOT VIABLE")}
	for i := range 8 {
		mutants = append(mutants, one(strings.Repeat("k", i), "KILLED"))
	}
	for _, test := range []struct {
		more []mutant
		ok   bool
		want string
	}{
		{[]mutant{one("slow", "TIMED OUT")}, true, "killed 9, lived 0, not covered 0, timed out 1, equivalent 1, not viable 1: 100.0 % ok"},
		{[]mutant{one("y", "LIVED")}, true, "killed 9, lived 1, not covered 0, timed out 0, equivalent 1, not viable 1: 90.0 % ok"},
		{[]mutant{one("y", "LIVED"), one("z", "NOT COVERED")}, false, "killed 9, lived 1, not covered 1, timed out 0, equivalent 1, not viable 1: 81.8 % UNDER 90"},
	} {
		var out strings.Builder
		ok := summarize(&out, "p", append(mutants, test.more...), list)
		if text := out.String(); ok != test.ok || !strings.Contains(text, test.want) ||
			strings.Count(text, "no such mutant") != 1 || strings.Count(text, "but killed") != 1 {
			t.Errorf("summarize(%v) = %t, %s\nwant %t, %s", test.more, ok, text, test.ok, test.want)
		}
	}
	if _, err := readEquivalents(write(t, "p/a.go f K\n  no reason\n")); err == nil {
		t.Error("readEquivalents(an entry without a reason) = no error")
	}
}
