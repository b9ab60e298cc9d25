// Package pricelist says which models there are, who provides them and what they cost.
package pricelist

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/model/price"
)

// A List is what there is to say, as JSON has it.
type List struct {
	Date      string            `json:"date"`
	Providers []listedProvider  `json:"providers"`
	Roles     map[string]string `json:"roles"`
	Voters    []string          `json:"voters"`
	Models    []listedModel     `json:"models"`
}

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

// Of lists what a configuration comes to, with the prices of a table.
func Of(cfg config.Config, table *price.Table) List {
	l := List{Date: table.Date(), Voters: cfg.Voters}
	for _, p := range route.Providers() {
		key, err := p.Key(os.Getenv)
		base, baseErr := p.Base(route.Options{BaseURL: cfg.BaseURL, Env: os.Getenv})
		if baseErr != nil {
			base = "" // compat/ without --base-url
		}
		l.Providers = append(l.Providers, listedProvider{p.Name, p.KeyVar, err == nil && key != "", base})
	}
	l.Roles = map[string]string{"reasoning": cfg.Reasoning(), "execution": cfg.Execution(), "cheap": engine.CheapModel(cfg)}
	for name, p := range table.All() {
		perMillion := func(m price.Money) float64 { return m.Times(1e6).USD() }
		l.Models = append(l.Models, listedModel{name, perMillion(p.Input), perMillion(p.Output), perMillion(p.CacheRead), perMillion(p.CacheWrite), p.Context, p.MaxOutput})
	}
	return l
}

// Print prints it for people.
func (l List) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROVIDER\tKEY\tADDRESS")
	for _, p := range l.Providers {
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
		fmt.Fprintf(w, "%s\t%s\n", r, l.Roles[r])
	}
	for _, v := range l.Voters {
		fmt.Fprintf(w, "voter\t%s\n", v)
	}
	fmt.Fprintf(w, "\nMODEL ($ per million tokens, %s)\tIN\tOUT\tCACHE READ\tCACHE WRITE\tCONTEXT\tMAX OUTPUT\n", l.Date)
	for _, m := range l.Models {
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
