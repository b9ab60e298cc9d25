package executor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/vote"
)

// decideOne decides a step under a key: in the usual way and, while that gives nothing,
// in one configured way after another. Calls that were made stay made.
func (r *run) decideOne(f flow.Flow, base string, a *attempt) error {
	q, err := r.question(a)
	if err != nil {
		a.outcome = flow.Outcome{Verdict: &flow.Verdict{Status: flow.Failed}}
		a.problem = err.Error()
		return nil
	}
	c := flow.Climb{
		Try: func(key string, w flow.Way) (bool, error) {
			ok, err := r.try(f, key, a, *q, w)
			if ok && w.Model != "" {
				a.by = event.ByModel
			}
			return ok, err
		},
		Person: func(key string) (bool, error) { return r.askPerson(f, key, a) },
		May:    func(to flow.Escalation) bool { return r.mayEscalate(a, to) },
		Last:   func() *flow.Verdict { return a.outcome.Verdict },
		Note: func(to flow.Escalation) event.Escalated {
			return event.Escalated{Path: fmt.Sprintf("step %d", a.number), Step: a.number, Question: a.asked, To: string(to), Reason: a.problem}
		},
	}
	if r.config.Split != nil && a.step.TaskType == plan.ActionStep {
		c.Split = func(key string) (bool, error) { return r.split(f, key, a) }
	}
	_, err = r.config.Ladder.Climb(f, base, c)
	return err
}

// mayEscalate reports whether it makes sense to go on in another way. Where there is one
// sample nobody disagreed, and the step was tried again.
func (r *run) mayEscalate(a *attempt, to flow.Escalation) bool {
	v := a.outcome.Verdict
	voted := v.Voting.Strategy != vote.None && v.Status != flow.Failed
	left := len(a.outcome.Moves) < r.config.MaxMoves
	switch {
	case a.outcome.Unknown():
		return false
	case to == flow.Diversity:
		return voted && left
	case to == flow.Split:
		return voted && !a.outcome.Happened()
	default:
		return left || to == flow.Person
	}
}

// try asks the agents of a step. Where there is one sample only, a step that failed is
// tried again.
func (r *run) try(f flow.Flow, base string, a *attempt, q flow.Question, w flow.Way) (bool, error) {
	w.Put(&q)
	work := *q.Work
	q.Work = &work
	for try := 0; ; try++ {
		key := base
		if try > 0 {
			key = fmt.Sprintf("%s/try/%d", key, try)
			q.FirstTemperature = q.Temperature // the greedy answer is known
		}
		// What a step may do and bear is the same however often it is tried.
		moves := r.config.MaxMoves - len(a.outcome.Moves)
		if a.outcome.Verdict != nil && r.config.MaxFaults > 0 {
			q.MaxFaults = max(r.config.MaxFaults-a.outcome.Voting.Faults, 1)
		}
		work.Done = slices.Clone(a.outcome.Moves)
		out, err := flow.Act(f, key, &q, moves)
		if err != nil {
			return false, err
		}
		a.asked = key
		a.outcome.Add(out)
		a.problem = a.judge(r)
		// The rule that counts is the one by which it was decided: on a resume another
		// one may be in force, and what follows has to be the same.
		if a.problem == "" || out.Verdict.Voting.Strategy != vote.None || try >= r.config.Retries || out.Unknown() || len(a.outcome.Moves) >= r.config.MaxMoves {
			return a.problem == "", nil
		}
	}
}

// settle takes an answer that no vote was about, or not that of this step.
func (r *run) settle(a *attempt, answer json.RawMessage, by string) bool {
	v := *a.outcome.Verdict
	v.Status, v.Answer, v.Intent, v.Reason = flow.Decided, answer, nil, ""
	a.outcome.Verdict, a.by = &v, by
	a.problem = a.judge(r)
	return a.problem == ""
}

// askPerson has the person give the output of the step.
func (r *run) askPerson(f flow.Flow, key string, a *attempt) (bool, error) {
	text := fmt.Sprintf("The voters do not agree (%s). What is the result of this step?\n\n%s", a.problem, a.step.TaskDescription)
	if a.step.TaskType == plan.ActionStep {
		text += "\n\nIts fields: " + a.step.OutputSchema
	}
	q := &flow.HumanQuestion{Step: a.number, Kind: event.ClarifyQuestion, Free: true, Text: text}
	for _, c := range a.outcome.Verdict.Candidates {
		q.Options = append(q.Options, string(c.Answer))
	}
	given, err := f.Ask(key, q)
	if err != nil {
		return false, err
	}
	answer, err := r.readGiven(a, given.Text)
	if err != nil {
		a.problem += fmt.Sprintf("; what the person answered cannot be used: %v", err)
		return false, nil
	}
	a.outcome.Voting = event.Voting{Strategy: vote.None, Votes: map[string]int{}}
	return r.settle(a, answer, event.ByPerson), nil
}

// answerReader reads the answers of a step.
func (a *attempt) answerReader() (domain.Reader, error) {
	params, err := json.Marshal(a.format)
	if err != nil {
		return nil, err
	}
	return Readers().New(MappingReader, params)
}

// readGiven reads what a person says the output of a step is: a mapping, or the value of
// its only field.
func (r *run) readGiven(a *attempt, text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	field := plan.OnlyField(a.step.OutputSchema)
	if a.format.Decision {
		field = nextStepField
	}
	reader, err := a.answerReader()
	if err != nil {
		return nil, err
	}
	read, flag := reader.Read(text)
	if flag == nil {
		return read.Value, nil
	}
	if field == "" {
		return nil, fmt.Errorf("want the fields of the step, such as %s", a.step.OutputSchema)
	}
	value, err := json.Marshal(text)
	if _, number := strconv.ParseFloat(text, 64); number == nil {
		value = json.RawMessage(text)
	}
	if err == nil {
		value, err = json.Marshal(map[string]json.RawMessage{field: value})
	}
	if err != nil {
		return nil, err
	}
	if read, flag = reader.Read(string(value)); flag != nil {
		return nil, fmt.Errorf("%s", flag.Reason)
	}
	return read.Value, nil
}
