package executor

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/vote"
)

// format is how the answers of a step are read and compared.
func (r *run) format(s *plan.Step) (MappingFormat, error) {
	if s.TaskType == plan.ConditionalStep {
		return MappingFormat{Decision: true}, nil
	}
	f := MappingFormat{Key: s.Compared(r.config.Meaning), Errors: errorField.MatchString(s.OutputSchema)}
	if formOf(s.OutputSchema) != "" {
		f.Schema = s.OutputSchema
	}
	var err error
	if f.Fields, err = plan.FieldReaders(s.OutputSchema); err != nil {
		return f, fmt.Errorf("its output_schema: %w", err)
	}
	return f, nil
}

// question is what the agents of a step are asked.
func (r *run) question(a *attempt) (*flow.Question, error) {
	s, c := a.step, &r.config
	format, err := r.format(s)
	if err != nil {
		return nil, err
	}
	a.format = format
	system, err := c.Prompts.Render(prompts.ExecutorSystem{})
	if err != nil {
		return nil, err
	}
	q := &flow.Question{
		Step: a.number, Scope: a.stepScope(), System: system, Images: r.images, Model: s.Model,
		Terms: c.Terms,
		Work:  &flow.Work{Repair: c.Repair},
	}
	q.Rule = s.Voting.Rule(c.Rule)
	if q.Rule.Strategy == vote.None && (s.Voting == nil || s.Voting.MaxSamples == 0) {
		q.Rule.MaxSamples = 1 // a sample that is discarded is a try that failed
	}
	inputs, err := r.inputs(s, q.Rule.Strategy != vote.None)
	if err != nil {
		return nil, err
	}
	var prompt prompts.Data
	context := r.told()
	if s.TaskType == plan.ConditionalStep {
		prompt = prompts.ExecutorConditional{Description: s.TaskDescription, Context: context, Inputs: inputs, AskTool: r.askTool}
	} else {
		for _, name := range slices.Concat(s.PrimaryTools, s.FallbackTools) {
			if !slices.Contains(q.Work.Tools, name) {
				q.Work.Tools = append(q.Work.Tools, name)
			}
		}
		prompt = prompts.ExecutorStep{
			Description: s.TaskDescription, Context: context, Inputs: inputs,
			PrimaryTools: s.PrimaryTools, PrimaryInstructions: s.PrimaryToolInstructions,
			FallbackTools: s.FallbackTools, FallbackInstructions: s.FallbackToolInstructions,
			AskTool: r.askTool, Schema: s.OutputSchema,
		}
	}
	if r.askTool != "" {
		q.Work.Tools = append(q.Work.Tools, r.askTool)
	}
	if err := c.Prompts.Put(q, prompt); err != nil {
		return nil, err
	}
	if s.Class != "" {
		q.Class = s.Class
	}
	if s.Timeout != "" {
		if q.TimeoutMS, err = plan.Millis(s.Timeout); err != nil {
			return nil, err
		}
	}
	if paths, ok := s.ByMeaning(c.Meaning); ok && s.TaskType == plan.ActionStep {
		q.Meaning = &flow.Meaning{Paths: paths}
	}
	params, err := json.Marshal(format)
	if err != nil {
		return nil, err
	}
	q.Answer = flow.Format{Reader: MappingReader, Params: params}
	q.Schema = answerSchema(&format, r.plan)
	return q, nil
}

// answerSchema is that of an answer in JSON: a mapping whose fields have their types where
// these are known. It stays open, for an output schema is a hint, and a step that cannot be
// done is answered with the field error.
func answerSchema(format *MappingFormat, p *plan.Plan) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if format.Decision {
		last := 0
		for i := range p.Steps {
			last = max(last, p.Steps[i].Number)
		}
		fields[nextStepField] = fmt.Appendf(nil, `{"type":"integer","minimum":-1,"maximum":%d}`, last)
		fields[reasonField] = json.RawMessage(`{"type":"string","maxLength":600}`)
	}
	for _, f := range format.Fields {
		fields[f.Name] = f.Of.JSONSchema()
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": fields, "additionalProperties": true})
	if err != nil { // they are JSON
		return nil
	}
	return schema
}

// inputTag is the tag around an input.
const inputTag = "input"

// inputs are the whole outputs that a step refers to. Voters are told what of them
// nobody has voted on.
func (r *run) inputs(s *plan.Step, votes bool) ([]prompts.Input, error) {
	var list []prompts.Input
	for _, variable := range s.Outputs() {
		output, ok := r.outputs[variable]
		if !ok {
			// The step that produces it is on a branch that was not taken.
			list = append(list, prompts.Input{Name: variable, YAML: prompts.NotNeeded})
			continue
		}
		text, err := prompts.YAML(inputTag, output.value)
		if err != nil {
			return nil, fmt.Errorf("its input %s: %w", variable, err)
		}
		if votes {
			text = prompts.Unvoted(inputTag, output.unvoted) + text
		}
		list = append(list, prompts.Input{Name: variable, YAML: text})
	}
	return list, nil
}
