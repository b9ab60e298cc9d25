package supervise

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/maker-mdap/maker/internal/process/family"
)

// helperName is what the program is called when it runs as its own helper.
const (
	helperName = "maker-supervisor"
	helperTask = "supervise"
)

func init() {
	if len(os.Args) == 2 && os.Args[0] == helperName && os.Args[1] == helperTask {
		syscall.Exit(supervise()) // not os.Exit: with the race detector that takes a second
	}
}

const exitCannotStart = 126

// launch starts the program below a supervisor: this program once more, which
// adopts what the program leaves behind, and ends all of it when the program ends
// or the pipe to us is closed. Closing it is the order to stop, and happens also
// if we are killed.
func launch(cmd *exec.Cmd, o Orders) (ending, error) {
	controlRead, control, err := os.Pipe()
	if err != nil {
		return ending{}, err
	}
	cmd.Path = "/proc/self/exe" // also if the program was replaced on disk
	cmd.Args = []string{helperName, helperTask}
	cmd.Env = []string{} // its environment can be read; ours is not for everybody
	cmd.ExtraFiles = []*os.File{controlRead}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, and no signals meant for us
	err = cmd.Start()
	err = errors.Join(err, controlRead.Close())
	if err != nil {
		return ending{}, errors.Join(err, control.Close())
	}
	// If the supervisor is dead already, that shows in a moment.
	_ = json.NewEncoder(control).Encode(o)
	return ending{
		terminate: func() { _ = control.Close() },
		// The program has asked the kernel to die with its supervisor.
		kill:     func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) },
		sweep:    func() { _ = control.Close() },
		patience: o.Grace + family.KillTime + 2*time.Second, // it should not come to this
	}, nil
}

// supervise is the main function of the supervisor. Its exit code is that of the
// program, as a shell would give it.
func supervise() int {
	syscall.CloseOnExec(3)
	control := bufio.NewReader(os.NewFile(3, "control"))
	var o Orders
	line, err := control.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if err == nil {
		err = family.Adopt()
	}
	var pid int
	if err == nil {
		// The main thread, which init functions run on, lives as long as we do; to
		// the kernel it is the parent.
		pid, err = syscall.ForkExec(o.Path, o.Args, &syscall.ProcAttr{
			Dir: o.Dir, Env: o.Env, Files: []uintptr{0, 1, 2},
			Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
		})
	}
	if err == nil {
		err = letGo()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s%s: %v\n", CannotStart, o.Path, err)
		return exitCannotStart
	}
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		_, _ = io.Copy(io.Discard, control) // until it is closed
	}()
	return outlive(family.Of(pid), pid, stop, o.Grace)
}

// letGo gives up stdin and stdout, which are the program's alone: the other side
// must see it when the program closes them.
func letGo() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(syscall.Dup3(int(null.Fd()), 0, 0), syscall.Dup3(int(null.Fd()), 1, 0), null.Close())
}

// outlive returns the exit code when nobody of the program's family is left.
func outlive(f *family.Family, program int, stop <-chan struct{}, grace time.Duration) int {
	var deadline <-chan time.Time
	for {
		select {
		case status := <-f.Exited:
			f.Kill()
			return family.ExitCode(status)
		case <-stop:
			stop = nil
			_ = syscall.Kill(-program, syscall.SIGTERM)
			deadline = time.After(grace)
		case <-deadline:
			f.Kill()
			return 128 + int(syscall.SIGKILL)
		}
	}
}
