package solver

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/budget"
)

// TestLargeProblem: a problem that the log stores beside itself is recognised on
// resume, and nothing is said twice.
func TestLargeProblem(t *testing.T) {
	problem := "1+2+3" + strings.Repeat("+0", 10_000)
	cfg := config
	cfg.Domain, cfg.Adapter = "anything", anything{}
	people := voters(adders).but(func(a asked) string {
		switch {
		case a.Ask == "decompose" && len(a.Problem) > 100:
			return parts(a.Problem[:len(a.Problem)-2], "0")
		case a.Ask == "answer":
			return answer(a.A.Solution)
		case a.Ask == "solve" && len(a.Problem) > 100:
			return solution(a.Problem)
		}
		return ""
	})
	cfg.MaxDepth = 2
	dir := filepath.Join(t.TempDir(), "run")
	c := &crowd{voters: people}
	for range 2 {
		if err := session(t, dir, c, budget.Limits{}, func(f flow.Flow) error { return Run(f, problem, cfg) }); err != nil {
			t.Fatal(err)
		}
	}
	events, _, _ := story(t, dir)
	for e, n := range events {
		if n != 1 && !strings.HasPrefix(e, "completed") {
			t.Errorf("%d times: %.200s", n, e)
		}
	}
}
