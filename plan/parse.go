package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/vote"
)

// Parse reads a plan from YAML or JSON. It is strict about form: all required
// fields, no unknown ones, each with the kind of value that belongs there.
// Whether the values make sense is for [Check] to say, and also whether there is
// a reasoning and an output_schema: absent they are empty.
//
// The plan is nil if there are findings, which are all that could be found, in
// the order of the text. Numbers and words are taken as they are written where
// text is wanted, and an output_schema that is a mapping or a list becomes the
// text of it.
func Parse(text string) (*Plan, []Finding) {
	p, _, findings := read(text)
	if len(findings) > 0 {
		return nil, findings
	}
	return p, nil
}

// A source says where the parts of a plan stand in its text, and what of it
// could be read.
type source struct {
	reasoning int // its line; 0 if there is none
	broken    bool
	steps     []stepSource
	notes     []string // what was read in another way than it is written
}

type stepSource struct {
	line  int
	lines [fieldCount]int

	// broken fields have been reported: whatever value they have means nothing.
	broken [fieldCount]bool
}

// A draftReader turns nodes into a plan.
type draftReader struct {
	plan     Plan
	source   source
	findings []Finding
}

// read returns as much of a plan as there is in text; nil if that is nothing.
func read(text string) (*Plan, *source, []Finding) {
	root, err := yamlclean.Load(text)
	if err != nil {
		f := Finding{Check: CheckValidYAML, Step: WholePlan, Line: 1, Message: err.Error()}
		if at := (*yamlclean.ParseError)(nil); errors.As(err, &at) {
			f.Line, f.Message = at.Line, at.Message
		}
		return nil, nil, []Finding{f}
	}
	if root.Kind != yaml.MappingNode {
		message := "the text is a single value, want a mapping with reasoning and plan"
		if root.Kind == yaml.SequenceNode {
			message = "the text is a list, want a mapping with reasoning and plan: put the list under plan"
		}
		return nil, nil, []Finding{{Check: CheckValidYAML, Step: WholePlan, Line: root.Line, Message: message}}
	}
	r := &draftReader{}
	r.readRoot(root)
	return &r.plan, &r.source, r.findings
}

func (r *draftReader) readRoot(root *yaml.Node) {
	names := []string{"reasoning", "plan"}
	var unknown []*yaml.Node
	var seen []string
	for key, value := range pairs(root) {
		switch key.Value {
		case "reasoning":
			r.source.reasoning = key.Line
			if !r.text(&r.plan.Reasoning, value) {
				r.fault(CheckReasoningPresent, WholePlan, key.Line, "reasoning is %s, want text", describe(value))
				r.source.broken = true
			}
		case "plan":
			r.readSteps(key, value)
		default:
			unknown = append(unknown, key)
			continue
		}
		seen = append(seen, key.Value)
	}
	missing := without(names, seen)
	for _, key := range unknown {
		guess := nearest.To(key.Value, missing)
		if guess == "" && (key.Value == "steps" || key.Value == "tasks") && slices.Contains(missing, "plan") {
			guess = "plan"
		}
		if guess == "reasoning" {
			r.fault(CheckReasoningPresent, WholePlan, key.Line, "reasoning is missing; the field %s seems to be meant: rename it", clip.Short(key.Value))
			r.source.broken = true
		} else {
			r.unknown(WholePlan, key, guess, "")
		}
		missing = without(missing, []string{guess})
	}
	if slices.Contains(missing, "plan") {
		r.fault(CheckRequiredFieldsPresent, WholePlan, root.Line, "plan is missing: add the list of steps")
	}
}

func (r *draftReader) readSteps(key, list *yaml.Node) {
	if list.Kind != yaml.SequenceNode && !isNull(list) {
		r.fault(CheckRequiredFieldsPresent, WholePlan, key.Line, "plan is %s, want a list of steps", describe(list))
		return
	}
	if len(list.Content) == 0 {
		r.fault(CheckRequiredFieldsPresent, WholePlan, key.Line, "plan has no steps: add at least one")
		return
	}
	for i, n := range list.Content {
		s, src := Step{Number: i}, stepSource{line: n.Line}
		if n.Kind != yaml.MappingNode {
			r.fault(CheckRequiredFieldsPresent, i, n.Line, "step %d is %s, want a mapping with the fields of a step", i, describe(n))
			for f := range fieldCount {
				src.broken[f] = true
			}
		} else {
			r.readStep(i, n, &s, &src)
		}
		r.plan.Steps = append(r.plan.Steps, s)
		r.source.steps = append(r.source.steps, src)
	}
}

func (r *draftReader) readStep(i int, n *yaml.Node, s *Step, src *stepSource) {
	for key, value := range pairs(n) {
		if f := fieldNamed(key.Value); f == fieldStep {
			// First, so that all messages call the step by its number.
			src.broken[f] = !r.integer(&s.Number, value)
		}
	}
	number := s.Number
	var unknown []*yaml.Node
	for key, value := range pairs(n) {
		f := fieldNamed(key.Value)
		if f < 0 {
			unknown = append(unknown, key)
			continue
		}
		src.lines[f] = key.Line
		if check, problem := r.readField(f, value, s); problem != "" {
			r.fault(check, number, key.Line, "step %d: %s", number, problem)
			src.broken[f] = true
		}
	}
	var missing []field
	for f := range fieldCount {
		if src.lines[f] == 0 {
			missing = append(missing, f)
		}
	}
	for _, key := range unknown {
		guess := nearest.To(key.Value, fieldStrings(missing))
		r.unknown(number, key, guess, fmt.Sprintf("step %d: ", number))
		if guess != "" {
			f := fieldNamed(guess)
			src.lines[f], src.broken[f] = key.Line, true
			missing = without(missing, []field{f})
		}
	}
	for _, f := range missing {
		if f < firstOptional && f != fieldOutputSchema { // that one has a check of its own
			r.fault(CheckRequiredFieldsPresent, number, n.Line, "step %d: %s is missing: add it%s", number, f, hint(f, i))
			src.broken[f] = true
		}
	}
}

// readField reads the value of a field. If it cannot, it says why, and which check
// that is a matter of.
func (r *draftReader) readField(f field, value *yaml.Node, s *Step) (check, problem string) {
	var ok bool
	var want string
	check = CheckRequiredFieldsPresent
	switch f {
	case fieldStep:
		ok, check, want = r.integer(&s.Number, value), CheckStepNumbering, "a whole number"
	case fieldTaskType:
		var text string
		ok, check, want = r.text(&text, value), CheckTaskTypeValid, taskTypes
		s.TaskType = TaskType(text)
	case fieldNextStep:
		ok, check, want = r.integer(&s.NextStep, value), CheckNextStepValid, "a whole number: the next step, -1 to end, -2 in a conditional step"
	case fieldOutputSchema:
		s.OutputSchema, ok = flowText(value), true
	case fieldVoting:
		return check, r.voting(&s.Voting, value)
	default:
		if fields[f].list != nil {
			problem = r.list(f, s.listField(f), value)
			r.dropAsking(f, s)
			return check, problem
		}
		ok, want = r.text(s.textField(f), value), "text"
	}
	if !ok {
		problem = fmt.Sprintf("%s is %s, want %s", f, describe(value), want)
	}
	return check, problem
}

func (r *draftReader) integer(to *int, n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		return false
	}
	number, err := strconv.Atoi(n.Value)
	if err != nil {
		return false
	}
	*to = number
	return true
}

// text takes any scalar as it is written. Nothing at all is the empty text.
func (r *draftReader) text(to *string, n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	if !isNull(n) {
		*to = n.Value
	}
	return true
}

// list reads a list of names. It returns what is wrong, if it cannot.
func (r *draftReader) list(f field, to *[]string, n *yaml.Node) (problem string) {
	if n.Kind != yaml.SequenceNode && !isNull(n) {
		return fmt.Sprintf("%s is %s, want a list of names such as [a, b], or []", f, describe(n))
	}
	if isNull(n) && f >= firstOptional {
		return "" // as if it were not there
	}
	list := []string{}
	for _, element := range n.Content {
		var text string
		if isNull(element) || !r.text(&text, element) {
			return fmt.Sprintf("%s has an element that is %s, want names only", f, describe(element))
		}
		list = append(list, text)
	}
	*to = list
	return ""
}

// humanInput is what the tool that asks the person was called before it was there
// without being listed.
const humanInput = "human_input_tool"

// dropAsking leaves that tool out of a list and notes it.
func (r *draftReader) dropAsking(f field, s *Step) {
	if f != fieldPrimaryTools && f != fieldFallbackTools || !slices.Contains(*s.listField(f), humanInput) {
		return
	}
	*s.listField(f) = without(*s.listField(f), []string{humanInput})
	r.source.notes = append(r.source.notes, fmt.Sprintf("step %d: %s is left out of %s: every step can ask the person, with %s", s.Number, humanInput, f, LastResort))
}

// voting reads a strategy alone, or one with its numbers. It returns what is
// wrong, if it cannot.
func (r *draftReader) voting(to **Voting, n *yaml.Node) (problem string) {
	if isNull(n) {
		return ""
	}
	v := &Voting{}
	var strategy string
	if !r.text(&strategy, n) && n.Kind != yaml.MappingNode {
		return fmt.Sprintf("voting is %s, want a strategy such as majority, or a mapping such as {strategy: first_to_k, k: 3}", describe(n))
	}
	for key, value := range pairs(n) {
		ok, want := false, "a whole number from 1"
		switch key.Value {
		case "strategy":
			ok, want = r.text(&strategy, value), "one of "+strategies
		case "n":
			ok = r.integer(&v.N, value) && v.N != 0 // 0 is what is not there
		case "k":
			ok = r.integer(&v.K, value) && v.K != 0
		case "max_samples":
			ok = r.integer(&v.MaxSamples, value) && v.MaxSamples != 0
		default:
			return fmt.Sprintf("voting has no field %s: want strategy, k, n and max_samples", clip.Short(key.Value))
		}
		if !ok {
			return fmt.Sprintf("voting: %s is %s, want %s", key.Value, describe(value), want)
		}
	}
	v.Strategy = vote.Strategy(strategy)
	*to = v
	return ""
}

const strategies = string(vote.None) + ", " + string(vote.Majority) + ", " + string(vote.FirstToK)

func (r *draftReader) fault(check string, step, line int, format string, args ...any) {
	r.findings = append(r.findings, Finding{Check: check, Step: step, Line: line, Message: fmt.Sprintf(format, args...)})
}

// unknown reports a field that there is not. The prefix says of what.
func (r *draftReader) unknown(step int, key *yaml.Node, guess, prefix string) {
	name := clip.Short(key.Value)
	switch f := fieldNamed(guess); {
	case guess == "":
		r.fault(CheckRequiredFieldsPresent, step, key.Line, "%sthere is no field %s: remove it, or make it a comment", prefix, name)
	case f >= firstOptional:
		r.fault(CheckRequiredFieldsPresent, step, key.Line, "%sthere is no field %s; %s seems to be meant: rename it", prefix, name, guess)
	default:
		check := CheckRequiredFieldsPresent
		if f == fieldOutputSchema {
			check = CheckOutputSchemaExists
		}
		r.fault(check, step, key.Line, "%s%s is missing; the field %s seems to be meant: rename it", prefix, guess, name)
	}
}

// hint shows what a missing field of step i could be.
func hint(f field, i int) string {
	return strings.ReplaceAll(fields[f].hint, "%d", strconv.Itoa(i))
}

// pairs iterates over the keys and values of a mapping.
func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// describe says in words what a value is.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "empty"
	case n.Tag == "!!str":
		return fmt.Sprintf("the text %q", clip.Short(n.Value))
	default:
		return clip.Short(n.Value)
	}
}

// flowText is a value as one line of text, the way a person would note down a
// schema. It is a hint, so that it need not be read back.
func flowText(n *yaml.Node) string {
	switch {
	case isNull(n):
		return ""
	case n.Kind == yaml.ScalarNode:
		return n.Value
	}
	n.Style |= yaml.FlowStyle
	text, err := yaml.Marshal(n)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

func without[T comparable](all, some []T) []T {
	var rest []T
	for _, v := range all {
		if !slices.Contains(some, v) {
			rest = append(rest, v)
		}
	}
	return rest
}

func fieldStrings(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.String()
	}
	return names
}
