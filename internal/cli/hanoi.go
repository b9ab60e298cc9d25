package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain/hanoi"
)

func (a *app) hanoi() *cobra.Command {
	var params hanoi.Params
	var flags settings
	check := true
	cmd := &cobra.Command{
		Use:   "hanoi --disks N",
		Short: "Solve the Towers of Hanoi, one voted move a step",
		Long: `hanoi runs the paper's task: the Towers of Hanoi with N disks takes 2^N - 1
moves, and each is decided by a vote of agents that see only the rules, the
previous move and the current state. One wrong move spoils the whole run.

The default model is the built-in simulator, which needs no key and costs
nothing. Its settings ride in its name: with p=0.99 a single answer is right 99
times in 100. See docs/simulator.md.`,
		Example: `  maker hanoi --disks 10
  maker hanoi --disks 12 --ahead-by 1 --model 'sim/default?p=0.99'   # fails, and says where
  maker hanoi --disks 20 --model 'sim/default?p=0.9978&malformed=0.032'
  maker hanoi --disks 8 --model openai/gpt-4.1-mini --max-usd 1`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("disks") {
				return usageError{errors.New("--disks is missing: how many? 10 take a moment, 20 a million steps")}
			}
			if err := params.Validate(); err != nil {
				return &maker.ConfigError{Field: "disks", Err: err}
			}
			params.NoCheck = !check
			// The paper's voters write text: JSON is only for those who ask for it.
			params.JSON = flags.config.StructuredMode == "json_schema" || flags.config.StructuredMode == "json_object"
			return a.start(cmd.Context(), &flags, func(e *maker.Engine) (*maker.Run, error) {
				return e.Chain(cmd.Context(), hanoi.Name, params)
			})
		},
	}
	f := cmd.Flags()
	numberFlag(f, &params.Disks, "disks", "n", "0", 1, fmt.Sprintf("number of disks, 1 to %d", hanoi.MaxDisks))
	f.BoolVar(&params.Verify, "verify", false, "discard illegal and inconsistent answers as red flags")
	f.BoolVar(&check, "check", true, "stop at the first committed move that is not the solution's")
	flags.register(cmd, config.Chain, nil)
	flags.initially("model", "sim/default")
	return cmd
}
