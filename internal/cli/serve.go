package cli

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/mcpserve"
	"github.com/maker-mdap/maker/internal/cli/serving"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/runtime/secret"
)

func (a *app) serveSim() *cobra.Command {
	cmd := serving.Sim(a.serving())
	cmd.Annotations = map[string]string{ownSettings: "MAKER_MODEL is the asker's, not the server's"}
	return cmd
}

func (a *app) serve() *cobra.Command {
	cmd := serving.Serve(a.serving())
	cmd.PreRun = func(*cobra.Command, []string) { collectAt(100) } // many may follow: more is alive
	return cmd
}

// serving is what the commands that serve HTTP need.
func (a *app) serving() serving.App {
	return serving.App{
		Out: a.Out, Err: a.Err, LogDir: func() string { return a.logDir }, Logger: slog.New(warnings{a.Err}),
		Usage:    func(err error) error { return usageError{err} },
		Settings: a.servedOptions, Resuming: a.servedResume,
		Remember: func(rule string) error {
			_, err := settingsfile.Remember(rule)
			return err
		},
		Models: settingsfile.AllModels,
		Redact: secret.NewSet(route.AllKeys(os.Getenv)...).Redact,
	}
}

// agents is what the command that serves agents needs.
func (a *app) agents() mcpserve.App {
	return mcpserve.App{
		In: a.In, Out: a.Out, Err: a.Err, LogDir: func() string { return a.logDir }, Logger: slog.New(warnings{a.Err}),
		Attended: a.hasTerminal, Settings: a.servedOptions, Redact: secret.NewSet(route.AllKeys(os.Getenv)...).Redact,
	}
}

// servedSettings are those that a command would have here, with given ones over them. Each run
// of a server reads them for itself.
func (a *app) servedSettings(cmd *cobra.Command, kinds config.Kinds, given map[string][]string, pick func(*config.Setting) bool) (*settings, *maker.Options, error) {
	one := &app{
		Streams: Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, logDir: a.logDir, noInput: true, sources: map[string]string{}, server: maker.AnsweredElsewhere,
	}
	flags := &settings{}
	flags.register(cmd, kinds, pick)
	if kinds&config.Chain != 0 {
		flags.initially("model", "sim/default")
	}
	for name, texts := range given {
		d := config.Find(name)
		if cmd.Flags().Lookup(d.Flag()) == nil {
			return nil, nil, config.Errorf(d.Name, "it cannot be set here")
		}
		for _, text := range texts {
			if err := flags.value(d).Set(text); err != nil {
				return nil, nil, &maker.ConfigError{Field: d.Name, Err: err}
			}
		}
		cmd.Flags().Lookup(d.Flag()).Changed = true
	}
	if err := one.loadSettings(cmd); err != nil {
		return nil, nil, err
	}
	o, err := flags.options(one)
	if err != nil {
		return nil, nil, err
	}
	o.Protected, o.Logger = one.protected.Files, slog.New(warnings{a.Err})
	return flags, o, nil
}

// servedOptions are those of a run that a server starts.
func (a *app) servedOptions(kinds config.Kinds, given map[string][]string) (*maker.Options, error) {
	flags, o, err := a.servedSettings(&cobra.Command{}, kinds, given, nil)
	if err == nil && kinds == config.Do {
		if o.Config.Outline.OnFailure = flags.onFailure; flags.onFailure == "replan" {
			err = &maker.ConfigError{Field: "on_failure", Err: errors.New("an outline has no plan to make anew; want stop or continue")}
		}
	}
	return o, err
}

// servedResume are the options of a run that a server goes on with, and what they change.
func (a *app) servedResume(given map[string][]string) (*maker.Options, func(*maker.Config), error) {
	cmd := &cobra.Command{Annotations: map[string]string{ownSettings: ofTheRun}}
	flags, o, err := a.servedSettings(cmd, config.All, given, func(d *config.Setting) bool { return !d.Stays && d.Name != "max_rounds" })
	if err != nil {
		return nil, nil, err
	}
	return o, func(c *maker.Config) { flags.change(c, o) }, nil
}
