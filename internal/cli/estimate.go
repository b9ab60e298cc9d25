package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/forecast"
)

func (a *app) estimate() *cobra.Command {
	var in forecast.Inputs
	var from, prices string
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
			var err error
			if in.Prices, err = readPrices(prices); err != nil {
				return err
			}
			out, err := a.forecast(&in, from, given)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(out)
			}
			out.Write(a.Out)
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&from, "from", "", "run of maker calibrate --items whose distribution counts")
	numberFlag(f, &in.P, "p", "", "0", 0, "chance that a valid answer is right")
	numberFlag(f, &in.V, "v", "", "1", 0, "chance that an answer is valid")
	numberFlag(f, &in.Steps, "steps", "", "0", 1, "voted steps of the run")
	numberFlag(f, &in.Target, "target-error", "", "0.05", 0, "chance to accept that any step is wrong")
	numberFlag(f, &in.K, "ahead-by", "k", "0", 0, "margin (0: the smallest that reaches the target)")
	f.StringVarP(&in.Model, "model", "m", "", "model whose price counts")
	f.StringVar(&prices, "prices", "", config.Find("prices").Help)
	numberFlag(f, &in.Input, "input-tokens", "", "300", 0, "tokens of one prompt")
	numberFlag(f, &in.Output, "output-tokens", "", "100", 0, "tokens of one answer")
	return cmd
}

// forecast makes a forecast, from a run if one is named.
func (a *app) forecast(in *forecast.Inputs, from string, given func(string) bool) (*forecast.Forecast, error) {
	if from == "" {
		return in.Alike()
	}
	run, err := a.open(from)
	if err != nil {
		return nil, err
	}
	result, err := run.Result()
	if err != nil {
		return nil, err
	}
	return in.From(result, given)
}
