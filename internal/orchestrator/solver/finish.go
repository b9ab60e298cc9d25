package solver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/clip"
)

// finish checks the answer and fills its gaps until nothing is missing, or until
// the rounds are used up.
func (s *solver) finish(f flow.Flow) error {
	last := s.hash()
	seen := map[string]bool{last: true}
	stagnant := 0
	for round := 0; ; round++ {
		r, err := s.review(f, round)
		switch {
		case r == nil || err != nil:
			return err
		case r.problem == "":
			return s.complete(f)
		case round == s.cfg.MaxFillRounds:
			s.end(f, flow.Failed, fmt.Sprintf("after %d rounds of filling gaps: %s", round, r.problem), event.Voting{}, nil)
			return nil
		}
		if ok, err := s.fill(f, round, r); !ok {
			return err
		}

		now := s.hash()
		trouble := ""
		switch {
		case now == last:
			if stagnant++; stagnant >= s.cfg.MaxStagnant {
				trouble = fmt.Sprintf("%d rounds of filling gaps changed nothing: %s", stagnant, r.problem)
			}
		case seen[now]:
			trouble = "filling gaps goes round in circles: " + r.problem
		default:
			stagnant = 0
		}
		last, seen[now] = now, true
		if trouble == "" {
			continue
		}
		if s.composer == s.cfg.Models.Escalation { // also if there is none
			s.end(f, flow.Failed, trouble, event.Voting{}, nil)
			return nil
		}
		s.composer, stagnant = s.cfg.Models.Escalation, 0
		f.Emit(fillKey(round)+"/escalated", event.Escalated{Path: s.root.path, Step: s.step, Question: fillKey(round), To: string(Model), Reason: trouble})
	}
}

func fillKey(round int) string { return fmt.Sprintf("solve/fill/%d", round) }

// review is what is wrong with the answer.
type review struct {
	problem string   // in words, empty if there is none
	wrong   string   // what the verifier says
	missing []string // what the voters say
}

// review has the answer verified by code and then checked for completeness by
// vote. It returns nil if the run has ended.
func (s *solver) review(f flow.Flow, round int) (*review, error) {
	key := checkKey(round)
	wrong, err := s.verify(f, key, s.problem, s.answer.Answer)
	if err != nil {
		return nil, err
	}
	if wrong != "" {
		return &review{problem: "the answer is wrong: " + wrong, wrong: wrong}, nil
	}
	a := &action{s: s, node: s.root, step: s.step}
	ok, err := a.climb(f, key, func(key string, w way) (bool, error) {
		q, err := s.checkQuestion(a.step, w, s.answer.Answer, s.memory.notes)
		if err != nil {
			return false, err
		}
		a.check, err = settle[Check](a, f, key, q)
		a.settledBy = event.ByVote
		return a.check != nil, err
	})
	if err != nil {
		return nil, err
	}
	if !ok {
		s.fail(f, a, "check")
		return nil, nil
	}
	f.Emit(key+"/checked", event.CompletenessChecked{
		Step: a.step, Round: round, Complete: a.check.Complete,
		Requirements: a.check.Requirements, Missing: a.check.Missing, State: s.hash(),
	})
	if err := s.commit(f, a, fmt.Sprintf("check %d", round)); err != nil {
		return nil, err
	}
	if a.check.Complete {
		return &review{}, nil
	}
	return &review{problem: "something is missing: " + strings.Join(a.check.Missing, "; "), missing: a.check.Missing}, nil
}

func checkKey(round int) string { return fmt.Sprintf("solve/check/%d", round) }

// checkQuestion asks whether an answer is complete.
func (s *solver) checkQuestion(step int, w way, answer string, notes []string) (*flow.Question, error) {
	form := form{ReadCheck, encode(checkParams{s.problem, maxGrowth}), checkSchema}
	return s.cfg.question(step, w, s.cfg.Models.Reasoning, form, prompts.SolveCheck{Problem: s.problem, Answer: answer, Notes: notes})
}

// checked says what is asked after a question to which the answer to the whole problem is
// the answer: whether that is complete, as read and with what is known then.
func (s *solver) checked(step int, read func(raw json.RawMessage) (answer string, known memory, err error)) func(json.RawMessage) (string, *flow.Question) {
	return func(raw json.RawMessage) (string, *flow.Question) {
		answer, known, err := read(raw)
		if err != nil {
			return "", nil
		}
		q, err := s.checkQuestion(step+1, s.ladder().First(), answer, known.notes)
		if err != nil {
			return "", nil
		}
		return checkKey(0), q
	}
}

// maxMissing is how many missing items are worked off at a time, and maxItems how many
// after one check: the next one finds the others, which then come first.
const (
	maxMissing = 5
	maxItems   = 20
)

// fill makes the answer better by what a review found. It reports whether that
// was achieved; if not, and there is no error, the run has ended.
func (s *solver) fill(f flow.Flow, round int, r *review) (bool, error) {
	s.status = StatusComposed
	if r.wrong != "" {
		return s.refine(f, fillKey(round)+"/correct", s.correction(r.wrong), nil)
	}
	missing := s.newFirst(r.missing)
	first := 0
	for items := range slices.Chunk(missing[:min(len(missing), maxItems)], maxMissing) {
		if ok, err := s.fillItems(f, round, first, items); !ok {
			return false, err
		}
		first += len(items)
	}
	return true, nil
}

// newFirst are missing items with those last that were added to the answer before.
func (s *solver) newFirst(missing []string) []string {
	var added, rest []string
	for _, item := range missing {
		if slices.ContainsFunc(s.trees[1:], func(n *node) bool { return n.problem == item }) {
			added = append(added, item)
		} else {
			rest = append(rest, item)
		}
	}
	return append(rest, added...)
}

// fillItems has missing items solved, which are counted from first, and adds them to the
// answer.
func (s *solver) fillItems(f flow.Flow, round, first int, missing []string) (bool, error) {
	var items []*node
	for i, problem := range missing {
		n := s.add(nil, fmt.Sprintf("f%d.%d", round, first+i), problem, 1)
		if n.stage == open {
			n.stage = atomic
		}
		if n.stage == solved {
			s.emitSolved(f, n, s.step, event.ByMemo)
		}
		items = append(items, n)
	}
	s.trees = append(s.trees, items...)
	if ok, err := s.grow(f); !ok {
		return false, err
	}
	for i, n := range items {
		ok, err := s.refine(f, fmt.Sprintf("%s/%d", fillKey(round), first+i), prompts.SolveAnswer{
			Compose: prompts.AddMissing,
			A:       prompts.SolvePart{Problem: s.problem, Solution: s.answer.Answer}, B: prompts.SolvePart(n.part()),
		}, n)
		if !ok {
			return false, err
		}
	}
	return true, nil
}

// correction asks for an answer instead of a wrong one.
func (s *solver) correction(wrong string) prompts.SolveAnswer {
	data := prompts.SolveAnswer{Compose: s.root.how, Wrong: prompts.WrongAnswer(s.answer.Answer, wrong)}
	if len(s.root.parts) == 2 {
		data.A, data.B = prompts.SolvePart(s.root.parts[0].part()), prompts.SolvePart(s.root.parts[1].part())
	} else {
		data.A = prompts.SolvePart{Problem: s.problem, Solution: s.answer.Answer}
	}
	return data
}

// refine replaces the answer. If nobody agrees on how to add an item to it, the item is
// written below it.
func (s *solver) refine(f flow.Flow, key string, data prompts.SolveAnswer, item *node) (bool, error) {
	a := &action{s: s, node: s.root, step: s.step}
	if err := a.composeAnswer(f, key, data); err != nil {
		return false, err
	}
	if a.failed() && item != nil && !a.broken {
		answer := s.answer
		answer.Answer += "\n\n" + listed(item)
		a.answer = &answer
		s.remark("%q was added to the answer by code: %s", clip.Line(item.problem, maxRemark), a.reason)
		a.unvoted(event.ByCode, a.reason)
	}
	if a.failed() {
		s.fail(f, a, "fill")
		return false, nil
	}
	err := s.commit(f, a, strings.TrimPrefix(key, "solve/"))
	return err == nil, err
}

// listed is a part with its solution, as a list of parts has it.
func listed(n *node) string { return n.problem + ": " + n.solution.Solution }

// solvedParts are the largest parts of the problem that are solved, if there are any.
func (s *solver) solvedParts() draft {
	var list []string
	how := inParts
	var visit func(n *node)
	visit = func(n *node) {
		switch {
		case n.stage == solved:
			list = append(list, listed(n))
			return
		case len(n.parts) == 0:
			how = some
		}
		for _, p := range n.parts {
			visit(p)
		}
	}
	if s.root.stage != solved {
		visit(s.root)
	}
	if len(list) == 0 {
		return draft{}
	}
	return draft{answerOf(strings.Join(list, "\n")), how}
}

// draft is the best answer so far.
type draft struct {
	answer  Conclusion
	quality quality
}

// quality says how much a draft is worth.
type quality int

const (
	none    quality = iota
	some            // what some parts of the problem came to, each by vote
	wrong           // it won a vote, but the verifier knows better
	leading         // it has the most votes, but did not win
	inParts         // what all parts of the problem came to; nobody put them together
	settled         // it won a vote, and nothing is known to be wrong with it
)

func answerOf(text string) Conclusion {
	return Conclusion{Answer: text, Support: Support{Equations: list{}, Points: list{}}}
}

func draftKey(n int) string { return fmt.Sprintf("solve/draft/%d", n) }

// improve keeps a draft if it is as good as the one before, and
// says so: the run may be stopped at any time.
func (s *solver) improve(f flow.Flow, d draft, by, reason string) {
	key := draftKey(s.drafts)
	s.drafts++ // whether it is one or not, so that keys do not depend on it
	if d.quality == none || d.quality < s.draft.quality || d.quality == s.draft.quality && d.answer.Answer == s.draft.answer.Answer {
		return
	}
	s.draft = d
	answer := d.answer
	answer.Confidence = DraftConfidence
	f.Emit(key, event.AnswerComposed{
		Path: s.root.path, Step: s.step, Confidence: answer.Confidence, By: by, Draft: true, Reason: reason, State: s.hash(),
		Answer: event.JSONValue(encode(Result{Conclusion: answer, Status: d.quality.status(), Remarks: s.remarks})),
	})
}

func (q quality) status() string {
	if q == inParts || q == some {
		return StatusParts
	}
	return StatusDraft
}

// complete ends the run with success.
func (s *solver) complete(f flow.Flow) error {
	result := event.JSONValue(encode(Result{Conclusion: s.answer, Status: s.status, Remarks: s.remarks}))
	f.Emit("solve/answer", event.AnswerComposed{
		Path: s.root.path, Step: s.step - 1, Answer: result, Confidence: s.answer.Confidence,
		By: s.answerBy, Final: true, State: s.hash(),
	})
	f.Emit("end", event.TaskCompleted{Steps: s.step, Output: result})
	return nil
}

// fail ends the run because an action came to nothing.
func (s *solver) fail(f flow.Flow, a *action, title string) {
	reopen := a.tried
	if a.node == s.root {
		reopen = append(reopen, draftKey(s.drafts))
		s.improve(f, a.best, event.ByVote, a.reason)
	}
	if d := s.solvedParts(); d.quality > s.draft.quality {
		reopen = append(reopen, draftKey(s.drafts))
		s.improve(f, d, event.ByCode, "these are the parts that are solved: "+a.reason)
	}
	s.end(f, a.status, title+": "+a.reason, a.votes(), reopen)
}

// maxRemark is how much of a problem a remark quotes.
const maxRemark = 80

// maxRemarks is how many remarks become part of the reason of a failure.
const maxRemarks = 3

// end ends the run without success. The best draft is in the log. A resume tries
// again what is under the keys in reopen.
func (s *solver) end(f flow.Flow, verdict flow.Status, reason string, voting event.Voting, reopen []string) {
	status := event.StatusFailed
	if verdict == flow.Undecided {
		status = event.StatusUndecided
	}
	if n := len(s.remarks); n > 0 {
		reason += "; " + strings.Join(s.remarks[:min(n, maxRemarks)], "; ")
	}
	if s.draft.quality == none {
		reason += "; there is no draft"
	} else if s.draft.quality.status() == StatusParts {
		reason += "; the parts that are solved are in the result"
	} else {
		reason += fmt.Sprintf("; the best draft has a confidence of %v", DraftConfidence)
	}
	key := stepKey(s.step) + "/failed"
	f.Emit(key, event.StepFailed{Step: s.step, Status: string(verdict), Reason: reason, Voting: voting})
	f.Emit("end", event.TaskFailed{Status: status, Reason: reason, Step: s.step, Reopen: append(reopen, key)})
}
