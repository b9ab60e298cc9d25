package preview

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/plan"
)

// TestSteps: the tools are below each other, however wide the characters of a title are.
func TestSteps(t *testing.T) {
	var out bytes.Buffer
	Steps(&out, &plan.Plan{Steps: []plan.Step{
		{Number: 0, Title: "count_them_日本語", PrimaryTools: []string{"Grep"}},
		{Number: 1, Title: "write", PrimaryTools: []string{"Write"}},
	}})
	want := "   0  count_them_日本語  Grep\n   1  write              Write   may change something: Write\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("Steps: -want +got\n%s", diff)
	}
}
