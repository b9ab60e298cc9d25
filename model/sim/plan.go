package sim

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// Headings of the planner's prompt.
const (
	catalogueHeading = "# Tools\n"
	taskHeading      = "\n# Task"
	doneHeading      = "\n\n# What has been done already\n"
	rejectedHeading  = "\n\n# The plan before this one was rejected\n"
)

// A planning is what a planner is asked: the task, the tools that there are, and
// the outputs of what has been done already.
type planning struct {
	task  string
	tools map[string]bool
	done  []string
}

var outputTag = regexp.MustCompile(`(?m)^<output name="([\w-]+)">$`)

func readPlanning(prompt string) planning {
	catalogue, task, _ := strings.Cut(prompt, taskHeading)
	if at := strings.LastIndex(task, rejectedHeading); at >= 0 {
		task = task[:at]
	}
	p := planning{tools: catalogueTools(catalogue)}
	if at := strings.LastIndex(task, doneHeading); at >= 0 {
		for _, tag := range outputTag.FindAllStringSubmatch(task[at:], -1) {
			p.done = append(p.done, tag[1])
		}
		task = task[:at]
	}
	p.task = strings.TrimSpace(task)
	return p
}

// A planStep is a step of a plan, as far as plans of this planner differ.
type planStep struct {
	number      int
	title       string
	description string
	choice      choice
	inputs      []string
	output      string
	next        int
	bare        bool // it has no output_schema
}

// makePlan answers with a plan: a step for each piece of the task, in order, each
// with the output of the one before as its input.
func (d *decision) makePlan(prompt string) *answer {
	p := readPlanning(prompt)
	var steps []planStep
	var text string
	for most := maxSteps; ; most /= 2 {
		pieces := p.pieces(most)
		if steps = p.steps(pieces); d.quality == wrong {
			steps = p.wrongSteps(pieces, slipOf(d))
		}
		reasoning := fmt.Sprintf("The task is a list of things to do in order, %d in all; each becomes a step.", len(steps))
		text = writePlan(d.rambling(reasoning), steps)
		if d.room == 0 || len(text) <= d.room || len(pieces) == 1 {
			break
		}
	}
	if d.quality != malformed {
		return say(text)
	}
	switch d.form % 3 {
	case 0:
		return say(string(d.chat(nil, fmt.Sprintf("I would do this in %d steps, one after another.", len(steps)))))
	case 1: // a list that does not close
		at := strings.LastIndex(text, "]")
		return say(text[:at] + text[at+1:])
	default: // steps without their list
		return say(strings.Replace(text, "\nplan:\n", "\nplan: see below\n", 1))
	}
}

// maxSteps keeps a plan below what its readers take. One for which an answer has
// no room has fewer and larger steps.
const maxSteps = 500

// pieces are what is still to be done, at most so many.
func (p *planning) pieces(most int) []string {
	pieces := splitTask(p.task)
	if n := min(len(p.done), len(pieces)-1); n > 0 {
		pieces = pieces[n:] // a step has been done for each of the others
	}
	if len(pieces) > most { // the last step gets all that remains
		pieces = append(pieces[:most-1:most-1], strings.Join(pieces[most-1:], "\n"))
	}
	return pieces
}

func (p *planning) steps(pieces []string) []planStep {
	before := p.done
	var steps []planStep
	for i, piece := range pieces {
		s := planStep{
			number: i, title: title(piece), description: piece, choice: choose(piece, p.tools),
			output: fmt.Sprintf("step_%d_output", i), next: i + 1,
		}
		if n := len(before); n > 0 {
			s.inputs = before[n-1:]
			if severalBefore.MatchString(piece) {
				s.inputs = before[max(0, n-maxInputs):]
			}
		}
		before = append(before[:len(before):len(before)], s.output)
		steps = append(steps, s)
	}
	steps[len(steps)-1].next = -1
	return steps
}

// maxInputs is how many outputs a step takes at most.
const maxInputs = 20

// severalBefore finds words for more than the output of the step before.
var severalBefore = regexp.MustCompile(`(?i)\b(?:results|outputs|answers|both|everything|all of (?:it|them|this)|summary|report)\b`)

// title is the beginning of a text.
func title(text string) string {
	const longest = 48
	words := strings.Fields(text)
	if len(words) == 0 {
		return "Do the task"
	}
	t := firstRunes(words[0], longest)
	for _, w := range words[1:] {
		if len(t)+len(w) >= longest {
			break
		}
		t += " " + w
	}
	if t = strings.TrimRight(t, ".,;:!?"); t == "" {
		return "Do the task"
	}
	return t
}

// wrongSteps are a plan that forgets a piece, or breaks one of the rules of plans.
func (p *planning) wrongSteps(pieces []string, mistake problem.Slip) []planStep {
	kinds := 6
	if len(pieces) == 1 {
		kinds = 5 // there is none to forget
	}
	kind := mistake.Among(kinds)
	if kind == 5 {
		at := mistake.Among(len(pieces))
		return p.steps(append(pieces[:at:at], pieces[at+1:]...))
	}
	steps := p.steps(pieces)
	last := &steps[len(steps)-1]
	switch kind {
	case 0: // a tool that there is not
		last.choice.tool, last.choice.instructions = "Shell", "Use the shell."
	case 1: // a step that there is not
		last.next = len(steps)
	case 2:
		last.bare = true
	case 3: // an input that there is not
		last.inputs = []string{fmt.Sprintf("step_%d_output", len(steps))}
	case 4:
		last.number++
	}
	return steps
}

// writePlan writes a plan as the prompt asks for it.
func writePlan(reasoning string, steps []planStep) string {
	var b strings.Builder
	b.WriteString(mapping{{"reasoning", textValue(reasoning)}}.yaml(""))
	b.WriteString("plan:\n")
	for _, s := range steps {
		tools := []string{}
		if s.choice.tool != "" {
			tools = append(tools, s.choice.tool)
		}
		m := mapping{
			{"step", numberValue(s.number)},
			{"task_type", textValue("action_step")},
			{"title", textValue(s.title)},
			{"task_description", textValue(s.description)},
			{"primary_tools", textsValue(tools...)},
			{"fallback_tools", listValue()},
			{"primary_tool_instructions", textValue(s.choice.instructions)},
			{"fallback_tool_instructions", textValue("")},
			{"input_variables", textsValue(s.inputs...)},
			{"output_variable", textValue(s.output)},
			{"output_schema", textValue(s.choice.schema)},
			{"next_step_sequence_number", numberValue(s.next)},
		}
		if s.bare {
			m = append(m[:10], m[11:]...)
		}
		b.WriteString("  - " + strings.TrimPrefix(m.yaml("    "), "    "))
	}
	return b.String()
}
