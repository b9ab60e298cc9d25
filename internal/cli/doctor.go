package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/cli/diagnosis"
	"github.com/maker-mdap/maker/internal/version"
)

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
				checks = append(checks, diagnosis.Ping(cmd.Context(), baseURL)...)
			}
			checks = append(checks, diagnosis.Servers(cmd.Context(), mcpConfig)...)
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

func (a *app) diagnose(cmd *cobra.Command) []diagnosis.Check {
	checks := []diagnosis.Check{{Name: "version", OK: true, Needed: true, Detail: versionLine()}}
	checks = append(checks, diagnosis.Files(checkValues)...)
	checks = append(checks, diagnosis.LogDir(a.logDir), diagnosis.Simulator(cmd.Context()), diagnosis.Sandbox(cmd.Context()), diagnosis.Prices())
	return append(checks, diagnosis.Keys()...)
}

func versionLine() string {
	line := fmt.Sprintf("maker %s, %s, %s/%s", maker.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if revision := version.Revision(); revision != "" {
		line += ", " + revision
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
					"version": maker.Version, "revision": version.Revision(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintln(a.Out, versionLine())
			return err
		},
	}
}
