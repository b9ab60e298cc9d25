package ballot

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
)

// TestInvalidAlone: where questions have nothing to do with each other, one that the server
// calls invalid fails alone, whether or not others were answered before it; if nobody gets
// an answer, or many in a row get none, it ends the run.
func TestInvalidAlone(t *testing.T) {
	many := make([]string, maxInvalid+5)
	for i := range many {
		many[i] = "bad"
	}
	tests := []struct {
		name     string
		status   int
		asked    []string // at once
		answered bool     // in an earlier session
		not      bool     // they are not alone
		served   bool     // they come from outside
		failed   int      // questions with a verdict that they failed
		errors   int      // questions that end the run
	}{
		{"among others", 400, []string{"bad", "good", "good", "bad"}, false, false, false, 2, 0},
		{"unprocessable", 422, []string{"good", "bad"}, false, false, false, 1, 0},
		{"no such model", 404, []string{"good", "bad"}, false, false, false, 0, 1},
		{"steps of a task", 400, []string{"good", "bad"}, false, true, false, 0, 1},
		{"nobody is answered", 400, []string{"bad", "bad", "bad"}, false, false, false, 0, 3},
		{"nobody is answered, and they come from outside", 404, []string{"bad", "bad", "bad"}, false, false, true, 3, 0},
		{"after a resume", 400, []string{"bad"}, true, false, false, 1, 0},
		{"many in a row", 400, many, true, false, false, maxInvalid - 1, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := model.Func(func(ctx context.Context, req *model.Request) (*model.Response, error) {
					if strings.Contains(req.Messages[0].Text, "bad") {
						return nil, &model.Error{Kind: model.Invalid, Status: tt.status, Message: "cannot process this input"}
					}
					time.Sleep(10 * time.Second)
					return &model.Response{Text: "x", Stop: model.StopEnd}, nil
				})
				b := New([]Voter{{Name: "a", Model: m}}, readers, &Options{Alone: !tt.not, Answered: tt.answered, Served: tt.served})
				defer b.Close()
				var failed, errs atomic.Int64
				var wg sync.WaitGroup
				for i, text := range tt.asked {
					wg.Go(func() {
						q := question(firstToK(2, 10))
						q.Prompt = fmt.Sprint(text, i)
						v, err := b.Decide(t.Context(), q, Watch{})
						switch {
						case err != nil:
							errs.Add(1)
						case v.Status == flow.Failed && strings.Contains(v.Reason, "cannot process this input"):
							failed.Add(1)
						case v.Status != flow.Decided:
							t.Errorf("%s: %+v", q.Prompt, v)
						}
					})
				}
				wg.Wait()
				if int(failed.Load()) != tt.failed || int(errs.Load()) != tt.errors {
					t.Errorf("%d failed alone, %d end the run, want %d and %d", failed.Load(), errs.Load(), tt.failed, tt.errors)
				}
			})
		})
	}
}
