package tty

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sys/windows"
)

// A Terminal is where a person types. It is for one goroutine at a time.
type Terminal struct {
	file *os.File
	once sync.Once

	mu    sync.Mutex
	lines []string
	ended bool
	more  chan struct{} // gets one when there is a line, or the end
}

// New returns the terminal that a file is.
func New(f *os.File) *Terminal { return &Terminal{file: f, more: make(chan struct{}, 1)} }

// Discard throws away what was typed so far and returns how many characters it was.
// Those of a line that was not ended are not counted.
func (t *Terminal) Discard() (int, error) {
	t.mu.Lock()
	n := 0
	for _, line := range t.lines {
		n += utf8.RuneCountInString(line) + 1
	}
	t.lines = nil
	t.mu.Unlock()
	handle := windows.Handle(t.file.Fd())
	if err := windows.FlushConsoleInputBuffer(handle); err != nil {
		return n, fmt.Errorf("tty: %w", err)
	}
	return n, nil
}

// ReadLine returns the next line that is typed, without its end. It is io.EOF if
// somebody ended the input instead, and the cause of ctx if that ends.
func (t *Terminal) ReadLine(ctx context.Context) (string, error) {
	t.once.Do(func() { go t.read() })
	for {
		t.mu.Lock()
		if len(t.lines) > 0 {
			line := t.lines[0]
			t.lines = t.lines[1:]
			t.mu.Unlock()
			return line, nil
		}
		ended := t.ended
		t.mu.Unlock()
		if ended {
			return "", io.EOF
		}
		select {
		case <-t.more:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// read reads lines as long as the program lives: reading cannot be given up here.
func (t *Terminal) read() {
	in := bufio.NewReaderSize(t.file, longestLine)
	for {
		line, err := in.ReadString('\n')
		t.mu.Lock()
		if line != "" {
			t.lines = append(t.lines, strings.TrimRight(line, "\r\n"))
		}
		t.ended = err != nil
		t.mu.Unlock()
		select {
		case t.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// Keys would call f with what is typed as soon as it is. It is not known how to do that
// here.
func (t *Terminal) Keys(func(typed []byte)) (stop func(), err error) {
	return nil, errors.New("tty: keys cannot be read one by one on this system")
}

// Restore ends what Keys has changed about the terminal.
func (t *Terminal) Restore() {}

// Ignore counts what was typed while keys were read, for the next Discard.
func (t *Terminal) Ignore([]byte) {}

// Foreground reports whether the terminal is this program's at the moment.
func Foreground(int) bool { return true }

// Suspensions gets a signal when the person wants to put the program aside: never.
func Suspensions() (asked <-chan os.Signal, stop func()) { return nil, func() {} }

// Continuations gets a signal when the program goes on after it was stopped: never.
func Continuations() (goOn <-chan os.Signal, stop func()) { return nil, func() {} }

// Suspend stops the program until it is told to go on: never.
func Suspend() bool { return false }
