package plan

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/maker-mdap/maker/vote"
)

var update = flag.Bool("update", false, "write the findings of the plans in testdata")

// testTools are the tools of the plans in testdata.
func testTools(name string) error {
	switch {
	case name == "WebSearch":
		return errors.New("tool: the tool is not available: WebSearch: no search back end is configured")
	case slices.Contains([]string{"Read", "Write", "Bash", "Grep", "Glob", "AskUserQuestion", "mcp__files__list"}, name):
		return nil
	}
	return fmt.Errorf("tool: there is no such tool: %q", name)
}

// A planFile is a plan of testdata/plans: a comment that says what it is about,
// which checks fail and under which options, the plan, and the exact findings.
type planFile struct {
	archive  *txtar.Archive
	text     string
	fails    []string
	findings string
	options  Options
}

func readPlanFile(t testing.TB, name string) *planFile {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := &planFile{archive: archive, options: Options{
		Tools: testTools,
		Rule:  vote.Rule{Strategy: vote.None, N: 3, K: 2, MaxSamples: 10},
	}}
	declared := false
	for line := range strings.SplitSeq(string(archive.Comment), "\n") {
		if fails, ok := strings.CutPrefix(line, "fails:"); ok {
			f.fails, declared = strings.Fields(fails), true
		}
		f.options.AllowLoops = f.options.AllowLoops || line == "loops: allowed"
		if names, ok := strings.CutPrefix(line, "available:"); ok {
			f.options.Available = strings.Fields(names)
		}
		if line == "rule: unknown" {
			f.options.Rule = vote.Rule{}
		}
		if line == "tools: unknown" {
			f.options.Tools = nil
		}
	}
	if !declared || len(archive.Files) != 2 || archive.Files[0].Name != "plan.yaml" || archive.Files[1].Name != "findings" {
		t.Fatalf("%s: want a comment with a line that starts with fails:, plan.yaml and findings", name)
	}
	f.text, f.findings = string(archive.Files[0].Data), string(archive.Files[1].Data)
	return f
}

func planFiles(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/plans/*.txtar")
	if err != nil || len(names) < 40 {
		t.Fatalf("there are %d plans in testdata/plans (%v), want at least 40", len(names), err)
	}
	return names
}

func TestPlans(t *testing.T) {
	failing := map[string]bool{}
	for _, name := range planFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			f := readPlanFile(t, name)
			p, report := Validate(f.text, f.options)
			var fails []string
			var findings strings.Builder
			for _, finding := range report.Findings() {
				fails = append(fails, finding.Check)
				failing[finding.Check] = true
				if finding.Check == CheckValidYAML {
					finding.Message = "..." // is not ours to word
				}
				fmt.Fprintln(&findings, finding)
			}
			if diff := cmp.Diff(f.fails, slices.Compact(fails), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Validate: checks that fail: -want +got\n%s%s", diff, findings.String())
			}
			if *update {
				f.archive.Files[1].Data = []byte(findings.String())
				if err := os.WriteFile(name, txtar.Format(f.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(f.findings, findings.String()); diff != "" {
				t.Errorf("Validate: findings: -want +got\n%s", diff)
			}
			checkReport(t, f, p, report)
		})
	}
	for _, name := range Names() {
		if !failing[name] {
			t.Errorf("no plan in testdata/plans fails %s", name)
		}
	}
}

// checkReport looks at what holds for every report.
func checkReport(t *testing.T, f *planFile, p *Plan, report Report) {
	t.Helper()
	if report.Passed != (len(f.fails) == 0) {
		t.Errorf("Validate: passed = %v, want %v", report.Passed, len(f.fails) == 0)
	}
	var names []string
	for _, c := range report.Checks {
		names = append(names, c.Name)
		if c.Message == "" {
			t.Errorf("Validate: %s has no message", c.Name)
		}
		if c.Step != nil && !strings.Contains(c.Message, fmt.Sprintf("step %d", *c.Step)) {
			t.Errorf("Validate: %s: the message %q does not name step %d", c.Name, c.Message, *c.Step)
		}
		if !c.Passed && c.Line < 1 {
			t.Errorf("Validate: %s: %q has no line", c.Name, c.Message)
		}
	}
	if diff := cmp.Diff(Names(), slices.Compact(names)); diff != "" {
		t.Errorf("Validate: checks: -want +got\n%s", diff)
	}

	parsed, findings := Parse(f.text)
	if (parsed == nil) != (len(findings) > 0) || (p == nil) != (parsed == nil) {
		t.Errorf("Parse = %v, %v, but Validate = %v, ...", parsed, findings, p)
	}
	if parsed == nil {
		return
	}
	// A plan that could be read is judged in the same way without its text,
	// which alone tells what is missing from what is empty.
	var want []Finding
	for _, finding := range report.Findings() {
		finding.Line = 0
		finding.Message = strings.Replace(finding.Message, "is missing: ", "is empty: ", 1)
		want = append(want, finding)
	}
	if diff := cmp.Diff(want, Check(parsed, f.options)); diff != "" {
		t.Errorf("Check: -want (as Validate) +got\n%s", diff)
	}
	roundTrip(t, parsed)
}

// A field that is taken away is one finding, about that field.
func TestOneFieldMissing(t *testing.T) {
	for _, name := range planFiles(t) {
		f := readPlanFile(t, name)
		if len(f.fails) > 0 || !strings.Contains(f.text, "\n    title: step_0_title\n") {
			continue // not one field a line
		}
		lines := strings.SplitAfter(f.text, "\n")
		step := -1
		for i, line := range lines {
			key, _, _ := strings.Cut(strings.TrimLeft(line, " -"), ":")
			if strings.HasPrefix(line, "  - step:") {
				step++
				continue // the dash would be missing too
			}
			required := fieldNamed(key)
			if step < 0 || required < 0 || required >= firstOptional {
				continue
			}
			_, report := Validate(strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""), f.options)
			findings := report.Findings()
			if len(findings) != 1 || findings[0].Step != step || !strings.Contains(findings[0].Message, key+" is missing") {
				t.Errorf("%s without %s of step %d: Validate = %v, want one finding that it is missing", name, key, step, findings)
			}
		}
	}
}

// Whatever happens to a line of a plan, there is an answer.
func TestDamagedPlans(t *testing.T) {
	for _, name := range []string{"good_block_texts", "bad_voting_of_run"} {
		f := readPlanFile(t, filepath.Join("testdata", "plans", name+".txtar"))
		lines := strings.SplitAfter(f.text, "\n")
		for i, line := range lines {
			key, _, _ := strings.Cut(line, ":")
			for _, instead := range []string{"", line + line, key + ":\n", key + ": 3\n", key + ": [a, [b]]\n", key + ": {a: b}\n", key + ": -7\n", key + "s: x\n", " " + line, "- " + line} {
				checkValidate(t, strings.Join(lines[:i], "")+instead+strings.Join(lines[i+1:], ""), f.options)
			}
		}
	}
}

// TestModels: the model of a step is looked at before the plan begins.
func TestModels(t *testing.T) {
	p := &Plan{Reasoning: "r", Steps: []Step{{
		TaskType: ActionStep, Title: "t", TaskDescription: "d", OutputVariable: "step_0_output", OutputSchema: "s", NextStep: End, Model: "nobody/x",
	}}}
	models := func(name string) error {
		if name == "nobody/x" {
			return errors.New("there is no such provider")
		}
		return nil
	}
	findings := Check(p, Options{Models: models})
	if len(findings) != 1 || findings[0].Check != CheckRequiredFieldsPresent || !strings.Contains(findings[0].Message, "no such provider") {
		t.Errorf("Check(a model that is not there) = %v, want one finding about it", findings)
	}
	p.Steps[0].Model = "sim/default"
	if findings := Check(p, Options{Models: models}); len(findings) > 0 {
		t.Errorf("Check(a model that is there) = %v, want none", findings)
	}
}
