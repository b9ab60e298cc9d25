package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/engine/toolbox"
	"github.com/maker-mdap/maker/internal/process/sandbox"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/tool/mcp"
)

// check is one line of a doctor's report.
type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Needed bool   `json:"needed"` // without it nothing works
	Detail string `json:"detail"`
}

func (a *app) doctor() *cobra.Command {
	var online bool
	var baseURL, mcpConfig string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is there and what is wrong",
		Long: `doctor looks at this machine: versions, configuration files, the folder for runs,
the simulator, prices and which keys are set (never their values). With --online
it also asks each provider that has a key or an address for its list of models. It
starts the MCP servers of --mcp-config, or of mcpServers in maker.yaml, and says how
they are.
Exit code 1 means that something needed does not work.`,
		Args:        exactArgs(),
		Annotations: map[string]string{anySettings: "it reports them"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			broken := false
			checks := a.diagnose(cmd)
			if online {
				checks = append(checks, ping(cmd.Context(), baseURL)...)
			}
			checks = append(checks, checkServers(cmd.Context(), mcpConfig)...)
			for _, c := range checks {
				broken = broken || c.Needed && !c.OK
				if a.json {
					if err := a.printJSON(c); err != nil {
						return err
					}
					continue
				}
				mark := "ok"
				if !c.OK {
					mark = "no"
					if c.Needed {
						mark = "BAD"
					}
				}
				fmt.Fprintf(a.Out, "%-4s %-18s %s\n", mark, c.Name, c.Detail)
			}
			if broken {
				return exitError{exitFailed}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&online, "online", false, "ask the configured providers whether they answer")
	cmd.Flags().StringVar(&baseURL, "base-url", "", "address of the server for compat/ models")
	cmd.Flags().StringVar(&mcpConfig, "mcp-config", "", "JSON or YAML file with mcpServers to look at")
	return cmd
}

// checkServers starts the MCP servers that are configured and says how they are.
func checkServers(ctx context.Context, path string) []check {
	for _, p := range configPaths() {
		if path != "" {
			break
		}
		if file, err := readConfigFile(p); err == nil && file.servers > 0 && file.checkTrust() == nil { // otherwise diagnose says so
			path = p
		}
	}
	if path == "" {
		return nil
	}
	servers, err := toolbox.ReadMCP(path, os.Getenv)
	if err != nil {
		return []check{{"mcp", false, true, err.Error()}}
	}
	health, err := mcp.Check(ctx, servers, &mcp.Options{Dir: filepath.Dir(path), Version: maker.Version})
	if err != nil {
		return []check{{"mcp", false, true, err.Error()}}
	}
	var checks []check
	for _, h := range health {
		c := check{Name: "mcp " + h.Name, OK: h.State == mcp.Ready, Needed: h.Required}
		if c.OK {
			c.Detail = fmt.Sprintf("%s, %s %s, %d tools, up in %s", h.Transport, h.Server, h.Version, h.Tools, h.Took.Round(time.Millisecond))
		} else {
			c.Detail = fmt.Sprintf("%s, %s: %s", h.Transport, h.State, show.Line(h.Reason))
		}
		checks = append(checks, c)
	}
	return checks
}

// ping asks every provider that is configured: one that has a key, or an address
// of its own.
func ping(ctx context.Context, baseURL string) []check {
	var checks []check
	opts := route.Options{BaseURL: baseURL, Env: os.Getenv}
	for _, p := range route.Providers() {
		key, err := p.Key(os.Getenv)
		configured := key != "" || p.BaseVar != "" && os.Getenv(p.BaseVar) != "" || p.Name == "compat" && baseURL != ""
		if err == nil && !configured {
			continue
		}
		c := check{Name: "online", Needed: true}
		if err == nil {
			limit, cancel := context.WithTimeout(ctx, 10*time.Second)
			err = p.Ping(limit, opts)
			cancel()
		}
		if err != nil {
			c.Detail = fmt.Sprintf("%s: %v", p.Name, err)
		} else {
			c.OK, c.Detail = true, p.Name+" answers"
		}
		checks = append(checks, c)
	}
	if checks == nil {
		checks = []check{{"online", false, false, "no provider has a key or an address; nothing was asked"}}
	}
	return checks
}

func (a *app) diagnose(cmd *cobra.Command) []check {
	checks := []check{{"version", true, true, versionLine()}}
	for _, path := range configPaths() {
		file, err := readConfigFile(path)
		if err == nil {
			err = file.checkValues()
		}
		switch {
		case errors.Is(err, os.ErrNotExist):
			checks = append(checks, check{"configuration", false, false, path + " is not there, which is fine"})
		case err != nil:
			checks = append(checks, check{"configuration", false, true, err.Error()})
		case file.checkTrust() != nil:
			checks = append(checks, check{"configuration", false, false, path + " is not trusted: " + file.checkTrust().Error()})
		default:
			checks = append(checks, check{"configuration", true, false, path})
		}
	}
	checks = append(checks, checkLogDir(a.logDir), checkSim(cmd.Context()), checkSandbox(cmd.Context()))
	table := price.Default()
	checks = append(checks, check{"prices", true, false, fmt.Sprintf("list prices of %s; --prices overrides them", table.Date())})
	for _, p := range route.Providers() {
		if p.KeyVar == "" {
			continue
		}
		key, err := p.Key(os.Getenv)
		c := check{Name: "key", OK: key != "", Detail: p.KeyVar + " is set"}
		switch {
		case err != nil:
			c.Needed, c.Detail = true, err.Error()
		case key == "":
			c.Detail = p.KeyVar + " is not set, so " + p.Name + "/ models cannot be asked"
		}
		checks = append(checks, c)
	}
	return checks
}

// checkLogDir writes and syncs a file where the runs go.
func checkLogDir(dir string) check {
	c := check{Name: "runs", Needed: true}
	created := false
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		created = true
	}
	err := os.MkdirAll(dir, 0o755)
	var f *os.File
	if err == nil {
		f, err = os.CreateTemp(dir, ".doctor-")
	}
	if err != nil {
		c.Detail = fmt.Sprintf("cannot write to %s: %v; choose another folder with --log-dir", dir, err)
		return c
	}
	start := time.Now()
	_, err = f.WriteString("x")
	err = errors.Join(err, f.Sync())
	took := time.Since(start)
	err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	if created {
		_ = os.Remove(dir) // leave no trace; it is not empty if something else uses it
	}
	if err != nil {
		c.Detail = fmt.Sprintf("cannot write to %s: %v", dir, err)
		return c
	}
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	c.OK, c.Detail = true, fmt.Sprintf("%s is writable, a durable write takes %s", dir, took.Round(time.Microsecond))
	return c
}

// checkSandbox says what commands of tools can be confined with.
func checkSandbox(ctx context.Context) check {
	s, err := sandbox.Detect(ctx)
	switch {
	case errors.Is(err, sandbox.ErrNone):
		return check{"sandbox", false, false, "Bash is not available: " + err.Error()}
	case err != nil:
		return check{"sandbox", false, false, err.Error()}
	}
	return check{"sandbox", true, false, s.Describe()}
}

// checkSim asks the simulator something it knows.
func checkSim(ctx context.Context) check {
	c := check{Name: "simulator", Needed: true}
	settings, err := sim.Parse("sim/default?p=1")
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	m, err := sim.New(settings)
	if err == nil {
		_, err = m.Generate(ctx, &model.Request{Messages: []model.Message{{Role: model.User, Text: "Compute: 6 * 7"}}})
	}
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	c.OK, c.Detail = true, "answers; try: maker hanoi --disks 8"
	return c
}

func versionLine() string {
	line := fmt.Sprintf("maker %s, %s, %s/%s", maker.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				line += ", " + s.Value
			}
		}
	}
	return line
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactArgs(),

		Annotations: map[string]string{anySettings: "it needs none"},
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]string{
					"version": maker.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintln(a.Out, versionLine())
			return err
		},
	}
}
