// Package supervise runs a program with everything that it starts, and ends all of it.
//
// The program gets a session of its own. On Linux a supervisor stands between it and
// us, which is this program started again under the name maker-supervisor (the init
// function of this package takes over then): it adopts what the program leaves behind,
// and ends everything when the program ends, when we say so, or when we die in whatever
// way. Elsewhere the process group is ended, and what has left it is not found.
package supervise

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Orders say what program to run, and how.
type Orders struct {
	Path string
	Args []string // with the program's name
	Env  []string
	Dir  string

	// Grace is between the signal that asks it to end and the one that does not; before
	// the first it has a quarter of that to notice that its stdin is closed.
	Grace time.Duration
}

// A Process is a program with everything that it starts.
type Process struct {
	Stdin  *os.File
	Stdout *os.File
	Stderr *Tail
	Done   <-chan struct{} // closed when nothing of it is left

	stopping  chan struct{} // closed when it is to end
	stopOnce  sync.Once
	polite    time.Duration // between the closing of stdin and the first signal
	done      chan struct{}
	waitError error // valid once done is closed
}

// CannotStart is how the last words of a supervisor begin whose program cannot be
// started.
const CannotStart = "cannot start "

const (
	tailSize = 4 << 10 // of stderr is kept

	// farewell is how long there may be output after the program has ended: somebody
	// who got away may hold the other end.
	farewell = 2 * time.Second
)

// An ending is how a platform ends what was launched.
type ending struct {
	terminate func()        // asks all of it to end
	kill      func()        // ends it
	sweep     func()        // ends what is left once the program itself has ended
	patience  time.Duration // between terminate and kill
}

// Start starts a program. Its owner has to stop it and wait for Done, even if it has
// ended by itself, and to close Stdout.
func Start(o Orders) (*Process, error) {
	stdinRead, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, stdoutWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdinRead.Close(), stdin.Close())
	}
	p := &Process{
		Stdin: stdin, Stdout: stdout, Stderr: NewTail(tailSize),
		stopping: make(chan struct{}), polite: o.Grace / 4, done: make(chan struct{}),
	}
	p.Done = p.done
	cmd := &exec.Cmd{Stdin: stdinRead, Stdout: stdoutWrite, Stderr: p.Stderr, WaitDelay: farewell}
	end, err := launch(cmd, o)
	err = errors.Join(err, stdinRead.Close(), stdoutWrite.Close())
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	go p.watch(cmd, end)
	return p, nil
}

// watch owns the process: it waits for its end and, when told to, brings it about.
func (p *Process) watch(cmd *exec.Cmd, end ending) {
	defer close(p.done)
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		p.waitError = cmd.Wait()
	}()
	select {
	case <-exited:
	case <-p.stopping:
		_ = p.Stdin.Close() // which is how a client says goodbye
		if !within(p.polite, exited) {
			end.terminate()
			if !within(end.patience, exited) {
				end.kill()
			}
		}
		<-exited
	}
	end.sweep()
	_ = p.Stdin.Close()
	_ = p.Stdout.SetReadDeadline(time.Now().Add(farewell))
}

// MaxLine bounds a line of what a program prints.
const MaxLine = 16 << 20

// Lines goes through the lines that the program prints.
func (p *Process) Lines() *bufio.Scanner {
	lines := bufio.NewScanner(p.Stdout)
	lines.Buffer(nil, MaxLine)
	return lines
}

// LastWords are the last of what the program wrote to stderr, as many as an error has
// room for.
func (p *Process) LastWords() string {
	const most = 500
	words := p.Stderr.String()
	if len(words) > most {
		words = "[...]" + words[len(words)-most:]
	}
	return strings.ToValidUTF8(words, "")
}

// Stop makes the program end, and returns at once.
func (p *Process) Stop() { p.stopOnce.Do(func() { close(p.stopping) }) }

// HowItEnded says how the program ended, if it does so within a moment; if not, it has
// only stopped talking.
func (p *Process) HowItEnded() string {
	if !within(time.Second, p.done) {
		return "it closed its stdin or stdout"
	}
	exit, ok := errors.AsType[*exec.ExitError](p.waitError)
	switch {
	case p.waitError == nil:
		return "it ended with exit code 0"
	case !ok:
		return "it ended: " + p.waitError.Error()
	case exit.ExitCode() > 128 && exit.ExitCode() <= 128+64:
		return fmt.Sprintf("it was ended by signal %d", exit.ExitCode()-128)
	}
	return "it ended with " + strings.ReplaceAll(exit.String(), "exit status", "exit code")
}

// within reports whether done is closed before the time is up.
func within(limit time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
