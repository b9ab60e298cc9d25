package family

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER, which package syscall does not know
	killEvery         = 5 * time.Millisecond
	everybody         = -1 // all processes of the namespace but the first and oneself
)

// KillTime is the most that [Family.Kill] takes: a process in an unkillable state is
// given up. It is long because those who fork for ever take their time to be found if
// nothing else helps.
const KillTime = 30 * time.Second

// Adopt makes this process the parent of descendants that lose theirs.
func Adopt() error {
	makeThreads()
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// makeThreads makes the threads that this process may ever need. Later there may be no
// room for them, because somebody fills the machine with processes, and a Go program
// that cannot have a thread crashes.
func makeThreads() {
	const threads = 10 // more than were ever seen to be in use
	var ready, done sync.WaitGroup
	all := make(chan struct{})
	for range threads {
		ready.Add(1)
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			<-all
		})
	}
	ready.Wait()
	close(all)
	done.Wait()
}

// A Family is a child of this process and all processes that descend from it.
type Family struct {
	Exited <-chan syscall.WaitStatus // gets the status of the child itself

	// Strike, if it is not nil, kills those whom it can reach in a better way than
	// one by one. It is called again until nobody is left.
	Strike func()

	first bool          // this process is the first of a PID namespace
	gone  chan struct{} // closed when none of them is left
}

// Of returns the family of a child of this process, which has called [Adopt]. From
// here on nobody else can wait for a child: the family waits for all of them.
func Of(child int) *Family {
	exited := make(chan syscall.WaitStatus, 1)
	f := &Family{Exited: exited, first: os.Getpid() == 1, gone: make(chan struct{})}
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

// Kill kills until nobody is left, and reports whether that is so. That every child
// has been waited for is the proof: an orphan would be ours.
func (f *Family) Kill() bool {
	giveUp := time.After(KillTime)
	for {
		if f.Strike != nil {
			f.Strike()
		}
		if f.first {
			_ = syscall.Kill(everybody, syscall.SIGKILL)
		} else {
			// Those who cannot run cannot fork either.
			Signal(heads(), syscall.SIGKILL)
			Signal(stop(0), syscall.SIGKILL)
		}
		again := time.NewTimer(killEvery)
		select {
		case <-f.gone:
			again.Stop()
			return true
		case <-giveUp:
			again.Stop()
			return false
		case <-again.C:
		}
	}
}

// Freeze stops everybody, so that they can be counted in peace; or at least limit of
// them, if they cannot all be stopped at once.
func (f *Family) Freeze(limit int) {
	if f.first {
		_ = syscall.Kill(everybody, syscall.SIGSTOP)
		return
	}
	stop(limit)
}

// Thaw lets those go on whom Freeze has stopped. It goes by groups, as stopping does: a
// process that is just being born gets the signals of its group, and not those of its
// parent.
func (f *Family) Thaw() {
	if f.first {
		_ = syscall.Kill(everybody, syscall.SIGCONT)
		return
	}
	groups := map[int]bool{syscall.Getpgrp(): true} // ours was not stopped
	walk(func(pid int, p process) bool {
		if p.group > 1 && !groups[p.group] {
			groups[p.group] = true
			_ = syscall.Kill(-p.group, syscall.SIGCONT)
		}
		_ = syscall.Kill(pid, syscall.SIGCONT)
		return true
	})
}

// Signal sends signals to everybody: the first to all of them, then the next. Where
// they are found one by one, but is left out.
func (f *Family) Signal(but int, signals ...syscall.Signal) {
	if !f.first {
		Signal(slices.DeleteFunc(Members(0), func(pid int) bool { return pid == but }), signals...)
		return
	}
	for _, signal := range signals {
		_ = syscall.Kill(everybody, signal)
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
