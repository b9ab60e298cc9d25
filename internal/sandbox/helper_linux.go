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

	"github.com/maker-mdap/maker/internal/family"
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

// checkEvery is how often the number of processes is looked at.
const checkEvery = 25 * time.Millisecond

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
	if err := family.Adopt(); err != nil {
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
	outcome := watch(family.Of(pid), pid, p, stop, orphaned)
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

// watch returns when the command has ended, by itself, for a limit, because it was
// told to stop, or because nobody is left who waits for it: then there is no grace,
// in which more could happen that nobody will ever hear of.
func watch(f *family.Family, pid int, p plan, stop, orphaned <-chan struct{}) Outcome {
	var outcome Outcome
	ticks := time.NewTicker(checkEvery)
	defer ticks.Stop()
	var deadline <-chan time.Time
	for {
		select {
		case status := <-f.Exited:
			outcome.ExitCode = family.ExitCode(status)
			if outcome.ExitCode == 128+int(syscall.SIGXCPU) {
				outcome.Limit = fmt.Sprintf("processor time of %s", p.Limits.CPU)
			}
			f.Kill()
			return outcome
		case <-ticks.C:
			if len(family.Members(p.Limits.Processes+1)) > p.Limits.Processes {
				outcome.Limit = fmt.Sprintf("%d processes", p.Limits.Processes)
				outcome.ExitCode = 128 + int(syscall.SIGKILL)
				f.Kill()
				return outcome
			}
		case <-orphaned:
			outcome.ExitCode = 128 + int(syscall.SIGKILL)
			f.Kill()
			return outcome
		case <-stop:
			stop = nil
			terminate(pid, p.Wrapped)
			deadline = time.After(p.Limits.Grace)
		case <-deadline:
			outcome.ExitCode = 128 + int(syscall.SIGKILL)
			f.Kill()
			return outcome
		}
	}
}

// terminate asks all of them to end, at the same moment: a shell that saw its
// command end before it was asked itself would go on to the next one. Therefore they
// are stopped first, and the signal waits for them.
func terminate(pid int, wrapped bool) {
	members := family.Members(0)
	if wrapped {
		members = slices.DeleteFunc(members, func(member int) bool { return member == pid })
	}
	family.Signal(members, syscall.SIGSTOP, syscall.SIGTERM, syscall.SIGCONT)
}

func prctl(option int, arg uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, uintptr(option), arg, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
