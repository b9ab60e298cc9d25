package cli

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/mcpserve"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/mcpserver"
	"github.com/maker-mdap/maker/internal/runtime/secret"
)

// agents is what the command that serves agents needs.
func (a *app) agents() mcpserve.App {
	return mcpserve.App{
		In: a.In, Out: a.Out, Err: a.Err, LogDir: func() string { return a.logDir }, Logger: slog.New(warnings{a.Err}),
		Attended: a.hasTerminal, Settings: a.servedOptions, Redact: secret.NewSet(route.AllKeys(os.Getenv)...).Redact,
	}
}

// servedOptions are those that a command would have here, with given ones over them. Each run
// of a server reads them for itself.
func (a *app) servedOptions(kinds config.Kinds, given map[string][]string) (*maker.Options, error) {
	one := &app{
		Streams: Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, logDir: a.logDir, noInput: true, sources: map[string]string{}, server: mcpserver.Wait,
	}
	cmd, flags := &cobra.Command{}, &settings{}
	flags.register(cmd, kinds, nil)
	for name, texts := range given {
		d := config.Find(name)
		if cmd.Flags().Lookup(d.Flag()) == nil {
			return nil, config.Errorf(d.Name, "it cannot be set here")
		}
		for _, text := range texts {
			if err := flags.value(d).Set(text); err != nil {
				return nil, &maker.ConfigError{Field: d.Name, Err: err}
			}
		}
		cmd.Flags().Lookup(d.Flag()).Changed = true
	}
	if err := one.loadSettings(cmd); err != nil {
		return nil, err
	}
	o, err := flags.options(one)
	if err != nil {
		return nil, err
	}
	o.Protected, o.Logger = one.protected.Files, slog.New(warnings{a.Err})
	return o, nil
}
