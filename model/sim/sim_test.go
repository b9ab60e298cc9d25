package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/model"
)

// within reports whether hits of n trials agree with probability p, within five
// standard deviations. Seeds are fixed, so a test that passes goes on passing.
func within(hits, n int, p float64) bool {
	return math.Abs(float64(hits)-float64(n)*p) <= 5*math.Sqrt(float64(n)*p*(1-p))+1e-9
}

// trials is how many of n there are: fewer with the race detector, which makes all of this ten
// times slower, and nothing here is concurrent.
func trials(n int) int {
	if raceDetector {
		return n / 8
	}
	return n
}

func TestRates(t *testing.T) {
	n := trials(5000)
	for _, name := range []string{
		"default?p=0.9&seed=1",
		"default?p=0.5&malformed=0.1&overlong=0.05:200&seed=2",
		"default?p=0.9978&malformed=0.032&seed=3",
		"default?p=0.99&hard=0.2:0.6&seed=4",
		"default?p=0.9&rho=0.5&seed=5",
	} {
		for _, onePrompt := range []bool{true, false} {
			m := newModel(t, name)
			s := m.Settings()
			if onePrompt && (s.HardShare > 0 || s.Rho > 0) {
				continue // these hold over many steps, not for each one
			}
			var right, malformed, overlong int
			for i := range n {
				req := ask("Compute: 1200 + 34")
				if !onePrompt {
					req = askf("Compute: %d - %d", 1234+i, i)
				}
				r := m.Answer(req)
				if r.Usage.Output >= 200 {
					overlong++
				}
				switch line := lastLine(r.Text); {
				case line == "answer = 1234":
					right++
				case line == "answer =" || !strings.HasPrefix(line, "answer = ") || strings.HasSuffix(line, "more"):
					malformed++
				}
			}
			p := s.P*(1-s.HardShare) + s.HardP*s.HardShare
			for _, rate := range []struct {
				name string
				hits int
				want float64
			}{{"right", right, (1 - s.Malformed) * p}, {"malformed", malformed, s.Malformed}, {"overlong", overlong, s.Overlong}} {
				if !within(rate.hits, n, rate.want) {
					t.Errorf("%s, one prompt %t: %d of %d answers are %s, want a share of %.4f", name, onePrompt, rate.hits, n, rate.name, rate.want)
				}
			}
		}
	}
}

// TestRivalShares checks that all wrong answers are equally likely.
func TestRivalShares(t *testing.T) {
	const rivals = 4
	n := trials(12000)
	m := newModel(t, "default?p=0.4&rivals=4")
	counts := map[string]int{}
	for range n {
		counts[m.Answer(ask(hanoiPrompt(start(6), "none"))).Text]++
	}
	if len(counts) != rivals+1 {
		t.Fatalf("%d distinct answers, want %d", len(counts), rivals+1)
	}
	right := newModel(t, "default?p=1").Answer(ask(hanoiPrompt(start(6), "none"))).Text
	for text, got := range counts {
		want := 0.6 / rivals
		if text == right {
			want = 0.4
		}
		if !within(got, n, want) {
			t.Errorf("%d of %d answers are %q, want a share of %.3f", got, n, text, want)
		}
	}
}

// TestPairs checks how often two samples of one step are wrong together:
// by chance only when they are independent, more when they share a draw.
func TestPairs(t *testing.T) {
	const p = 0.8
	steps := trials(8000)
	for _, rho := range []float64{0, 0.5, 1} {
		m := newModel(t, fmt.Sprintf("default?p=%v&rho=%v", p, rho))
		both, neighbours, last := 0, 0, false
		for i := range steps {
			req := askf("Compute: %d - %d", 10+i, i)
			a := lastLine(m.Answer(req).Text) != "answer = 10"
			b := lastLine(m.Answer(req).Text) != "answer = 10"
			if a && b {
				both++
			}
			if a && last {
				neighbours++
			}
			last = a
		}
		// Both samples repeat the common draw with probability rho squared.
		want := rho*rho*(1-p) + (1-rho*rho)*(1-p)*(1-p)
		if !within(both, steps, want) {
			t.Errorf("rho %v: both wrong at %d of %d steps, want a share of %.4f", rho, both, steps, want)
		}
		if !within(neighbours, steps, (1-p)*(1-p)) {
			t.Errorf("rho %v: %d of %d neighbouring steps wrong together, want a share of %.4f", rho, neighbours, steps, (1-p)*(1-p))
		}
	}
}

func TestHardSteps(t *testing.T) {
	const samples = 30
	steps := trials(1000)
	m := newModel(t, "default?p=1&hard=0.1:0.5")
	hard := 0
	for i := range steps {
		wrong := 0
		for range samples {
			if lastLine(m.Answer(askf("Compute: %d - %d", 10+i, i)).Text) != "answer = 10" {
				wrong++
			}
		}
		if wrong > 0 {
			hard++
			if !within(wrong, samples, 0.5) {
				t.Errorf("hard step %d: %d of %d wrong, want about half", i, wrong, samples)
			}
		}
	}
	if !within(hard, steps, 0.1) {
		t.Errorf("%d of %d steps are hard, want a share of 0.1", hard, steps)
	}
}

func TestGreedy(t *testing.T) {
	steps := trials(3000)
	m := newModel(t, "default?p=0.7&rivals=3&malformed=0.1")
	zero := 0.0
	right := 0
	for i := range steps {
		req := askf("Step %d\nCompute: 5 + 5", i)
		req.Temperature = &zero
		first := m.Answer(req).Text
		for range 3 {
			m.Answer(askf("Step %d\nCompute: 5 + 5", i)) // others do not disturb it
			if again := m.Answer(req).Text; again != first {
				t.Fatalf("step %d: greedy answers %q and %q differ", i, first, again)
			}
		}
		if lastLine(first) == "answer = 10" {
			right++
		}
	}
	if !within(right, steps, 0.7*0.9) {
		t.Errorf("%d of %d greedy answers right, want a share of 0.63", right, steps)
	}
}

// TestDeterminism compares the answers per prompt of two runs that ask in
// different orders, one of them with faults and from many goroutines.
func TestDeterminism(t *testing.T) {
	const prompts, samples = 50, 20
	run := func(name string, goroutines int) map[string][]string {
		m := newModel(t, name)
		got := map[string][]string{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				for i := g; i < prompts*samples; i += goroutines {
					prompt := fmt.Sprintf("Step %d\n%s", i%prompts, hanoiPrompt(start(5), "none"))
					for {
						r, err := m.Generate(t.Context(), ask(prompt))
						if err == nil {
							mu.Lock()
							got[prompt] = append(got[prompt], r.Text)
							mu.Unlock()
							break
						}
					}
				}
			})
		}
		wg.Wait()
		for _, texts := range got {
			slices.Sort(texts)
		}
		return got
	}
	const behaviour = "default?p=0.6&malformed=0.2&rivals=3&rho=0.2"
	want := run(behaviour+"&seed=11", 1)
	for _, test := range []struct {
		name       string
		goroutines int
		same       bool
	}{
		{behaviour + "&seed=11", 1, true},
		{behaviour + "&seed=11&f429=0.3&cut=0.2", 64, true},
		{behaviour + "&seed=12", 1, false},
	} {
		if got := run(test.name, test.goroutines); fmt.Sprint(got) == fmt.Sprint(want) != test.same {
			t.Errorf("%s with %d goroutines: same answers is %t, want %t", test.name, test.goroutines, !test.same, test.same)
		}
	}
}

func TestOrdinals(t *testing.T) {
	var o ordinals
	const live = 1000
	for round := uint64(1); round <= 3; round++ {
		for i := range uint64(live) {
			if got := o.sample(mix(i), 0); got != round {
				t.Fatalf("sample(prompt %d) = %d, want %d: %d live prompts crowd each other out", i, got, round, live)
			}
			if got := o.attempt(mix(i)); got != round {
				t.Fatalf("attempt(prompt %d) = %d, want %d", i, got, round)
			}
		}
	}
	for i := range uint64(200_000) {
		o.sample(mix(i+1<<32), 0)
	}
	if got := o.sample(mix(0), 0); got != 1 {
		t.Errorf("sample of a long forgotten prompt = %d, want 1", got)
	}
}

func TestFaults(t *testing.T) {
	const n = 20000
	m := newModel(t, "default?f429=0.1&f529=0.05&f500=0.2&hang=0.02&cut=0.1&garbage=0.03&retry_after=2s&seed=5")
	for _, onePrompt := range []bool{true, false} {
		counts := map[Fault]int{}
		for i := range n {
			req := ask("Sort: [2, 1]")
			if !onePrompt {
				req = askf("Task %d\nSort: [2, 1]", i)
			}
			o := m.Draw(req)
			counts[o.Fault]++
			if has := o.Response != nil; has != (o.Fault == NoFault || o.Fault == Cut) {
				t.Fatalf("fault %q with a response is %t", o.Fault, has)
			}
			if waits := o.RetryAfter == 2*time.Second; waits != (o.Fault == F429 || o.Fault == F529) {
				t.Fatalf("fault %q asks to wait %v", o.Fault, o.RetryAfter)
			}
		}
		for fault, want := range map[Fault]float64{F429: 0.1, F529: 0.05, F500: 0.2, Hang: 0.02, Cut: 0.1, Garbage: 0.03, NoFault: 0.5} {
			if !within(counts[fault], n, want) {
				t.Errorf("one prompt %t: %d of %d attempts end as %q, want a share of %v", onePrompt, counts[fault], n, fault, want)
			}
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		kind   model.Kind
		status int
		wait   time.Duration
		now    bool
	}{
		{"default?f429=1&retry_after=2s", model.RateLimited, 429, 2 * time.Second, false},
		{"default?f429=1&retry_after=0s", model.RateLimited, 429, 0, true},
		{"default?f429=1", model.RateLimited, 429, 0, false},
		{"default?f529=1&retry_after=3s", model.Overloaded, 529, 3 * time.Second, false},
		{"default?f500=1&retry_after=3s", model.Transient, 500, 0, false},
		{"default?cut=1", model.Transient, 0, 0, false},
		{"default?garbage=1", model.Transient, 0, 0, false},
	} {
		_, err := newModel(t, test.name).Generate(t.Context(), ask("Sort: [1]"))
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != test.kind || e.Status != test.status || e.RetryAfter != test.wait || e.RetryNow != test.now || e.Provider != "sim" || e.Message == "" {
			t.Errorf("%s: Generate = %#v, want kind %s, status %d, retry after %v", test.name, err, test.kind, test.status, test.wait)
		}
	}
	if _, err := newModel(t, "").Generate(t.Context(), &model.Request{}); model.KindOf(err) != model.Invalid {
		t.Errorf("Generate without messages = %v, want an invalid request", err)
	}
}

func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newModel(t, "default?latency=40ms")
		begin := time.Now()
		if _, err := slow.Generate(t.Context(), ask("Sort: [1]")); err != nil || time.Since(begin) != 40*time.Millisecond {
			t.Errorf("Generate took %v with error %v, want 40ms", time.Since(begin), err)
		}
		for _, name := range []string{"default?latency=1h", "default?hang=1"} {
			m := newModel(t, name)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			begin := time.Now()
			_, err := m.Generate(ctx, ask("Sort: [1]"))
			cancel()
			if model.KindOf(err) != model.Transient || !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
				t.Errorf("%s: Generate with a deadline = %v after %v, want a transient error after 1s", name, err, time.Since(begin))
			}
			ctx, cancelCause := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancelCause(errors.New("another sample won")) })
			_, err = m.Generate(ctx, ask("Sort: [1]"))
			if model.KindOf(err) != model.Cancelled || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "another sample won") {
				t.Errorf("%s: cancelled Generate = %v, want kind cancelled and the cause", name, err)
			}
			if _, err = m.Generate(ctx, ask("Sort: [1]")); model.KindOf(err) != model.Cancelled {
				t.Errorf("%s: Generate after the end = %v, want kind cancelled", name, err)
			}
		}
	})
}

func TestLatency(t *testing.T) {
	const n = 10001
	m := newModel(t, "default?latency=40ms,1")
	logs := make([]float64, n)
	var sum, squares float64
	for i := range logs {
		logs[i] = math.Log(float64(m.Draw(ask("Sort: [1]")).Latency))
		sum += logs[i]
		squares += logs[i] * logs[i]
	}
	slices.Sort(logs)
	// The standard errors of both are close to 0.01.
	if median := math.Exp(logs[n/2]); median < 38e6 || median > 42e6 {
		t.Errorf("median latency %v, want 40ms", time.Duration(median))
	}
	if sd := math.Sqrt(squares/n - sum/n*sum/n); sd < 0.95 || sd > 1.05 {
		t.Errorf("standard deviation of the logarithm %v, want 1", sd)
	}
}

func TestResponse(t *testing.T) {
	m := newModel(t, "default?p=1&overlong=1&seed=4")
	req := &model.Request{System: "12345", Messages: []model.Message{
		{Role: model.User, Text: "Sort: [9, 8]"}, {Role: model.Assistant, Text: "1234"}, {Role: model.User, Text: "Sort: [2, 1]"}, {Role: model.Assistant, Text: "Well,"}}}
	r := m.Answer(req)
	if lastLine(r.Text) != "answer = [1, 2]" || r.Stop != model.StopEnd {
		t.Errorf("long answer = ...%q, stop %q, want the answer to the last question of the user, stop end", lastLine(r.Text), r.Stop)
	}
	if r.Usage.Input != 10 || r.Usage.Output != int64(len(r.Text)+3)/4 || r.Usage.Output < 1000 {
		t.Errorf("usage %+v for %d bytes, want 10 and a quarter of the bytes, at least 1000", r.Usage, len(r.Text))
	}
	if want := (10*0.4 + float64(r.Usage.Output)*1.6) / 1e6; r.CostUSD == nil || math.Abs(*r.CostUSD-want) > 1e-12 {
		t.Errorf("cost %v, want %v", r.CostUSD, want)
	}
	if r.Model != "sim/default?p=1&overlong=1&seed=4" {
		t.Errorf("model %q, want the name with its settings", r.Model)
	}
	req.MaxOutput = 100
	if r = m.Answer(req); r.Stop != model.StopLength || r.Usage.Output != 100 || len(r.Text) != 400 {
		t.Errorf("answer cut at 100 tokens: %d bytes, %d tokens, stop %q", len(r.Text), r.Usage.Output, r.Stop)
	}
	if got := truncate("aé", 2); got != "a" {
		t.Errorf(`truncate("aé", 2) = %q, want "a"`, got)
	}
}

// TestEarlierSamples: a simulator that is new draws on where another one, asked the
// same, was.
func TestEarlierSamples(t *testing.T) {
	warm := 0.7
	draw := func(m *Model, earlier int) string {
		r, err := m.Generate(t.Context(), &model.Request{
			Messages: []model.Message{{Role: model.User, Text: "What is 31 + 45?"}}, Temperature: &warm, Earlier: earlier,
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	open := func() *Model {
		s, err := Parse("sim/default?p=0.5&rivals=50&seed=3")
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	one := open()
	var all []string
	for range 12 {
		all = append(all, draw(one, 0))
	}
	other := open()
	for n := 5; n < len(all); n++ {
		if got := draw(other, n); got != all[n] {
			t.Errorf("sample %d of another simulator = %q, want %q", n, got, all[n])
		}
	}
}
