package planner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/maker-mdap/maker/plan"
)

const goodPlan = `{"reasoning":"One step.","plan":[{"step":0,"task_type":"action_step","title":"t","task_description":"d",` +
	`"primary_tools":[],"fallback_tools":[],"primary_tool_instructions":"","fallback_tool_instructions":"","input_variables":[],` +
	`"output_variable":"step_0_output","output_schema":"a: string","next_step_sequence_number":-1}]}`

// TestSchemas: what the readers take fits, and what they or the checks of a plan would
// reject does not.
func TestSchemas(t *testing.T) {
	if _, findings := plan.Parse(goodPlan); len(findings) > 0 {
		t.Fatalf("Parse(%s) finds %v", goodPlan, findings)
	}
	instead := func(was, is string) string { return strings.Replace(goodPlan, was, is, 1) }
	for _, test := range []struct {
		schema json.RawMessage
		text   string
		want   bool
	}{
		{scoreSchema, `{"score":0.5,"reason":"so"}`, true},
		{scoreSchema, `{"score":1.5,"reason":"so"}`, false},
		{scoreSchema, `{"score":0.5}`, false},
		{scoreSchema, `{"score":0.5,"reason":"so","more":1}`, false},
		{planSchema, goodPlan, true},
		{planSchema, instead("action_step", "some_step"), false},
		{planSchema, instead(`"step":0`, `"step":"0"`), false},
		{planSchema, instead(`"title":"t",`, ""), false},
		{planSchema, instead("step_0_output", "output"), false},
		{planSchema, instead("-1", "-3"), false},
		{planSchema, `{"reasoning":"","plan":[]}`, false},
	} {
		var s jsonschema.Schema
		if err := json.Unmarshal(test.schema, &s); err != nil {
			t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal([]byte(test.text), &value); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); (err == nil) != test.want {
			t.Errorf("Validate(%s) = %v, want that it fits: %t", test.text, err, test.want)
		}
	}
}
