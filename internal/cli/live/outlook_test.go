package live

import (
	"strings"
	"testing"

	"github.com/maker-mdap/maker/vote/adaptive"
)

func TestOutlook(t *testing.T) {
	o := adaptive.Outlook{Bound: .991, Forecast: .964, ExpectedWrong: .006, VotesToCome: 5000, USDToCome: new(100.0), Dearest: "hanoi"}
	want := "P(all likeliest) 99.1 % so far, 96.4 % at the end, 0.006 expected wrong, about 5,000 votes to come for $100.00, most votes: hanoi"
	if got := outlook(&o); got != want {
		t.Errorf("outlook() = %q, want %q", got, want)
	}
	o.USDToCome = nil
	if got := outlook(&o); strings.Contains(got, "$") {
		t.Errorf("outlook() = %q, want no cost where none is known", got)
	}
}
