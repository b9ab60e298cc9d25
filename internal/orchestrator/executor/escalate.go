package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
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
	if base == a.key() { // and there is none beside it
		q.Next = r.following(a, q)
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
		Moves:  func() int { return len(a.outcome.Moves) },
		Last:   func() *flow.Verdict { return a.outcome.Verdict },
		Note: func(to flow.Escalation) event.Escalated {
			a.outcome.Escalate()
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
			q.MaxFaults = max(r.config.MaxFaults-a.outcome.All().Faults, 1)
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

// maxGiven is how often the person is asked for the result of a step: prepared answers do not
// get better.
const maxGiven = 5

// askPerson has the person give the output of the step. What cannot be used is asked for
// again.
func (r *run) askPerson(f flow.Flow, key string, a *attempt) (bool, error) {
	text := fmt.Sprintf("The voters do not agree (%s). What is the result of this step?\n\n%s", a.problem, a.step.TaskDescription)
	if a.step.TaskType == plan.ActionStep {
		text += "\n\nIts fields: " + a.step.OutputSchema
	}
	q := flow.Unsettled(a.number, text, a.outcome.All(), func(answer json.RawMessage) string {
		value, _ := a.readResult(string(answer)) // a call is no result
		return string(value)
	})
	verdict, problem := a.outcome.Verdict, a.problem
	for n := range maxGiven {
		asked := key
		if n > 0 {
			asked = fmt.Sprintf("%s/again/%d", key, n)
		}
		given, err := f.Ask(asked, q)
		if err != nil {
			return false, err
		}
		answer, err := a.readGiven(given.Text)
		if err == nil && r.settle(a, answer, event.ByPerson) {
			return true, nil
		}
		wrong := a.problem // where it leads to
		if err != nil {
			wrong = err.Error()
		}
		a.outcome.Verdict, a.by, a.problem = verdict, "", fmt.Sprintf("%s; what the person answered cannot be used: %s", problem, wrong)
		q.Text = fmt.Sprintf("%s cannot be used: %s. %s", clip.Short(given.Text), wrong, text)
	}
	return false, nil
}

// numberType begins the schema of an output whose first field is a number.
var numberType = regexp.MustCompile(`(?i)^[\s{]*["']?[\w-]+["']?\s*:\s*["']?(?:an? )?(?:integer|int|float|number)\b`)

// readGiven reads what a person says the output of a step is: a mapping, or the value of
// its only field.
func (a *attempt) readGiven(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	answer, wrong := a.readResult(text)
	field := a.onlyField()
	if wrong == nil || field == "" || strings.HasPrefix(text, "{") {
		return answer, wrong
	}
	value, err := json.Marshal(text)
	if _, notNumber := strconv.ParseFloat(text, 64); notNumber == nil {
		value = json.RawMessage(text)
	} else if a.format.Decision || numberType.MatchString(a.step.OutputSchema) {
		return nil, fmt.Errorf("%s is a number", field)
	}
	if err == nil {
		value, err = json.Marshal(map[string]json.RawMessage{field: value})
	}
	if err != nil {
		return nil, err
	}
	return a.readResult(string(value))
}

// readResult reads what others than the voters of a step say its output is, as an answer to
// the step is read. The fields that its schema names for sure have to be there: no voter has
// seen that they are not.
func (a *attempt) readResult(text string) (json.RawMessage, error) {
	params, err := json.Marshal(a.format)
	if err != nil {
		return nil, err
	}
	reader, err := Readers().New(MappingReader, params)
	if err != nil {
		return nil, err
	}
	read, flag := reader.Read(text)
	if flag != nil {
		return nil, errors.New(flag.Reason)
	}
	want := []string{a.onlyField()}
	if want[0] == "" {
		want = want[:0]
		for _, f := range a.format.Fields {
			want = append(want, f.Name)
		}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(read.Value, &fields); err != nil {
		return nil, err
	}
	for _, name := range want {
		if _, ok := fields[name]; !ok {
			return nil, fmt.Errorf("there is no field %q", name)
		}
	}
	return read.Value, nil
}

// onlyField is the field of the output of a step that has just one.
func (a *attempt) onlyField() string {
	if a.format.Decision {
		return nextStepField
	}
	return plan.OnlyField(a.step.OutputSchema)
}
