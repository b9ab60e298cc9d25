package sim

import (
	"fmt"
	"testing"

	"github.com/maker-mdap/maker/internal/prompts"
)

func TestBranch(t *testing.T) {
	const data = "count: 3\nname: Bob Smith\nempty: ''\nfiles: [a, b]\nnone: []\nok: false\nshare: 0.5\nnested: {deep: -1}"
	for _, test := range []struct {
		description string
		want        string
	}{
		{"If step_0_output.count is greater than 0, the next step is 2. Otherwise it is 4.", "2"},
		{"If step_0_output.count is greater than 3, the next step is 2. Otherwise it is 4.", "4"},
		{"If the count is at least 3, go to step 5, else go to step 6.", "5"},
		{"If count >= 4 then step 5 else step 6", "6"},
		{"If `step_0_output.count` is not greater than 5, go to step 7. Otherwise, continue with step 8.", "7"},
		{"If step_0_output.count equals 4 the next step is 1. If step_0_output.count equals 3, the next step is 2. Otherwise the next step is 3.", "2"},
		{"If there are files go to step 2, else to step 3.", "2"},
		{"If there are no files go to step 2, else to step 3.", "3"},
		{"If step_0_output.none is empty, go to step 2. Otherwise go to step 3.", "2"},
		{"If step_0_output.files is not empty, go to step 2. Otherwise go to step 3.", "2"},
		{"If step_0_output.files has more than 1 entries, go to step 2.", "2"},
		{"If step_0_output.files has more than 2 entries, go to step 2. Otherwise go to step 3.", "3"},
		{"When step_0_output.ok is true, do step 2. Otherwise do step 3.", "3"},
		{"If step_0_output.ok is false, take step 2; otherwise take step 3.", "2"},
		{"If step_0_output.name is \"Bob Smith\", go to step 9. Otherwise go to step 10.", "9"},
		{"If step_0_output.name contains Jones, go to step 9. Otherwise go to step 10.", "10"},
		{"If step_0_output.nested.deep is negative, go to step 9. Otherwise go to step 10.", "9"},
		{"If step_0_output.share is less than 0.6, go to step 9. Otherwise go to step 10.", "9"},
		{"If the moon is full, go to step 3. Otherwise go to step 4.", "4"},
		{"If the moon is full, go to step 3. If not, who knows.", "3"},
		{"Continue with step 12 whatever happens.", "12"},
		{"Decide.", "0"},
	} {
		d := prompts.ExecutorConditional{Description: test.description, Inputs: inputs(data), AskTool: "AskUserQuestion"}
		r := reply(t, newModel(t, "default?p=1"), d)
		fields := fieldsOf(r.Text)
		if got := string(fields["next_step"]); got != test.want || len(fields["reason"]) < 3 || len(r.ToolCalls) > 0 {
			t.Errorf("decision %q = %q, want next_step %s and a reason", test.description, r.Text, test.want)
		}
		wrong := fieldsOf(reply(t, newModel(t, "default?p=0"), d).Text)
		if got := string(wrong["next_step"]); got == test.want || got == "" {
			t.Errorf("wrong decision %q has next_step %q, want another one than %s", test.description, got, test.want)
		}
	}
}

// TestBranchPosition checks that nobody prefers the branch that comes first.
func TestBranchPosition(t *testing.T) {
	const n = 500
	m := newModel(t, "default?p=0.8")
	first := 0
	for i := range n {
		text := "If step_0_output.n is less than 5, go to step 7. Otherwise go to step 8."
		if i%2 == 1 {
			text = "If step_0_output.n is at least 5, go to step 8. Otherwise go to step 7."
		}
		r := reply(t, m, prompts.ExecutorConditional{Description: text, Inputs: inputs(fmt.Sprint("n: 3\nserial: ", i/2))})
		if (string(fieldsOf(r.Text)["next_step"]) == "7") == (i%2 == 0) {
			first++
		}
	}
	if !within(first, n, 0.5) {
		t.Errorf("%d of %d decisions are for the branch that comes first, want half", first, n)
	}
}

func FuzzBranch(f *testing.F) {
	f.Add("If step_0_output.count is greater than 0, the next step is 2. Otherwise it is 4.", "count: 1")
	f.Add("if if else otherwise step 99999999 it is 3", "- a\n- b")
	f.Add("If a is not b go to 3", "a: &x [*x]")
	m := newModel(f, "default?p=0.5")
	f.Fuzz(func(t *testing.T, description, input string) {
		r := reply(t, m, prompts.ExecutorConditional{Description: description, Inputs: inputs(input)})
		if fields := fieldsOf(r.Text); fields["next_step"] == nil || fields["reason"] == nil {
			t.Errorf("decision %q = %q, want next_step and reason", description, r.Text)
		}
	})
}
