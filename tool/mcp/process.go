package mcp

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/internal/process/supervise"
)

// ordersFor is how a stdio server is run. Relative paths start at dir.
func ordersFor(s Server, dir string, grace time.Duration) (supervise.Orders, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return supervise.Orders{}, err
	}
	if s.Cwd != "" {
		if filepath.IsAbs(s.Cwd) {
			dir = s.Cwd
		} else {
			dir = filepath.Join(dir, s.Cwd)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return supervise.Orders{}, fmt.Errorf("cwd: there is no folder %s", dir)
	}
	env := environment(s.Env)
	path, err := find(s.Command, dir, env["PATH"])
	if err != nil {
		return supervise.Orders{}, fmt.Errorf("command: %w", err)
	}
	o := supervise.Orders{Path: path, Args: slices.Concat([]string{s.Command}, s.Args), Dir: dir, Grace: grace}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		o.Env = append(o.Env, name+"="+env[name])
	}
	return o, nil
}

// find returns the program that command means, in the folder and with the path
// that it will run with.
func find(command, dir, path string) (string, error) {
	if strings.ContainsAny(command, `/\`) && (runtime.GOOS == "windows" || strings.Contains(command, "/")) {
		if !filepath.IsAbs(command) {
			command = filepath.Join(dir, command)
		}
		return exec.LookPath(command)
	}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue // what is in the current folder is not meant by accident
		}
		if program, err := exec.LookPath(filepath.Join(folder, command)); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("%q is not in the PATH; install it, or give its full path", command)
}

// inherited are the variables that a server gets from us. Keys, tokens and
// secrets are left out by naming what is let in.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
}

var inheritedWindows = []string{
	"PATH", "PATHEXT", "APPDATA", "LOCALAPPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA",
	"PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
}

func environment(configured map[string]string) map[string]string {
	names := inherited
	if runtime.GOOS == "windows" {
		names = inheritedWindows
	}
	env := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin"}
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			env[name] = value
		}
	}
	maps.Copy(env, configured)
	return env
}
