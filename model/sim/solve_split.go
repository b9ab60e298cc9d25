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
		s = problem.Spoil(p, s, slipOf(d))
		return d.proposal(&s, "Both parts are simpler.")
	}
	if !ok {
		return d.proposal(nil, "It is one operation.")
	}
	return d.proposal(&s, "Both parts are simpler.")
}

// proposal is the answer with a split, or without one.
func (d *decision) proposal(s *problem.Split, rationale string) *answer {
	gist, atomic := "to split it in two", s == nil
	if atomic {
		s, gist = new(problem.Split), "it is small enough"
	}
	return d.object(object{
		{"subproblem_a", s.A}, {"subproblem_b", s.B}, {"compose_fn", s.How}, {"is_atomic", atomic}, {"rationale", d.rambling(rationale)},
	}, gist)
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
		return d.object(object{{"pick", ""}, {"reason", "There is nothing to choose from."}}, "none")
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
	return d.object(object{{"pick", chosen.Label}, {"reason", d.rambling("Its parts give the whole.")}}, chosen.Label)
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
