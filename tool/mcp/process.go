package mcp

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker/internal/process/tail"
)

// orders say what program to run, and how.
type orders struct {
	Path  string
	Args  []string // with the program's name
	Env   []string
	Dir   string
	Grace time.Duration // between the signal that asks and the one that does not
}

// ordersFor is how a stdio server is run. Relative paths start at dir.
func ordersFor(s Server, dir string, grace time.Duration) (orders, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return orders{}, err
	}
	if s.Cwd != "" {
		if filepath.IsAbs(s.Cwd) {
			dir = s.Cwd
		} else {
			dir = filepath.Join(dir, s.Cwd)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return orders{}, fmt.Errorf("cwd: there is no folder %s", dir)
	}
	env := environment(s.Env)
	path, err := find(s.Command, dir, env["PATH"])
	if err != nil {
		return orders{}, fmt.Errorf("command: %w", err)
	}
	o := orders{Path: path, Args: slices.Concat([]string{s.Command}, s.Args), Dir: dir, Grace: grace}
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

// A process is a stdio server with everything that it starts.
type process struct {
	stdin  *os.File
	stdout *os.File
	stderr *tail.Buffer

	stopping  chan struct{} // closed when it is to end
	stopOnce  sync.Once
	polite    time.Duration // between the closing of stdin and the first signal
	done      chan struct{} // closed when nothing of it is left
	waitError error         // valid once done is closed
}

// tailSize is how much of stderr is kept.
const tailSize = 4 << 10

// An ending is how a platform ends what was launched.
type ending struct {
	terminate func()        // asks all of it to end
	kill      func()        // ends it
	sweep     func()        // ends what is left once the server itself has ended
	patience  time.Duration // between terminate and kill
}

// startProcess starts a server. Its owner has to stop it and wait for done, even
// if it has ended by itself.
func startProcess(o orders) (*process, error) {
	stdinRead, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, stdoutWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdinRead.Close(), stdin.Close())
	}
	p := &process{
		stdin: stdin, stdout: stdout, stderr: tail.New(tailSize),
		stopping: make(chan struct{}), polite: o.Grace / 4, done: make(chan struct{}),
	}
	cmd := &exec.Cmd{Stdin: stdinRead, Stdout: stdoutWrite, Stderr: p.stderr, WaitDelay: 2 * time.Second}
	end, err := launch(cmd, o)
	err = errors.Join(err, stdinRead.Close(), stdoutWrite.Close())
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	go p.watch(cmd, end)
	return p, nil
}

// watch owns the process: it waits for its end and, when told to, brings it about.
func (p *process) watch(cmd *exec.Cmd, end ending) {
	defer close(p.done)
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		p.waitError = cmd.Wait()
	}()
	select {
	case <-exited:
	case <-p.stopping:
		_ = p.stdin.Close() // which is how a client says goodbye
		if !within(p.polite, exited) {
			end.terminate()
			if !within(end.patience, exited) {
				end.kill()
			}
		}
		<-exited
	}
	end.sweep()
	_ = p.stdin.Close()
}

// stop makes the process end, and returns at once.
func (p *process) stop() { p.stopOnce.Do(func() { close(p.stopping) }) }

// howItEnded says how the process ended, if it does so within a moment; if not,
// it has only stopped talking.
func (p *process) howItEnded() string {
	if !within(time.Second, p.done) {
		return "it closed its stdin or stdout"
	}
	exit, ok := errors.AsType[*exec.ExitError](p.waitError)
	switch {
	case p.waitError == nil:
		return "it ended with exit code 0"
	case !ok:
		return "it ended: " + p.waitError.Error()
	case exit.ExitCode() > 128 && exit.ExitCode() <= 128+64:
		return fmt.Sprintf("it was ended by signal %d", exit.ExitCode()-128)
	}
	return "it ended with " + strings.ReplaceAll(exit.String(), "exit status", "exit code")
}

// within reports whether done is closed before the time is up.
func within(limit time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
