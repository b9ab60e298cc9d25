package solver

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
)

// decompose decides how to split the action's problem, or that it is atomic. A
// problem that nobody can agree on how to split is taken as atomic.
func (a *action) decompose(f flow.Flow) error {
	ok, err := a.climb(f, a.key("decompose"), func(key string, w way) (bool, error) {
		return a.propose(f, key, w, false)
	})
	if ok || err != nil || a.broken { // that nobody could be asked says nothing about the problem
		return err
	}
	a.proposal = &Proposal{IsAtomic: true}
	a.unvoted(event.ByDefault, a.reason)
	return nil
}

// propose asks for proposals. If none wins, discriminators choose among those that
// were made.
func (a *action) propose(f flow.Flow, key string, w way, mustSplit bool) (bool, error) {
	cfg := &a.s.cfg
	answer := form{ReadProposal, encode(a.s.proposalParams(a.node, mustSplit)), proposalSchema}
	q, err := cfg.question(a.step, w, cfg.Models.Reasoning, answer,
		prompts.SolveDecompose{Problem: a.node.problem, Facts: a.s.memory.facts, MustSplit: mustSplit})
	if err != nil {
		return false, err
	}
	v, err := a.decide(f, key, q)
	if err != nil {
		return false, err
	}
	if v.Status == flow.Decided {
		p, err := decode[Proposal](v.Answer)
		a.proposal, a.settledBy = &p, event.ByVote
		return err == nil, err
	}
	if len(v.Candidates) < 2 || w.Confirm != nil {
		a.undecided(v)
		return false, nil
	}
	ok, err := a.discriminate(f, key+"/pick", w, v.Candidates)
	a.last = v // others are asked for proposals, not for a choice among these
	return ok, err
}

// discriminate has voters choose among proposals. Each sees them in another order.
func (a *action) discriminate(f flow.Flow, key string, w way, candidates []event.Candidate) (bool, error) {
	cfg := &a.s.cfg
	options, err := newOptions(candidates)
	if err != nil {
		return false, err
	}
	orders := options.orders()
	answer := form{ReadPick, encode(pickParams{options.labels()}), pickSchema(options.labels())}
	q, err := cfg.question(a.step, w, cfg.Models.Reasoning, answer, orders[0].ask(a.node.problem))
	if err != nil {
		return false, err
	}
	// Each order as often as each other, in turn with the framings.
	q.Variants, q.Shared, q.Class = nil, 0, ""
	for i := 0; i < prompts.MaxFramings || i%len(orders) > 0; i++ {
		f, err := cfg.Prompts.Framings(orders[i%len(orders)].ask(a.node.problem))
		if err != nil {
			return false, err
		}
		q.Variants = append(q.Variants, f.Texts[i%len(f.Texts)])
	}
	chosen, err := settle[pick](a, f, key, q)
	if chosen == nil {
		return false, err
	}
	for i := range options {
		if options[i].label == chosen.Pick {
			a.proposal, a.settledBy = &options[i].proposal, event.ByDiscriminators
			return true, nil
		}
	}
	return false, fmt.Errorf("solver: no option has the label %q: the log is damaged", chosen.Pick)
}

func (s *solver) proposalParams(n *node, mustSplit bool) proposalParams {
	return proposalParams{
		Problem: n.problem, Ancestors: n.ancestors(), MaxGrowth: maxGrowth,
		MustSplit: mustSplit, Compose: s.cfg.ComposeByCode,
	}
}

// option is a proposal to choose. Its label follows from its content, so that it
// is the same in whatever order the options are shown, and tells nothing.
type option struct {
	label    string
	proposal Proposal
}

// options are in the order of their labels: not in that of their votes, which
// nobody who chooses should know.
type options []option

func newOptions(candidates []event.Candidate) (options, error) {
	var list options
	for _, c := range candidates {
		p, err := decode[Proposal](c.Answer)
		if err != nil {
			return nil, err
		}
		list = append(list, option{proposal: p})
	}
	for n := labelLetters; ; n++ { // more letters if two labels are the same
		for i := range list {
			list[i].label = label(list[i].proposal, n)
		}
		slices.SortFunc(list, func(a, b option) int { return strings.Compare(a.label, b.label) })
		labels := list.labels()
		if len(slices.Compact(labels)) == len(list) || n == maxLabelLetters {
			return list, nil
		}
	}
}

const (
	labelLetters    = 4
	maxLabelLetters = sha256.Size // proposals that are the same in every field

	labelAlphabet = "BCDFGHJKLMNPQRSTVWXZ" // no word comes of it
)

func label(p Proposal, letters int) string {
	sum := sha256.Sum256(encode(p))
	text := make([]byte, letters)
	for i := range text {
		text[i] = labelAlphabet[int(sum[i])%len(labelAlphabet)]
	}
	return string(text)
}

func (o options) labels() []string {
	list := make([]string, len(o))
	for i := range o {
		list[i] = o[i].label
	}
	return list
}

// orders are ways to list the options: all rotations, forwards and then backwards.
// Among as many voters as there are options each option is once in each place, so
// that who always takes the first one helps none of them.
func (o options) orders() []options {
	var all []options
	backwards := slices.Clone(o)
	slices.Reverse(backwards)
	for _, list := range []options{o, backwards} {
		for i := range list {
			all = append(all, slices.Concat(list[i:], list[:i]))
		}
	}
	if len(o) == 2 { // backwards is a rotation
		return all[:2]
	}
	return all
}

// ask is the question which of the options to take, in their order.
func (o options) ask(problem string) prompts.Data {
	list := make([]prompts.SolveOption, len(o))
	for i, opt := range o {
		p := opt.proposal
		list[i] = prompts.SolveOption{Label: opt.label, IsAtomic: p.IsAtomic, PartA: p.PartA, PartB: p.PartB, Compose: p.Compose}
	}
	return prompts.SolvePick{Problem: problem, Options: list}
}
