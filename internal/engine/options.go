package engine

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/engine/toolbox"
	"github.com/maker-mdap/maker/internal/version"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
)

// Version is the version of this module.
var Version = version.String()

// DefaultLogDir is the folder of runs if none is named.
const DefaultLogDir = "runs"

// Options are those of package maker, which says what each is for.
type Options struct {
	Config    config.Config
	LogDir    string
	Owner     string
	Keeper    string
	Hold      func(dir string)
	Families  []domain.Family
	Domains   map[string]domain.Adapter
	Prices    *price.Table
	Record    string
	Protected []string
	Confined  bool
	Tools     []tool.Tool
	Modules   func(builtin kind.Modules) []flow.Module
	Decide    vote.Decider
	RedFlag   func(q *flow.Question, a *redflag.Answer) *redflag.Flag
	Ask       func(ctx context.Context, q flow.HumanQuestion) (string, error)
	Answers   []byte
	Transport http.RoundTripper
	Env       func(string) string
	Logger    *slog.Logger
}

func (o Options) withDefaults() Options {
	o.LogDir = cmp.Or(o.LogDir, DefaultLogDir)
	o.Families = append([]domain.Family{hanoi.Family()}, o.Families...)
	if o.Prices == nil {
		o.Prices = price.Default()
	}
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// configFor completes a configuration for a kind of run and checks it.
func configFor(cfg config.Config, k config.Kinds) (config.Config, error) {
	cfg = cfg.WithDefaults(k)
	if err := cfg.Check(k); err != nil {
		return cfg, err
	}
	_, err := toolbox.Policy(cfg.Tools)
	return cfg, err
}

// checkGiven checks what is said in a configuration, whatever the run will be about.
func checkGiven(cfg config.Config) error {
	if err := cfg.CheckGiven(); err != nil {
		return err
	}
	_, err := toolbox.Policy(cfg.Tools)
	return err
}

// inFlight bounds the samples of one question in flight. The claude program takes a
// processor and much memory for each.
func inFlight(cfg config.Config) int {
	const programs = 4
	if cfg.Agent == config.AgentClaudeCode {
		return min(cfg.BatchSize, programs)
	}
	return cfg.BatchSize
}
