package sim

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// decompose says how to split a problem, or that it is small enough.
func (d *decision) decompose(i *inquiry) *answer {
	p := problem.Read(i.Problem)
	if p == nil {
		return nil
	}
	s, ok := p.Split(i.MustSplit)
	if d.quality == wrong {
		if !ok {
			if s, ok = p.Split(true); !ok {
				s = problem.Split{A: p.String(), B: "Compute: 0", How: "a + b"} // which is no split
			}
		}
		s, ok = problem.Spoil(p, s, slipOf(d)), true
	}
	gist, rationale := "to split it in two", "Both parts are simpler."
	if !ok {
		gist, rationale = "it is small enough", "It is one operation."
	}
	return d.object(gist, `{"subproblem_a": %v, "subproblem_b": %v, "compose_fn": %v, "is_atomic": %v, "rationale": %v}`,
		s.A, s.B, s.How, !ok, d.rambling(rationale))
}

// An option is a split that others proposed.
type option struct {
	Label    string `json:"label"`
	IsAtomic bool   `json:"is_atomic"`
	PartA    string `json:"subproblem_a"`
	PartB    string `json:"subproblem_b"`
	Compose  string `json:"compose_fn"`
}

// pick chooses among options by what they say, never by where they stand or what
// they are called.
func (d *decision) pick(i *inquiry) *answer {
	if len(i.Options) == 0 {
		return d.object("none", `{"pick": %v, "reason": %v}`, "", "There is nothing to choose from.")
	}
	p := problem.Read(i.Problem)
	options := slices.Clone(i.Options)
	slices.SortStableFunc(options, func(a, b option) int {
		return cmp.Or(cmp.Compare(a.rate(p), b.rate(p)), strings.Compare(a.content(), b.content()))
	})
	chosen := options[0]
	if others := options[1:]; d.quality == wrong && len(others) > 0 {
		chosen = others[slipOf(d).Among(len(others))]
	}
	return d.object(chosen.Label, `{"pick": %v, "reason": %v}`, chosen.Label, d.rambling("Its parts give the whole."))
}

// content is an option without its label.
func (o *option) content() string {
	return strings.Join([]string{strconv.FormatBool(o.IsAtomic), o.PartA, o.PartB, o.Compose}, "\n")
}

// rate says how much work an option leaves to be done in its larger part, the less
// the better; of one that is not sound, more than there is.
func (o *option) rate(p problem.Problem) int {
	const unsound = 1 << 40
	if p == nil {
		return 0 // all the same
	}
	if o.IsAtomic {
		if p.Operations() > 1 {
			return unsound
		}
		return 0
	}
	a, b := problem.Read(o.PartA), problem.Read(o.PartB)
	if a == nil || b == nil {
		return unsound
	}
	x, okX := a.Solution(nil)
	y, okY := b.Solution(nil)
	if !okX || !okY {
		return unsound
	}
	together := problem.Together(o.Compose, x, y)
	if together == nil {
		return unsound
	}
	got, _ := together.Solution(nil)
	if want, ok := p.Solution(nil); !ok || got != want || a.String() == p.String() || b.String() == p.String() {
		return unsound
	}
	return max(a.Operations(), b.Operations())
}
