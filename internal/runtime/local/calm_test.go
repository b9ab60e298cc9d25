package local

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// atOnce counts how many different questions are in flight at most.
type atOnce struct {
	counter
	mu   sync.Mutex
	now  map[string]int
	most int
}

func (a *atOnce) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	note := func(n int) {
		a.mu.Lock()
		defer a.mu.Unlock()
		_, text, _ := strings.Cut(req.Messages[0].Text, " ")
		if a.now[text] += n; a.now[text] == 0 {
			delete(a.now, text)
		}
		a.most = max(a.most, len(a.now))
	}
	note(1)
	defer note(-1)
	return a.counter.Generate(ctx, req)
}

// TestGuessesNeedCalm: nothing is guessed while a provider does not take what it gets.
func TestGuessesNeedCalm(t *testing.T) {
	for _, calm := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l, err := runlog.Create(filepath.Join(t.TempDir(), "run"), "run", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			m := &atOnce{counter: counter{right: 1, median: 40 * time.Millisecond}, now: map[string]int{}}
			b := ballot.New([]ballot.Voter{{Name: "m", Model: m}}, readers, &ballot.Options{BatchSize: 64})
			defer b.Close()
			r := New(Options{
				Log: l, Ledger: budget.New(budget.Limits{}, usage.Spent{}), Ballot: b, Checkpoints: true, Compact: true,
				Extra: 0.1, Guess: true, Calm: func() bool { return calm },
			})
			if err := r.Run(t.Context(), countTo(t, 50, vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 100})); err != nil {
				t.Fatal(err)
			}
			b.Settle()
			if guessed := m.most > 1; guessed != calm {
				t.Errorf("%d questions were in flight at once where calm is %t", m.most, calm)
			}
		})
	}
}
