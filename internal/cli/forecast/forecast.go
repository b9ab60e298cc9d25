// Package forecast says what a run of many voted steps will come to: from one p for all of
// its steps, or from how p differs between items, which a run measured.
package forecast

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/stats"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// Inputs are what a forecast is made from.
type Inputs struct {
	P, V, Target  float64
	Steps, K      int // K is 0 for the smallest margin that reaches the target
	Model         string
	Prices        *price.Table
	Input, Output int64 // tokens of one prompt and of one answer
}

// A Forecast is what a run of many voted steps will take.
type Forecast struct {
	P      float64 `json:"p"`
	V      float64 `json:"v"`
	Steps  int     `json:"steps"`
	Target float64 `json:"target_error"`
	K      int     `json:"k"`

	StepError      float64 `json:"step_error"`
	RunError       float64 `json:"run_error"` // that any step is wrong
	Success        float64 `json:"p_success"` // that every step is right
	Alone          float64 `json:"p_success_without_voting"`
	SamplesPerStep float64 `json:"samples_per_step"`
	Calls          float64 `json:"calls"`

	Model   string       `json:"model,omitempty"`
	Tokens  usage.Tokens `json:"tokens"`
	CostUSD *float64     `json:"cost_usd"` // nil if it is not known

	Assumes string `json:"assumes"` // what the forecast is worth nothing without

	*Measured // of a run that measured the voters

	aloneError float64 // that any of so many single samples is wrong
}

// Measured is what the distribution of p over items adds: intervals.
type Measured struct {
	From           string      `json:"from"`
	Items          int         `json:"items"`
	StepErrorRange event.Range `json:"step_error_range"`
	RunErrorRange  event.Range `json:"run_error_range"`
	Wrong          event.Range `json:"wrong_steps"`
	Reached        bool        `json:"target_reached"` // even at the bad end of the intervals
}

// Alike forecasts from one p for all steps.
func (e *Inputs) Alike() (*Forecast, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if !(e.P > 0 && e.P < 1) {
		return nil, &config.Error{Field: "p", Err: fmt.Errorf("%v, want more than 0 and less than 1: no measurement shows that nobody errs", e.P)}
	}
	out := &Forecast{P: e.P, V: e.V, Steps: e.Steps, Target: e.Target, K: e.K, Model: e.Model, Assumes: allAlike}
	if out.K == 0 {
		k, err := vote.MinK(e.P, e.Steps, 1-e.Target)
		if errors.Is(err, vote.ErrNoMargin) {
			return nil, &config.Error{Field: "p", Err: fmt.Errorf("%v: voters must be right more often than not, no margin is enough", e.P)}
		}
		if err != nil {
			return nil, err
		}
		out.K = k
	}
	out.StepError = vote.StepError(e.P, out.K)
	out.RunError = vote.RunError(e.P, out.K, e.Steps)
	out.Success = vote.RunSuccess(e.P, out.K, e.Steps)
	out.alone(1 - e.P)
	out.SamplesPerStep = vote.ExpectedSamples(e.P, e.V, out.K)
	return out, e.price(out)
}

// allAlike is what one p for all steps assumes.
const allAlike = "every step has this p, samples err independently, and wrong answers agree; maker calibrate --items measures how far that is so"

// check looks at what every forecast needs.
func (e *Inputs) check() error {
	for _, share := range []struct {
		field string
		value float64
	}{{"v", e.V}, {"target_error", e.Target}} {
		if !(share.value > 0 && share.value <= 1) {
			return &config.Error{Field: share.field, Err: fmt.Errorf("%v, want more than 0 and at most 1", share.value)}
		}
	}
	return nil
}

// price says what the samples of a forecast take.
func (e *Inputs) price(out *Forecast) error {
	out.Calls = out.SamplesPerStep * float64(e.Steps)
	out.Tokens = usage.Tokens{Input: int64(out.Calls * float64(e.Input)), Output: int64(out.Calls * float64(e.Output))}
	if e.Model == "" {
		return nil
	}
	v, err := route.Open(e.Model, route.Options{Env: os.Getenv, Prices: e.Prices, Offline: true})
	if err != nil {
		return &config.Error{Field: "model", Err: err}
	}
	if v.Price != nil {
		usd := v.Price.Cost(out.Tokens).USD()
		out.CostUSD = &usd
	}
	return nil
}

// From forecasts from what a run measured. What was not given, by the name of its flag, is
// as it was in that run.
func (e *Inputs) From(r *runs.Result, given func(string) bool) (*Forecast, error) {
	wrong := func(format string, args ...any) error {
		return &config.Error{Field: "from", Err: fmt.Errorf(format, args...)}
	}
	var c *event.Calibrated
	if r.Solve != nil {
		c = r.Solve.Calibrated
	}
	switch {
	case c == nil:
		return nil, wrong("%s measured nothing; maker calibrate --items does", r.Run)
	case c.Measured == nil:
		return nil, wrong("%s knows one p for all and not how it differs between items; maker calibrate --items measures that, or give its p with --p", r.Run)
	case c.Measured.BelowHalf == nil:
		return nil, wrong("%s asked too few items often enough to know how p differs between them: %d, want %d; give it more items, or its p with --p", r.Run, c.Measured.Deep, calibrate.DeepItems)
	}
	if !given("v") {
		e.V = c.V
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	fit := calibrate.Fit(c.Measured.Cells)
	out := &Forecast{P: c.P, V: e.V, Steps: e.Steps, Target: e.Target, K: e.K, Model: e.Model, Assumes: calibrate.DrawnAlike}
	most := max(c.MaxK, e.K)
	if out.K == 0 {
		out.K, _ = fit.MinK(e.Steps, e.Target, most)
	}
	f := fit.Forecast(out.K, e.Steps)
	out.Measured = &Measured{
		From: r.Run, Items: c.Measured.Items,
		StepErrorRange: event.Range(f.StepError), RunErrorRange: event.Range(f.RunError), Wrong: event.Range(f.Wrong),
		Reached: f.RunError.High <= e.Target,
	}
	out.StepError, out.RunError, out.Success = f.StepError.Value, f.RunError.Value, stats.AllRight(f.StepError.Value, e.Steps)
	out.alone(fit.StepError(1).Value) // by the same distribution
	out.SamplesPerStep = f.Votes / e.V
	if calls := float64(r.Usage.Calls); calls > 0 { // what its calls took
		if !given("input-tokens") {
			e.Input = int64(math.Round(float64(r.Usage.Tokens.Total()-r.Usage.Tokens.Output-r.Usage.Tokens.Reasoning) / calls))
		}
		if !given("output-tokens") {
			e.Output = int64(math.Round(float64(r.Usage.Tokens.Output+r.Usage.Tokens.Reasoning) / calls))
		}
	}
	if err := e.price(out); err != nil {
		return nil, err
	}
	if e.Model == "" && r.TotalCostUSD != nil && r.Usage.Calls > 0 {
		usd := *r.TotalCostUSD / float64(r.Usage.Calls) * out.Calls
		out.Model, out.CostUSD = r.Model, &usd
	}
	return out, nil
}

// alone says what one sample a step would come to, which is wrong with a given chance.
func (f *Forecast) alone(chance float64) {
	f.Alone, f.aloneError = stats.AllRight(chance, f.Steps), stats.AnyWrong(chance, f.Steps)
}

// Write shows a forecast to people.
func (f *Forecast) Write(w io.Writer) {
	if m := f.Measured; m != nil {
		fmt.Fprintf(w, "from        %s, %s items\n", m.From, report.Thousands(m.Items))
	}
	fmt.Fprintf(w, "k           %d\n", f.K)
	if m := f.Measured; m == nil {
		fmt.Fprintf(w, "error       %s per step, %s that any of %s steps is wrong\n", report.Chance(f.StepError), report.Chance(f.RunError), report.Thousands(f.Steps))
		fmt.Fprintf(w, "success     %s; one sample a step would be right with %s\n", report.Success(f.RunError), report.Success(f.aloneError))
	} else {
		fmt.Fprintf(w, "error       %s per step (%s to %s)\n", report.Chance(f.StepError), report.Chance(m.StepErrorRange.Low), report.Chance(m.StepErrorRange.High))
		fmt.Fprintf(w, "wrong       %.3g of %s steps; a single run keeps to %.0f to %.0f\n", m.Wrong.Value, report.Thousands(f.Steps), m.Wrong.Low, m.Wrong.High)
		fmt.Fprintf(w, "success     %s (%s to %s); one sample a step would be right with %s\n",
			report.Success(f.RunError), report.Success(m.RunErrorRange.High), report.Success(m.RunErrorRange.Low), report.Success(f.aloneError))
		if !m.Reached {
			fmt.Fprintf(w, "target      an error of %g is NOT assured: at the bad end of what was measured it is %s\n", f.Target, report.Chance(m.RunErrorRange.High))
		}
	}
	fmt.Fprintf(w, "samples     %.2f per step, %s in all\n", f.SamplesPerStep, report.Thousands(int(math.Round(f.Calls))))
	cost := ""
	if f.Model != "" {
		cost = fmt.Sprintf(", %s with %s", runs.DescribeCost(f.CostUSD), show.Line(f.Model))
	}
	fmt.Fprintf(w, "tokens      %s in, %s out%s\n", report.Thousands(int(f.Tokens.Input)), report.Thousands(int(f.Tokens.Output)), cost)
	fmt.Fprintf(w, "assumes     %s\n", f.Assumes)
}
