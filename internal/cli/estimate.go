package cli

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/report"
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
	Success        float64 `json:"p_success"` // that every step is right
	Alone          float64 `json:"p_success_without_voting"`
	SamplesPerStep float64 `json:"samples_per_step"`
	Calls          float64 `json:"calls"`

	Model   string       `json:"model,omitempty"`
	Tokens  usage.Tokens `json:"tokens"`
	CostUSD *float64     `json:"cost_usd"` // nil if it is not known
}

// estimateFlags are what a forecast is made from.
type estimateFlags struct {
	p, v, target  float64
	steps, k      int
	model, prices string
	input, output int64
}

func (a *app) estimate() *cobra.Command {
	var flags estimateFlags
	cmd := &cobra.Command{
		Use:   "estimate --p P --steps N",
		Short: "Forecast the margin, the calls and the cost of a run of many steps",
		Long: `estimate applies the formulas of voting: from how often a sample is right (p) and
valid (v), which maker calibrate measures, and the number of steps, it says by how
many votes an answer must lead (k) for the whole run to be right with a given
chance, how many samples that takes, and what these cost. It asks no model.`,
		Example: `  maker estimate --p 0.99 --steps 1000000
  maker estimate --p 0.9 --v 0.97 --steps 50 --target-error 0.001 --model gpt-4.1-mini --input-tokens 300 --output-tokens 80`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"p", "steps"} {
				if !cmd.Flags().Changed(name) {
					return usageError{fmt.Errorf("--%s is missing; maker calibrate measures p", name)}
				}
			}
			out, err := flags.forecast()
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
	for _, share := range []struct {
		field string
		value float64
	}{{"p", e.p}, {"v", e.v}, {"target_error", e.target}} {
		if !(share.value > 0 && share.value <= 1) {
			return nil, &maker.ConfigError{Field: share.field, Err: fmt.Errorf("%v, want more than 0 and at most 1", share.value)}
		}
	}
	out := &forecast{P: e.p, V: e.v, Steps: e.steps, Target: e.target, K: e.k, Model: e.model}
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
	out.StepError = 1 - vote.StepSuccess(e.p, out.K)
	out.Success = vote.RunSuccess(e.p, out.K, e.steps)
	out.Alone = math.Pow(e.p, float64(e.steps))
	out.SamplesPerStep = vote.ExpectedSamples(e.p, e.v, out.K)
	out.Calls = out.SamplesPerStep * float64(e.steps)
	out.Tokens = usage.Tokens{Input: int64(out.Calls * float64(e.input)), Output: int64(out.Calls * float64(e.output))}
	if e.model == "" {
		return out, nil
	}
	table, err := readPrices(e.prices)
	if err != nil {
		return nil, err
	}
	v, err := route.Open(e.model, route.Options{Env: os.Getenv, Prices: table, Offline: true})
	if err != nil {
		return nil, &maker.ConfigError{Field: "model", Err: err}
	}
	if v.Price != nil {
		usd := v.Price.Cost(out.Tokens).USD()
		out.CostUSD = &usd
	}
	return out, nil
}

func (a *app) printForecast(f *forecast) {
	w := a.Out
	fmt.Fprintf(w, "k           %d\n", f.K)
	fmt.Fprintf(w, "error       %.2g per step, %.2g that any of %s steps is wrong\n", f.StepError, 1-f.Success, report.Thousands(f.Steps))
	fmt.Fprintf(w, "success     %.4f; one sample a step would be right with %.2g\n", f.Success, f.Alone)
	fmt.Fprintf(w, "samples     %.2f per step, %s in all\n", f.SamplesPerStep, report.Thousands(int(math.Round(f.Calls))))
	cost := ""
	if f.Model != "" {
		cost = fmt.Sprintf(", %s with %s", runs.DescribeCost(f.CostUSD), show.Line(f.Model))
	}
	fmt.Fprintf(w, "tokens      %s in, %s out%s\n", report.Thousands(int(f.Tokens.Input)), report.Thousands(int(f.Tokens.Output)), cost)
}
