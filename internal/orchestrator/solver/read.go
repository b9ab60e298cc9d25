package solver

import (
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
	solutions := func(p solutionParams) (*solutions, error) {
		f, ok := families[p.Domain]
		if !ok {
			return nil, fmt.Errorf("no domain is called %q", p.Domain)
		}
		return &solutions{family: f, params: p, groups: groups{adapter: f.adapter}}, nil
	}
	return domain.Readers{
		ReadProposal: newReader(func(p proposalParams) (domain.Reader, error) { return readerOf(p.judge), nil }),
		ReadPick:     newReader(func(p pickParams) (domain.Reader, error) { return readerOf(p.judge), nil }),
		ReadCheck:    newReader(func(p checkParams) (domain.Reader, error) { return readerOf(p.judge), nil }),
		ReadSolution: newReader(func(p solutionParams) (domain.Reader, error) {
			r, err := solutions(p)
			return readerOf(func(s *Solution) (string, *redflag.Flag) {
				if r.params.Work && blank(s.Work) {
					return "", redflag.New(redflag.MissingField, "work_shown is empty")
				}
				return r.judge(s.Solution, s.Confidence)
			}), err
		}),
		ReadAnswer: newReader(func(p solutionParams) (domain.Reader, error) {
			r, err := solutions(p)
			return readerOf(func(a *Conclusion) (string, *redflag.Flag) {
				if a.Support.Equations == nil {
					a.Support.Equations = list{}
				}
				if a.Support.Points == nil {
					a.Support.Points = list{}
				}
				return r.judge(a.Answer, a.Confidence)
			}), err
		}),
	}, nil
}

func newReader[P any](build func(P) (domain.Reader, error)) domain.NewReader {
	return func(params json.RawMessage) (domain.Reader, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		return build(p)
	}
}

// A readFunc is a reader.
type readFunc func(text string) (domain.Answer, *redflag.Flag)

func (f readFunc) Read(text string) (domain.Answer, *redflag.Flag) { return f(text) }

// readerOf reads answers that are a T. Judge says under which key one is counted, or why
// it is no vote.
func readerOf[T any](judge func(*T) (key string, flag *redflag.Flag)) domain.Reader {
	return readFunc(func(text string) (domain.Answer, *redflag.Flag) {
		v, flag := parse[T](text)
		var key string
		if flag == nil {
			key, flag = judge(&v)
		}
		if flag != nil {
			return domain.Answer{}, flag
		}
		return domain.Answer{Value: encode(v), Key: key}, nil
	})
}

// family is what the readers know of a domain.
type family struct {
	adapter  domain.Adapter
	patterns []*regexp.Regexp
}

// proposalParams are how to read proposals to split a problem. Proposals agree if their
// parts do; what people say about their reasons does not count. Nor does how to compose:
// the composition is voted on by itself, with the problem in sight. Only where code
// composes it must be agreed on here.
type proposalParams struct {
	Problem   string   `json:"problem"`
	Ancestors []string `json:"ancestors,omitempty"` // normal forms of what the problem is a part of
	MaxGrowth int      `json:"max_growth"`
	MustSplit bool     `json:"must_split,omitempty"`
	Compose   bool     `json:"compose,omitempty"` // vote on how to compose, too
}

// judge rejects what would lead nowhere.
func (r proposalParams) judge(p *Proposal) (string, *redflag.Flag) {
	a, b := Normal(p.PartA), Normal(p.PartB)
	if p.IsAtomic {
		switch {
		case r.MustSplit:
			return "", redflag.New(redflag.SchemaInvalid, "it is called atomic, but it must be split")
		case !blank(p.PartA) || !blank(p.PartB):
			return "", redflag.New(redflag.SelfContradiction, "it is called atomic, but it is split")
		}
		return "atomic", nil
	}
	for _, part := range []struct{ name, normal string }{{"subproblem_a", a}, {"subproblem_b", b}} {
		if slices.Contains(r.Ancestors, part.normal) {
			return "", redflag.New(FlagCycle, "%s is what the problem is a part of", part.name)
		}
		if flag := isPart(part.name, part.normal, r.Problem, r.MaxGrowth); flag != nil {
			return "", flag
		}
	}
	switch {
	case a == b:
		return "", redflag.New(FlagTautology, "both subproblems are the same")
	case blank(p.Compose):
		return "", redflag.New(redflag.MissingField, "compose_fn is empty")
	}
	key := []string{a, b}
	if r.Compose {
		key = append(key, Normal(p.Compose))
	}
	return string(encode(key)), nil
}

// isPart rejects what is no part of a problem, by its normal form: nothing, all of it, or
// more.
func isPart(name, normal, problem string, maxGrowth int) *redflag.Flag {
	whole := Normal(problem)
	n, limit := utf8.RuneCountInString(normal), utf8.RuneCountInString(whole)+maxGrowth
	switch {
	case normal == "":
		return redflag.New(redflag.Empty, "%s is empty", name)
	case normal == whole:
		return redflag.New(FlagTautology, "%s is the problem itself", name)
	case n > limit:
		return redflag.New(FlagGrowth, "%s has %d characters, want at most %d", name, n, limit)
	}
	return nil
}

type pickParams struct {
	Labels []string `json:"labels"`
}

// pick is the answer of a discriminator.
type pick struct {
	Pick   string `json:"pick"`
	Reason string `json:"reason"`
}

func (r pickParams) judge(p *pick) (string, *redflag.Flag) {
	if !slices.Contains(r.Labels, p.Pick) {
		return "", redflag.New(redflag.SchemaInvalid, "no option has the label %q", p.Pick)
	}
	return p.Pick, nil
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

// judge looks at the solution itself, whatever form it came in.
func (r *solutions) judge(solution string, confidence float64) (string, *redflag.Flag) {
	switch {
	case !(confidence >= 0 && confidence <= 1):
		return "", redflag.New(redflag.SchemaInvalid, "the confidence is %v, want 0 to 1", confidence)
	case blank(solution):
		return "", redflag.New(redflag.Empty, "the solution is empty")
	}
	for _, re := range r.patterns {
		if re.MatchString(solution) {
			return "", redflag.New(FlagPattern, "it matches %s", re.String())
		}
	}
	if r.params.Verify {
		if err := r.adapter.Verify(r.params.Problem, solution); err != nil {
			return "", redflag.New(FlagWrong, "%v", err)
		}
	}
	return r.groups.key(solution), nil
}

// groups sorts the solutions of one question into those that are equivalent to
// the first of their kind. Equivalence need not be transitive: comparing with the
// first alone, which is the one that wins, makes sure that every vote for it is a
// vote for something equivalent to it.
type groups struct {
	adapter domain.Adapter
	firsts  []string // of each group, by order of arrival
}

// key is the text of the first solution that text is equivalent to.
func (g *groups) key(text string) string {
	for _, first := range g.firsts {
		if first == text || g.adapter.Equivalent(first, text) {
			return first
		}
	}
	g.firsts = append(g.firsts, text)
	return text
}

// checkParams are how to read whether an answer is complete. That is what is voted on:
// people do not list what is missing in the same words. What the first of the winners
// found missing is done next, by vote again, and then the answer is checked again.
type checkParams struct {
	Problem   string `json:"problem"`
	MaxGrowth int    `json:"max_growth"`
}

// judge rejects what contradicts itself or leads nowhere.
func (r checkParams) judge(c *Check) (string, *redflag.Flag) {
	missing := 0
	for _, q := range c.Requirements {
		switch {
		case blank(q.Requirement):
			return "", redflag.New(redflag.Empty, "a requirement is empty")
		case q.Status == Missing:
			missing++
		case q.Status != Addressed:
			return "", redflag.New(redflag.SchemaInvalid, "a requirement is %q, want %s or %s", q.Status, Addressed, Missing)
		}
	}
	switch {
	case len(c.Requirements) == 0:
		return "", redflag.New(redflag.MissingField, "no requirement is listed")
	case c.Complete && (missing > 0 || len(c.Missing) > 0):
		return "", redflag.New(redflag.SelfContradiction, "it is called complete, but something is missing")
	case c.Complete:
		return "complete", nil
	case missing == 0 || len(c.Missing) == 0:
		return "", redflag.New(redflag.SelfContradiction, "it is called incomplete, but nothing is missing")
	}
	for _, item := range c.Missing {
		if flag := isPart("an item of missing_work", Normal(item), r.Problem, r.MaxGrowth); flag != nil {
			return "", flag
		}
	}
	return "incomplete", nil
}
