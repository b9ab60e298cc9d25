package solver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/redflag"
)

// The names of the readers.
const (
	ReadProposal = "solve_proposal"
	ReadPick     = "solve_pick"
	ReadSolution = "solve_solution"
	ReadAnswer   = "solve_answer"
	ReadCheck    = "solve_check"
)

// Readers returns the readers of the solver's questions, for the adapters that
// questions may name. It is an error if a pattern of an adapter does not compile.
func Readers(adapters map[string]domain.Adapter) (domain.Readers, error) {
	families := map[string]family{}
	for _, name := range slices.Sorted(maps.Keys(adapters)) {
		a := adapters[name]
		f := family{adapter: a}
		if flagger, ok := a.(domain.Flagger); ok {
			for _, pattern := range flagger.FlagPatterns() {
				re, err := regexp.Compile(pattern)
				if err != nil {
					return nil, fmt.Errorf("solver: domain %s: %w", name, err)
				}
				f.patterns = append(f.patterns, re)
			}
		}
		families[name] = f
	}
	newSolutions := func(params json.RawMessage) (*solutions, error) {
		var p solutionParams
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		f, ok := families[p.Domain]
		if !ok {
			return nil, fmt.Errorf("no domain is called %q", p.Domain)
		}
		return &solutions{family: f, params: p, groups: newGroups(f.adapter)}, nil
	}
	return domain.Readers{
		ReadProposal: newReader(func(p proposalParams) domain.Reader { return proposals{p} }),
		ReadPick:     newReader(func(p pickParams) domain.Reader { return picks{p} }),
		ReadCheck:    newReader(func(p checkParams) domain.Reader { return checks{p} }),
		ReadSolution: func(params json.RawMessage) (domain.Reader, error) {
			s, err := newSolutions(params)
			return solutionReader{s}, err
		},
		ReadAnswer: func(params json.RawMessage) (domain.Reader, error) {
			s, err := newSolutions(params)
			return answerReader{s}, err
		},
	}, nil
}

func newReader[P any](build func(P) domain.Reader) domain.NewReader {
	return func(params json.RawMessage) (domain.Reader, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		return build(p), nil
	}
}

// family is what the readers know of a domain.
type family struct {
	adapter  domain.Adapter
	patterns []*regexp.Regexp
}

// vetoed is what a reader returns for an answer that is no vote.
func vetoed(flag *redflag.Flag) (domain.Answer, *redflag.Flag) { return domain.Answer{}, flag }

type proposalParams struct {
	Problem   string   `json:"problem"`
	Ancestors []string `json:"ancestors,omitempty"` // normal forms of what the problem is a part of
	MaxGrowth int      `json:"max_growth"`
	MustSplit bool     `json:"must_split,omitempty"`
	Compose   bool     `json:"compose,omitempty"` // vote on how to compose, too
}

// proposals reads how to split a problem. Proposals agree if their parts do; what
// people say about their reasons does not count. Nor does how to compose: the
// composition is voted on by itself, with the problem in sight. Only where code
// composes it must be agreed on here.
type proposals struct{ proposalParams }

func (r proposals) Read(text string) (domain.Answer, *redflag.Flag) {
	p, flag := parse[Proposal](text)
	if flag == nil {
		flag = r.check(&p)
	}
	if flag != nil {
		return vetoed(flag)
	}
	return domain.Answer{Value: encode(p), Key: r.key(&p)}, nil
}

// check rejects what would lead nowhere.
func (r proposals) check(p *Proposal) *redflag.Flag {
	if p.IsAtomic {
		switch {
		case r.MustSplit:
			return redflag.New(redflag.SchemaInvalid, "it is called atomic, but it must be split")
		case !blank(p.PartA) || !blank(p.PartB):
			return redflag.New(redflag.SelfContradiction, "it is called atomic, but it is split")
		}
		return nil
	}
	whole := Normal(r.Problem)
	limit := utf8.RuneCountInString(whole) + r.MaxGrowth
	a, b := Normal(p.PartA), Normal(p.PartB)
	for _, part := range []struct{ name, normal string }{{"subproblem_a", a}, {"subproblem_b", b}} {
		normal := part.normal
		if normal == "" {
			return redflag.New(redflag.Empty, "%s is empty", part.name)
		}
		if normal == whole {
			return redflag.New(FlagTautology, "%s is the problem itself", part.name)
		}
		if slices.Contains(r.Ancestors, normal) {
			return redflag.New(FlagCycle, "%s is what the problem is a part of", part.name)
		}
		if n := utf8.RuneCountInString(normal); n > limit {
			return redflag.New(FlagGrowth, "%s has %d characters, want at most %d", part.name, n, limit)
		}
	}
	if a == b {
		return redflag.New(FlagTautology, "both subproblems are the same")
	}
	if blank(p.Compose) {
		return redflag.New(redflag.MissingField, "compose_fn is empty")
	}
	return nil
}

func (r proposals) key(p *Proposal) string {
	if p.IsAtomic {
		return "atomic"
	}
	key := []string{Normal(p.PartA), Normal(p.PartB)}
	if r.Compose {
		key = append(key, Normal(p.Compose))
	}
	return string(encode(key))
}

type pickParams struct {
	Labels []string `json:"labels"`
}

// picks reads which option somebody chose.
type picks struct{ pickParams }

// pick is the answer of a discriminator, without the reason that it gives.
type pick struct {
	Pick string `json:"pick"`
}

type reasonedPick struct {
	Pick   string `json:"pick"`
	Reason string `json:"reason"`
}

func (r picks) Read(text string) (domain.Answer, *redflag.Flag) {
	p, flag := parse[reasonedPick](text)
	if flag != nil {
		return vetoed(flag)
	}
	if !slices.Contains(r.Labels, p.Pick) {
		return vetoed(redflag.New(redflag.SchemaInvalid, "no option has the label %q", p.Pick))
	}
	return domain.Answer{Value: encode(pick{p.Pick}), Key: p.Pick}, nil
}

type solutionParams struct {
	Domain  string `json:"domain"`
	Problem string `json:"problem"`
	Work    bool   `json:"work,omitempty"`   // it must be shown
	Verify  bool   `json:"verify,omitempty"` // discard what is known to be wrong
}

// solutions reads the solutions of one problem. Those that the domain calls
// equivalent agree.
type solutions struct {
	family
	params solutionParams
	groups groups
}

// check looks at the solution itself, whatever form it came in.
func (r *solutions) check(solution string) *redflag.Flag {
	if blank(solution) {
		return redflag.New(redflag.Empty, "the solution is empty")
	}
	for _, re := range r.patterns {
		if re.MatchString(solution) {
			return redflag.New(FlagPattern, "it matches %s", re.String())
		}
	}
	if r.params.Verify {
		if err := r.adapter.Verify(r.params.Problem, solution); err != nil {
			return redflag.New(FlagWrong, "%v", err)
		}
	}
	return nil
}

type solutionReader struct{ *solutions }

func (r solutionReader) Read(text string) (domain.Answer, *redflag.Flag) {
	s, flag := parse[Solution](text)
	if flag == nil {
		flag = cmp.Or(sure(s.Confidence), r.check(s.Solution))
	}
	if flag != nil {
		return vetoed(flag)
	}
	if r.params.Work && blank(s.Work) {
		return vetoed(redflag.New(redflag.MissingField, "work_shown is empty"))
	}
	return domain.Answer{Value: encode(s), Key: r.groups.key(s.Solution)}, nil
}

type answerReader struct{ *solutions }

func (r answerReader) Read(text string) (domain.Answer, *redflag.Flag) {
	a, flag := parse[Answer](text)
	if flag == nil {
		flag = cmp.Or(sure(a.Confidence), r.check(a.Answer))
	}
	if flag != nil {
		return vetoed(flag)
	}
	return domain.Answer{Value: encode(a), Key: r.groups.key(a.Answer)}, nil
}

// groups sorts the solutions of one question into those that are equivalent to
// the first of their kind. Equivalence need not be transitive: comparing with the
// first alone, which is the one that wins, makes sure that every vote for it is a
// vote for something equivalent to it.
type groups struct {
	adapter domain.Adapter
	firsts  chan []string // of each group, by order of arrival; taken out by whoever uses them
}

func newGroups(a domain.Adapter) groups {
	g := groups{adapter: a, firsts: make(chan []string, 1)}
	g.firsts <- nil
	return g
}

// key is the text of the first solution that text is equivalent to.
func (g groups) key(text string) string {
	firsts := <-g.firsts
	defer func() { g.firsts <- firsts }()
	for _, first := range firsts {
		if first == text || g.adapter.Equivalent(first, text) {
			return first
		}
	}
	firsts = append(firsts, text)
	return text
}

type checkParams struct {
	Problem   string `json:"problem"`
	MaxGrowth int    `json:"max_growth"`
	MaxItems  int    `json:"max_items"`
}

// checks reads whether an answer is complete. That is what is voted on: people do
// not list what is missing in the same words. What the first of the winners found
// missing is done next, by vote again, and then the answer is checked again.
type checks struct{ checkParams }

func (r checks) Read(text string) (domain.Answer, *redflag.Flag) {
	c, flag := parse[Check](text)
	if flag == nil {
		flag = r.check(&c)
	}
	if flag != nil {
		return vetoed(flag)
	}
	key := "incomplete"
	if c.Complete {
		key = "complete"
	}
	return domain.Answer{Value: encode(c), Key: key}, nil
}

// check rejects what contradicts itself or leads nowhere.
func (r checks) check(c *Check) *redflag.Flag {
	if len(c.Requirements) == 0 {
		return redflag.New(redflag.MissingField, "no requirement is listed")
	}
	missing := 0
	for _, q := range c.Requirements {
		switch {
		case blank(q.Requirement):
			return redflag.New(redflag.Empty, "a requirement is empty")
		case q.Status == Missing:
			missing++
		case q.Status != Addressed:
			return redflag.New(redflag.SchemaInvalid, "a requirement is %q, want %s or %s", q.Status, Addressed, Missing)
		}
	}
	switch {
	case c.Complete && (missing > 0 || len(c.Missing) > 0):
		return redflag.New(redflag.SelfContradiction, "it is called complete, but something is missing")
	case !c.Complete && (missing == 0 || len(c.Missing) == 0):
		return redflag.New(redflag.SelfContradiction, "it is called incomplete, but nothing is missing")
	case len(c.Missing) > r.MaxItems:
		return redflag.New(redflag.SchemaInvalid, "%d items are missing, want at most %d", len(c.Missing), r.MaxItems)
	}
	whole := Normal(r.Problem)
	limit := utf8.RuneCountInString(whole) + r.MaxGrowth
	for _, item := range c.Missing {
		normal := Normal(item)
		switch n := utf8.RuneCountInString(normal); {
		case normal == "":
			return redflag.New(redflag.Empty, "an item of missing_work is empty")
		case normal == whole:
			return redflag.New(FlagTautology, "what is missing is the problem itself")
		case n > limit:
			return redflag.New(FlagGrowth, "an item of missing_work has %d characters, want at most %d", n, limit)
		}
	}
	return nil
}
