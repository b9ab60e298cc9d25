package cli

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/model/price"
)

// listedModel is a line of the price table, in dollars per million tokens.
type listedModel struct {
	Model      string  `json:"model"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
	Context    int64   `json:"context,omitempty"`
	MaxOutput  int64   `json:"max_output,omitempty"`
}

// listedProvider is a provider and whether it can be used.
type listedProvider struct {
	Provider string `json:"provider"`
	Variable string `json:"key_variable,omitempty"`
	KeySet   bool   `json:"key_set"`
	Address  string `json:"address,omitempty"`
}

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
			return a.listModels(opts.Config, opts.Prices)
		},
	}
	flags.register(cmd, config.Run, func(d *config.Setting) bool {
		return d.Group == config.Find("model").Group || d.Name == "prices" || d.Name == "red_flags"
	})
	return cmd
}

func (a *app) listModels(cfg maker.Config, table *price.Table) error {
	var providers []listedProvider
	for _, p := range route.Providers() {
		key, err := p.Key(os.Getenv)
		base, baseErr := p.Base(route.Options{BaseURL: cfg.BaseURL, Env: os.Getenv})
		if baseErr != nil {
			base = "" // compat/ without --base-url
		}
		providers = append(providers, listedProvider{p.Name, p.KeyVar, err == nil && key != "", base})
	}
	roles := map[string]string{"reasoning": cfg.Reasoning(), "execution": cfg.Execution(), "cheap": engine.CheapModel(cfg)}
	var list []listedModel
	for name, p := range table.All() {
		perMillion := func(m price.Money) float64 { return m.Times(1e6).USD() }
		list = append(list, listedModel{name, perMillion(p.Input), perMillion(p.Output), perMillion(p.CacheRead), perMillion(p.CacheWrite), p.Context, p.MaxOutput})
	}
	if a.json {
		return a.printJSON(map[string]any{"date": table.Date(), "providers": providers, "roles": roles, "voters": cfg.Voters, "models": list})
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROVIDER\tKEY\tADDRESS")
	for _, p := range providers {
		key := "none needed"
		if p.Variable != "" {
			if key = p.Variable + " is not set"; p.KeySet {
				key = p.Variable + " is set"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.Provider, key, p.Address)
	}
	fmt.Fprintln(w, "sim\tnone needed\tbuilt in")
	fmt.Fprintln(w, "\nROLE\tMODEL")
	for _, r := range []string{"reasoning", "execution", "cheap"} {
		fmt.Fprintf(w, "%s\t%s\n", r, roles[r])
	}
	for _, v := range cfg.Voters {
		fmt.Fprintf(w, "voter\t%s\n", v)
	}
	fmt.Fprintf(w, "\nMODEL ($ per million tokens, %s)\tIN\tOUT\tCACHE READ\tCACHE WRITE\tCONTEXT\tMAX OUTPUT\n", table.Date())
	for _, m := range list {
		fmt.Fprintf(w, "%s\t%g\t%g\t%g\t%g\t%s\t%s\n", m.Model, m.Input, m.Output, m.CacheRead, m.CacheWrite, known(m.Context), known(m.MaxOutput))
	}
	return w.Flush()
}

// known formats a number of tokens that may not be known.
func known(n int64) string {
	if n == 0 {
		return "?"
	}
	return report.Thousands(int(n))
}
