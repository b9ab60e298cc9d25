package maker_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// boastful is a simulator behind a transport that answers rightly and says what it
// likes about what that took.
type boastful struct {
	server http.Handler
	usage  string // JSON
}

func (b boastful) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	b.server.ServeHTTP(answer, req.Clone(context.WithoutCancel(req.Context()))) // a server hangs up on a sender who has gone, as a panic
	var body map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		return nil, err
	}
	const here = "what it took"
	body["usage"] = here
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	changed := httptest.NewRecorder()
	// An encoder would refuse some of the numbers.
	_, err = changed.WriteString(strings.Replace(string(text), `"`+here+`"`, b.usage, 1))
	return changed.Result(), err
}

// TestNoUsageSpoilsTheLog has servers say that an answer took what no answer takes.
// Each such answer is a fault with a name, and the log can be read to its end.
func TestNoUsageSpoilsTheLog(t *testing.T) {
	for name, usage := range map[string]string{
		"cost that adds up to infinity": `{"prompt_tokens": 9, "completion_tokens": 9, "cost": 1e308}`,
		"cost beyond all numbers":       `{"prompt_tokens": 9, "completion_tokens": 9, "cost": 1e999}`,
		"cost above any price":          `{"prompt_tokens": 9, "completion_tokens": 9, "cost": 1000}`,
		"negative cost":                 `{"prompt_tokens": 9, "completion_tokens": 9, "cost": -1}`,
		"tokens that overflow":          `{"prompt_tokens": 9223372036854775807, "completion_tokens": 9223372036854775807}`,
		"tokens beyond all numbers":     `{"prompt_tokens": 1e999, "completion_tokens": 9}`,
		"negative tokens":               `{"prompt_tokens": -9223372036854775808, "completion_tokens": 9}`,
		"more output than asked for":    `{"prompt_tokens": 9, "completion_tokens": 5000000}`,
		"more thought than asked for":   `{"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 9000000}`,
		"more input than was sent":      `{"prompt_tokens": 90000000, "completion_tokens": 9}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, maker.Options{
				Transport: boastful{simHandler(t), usage},
				Config:    maker.Config{Model: overHTTP, BaseURL: "http://sim.invalid/v1", Voting: maker.FirstToK(3), MaxFaults: 3, RetryDelay: 1},
			})
			defer e.Close()
			run := startHanoi(t, e, 2)
			r, err := run.Result()
			if err != nil || r.Status != event.StatusFailed || !strings.Contains(r.Reason, "bad usage") {
				t.Errorf("Result() = %+v, %v, want a failure that names bad usage", r, err)
			}
			faults := 0
			for line, err := range runlog.Read(run.Dir()) {
				if err != nil {
					t.Fatalf("Read() = %v, want that the log can be read", err)
				}
				rec, err := line.Decode()
				if err != nil {
					t.Fatalf("Decode(%s) = %v", line.Raw, err)
				}
				if f, ok := rec.Event.(event.SampleFaulted); ok && f.Kind == "bad_usage" {
					faults++
				}
			}
			if faults == 0 {
				t.Error("the log has no fault of the kind bad_usage")
			}
			if _, err := e.Replay(run.ID()); err != nil {
				t.Errorf("Replay() = %v, want that the log can be read", err)
			}
		})
	}
}

// TestACostOfNothingDoesNotDefeatABudget has a server say that its answers are free,
// where the price table knows better.
func TestACostOfNothingDoesNotDefeatABudget(t *testing.T) {
	for name, usage := range map[string]string{
		"with tokens":    `{"prompt_tokens": 1000, "completion_tokens": 100, "cost": 0}`,
		"without tokens": `{"cost": 0}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, maker.Options{
				Transport: boastful{simHandler(t), usage},
				Config:    maker.Config{Model: overHTTP + "&price=100,100", BaseURL: "http://sim.invalid/v1", MaxUSD: 2},
			})
			defer e.Close()
			r := mustResult(t, startHanoi(t, e, 8))
			if r.Stop != "max_usd" || r.Usage.USD+r.Usage.HeldUSD < 0.1 || r.Usage.USD+r.Usage.HeldUSD > 2 {
				t.Errorf("a run with max_usd 2 and free answers of $0.11 = %s (%s) after %+v, want that max_usd stops it", r.Status, r.Stop, r.Usage)
			}
		})
	}
}
