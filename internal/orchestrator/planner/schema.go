package planner

import (
	"encoding/json"

	"github.com/maker-mdap/maker/plan"
)

// scoreSchema is that of a judgement in JSON.
var scoreSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"score":{"type":"number","minimum":0,"maximum":1},"reason":{"type":"string","maxLength":600}},` +
	`"required":["score","reason"],"additionalProperties":false}`)

// planSchema is that of a plan in JSON: the fields that a planner is asked for. Those that
// only a person writes are not among them.
var planSchema = json.RawMessage(`{"type":"object","properties":{"reasoning":{"type":"string","maxLength":1000},"plan":` +
	`{"type":"array","minItems":1,"items":{"type":"object","properties":{` +
	`"step":{"type":"integer","minimum":0},` +
	`"task_type":{"type":"string","enum":["` + string(plan.ActionStep) + `","` + string(plan.ConditionalStep) + `"]},` +
	`"title":{"type":"string","minLength":1},"task_description":{"type":"string","minLength":1},` +
	`"primary_tools":{"type":"array","items":{"type":"string","minLength":1}},` +
	`"fallback_tools":{"type":"array","items":{"type":"string","minLength":1}},` +
	`"primary_tool_instructions":{"type":"string"},"fallback_tool_instructions":{"type":"string"},` +
	`"input_variables":{"type":"array","items":{"type":"string","minLength":1}},` +
	`"output_variable":{"type":"string","pattern":"^step_[0-9]+_output$"},` +
	`"output_schema":{"type":"string","minLength":1},` +
	`"next_step_sequence_number":{"type":"integer","minimum":-2}},` +
	`"required":["step","task_type","title","task_description","primary_tools","fallback_tools","primary_tool_instructions",` +
	`"fallback_tool_instructions","input_variables","output_variable","output_schema","next_step_sequence_number"],` +
	`"additionalProperties":false}}},"required":["reasoning","plan"],"additionalProperties":false}`)
