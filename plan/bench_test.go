package plan

import (
	"fmt"
	"testing"
)

// A plan of 500 steps is read, checked and written like any other.
func TestLargePlan(t *testing.T) {
	p := linear(500)
	for i := range p.Steps { // every step also needs the first
		p.Steps[i].InputVariables = append(p.Steps[i].InputVariables, "step_0_output.line")
	}
	p.Steps[0].InputVariables = []string{}
	text, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, report := Validate(text, Options{Tools: testTools}); got == nil || !report.Passed {
		t.Errorf("Validate(500 steps, %d bytes) = %v, want it to pass", len(text), report.Findings())
	}
	roundTrip(t, p)
}

func BenchmarkValidate(b *testing.B) {
	for _, n := range []int{5, 50, 500} {
		text, err := Encode(linear(n))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, report := Validate(text, Options{Tools: testTools}); !report.Passed {
					b.Fatal(report.Findings())
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	p := linear(500)
	for b.Loop() {
		if _, err := Encode(p); err != nil {
			b.Fatal(err)
		}
	}
}
