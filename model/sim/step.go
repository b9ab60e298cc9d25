package sim

import (
	"encoding/json"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/model"
)

const (
	stepHeading = "# Step\n"
)

// A stepTask is what an agent is asked to do: a step of a plan, or a decision
// about the next one.
type stepTask struct {
	description string
	inputs      []stepInput

	tools, fallback              []string
	instructions, fallbackAdvice string
	askTool                      string // the one that asks the person
	schema                       []field
	room                         int // bytes for a text in the answer; 0 if there is no limit
}

// A stepInput is the output of an earlier step.
type stepInput struct {
	name string
	data *yaml.Node // nil if it could not be read
}

var (
	inputForm = regexp.MustCompile(`(?ms)^<input name="([^"\n]*)">\n(.*?)\n?^</input>$`)
	toolForm  = regexp.MustCompile(`(?s)^Use ([\w-]+(?:, [\w-]+)*)\.(?: (.*))?$`)
	askForm   = regexp.MustCompile(`(?s)\n\nIf neither [^\n]* ask the person with ([\w-]+)\.$`)
)

const (
	inputsHeading = "\n\n# Inputs\n\n<input name="
	toolsHeading  = "\n# Tools\n\nUse "
	answerHeading = "\n# Answer\n"
	fallbackLine  = "\nOnly if that fails, use "
)

// readStep reads the prompt of a step or of a decision, whose heading it begins
// with. It goes from the end to the beginning, where the description stands: that
// may say anything.
func readStep(prompt, heading string) stepTask {
	t := stepTask{schema: readSchema("")}
	rest := strings.TrimPrefix(prompt, heading)
	if at := strings.LastIndex(rest, answerHeading); at >= 0 {
		_, schema, _ := strings.Cut(rest[at+len(answerHeading):], ":\n")
		t.schema = readSchema(schema)
		rest = strings.TrimRight(rest[:at], "\n")
	}
	if m := askForm.FindStringSubmatchIndex(rest); m != nil {
		t.askTool = rest[m[2]:m[3]]
		rest = strings.TrimRight(rest[:m[0]], "\n")
	}
	if at := strings.LastIndex(rest, toolsHeading); at >= 0 && !strings.Contains(rest[at:], "\n</input>") {
		t.readTools(rest[at+len(toolsHeading)-len("Use "):])
		rest = strings.TrimRight(rest[:at], "\n")
	}
	if at := strings.Index(rest, inputsHeading); at >= 0 {
		for _, m := range inputForm.FindAllStringSubmatch(rest[at:], -1) {
			t.inputs = append(t.inputs, stepInput{m[1], readData(m[2])})
		}
		rest = rest[:at]
	}
	t.description = strings.TrimSpace(rest)
	return t
}

func (t *stepTask) readTools(text string) {
	text, fallback, _ := strings.Cut(text, fallbackLine)
	if m := toolForm.FindStringSubmatch(text); m != nil {
		t.tools, t.instructions = strings.Split(m[1], ", "), m[2]
	}
	if m := toolForm.FindStringSubmatch("Use " + fallback); m != nil {
		t.fallback, t.fallbackAdvice = strings.Split(m[1], ", "), m[2]
	}
}

// readData reads YAML; nil if it is none.
func readData(text string) *yaml.Node {
	var n yaml.Node
	if len(text) > maxScript || yaml.Unmarshal([]byte(text), &n) != nil || len(n.Content) != 1 {
		return nil
	}
	return n.Content[0]
}

var asksPerson = regexp.MustCompile(`(?i)\bask\b`)

// doStep makes the next move of an agent that does a step: it calls a tool, or
// answers with what the tool said or with what it knows itself.
func (d *decision) doStep(q *question) *answer {
	t := readStep(q.prompt, stepHeading)
	t.room = d.room / 3 / len(t.schema)
	if q.after == 0 {
		if a := d.firstMove(&t); a != nil {
			return a
		}
		return d.report(d.byHead(&t))
	}
	failed := len(q.results) > 0 && q.results[len(q.results)-1].IsError
	switch {
	case !failed:
		return d.report(t.fill(source{text: q.result(), file: t.file()}))
	case q.after == 1 && len(t.fallback) > 0:
		return d.call(t.fallback[0], t.callInput(t.fallback[0], t.fallbackAdvice))
	}
	return d.report(mapping{{"error", textValue(clip(strings.TrimSpace(q.result()), 300))}})
}

// firstMove is a call of a tool, if the step needs one; otherwise nil.
func (d *decision) firstMove(t *stepTask) *answer {
	switch {
	case t.askTool != "" && asksPerson.MatchString(t.description) && len(t.tools) == 0:
		return d.call(t.askTool, callInput{"question": t.description})
	case len(t.tools) == 0 || d.quality == malformed:
		return nil
	}
	input := t.callInput(t.tools[0], t.instructions)
	if d.quality == wrong {
		if input = spoilCall(t.tools[0], input, slipOf(d)); input == nil {
			return nil // it answers without having looked
		}
	}
	return d.call(t.tools[0], input)
}

// call is the move that calls a tool.
func (d *decision) call(tool string, input callInput) *answer {
	raw, err := encode(map[string]any(input))
	if err != nil { // texts and JSON
		raw = json.RawMessage("{}")
	}
	return &answer{
		text: d.rambling(""), stop: model.StopToolUse,
		calls: []model.ToolCall{{ID: d.callID(0), Name: tool, Input: raw}},
	}
}

// report is the answer of an agent, right or not.
func (d *decision) report(m mapping) *answer {
	switch d.quality {
	case wrong:
		m = m.off(slipOf(d))
	case malformed:
		return d.garble(m)
	}
	return say(d.ramblingRemark() + m.write(d.structured))
}

// garble is an answer that is no mapping.
func (d *decision) garble(m mapping) *answer {
	text := strings.TrimSpace(m.write(d.structured))
	switch d.form % 3 {
	case 0:
		return say(string(d.chat(nil, "This is done as far as I can see.")))
	case 1:
		return say(leaveOpen(text))
	default: // a list
		return say("- " + strings.ReplaceAll(text, "\n", "\n- "))
	}
}

// leaveOpen leaves a quote or a bracket open at the end of a text.
func leaveOpen(text string) string {
	if end := text[len(text)-1]; end == '"' || end == ']' || end == '}' {
		return text[:len(text)-1]
	}
	at := strings.LastIndex(text, ": ") + 2 // before the last value, which has no quotes
	return text[:at] + `"` + text[at:]
}
