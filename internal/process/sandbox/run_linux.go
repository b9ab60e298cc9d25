package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/maker-mdap/maker/internal/process/scratch"
)

// minABI is the first version of Landlock that covers truncation: without it a
// command could empty any file of the user.
const minABI = 3

// scopeABI is the first version that keeps signals inside.
const scopeABI = 6

// supported returns what the level lacks here, or a refusal.
func (s *Sandbox) supported() (detail string, err error) {
	switch s.level {
	case Bubblewrap:
		if _, err := exec.LookPath("bwrap"); err != nil {
			return "", refuse("bwrap is not installed")
		}
	case Landlock:
		abi, err := landlock.LandlockGetABIVersion()
		return lacking(abi, err, auditArch)
	}
	return "", nil
}

// lacking returns what a version of Landlock lacks on an architecture, 0 if we do not
// know that, or a refusal. The error is the kernel's when it was asked for the version.
func lacking(abi int, err error, arch uint32) (detail string, _ error) {
	switch {
	case isRefusal(err):
		return "", refuse("the kernel does not offer it: %v", err)
	case err != nil:
		return "", err
	case abi < minABI:
		return "", refuse("the kernel has version %d of it, and %d is the least", abi, minABI)
	}
	var lacks []string
	if abi < scopeABI {
		lacks = append(lacks, "they can signal your processes")
	}
	if arch == 0 {
		lacks = append(lacks, "only TCP is blocked")
	}
	return strings.Join(lacks, "; "), nil
}

// isRefusal reports whether the kernel says that something cannot be had, rather than
// that it failed just now.
func isRefusal(err error) bool {
	for _, errno := range []syscall.Errno{
		syscall.EPERM, syscall.EACCES, syscall.ENOSYS, syscall.EINVAL, syscall.EOPNOTSUPP, syscall.ENODEV,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EUSERS)) && !namespacesAllowed()
}

// namespacesAllowed reports whether users may have namespaces at all: a limit of 0 is for
// good, any other is reached at times.
func namespacesAllowed() bool { return allowedBy("/proc/sys/user") }

// allowedBy is namespacesAllowed with the limits in a folder.
func allowedBy(limits string) bool {
	for _, kind := range []string{"user", "pid", "mnt", "net", "ipc", "uts"} {
		if data, err := os.ReadFile(limits + "/max_" + kind + "_namespaces"); err == nil && strings.TrimSpace(string(data)) == "0" {
			return false
		}
	}
	return true
}

// doWithout gives up a means that the level does not need, and reports whether there
// was one.
func (s *Sandbox) doWithout() bool {
	var note string
	switch {
	case s.hasMounts():
		s.without.Mounts = true
		note = "settings that they change are put back"
	case s.level == Landlock && !s.without.PIDs:
		s.without.PIDs = true
		note = "their processes are found and ended one by one"
	default:
		return false
	}
	s.detail = strings.TrimPrefix(s.detail+"; "+note, "; ")
	return true
}

// hasMounts reports whether we give commands mounts of their own, to protect something:
// with a PID namespace, never in ours.
func (s *Sandbox) hasMounts() bool {
	return s.level == Landlock && !s.without.PIDs && !s.without.Mounts && len(s.options.Protected.Paths()) > 0
}

// readOnly lists what is protected in the workspace and can be made read-only: what is
// there, and no link.
func (s *Sandbox) readOnly() []string {
	var names []string
	for _, p := range s.options.Protected.Paths() {
		info, err := os.Lstat(p.Name)
		if s.reaches(p) && err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			names = append(names, p.Name)
		}
	}
	// Folders come before what is in them, which is mounted within them.
	slices.Sort(names)
	return names
}

// A plan is what the supervisor is told.
type plan struct {
	Confine confinement
	Limits  Limits
	Temp    string // see scratch.Dir.Top; to be removed at the end, also if nobody else is left to do it

	// Wrapped says that the process it starts is a wrapper, which would take
	// everything down at once if it got the first, polite signal.
	Wrapped bool

	Workspace string
	Mounts    bool     // it has mounts of its own,
	ReadOnly  []string // and makes these, in the workspace, read-only by them

	Without means
}

// A report is what the supervisor says at the end.
type report struct {
	Outcome
	failure
}

// A failure is an error that one process tells another.
type failure struct {
	Text    string
	Refused bool // see refusal
}

// failed is an error for another process.
func failed(err error) failure {
	_, refused := errors.AsType[*refusal](err)
	return failure{err.Error(), refused}
}

// err is the error again; nil if there was none.
func (f failure) err() error {
	switch {
	case f.Text == "":
		return nil
	case f.Refused:
		return refuse("%s", f.Text)
	}
	return errors.New(f.Text)
}

// obeyTime is how long a supervisor may take to end its command, more than
// family.KillTime. Tests do not wait that long.
var obeyTime = 35 * time.Second

// run starts the supervisor. It lives as long as the pipe to it is open.
func (s *Sandbox) run(ctx context.Context, c Command, temp *scratch.Dir) (Outcome, error) {
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
		ExtraFiles: []*os.File{controlRead, reportWrite, temp.Lock()},

		SysProcAttr: s.attributes(),
		WaitDelay:   5 * time.Second,
	}
	err = cmd.Start()
	if cmd.SysProcAttr.Cloneflags != 0 && isRefusal(err) {
		err = refuse("namespaces: %v", err)
	}
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
		case <-time.After(p.Limits.Grace + obeyTime):
			_ = cmd.Process.Kill() // and all others end with it
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
	if readErr != nil {
		return Outcome{}, fmt.Errorf("the supervisor broke off: %w", cmp.Or(waitErr, writeErr, readErr))
	}
	return r.Outcome, r.err()
}

// attributes are how the supervisor is started: without a terminal, and without the
// signals meant for this program. With Landlock it is the first process of a PID
// namespace, if that can be had: when it ends, for whatever reason, so do all others
// there. bwrap makes one of its own. Without a sandbox there is none: the numbers of
// processes would be wrong for tools such as ps.
func (s *Sandbox) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if s.level != Landlock || s.without.PIDs {
		return a
	}
	a.Cloneflags = syscall.CLONE_NEWPID
	if s.hasMounts() {
		a.Cloneflags |= syscall.CLONE_NEWNS
	}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		// Users may make one in a user namespace, in which they stay who they are.
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		if s.hasMounts() {
			a.AmbientCaps = []uintptr{capSysAdmin}
		}
	}
	return a
}

// plan is how args are run at the level in force.
func (s *Sandbox) plan(args []string, temp *scratch.Dir) (plan, error) {
	p := plan{Limits: s.options.Limits, Temp: temp.Top(), Workspace: s.options.Workspace, Mounts: s.hasMounts(), Without: s.without}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return p, err
	}
	args = slices.Concat([]string{program}, args[1:])
	p.Confine = confinement{
		Args:   args,
		Env:    environment(filepath.Join(temp.Path, "home"), temp.Path),
		Limits: s.options.Limits,
	}
	switch s.level {
	case Bubblewrap:
		// The command has a /tmp of its own.
		p.Confine.Env = environment("/tmp/home", "")
		p.Wrapped = true
		p.Confine.Args, err = s.bubblewrap(args, temp.Path)
	case Landlock:
		p.ReadOnly = s.readOnly()
		p.Confine.Landlock = true
		p.Confine.Network = s.options.Network
		p.Confine.Readable = s.view().readable
		p.Confine.Writable = []string{s.options.Workspace, temp.Path}
	}
	return p, err
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
	for _, name := range s.readOnly() {
		line = append(line, "--ro-bind-try", name, name)
	}
	line = append(line, "--chdir", s.options.Workspace, "--")
	return append(line, args...), nil
}
