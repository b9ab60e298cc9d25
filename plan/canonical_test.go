package plan

import (
	"encoding/json"
	"testing"

	"github.com/maker-mdap/maker/vote"
)

func TestCanonical(t *testing.T) {
	base := func() *Plan {
		p := linear(3)
		p.Steps[2].InputVariables = []string{"step_0_output.line", "step_1_output.line"}
		p.Steps[2].PrimaryTools = []string{"Read", "Grep"}
		return p
	}
	tests := []struct {
		name   string
		change func(p *Plan)
		agree  bool
	}{
		{"reasoning", func(p *Plan) { p.Reasoning = "other" }, true},
		{"prose", func(p *Plan) {
			s := &p.Steps[1]
			s.Title, s.TaskDescription, s.PrimaryToolInstructions, s.FallbackToolInstructions, s.OutputSchema = "a", "b", "c", "d", "e"
		}, true},
		{"order of tools", func(p *Plan) { p.Steps[2].PrimaryTools = []string{"Grep", "Read", "Grep"} }, true},
		{"order and fields of inputs", func(p *Plan) {
			p.Steps[2].InputVariables = []string{"step_1_output.text", "step_0_output", "step_1_output.size"}
		}, true},
		{"settings", func(p *Plan) {
			s := &p.Steps[0]
			s.Model, s.Timeout, s.Voting, s.VoteOn, s.Ignore = "m", "3s", &Voting{Strategy: vote.None}, []string{"line"}, []string{"x"}
		}, true},
		{"nil lists", func(p *Plan) { p.Steps[0].InputVariables = nil }, true},
		{"type", func(p *Plan) { p.Steps[1].TaskType = ConditionalStep }, false},
		{"number", func(p *Plan) { p.Steps[1].Number = 7 }, false},
		{"primary tools", func(p *Plan) { p.Steps[2].PrimaryTools = []string{"Read"} }, false},
		{"fallback tools", func(p *Plan) { p.Steps[0].FallbackTools = nil }, false},
		{"tools of the other tier", func(p *Plan) {
			s := &p.Steps[0]
			s.PrimaryTools, s.FallbackTools = s.FallbackTools, s.PrimaryTools
		}, false},
		{"inputs", func(p *Plan) { p.Steps[2].InputVariables = []string{"step_1_output.line"} }, false},
		{"output variable", func(p *Plan) { p.Steps[2].OutputVariable = "summary" }, false},
		{"next step", func(p *Plan) { p.Steps[0].NextStep = 2 }, false},
		{"one step less", func(p *Plan) { p.Steps = p.Steps[:2] }, false},
	}
	want := Canonical(base())
	for _, test := range tests {
		p := base()
		test.change(p)
		if got := Canonical(p); (got == want) != test.agree {
			t.Errorf("another %s: Canonical(p) = %s and before %s, want agreement %v", test.name, got, want, test.agree)
		}
	}
	// It is a key like others.
	if key, err := vote.Canonical(json.RawMessage(want), vote.KeyOptions{}); err != nil || key != want {
		t.Errorf("vote.Canonical(%s) = %s, %v, want no change", want, key, err)
	}
	if got := Canonical(&Plan{}); got != "[]" {
		t.Errorf("Canonical(no steps) = %s, want []", got)
	}
}
