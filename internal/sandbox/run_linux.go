package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// minABI is the first version of Landlock that covers truncation: without it a
// command could empty any file of the user.
const minABI = 3

// scopeABI is the first version that keeps signals inside.
const scopeABI = 6

// supported reports why the level cannot work here, or what it lacks.
func (s *Sandbox) supported() (detail string, err error) {
	switch s.level {
	case Bubblewrap:
		if _, err := exec.LookPath("bwrap"); err != nil {
			return "", errors.New("bwrap is not installed")
		}
	case Landlock:
		abi, err := landlock.LandlockGetABIVersion()
		if err != nil {
			return "", errors.New("the kernel does not offer it")
		}
		if abi < minABI {
			return "", fmt.Errorf("the kernel has version %d of it, and %d is the least", abi, minABI)
		}
		if abi < scopeABI {
			detail = "they can signal your processes"
		}
		if auditArch == 0 {
			if detail != "" {
				detail += "; "
			}
			detail += "only TCP is blocked"
		}
	}
	return detail, nil
}

// A plan is what the supervisor is told.
type plan struct {
	Confine confinement
	Limits  Limits
	Temp    string // to be removed at the end, also if nobody else is left to do it

	// Wrapped says that the process it starts is a wrapper, which would take
	// everything down at once if it got the first, polite signal.
	Wrapped bool
}

// A report is what the supervisor says at the end.
type report struct {
	Outcome
	Error string
}

// run starts the supervisor. It lives as long as the pipe to it is open.
func (s *Sandbox) run(ctx context.Context, c Command, temp string) (Outcome, error) {
	p, err := s.plan(c.Args, temp)
	if err != nil {
		return Outcome{}, err
	}
	controlRead, control, err := os.Pipe()
	if err != nil {
		return Outcome{}, err
	}
	reports, reportWrite, err := os.Pipe()
	if err != nil {
		return Outcome{}, errors.Join(err, controlRead.Close(), control.Close())
	}
	cmd := &exec.Cmd{
		Path:       "/proc/self/exe", // also if the program was replaced on disk
		Args:       []string{helperName, "supervise"},
		Env:        p.Confine.Env,
		Dir:        s.options.Workspace,
		Stdout:     c.Output,
		Stderr:     c.Output,
		ExtraFiles: []*os.File{controlRead, reportWrite},

		// No terminal, and no signals meant for this program.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		WaitDelay:   5 * time.Second,
	}
	err = cmd.Start()
	err = errors.Join(err, controlRead.Close(), reportWrite.Close())
	if err != nil {
		return Outcome{}, errors.Join(err, control.Close(), reports.Close())
	}
	defer reports.Close()

	// A byte is the order to stop. If we are killed the pipe is closed without one.
	// It is written only when the plan was.
	sent := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		<-sent
		_, _ = control.Write([]byte{'\n'})
	})
	defer stop()
	// A supervisor that does not obey would be a bug, or stopped by somebody.
	last := make(chan struct{})
	defer close(last)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-last:
		case <-time.After(p.Limits.Grace + 10*time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	})()

	writeErr := json.NewEncoder(control).Encode(p)
	close(sent)
	data, readErr := io.ReadAll(io.LimitReader(reports, 1<<20))
	waitErr := cmd.Wait()
	_ = control.Close()
	var r report
	if readErr == nil {
		readErr = json.Unmarshal(data, &r)
	}
	switch {
	case readErr != nil:
		return Outcome{}, fmt.Errorf("the supervisor broke off: %w", errors.Join(writeErr, waitErr))
	case r.Error != "":
		return r.Outcome, errors.New(r.Error)
	}
	return r.Outcome, nil
}

// plan is how args are run at the level in force.
func (s *Sandbox) plan(args []string, temp string) (plan, error) {
	p := plan{Limits: s.options.Limits, Temp: temp}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return p, err
	}
	args = slices.Concat([]string{program}, args[1:])
	p.Confine = confinement{
		Args:   args,
		Env:    environment(filepath.Join(temp, "home"), temp),
		Limits: s.options.Limits,
	}
	switch s.level {
	case Bubblewrap:
		// The command has a /tmp of its own.
		p.Confine.Env = environment("/tmp/home", "")
		p.Wrapped = true
		p.Confine.Args, err = s.bubblewrap(args, temp)
		if err != nil {
			return p, err
		}
	case Landlock:
		p.Confine.Landlock = true
		p.Confine.Network = s.options.Network
		p.Confine.Readable = s.view().readable
		p.Confine.Writable = []string{s.options.Workspace, temp}
	}
	return p, nil
}

// bubblewrap returns the command line that runs args inside.
func (s *Sandbox) bubblewrap(args []string, temp string) ([]string, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, err
	}
	line := []string{
		program, "--die-with-parent", "--new-session",
		"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
	}
	if os.Geteuid() == 0 {
		// A workspace may belong to somebody else, in containers mostly.
		line = append(line, "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_CHOWN")
	}
	if !s.options.Network {
		line = append(line, "--unshare-net")
	}
	v := s.view()
	// Root could change the kernel's settings in a /proc that can be written to.
	line = append(line, "--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--bind", temp, "/tmp")
	for link, target := range v.links {
		line = append(line, "--symlink", target, link)
	}
	for _, dir := range v.readable {
		line = append(line, "--ro-bind-try", dir, dir)
	}
	line = append(line, "--bind", s.options.Workspace, s.options.Workspace)
	for _, dir := range s.options.Protected {
		line = append(line, "--ro-bind-try", dir, dir)
	}
	line = append(line, "--chdir", s.options.Workspace, "--")
	return append(line, args...), nil
}
