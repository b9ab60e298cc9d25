//go:build linux

package tty

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// open makes a terminal: what is written to keys is typed.
func open(t *testing.T) (keys *os.File, terminal *Terminal) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		screen.Close()
		keys.Close()
	})
	if !IsTerminal(screen) {
		t.Fatal("IsTerminal(a terminal) = false")
	}
	return keys, New(screen)
}

func TestDiscard(t *testing.T) {
	for _, typed := range []string{"", "y\n", "y", "yes\nno\nmaybe", "ü\n", strings.Repeat("long", 500)} {
		keys, terminal := open(t)
		if _, err := keys.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		n, err := terminal.Discard()
		if want := len([]rune(typed)); n != want || err != nil {
			t.Errorf("Discard(%.20q typed) = %d, %v, want %d", typed, n, err, want)
		}
		if _, err := keys.WriteString("answer\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := terminal.ReadLine(t.Context()); line != "answer" || err != nil {
			t.Errorf("ReadLine(after %.20q was discarded) = %q, %v, want answer", typed, line, err)
		}
	}
}

func TestReadLine(t *testing.T) {
	keys, terminal := open(t)
	if _, err := keys.WriteString("one\ntwo\r\n\x04"); err != nil { // the last ends the input
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		if line, err := terminal.ReadLine(t.Context()); line != want || err != nil {
			t.Errorf("ReadLine() = %q, %v, want %q", line, err, want)
		}
	}
	for { // a carriage return may have been taken for another line end
		line, err := terminal.ReadLine(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if line != "" || err != nil {
			t.Fatalf("ReadLine(at the end) = %q, %v, want %v", line, err, io.EOF)
		}
	}
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := terminal.ReadLine(ctx)
		done <- err
	}()
	cancel(over)
	if err := <-done; !errors.Is(err, over) {
		t.Errorf("ReadLine(cancelled) = %v, want %v", err, over)
	}
}
