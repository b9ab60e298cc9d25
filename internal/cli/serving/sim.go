package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
)

// Sim is the command that serves the simulated models.
func Sim(a App) *cobra.Command {
	var addr, name string
	var public, requireKey bool
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve the simulated models over HTTP",
		Long: `sim serves the simulator over the wire formats of OpenAI (POST
/v1/chat/completions) and Anthropic (POST /v1/messages), streaming and not, on
loopback. It prints the base address on stdout and runs until it is interrupted.

A request whose model is a sim/... name brings its own settings; any other name
uses those of --model. GET /stats counts what happened.`,
		Example: `  maker sim --addr 127.0.0.1:8089 --model 'sim/default?p=0.99&latency=40ms,1&f429=0.1' &
  maker hanoi --disks 8 --base-url http://127.0.0.1:8089/v1 --model compat/default`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := sim.Parse(name)
			if err != nil {
				return &maker.ConfigError{Field: "model", Err: err}
			}
			handler, err := simserver.Handler(simserver.Options{Default: settings, RequireKey: requireKey})
			if err != nil {
				return &maker.ConfigError{Field: "model", Err: err}
			}
			if err := checkLoopback(addr, public); err != nil {
				return &maker.ConfigError{Field: "addr", Err: err}
			}
			return a.serveSim(cmd.Context(), addr, handler)
		},
	}
	f := cmd.Flags()
	f.StringVar(&addr, "addr", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	f.StringVarP(&name, "model", "m", "sim/default", "settings for requests that bring none")
	f.BoolVar(&public, "public", false, "allow an address that is not loopback")
	f.BoolVar(&requireKey, "require-key", false, "refuse requests without an API key")
	return cmd
}

func checkLoopback(addr string, public bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not host:port", addr)
	}
	if ip := net.ParseIP(host); public || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q is not loopback; add --public if the simulator is meant to be reached from elsewhere", addr)
}

func (a App) serveSim(ctx context.Context, addr string, handler *simserver.Server) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return &maker.ConfigError{Field: "addr", Err: err}
	}
	server := &http.Server{
		Handler: handler, ConnState: handler.ConnState,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	stopped := context.AfterFunc(ctx, func() { server.Close() })
	defer stopped()
	fmt.Fprintf(a.Out, "http://%s/v1\n", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
