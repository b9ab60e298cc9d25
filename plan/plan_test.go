package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/vote"
)

// linear is a sound plan of n steps, each of which takes the output of the one
// before it.
func linear(n int) *Plan {
	p := &Plan{Reasoning: "Each step makes one call."}
	for i := range n {
		s := Step{
			Number: i, TaskType: ActionStep, Title: "read_file",
			TaskDescription: "Read the file and return its first line.\n" + strings.Repeat("All of it matters. ", 20) + "Nothing else.",
			PrimaryTools:    []string{"Read"}, FallbackTools: []string{"Bash"},
			PrimaryToolInstructions: "Call Read with the path.", FallbackToolInstructions: "Run head -n 1.",
			InputVariables: []string{}, OutputVariable: output(i), OutputSchema: "{line: string}", NextStep: i + 1,
		}
		if i > 0 {
			s.InputVariables = []string{output(i-1) + ".line"}
		}
		p.Steps = append(p.Steps, s)
	}
	p.Steps[n-1].NextStep = End
	return p
}

func output(i int) string { return "step_" + itoa(i) + "_output" }

func itoa(i int) string {
	text, _ := json.Marshal(i)
	return string(text)
}

func TestStepTags(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[Step]())
	if len(fields) != int(fieldCount) {
		t.Fatalf("a Step has %d fields, want %d as documented", len(fields), fieldCount)
	}
	for i, f := range fields {
		want := field(i).String()
		for _, tag := range []string{"json", "yaml"} {
			if name, _, _ := strings.Cut(f.Tag.Get(tag), ","); name != want {
				t.Errorf("the %s tag of Step.%s is %q, want %q", tag, f.Name, name, want)
			}
		}
	}
}

func TestStep(t *testing.T) {
	p := linear(3)
	for i := range p.Steps {
		if got := p.Step(i); got != &p.Steps[i] {
			t.Errorf("Step(%d) = %v, want the step at %d", i, got, i)
		}
	}
	for _, number := range []int{-2, -1, 3, 1 << 40} {
		if got := p.Step(number); got != nil {
			t.Errorf("Step(%d) = %v, want nil", number, got)
		}
	}
	p.Steps[0].Number, p.Steps[2].Number = 2, 7
	if got := p.Step(2); got != &p.Steps[0] {
		t.Errorf("Step(2) = %v, want the step that has the number", got)
	}
	if got := p.Step(0); got != nil {
		t.Errorf("Step(0) = %v, want nil", got)
	}
}

func TestOutputs(t *testing.T) {
	for input, want := range map[string]string{
		"step_0_output": "step_0_output", "step_0_output.user.id": "step_0_output", "": "", ".a": "", "a.": "a",
	} {
		if got := Output(input); got != want {
			t.Errorf("Output(%q) = %q, want %q", input, got, want)
		}
	}
	s := Step{InputVariables: []string{"b.x", "a", "b.y", "b", "c.z"}}
	if diff := cmp.Diff([]string{"b", "a", "c"}, s.Outputs()); diff != "" {
		t.Errorf("Outputs(): -want +got\n%s", diff)
	}
}

func TestRoute(t *testing.T) {
	p := linear(5)
	tests := []struct {
		from, next int
		loops      bool
		want       string // a part of the error; "" for none
	}{
		{1, 2, false, ""},
		{1, 4, false, ""},
		{1, 5, false, "next_step is 5, but the plan has steps 0 to 4"},
		{1, -1, false, ""}, // it ends the plan
		{1, -2, true, "next_step is -2, but"},
		{1, 1, false, "next_step is 1, which is the step itself"},
		{3, 1, false, "next_step is 1, which is before step 3"},
		{1, 1, true, ""},
		{3, 0, true, ""},
	}
	for _, test := range tests {
		err := p.Route(test.from, test.next, test.loops)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("Route(%d, %d, %v) = %v, want %q", test.from, test.next, test.loops, err, test.want)
		}
	}
	if err := linear(1).Route(0, 1, false); err == nil || !strings.Contains(err.Error(), "the plan has only step 0") {
		t.Errorf("Route(0, 1) of one step = %v, want an error that says so", err)
	}
	if err := (&Plan{}).Route(0, 1, false); err == nil || !strings.Contains(err.Error(), "the plan has no steps") {
		t.Errorf("Route(0, 1) of no step = %v, want an error that says so", err)
	}
}

func TestVotingRule(t *testing.T) {
	run := vote.Rule{Strategy: vote.None, N: 3, K: 2, MaxSamples: 10}
	tests := []struct {
		voting *Voting
		want   vote.Rule
	}{
		{nil, run},
		{&Voting{Strategy: vote.FirstToK}, vote.Rule{Strategy: vote.FirstToK, N: 3, K: 2, MaxSamples: 10}},
		{&Voting{Strategy: vote.FirstToK, K: 5}, vote.Rule{Strategy: vote.FirstToK, N: 3, K: 5, MaxSamples: 10}},
		{&Voting{Strategy: vote.Majority, N: 7, MaxSamples: 20}, vote.Rule{Strategy: vote.Majority, N: 7, K: 2, MaxSamples: 20}},
	}
	for _, test := range tests {
		if got := test.voting.Rule(run); got != test.want {
			t.Errorf("%+v.Rule(%+v) = %+v, want %+v", test.voting, run, got, test.want)
		}
	}
}

// What JSON says of a plan is itself a plan.
func TestJSON(t *testing.T) {
	for _, text := range awkward {
		p := filled(text, 4)
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var got *Plan
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("Unmarshal(%s) = %v, want a plan", data, err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("Unmarshal(%s): -want +got\n%s", data, diff)
		}
		for i := range p.Steps { // as Parse reads it: nil lists become empty
			for f := range firstOptional {
				switch f {
				case fieldPrimaryTools, fieldFallbackTools, fieldInputVariables:
					if list := p.Steps[i].listField(f); *list == nil {
						*list = []string{}
					}
				}
			}
		}
		parsed, findings := Parse(string(data))
		if diff := cmp.Diff(p, parsed); diff != "" {
			t.Errorf("Parse(%s) = %v: -want +got\n%s", data, findings, diff)
		}
	}
	var v Voting
	if err := json.Unmarshal([]byte(`"majority"`), &v); err != nil || v != (Voting{Strategy: vote.Majority}) {
		t.Errorf(`Unmarshal("majority") = %+v, %v, want the strategy`, v, err)
	}
	if err := json.Unmarshal([]byte(`["majority"]`), &v); err == nil {
		t.Errorf(`Unmarshal(["majority"]) = %+v, want an error`, v)
	}
}

// fieldNames are the names of all fields, in their order.
func fieldNames() []string {
	var names []string
	for f := range fieldCount {
		names = append(names, f.String())
	}
	return names
}
