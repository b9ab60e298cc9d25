//go:build unix

package tty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// A Terminal is where a person types. It is for one goroutine at a time.
type Terminal struct {
	fd      int
	rest    []byte // read, and not part of a line that was asked for
	ignored int    // characters that were typed while keys were read and that nobody wanted

	mu     sync.Mutex
	before *unix.Termios // the settings to go back to, while keys are read
}

// New returns the terminal that a file is.
func New(f *os.File) *Terminal { return &Terminal{fd: int(f.Fd())} }

// Discard throws away what was typed so far and returns how many characters it was.
// A line that was begun and not ended counts as well. Behind a shell the program is put aside
// until the terminal is its own: the settings there are the shell's.
func (t *Terminal) Discard() (int, error) {
	for !Foreground(t.fd) && Suspend() {
	}
	typed, ignored := t.rest, t.ignored
	t.rest, t.ignored = nil, 0
	before, err := unix.IoctlGetTermios(t.fd, getSettings)
	if err != nil {
		return 0, fmt.Errorf("tty: %w", err)
	}
	// Usually only whole lines can be read, and reading waits for one.
	now := *before
	now.Lflag &^= unix.ICANON
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(t.fd, setSettings, &now); err != nil {
		return 0, fmt.Errorf("tty: %w", err)
	}
	buffer := make([]byte, 4096)
	for {
		n, err := unix.Read(t.fd, buffer)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 || err != nil {
			break
		}
		typed = append(typed, buffer[:n]...)
		if len(typed) > longestLine {
			typed = typed[:longestLine] // somebody leans on the keyboard
			break
		}
	}
	// What came in between goes too.
	if err := unix.IoctlSetTermios(t.fd, setAndFlush, before); err != nil {
		return 0, fmt.Errorf("tty: %w", err)
	}
	return ignored + utf8.RuneCount(typed), nil
}

// Ignore counts what was typed while keys were read, and meant nothing, for the next
// Discard.
func (t *Terminal) Ignore(typed []byte) { t.ignored += utf8.RuneCount(typed) }

// Keys calls f with what is typed as soon as it is, without showing it, until stop is
// called. Ctrl-C and Ctrl-Z stay the signals that they are.
func (t *Terminal) Keys(f func(typed []byte)) (stop func(), err error) {
	if !Foreground(t.fd) {
		return nil, errors.New("tty: the terminal is another program's at the moment")
	}
	before, err := unix.IoctlGetTermios(t.fd, getSettings)
	if err != nil {
		return nil, fmt.Errorf("tty: %w", err)
	}
	now := *before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	ended, end, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("tty: %w", err)
	}
	t.mu.Lock()
	t.before = before
	t.mu.Unlock()
	if err := unix.IoctlSetTermios(t.fd, setSettings, &now); err != nil {
		return nil, errors.Join(fmt.Errorf("tty: %w", err), ended.Close(), end.Close())
	}
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 256)
		for wait(t.fd, int(ended.Fd())) == nil && !over.Load() {
			n, err := unix.Read(t.fd, buffer)
			if n > 0 {
				f(buffer[:n])
			} else if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
				return // the terminal is gone
			}
		}
	}()
	return func() {
		over.Store(true)
		end.Close()
		<-done
		ended.Close()
		t.Restore()
	}, nil
}

// Restore ends what Keys has changed about the terminal. It may be called at any time, by
// any goroutine.
func (t *Terminal) Restore() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.before != nil && Foreground(t.fd) { // a shell has set its own, and stops whoever sets others
		_ = unix.IoctlSetTermios(t.fd, setSettings, t.before) // there is nothing else to try
	}
	t.before = nil
}

// Foreground reports whether the terminal is this program's at the moment: a shell can have
// put it behind itself.
func Foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// Suspensions gets a signal when the person wants to put the program aside (Ctrl-Z), which
// then has to call [Suspend].
func Suspensions() (asked <-chan os.Signal, stop func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, unix.SIGTSTP)
	return ch, func() { signal.Stop(ch) }
}

// Continuations gets a signal when the program goes on after it was stopped, by whomever: what
// is on the terminal and how it is set is then no longer what the program has left.
func Continuations() (goOn <-chan os.Signal, stop func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, unix.SIGCONT)
	return ch, func() { signal.Stop(ch) }
}

// Suspend stops the program until it is told to go on, unless there is no shell that could
// tell it, and reports whether it did. (The language leaves no way back to what Ctrl-Z does by
// itself.)
func Suspend() bool {
	own, err := unix.Getsid(0)
	if shell, other := unix.Getsid(unix.Getppid()); err != nil || other != nil || shell != own {
		return false
	}
	goOn, stop := Continuations()
	defer stop()
	if err := unix.Kill(unix.Getpid(), unix.SIGSTOP); err != nil {
		return false
	}
	<-goOn
	return true
}

// ReadLine returns the next line that is typed, without its end. It is io.EOF if
// somebody ended the input instead, and the cause of ctx if that ends.
func (t *Terminal) ReadLine(ctx context.Context) (string, error) {
	ended, end, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("tty: %w", err)
	}
	defer ended.Close()
	stop := context.AfterFunc(ctx, func() { end.Close() })
	defer func() {
		if stop() {
			end.Close()
		}
	}()
	buffer := make([]byte, 4096)
	for {
		if line, rest, ok := bytes.Cut(t.rest, []byte("\n")); ok {
			t.rest = rest
			return string(bytes.TrimRight(line, "\r")), nil
		}
		if len(t.rest) > longestLine {
			t.rest = nil
			return "", errors.New("tty: the line is too long")
		}
		if err := wait(t.fd, int(ended.Fd())); err != nil {
			return "", err
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := unix.Read(t.fd, buffer)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.EIO):
			return "", io.EOF // the terminal is gone
		case err != nil:
			return "", fmt.Errorf("tty: %w", err)
		case n == 0:
			line := string(t.rest)
			t.rest = nil
			if line == "" {
				return "", io.EOF
			}
			return line, nil
		default:
			t.rest = append(t.rest, buffer[:n]...)
		}
	}
}

// wait returns when one of the files can be read, or was closed at its other end.
func wait(files ...int) error {
	polled := make([]unix.PollFd, len(files))
	for i, fd := range files {
		polled[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	for {
		_, err := unix.Poll(polled, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("tty: %w", err)
		}
		return nil
	}
}
