package server

import (
	"maps"
	"net/http"
	"runtime"
	"slices"
	"sync"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/server/metrics"
	"github.com/maker-mdap/maker/runs"
)

// totals are what runs did in this process.
type totals struct {
	mu      sync.Mutex
	ended   counts             // of runs that have ended
	going   map[*meter]bool    // those that go on
	seconds *metrics.Histogram // that steps took
}

// counts are what a run did.
type counts struct{ steps, samples, flags, faults, contested, calls, tokens, usd float64 }

func (c *counts) add(o counts) {
	c.steps, c.samples, c.flags, c.faults, c.contested = c.steps+o.steps, c.samples+o.samples, c.flags+o.flags, c.faults+o.faults, c.contested+o.contested
	c.calls, c.tokens, c.usd = c.calls+o.calls, c.tokens+o.tokens, c.usd+o.usd
}

// A meter counts what a run does here.
type meter struct {
	run    *maker.Run
	before maker.Progress // it began with, in earlier sessions
	stored *runs.Run      // nil if it cannot be read
	steps  int            // whose time was counted
}

func newTotals() *totals {
	return &totals{going: map[*meter]bool{}, seconds: metrics.NewHistogram(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)}
}

// begin counts what a run does from now on. One that was resumed has done something before.
func (t *totals) begin(run *maker.Run) *meter {
	m := &meter{run: run, before: run.Progress()}
	m.before.Samples, m.before.RedFlagged, m.before.Faults, m.before.Contested = 0, 0, 0, 0 // which are of this session
	m.steps = m.before.Steps - m.before.Session
	if m.stored, _ = runs.Open(run.Dir()); m.steps == 0 {
		m.before.Spent.Calls, m.before.Spent.USD = 0, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.going[m] = true
	return m
}

func (t *totals) end(m *meter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.time(m)
	t.ended.add(m.count())
	delete(t.going, m)
}

// count is what a run did in this session.
func (m *meter) count() counts {
	now := m.run.Progress()
	return counts{
		steps: float64(now.Session), samples: float64(now.Samples), flags: float64(now.RedFlagged), faults: float64(now.Faults), contested: float64(now.Contested),
		calls: float64(now.Spent.Calls - m.before.Spent.Calls), tokens: float64(now.Spent.Tokens.Total() - m.before.Spent.Tokens.Total()),
		usd: max(now.Spent.USD-m.before.Spent.USD, 0),
	}
}

// time counts how long the steps took that were committed since it was last called.
func (t *totals) time(m *meter) {
	if m.stored == nil {
		return
	}
	for took, err := range m.stored.Durations(m.steps) {
		if err != nil {
			return // they are counted the next time
		}
		t.seconds.Observe(took.Seconds())
		m.steps++
	}
}

// now is what all runs did in this process, and how the providers of those that go on do.
func (t *totals) now() (sum counts, providers map[string]runs.Server, running int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum, providers = t.ended, map[string]runs.Server{}
	for m := range t.going {
		t.time(m)
		sum.add(m.count())
		for _, p := range m.run.Progress().Servers { // which runs share
			if was, ok := providers[p.Provider]; !ok || p.InFlight > was.InFlight {
				providers[p.Provider] = p
			}
		}
	}
	return sum, providers, len(t.going)
}

// measure answers with figures about all runs.
func (s *Server) measure(w http.ResponseWriter, r *http.Request) error {
	if err := may(s.o.Caller(r.Context()).MaySeeAll(), "see figures about all runs"); err != nil {
		return err
	}
	all, err := s.list.all()
	if err != nil {
		return err
	}
	var page metrics.Page
	page.Gauge("maker_build_info", "Version of the program.").Set(1, metrics.Label{Name: "version", Value: maker.Version})
	states := map[string]int{}
	for _, one := range all {
		states[one.State]++
	}
	byState := page.Gauge("maker_runs", "Runs in the folder of runs, by state.")
	for _, state := range runs.States() {
		byState.Set(float64(states[state]), metrics.Label{Name: "state", Value: state})
	}
	sum, providers, running := s.totals.now()
	page.Gauge("maker_runs_here", "Runs that go on in this process.").Set(float64(running))
	page.Gauge("go_goroutines", "Goroutines of this process.").Set(float64(runtime.NumGoroutine()))
	page.Gauge("maker_followers", "Those who follow a run.").Set(float64(s.feeds.Followers()))
	for _, c := range []struct {
		name, help string
		value      float64
	}{
		{"maker_steps_total", "Steps that were committed.", sum.steps},
		{"maker_samples_total", "Votes and discarded answers.", sum.samples},
		{"maker_red_flags_total", "Answers that were discarded.", sum.flags},
		{"maker_faults_total", "Attempts that failed.", sum.faults},
		{"maker_contested_total", "Decisions with dissent: more than one answer got votes.", sum.contested},
		{"maker_calls_total", "Requests to providers.", sum.calls},
		{"maker_tokens_total", "Tokens of all kinds.", sum.tokens},
		{"maker_cost_usd_total", "Cost of calls whose price is known.", sum.usd},
	} {
		page.Counter(c.name, c.help).Set(c.value)
	}
	s.totals.seconds.Write(&page, "maker_step_seconds", "How long committed steps took.")
	names := slices.Sorted(maps.Keys(providers))
	for _, g := range []struct {
		name, help string
		value      func(runs.Server) float64
	}{
		{"maker_provider_limit", "Calls that a provider is taken to bear at once.", func(p runs.Server) float64 { return float64(p.Limit) }},
		{"maker_provider_in_flight", "Calls in flight.", func(p runs.Server) float64 { return float64(p.InFlight) }},
		{"maker_provider_waiting", "Calls that wait for their turn.", func(p runs.Server) float64 { return float64(p.Waiting) }},
		{"maker_provider_failing", "1 if so many calls failed that only probes are sent.", func(p runs.Server) float64 {
			if p.Failing {
				return 1
			}
			return 0
		}},
	} {
		figure := page.Gauge(g.name, g.help)
		for _, name := range names {
			figure.Set(g.value(providers[name]), metrics.Label{Name: "provider", Value: name})
		}
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = page.WriteTo(w) // whoever has gone away is not told
	return nil
}
