package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/maker-mdap/maker/internal/process/family"
	"github.com/maker-mdap/maker/internal/process/scratch"
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
const checkEvery = 10 * time.Millisecond

// supervise runs one command, adopts what it leaves behind, and ends all of it
// when the command has ended, a limit is passed or the pipe to our parent
// closes, which it does if the parent dies.
func supervise() int {
	control, reports := os.NewFile(3, "control"), os.NewFile(4, "reports")
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	syscall.CloseOnExec(5) // the lock of the temporary folder, which is ours as long as we live
	var r report
	outcome, err := superviseCommand(control)
	r.Outcome = outcome
	if err != nil {
		r.failure = failed(err)
	}
	_ = json.NewEncoder(reports).Encode(r) // who hears nothing knows that we broke off
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
	defer scratch.Remove(p.Temp)
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
	if p.Mounts {
		switch err := makeReadOnly(p.Workspace, p.ReadOnly); {
		case isRefusal(err):
			return Outcome{}, refuse("%v", err)
		case err != nil:
			return Outcome{}, err
		}
	}
	w := watcher{plan: p, census: newCensus(p.Limits.Processes)}
	var confined helper
	if err := confined.start(p.Confine.Env); err != nil {
		return Outcome{}, err
	}
	w.pid, w.family = confined.pid, family.Of(confined.pid)
	if !p.Without.Cgroup {
		if c, err := cgroupFor(confined.pid, threadsPerProcess*p.Limits.Processes); err == nil { // there are other means
			defer c.remove()
			w.census.cgroup, w.family.Strike = c, c.kill
		}
	}
	confined.order(p.Confine)
	outcome, err := w.watch(stop, orphaned)
	if failure := confined.failure(); failure != nil {
		return outcome, failure
	}
	return outcome, err
}

// A helper is the process that becomes the command.
type helper struct {
	pid     int
	orders  *os.File
	reports *os.File // says why it could not become the command, if so
}

// start starts a helper, which then waits for its orders.
func (h *helper) start(env []string) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	ordersRead, orders, err := os.Pipe()
	if err != nil {
		return err
	}
	reports, reportsWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	h.orders, h.reports = orders, reports
	h.pid, err = syscall.ForkExec("/proc/self/exe", []string{helperName, "confine"}, &syscall.ProcAttr{
		Env:   env,
		Files: []uintptr{null.Fd(), 1, 2, ordersRead.Fd(), reportsWrite.Fd()},
		// The main thread, which init functions run on, lives as long as we do; to the
		// kernel it is the parent.
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	return errors.Join(err, null.Close(), ordersRead.Close(), reportsWrite.Close())
}

// order tells the helper what to become. If it is dead already, that shows in a
// moment.
func (h *helper) order(c confinement) {
	_ = json.NewEncoder(h.orders).Encode(c)
	_ = h.orders.Close()
}

// failure is why the helper could not become the command.
func (h *helper) failure() error {
	data, err := io.ReadAll(h.reports)
	if err != nil || len(data) == 0 {
		return nil
	}
	var f failure
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("the helper broke off: %s", data)
	}
	return f.err()
}

// A watcher waits for a command.
type watcher struct {
	plan   plan
	pid    int
	family *family.Family
	census census
}

// watch returns when the command has ended, by itself, for a limit, because it was
// told to stop, or because nobody is left who waits for it: then there is no grace,
// in which more could happen that nobody will ever hear of.
func (w *watcher) watch(stop, orphaned <-chan struct{}) (Outcome, error) {
	limits := w.plan.Limits
	killed := Outcome{ExitCode: 128 + int(syscall.SIGKILL)}
	ticks := time.NewTicker(checkEvery)
	defer ticks.Stop()
	var deadline <-chan time.Time
	for {
		select {
		case status := <-w.family.Exited:
			outcome := Outcome{ExitCode: family.ExitCode(status)}
			if outcome.ExitCode == 128+int(syscall.SIGXCPU) {
				outcome.Limit = fmt.Sprintf("processor time of %s", limits.CPU)
			}
			return outcome, w.kill()
		case <-ticks.C:
			if w.census.tooMany(w.family) {
				killed.Limit = fmt.Sprintf("%d processes", limits.Processes)
				return killed, w.kill()
			}
		case <-orphaned:
			return killed, w.kill()
		case <-stop:
			stop = nil
			w.terminate()
			deadline = time.After(limits.Grace)
		case <-deadline:
			return killed, w.kill()
		}
	}
}

// kill kills everybody. Who cannot be killed has to be known about.
func (w *watcher) kill() error {
	if w.family.Kill() {
		return nil
	}
	return fmt.Errorf("some of its processes could not be killed within %s; look for children of %s, process %d", family.KillTime, helperName, family.Self())
}

// terminate asks all of them to end, at the same moment: a shell that saw its
// command end before it was asked itself would go on to the next one. Therefore they
// are stopped first, and the signal waits for them.
func (w *watcher) terminate() {
	wrapper := 0
	if w.plan.Wrapped {
		wrapper = w.pid
	}
	w.family.Signal(wrapper, syscall.SIGSTOP, syscall.SIGTERM, syscall.SIGCONT)
}

func prctl(option int, arg uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, uintptr(option), arg, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
