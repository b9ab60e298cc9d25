package maker_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
)

// limitedServer is a simulator that takes so many requests at once and one more every so
// often, refuses others, and says with each answer what is left.
type limitedServer struct {
	simulator http.Handler
	size      float64
	every     time.Duration

	mu      sync.Mutex
	level   float64
	filled  time.Time
	taken   int
	refused int
}

func (s *limitedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	now := time.Now()
	s.level = min(s.level+float64(now.Sub(s.filled))/float64(s.every), s.size)
	s.filled = now
	ok := s.level >= 1
	if ok {
		s.level--
		s.taken++
	} else {
		s.refused++
	}
	left, full := int(s.level), time.Duration((s.size-s.level)*float64(s.every))
	s.mu.Unlock()
	h := w.Header()
	if r.URL.Path == "/v1/messages" {
		h.Set("anthropic-ratelimit-requests-limit", fmt.Sprint(s.size))
		h.Set("anthropic-ratelimit-requests-remaining", fmt.Sprint(left))
		h.Set("anthropic-ratelimit-requests-reset", now.Add(full).Format(time.RFC3339Nano))
	} else {
		h.Set("x-ratelimit-limit-requests", fmt.Sprint(s.size))
		h.Set("x-ratelimit-remaining-requests", fmt.Sprint(left))
		h.Set("x-ratelimit-reset-requests", full.String())
	}
	if !ok {
		h.Set("Content-Type", "application/json")
		h.Set("Retry-After-Ms", fmt.Sprint(s.every.Milliseconds()))
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"type": "error", "error": {"type": "rate_limit_error", "message": "too many"}}`)
		return
	}
	s.simulator.ServeHTTP(w, r)
}

// TestLimitHeaders: a run keeps to what the provider says that it takes, instead of
// finding out by refusals.
func TestLimitHeaders(t *testing.T) {
	for _, test := range []struct{ name, model, variable, path string }{
		{"openai", overHTTP, "", "/v1"},
		{"anthropic", "anthropic/sim/default?p=1", "ANTHROPIC_BASE_URL", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &limitedServer{simulator: simHandler(t), size: 20, every: 20 * time.Millisecond, level: 20, filled: time.Now()}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			o := maker.Options{Config: maker.Config{Model: test.model, Voting: maker.FirstToK(3)}}
			if test.variable == "" {
				o.Config.BaseURL = server.URL + test.path
			} else {
				o.Env = func(name string) string {
					return map[string]string{test.variable: server.URL + test.path, "ANTHROPIC_API_KEY": "none"}[name]
				}
			}
			if r := mustResult(t, startHanoi(t, newEngine(t, o), 6)); r.Status != event.StatusCompleted {
				t.Fatalf("the run %s: %s", r.Status, r.Reason)
			}
			t.Logf("%d requests were taken and %d refused", s.taken, s.refused)
			if s.refused > s.taken/5 { // a hundred if it does not say
				t.Errorf("%d requests were taken and %d refused, want one in five at most", s.taken, s.refused)
			}
		})
	}
}
