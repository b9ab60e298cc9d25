//go:build unix

package tty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// A Terminal is where a person types. It is for one goroutine at a time.
type Terminal struct {
	fd   int
	rest []byte // read, and not part of a line that was asked for
}

// New returns the terminal that a file is.
func New(f *os.File) *Terminal { return &Terminal{fd: int(f.Fd())} }

// Discard throws away what was typed so far and returns how many characters it was.
// A line that was begun and not ended counts as well.
func (t *Terminal) Discard() (int, error) {
	typed := t.rest
	t.rest = nil
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
	return utf8.RuneCount(typed), nil
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
