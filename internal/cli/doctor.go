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
	"github.com/maker-mdap/maker/internal/route"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/model/sim"
)

// check is one line of a doctor's report.
type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Needed bool   `json:"needed"` // without it nothing works
	Detail string `json:"detail"`
}

func (a *app) doctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what is there and what is wrong",
		Long: `doctor looks at this machine: versions, configuration files, the folder for runs,
the simulator, prices and which keys are set (never their values). Exit code 1
means that something needed does not work.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			broken := false
			for _, c := range a.diagnose(cmd) {
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
}

func (a *app) diagnose(cmd *cobra.Command) []check {
	checks := []check{{"version", true, true, versionLine()}}
	for _, path := range configPaths() {
		_, err := readConfigFile(path, settingNames(cmd.Root()))
		switch {
		case errors.Is(err, os.ErrNotExist):
			checks = append(checks, check{"configuration", false, false, path + " is not there, which is fine"})
		case err != nil:
			checks = append(checks, check{"configuration", false, true, err.Error()})
		default:
			checks = append(checks, check{"configuration", true, false, path})
		}
	}
	checks = append(checks, checkLogDir(a.logDir), checkSim(cmd.Context()))
	table := price.Default()
	checks = append(checks, check{"prices", true, false, fmt.Sprintf("list prices of %s; --prices overrides them", table.Date())})
	for _, p := range route.Keys() {
		set := os.Getenv(p.Variable) != ""
		detail := p.Variable + " is set"
		if !set {
			detail = p.Variable + " is not set, so " + p.Provider + "/ models cannot be asked"
		}
		checks = append(checks, check{"key", set, false, detail})
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
	const syncs = 20
	start := time.Now()
	for range syncs {
		_, writeErr := f.WriteString("x")
		err = errors.Join(err, writeErr, f.Sync())
	}
	took := time.Since(start) / syncs
	err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	if created {
		_ = os.Remove(dir) // leave no trace; it is not empty if something else uses it
	}
	if err != nil {
		c.Detail = fmt.Sprintf("cannot write to %s: %v", dir, err)
		return c
	}
	full, absErr := filepath.Abs(dir)
	if absErr != nil {
		full = dir
	}
	c.OK, c.Detail = true, fmt.Sprintf("%s is writable, a durable write takes %s", full, took.Round(time.Microsecond))
	return c
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
