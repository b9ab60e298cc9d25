package maker_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// TestSessionOfBothRules: in a session by one rule there are requests by the other, at the same
// time. Margins adapt over those that ask for it alone, a resume goes on with what they have
// learnt, and votes are counted again by the rule of each.
func TestSessionOfBothRules(t *testing.T) {
	adapts := vote.Rule{Strategy: vote.Adaptive, Target: 0.05}
	for _, test := range []struct {
		name       string
		own, other vote.Rule
	}{
		{"a fixed one, and requests that adapt", maker.FirstToK(3), adapts},
		{"one that adapts, and requests with a fixed lead", adapts, maker.FirstToK(3)},
	} {
		t.Run(test.name, func(t *testing.T) {
			const name = "sim/default?p=0.95&seed=5"
			engine, err := maker.New(&maker.Options{Config: maker.Config{Model: name, Voting: test.own}, LogDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			beside, err := engine.With(&maker.Options{Config: maker.Config{Model: name, Voting: test.other}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			s, err := engine.Session(ctx, "a test")
			if err != nil {
				t.Fatal(err)
			}
			// ask returns the margins of those that adapt, in no order.
			ask := func(s *maker.Session, each int) (adapted []int) {
				other, err := s.With(beside)
				if err != nil {
					t.Fatal(err)
				}
				var mu sync.Mutex
				var all sync.WaitGroup
				for i := range 2 * each {
					all.Go(func() {
						by, rule := s, test.own
						if i%2 == 1 {
							by, rule = other, test.other
						}
						v, err := by.Ask(t.Context(), said(fmt.Sprintf("What is %d + %d?", i, i+1)))
						if err != nil || v.Voting.Strategy != rule.Strategy || rule.K > 0 && v.Voting.Margin != rule.K {
							t.Errorf("by %s: %+v, %v", rule.Strategy, v, err)
							return
						}
						if rule.Strategy == vote.Adaptive {
							mu.Lock()
							adapted = append(adapted, v.Voting.Margin)
							mu.Unlock()
						}
					})
				}
				all.Wait()
				return adapted
			}
			cold := slices.Max(ask(s, 60))
			cancel(maker.ErrPaused)
			r, err := s.Run().Result()
			if err != nil || r.Stop != event.StopPaused {
				t.Fatalf("result %+v, %v", r, err)
			}
			s, err = engine.ResumeSession(t.Context(), s.Run().Dir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if warm := slices.Max(ask(s, 5)); warm >= cold {
				t.Errorf("after a resume requests that adapt take a lead of %d, and cold ones %d: want what was learnt", warm, cold)
			}
			if o := s.Run().Progress().Outlook; o != nil {
				t.Errorf("the outlook is %+v, want none: some answers are by another rule", o)
			}
			if _, err := s.Close(); err != nil {
				t.Fatal(err)
			}
			run, err := runs.Open(s.Run().Dir())
			if err != nil {
				t.Fatal(err)
			}
			if replay, err := run.Replay(nil); err != nil || len(replay.Differences) > 0 {
				t.Errorf("replay: %v, %+v", err, replay)
			}
			if c, err := run.Certify(); err != nil || len(c.Classes) != 1 || c.Classes[0].Races != 130 {
				t.Errorf("the certificate is about %+v, %v, want 130 races of one class", c.Classes, err)
			}
		})
	}
}
