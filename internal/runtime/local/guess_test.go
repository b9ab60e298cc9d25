package local

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// counter adds one, mostly, in a time that varies as that of providers does: what it
// answers depends on the question and on which sample it is.
type counter struct {
	right  float64
	median time.Duration
	calls  atomic.Int64
}

func (c *counter) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	text := req.Messages[0].Text
	c.calls.Add(1)
	h := fnv.New64a()
	fmt.Fprint(h, text)
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	const sigma = 0.99 // 400 ms are the 99th percentile of a median of 40
	wait := time.Duration(float64(c.median) * math.Exp(sigma*rng.NormFloat64()))
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
	}
	_, number, _ := strings.Cut(text, " ")
	value, err := strconv.Atoi(number)
	if err != nil {
		return nil, err
	}
	if value++; rng.Float64() > c.right {
		value++
	}
	return &model.Response{Text: strconv.Itoa(value), Stop: model.StopEnd}, nil
}

// countTo is an orchestrator that counts.
func countTo(t *testing.T, steps int, rule vote.Rule) func(flow.Flow) error {
	var question func(step int, previous json.RawMessage) *flow.Question
	question = func(step int, previous json.RawMessage) *flow.Question {
		var text string
		if err := json.Unmarshal(previous, &text); err != nil {
			t.Errorf("%s: %v", previous, err)
		}
		var samples []string // a framing for each
		for n := range 20 {
			samples = append(samples, fmt.Sprint(n, " ", text))
		}
		return &flow.Question{
			Prompt: samples[0], Variants: samples, Step: step, Answer: flow.Format{Reader: "plain"}, Terms: flow.Terms{Rule: rule},
			Next: func(answer json.RawMessage) (string, *flow.Question) {
				if step+1 == steps {
					return "", nil
				}
				return fmt.Sprint("step/", step+1), question(step+1, answer)
			},
		}
	}
	return func(f flow.Flow) error {
		at := json.RawMessage(`"0"`)
		for step := range steps {
			key := fmt.Sprint("step/", step)
			v, err := f.Decide(key, question(step, at))
			if err != nil {
				return err
			}
			at = v.Answer
			f.Emit(key, event.StepCompleted{Step: step, Output: event.JSONValue(at), Voting: v.Voting})
		}
		return nil
	}
}

func TestGuessing(t *testing.T) {
	const steps = 1023
	for _, test := range []struct {
		right, ratio, samples float64
		adaptive              bool
	}{{.9978, .45, 1.10, false}, {.99, .50, 1.12, false}, {.95, .90, 1.12, false}, {.95, 1.5, 1.15, true}} {
		run := func(rule vote.Rule, extra float64) (took time.Duration, calls int, log []event.Value) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				l, err := runlog.Create(dir, "run", nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := l.Append(event.TaskSubmitted{Format: event.Format, Kind: "test", Form: event.FormChain}); err != nil {
					t.Fatal(err)
				}
				m := &counter{right: test.right, median: 40 * time.Millisecond}
				b := ballot.New([]ballot.Voter{{Name: "m", Model: m}}, readers, &ballot.Options{BatchSize: 64})
				r := New(Options{
					Log: l, Ledger: budget.New(budget.Limits{}, usage.Spent{}), Ballot: b, Checkpoints: true, Compact: true, Extra: extra, Guess: extra > 0,
					Setup: event.Setup{Rule: rule}, Length: history.Length{Races: steps, Steps: steps},
				})
				start := time.Now()
				err = r.Run(t.Context(), countTo(t, steps, rule))
				took = time.Since(start)
				if err != nil {
					t.Fatal(err)
				}
				b.Close()
				synctest.Wait()
				calls = int(m.calls.Load())
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				for line, err := range runlog.Read(dir) {
					if err != nil {
						t.Fatal(err)
					}
					if rec, err := line.Decode(); err == nil {
						if e, ok := rec.Event.(event.StepCompleted); ok {
							log = append(log, e.Output)
						}
					}
				}
			})
			return took, calls, log
		}
		rule := vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 100}
		if test.adaptive {
			rule = vote.Rule{Strategy: vote.Adaptive, Target: .05, MaxSamples: 200}
		}
		unvoted, _, _ := run(vote.Rule{Strategy: vote.FirstToK, K: 1, MaxSamples: 100}, 0)
		plain, plainCalls, want := run(rule, 0)
		fast, calls, got := run(rule, .1)
		theory := vote.ExpectedSamples(test.right, 1, 3) * steps
		if test.adaptive {
			theory = float64(plainCalls)
		}
		t.Logf("p = %v: unvoted 1, voted %.2f, guessing %.2f with %.3f of %d calls, %.3f of theory", test.right,
			float64(plain)/float64(unvoted), float64(fast)/float64(unvoted), float64(calls)/float64(plainCalls), plainCalls, float64(calls)/theory)
		for i := range want {
			if string(got[i].JSON) != string(want[i].JSON) {
				t.Fatalf("p = %v: step %d is %s, want %s as without guesses", test.right, i, got[i].JSON, want[i].JSON)
			}
		}
		if ratio := float64(fast) / float64(unvoted); ratio > test.ratio {
			t.Errorf("p = %v: %.2f of an unvoted chain, want at most %.2f", test.right, ratio, test.ratio)
		}
		if share := float64(calls) / theory; share > test.samples {
			t.Errorf("p = %v: %.3f of the samples in theory, want at most %.2f", test.right, share, test.samples)
		}
	}
}
