package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

// plain asks for a word.
type plain struct{}

func (plain) Question(problem string) (*flow.Question, error) {
	first, other := 0.0, 0.1
	if problem == "broken" {
		return nil, errors.New("broken")
	}
	return &flow.Question{Prompt: problem, Terms: flow.Terms{FirstTemperature: &first, Temperature: &other}}, nil
}

func (plain) Solution(answer json.RawMessage) (s string, err error) {
	return s, json.Unmarshal(answer, &s)
}

func (plain) Domain() string { return "words" }

// same compares words whatever their case.
func same(_ string, l flow.Look) (any, error) {
	var c flow.Comparison
	if err := json.Unmarshal(l.Params, &c); err != nil || l.Kind != flow.LookSame || c.Domain != "words" {
		return nil, fmt.Errorf("the look is %+v (%v), want a comparison", l, err)
	}
	groups := make([][]int, len(c.Solutions))
	for i, x := range c.Solutions {
		for j, y := range c.Solutions {
			if strings.EqualFold(x, y) {
				groups[i] = append(groups[i], j)
			}
		}
	}
	return groups, nil
}

// says decides each question with what the n-th sample of a problem says; "" is a
// red flag and "fault" a fault.
func says(say func(problem string, n int) string) *flowtest.Flow {
	f := flowtest.New(func(key string, q *flow.Question) (*flow.Verdict, error) {
		var branch, problem, n int
		if _, err := fmt.Sscanf(key, "calibrate/%d/%d/%d", &branch, &problem, &n); err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		if q.Rule != (vote.Rule{Strategy: vote.None, MaxSamples: 1}) || (*q.FirstTemperature == 0) != (n == 0) {
			return nil, fmt.Errorf("%s: rule %+v at %v, want one sample, greedy if it is the first", key, q.Rule, *q.FirstTemperature)
		}
		switch text := say(q.Prompt, n); text {
		case "":
			return &flow.Verdict{Status: flow.FlaggedOut, Said: "hm", Reason: "the only sample was discarded"}, nil
		case "fault":
			return &flow.Verdict{Status: flow.Failed}, nil
		default:
			return flowtest.Decided(q, fmt.Sprintf("%q", text)), nil
		}
	})
	f.OnObserve = same
	return f
}

func trials(n int, solution string) []domain.Trial {
	list := make([]domain.Trial, n)
	for i := range list {
		list[i] = domain.Trial{Problem: fmt.Sprint("problem ", i), Solution: solution}
	}
	return list
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name  string
		cfg   Config
		say   func(problem string, n int) string
		want  event.Calibrated // but for intervals and what follows from them
		usedP float64
	}{
		{
			"known", Config{Trials: trials(5, "right")},
			func(_ string, n int) string { return []string{"right", "Right", "wrong", "right", "right"}[n] },
			event.Calibrated{Problems: 5, Samples: 25, Valid: 25, Right: 20, Basis: Known, P: 0.8, V: 1, K: 4}, 0.7600,
		},
		{
			"perfect", Config{Trials: trials(5, "right")},
			func(string, int) string { return "right" },
			event.Calibrated{Problems: 5, Samples: 25, Valid: 25, Right: 25, Basis: Known, P: 1, V: 1, K: 2}, 0.9334,
		},
		{
			"flags and faults", Config{Trials: trials(2, "right")},
			func(_ string, n int) string { return []string{"right", "", "fault", "right", "wrong"}[n] },
			event.Calibrated{Problems: 2, Samples: 8, Valid: 6, Right: 4, Basis: Known, P: 4. / 6, V: 0.75, K: 5, Limited: true, Reason: "the target needs a margin of 12"}, 0.6016,
		},
		{
			"more trials than problems", Config{Trials: trials(9, "right"), Problems: 2, Samples: 30},
			func(string, int) string { return "right" },
			event.Calibrated{Problems: 2, Samples: 60, Valid: 60, Right: 60, Basis: Known, P: 1, V: 1, K: 2}, 0.9699,
		},
		{
			"agreement", Config{Trials: trials(2, ""), Samples: 50},
			func(_ string, n int) string {
				if n%10 == 0 {
					return "other"
				}
				return "one"
			},
			event.Calibrated{Problems: 2, Samples: 100, Valid: 100, Right: 90, Basis: Agreement, P: 0.9, V: 1, K: 3, Reason: "no answer is known: p is at most the share of the commonest answer"}, 0.8256,
		},
		{
			"known counts more than agreement", Config{Trials: append(trials(1, ""), trials(1, "right")...), Samples: 10},
			func(_ string, n int) string { return []string{"right", "wrong"}[n%2] },
			event.Calibrated{Problems: 2, Samples: 20, Valid: 20, Right: 5, Basis: Known, P: 0.5, V: 1, K: 5, Limited: true, Reason: "voters must be right more often than not: no margin reaches the target"}, 0.5,
		},
		{
			"nothing valid", Config{Trials: trials(2, "right")}, func(string, int) string { return "" },
			event.Calibrated{Problems: 2, Samples: 10, Basis: Fallback, P: 0.7, K: 5, Limited: true, Reason: `none of 10 answers was valid: nothing could be measured. One of them said "hm"; the only sample was discarded`}, 0.7,
		},
		{
			"nothing to ask", Config{MaxK: 9}, nil,
			event.Calibrated{Basis: Fallback, P: 0.7, K: 6, MaxK: 9, Reason: "there are no calibration problems"}, 0.7,
		},
		{
			"steps", Config{Trials: trials(5, "right"), Steps: 1000, Samples: 100, MaxK: 20, Target: 0.05},
			func(_ string, n int) string {
				if n%10 == 0 {
					return "wrong"
				}
				return "right"
			},
			event.Calibrated{Problems: 5, Samples: 500, Valid: 500, Right: 450, Basis: Known, P: 0.9, V: 1, K: 5, MaxK: 20, Steps: 1000, Target: 0.05}, 0.8969,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := says(test.say)
			got, err := Run(f, plain{}, test.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]event.Event{got}, f.Events); diff != "" {
				t.Errorf("events: -want +got\n%s", diff)
			}
			if math.Abs(got.PUsed-test.usedP) > 1e-4 {
				t.Errorf("p used = %.4f, want %.4f", got.PUsed, test.usedP)
			}
			if !(got.PLow <= got.P && got.P <= got.PHigh && got.VLow <= got.V && got.V <= got.VHigh && got.PLow <= got.PUsed && got.PUsed <= got.PHigh) {
				t.Errorf("%+v: a share is outside its interval", got)
			}
			checkMargin(t, test.cfg, got)
			test.want.Confidence, test.want.Assumes = Confidence, alike
			if test.want.MaxK == 0 {
				test.want.MaxK = DefaultMaxK
			}
			if test.want.Target == 0 {
				test.want.Target = DefaultTarget
			}
			for _, field := range []*float64{&got.PLow, &got.PHigh, &got.PUsed, &got.VLow, &got.VHigh, &got.StepError, &got.RunError, &got.SamplesPerStep} {
				*field = 0
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Run(): -want +got\n%s", diff)
			}
		})
	}
}

// checkMargin computes the margin in another way: it is the first that meets the
// target, or the last allowed.
func checkMargin(t *testing.T, cfg Config, got event.Calibrated) {
	t.Helper()
	steps := max(cfg.Steps, 1)
	r := (1 - got.PUsed) / got.PUsed
	fails := func(k int) float64 { return 1 - math.Pow(1+math.Pow(r, float64(k)), -float64(steps)) }
	for k := 1; k < got.K; k++ {
		if fails(k) <= got.Target {
			t.Errorf("k = %d, but %d is enough: an error of %v", got.K, k, fails(k))
		}
	}
	if (fails(got.K) > got.Target) != got.Limited || got.Limited && got.K != got.MaxK {
		t.Errorf("k = %d of at most %d with an error of %v, limited %t; the target is %v", got.K, got.MaxK, fails(got.K), got.Limited, got.Target)
	}
	if step := math.Pow(r, float64(got.K)) / (1 + math.Pow(r, float64(got.K))); math.Abs(step-got.StepError) > 1e-9 {
		t.Errorf("step error = %v, want %v", got.StepError, step)
	}
	if cfg.Steps > 0 && math.Abs(fails(got.K)-got.RunError) > 1e-9 {
		t.Errorf("run error = %v, want %v", got.RunError, fails(got.K))
	}
	if want := vote.ExpectedVotes(got.PUsed, got.K) / got.V; got.V > 0 && math.Abs(want-got.SamplesPerStep) > 1e-9 {
		t.Errorf("samples per step = %v, want %v", got.SamplesPerStep, want)
	}
}

// TestCoverage draws voters of known p and v: the intervals hold the truth about
// as often as they say, and k is that of a p within the interval.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range []float64{0.55, 0.8, 0.9, 0.99} {
		const v, runs = 0.9, 150
		heldP, heldV := 0, 0
		cfg := Config{Trials: trials(5, "right"), Samples: 20, MaxK: 1000}
		for range runs {
			got, err := Run(says(func(string, int) string {
				switch {
				case rng.Float64() > v:
					return ""
				case rng.Float64() < p:
					return "right"
				default:
					return fmt.Sprint("wrong ", rng.IntN(3))
				}
			}), plain{}, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if got.PLow <= p && p <= got.PHigh {
				heldP++
			}
			if got.VLow <= v && v <= got.VHigh {
				heldV++
			}
			most, err := vote.MinK(max(got.PLow, 0.5001), 1, 1-DefaultTarget)
			if err != nil {
				t.Fatal(err)
			}
			least, err := vote.MinK(max(got.PHigh, 0.5001), 1, 1-DefaultTarget)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Limited && (got.K < least || got.K > most) {
				t.Errorf("p = %v: k = %d, want %d to %d", p, got.K, least, most)
			}
		}
		if heldP < runs*88/100 || heldV < runs*88/100 {
			t.Errorf("p = %v: the intervals hold p in %d and v in %d of %d runs, want 95 %%", p, heldP, heldV, runs)
		}
	}
}

func TestRunErrors(t *testing.T) {
	over := errors.New("over")
	f := flowtest.New(func(string, *flow.Question) (*flow.Verdict, error) { return nil, over })
	if _, err := Run(f, plain{}, Config{Trials: trials(1, "x")}); err != over || len(f.Events) > 0 {
		t.Errorf("Run() = %v with %d events, want %v and none", err, len(f.Events), over)
	}
	f = says(nil)
	if _, err := Run(f, plain{}, Config{Trials: []domain.Trial{{Problem: "broken"}}}); err == nil || err.Error() != "broken" {
		t.Errorf("Run(broken question) = %v, want its error", err)
	}
	for _, test := range []struct {
		cfg  Config
		want string
	}{
		{Config{Problems: -1}, "Problems is -1"},
		{Config{Samples: -2}, "Samples is -2"},
		{Config{Target: 1}, "Target is 1"},
		{Config{Target: math.NaN()}, "Target is NaN"},
		{Config{Fallback: 0.5}, "Fallback is 0.5"},
		{Config{MaxK: -1}, "MaxK is -1"},
		{Config{Steps: -1}, "Steps is -1"},
	} {
		if _, err := Run(says(nil), plain{}, test.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Run(%+v) = %v, want an error with %q", test.cfg, err, test.want)
		}
	}
}

// TestShare holds the interval against values from tables.
func TestShare(t *testing.T) {
	for _, test := range []struct {
		n, total     int
		p, low, high float64
	}{
		{0, 0, 0, 0, 1},
		{0, 10, 0, 0, 0.2775},
		{10, 10, 1, 0.7225, 1},
		{5, 10, 0.5, 0.2366, 0.7634},
		{81, 263, 0.3080, 0.2553, 0.3662}, // a classical example
		{1, 29, 0.0345, 0.0061, 0.1718},
	} {
		p, low, high := share(test.n, test.total)
		if math.Abs(p-test.p) > 1e-4 || math.Abs(low-test.low) > 1e-4 || math.Abs(high-test.high) > 1e-4 {
			t.Errorf("share(%d, %d) = %.4f, %.4f to %.4f, want %.4f, %.4f to %.4f", test.n, test.total, p, low, high, test.p, test.low, test.high)
		}
	}
}
