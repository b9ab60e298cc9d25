package local

import (
	"testing"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// TestDispute: voters differ over a question once two answers got votes; a sample that failed
// or was discarded is no vote.
func TestDispute(t *testing.T) {
	says := func(key string) *ballot.Sample { return &ballot.Sample{Answer: domain.Answer{Key: key}} }
	fault := &ballot.Sample{Err: &model.Error{Kind: model.Overloaded}}
	flagged := &ballot.Sample{Flag: &redflag.Flag{}}
	for _, test := range []struct {
		name    string
		samples []*ballot.Sample
		want    int
	}{
		{"one answer", []*ballot.Sample{says("a"), says("a")}, 0},
		{"a fault", []*ballot.Sample{says("a"), fault, says("a")}, 0},
		{"a fault first", []*ballot.Sample{fault, says("a")}, 0},
		{"a red flag", []*ballot.Sample{says("a"), flagged}, 0},
		{"two answers", []*ballot.Sample{says("a"), says("b")}, 1},
		{"three answers count once", []*ballot.Sample{says("a"), says("b"), says("c")}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var q flow.Question
			q.Rule.Strategy = vote.Adaptive
			r := &Runtime{disputed: map[string]int{}}
			d := &decision{branch: &branch{Runtime: r}, q: &q}
			for _, s := range test.samples {
				d.dispute(s)
			}
			if got := r.disputed[d.policyClass(d.q)]; got != test.want {
				t.Errorf("disputed = %d, want %d", got, test.want)
			}
		})
	}
}
