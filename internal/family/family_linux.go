package family

import (
	"errors"
	"syscall"
	"time"
)

const (
	setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER, which package syscall does not know
	killEvery         = 5 * time.Millisecond
)

// KillTime is the most that [Family.Kill] takes: a process in an unkillable state is
// given up.
const KillTime = 10 * time.Second

// Adopt makes this process the parent of descendants that lose theirs.
func Adopt() error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// A Family is a child of this process and all processes that descend from it.
type Family struct {
	Exited <-chan syscall.WaitStatus // gets the status of the child itself

	gone chan struct{} // closed when none of them is left
}

// Of returns the family of a child of this process, which has called [Adopt]. From
// here on nobody else can wait for a child: the family waits for all of them.
func Of(child int) *Family {
	exited := make(chan syscall.WaitStatus, 1)
	f := &Family{Exited: exited, gone: make(chan struct{})}
	go f.reap(child, exited)
	return f
}

// reap waits for children, born to us or adopted, until there are none.
func (f *Family) reap(child int, exited chan<- syscall.WaitStatus) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD
			close(f.gone)
			return
		case pid == child:
			exited <- status
		}
	}
}

// Kill kills until nobody is left. That every child has been waited for is the
// proof: an orphan would be ours.
func (f *Family) Kill() {
	again := time.NewTicker(killEvery)
	defer again.Stop()
	giveUp := time.After(KillTime)
	for {
		// Those who cannot run cannot fork either.
		Signal(Members(0), syscall.SIGSTOP, syscall.SIGKILL)
		select {
		case <-f.gone:
			return
		case <-giveUp:
			return
		case <-again.C:
		}
	}
}

// Signal sends signals to processes: the first to all of them, then the next.
func Signal(pids []int, signals ...syscall.Signal) {
	for _, signal := range signals {
		for _, pid := range pids {
			_ = syscall.Kill(pid, signal)
		}
	}
}

// ExitCode is what a shell would say.
func ExitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
