package outline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/vote"
)

// resultFields are what a task that is split has to come to.
const resultFields = "result: the result in short, a value that others can compare\ndetails: text, what else there is to say"

// decide has agents do a task: in the usual way and, while they do not agree, in one
// configured way after another. What was done stays done.
func (r *runner) decide(c *outline.ExecuteTask, q *flow.Question, files []attachedFile) (*flow.Outcome, error) {
	tries := &r.now.tries
	r.now.by = "" // it may have asked the person since
	var last *flow.Outcome
	asked := ""
	took := func(key string, out *flow.Outcome) bool {
		last, asked = out, key
		tries.Add(out)
		return out.Verdict.Status == flow.Decided
	}
	climb := flow.Climb{
		Try: func(key string, w flow.Way) (bool, error) {
			put := *q
			w.Put(&put)
			work := *q.Work
			work.Done, put.Work = tries.Moves, &work
			out, err := flow.ActUntil(r.flow, key, &put, r.movesLeft(), func(i event.Intent) bool {
				return r.askTool != "" && i.Tool == r.askTool
			})
			if err != nil {
				return false, err
			}
			if !took(key, out) {
				return false, nil
			}
			if w.Model != "" {
				r.now.by = event.ByModel
			}
			return true, nil
		},
		Person: func(key string) (bool, error) {
			out, err := r.askResult(c, key, last.Verdict.Reason)
			if err != nil {
				return false, err
			}
			r.now.by = event.ByPerson
			return took(key, out), nil
		},
		May:   func(to flow.Escalation) bool { return r.mayEscalate(to, last) },
		Moves: func() int { return len(tries.Moves) },
		Last:  func() *flow.Verdict { return last.Verdict },
		Note: func(to flow.Escalation) event.Escalated {
			r.now.escalated = true
			tries.Escalate()
			return event.Escalated{Path: fmt.Sprintf("task %d", c.NodeID), Step: c.NodeID - 1, Question: asked, To: string(to), Reason: last.Verdict.Reason}
		},
	}
	if r.config.Split != nil {
		climb.Split = func(key string) (bool, error) {
			out, err := r.split(c, files, key, last.Verdict.Reason)
			if err != nil {
				return false, err
			}
			before := *last.Verdict
			if took(key, out) {
				r.now.by = event.BySplit
				return true, nil
			}
			// The trouble remains the one before.
			before.Reason += "; " + out.Verdict.Reason
			last.Verdict, tries.Verdict = &before, &before
			tries.Forget()
			return false, nil
		}
	}
	_, err := r.config.Ladder.Climb(r.flow, r.key(r.task(c.NodeID)), climb)
	return last, err
}

// movesLeft is how many calls may still be made before the end of the task or its next
// question.
func (r *runner) movesLeft() int { return r.config.MaxMoves - (len(r.now.tries.Moves) - r.now.round) }

// mayEscalate reports whether it makes sense to go on in another way. Where there is one
// sample nobody disagreed, and a task is tried again.
func (r *runner) mayEscalate(to flow.Escalation, last *flow.Outcome) bool {
	v := last.Verdict
	switch {
	case v.Voting.Strategy == vote.None || v.Status == flow.Failed || last.Unknown():
		return false
	case to == flow.Split:
		return !r.now.tries.Happened()
	default:
		return to == flow.Person || r.movesLeft() > 0
	}
}

// split has a task done in several steps, which are told and shown what the task is.
func (r *runner) split(c *outline.ExecuteTask, files []attachedFile, key, why string) (*flow.Outcome, error) {
	attached, images := shown(files)
	attachments, err := r.config.Prompts.Render(prompts.OutlineData{Attached: attached})
	if err != nil {
		return nil, err
	}
	p := c.Parameters
	out, err := r.config.Split(r.flow, key, flow.Whole{
		Step: c.NodeID - 1, Scope: taskKey(c.NodeID), Fields: resultFields, Why: why,
		Task:    strings.Join(append(slices.Clone(p.Headings), p.Text), "\n\n"),
		Context: strings.TrimSpace(p.ContextSummary + "\n\n" + attachments), Images: images,
	})
	if err != nil || out.Verdict.Status != flow.Decided {
		return out, err
	}
	read, flag := resultReader{}.Read(string(out.Verdict.Answer))
	v := *out.Verdict
	if v.Answer = read.Value; flag != nil {
		v = flow.Verdict{Status: flow.Failed, Reason: "what its parts came to is no result: " + flag.Reason}
	}
	out.Verdict = &v
	return out, nil
}

// askResult has the person give the result of a task.
func (r *runner) askResult(c *outline.ExecuteTask, key, why string) (*flow.Outcome, error) {
	text := fmt.Sprintf("The voters do not agree (%s). What is the result of this task?\n\n%s", why, c.Parameters.Text)
	q := flow.Unsettled(c.NodeID-1, text, r.now.tries.All(), func(given json.RawMessage) string {
		a, _ := decodeAnswer(given) // a call is no result
		return a.Result
	})
	given, err := r.flow.Ask(key, q)
	if err != nil {
		return nil, err
	}
	made, flag := made(answer{Result: given.Text}, "")
	if flag != nil {
		return nil, fmt.Errorf("outline: %s", flag.Reason)
	}
	return &flow.Outcome{
		Verdict: &flow.Verdict{Status: flow.Decided, Answer: made.Value, Voting: event.Voting{Strategy: vote.None}}, CostUSD: new(float64),
		Voting: event.Voting{Strategy: vote.None, Votes: map[string]int{}},
	}, nil
}
