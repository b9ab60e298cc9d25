package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"
)

// helperName is what the program is called when it runs as its own helper.
const helperName = "maker-sandbox"

func init() {
	if len(os.Args) != 2 || os.Args[0] != helperName {
		return
	}
	// Not os.Exit: with the race detector that takes a second.
	switch os.Args[1] {
	case "supervise":
		syscall.Exit(supervise())
	case "confine":
		syscall.Exit(confine())
	}
}

const (
	prSetChildSubreaper = 36
	checkEvery          = 25 * time.Millisecond // the number of processes
	killEvery           = 5 * time.Millisecond
	killLimit           = 10 * time.Second // a process in an unkillable state is given up
)

// supervise runs one command, adopts what it leaves behind, and ends all of it
// when the command has ended, a limit is passed or the pipe to our parent
// closes, which it does if the parent dies.
func supervise() int {
	control, reports := os.NewFile(3, "control"), os.NewFile(4, "reports")
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	var r report
	outcome, err := superviseCommand(control)
	r.Outcome = outcome
	if err != nil {
		r.Error = err.Error()
	}
	if err := json.NewEncoder(reports).Encode(r); err != nil {
		return 1
	}
	return 0
}

func superviseCommand(control *os.File) (Outcome, error) {
	if err := prctl(prSetChildSubreaper, 1); err != nil {
		return Outcome{}, fmt.Errorf("subreaper: %w", err)
	}
	orders := bufio.NewReader(control)
	line, err := orders.ReadBytes('\n')
	if err != nil {
		return Outcome{}, fmt.Errorf("orders: %w", err)
	}
	var p plan
	if err := json.Unmarshal(line, &p); err != nil {
		return Outcome{}, fmt.Errorf("orders: %w", err)
	}
	defer removeAll(p.Temp)
	stop, orphaned := make(chan struct{}), make(chan struct{})
	go func() {
		// An order to stop is a byte. The end without one means that nobody is left
		// who could have given it.
		if _, err := orders.ReadByte(); err != nil {
			close(orphaned)
			return
		}
		close(stop)
		_, _ = io.Copy(io.Discard, orders) // until it is closed
		close(orphaned)
	}()
	pid, failure, err := startConfined(p.Confine)
	if err != nil {
		return Outcome{}, err
	}
	f := &family{main: pid, exited: make(chan syscall.WaitStatus, 1), gone: make(chan struct{})}
	go f.reap()
	outcome := f.watch(p, stop, orphaned)
	text, readErr := io.ReadAll(failure)
	if readErr == nil && len(text) > 0 {
		return outcome, errors.New(string(text))
	}
	return outcome, nil
}

// startConfined starts the helper that becomes the command. What comes out of
// failure is why it could not; nothing comes if it could.
func startConfined(c confinement) (pid int, failure *os.File, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, nil, err
	}
	ordersRead, orders, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	failure, failureWrite, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	pid, err = syscall.ForkExec("/proc/self/exe", []string{helperName, "confine"}, &syscall.ProcAttr{
		Env:   c.Env,
		Files: []uintptr{null.Fd(), 1, 2, ordersRead.Fd(), failureWrite.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	err = errors.Join(err, null.Close(), ordersRead.Close(), failureWrite.Close())
	if err != nil {
		return 0, nil, err
	}
	// If the helper is dead already, that shows in a moment.
	_ = json.NewEncoder(orders).Encode(c)
	return pid, failure, orders.Close()
}

// A family is a command and all processes that descend from it.
type family struct {
	main   int
	exited chan syscall.WaitStatus // gets the status of the command itself
	gone   chan struct{}           // closed when none of them is left
}

// reap waits for children, born to us or adopted, until there are none.
func (f *family) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD
			close(f.gone)
			return
		case pid == f.main:
			f.exited <- status
		}
	}
}

// watch returns when the command has ended, by itself, for a limit, because it was
// told to stop, or because nobody is left who waits for it: then there is no grace,
// in which more could happen that nobody will ever hear of.
func (f *family) watch(p plan, stop, orphaned <-chan struct{}) Outcome {
	var outcome Outcome
	ticks := time.NewTicker(checkEvery)
	defer ticks.Stop()
	var deadline <-chan time.Time
	for {
		select {
		case status := <-f.exited:
			outcome.ExitCode = exitCode(status)
			if status.Signaled() && status.Signal() == syscall.SIGXCPU || outcome.ExitCode == 128+int(syscall.SIGXCPU) {
				outcome.Limit = fmt.Sprintf("processor time of %s", p.Limits.CPU)
			}
			f.finish()
			return outcome
		case <-ticks.C:
			if len(f.members(p.Limits.Processes+1)) > p.Limits.Processes {
				outcome.Limit = fmt.Sprintf("%d processes", p.Limits.Processes)
				outcome.ExitCode = 128 + int(syscall.SIGKILL)
				f.finish()
				return outcome
			}
		case <-orphaned:
			outcome.ExitCode = 128 + int(syscall.SIGKILL)
			f.finish()
			return outcome
		case <-stop:
			stop = nil
			f.terminate(p.Wrapped)
			deadline = time.After(p.Limits.Grace)
		case <-deadline:
			outcome.ExitCode = 128 + int(syscall.SIGKILL)
			f.finish()
			return outcome
		}
	}
}

// terminate asks all of them to end, at the same moment: a shell that saw its
// command end before it was asked itself would go on to the next one. Therefore they
// are stopped first, and the signal waits for them.
func (f *family) terminate(wrapped bool) {
	members := f.members(0)
	if wrapped {
		members = slices.DeleteFunc(members, func(pid int) bool { return pid == f.main })
	}
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGTERM, syscall.SIGCONT} {
		for _, pid := range members {
			_ = syscall.Kill(pid, signal)
		}
	}
}

// finish kills until nobody is left. That every child has been waited for is the
// proof: an orphan would be ours.
func (f *family) finish() {
	again := time.NewTicker(killEvery)
	defer again.Stop()
	giveUp := time.After(killLimit)
	for {
		members := f.members(0)
		// Those who cannot run cannot fork either.
		for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			for _, pid := range members {
				_ = syscall.Kill(pid, signal)
			}
		}
		select {
		case <-f.gone:
			return
		case <-giveUp:
			return
		case <-again.C:
		}
	}
}

// exitCode is what a shell would say.
func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

func prctl(option int, arg uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, uintptr(option), arg, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
