package plan

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page for users is held to what it says.
const page = "../docs/plans.md"

func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		found = append(found, m[1])
	}
	return found
}

func TestDocumentedPlans(t *testing.T) {
	const base = `reasoning: r
plan:
  - step: 0
    task_type: action_step
    title: t
    task_description: d
    primary_tools: []
    fallback_tools: []
    primary_tool_instructions: ""
    fallback_tool_instructions: ""
    input_variables: []
    output_variable: step_0_output
    output_schema: s
    next_step_sequence_number: -1
`
	whole, parts, branching := 0, 0, 0
	for _, text := range blocks(t, "yaml") {
		if strings.HasPrefix(text, "reasoning:") {
			whole++
		} else { // fields of a step
			parts++
			text = base + regexp.MustCompile("(?m)^").ReplaceAllString(strings.TrimSpace(text), "    ")
		}
		p, report := Validate(text, Options{Tools: testTools})
		if !report.Passed {
			t.Errorf("%s: Validate(%s) = %v, want it to pass", page, text, report.Findings())
			continue
		}
		if slices.ContainsFunc(p.Steps, func(s Step) bool { return s.TaskType == ConditionalStep }) {
			branching++
		}
	}
	if whole < 2 || parts < 3 || branching < 1 || branching == whole {
		t.Errorf("%s has %d plans, %d of them branching, and %d parts of steps, want 2, 1 and 3", page, whole, branching, parts)
	}
}

func TestDocumentedNames(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(string(data), -1) {
		rows = append(rows, m[1])
	}
	if want := slices.Concat(fieldNames(), Names()); !slices.Equal(rows, want) {
		t.Errorf("%s has tables of %v, want all fields and checks in their order: %v", page, rows, want)
	}
}

func TestDocumentedReport(t *testing.T) {
	reports := blocks(t, "json")
	if len(reports) != 1 {
		t.Fatalf("%s has %d JSON blocks, want 1", page, len(reports))
	}
	decoder := json.NewDecoder(strings.NewReader(reports[0]))
	decoder.DisallowUnknownFields()
	var documented Report
	if err := decoder.Decode(&documented); err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	// The same comes out of a plan with that mistake.
	p := linear(5)
	p.Steps[3].NextStep = 9
	text, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	_, report := Validate(text, Options{AllowLoops: true})
	for _, want := range documented.Checks {
		found := slices.ContainsFunc(report.Checks, func(c Result) bool {
			want.Line, c.Line = 0, 0
			return fmt.Sprint(value(want.Step), want.Name, want.Message, want.Passed, want.Skipped) == fmt.Sprint(value(c.Step), c.Name, c.Message, c.Passed, c.Skipped)
		})
		if !found {
			t.Errorf("%s shows %+v, want what Validate says: %+v", page, want, report.Checks)
		}
	}
}

func value(step *int) int {
	if step == nil {
		return WholePlan
	}
	return *step
}
