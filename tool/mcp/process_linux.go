package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// helperName is what the program is called when it runs as its own helper.
const (
	helperName = "maker-mcp"
	helperTask = "supervise"
)

func init() {
	if len(os.Args) == 2 && os.Args[0] == helperName && os.Args[1] == helperTask {
		syscall.Exit(supervise()) // not os.Exit: with the race detector that takes a second
	}
}

const (
	prSetChildSubreaper = 36
	killEvery           = 10 * time.Millisecond
	killLimit           = 10 * time.Second // a process in an unkillable state is given up
	exitCannotStart     = 126
)

// launch starts the server below a supervisor: this program once more, which
// adopts what the server leaves behind, and ends all of it when the server ends
// or the pipe to us is closed. Closing it is the order to stop, and happens also
// if we are killed.
func launch(cmd *exec.Cmd, o orders) (ending, error) {
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
		// The server has asked the kernel to die with its supervisor.
		kill:     func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) },
		sweep:    func() { _ = control.Close() },
		patience: o.Grace + killLimit + 2*time.Second, // it should not come to this
	}, nil
}

// supervise is the main function of the supervisor. Its exit code is the server's,
// as a shell would give it.
func supervise() int {
	syscall.CloseOnExec(3)
	control := bufio.NewReader(os.NewFile(3, "control"))
	var o orders
	line, err := control.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if err == nil {
		err = prctl(prSetChildSubreaper, 1)
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
		fmt.Fprintf(os.Stderr, "cannot start %s: %v\n", o.Path, err)
		return exitCannotStart
	}
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		_, _ = io.Copy(io.Discard, control) // until it is closed
	}()
	f := family{server: pid, exited: make(chan syscall.WaitStatus, 1), gone: make(chan struct{})}
	go f.reap()
	return f.watch(stop, o.Grace)
}

// letGo gives up stdin and stdout, which are the server's alone: the other side
// must see it when the server closes them.
func letGo() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(syscall.Dup3(int(null.Fd()), 0, 0), syscall.Dup3(int(null.Fd()), 1, 0), null.Close())
}

// A family is a server and what descends from it.
type family struct {
	server int
	exited chan syscall.WaitStatus // gets the status of the server itself
	gone   chan struct{}           // closed when none of them is left
}

// reap waits for children, born to us or adopted, until there are none.
func (f family) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD
			close(f.gone)
			return
		case pid == f.server:
			f.exited <- status
		}
	}
}

func (f family) watch(stop <-chan struct{}, grace time.Duration) int {
	var deadline <-chan time.Time
	for {
		select {
		case status := <-f.exited:
			f.finish()
			if status.Signaled() {
				return 128 + int(status.Signal())
			}
			return status.ExitStatus()
		case <-stop:
			stop = nil
			_ = syscall.Kill(-f.server, syscall.SIGTERM)
			deadline = time.After(grace)
		case <-deadline:
			f.finish()
			return 128 + int(syscall.SIGKILL)
		}
	}
}

// finish kills until nobody is left. Who has left the server's group becomes our
// child when its parent dies.
func (f family) finish() {
	again := time.NewTicker(killEvery)
	defer again.Stop()
	giveUp := time.After(killLimit)
	for {
		_ = syscall.Kill(-f.server, syscall.SIGKILL)
		for _, pid := range children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
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

// children lists the children of this process.
func children() []int {
	var out []int
	entries, _ := os.ReadDir("/proc") // without it there is still the group
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// State and parent follow the name, which may contain anything.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if len(fields) > 1 && string(fields[1]) == strconv.Itoa(os.Getpid()) {
			out = append(out, pid)
		}
	}
	return out
}

func prctl(option int, arg uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, uintptr(option), arg, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
