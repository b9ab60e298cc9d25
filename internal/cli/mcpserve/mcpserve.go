// Package mcpserve has the command that serves agents over MCP.
package mcpserve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/mcpserver"
)

// An App is what the command needs of the program.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	LogDir   func() string
	Logger   *slog.Logger
	Attended func() bool // a person is at the terminal

	// See mcpserver.Options.
	Settings func(kind config.Kinds, given map[string][]string) (*maker.Options, error)
	Redact   func(text string) string
}

// flags are those of the command.
type flags struct {
	http  string
	token string // the file that it is in
}

// Command is the command.
func Command(a App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve agents over MCP: tools to ask, map, run, follow and certify",
		Long: `mcp is a server of the Model Context Protocol, with which an agent that you already
use hands over what must be right: a voted question (ask), the same one about many
records (map), a task of many steps (run, script). Long runs return their name, with
which the agent follows them, ends them (cancel) and learns what their votes prove
(certify). Runs go on in this process and are paused when it ends; maker resume RUN
continues them.

The agent cannot answer what a run asks, nor set what is about tools, files, addresses
and approvals, nor raise a limit. Calls that change something wait for you: maker
answer RUN. Settings are those that the commands would have in this folder.

It speaks on stdin and stdout, as clients start it, until stdin ends. With --http it
serves any number of clients on this machine, who need the token that it prints, or
that --token-file names. docs/mcp.md has the lines for clients.`,
		Example: `  claude mcp add maker -- maker mcp
  maker mcp --http 127.0.0.1:7434
  maker mcp --http 127.0.0.1:7434 --token-file ~/.config/maker/mcp-token`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), &f) },
	}
	cmd.Flags().StringVar(&f.http, "http", "", "serve HTTP at this address of this machine instead of stdin and stdout; port 0 takes a free one")
	cmd.Flags().StringVar(&f.token, "token-file", "", "file with the token that clients need, which nobody else can read (default: a new one, printed on stderr)")
	return cmd
}

func (a App) serve(ctx context.Context, f *flags) (err error) {
	if f.http == "" && f.token != "" {
		return &maker.ConfigError{Field: "token_file", Err: errors.New("a token is for --http; on stdin and stdout the client is who started this")}
	}
	engine, err := maker.New(&maker.Options{LogDir: a.LogDir()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	s := mcpserver.New(mcpserver.Options{LogDir: a.LogDir(), Engine: engine, Settings: a.Settings, Redact: a.Redact, Logger: a.Logger})
	defer s.Close()
	if f.http != "" {
		return a.serveHTTP(ctx, s, f)
	}
	if a.Attended() {
		fmt.Fprintln(a.Err, "maker: this speaks MCP on stdin and stdout, for a client that starts it: docs/mcp.md has the lines for yours. Ctrl-C ends it")
	}
	return s.ServeStdio(ctx, a.In, a.Out)
}

func (a App) serveHTTP(ctx context.Context, s *mcpserver.Server, f *flags) error {
	host, _, err := net.SplitHostPort(f.http)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &maker.ConfigError{Field: "http", Err: fmt.Errorf("%q is not an address of this machine alone; want one such as 127.0.0.1:7434", f.http)}
	}
	token, printed := rand.Text(), true
	if f.token != "" {
		printed = false
		if token, err = readToken(f.token); err != nil {
			return &maker.ConfigError{Field: "token_file", Err: err}
		}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", f.http)
	if err != nil {
		return &maker.ConfigError{Field: "http", Err: err}
	}
	fmt.Fprintf(a.Out, "http://%s/mcp\n", l.Addr())
	if printed {
		fmt.Fprintf(a.Err, "token: %s\n", token)
	}
	return s.ServeHTTP(ctx, l, token)
}

// leastToken is how long a token is at least, and mostToken at most.
const leastToken, mostToken = 20, 4096

// readToken reads a token from a file that nobody else can read.
func readToken(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if open := info.Mode().Perm() & 0o077; open != 0 && os.PathSeparator == '/' {
		return "", fmt.Errorf("others can read %s; make it yours alone with: chmod 600 %[1]s", file)
	}
	data, err := io.ReadAll(io.LimitReader(f, mostToken+1))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if len(token) < leastToken || len(data) > mostToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s holds no token: want one word of at least %d characters, such as `openssl rand -hex 32` prints", file, leastToken)
	}
	return token, nil
}
