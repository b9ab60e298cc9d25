// Package diagnosis looks at the machine for maker doctor: what is there, and what is
// wrong.
package diagnosis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/engine/toolbox"
	"github.com/maker-mdap/maker/internal/process/sandbox"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/tool/mcp"
)

// A Check is one line of a doctor's report.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Needed bool   `json:"needed"` // without it nothing works
	Detail string `json:"detail"`
}

// Files says which configuration files are there and whether their values, which try
// tries, make sense.
func Files(try func(settingsfile.File) error) []Check {
	var checks []Check
	for _, path := range settingsfile.Paths() {
		file, err := settingsfile.Read(path)
		if err == nil {
			err = try(file)
		}
		switch {
		case errors.Is(err, os.ErrNotExist):
			checks = append(checks, Check{"configuration", false, false, path + " is not there, which is fine"})
		case err != nil:
			checks = append(checks, Check{"configuration", false, true, err.Error()})
		case file.CheckTrust() != nil:
			checks = append(checks, Check{"configuration", false, false, path + " is not trusted: " + file.CheckTrust().Error()})
		default:
			checks = append(checks, Check{"configuration", true, false, path})
		}
	}
	return checks
}

// Servers starts the MCP servers that are configured and says how they are.
func Servers(ctx context.Context, path string) []Check {
	for _, p := range settingsfile.Paths() {
		if path != "" {
			break
		}
		if file, err := settingsfile.Read(p); err == nil && file.Servers > 0 && file.CheckTrust() == nil { // otherwise diagnose says so
			path = p
		}
	}
	if path == "" {
		return nil
	}
	servers, err := toolbox.ReadMCP(path, os.Getenv)
	if err != nil {
		return []Check{{"mcp", false, true, err.Error()}}
	}
	health, err := mcp.Check(ctx, servers, &mcp.Options{Dir: filepath.Dir(path), Version: maker.Version})
	if err != nil {
		return []Check{{"mcp", false, true, err.Error()}}
	}
	var checks []Check
	for _, h := range health {
		c := Check{Name: "mcp " + h.Name, OK: h.State == mcp.Ready, Needed: h.Required}
		if c.OK {
			c.Detail = fmt.Sprintf("%s, %s %s, %d tools, up in %s", h.Transport, h.Server, h.Version, h.Tools, h.Took.Round(time.Millisecond))
		} else {
			c.Detail = fmt.Sprintf("%s, %s: %s", h.Transport, h.State, show.Line(h.Reason))
		}
		checks = append(checks, c)
	}
	return checks
}

// Ping asks every provider that is configured: one that has a key, or an address
// of its own.
func Ping(ctx context.Context, baseURL string) []Check {
	var checks []Check
	opts := route.Options{BaseURL: baseURL, Env: os.Getenv}
	for _, p := range route.Providers() {
		key, err := p.Key(os.Getenv)
		configured := key != "" || p.BaseVar != "" && os.Getenv(p.BaseVar) != "" || p.Name == "compat" && baseURL != ""
		if err == nil && !configured {
			continue
		}
		c := Check{Name: "online", Needed: true}
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
		checks = []Check{{"online", false, false, "no provider has a key or an address; nothing was asked"}}
	}
	return checks
}

// LogDir writes and syncs a file where the runs go.
func LogDir(dir string) Check {
	c := Check{Name: "runs", Needed: true}
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

// Sandbox says what commands of tools can be confined with.
func Sandbox(ctx context.Context) Check {
	s, err := sandbox.Detect(ctx)
	switch {
	case errors.Is(err, sandbox.ErrNone):
		return Check{"sandbox", false, false, "Bash is not available: " + err.Error()}
	case err != nil:
		return Check{"sandbox", false, false, err.Error()}
	}
	return Check{"sandbox", true, false, s.Describe()}
}

// Simulator asks the simulator something it knows.
func Simulator(ctx context.Context) Check {
	c := Check{Name: "simulator", Needed: true}
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

// Prices says of when the list prices are.
func Prices() Check {
	return Check{"prices", true, false, fmt.Sprintf("list prices of %s; --prices overrides them", price.Default().Date())}
}

// Keys says which keys are set, and never their values.
func Keys() []Check {
	var checks []Check
	for _, p := range route.Providers() {
		if p.KeyVar == "" {
			continue
		}
		key, err := p.Key(os.Getenv)
		c := Check{Name: "key", OK: key != "", Detail: p.KeyVar + " is set"}
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
