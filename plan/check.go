package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/vote"
)

// Options are what the checks have to know about the run. What is not set is not
// known, and what depends on it is not checked.
type Options struct {
	// Tools says why a tool cannot be used; nil if it can.
	Tools func(name string) error

	// Models says why a model cannot be used; nil if it can.
	Models func(name string) error

	// Rule is the rule of the run, which steps change with [Voting].
	Rule vote.Rule

	// AllowLoops lets steps lead back to earlier ones.
	AllowLoops bool

	// Available are output variables that exist before the first step: those of
	// an earlier plan that this one continues. Its own steps have other names.
	Available []string
}

// Checks are the part of [Options] that is plain data: what a plan is held against that
// somebody else makes.
type Checks struct {
	Tools      []string `json:"tools"` // that can be used
	AllowLoops bool     `json:"allow_loops,omitempty"`
	Available  []string `json:"available,omitempty"`

	// Language is the one that the plan is in, if that is none which this package reads.
	Language string `json:"language,omitempty"`
}

// Options are the options that check this. Nil checks what is about the plan alone.
func (c *Checks) Options() Options {
	if c == nil {
		return Options{}
	}
	return Options{AllowLoops: c.AllowLoops, Available: c.Available, Tools: func(name string) error {
		if slices.Contains(c.Tools, name) {
			return nil
		}
		hint := ""
		if meant := nearest.To(name, c.Tools); meant != "" {
			hint = "; did you mean " + meant + "?"
		}
		return fmt.Errorf("there is no such tool, or it is not available%s", hint)
	}}
}

// Check returns what is wrong with a plan: nothing if it can be executed. The
// findings are in the order of [Names], and for each check in that of the steps.
func Check(p *Plan, o Options) []Finding {
	c := newChecker(p, nil, o)
	c.run()
	sortFindings(c.findings)
	return c.findings
}

// A checker goes through all checks of one plan. Steps are known by their index
// in it: their numbers may be wrong.
type checker struct {
	plan     *Plan
	source   *source // nil for a plan that was not read from a text
	options  Options
	findings []Finding

	// skipped has the checks that could not be judged, with the reason.
	skipped map[string]string
}

func newChecker(p *Plan, src *source, o Options) *checker {
	return &checker{plan: p, source: src, options: o, skipped: map[string]string{}}
}

func (c *checker) run() {
	c.checkReasoning()
	if c.options.Tools == nil {
		c.skipped[CheckToolsAreValid] = "not checked: the tools of the run are not known"
	}
	if c.options.AllowLoops {
		c.skipped[CheckNoBackwardJumps] = "not checked: loops are allowed"
	}
	if len(c.plan.Steps) == 0 {
		c.checkNoSteps()
		return
	}
	for i := range c.plan.Steps {
		c.checkFields(i)
		c.checkOptional(i)
		c.checkType(i)
		c.checkTools(i)
	}
	c.checkUnique()
	c.checkFlow(c.checkNumbers())
}

// known reports whether there is a value to judge. Where there is none, that has
// been reported.
func (c *checker) known(i int, f field) bool {
	return c.source == nil || !c.source.steps[i].broken[f]
}

// number is what the step is called in messages.
func (c *checker) number(i int) int {
	if !c.known(i, fieldStep) {
		return i
	}
	return c.plan.Steps[i].Number
}

// fault adds a finding about a field of a step.
func (c *checker) fault(check string, i int, f field, format string, args ...any) {
	finding := Finding{Check: check, Step: c.number(i)}
	finding.Message = fmt.Sprintf("step %d: ", finding.Step) + fmt.Sprintf(format, args...)
	if c.source != nil {
		src := &c.source.steps[i]
		finding.Line = src.line
		if f != noField && src.lines[f] > 0 {
			finding.Line = src.lines[f]
		}
	}
	c.findings = append(c.findings, finding)
}

func (c *checker) isConditional(i int) bool {
	return c.known(i, fieldTaskType) && c.plan.Steps[i].TaskType == ConditionalStep
}

func (c *checker) isAction(i int) bool {
	return c.known(i, fieldTaskType) && c.plan.Steps[i].TaskType == ActionStep
}

func (c *checker) checkReasoning() {
	if !blank(c.plan.Reasoning) || c.source != nil && c.source.broken {
		return
	}
	f := Finding{Check: CheckReasoningPresent, Step: WholePlan}
	how := "empty"
	if c.source != nil {
		f.Line = max(c.source.reasoning, 1)
		if c.source.reasoning == 0 {
			how = "missing"
		}
	}
	f.Message = fmt.Sprintf("reasoning is %s: say how the task is broken into steps, and why so", how)
	c.findings = append(c.findings, f)
}

// checkNoSteps is all that can be said about a plan without steps.
func (c *checker) checkNoSteps() {
	if c.source == nil { // otherwise it was said when it was read
		c.findings = append(c.findings, Finding{Check: CheckRequiredFieldsPresent, Step: WholePlan, Message: "plan has no steps: add at least one"})
	}
	for _, name := range Names() {
		if name != CheckValidYAML && name != CheckRequiredFieldsPresent && name != CheckReasoningPresent {
			c.skipped[name] = "not checked: there are no steps"
		}
	}
}

func (c *checker) checkFields(i int) {
	s := &c.plan.Steps[i]
	for _, f := range []field{fieldTitle, fieldTaskDescription, fieldOutputVariable} {
		if c.known(i, f) && blank(*s.textField(f)) {
			c.fault(CheckRequiredFieldsPresent, i, f, "%s is empty: fill it in%s", f, hint(f, c.number(i)))
		}
	}
	if v := s.OutputVariable; c.known(i, fieldOutputVariable) && !blank(v) && strings.ContainsAny(v, ". \t\r\n") {
		c.fault(CheckRequiredFieldsPresent, i, fieldOutputVariable,
			"output_variable is %q: want a name without dots and spaces%s", clip.Short(v), hint(fieldOutputVariable, c.number(i)))
	}
	for _, f := range []field{fieldPrimaryTools, fieldFallbackTools} {
		if c.known(i, f) && slices.ContainsFunc(*s.listField(f), blank) {
			c.fault(CheckRequiredFieldsPresent, i, f, "%s has an empty name: remove it", f)
		}
	}
	if c.known(i, fieldOutputSchema) && blank(s.OutputSchema) {
		how := "empty"
		if c.source != nil && c.source.steps[i].lines[fieldOutputSchema] == 0 {
			how = "missing"
		}
		c.fault(CheckOutputSchemaExists, i, fieldOutputSchema, `output_schema is %s: list the fields of the output, such as "{path: string, count: integer}"`, how)
	} else if _, err := FieldReaders(s.OutputSchema); err != nil && c.known(i, fieldOutputSchema) {
		c.fault(CheckOutputSchemaExists, i, fieldOutputSchema, "output_schema: %v", err)
	}
}

func (c *checker) checkOptional(i int) {
	s := &c.plan.Steps[i]
	if c.known(i, fieldVoteOn) && c.known(i, fieldIgnore) {
		if err := (vote.KeyOptions{VoteOn: s.VoteOn, Ignore: s.Ignore}).Validate(); err != nil {
			f := fieldVoteOn
			if len(s.VoteOn) == 0 {
				f = fieldIgnore
			}
			c.fault(CheckRequiredFieldsPresent, i, f, "%s", strings.TrimPrefix(err.Error(), "vote: "))
		}
	}
	if c.known(i, fieldCompare) && s.Compare != "" && s.Compare != CompareExactly && s.Compare != CompareMeaning {
		c.fault(CheckRequiredFieldsPresent, i, fieldCompare, "compare is %q, want %s or %s", clip.Short(s.Compare), CompareExactly, CompareMeaning)
	}
	if c.known(i, fieldVoting) && s.Voting != nil {
		if problem := c.votingProblem(s.Voting); problem != "" {
			c.fault(CheckRequiredFieldsPresent, i, fieldVoting, "voting: %s", problem)
		}
	}
	if c.known(i, fieldTimeout) && s.Timeout != "" {
		if _, err := Millis(s.Timeout); err != nil {
			c.fault(CheckRequiredFieldsPresent, i, fieldTimeout, "timeout: %v", err)
		}
	}
	if c.known(i, fieldClass) && s.Class != "" && strings.ContainsAny(s.Class, "@ \t\r\n") {
		c.fault(CheckRequiredFieldsPresent, i, fieldClass, "class is %q: want a name without spaces and @", clip.Short(s.Class))
	}
	if c.known(i, fieldModel) && s.Model != "" && blank(s.Model) {
		c.fault(CheckRequiredFieldsPresent, i, fieldModel, "model is blank: name one, or remove the field")
	} else if c.options.Models != nil && c.known(i, fieldModel) && s.Model != "" {
		if err := c.options.Models(s.Model); err != nil {
			c.fault(CheckRequiredFieldsPresent, i, fieldModel, "model: %v", err)
		}
	}
}

func (c *checker) votingProblem(v *Voting) string {
	switch {
	case v.Strategy == "":
		return "strategy is missing: want one of " + strategies
	case v.Strategy == vote.Adaptive:
		return "adaptive is a rule of the whole run (--voting adaptive): remove it here, or want one of " + strategies
	case v.Strategy != vote.None && v.Strategy != vote.Majority && v.Strategy != vote.FirstToK:
		return fmt.Sprintf("unknown strategy %q, want %q, %q or %q", v.Strategy, vote.None, vote.Majority, vote.FirstToK)
	case v.N != 0 && v.Strategy != vote.Majority:
		return fmt.Sprintf("n has no meaning for %s: remove it", clip.Short(string(v.Strategy)))
	case v.K != 0 && v.Strategy != vote.FirstToK:
		return fmt.Sprintf("k has no meaning for %s: remove it", clip.Short(string(v.Strategy)))
	}
	// Without the rule of the run only what the step says itself can be wrong:
	// the rest is made to fit.
	run := c.options.Rule
	if run == (vote.Rule{}) {
		run = vote.Rule{N: max(1, v.MaxSamples), K: max(1, v.MaxSamples), MaxSamples: max(1, v.N, v.K)}
	}
	if err := v.Rule(run).Validate(); err != nil {
		return strings.TrimPrefix(err.Error(), "vote: ")
	}
	return ""
}

func (c *checker) checkType(i int) {
	s := &c.plan.Steps[i]
	if c.known(i, fieldTaskType) && !c.isAction(i) && !c.isConditional(i) {
		c.fault(CheckTaskTypeValid, i, fieldTaskType, "task_type is %q, want %s", clip.Short(string(s.TaskType)), taskTypes)
	}
	if !c.isConditional(i) {
		return
	}
	for _, f := range []field{fieldPrimaryTools, fieldFallbackTools} {
		if list := *s.listField(f); c.known(i, f) && len(list) > 0 {
			c.fault(CheckConditionalStepNoTools, i, f, "%s lists %s, but a conditional step only decides: set it to [], or use an action_step before it", f, clip.Short(strings.Join(list, ", ")))
		}
	}
	for _, f := range []field{fieldPrimaryToolInstructions, fieldFallbackToolInstructions} {
		if c.known(i, f) && !blank(*s.textField(f)) {
			c.fault(CheckConditionalStepNoInstructions, i, f, `%s is given, but a conditional step has no tools: set it to ""`, f)
		}
	}
}

// checkTools judges the tools of a step. Those of a conditional step are wrong
// whatever they are, which has been said.
func (c *checker) checkTools(i int) {
	if c.isConditional(i) {
		return
	}
	s := &c.plan.Steps[i]
	var seen []string
	for _, f := range []field{fieldPrimaryTools, fieldFallbackTools} {
		if !c.known(i, f) {
			continue
		}
		for _, name := range *s.listField(f) {
			if blank(name) || slices.Contains(seen, name) {
				continue
			}
			seen = append(seen, name)
			if name == LastResort {
				c.fault(CheckTier3NotListed, i, f, "%s lists %s, which every step has as its last resort: remove it", f, name)
			} else if c.options.Tools != nil {
				if err := c.options.Tools(name); err != nil {
					c.fault(CheckToolsAreValid, i, f, "%s lists %s, which cannot be used: %s", f, clip.Short(name), strings.TrimPrefix(err.Error(), "tool: "))
				}
			}
		}
	}
	if !c.known(i, fieldPrimaryTools) || !c.known(i, fieldFallbackTools) {
		return
	}
	for j, name := range s.FallbackTools {
		if name != LastResort && !blank(name) && slices.Contains(s.PrimaryTools, name) && !slices.Contains(s.FallbackTools[:j], name) {
			c.fault(CheckToolsMutuallyExclusive, i, fieldFallbackTools, "%s is in primary_tools and in fallback_tools: remove it from one of them", clip.Short(name))
		}
	}
}

func (c *checker) checkUnique() {
	first := map[string]int{}
	for i := range c.plan.Steps {
		v := c.plan.Steps[i].OutputVariable
		if !c.known(i, fieldOutputVariable) || blank(v) {
			continue
		}
		if slices.Contains(c.options.Available, v) {
			c.fault(CheckOutputVariableUnique, i, fieldOutputVariable, "output_variable is %s, which is the output of a step that is done: give it another name", clip.Short(v))
			continue
		}
		if j, taken := first[v]; taken {
			c.fault(CheckOutputVariableUnique, i, fieldOutputVariable,
				"output_variable is %s, which is the output of step %d: give it a name of its own%s", clip.Short(v), c.number(j), hint(fieldOutputVariable, i))
			continue
		}
		first[v] = i
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
