package solver

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// An action is one thing done about one node: one step of the run. Actions run at
// the same time, so they read the solver and change only themselves; what comes of
// them is committed afterwards, one after another.
type action struct {
	s        *solver
	node     *node
	step     int
	maySplit bool // there is room for parts

	// Where it takes place: what its keys begin with, and those of what it tried, which
	// a resume after a failure tries again.
	branch string
	tried  []string

	// What came of it: one of these.
	proposal *Proposal
	solution *Solution
	answer   *Conclusion
	check    *Check

	settledBy string // one of the By constants of package event
	because   string // why, if not simply by vote
	checked   bool   // it needs no review

	// The last vote, and why it was not the end.
	asked   string
	last    *flow.Verdict
	voting  event.Voting
	earlier event.Voting // of those who were asked the same before
	status  flow.Status
	reason  string
	broken  bool     // nobody could be asked
	options []string // solutions that got votes
	best    draft    // the best of what was not accepted

	costUSD    float64
	unpriced   bool
	durationMS int64
}

// run does what is next for the node.
func (a *action) run(f flow.Flow) error {
	switch a.node.stage {
	case open:
		return a.decompose(f)
	case atomic:
		return a.solve(f)
	default:
		return a.compose(f)
	}
}

func (a *action) failed() bool {
	return a.proposal == nil && a.solution == nil && a.answer == nil && a.check == nil
}

// key names a question about the node.
func (a *action) key(what string) string { return "solve/" + a.node.path + "/" + what }

// decide asks and keeps the accounts.
func (a *action) decide(f flow.Flow, key string, q *flow.Question) (*flow.Verdict, error) {
	v, err := f.Decide(key, q)
	if err != nil {
		return nil, err
	}
	a.asked, a.last, a.voting = key, v, v.Voting
	a.durationMS += v.DurationMS
	if v.CostUSD == nil {
		a.unpriced = true
	} else {
		a.costUSD = usage.AddUSD(a.costUSD, *v.CostUSD)
	}
	return v, nil
}

// settle asks a question to which voters have to agree on an answer. It returns nil
// if they do not.
func settle[T any](a *action, f flow.Flow, key string, q *flow.Question) (*T, error) {
	v, err := a.decide(f, key, q)
	if err != nil {
		return nil, err
	}
	if v.Status != flow.Decided {
		a.undecided(v)
		return nil, nil
	}
	answer, err := decode[T](v.Answer)
	if err != nil {
		return nil, err
	}
	return &answer, nil
}

// undecided notes that the vote that was just taken had no winner.
func (a *action) undecided(v *flow.Verdict) {
	a.status, a.reason, a.options = v.Status, v.Reason, nil
	a.broken = v.Status == flow.Failed
	for _, c := range v.Candidates {
		if text := givenIn(c.Answer); text != "" {
			a.options = append(a.options, text)
		}
	}
	if len(a.options) > 0 {
		a.best = draft{answerOf(a.options[0]), leading}
	}
}

// givenIn is the solution or the answer that a voter gave; of a proposal neither is there.
func givenIn(raw json.RawMessage) string {
	both, _ := decode[struct {
		Solution string `json:"solution"`
		Answer   string `json:"answer"`
	}](raw)
	return both.Solution + both.Answer
}

// rejected notes that a verifier does not accept what won.
func (a *action) rejected(key, wrong string) {
	a.asked, a.status, a.reason, a.options = key, flow.Failed, "the verifier: "+wrong, nil
	a.last = &flow.Verdict{Status: flow.Failed, Answer: a.last.Answer, Voting: a.voting}
	a.broken = false
}

// unvoted says that something was settled without a vote.
func (a *action) unvoted(by, because string) {
	a.settledBy, a.because = by, because
	a.voting = event.Voting{Strategy: vote.None, Votes: map[string]int{}}
}

// votes are those of all who were asked, of an action that came to nothing.
func (a *action) votes() event.Voting { return a.earlier.With(a.voting) }

// climb tries in the usual way and then, while that gives nothing, in one
// configured way after another.
func (a *action) climb(f flow.Flow, key string, try func(key string, w way) (bool, error)) (bool, error) {
	a.tried = append(a.tried, a.branch+key)
	a.earlier = event.Voting{}
	c := flow.Climb{
		Try:  try,
		May:  func(to Escalation) bool { return to != Diversity || !a.broken }, // other words do not mend what is out of order
		Last: func() *flow.Verdict { return a.last },
		Note: func(to Escalation) event.Escalated {
			a.earlier, a.voting = a.votes(), event.Voting{}
			return event.Escalated{Path: a.node.path, Step: a.step, Question: a.asked, To: string(to), Reason: a.reason}
		},
	}
	if a.node.stage == atomic && a.maySplit {
		c.Split = func(key string) (bool, error) { return a.splitFurther(f, key) }
	}
	if a.node.stage == atomic || a.node.stage == split { // whether and how to split is no question for a person
		c.Person = func(key string) (bool, error) { return a.askPerson(f, key) }
	}
	return a.s.ladder().Climb(f, key, c)
}

// ladder is what is tried while voters do not agree.
func (s *solver) ladder() flow.Ladder {
	return flow.Ladder{Order: s.cfg.Escalate, Model: s.cfg.Models.Escalation}
}

// splitFurther gives up solving the node as it is. If nobody agrees on how to split
// it either, the trouble remains the one before.
func (a *action) splitFurther(f flow.Flow, key string) (bool, error) {
	before := *a
	ok, err := a.propose(f, key, way{}, true)
	if ok || err != nil {
		a.because = before.reason
		return ok, err
	}
	a.reason = before.reason + "; nobody agrees on how to split it: " + a.reason
	a.asked, a.last, a.voting, a.status, a.broken, a.options = before.asked, before.last, before.voting, before.status, before.broken, before.options
	return false, nil
}

// askPerson has the person give the solution of the node.
func (a *action) askPerson(f flow.Flow, key string) (bool, error) {
	text := fmt.Sprintf("The voters do not agree (%s). What is the solution of this problem?\n\n%s", a.reason, a.node.problem)
	given, err := f.Ask(key, flow.Unsettled(a.step, text, a.votes(), func(answer json.RawMessage) string {
		if option := givenIn(answer); slices.Contains(a.options, option) { // none is left of what a verifier rejected
			return option
		}
		return ""
	}))
	if err != nil {
		return false, err
	}
	solution := Solution{Solution: given.Text, Confidence: 1, Work: "given by a person"}
	if wrong, err := a.s.verify(f, key, a.node.problem, solution.Solution); err != nil || wrong != "" {
		a.rejected(key, wrong)
		return false, err
	}
	a.solution = &solution
	a.unvoted(event.ByPerson, a.reason)
	return true, nil
}

// solve asks for the solution of a problem that is not split. It may end with the
// problem being split after all.
func (a *action) solve(f flow.Flow) error {
	_, err := a.climb(f, a.key("solve"), func(key string, w way) (bool, error) {
		q, err := a.s.cfg.atomQuestion(a.step, w, a.node.problem, a.s.memory.facts)
		if err != nil {
			return false, err
		}
		return a.askSolution(f, key, q)
	})
	return err
}

// askSolution asks a question that a solution of the node answers.
func (a *action) askSolution(f flow.Flow, key string, q *flow.Question) (bool, error) {
	solution, err := settle[Solution](a, f, key, q)
	if solution == nil {
		return false, err
	}
	wrongly, err := a.s.verify(f, key, a.node.problem, solution.Solution)
	if err != nil {
		return false, err
	}
	if wrongly != "" {
		a.rejected(key, wrongly)
		if a.best.quality <= wrong {
			a.best = draft{answerOf(solution.Solution), wrong}
		}
		return false, nil
	}
	a.solution, a.settledBy = solution, event.ByVote
	return true, nil
}

// compose makes the solution of the node from those of its parts: by code where the
// domain can and may, otherwise by vote, and by code again if voters do not agree. At
// the root it makes the answer.
func (a *action) compose(f flow.Flow) error {
	n, cfg := a.node, &a.s.cfg
	x, y := n.parts[0].part(), n.parts[1].part()
	if cfg.ComposeByCode {
		if done, err := a.composeByCode(f, a.key("code"), x, y); done || err != nil {
			return err
		}
	}
	err := a.composeByVote(f, x, y)
	if err != nil || !a.failed() || cfg.ComposeByCode || a.broken {
		return err
	}
	// What is solved is not thrown away because nobody agrees on the rest.
	_, err = a.composeByCode(f, a.key("compose/code"), x, y)
	return err
}

func (a *action) composeByVote(f flow.Flow, x, y domain.Part) error {
	n, cfg := a.node, &a.s.cfg
	if n == a.s.root {
		return a.composeAnswer(f, a.key("compose"), prompts.SolveAnswer{Compose: n.how, A: prompts.SolvePart(x), B: prompts.SolvePart(y)})
	}
	_, err := a.climb(f, a.key("compose"), func(key string, w way) (bool, error) {
		q, err := cfg.question(a.step, w, cfg.Models.Reasoning, cfg.solutionForm(n.problem), prompts.SolveCompose{
			Problem: n.problem, Compose: n.how, A: prompts.SolvePart(x), B: prompts.SolvePart(y), Facts: a.s.memory.facts,
		})
		if err != nil {
			return false, err
		}
		return a.askSolution(f, key, q)
	})
	return err
}

func (a *action) composeByCode(f flow.Flow, key string, x, y domain.Part) (bool, error) {
	c, ok := a.s.cfg.Adapter.(domain.Composer)
	if !ok {
		return false, nil
	}
	text, ok := c.Compose(a.node.problem, a.node.how, x, y)
	solution := Solution{
		Solution: text, Work: "put together by code",
		Confidence: min(a.node.parts[0].solution.Confidence, a.node.parts[1].solution.Confidence),
	}
	if !ok {
		return false, nil
	}
	if wrong, err := a.s.verify(f, key, a.node.problem, solution.Solution); err != nil || wrong != "" {
		return false, err
	}
	a.solution = &solution
	a.unvoted(event.ByCode, a.reason)
	return true, nil
}

// composeAnswer asks for the answer to the whole task. The global verifier looks
// at it later, because its complaint helps those who answer next.
func (a *action) composeAnswer(f flow.Flow, key string, data prompts.SolveAnswer) error {
	cfg := &a.s.cfg
	data.Problem, data.Facts, data.Work = a.s.problem, a.s.memory.facts, a.s.memory.work
	_, err := a.climb(f, key, func(key string, w way) (bool, error) {
		if w.Model == "" {
			w.Model = a.s.composer
		}
		q, err := cfg.question(a.step, w, cfg.Models.Reasoning, cfg.answerForm(a.s.problem), data)
		if err != nil {
			return false, err
		}
		if a.node.stage == split { // and not yet improved
			q.Next = a.s.checked(a.step, func(raw json.RawMessage) (string, memory, error) {
				c, err := decode[Conclusion](raw)
				return c.Answer, a.s.memory, err
			})
		}
		a.answer, err = settle[Conclusion](a, f, key, q)
		a.settledBy = event.ByVote
		return a.answer != nil, err
	})
	return err
}
