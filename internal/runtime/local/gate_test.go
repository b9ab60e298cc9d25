package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
)

// TestGate: votes begin in their order, as many as servers can take samples of; one at least.
func TestGate(t *testing.T) {
	tests := []struct {
		name        string
		width, need int
		want        []string // who is inside after each sample, and each end, of the first
	}{
		{"one at a time", 1, 10, []string{"1", "1", "2"}},
		{"several", 4, 3, []string{"123", "123", "234"}},
		{"room for the next", 3, 2, []string{"123", "1234", "234"}},
		{"all", 64, 1, []string{"123456", "123456", "23456"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g gate
				var passes []*pass
				inside := map[int]bool{}
				var got []string
				look := func() {
					synctest.Wait()
					s := ""
					for i, p := range passes {
						select {
						case <-p.given:
							if _, left := inside[i]; !left {
								s += fmt.Sprint(i + 1)
							}
						default:
						}
					}
					got = append(got, s)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				stop := errors.New("stop")
				for range 6 {
					p := &pass{width: func() int { return tt.width }, need: func() int { return tt.need }}
					passes = append(passes, p)
					go func() {
						if err := g.enter(ctx, p); err != nil && !errors.Is(err, stop) {
							t.Error(err)
						}
					}()
					synctest.Wait()
				}
				look()
				g.sampled(passes[0])
				look()
				g.leave(passes[0])
				inside[0] = false
				look()
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("inside: -want +got\n%s", diff)
				}
				cancel(stop)
				synctest.Wait()
				if len(g.queue) > 0 {
					t.Errorf("%d still wait", len(g.queue))
				}
			})
		})
	}
}

// TestVotesBeginInTime: of many votes only those begin that servers can take samples of, and
// what answers took time to come is in the log before there is a verdict.
func TestVotesBeginInTime(t *testing.T) {
	const votes, width = 40, 3
	for _, test := range []struct {
		name      string
		keep      bool
		k, logged int // samples that are in the log, at least
	}{{"kept", true, 3, 3*votes - 10}, {"held back", false, 3, 0}, {"one sample", true, 1, 0}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				open, most := map[string]bool{}, 0
				m := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
					time.Sleep(time.Nanosecond) // those that are over have said so by then
					mu.Lock()
					open[req.Messages[0].Text] = true
					most = max(most, len(open))
					mu.Unlock()
					time.Sleep(20 * time.Millisecond)
					return &model.Response{Text: "a", Stop: model.StopEnd}, nil
				})
				dir := filepath.Join(t.TempDir(), "run")
				o := Options{Checkpoints: true, Compact: true, KeepSamples: test.keep, Width: func() int { return width }}
				_, err := runtime(t, dir, m, o, func(f flow.Flow) error {
					return f.Parallel("all", votes, func(i int, f flow.Flow) error {
						q := ruled(test.k, 9)
						q.Prompt = fmt.Sprint(i)
						_, err := f.Decide("q", q)
						mu.Lock()
						delete(open, q.Prompt)
						mu.Unlock()
						return err
					})
				})
				if err != nil || most > ahead*width {
					t.Errorf("%d votes were under way at once (%v), want at most %d", most, err, ahead*width)
				}
				if got := types(t, dir)[event.TypeSampleCompleted]; got < test.logged || test.logged == 0 && got > 0 {
					t.Errorf("%d samples are in the log, want %d", got, test.logged)
				}
			})
		})
	}
}
