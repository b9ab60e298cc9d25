package cli

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/stats"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// forecast is what a run of many voted steps will take.
type forecast struct {
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

	*measuredForecast // of a run that measured the voters
}

// measuredForecast is what the distribution of p over items adds: intervals.
type measuredForecast struct {
	From           string      `json:"from"`
	Items          int         `json:"items"`
	StepErrorRange event.Range `json:"step_error_range"`
	RunErrorRange  event.Range `json:"run_error_range"`
	Wrong          event.Range `json:"wrong_steps"`
	Reached        bool        `json:"target_reached"` // even at the bad end of the intervals
}

// estimateFlags are what a forecast is made from.
type estimateFlags struct {
	p, v, target  float64
	steps, k      int
	model, prices string
	input, output int64
	from          string
}

func (a *app) estimate() *cobra.Command {
	var flags estimateFlags
	cmd := &cobra.Command{
		Use:   "estimate (--from RUN | --p P) --steps N",
		Short: "Forecast the margin, the calls and the cost of a run of many steps",
		Long: `estimate applies the formulas of voting: from how often a sample is right (p) and
valid (v), which maker calibrate measures, and the number of steps, it says by how
many votes an answer must lead (k) for the whole run to be right with a given
chance, how many samples that takes, and what these cost. It asks no model.

--from forecasts from a run of maker calibrate --items: from how p differs between its
items, which one p for all cannot tell, with intervals.`,
		Example: `  maker estimate --from calibrate-items-20260102 --steps 1000
  maker estimate --p 0.99 --steps 1000000
  maker estimate --p 0.9 --v 0.97 --steps 50 --target-error 0.001 --model gpt-4.1-mini --input-tokens 300 --output-tokens 80`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := cmd.Flags().Changed
			switch {
			case given("from") && given("p"):
				return usageError{errors.New("--from and --p: p is what the run measured, item by item")}
			case !given("from") && !given("p"):
				return usageError{errors.New("--p is missing; maker calibrate measures p, and --from takes it from there")}
			case !given("steps"):
				return usageError{errors.New("--steps is missing: of how many voted steps is the run?")}
			}
			make := flags.forecast
			if given("from") {
				make = func() (*forecast, error) { return flags.forecastFrom(a, given) }
			}
			out, err := make()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(out)
			}
			a.printForecast(out)
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&flags.from, "from", "", "run of maker calibrate --items whose distribution counts")
	numberFlag(f, &flags.p, "p", "", "0", 0, "chance that a valid answer is right")
	numberFlag(f, &flags.v, "v", "", "1", 0, "chance that an answer is valid")
	numberFlag(f, &flags.steps, "steps", "", "0", 1, "voted steps of the run")
	numberFlag(f, &flags.target, "target-error", "", "0.01", 0, "chance to accept that any step is wrong")
	numberFlag(f, &flags.k, "ahead-by", "k", "0", 0, "margin (0: the smallest that reaches the target)")
	f.StringVarP(&flags.model, "model", "m", "", "model whose price counts")
	f.StringVar(&flags.prices, "prices", "", config.Find("prices").Help)
	numberFlag(f, &flags.input, "input-tokens", "", "300", 0, "tokens of one prompt")
	numberFlag(f, &flags.output, "output-tokens", "", "100", 0, "tokens of one answer")
	return cmd
}

func (e *estimateFlags) forecast() (*forecast, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if !(e.p > 0 && e.p < 1) {
		return nil, &maker.ConfigError{Field: "p", Err: fmt.Errorf("%v, want more than 0 and less than 1: no measurement shows that nobody errs", e.p)}
	}
	out := &forecast{P: e.p, V: e.v, Steps: e.steps, Target: e.target, K: e.k, Model: e.model, Assumes: allAlike}
	if out.K == 0 {
		k, err := vote.MinK(e.p, e.steps, 1-e.target)
		if errors.Is(err, vote.ErrNoMargin) {
			return nil, &maker.ConfigError{Field: "p", Err: fmt.Errorf("%v: voters must be right more often than not, no margin is enough", e.p)}
		}
		if err != nil {
			return nil, err
		}
		out.K = k
	}
	out.StepError = vote.StepError(e.p, out.K)
	out.RunError = vote.RunError(e.p, out.K, e.steps)
	out.Success = vote.RunSuccess(e.p, out.K, e.steps)
	out.Alone = math.Pow(e.p, float64(e.steps))
	out.SamplesPerStep = vote.ExpectedSamples(e.p, e.v, out.K)
	return out, e.price(out)
}

// allAlike is what one p for all steps assumes.
const allAlike = "every step has this p, samples err independently, and wrong answers agree; maker calibrate --items measures how far that is so"

// check looks at what every forecast needs.
func (e *estimateFlags) check() error {
	for _, share := range []struct {
		field string
		value float64
	}{{"v", e.v}, {"target_error", e.target}} {
		if !(share.value > 0 && share.value <= 1) {
			return &maker.ConfigError{Field: share.field, Err: fmt.Errorf("%v, want more than 0 and at most 1", share.value)}
		}
	}
	return nil
}

// price says what the samples of a forecast take.
func (e *estimateFlags) price(out *forecast) error {
	out.Calls = out.SamplesPerStep * float64(e.steps)
	out.Tokens = usage.Tokens{Input: int64(out.Calls * float64(e.input)), Output: int64(out.Calls * float64(e.output))}
	if e.model == "" {
		return nil
	}
	table, err := readPrices(e.prices)
	if err != nil {
		return err
	}
	v, err := route.Open(e.model, route.Options{Env: os.Getenv, Prices: table, Offline: true})
	if err != nil {
		return &maker.ConfigError{Field: "model", Err: err}
	}
	if v.Price != nil {
		usd := v.Price.Cost(out.Tokens).USD()
		out.CostUSD = &usd
	}
	return nil
}

// forecastFrom forecasts from what a run measured.
func (e *estimateFlags) forecastFrom(a *app, given func(string) bool) (*forecast, error) {
	run, err := a.open(e.from)
	if err != nil {
		return nil, err
	}
	r, err := run.Result()
	if err != nil {
		return nil, err
	}
	wrong := func(format string, args ...any) error {
		return &maker.ConfigError{Field: "from", Err: fmt.Errorf(format, args...)}
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
		e.v = c.V
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	fit := calibrate.Fit(c.Measured.Cells)
	out := &forecast{P: c.P, V: e.v, Steps: e.steps, Target: e.target, K: e.k, Model: e.model, Assumes: calibrate.DrawnAlike}
	most := max(c.MaxK, e.k)
	if out.K == 0 {
		out.K, _ = fit.MinK(e.steps, e.target, most)
	}
	f := fit.Forecast(out.K, e.steps)
	out.measuredForecast = &measuredForecast{
		From: r.Run, Items: c.Measured.Items,
		StepErrorRange: event.Range(f.StepError), RunErrorRange: event.Range(f.RunError), Wrong: event.Range(f.Wrong),
		Reached: f.RunError.High <= e.target,
	}
	out.StepError, out.RunError, out.Success = f.StepError.Value, f.RunError.Value, 1-f.RunError.Value
	out.Alone = math.Pow(c.P, float64(e.steps))
	out.SamplesPerStep = f.Votes / e.v
	if calls := float64(r.Usage.Calls); calls > 0 { // what its calls took
		if !given("input-tokens") {
			e.input = int64(math.Round(float64(r.Usage.Tokens.Total()-r.Usage.Tokens.Output-r.Usage.Tokens.Reasoning) / calls))
		}
		if !given("output-tokens") {
			e.output = int64(math.Round(float64(r.Usage.Tokens.Output+r.Usage.Tokens.Reasoning) / calls))
		}
	}
	if err := e.price(out); err != nil {
		return nil, err
	}
	if e.model == "" && r.TotalCostUSD != nil && r.Usage.Calls > 0 {
		usd := *r.TotalCostUSD / float64(r.Usage.Calls) * out.Calls
		out.Model, out.CostUSD = r.Model, &usd
	}
	return out, nil
}

// alone is the chance that one sample a step is right every time.
func alone(f *forecast) string {
	if f.Alone < 0.5 {
		return report.Chance(f.Alone)
	}
	return report.Success(stats.AnyWrong(1-f.P, f.Steps))
}

func (a *app) printForecast(f *forecast) {
	w := a.Out
	if m := f.measuredForecast; m != nil {
		fmt.Fprintf(w, "from        %s, %s items\n", m.From, report.Thousands(m.Items))
	}
	fmt.Fprintf(w, "k           %d\n", f.K)
	if m := f.measuredForecast; m == nil {
		fmt.Fprintf(w, "error       %s per step, %s that any of %s steps is wrong\n", report.Chance(f.StepError), report.Chance(f.RunError), report.Thousands(f.Steps))
		fmt.Fprintf(w, "success     %s; one sample a step would be right with %s\n", report.Success(f.RunError), alone(f))
	} else {
		fmt.Fprintf(w, "error       %s per step (%s to %s)\n", report.Chance(f.StepError), report.Chance(m.StepErrorRange.Low), report.Chance(m.StepErrorRange.High))
		fmt.Fprintf(w, "wrong       %.3g of %s steps; a single run keeps to %.0f to %.0f\n", m.Wrong.Value, report.Thousands(f.Steps), m.Wrong.Low, m.Wrong.High)
		fmt.Fprintf(w, "success     %s (%s to %s); one sample a step would be right with %s\n",
			report.Success(f.RunError), report.Success(m.RunErrorRange.High), report.Success(m.RunErrorRange.Low), alone(f))
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
