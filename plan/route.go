package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/nearest"
)

// checkNumbers reports the first number that is wrong. What follows it is often
// wrong only because of it.
func (c *checker) checkNumbers() bool {
	for i := range c.plan.Steps {
		number := c.number(i)
		if number == i {
			continue
		}
		problem := "it is the first step, want 0"
		switch {
		case slices.ContainsFunc(c.plan.Steps[:i], func(s Step) bool { return s.Number == number }):
			problem = fmt.Sprintf("there is a step %d already, want %d", number, i)
		case i > 0:
			problem = fmt.Sprintf("it comes after step %d, want %d", c.number(i-1), i)
		}
		c.fault(CheckStepNumbering, i, fieldStep, "%s: number the steps 0, 1, 2 and so on in their order, and what refers to them", problem)
		return false
	}
	return true
}

// checkFlow judges where steps lead and what they need. Without sound numbers
// only that can be told which does not depend on the order.
func (c *checker) checkFlow(numbered bool) {
	for i := range c.plan.Steps {
		c.checkNext(i, numbered)
	}
	c.checkFinal()
	if !numbered {
		for _, name := range []string{CheckNoOrphanSteps, CheckNoBackwardJumps} {
			c.skipped[name] = "not checked: the numbers of the steps are wrong"
		}
	} else {
		c.checkOrphans()
	}
	c.checkInputs(numbered)
}

// exists reports whether a step can be meant by a number.
func (c *checker) exists(number int) bool {
	return number >= 0 && number < len(c.plan.Steps) || c.plan.Step(number) != nil
}

func (c *checker) checkNext(i int, numbered bool) {
	next := c.plan.Steps[i].NextStep
	switch {
	case !c.known(i, fieldNextStep):
	case c.isConditional(i):
		if next != Decided {
			c.fault(CheckConditionalReturnsMinus2, i, fieldNextStep,
				"next_step_sequence_number is %d, but a conditional step decides that itself: set it to -2, or make it an action_step", next)
		}
	case next == End:
	case next == Decided:
		if c.isAction(i) {
			c.fault(CheckNextStepValid, i, fieldNextStep,
				"next_step_sequence_number is -2, but only a conditional step decides what is next: name the next step, or -1 to end")
		}
	case !c.exists(next):
		c.fault(CheckNextStepValid, i, fieldNextStep,
			"next_step_sequence_number is %d, but the plan has %s: name one of them, or -1 to end", next, c.plan.numbers())
	case numbered && next <= i && !c.options.AllowLoops:
		where := fmt.Sprintf("which is before step %d", i)
		if next == i {
			where = "which is the step itself"
		}
		c.fault(CheckNoBackwardJumps, i, fieldNextStep, "next_step_sequence_number is %d, %s: name a later step, or allow loops (--allow-loops)", next, where)
	}
}

// checkFinal judges the last step. A conditional one would have nothing to
// choose from.
func (c *checker) checkFinal() {
	last := 0 // the one with the highest number, should they be out of order
	for i := range c.plan.Steps {
		if c.number(i) >= c.number(last) {
			last = i
		}
	}
	switch next := c.plan.Steps[last].NextStep; {
	case c.isConditional(last):
		c.fault(CheckFinalStepReturnsMinus1, last, fieldTaskType, "it is the last step and a conditional one, with no later step to choose: add the steps that it chooses from")
	case c.known(last, fieldNextStep) && c.isAction(last) && next != End:
		c.fault(CheckFinalStepReturnsMinus1, last, fieldNextStep, "next_step_sequence_number is %d, but it is the last step: set it to -1", next)
	}
}

// anywhere is where a step leads that may lead to any later step.
const anywhere = -2

// leads returns the index of the step after step i, [End] or anywhere. A step
// whose routing has been reported leads anywhere, so that nothing else is
// reported because of it. It is only for plans with sound numbers.
func (c *checker) leads(i int) int {
	next := c.plan.Steps[i].NextStep
	switch {
	case !c.known(i, fieldNextStep), c.isConditional(i), next < End, next >= len(c.plan.Steps):
		return anywhere
	case next <= i && next != End && !c.options.AllowLoops:
		return anywhere
	}
	return next
}

// checkOrphans reports steps to which nothing leads. Steps after a conditional
// one count as reachable from it. Steps that an orphan leads to are not reported.
func (c *checker) checkOrphans() {
	reached := make([]bool, len(c.plan.Steps))
	c.reach(0, reached)
	for i := range reached {
		if !reached[i] {
			c.reach(i, reached)
			c.fault(CheckNoOrphanSteps, i, noField, "no step leads to it: set the next_step_sequence_number of a step before it to %d, or remove it", i)
		}
	}
}

// reach marks the steps that can come at or after step i.
func (c *checker) reach(i int, reached []bool) {
	for i >= 0 && !reached[i] {
		reached[i] = true
		next := c.leads(i)
		if next == anywhere {
			from := i + 1
			if c.options.AllowLoops {
				from = 0
			}
			for j := from; j < len(reached); j++ {
				reached[j] = true
			}
			return
		}
		i = next
	}
}

func (c *checker) checkInputs(numbered bool) {
	producers := map[string]int{} // the first of each
	for i := range c.plan.Steps {
		v := c.plan.Steps[i].OutputVariable
		if _, taken := producers[v]; !taken && c.known(i, fieldOutputVariable) && !blank(v) {
			producers[v] = i
		}
	}
	ordered := numbered && !c.options.AllowLoops
	for i := range c.plan.Steps {
		if !c.known(i, fieldInputVariables) {
			continue
		}
		before := len(c.plan.Steps) // how many may have run
		if ordered {
			before = i
		}
		var reported []string
		for _, input := range c.plan.Steps[i].InputVariables {
			variable := Output(input)
			if slices.Contains(reported, variable) {
				continue
			}
			problem := ""
			producer, found := producers[variable]
			switch {
			case slices.Contains(c.options.Available, variable):
			case !found && c.lost(before):
			case !found:
				problem = c.unproduced(input, before)
			case ordered && producer == i:
				problem = "which is the step's own output: an input comes from an earlier step"
			case ordered && producer > i:
				problem = fmt.Sprintf("which step %d produces only later: take it from an earlier step", producer)
			case ordered && !c.precedes(producer, i):
				problem = fmt.Sprintf("but where step %d produces it, this step is never reached: take it from a step on the way here", producer)
			}
			if problem != "" {
				c.fault(CheckInputsAvailable, i, fieldInputVariables, "input_variables has %q, %s", clip.Short(input), problem)
				reported = append(reported, variable)
			}
		}
	}
}

// lost reports whether one of the steps before has an output whose name could not
// be read: it may be any that is not found.
func (c *checker) lost(before int) bool {
	for i := range before {
		if !c.known(i, fieldOutputVariable) || blank(c.plan.Steps[i].OutputVariable) {
			return true
		}
	}
	return false
}

// unproduced says what could be meant by an input that no step produces.
func (c *checker) unproduced(input string, before int) string {
	if blank(Output(input)) {
		return "which names no output: write it as step_0_output.field"
	}
	names := slices.Clone(c.options.Available)
	for j := range before {
		if v := c.plan.Steps[j].OutputVariable; c.known(j, fieldOutputVariable) && !blank(v) {
			names = append(names, v)
		}
	}
	// step_1_output is no misspelling of step_2_output.
	alike := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return digits(name) != digits(Output(input)) })
	if guess := nearest.To(Output(input), alike); guess != "" {
		return fmt.Sprintf("which no step produces; %s seems to be meant", clip.Short(guess))
	}
	if len(names) == 0 {
		return "which no step produces, and there is no step before this one: remove it"
	}
	return "which no earlier step produces: the outputs before it are " + clip.Short(strings.Join(names, ", "))
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// precedes reports whether step from can run before step to, which is a later
// one. It is only for plans without loops.
func (c *checker) precedes(from, to int) bool {
	for from < to {
		switch next := c.leads(from); next {
		case anywhere:
			return true
		case End:
			return false
		default:
			from = next
		}
	}
	return from == to
}
