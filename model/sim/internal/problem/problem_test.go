package problem

import (
	"math/big"
	"testing"
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		text       string
		want       string // the problem as it is stated; "" if it is not known
		operations int
		solution   string // "" if there is none
	}{
		{"Compute: 12345 * 67890", "Compute: 12345 * 67890", 7, "838102050"},
		{"Multiply 12345 by 67890.", "Compute: 12345 * 67890", 7, "838102050"},
		{"Please calculate the product of 12,345 and 67,891", "Compute: 12345 * 67891", 9, "838114395"},
		{"what is 12345 × 678?", "Compute: 12345 * 678", 5, "8369910"},
		{"12345 multiplied by 600", "Compute: 12345 * 600", 1, "7407000"},
		{"0 * 5", "Compute: 0 * 5", 1, "0"},
		{"Find the sum of 3 and 4", "Compute: 3 + 4", 1, "7"},
		{"Add 3 to 4", "Compute: 3 + 4", 1, "7"},
		{"Subtract 3 from 10", "Compute: 10 - 3", 1, "7"},
		{"Divide 84672 by 12", "Compute: 84672 / 12", 1, "7056"},
		{"1 plus 2 minus 3 times 4", "Compute: 1 + 2 - 3 * 4", 3, "-9"},
		{"Compute -(2 + 3) * (4 - -1) / 5", "Compute: -(2 + 3) * (4 - -1) / 5", 4, "-5"},
		{"2 - (3 - 4) - 5", "Compute: 2 - (3 - 4) - 5", 3, "-2"},
		{"2 / (3 / 4)", "Compute: 2 / (3 / 4)", 1, "8/3"},
		{"Compute 3/8 + 5/12. Show your work.", "Compute: 3 / 8 + 5 / 12", 1, "19/24"},
		{"0.1 + 0.25", "Compute: 0.1 + 0.25", 1, "0.35"},
		{"1.5 / 3", "Compute: 1.5 / 3", 1, "0.5"},
		{"1.5 / 7", "Compute: 1.5 / 7", 1, "3/14"},
		{"1 / 0", "Compute: 1 / 0", 1, ""},
		{"Solve 3x + 7 = 52 for x.", "Solve 3 * x + 7 = 52 for x.", 1, "15"},
		{"Solve: 5(y - 2) = 3y + 8", "Solve 5 * (x - 2) = 3 * x + 8 for x.", 1, "9"},
		{"Solve x/4 - 3 = 9 for x.", "Solve x / 4 - 3 = 9 for x.", 1, "48"},
		{"Solve x*x = 4", "", 0, ""},
		{"Solve x = x", "", 0, ""},
		{"Solve x = y", "", 0, ""},
		{"Sort: [3, 1, 2]", "Sort: [3, 1, 2]", 1, "[1, 2, 3]"},
		{"Please sort the numbers 30, 1 and", "", 0, ""},
		{"sort the numbers 6, 5, 4, 3, -2, 1 in ascending order.", "", 0, ""},
		{"sort the numbers [6, 5, 4, 3, -2, 1] in ascending order.", "Sort: [6, 5, 4, 3, -2, 1]", 3, "[-2, 1, 3, 4, 5, 6]"},
		{"Sort [2, 1] in descending order", "", 0, ""},
		{"Sort in descending order: [2, 1]", "", 0, ""},
		{"Sort []", "Sort: []", 1, "[]"},
		{"Sort [99999999999999999999]", "", 0, ""},
		{"Merge [1, 3] and [2]", "Merge: [1, 3] and [2]", 1, "[1, 2, 3]"},
		{"Why?", "", 0, ""}, {"", "", 0, ""}, {"Compute:", "", 0, ""}, {"1 2", "", 0, ""}, {"x + 1", "", 0, ""},
	} {
		p := Read(test.text)
		if p == nil {
			if test.want != "" {
				t.Errorf("Read(%q) = nil, want %q", test.text, test.want)
			}
			continue
		}
		solution, ok := p.Solution(nil)
		if p.String() != test.want || p.Operations() != test.operations || solution != test.solution || ok != (test.solution != "") {
			t.Errorf("Read(%q) = %q, %d operations, %q, want %q, %d, %q", test.text, p, p.Operations(), solution, test.want, test.operations, test.solution)
		}
	}
}

// sound fails the test unless the parts of a split give the whole.
func sound(t *testing.T, p Problem, s Split) {
	t.Helper()
	a, okA := Read(s.A).Solution(nil)
	b, okB := Read(s.B).Solution(nil)
	want, ok := p.Solution(nil)
	if !ok || !okA || !okB { // something is divided by zero
		return
	}
	together := Together(s.How, a, b)
	if together == nil {
		t.Fatalf("%s: nobody can put %q and %q together", p, a, b)
	}
	if got, ok := together.Solution(nil); !ok || !same(got, want) {
		t.Errorf("%s: split into %s and %s (%s) gives %s, want %s", p, s.A, s.B, s.How, got, want)
	}
	if s.A == p.String() || s.B == p.String() {
		t.Errorf("%s: split into %s and %s, want simpler parts", p, s.A, s.B)
	}
}

// same compares numbers by value: a part may be written as a fraction.
func same(a, b string) bool {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return a == b || okX && okY && x.Cmp(y) == 0
}

// work splits a problem as far as it goes and returns the number of operations: one
// for each atom that is not just a number, and one for putting each pair together.
func work(t *testing.T, p Problem) int {
	s, ok := p.Split(false)
	if ok {
		sound(t, p, s)
		return work(t, Read(s.A)) + work(t, Read(s.B)) + 1
	}
	if n := p.Operations(); n != 1 {
		t.Errorf("%s takes %d operations and is not split", p, n)
	}
	if c, ok := p.(Calculation); ok && c.expr.Literal() != nil {
		return 0
	}
	return 1
}

func TestSplit(t *testing.T) {
	var numbers []int64
	for i := range 100 {
		numbers = append(numbers, int64(i*37%101))
	}
	for _, text := range []string{
		"Compute: 12345 * 67891", "Compute: 123456 * 789123", "Compute: 100200 * 30405", "Compute: 99999999999999999999 * 12345678901234567890",
		"Compute: 1 + 2 + 3 - 4 + 5", "Compute: 12 * 34 + 56 * 78 - 9", "Compute: 1 - (2 - 3) - 4", "Sort: " + listText(numbers), "Sort: [1, 2, 1, 2, 1, 2]",
	} {
		p := Read(text)
		if n := work(t, p); n != p.Operations() {
			t.Errorf("%s in parts takes %d operations, want %d", text, n, p.Operations())
		}
	}
}

func TestSolutionWithMistakes(t *testing.T) {
	for _, text := range []string{"Compute: 3 - 3", "Compute: 123 * 45", "Compute: 1 / 3", "Sort: [3, 1, 2]", "Sort: [1, 1]", "Sort: []"} {
		p := Read(text)
		right, _ := p.Solution(nil)
		for i := range 200 {
			mistakes := []Slip{{Step: uint64(i * 7919), Rival: i % 3}}
			if i%2 == 1 {
				mistakes = append(mistakes, mistakes[0], Slip{Step: uint64(i)})
			}
			if got, ok := p.Solution(mistakes); !ok || got == right {
				t.Errorf("%s with mistakes %v = %q, want a wrong solution", text, mistakes, got)
			}
		}
	}
}

func FuzzProblem(f *testing.F) {
	for _, text := range []string{
		"Compute: 12345 * 67891", "Solve 3(x - 1) = 2x for x", "Sort: [3, 1, 2, 9, 8, 7]", "Merge [1] and [0, 2]", "subtract (1 - 2) from -3/4",
		"-(1 - 2) * -3 - 4 / 5 + 6.75 * 8", "1 - (2 - (3 - 4 * (5 - 6)))",
	} {
		f.Add(text, uint64(1), 0)
	}
	f.Fuzz(func(t *testing.T, text string, step uint64, rival int) {
		p := Read(text)
		if p == nil || len(text) > 2000 {
			return
		}
		again := Read(p.String())
		if again == nil || again.String() != p.String() {
			t.Fatalf("Read(%q) = %q, which reads as %v", text, p, again)
		}
		want, ok := p.Solution(nil)
		if got, also := again.Solution(nil); ok != also || !same(got, want) {
			t.Errorf("%q has the solution %q, and stated as %q, %q", text, want, p, got)
		}
		mistake := Slip{Step: step, Rival: rival & 0xff}
		if got, ok := p.Solution([]Slip{mistake}); ok && got == want {
			t.Errorf("%s with a mistake is %s, which is right", p, got)
		}
		for _, must := range []bool{false, true} {
			if s, ok := p.Split(must); ok {
				sound(t, p, s)
				if bad := Spoil(p, s, mistake); bad == s {
					t.Errorf("%s: the bad split into %s and %s is the good one", p, s.A, s.B)
				}
			}
		}
	})
}
