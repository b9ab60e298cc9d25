// Package serving has the commands that serve HTTP.
package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
	"github.com/maker-mdap/maker/internal/server"
	"github.com/maker-mdap/maker/internal/server/access"
	"github.com/maker-mdap/maker/internal/server/gateway"
	page "github.com/maker-mdap/maker/internal/web"
)

// An App is what the commands need of the program.
type App struct {
	Out, Err io.Writer
	LogDir   func() string
	Logger   *slog.Logger
	Usage    func(error) error // makes an error one about usage

	// See server.Options.
	Settings func(kind config.Kinds, given map[string][]string) (*maker.Options, error)
	Resuming func(given map[string][]string) (*maker.Options, func(*maker.Config), error)
	Remember func(rule string) error
	Redact   func(text string) string
	Models   func() (map[string]string, error) // names for models of the gateway; nil for none
}

// DefaultListen is where the server listens if nothing is said.
const DefaultListen = "127.0.0.1:7433"

// Serve is the command that owns runs.
func Serve(a App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve runs over HTTP: start, follow, pause, resume, cancel and answer them",
		Long: `serve owns runs, for people and programs. Over HTTP they are started, listed,
followed, paused, resumed, cancelled and answered: those that it starts, and those of
other processes in the same folder of runs too. A run that waits for a person is
answered while it goes on. GET /api/openapi.json describes the API.

It prints a link on stdout and runs until it is interrupted. Whoever opens the link,
once and within five minutes, may do everything. Programs need a token: see maker token.
An address that others can reach needs at least one, and should have TLS.

When it is interrupted, it pauses its runs, and everything committed is kept; with
--resume the next one goes on with them, also if it was killed. Settings of runs are
those that their commands would have in this folder, with what a request says over them.
docs/server.md has more.`,
		Example: `  maker serve
  maker serve --listen 127.0.0.1:0 --resume
  maker serve --listen 0.0.0.0:7433 --tls-cert cert.pem --tls-key key.pem --host runs.example.org`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), &f) },
	}
	cmd.Flags().StringVar(&f.listen, "listen", DefaultListen, "address to listen on; port 0 takes a free one")
	cmd.Flags().BoolVar(&f.resume, "resume", false, "go on with the runs that a server here was doing when it was ended or killed")
	f.register(cmd)
	return cmd
}

// flags are those of the command.
type flags struct {
	listen          string
	resume          bool
	tokenFile       string
	tlsCert, tlsKey string
	hosts           []string
}

// shutdownTime is how long those have who are being answered.
const shutdownTime = 5 * time.Second

func (a App) serve(ctx context.Context, f *flags) error {
	e, err := a.enter(f)
	if err != nil {
		return err
	}
	named, model, err := a.models()
	if err != nil {
		return a.Usage(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", f.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%s is taken by another process, perhaps by another maker serve; --listen %s takes a free port", f.listen, freePort(f.listen))
	}
	if err != nil {
		return &maker.ConfigError{Field: "listen", Err: err}
	}
	guard, err := a.guard(f, e, l.Addr().String())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	engine, err := maker.New(&maker.Options{LogDir: a.LogDir()})
	if err != nil {
		return errors.Join(err, guard.Close(), l.Close())
	}
	s := server.New(guard.options(server.Options{
		LogDir: a.LogDir(), Engine: engine, Models: named, Model: model, Settings: a.Settings, Resuming: a.Resuming, Remember: a.Remember, Redact: a.Redact, Logger: a.Logger,
		Page: page.Handler(),
	}))
	web := access.NewServer(s)
	ended := make(chan error, 1)
	go func() { ended <- access.Serve(web, l, e.tls) }()
	fmt.Fprintln(a.Err, "open this link within five minutes; it works once, and `maker token link` prints another:")
	fmt.Fprintln(a.Out, guard.NewLink())
	if f.resume {
		names, err := s.Resume(ctx)
		for _, name := range names {
			fmt.Fprintf(a.Err, "goes on with %s\n", name)
		}
		if err != nil {
			fmt.Fprintf(a.Err, "maker: warning: not everything goes on: %v\n", err)
		}
	}
	if err := guard.settleOld(); err != nil {
		fmt.Fprintf(a.Err, "maker: warning: budgets are not up to date: %v\n", err)
	}
	select {
	case err = <-ended: // which it does not by itself
	case <-ctx.Done():
		err = a.shutDown(web, s)
	}
	return errors.Join(err, engine.Close(), guard.Close())
}

// models are those of the gateway: with a name of their own, and the one that settings name.
func (a App) models() (named map[string]string, model string, err error) {
	if a.Models != nil {
		if named, err = a.Models(); err != nil {
			return nil, "", err
		}
	}
	for name, spec := range named {
		if _, err := gateway.ParseModel(strings.TrimPrefix(spec, gateway.Prefix)); err != nil {
			return nil, "", fmt.Errorf("%s: %s: %w", settingsfile.ModelsKey, name, err)
		}
	}
	o, err := a.Settings(config.Sessions, nil)
	if err != nil {
		return nil, "", err
	}
	return named, o.Config.Model, nil
}

// shutDown stops accepting, pauses the runs, lets followers hear of it, and ends.
func (a App) shutDown(web *http.Server, s *server.Server) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- web.Shutdown(ctx) }() // it stops accepting at once
	s.Close()
	timer := time.AfterFunc(shutdownTime, cancel) // for those who do not go
	defer timer.Stop()
	if err := <-stopped; err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return web.Close()
}

// freePort is an address with a port that the system chooses.
func freePort(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "127.0.0.1:0"
	}
	return net.JoinHostPort(strings.TrimSpace(host), "0")
}
