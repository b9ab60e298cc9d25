// Package solver solves a problem for which there is no plan: it splits the
// problem until its parts are small, has the parts solved by vote, puts the
// solutions together and checks that nothing was forgotten. It is an orchestrator:
// it asks questions through flow.Flow and never a model.
//
// # Phases
//
//  1. Direct: a cheap vote on the problem as it is. Its winner counts if it passes
//     the global verifier. Where the domain cannot check anything, that rests on
//     the vote alone. It goes on with the finish then.
//  2. Recursion: every problem is first split in two by vote, or found atomic.
//     What is atomic is solved, and when both parts of a problem are solved, its
//     own solution is composed from theirs. Each of these is a vote. If voters do not
//     agree on how to put parts together, the domain does it, if it can.
//  3. Finish: the answer is verified by code and checked for completeness by vote.
//     What is missing is solved and composed in; this happens in a few rounds.
//
// # Rounds
//
// The recursion goes in rounds. In each round everything that can be done about
// any node of the tree is done at the same time, each by an action of its own;
// then the outcomes are committed one by one, in the order of the tree. Between
// rounds nothing is in flight. Hence what a run does depends on verdicts alone and
// not on which of them came first: an action has its step number before it begins,
// the memo is read and written between actions only, and a resume meets the same
// questions under the same keys.
//
// # Steps
//
// Each action is one step, whatever the number of questions that it takes. Steps
// are committed in the order of their numbers. The first one that fails ends the
// run, and those after it in the same round are not committed; what was decided
// about them is in the log, and a resume does not ask again.
//
// # The memo
//
// A problem is solved once. A part with the same normal form as a problem that is
// solved takes its solution; one whose twin is being solved waits for it, unless
// the twin in turn waits for that part or for something above it.
//
// # Bounds
//
// The tree has a greatest depth and a greatest number of nodes; beyond them
// problems are taken as atomic. An action asks at most one question and one choice
// for each of its ways. Parts that lead nowhere (the whole again, the sibling,
// something above, nothing, more than the whole) are red flags of the proposal. Missing
// items are worked off a few at a time.
// Money, tokens and time are bounds of the runtime, whose error ends the run; the
// best draft up to then is in the last answer_composed event: an answer, or else the parts
// that are solved.
package solver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// Run solves problem. It emits step_completed for each step and task_completed at
// the end; or step_failed and task_failed. Its error is the flow's, or that the
// configuration makes no sense: the run is over for a reason outside the problem.
func Run(f flow.Flow, problem string, cfg Config) error {
	s, err := newSolver(problem, cfg)
	if err != nil {
		return err
	}
	solved, err := s.direct(f)
	if err != nil {
		return err
	}
	if !solved {
		if ok, err := s.grow(f); !ok {
			return err
		}
		s.status = StatusComposed
	}
	return s.finish(f)
}

// solver is one run. Only the main line changes it.
type solver struct {
	cfg      Config
	problem  string
	memory   memory
	root     *node
	trees    []*node          // the root, then what was found missing
	memo     map[string]*node // the first node of each problem, by normal form
	nodes    int
	step     int        // the next to be committed
	answer   Conclusion // to the problem, if there is one
	answerBy string
	status   string // how the answer came about
	draft    draft
	remarks  []string
	composer string // the model of the final answer, if not the usual one

	rounds int // of actions so far
	drafts int // so far
}

func newSolver(problem string, cfg Config) (*solver, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	switch {
	case blank(problem):
		return nil, errors.New("solver: the problem is empty")
	case !utf8.ValidString(problem):
		return nil, errors.New("solver: the problem is not valid UTF-8")
	}
	s := &solver{cfg: cfg, problem: problem, memory: newMemory(&cfg, problem), memo: map[string]*node{}}
	s.root = s.add(nil, "0", problem, 0)
	s.trees = []*node{s.root}
	return s, nil
}

// direct tries to solve the problem as it is. It reports whether that was achieved.
func (s *solver) direct(f flow.Flow) (bool, error) {
	if s.cfg.NoDirect {
		return false, nil
	}
	a := &action{s: s, node: s.root, step: s.step}
	q, err := s.cfg.atomQuestion(s.step, way{}, s.problem, s.memory.facts)
	if err != nil {
		return false, err
	}
	q.Rule = s.cfg.directRule()
	q.Next = s.checked(s.step, func(raw json.RawMessage) (string, memory, error) {
		solution, err := decode[Solution](raw)
		known := s.memory
		known.notes = slices.Clone(known.notes)
		known.learn(s.problem, solution)
		return answerOf(solution.Solution).Answer, known, err
	})
	ok, err := a.askSolution(f, DirectKey, q)
	if err != nil {
		return false, err
	}
	if ok {
		a.checked = true
		s.status = StatusDirect
		return true, s.commit(f, a, "direct")
	}
	s.improve(f, a.best, event.ByVote, a.reason)
	f.Emit(DirectKey+"/escalated", event.Escalated{Path: s.root.path, Step: s.step, Question: DirectKey, To: string(Split), Reason: a.reason})
	return false, nil
}

// DirectKey is the key of the question that the direct attempt asks.
const DirectKey = "solve/direct"

// grow goes on in rounds until every node is solved. It reports whether that was
// achieved; if not, and there is no error, the run has ended.
func (s *solver) grow(f flow.Flow) (bool, error) {
	for {
		actions := s.next(f)
		if len(actions) == 0 {
			if slices.ContainsFunc(s.trees, func(n *node) bool { return n.stage != solved }) {
				return false, errors.New("solver: a problem is not solved and nothing can be done about it: this is a defect of the solver")
			}
			return true, nil
		}
		key := fmt.Sprintf("round/%d", s.rounds)
		s.rounds++
		err := f.Parallel(key, len(actions), func(i int, f flow.Flow) error {
			actions[i].branch = flow.Branch(key, i)
			return actions[i].run(f)
		})
		if err != nil {
			return false, err
		}
		for _, a := range actions {
			what := a.title()
			if a.failed() {
				// What failed beside it is tried again with it.
				var tried []string
				for _, b := range actions {
					if b.failed() {
						tried = append(tried, b.tried...)
					}
				}
				a.tried = tried
				s.fail(f, a, what)
				return false, nil
			}
			if err := s.commit(f, a, what); err != nil {
				return false, err
			}
		}
	}
}

// next are the actions of the next round. Problems that are not to be split any
// more, because the tree is deep or large enough, become atomic here.
func (s *solver) next(f flow.Flow) []*action {
	var actions []*action
	room := s.cfg.MaxNodes - s.nodes
	for _, n := range s.all() {
		if !n.ready() {
			continue
		}
		limit := ""
		if n.depth >= s.cfg.MaxDepth {
			limit = fmt.Sprintf("the depth limit is %d", s.cfg.MaxDepth)
		} else if room < 2 {
			limit = fmt.Sprintf("the limit of nodes is %d", s.cfg.MaxNodes)
		}
		if n.stage == open && limit != "" {
			n.stage = atomic
			s.remark("%s is taken as atomic: %s", n.path, limit)
			f.Emit("solve/"+n.path+"/limited", event.DecompositionSelected{
				Path: n.path, Step: s.step, Problem: event.TextValue(n.problem), Atomic: true, By: event.ByLimit, Reason: limit, State: s.hash(),
			})
		}
		a := &action{s: s, node: n, step: s.step + len(actions), maySplit: limit == ""}
		if n.stage != split && a.maySplit {
			room -= 2
		}
		actions = append(actions, a)
	}
	return actions
}

func (a *action) title() string {
	switch a.node.stage {
	case open:
		return "decompose " + a.node.path
	case atomic:
		return "solve " + a.node.path
	default:
		return "compose " + a.node.path
	}
}

// stepKey is the key of a step.
func stepKey(step int) string { return fmt.Sprintf("solve/step/%d", step) }

// commit makes the outcome of an action part of the state. Its error is the flow's.
func (s *solver) commit(f flow.Flow, a *action, title string) error {
	var output any
	var err error
	switch {
	case a.proposal != nil:
		output = a.proposal
		s.commitProposal(f, a)
	case a.solution != nil:
		output = a.solution
		err = s.commitSolution(f, a)
	case a.answer != nil:
		output = a.answer
		err = s.commitAnswer(f, a, *a.answer)
	default:
		output = a.check
	}
	if err != nil {
		return err
	}
	step := event.StepCompleted{Step: a.step, Title: title, Output: event.JSONValue(encode(output)), Voting: a.voting, DurationMS: a.durationMS}
	if !a.unpriced {
		step.CostUSD = &a.costUSD
	}
	f.Emit(stepKey(a.step), step)
	s.step = a.step + 1
	return nil
}

func (s *solver) commitProposal(f flow.Flow, a *action) {
	n, p := a.node, a.proposal
	e := event.DecompositionSelected{
		Path: n.path, Step: a.step, Problem: event.TextValue(n.problem), Atomic: p.IsAtomic,
		By: a.settledBy, Reason: a.because, Score: score(n.problem, p),
	}
	if p.IsAtomic {
		n.stage = atomic
		if a.settledBy == event.ByDefault {
			s.remark("%s is taken as atomic: nobody agrees on how to split it", n.path)
		}
	} else {
		s.divide(n, p)
		e.PartA, e.PartB, e.Compose = event.TextValue(p.PartA), event.TextValue(p.PartB), event.TextValue(p.Compose)
	}
	e.State = s.hash()
	f.Emit(stepKey(a.step)+"/decomposed", e)
	for _, part := range n.parts {
		if part.stage == solved {
			s.emitSolved(f, part, a.step, event.ByMemo)
		}
	}
}

func (s *solver) commitSolution(f flow.Flow, a *action) error {
	n := a.node
	composed := n.stage == split
	n.stage, n.solution = solved, *a.solution
	s.memory.learn(n.problem, n.solution)
	if a.settledBy == event.ByCode && a.because != "" {
		s.remark("%s was put together by code: %s", n.path, a.because)
	}
	switch {
	case n == s.root:
		answer := answerOf(n.solution.Solution)
		answer.Confidence, answer.Support.Summary = n.solution.Confidence, n.solution.Work
		answer.Support.evidence(s.cfg.Adapter, n.solution.Solution, n.solution.Work)
		if err := s.commitAnswer(f, a, answer); err != nil {
			return err
		}
	case composed:
		f.Emit(stepKey(a.step)+"/composed", event.AnswerComposed{
			Path: n.path, Step: a.step, Answer: event.TextValue(n.solution.Solution),
			Confidence: n.solution.Confidence, By: a.settledBy, State: s.hash(),
		})
	default:
		s.emitSolved(f, n, a.step, a.settledBy)
	}
	for _, follower := range n.followers {
		follower.stage, follower.solution = solved, n.solution
		s.emitSolved(f, follower, a.step, event.ByMemo)
	}
	return nil
}

// commitAnswer takes an answer to the whole problem. Until it is checked it is a
// draft.
func (s *solver) commitAnswer(f flow.Flow, a *action, answer Conclusion) error {
	s.root.stage = solved
	s.root.solution = Solution{Solution: answer.Answer, Confidence: answer.Confidence}
	s.answer, s.answerBy = answer, a.settledBy
	if a.checked {
		s.improve(f, draft{answer, settled}, a.settledBy, "it is not checked yet")
		return nil
	}
	problem, err := s.verify(f, stepKey(a.step), s.problem, answer.Answer)
	switch {
	case err != nil:
		return err
	case problem != "":
		s.improve(f, draft{answer, wrong}, a.settledBy, problem)
	default:
		s.improve(f, draft{answer, settled}, a.settledBy, "it is not checked yet")
	}
	return nil
}

func (s *solver) emitSolved(f flow.Flow, n *node, step int, by string) {
	e := event.SubproblemSolved{
		Path: n.path, Step: step, Problem: event.TextValue(n.problem), Solution: event.TextValue(n.solution.Solution),
		Confidence: n.solution.Confidence, By: by, State: s.hash(),
	}
	if n.first != nil {
		e.From = n.first.path
	} else if n.solution.Work != "" {
		e.Work = event.TextValue(n.solution.Work)
	}
	f.Emit("solve/"+n.path+"/solved", e)
}

func (s *solver) remark(format string, args ...any) {
	s.remarks = append(s.remarks, fmt.Sprintf(format, args...))
}
