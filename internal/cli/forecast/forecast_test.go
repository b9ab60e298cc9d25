package forecast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/runs"
)

// a question with its answer
type problem struct {
	text   string
	answer string
}

// additions are problems that the simulator knows.
func additions(r *rand.Rand, n int) []problem {
	list := make([]problem, n)
	for i := range list {
		a, b := 1000+r.IntN(9000), 1000+r.IntN(9000)
		list[i] = problem{fmt.Sprintf("Compute: %d + %d", a, b), fmt.Sprint(a + b)}
	}
	return list
}

// measure calibrates with some problems.
func measure(t *testing.T, model string, problems []problem, as reader.Reader) *runs.Result {
	t.Helper()
	engine, err := maker.New(&maker.Options{Config: maker.Config{Model: model}, LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	var items []maker.Item
	for _, p := range problems {
		items = append(items, maker.Item{Question: p.text, Answer: p.answer})
	}
	run, err := engine.CalibrateItems(t.Context(), "", items, as)
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Result()
	if err != nil || result.Status != event.StatusCompleted {
		t.Fatalf("calibration: %v, %+v", err, result)
	}
	return result
}

// wrongSteps votes on other problems and counts what comes out wrong.
func wrongSteps(t *testing.T, model string, k int, problems []problem, as reader.Reader) int {
	t.Helper()
	chain := maker.Steps[json.RawMessage]{
		Name: "problems", Count: len(problems), As: as,
		Question: func(step int, _ json.RawMessage) (string, error) { return problems[step].text, nil },
	}
	engine, err := maker.New(&maker.Options{
		Config: maker.Config{Model: model, Voting: maker.FirstToK(k)}, LogDir: t.TempDir(), Families: []domain.Family{chain.Family()},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	run, err := engine.Chain(t.Context(), chain.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Result()
	if err != nil || len(result.Steps) != len(problems) {
		t.Fatalf("run: %v, %s, %d steps", err, result.Reason, len(result.Steps))
	}
	wrong := 0
	for i, s := range result.Steps {
		keyOf, want, err := calibrate.Expect(as, json.RawMessage(fmt.Sprintf("%q", problems[i].answer)))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := keyOf(s.Output.JSON); got != want {
			wrong++
		}
	}
	return wrong
}

func notGiven(string) bool { return false }

// TestForecastHolds: what a run does lies within the interval of the forecast, on
// simulators with hard steps and with correlated errors.
func TestForecastHolds(t *testing.T) {
	const items, steps, k = 100, 300, 3
	seeds := 4
	if raceDetector {
		seeds = 1
	}
	for _, world := range []string{
		"p=0.9", "p=0.95&hard=0.05:0.6", "p=0.9&hard=0.1:0.3", "p=0.9&rho=0.3", "p=0.9&rho=0.7", "p=0.85&hard=0.1:0.4&rho=0.3",
	} {
		t.Run(world, func(t *testing.T) {
			for seed := range seeds {
				r := rand.New(rand.NewPCG(uint64(seed), 11))
				model := fmt.Sprintf("sim/default?%s&seed=%d", world, seed)
				measured := measure(t, model, additions(r, items), reader.Number{})
				in := Inputs{Target: 0.01, Steps: steps, K: k}
				f, err := in.From(measured, notGiven)
				if err != nil {
					t.Fatal(err)
				}
				got := wrongSteps(t, model, k, additions(r, steps), reader.Number{})
				t.Logf("seed %d: %d wrong, forecast %.1f (%.0f to %.0f)", seed, got, f.Wrong.Value, f.Wrong.Low, f.Wrong.High)
				if float64(got) < f.Wrong.Low || float64(got) > f.Wrong.High {
					t.Errorf("seed %d: %d steps of %d are wrong, the forecast is %.1f (%.0f to %.0f)", seed, got, steps, f.Wrong.Value, f.Wrong.Low, f.Wrong.High)
				}
			}
		})
	}
}

// TestNoGainIsTrue: voters that always say yes are said to gain nothing from a vote, and
// they gain nothing.
func TestNoGainIsTrue(t *testing.T) {
	script := filepath.Join(t.TempDir(), "yes.yaml")
	rules := "- match: 'Is (thing \\d+) an animal'\n  right: {text: 'yes'}\n  wrong: [{text: 'no'}]\n"
	if err := os.WriteFile(script, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	things := func(from, n int) []problem {
		var list []problem
		for i := range n {
			list = append(list, problem{fmt.Sprintf("Is thing %d an animal?", from+i), []string{"yes", "no"}[i%2]})
		}
		return list
	}
	as := reader.OneOf{Options: []string{"yes", "no"}}
	for seed := range 5 {
		model := fmt.Sprintf("sim/default?p=0.98&seed=%d&script=%s", seed, script)
		m := measure(t, model, things(0, 120), as).Solve.Calibrated
		if m.Measured.Gain != calibrate.NoGain || !strings.Contains(m.Measured.Says[0], "gains nothing") {
			t.Errorf("seed %d: it says %q", seed, m.Measured.Says)
		}
		const steps = 400
		wrong := wrongSteps(t, model, 3, things(1000, steps), as)
		if right := 1 - float64(wrong)/steps; right > 0.52 {
			t.Errorf("seed %d: a vote is right on %.3f, want about one half", seed, right)
		}
	}
}

// TestFromWithoutDistribution: what was not measured is not forecast.
func TestFromWithoutDistribution(t *testing.T) {
	for want, r := range map[string]*runs.Result{
		"measured nothing":     {Run: "hanoi-1"},
		"one p for all":        {Run: "calibrate-1", Solve: &runs.SolveFigures{Calibrated: &event.Calibrated{P: 0.9}}},
		"too few items":        {Run: "calibrate-items-1", Solve: &runs.SolveFigures{Calibrated: &event.Calibrated{P: 0.9, Measured: &event.Measured{Deep: 7}}}},
		"7, want 50; give it ": {Run: "calibrate-items-1", Solve: &runs.SolveFigures{Calibrated: &event.Calibrated{P: 0.9, Measured: &event.Measured{Deep: 7}}}},
	} {
		in := Inputs{Target: 0.01, Steps: 10, V: 1}
		if _, err := in.From(r, notGiven); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), r.Run) {
			t.Errorf("From(%s): %v, want %q", r.Run, err, want)
		}
	}
}

// TestOneSampleIsOneSample: a vote with margin 1 is one sample, and is forecast like it,
// even if none of the samples was wrong, or none right.
func TestOneSampleIsOneSample(t *testing.T) {
	for _, right := range []int{0, 3, 5} {
		r := &runs.Result{Run: "calibrate-items-1", Solve: &runs.SolveFigures{Calibrated: &event.Calibrated{
			P: float64(right) / 5, V: 1, MaxK: 10, Measured: &event.Measured{
				Items: 80, Deep: 80, BelowHalf: &event.Range{}, Cells: []event.Cell{{Right: right, Valid: 5, Items: 80}},
			},
		}}}
		for _, steps := range []int{1, 10, 100} {
			in := Inputs{Target: 0.01, Steps: steps, K: 1}
			f, err := in.From(r, notGiven)
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			f.Write(&text)
			_, success, _ := strings.Cut(text.String(), "success     ")
			success, alone, _ := strings.Cut(success, "; one sample a step would be right with ")
			success, _, _ = strings.Cut(success, " (")
			alone, _, _ = strings.Cut(alone, "\n")
			if f.Success != f.Alone || success != alone || !(f.Alone < 1) || strings.Contains(text.String(), "1e-300") {
				t.Errorf("%d of 5 right, %d steps: success %q (%v), one sample %q (%v), want the same:\n%s", right, steps, success, f.Success, alone, f.Alone, text.String())
			}
		}
	}
}

// TestNoErrorIsZero: whatever p is, an error is never printed as 0, nor success as 1.
func TestNoErrorIsZero(t *testing.T) {
	for _, p := range []float64{0.51, 0.9, 0.9999, 1 - 1e-12, 1 - 1e-16} {
		for _, k := range []int{1, 6, 20, 1000} {
			in := Inputs{P: p, V: 1, Target: 0.01, Steps: 10, K: k}
			f, err := in.Alike()
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			f.Write(&text)
			if !(f.StepError > 0 && f.RunError >= f.StepError) || strings.Contains(text.String(), " 0 per") || strings.Contains(text.String(), " 0 that") || strings.Contains(text.String(), "1.0000") {
				t.Errorf("p = %v, k = %d: errors %v and %v:\n%s", p, k, f.StepError, f.RunError, text.String())
			}
			if !strings.Contains(text.String(), "assumes  ") {
				t.Errorf("the forecast does not say what it assumes:\n%s", text.String())
			}
		}
	}
	in := Inputs{P: 1, V: 1, Target: 0.01, Steps: 10}
	if _, err := in.Alike(); err == nil {
		t.Error("p = 1 gives a forecast")
	}
}
