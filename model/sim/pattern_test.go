package sim

import "testing"

func TestNeeded(t *testing.T) {
	for text, want := range map[string]string{
		`planet`:                           "planet",
		`(?m)^(?:# .*|.*:)\n\nCompute: \d`: "\n\nCompute: ",
		`a+(bc)+d*`:                        "bc",
		`(?i)planet`:                       "",
		`(?i:plan)et`:                      "et",
		`one|two`:                          "",
		`(?:one)?two(?:three){0,2}`:        "two",
		`x{2,3}`:                           "",
		``:                                 "",
		`[é]t`:                             "ét",
	} {
		p, err := compile(text)
		if err != nil || p.needs != want {
			t.Errorf("%q needs %q, %v, want %q", text, p.needs, err, want)
		}
	}
}

// FuzzPattern: a pattern finds what its expression does.
func FuzzPattern(f *testing.F) {
	f.Add(`(?m)^(?:# .*|.*:)\n\nCompute: (\d+)`, "# a\n\nCompute: 12")
	f.Add(`(?i)planet|x+`, "PLANET")
	f.Add(`\xff`, "\xff")
	f.Add("�", "\xff")
	f.Fuzz(func(t *testing.T, expression, text string) {
		p, err := compile(expression)
		if err != nil {
			return
		}
		if got, want := p.find(text) != nil, p.MatchString(text); got != want {
			t.Errorf("%q in %q = %t, want %t", expression, text, got, want)
		}
	})
}
