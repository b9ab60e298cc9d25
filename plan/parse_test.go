package plan

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/vote"
)

func TestParse(t *testing.T) {
	got, findings := Parse(`
reasoning: >
  Two
  lines.
plan:
  - step: 0
    task_type: action_step
    title: 2024
    task_description: |
      Run:
        make # all
    primary_tools: [Bash, 7]
    fallback_tools:
    primary_tool_instructions: yes
    fallback_tool_instructions:
    input_variables: []
    output_variable: step_0_output
    output_schema: {count: integer, "a b": [string, null], c: {}}
    next_step_sequence_number: +1
    vote_on: [count]
    voting: {strategy: first_to_k, k: 3, max_samples: 9}
  - {step: 1, task_type: other, title: "null", task_description: null, primary_tools: null, fallback_tools: [],
     primary_tool_instructions: "", fallback_tool_instructions: "", input_variables: [a.b], output_variable: x,
     next_step_sequence_number: -2, voting: majority, model: m, timeout: 90, ignore: []}
`)
	want := &Plan{Reasoning: "Two lines.\n", Steps: []Step{{
		TaskType: ActionStep, Title: "2024", TaskDescription: "Run:\n  make # all\n",
		PrimaryTools: []string{"Bash", "7"}, FallbackTools: []string{}, PrimaryToolInstructions: "yes",
		InputVariables: []string{}, OutputVariable: "step_0_output", OutputSchema: "{count: integer, \"a b\": [string, null], c: {}}",
		NextStep: 1, VoteOn: []string{"count"}, Voting: &Voting{Strategy: vote.FirstToK, K: 3, MaxSamples: 9},
	}, {
		Number: 1, TaskType: "other", Title: "null", PrimaryTools: []string{}, FallbackTools: []string{},
		InputVariables: []string{"a.b"}, OutputVariable: "x", NextStep: Decided,
		Voting: &Voting{Strategy: vote.Majority}, Model: "m", Timeout: "90", Ignore: []string{},
	}}}
	if diff := cmp.Diff(want, got); diff != "" || len(findings) > 0 {
		t.Errorf("Parse(...) = %v: -want +got\n%s", findings, diff)
	}
}

// A text that is not YAML is reported as the parser reports it.
func TestParseNotYAML(t *testing.T) {
	for _, text := range []string{"a: [", "a: b\na: c", "\x00", "a: *b", ""} {
		_, err := yamlclean.Load(text)
		var at *yamlclean.ParseError
		if !errors.As(err, &at) {
			t.Fatalf("Load(%q) = %v, want a parse error", text, err)
		}
		p, findings := Parse(text)
		want := []Finding{{Check: CheckValidYAML, Step: WholePlan, Line: at.Line, Message: at.Message}}
		if diff := cmp.Diff(want, findings); diff != "" || p != nil {
			t.Errorf("Parse(%q) = %v: -want +got\n%s", text, p, diff)
		}
		_, report := Validate(text, Options{Tools: testTools})
		for _, c := range report.Checks[1:] {
			if !c.Passed || !c.Skipped || !strings.HasPrefix(c.Message, "not checked: ") {
				t.Errorf("Validate(%q): %s = %+v, want it skipped", text, c.Name, c)
			}
		}
	}
}

// Numbers that do not fit are not taken for others.
func TestParseNumbers(t *testing.T) {
	text, err := Encode(linear(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{"99999999999999999999", "1.0", `"1"`, "0x1", "1_000", "1e0", "one", "[1]", "true", "~", "--1", "2024-01-01"} {
		bad := strings.Replace(text, "next_step_sequence_number: -1", "next_step_sequence_number: "+number, 1)
		p, findings := Parse(bad)
		if p != nil || len(findings) != 1 || findings[0].Check != CheckNextStepValid {
			t.Errorf("Parse with next_step_sequence_number: %s = %v, %v, want one finding of %s", number, p, findings, CheckNextStepValid)
		}
	}
}

func TestReportJSON(t *testing.T) {
	text, err := Encode(linear(2))
	if err != nil {
		t.Fatal(err)
	}
	_, report := Validate(strings.Replace(text, "title: read_file", `title: ""`, 2), Options{})
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"passed":false,"checks":[{"name":"valid_yaml","passed":true,"step":null,"message":"ok"},`,
		`{"name":"required_fields_present","passed":false,"step":0,"line":6,"message":"step 0: title is empty: fill it in"},{"name":"required_fields_present","passed":false,"step":1,`,
		`{"name":"tools_are_valid","passed":true,"step":null,"message":"not checked: the tools of the run are not known","skipped":true}`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("Marshal(report) = %s, want it to contain %s", data, want)
		}
	}
	var got Report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, got); diff != "" {
		t.Errorf("Unmarshal(%s): -want +got\n%s", data, diff)
	}
}

func TestCheckWithoutSteps(t *testing.T) {
	want := []Finding{
		{Check: CheckRequiredFieldsPresent, Step: WholePlan, Message: "plan has no steps: add at least one"},
		{Check: CheckReasoningPresent, Step: WholePlan, Message: "reasoning is empty: say how the task is broken into steps, and why so"},
	}
	if diff := cmp.Diff(want, Check(&Plan{}, Options{})); diff != "" {
		t.Errorf("Check(no steps): -want +got\n%s", diff)
	}
}

func TestFindingString(t *testing.T) {
	f := Finding{Check: CheckStepNumbering, Step: 1, Message: "step 1: wrong"}
	if got, want := f.String(), "step 1: wrong (step_numbering)"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	f.Line = 7
	if got, want := f.String(), "line 7: step 1: wrong (step_numbering)"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func FuzzValidate(f *testing.F) {
	for _, name := range planFiles(f) {
		f.Add(readPlanFile(f, name).text, false)
	}
	f.Fuzz(func(t *testing.T, text string, loops bool) {
		checkValidate(t, text, Options{Tools: testTools, AllowLoops: loops})
	})
}

// checkValidate looks at what holds for every text.
func checkValidate(t *testing.T, text string, o Options) {
	t.Helper()
	p, findings := Parse(text)
	if (p == nil) != (len(findings) > 0) {
		t.Fatalf("Parse(%q) = %v, %v, want a plan or findings", text, p, findings)
	}
	validated, report := Validate(text, o)
	if diff := cmp.Diff(p, validated); diff != "" {
		t.Fatalf("Validate(%q): -want (as Parse) +got\n%s", text, diff)
	}
	all := report.Findings()
	if report.Passed != (len(all) == 0) || len(findings) > len(all) {
		t.Fatalf("Validate(%q) = %+v after %d findings of Parse", text, report, len(findings))
	}
	lines := strings.Count(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n") + 1
	for _, finding := range all {
		if !slices.Contains(Names(), finding.Check) || finding.Message == "" || finding.Line < 1 || finding.Line > lines {
			t.Fatalf("Validate(%q) has the finding %+v in a text of %d lines", text, finding, lines)
		}
	}
	if p == nil {
		return
	}
	if got := Check(p, o); len(got) != len(all) {
		t.Fatalf("Check(Parse(%q)) = %v, want as Validate: %v", text, got, all)
	}
	for i := range p.Steps {
		if batch := p.Batch(p.Steps[i].Number, BatchOptions{Limit: 3}); len(batch) < 1 || len(batch) > 3 || batch[0] != p.Steps[i].Number {
			t.Fatalf("Batch(%d) of %q = %v, want 1 to 3 steps from there", p.Steps[i].Number, text, batch)
		}
	}
	if encoded, err := Encode(p); err == nil {
		roundTrip(t, p)
	} else if len(encoded) > 0 || !strings.Contains(err.Error(), "bytes") {
		t.Fatalf("Encode(Parse(%q)) = %v, want no error but about its size", text, err)
	}
}
