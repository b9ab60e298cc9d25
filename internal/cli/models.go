package cli

import (
	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/pricelist"
)

func (a *app) models() *cobra.Command {
	var flags settings
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List prices, providers and the models in use",
		Long: `models lists the providers and whether their keys are set, the models that the
settings come to for each role, and the price table with its date.`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			opts, err := flags.options(a)
			if err != nil {
				return err
			}
			list := pricelist.Of(opts.Config, opts.Prices)
			if a.json {
				return a.printJSON(list)
			}
			return list.Print(a.Out)
		},
	}
	flags.register(cmd, config.Run, func(d *config.Setting) bool {
		return d.Group == config.Find("model").Group || d.Name == "prices" || d.Name == "red_flags"
	})
	return cmd
}
