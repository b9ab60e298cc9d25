package report

import (
	"strings"
	"testing"

	"github.com/maker-mdap/maker/runs"
)

// TestUnsettledRequest: a request that was not agreed on is shown with what was asked.
func TestUnsettledRequest(t *testing.T) {
	var out strings.Builder
	f := &runs.FailedStep{Step: 7, Status: "undecided", Reason: "no answer won"}
	Unsettled(&out, f, "(put to a model)\n\nuser: Is it so?\x1b[2J", nil)
	const want = `step 7, not committed: undecided
  asked     (put to a model)
            
            user: Is it so?\x1b[2J
  reason    no answer won
  samples   0, 0 flagged, 0 faults
`
	if out.String() != want {
		t.Errorf("Unsettled() prints\n%s\nwant\n%s", out.String(), want)
	}
}
