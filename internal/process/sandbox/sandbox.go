// Package sandbox runs commands that somebody else thought up.
//
// # Levels
//
// A command runs at the best level that the machine offers:
//
//   - bubblewrap: a file system view of its own (the workspace writable, the
//     system read-only, home folders, /run and other processes not there), its
//     own processes and no network.
//   - landlock: the same rules for opening files, kept by the kernel without
//     another program, and a filter on sockets. Other processes can be seen to
//     exist, and names and modes of files outside are not covered.
//   - none: the command has the rights of the user. Only who asks for it gets it.
//
// At every level the environment is minimal, the process has a deadline and
// limits, and nothing that it started is left when it ends.
//
// # The helper
//
// Limits and Landlock can only be set by a process for itself, and somebody has
// to stay and clean up even if this program is killed. So on Linux the running
// program is started again, twice, under the name maker-sandbox: first as a
// supervisor, which adopts whatever the command leaves behind and ends it when
// the command ends or this program does; then as the process that confines
// itself and becomes the command. The init function of this package takes over
// in both, which makes it work in every program that imports the package: the
// maker command, programs that use the library, and tests.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/internal/process/protect"
	"github.com/maker-mdap/maker/internal/process/scratch"
)

// Mode says how much the user insists on a sandbox.
type Mode string

// The modes.
const (
	Auto   Mode = "auto"   // the best there is
	Strict Mode = "strict" // the same here; callers do not go on without it
	Off    Mode = "off"    // none
)

// Level is what confines a command.
type Level string

// The levels, best first.
const (
	Bubblewrap Level = "bubblewrap"
	Landlock   Level = "landlock"
	None       Level = "none"
)

// Errors of [New]. That a probe failed does not mean that there is no sandbox: who
// takes it for that runs commands with the user's rights because the machine was busy.
var (
	ErrNone  = errors.New("no sandbox can be had on this machine")
	ErrProbe = errors.New("whether there is a sandbox could not be found out")
)

// Limits bound what one command can use up. Zero means the default.
type Limits struct {
	Processes int           // processes at a time; default 512
	FileBytes int64         // size of each file that it writes; default 1 GiB
	CPU       time.Duration // processor time of each process; default 10 minutes
	Grace     time.Duration // between being asked to end and being killed; default 2 seconds
}

func (l Limits) withDefaults() Limits {
	if l.Processes == 0 {
		l.Processes = 512
	}
	if l.FileBytes == 0 {
		l.FileBytes = 1 << 30
	}
	if l.CPU == 0 {
		l.CPU = 10 * time.Minute
	}
	if l.Grace == 0 {
		l.Grace = 2 * time.Second
	}
	return l
}

// Options describe a sandbox.
type Options struct {
	Mode      Mode     // "" is Auto
	Workspace string   // the folder that commands may change; they start in it
	Network   bool     // commands may use the network
	Readable  []string // further folders that commands may read
	Limits    Limits

	// Protected is what commands must not change. Files that cannot be made read-only
	// for them are put back when they end.
	Protected *protect.Set

	// Levels are those that may be used; nil means all. With it tests compare
	// levels.
	Levels []Level

	without means // with it tests do without
}

// means are ways in which the kernel helps to confine, beyond what a level needs.
type means struct {
	Cgroup bool // a control group counts the processes
	PIDs   bool // the processes have a PID namespace
	Mounts bool // they have mounts of their own too
}

func (m means) String() string {
	var names []string
	if m.Cgroup {
		names = append(names, "a control group")
	}
	if m.PIDs {
		names = append(names, "a PID namespace")
	}
	if m.Mounts {
		names = append(names, "mounts")
	}
	return strings.Join(names, " and ")
}

// A Sandbox runs commands. It is safe for concurrent use.
type Sandbox struct {
	options Options
	level   Level
	without means    // what cannot be had here, or is not wanted
	why     []string // why it is not a better level
	detail  string   // what this machine's form of the level lacks
}

// New returns the best sandbox that this machine offers and the options allow.
// Each level is tried with a real command, because what is installed is not
// always permitted. Without any the error is [ErrNone]: running commands with the
// user's rights is something that a person asks for, with [Off].
func New(ctx context.Context, o Options) (*Sandbox, error) {
	if o.Mode == "" {
		o.Mode = Auto
	}
	if !slices.Contains([]Mode{Auto, Strict, Off}, o.Mode) {
		return nil, fmt.Errorf("sandbox: there is no mode %q; there are auto, strict and off", o.Mode)
	}
	workspace, err := filepath.Abs(o.Workspace)
	if err == nil {
		// The kernel knows the folder, not the links to it.
		workspace, err = filepath.EvalSymlinks(workspace)
	}
	if err != nil {
		return nil, fmt.Errorf("sandbox: workspace: %w", err)
	}
	if workspace == filepath.Dir(workspace) {
		return nil, fmt.Errorf("sandbox: %s cannot be the workspace: everything is in it", workspace)
	}
	o.Workspace, o.Limits = workspace, o.Limits.withDefaults()
	s := &Sandbox{options: o, level: None, without: o.without}
	scratch.Sweep() // what a program that was killed has left behind
	if o.Mode == Off {
		s.why = []string{"the sandbox is switched off"}
		return s, nil
	}
	for _, level := range []Level{Bubblewrap, Landlock} {
		if o.Levels != nil && !slices.Contains(o.Levels, level) {
			continue
		}
		s.level = level
		err := s.settle(ctx)
		refused, ok := errors.AsType[*refusal](err)
		switch {
		case err == nil:
			return s, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !ok:
			return nil, fmt.Errorf("%w: %s: %w; try again when the cause is gone (--sandbox off runs commands without one, with your rights)",
				ErrProbe, level, err)
		}
		s.why = append(s.why, fmt.Sprintf("%s: %v", level, refused))
	}
	return nil, fmt.Errorf("%w (%s); install bubblewrap or use a Linux kernel with Landlock (6.2 or later); --sandbox off runs commands without one, with your rights",
		ErrNone, strings.Join(s.why, "; "))
}

// Detect returns the best sandbox that this machine offers, to look at.
func Detect(ctx context.Context) (*Sandbox, error) {
	dir, err := scratch.New("detect")
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	return New(ctx, Options{Workspace: dir.Path})
}

// A refusal is why something cannot be had on this machine, now or later. Any other
// error of a probe says nothing about what there is.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// settle finds out how the level can be had here. The error is a refusal if it
// cannot.
func (s *Sandbox) settle(ctx context.Context) error {
	var err error
	if s.detail, err = s.supported(); err != nil {
		return err
	}
	for {
		err := s.try(ctx)
		if _, refused := errors.AsType[*refusal](err); !refused || !s.doWithout() {
			return err
		}
	}
}

// try runs nothing, confined. What fails for a moment only may work in the next.
func (s *Sandbox) try(ctx context.Context) error {
	const attempts = 4
	ctx, cancel := context.WithTimeoutCause(ctx, 20*time.Second, errors.New("it did not answer for 20 seconds"))
	defer cancel()
	for n, pause := 1, 50*time.Millisecond; ; n, pause = n+1, 2*pause {
		err := s.tryOnce(ctx)
		if _, refused := errors.AsType[*refusal](err); err == nil || refused || n == attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

func (s *Sandbox) tryOnce(ctx context.Context) error {
	var out strings.Builder
	outcome, err := s.Run(ctx, Command{Args: []string{"/bin/sh", "-c", "exit 0"}, Output: &out})
	// What a helper says last words about is not for us, but why it failed.
	said, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	switch {
	case err == nil && outcome.ExitCode == 0:
		return nil
	case err != nil && said != "":
		return fmt.Errorf("%w (%s)", err, said)
	case err != nil:
		return err
	case s.level == Bubblewrap && refusedByBubblewrap(said):
		return refuse("%s", said)
	}
	return fmt.Errorf("exit code %d: %s", outcome.ExitCode, said)
}

// refusedByBubblewrap reports whether bwrap says that it cannot work here, rather
// than that it did not work just now. Only what is known to be for good is taken for
// that.
func refusedByBubblewrap(said string) bool {
	if strings.Contains(said, "No space left on device") { // a limit on namespaces
		return !namespacesAllowed()
	}
	return slices.ContainsFunc([]string{
		"Operation not permitted", "Permission denied", "No permissions to create", "not support", "not implemented",
		"Invalid argument", "Unknown option", "error while loading shared libraries",
	}, func(words string) bool { return strings.Contains(said, words) })
}

// Level returns the level in force.
func (s *Sandbox) Level() Level { return s.level }

// Describe says in one line what is in force, for logs and people.
func (s *Sandbox) Describe() string {
	line := string(s.level)
	switch s.level {
	case None:
		line += ": commands have your rights, files and network included"
	default:
		line += ": commands change only the workspace and do not see your home folder"
		if s.options.Network {
			line += "; the network is allowed"
		} else {
			line += "; no network"
		}
	}
	if s.detail != "" {
		line += " (" + s.detail + ")"
	}
	if len(s.why) > 0 {
		line += " [" + strings.Join(s.why, "; ") + "]"
	}
	return line
}

// A Command is a program to run.
type Command struct {
	Args   []string  // the program, found in PATH or absolute, and its arguments
	Output io.Writer // gets stdout and stderr, from one goroutine
}

// An Outcome is how a command ended.
type Outcome struct {
	ExitCode int    `json:"exit_code"` // 128 + n if signal n ended it
	Limit    string `json:"limit"`     // the limit that ended it, if one did

	// Changed says which protected files were changed while it ran, and what became of
	// that.
	Changed []string `json:"-"`
}

// Run runs a command and waits until it and everything that it started has
// ended. When ctx ends they get a SIGTERM and, after the time of grace, a
// SIGKILL; the error is then the cause.
func (s *Sandbox) Run(ctx context.Context, c Command) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if len(c.Args) == 0 {
		return Outcome{}, errors.New("sandbox: there is no command")
	}
	temp, err := scratch.New("sandbox")
	if err != nil {
		return Outcome{}, fmt.Errorf("sandbox: %w", err)
	}
	defer temp.Remove()
	if err := os.Mkdir(filepath.Join(temp.Path, "home"), 0o700); err != nil {
		return Outcome{}, fmt.Errorf("sandbox: %w", err)
	}
	guard, err := s.options.Protected.Guard(s.options.Workspace, s.reaches)
	if err != nil {
		return Outcome{}, fmt.Errorf("sandbox: %w", err)
	}
	outcome, err := s.run(ctx, c, temp)
	outcome.Changed = guard.End()
	if ctx.Err() != nil {
		return outcome, context.Cause(ctx)
	}
	if err != nil {
		return outcome, fmt.Errorf("sandbox: %w", err)
	}
	return outcome, nil
}

// reaches reports whether commands could change something, were it not protected.
func (s *Sandbox) reaches(p protect.Path) bool {
	return s.level == None || protect.Within(s.options.Workspace, p.Name)
}

// environment is all that a command gets to know of ours. Keys, tokens and
// secrets are left out by naming what is let in.
func environment(home, temp string) []string {
	path := os.Getenv("PATH")
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	env := []string{"PATH=" + path, "HOME=" + home}
	for _, name := range []string{"LANG", "TERM"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	if temp != "" {
		env = append(env, "TMPDIR="+temp)
	}
	if runtime.GOOS == "windows" {
		for _, name := range []string{"SystemRoot", "PATHEXT"} { // nothing starts without
			env = append(env, name+"="+os.Getenv(name))
		}
		env = append(env, "TEMP="+temp, "TMP="+temp)
	}
	return env
}
