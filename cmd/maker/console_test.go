//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A console is a terminal that the program runs on, with a person in front of it.
type console struct {
	t    *testing.T
	dir  string
	keys *os.File // what is written here is typed
	cmd  *exec.Cmd
	env  []string // besides what every program gets

	mu     sync.Mutex
	screen strings.Builder
	more   chan struct{} // closed when there is more on the screen, or nothing more to come
	ended  bool
	over   chan struct{} // closed when the program has ended
}

// newConsole makes a terminal on which nothing runs yet.
func newConsole(t *testing.T) (*console, *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120})
	}
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &console{t: t, dir: t.TempDir(), keys: keys, more: make(chan struct{})}, screen
}

// onConsole starts the program on a terminal on which something was typed before.
func onConsole(t *testing.T, typed string, args ...string) *console {
	t.Helper()
	c, screen := newConsole(t)
	c.typeIn(typed)
	c.start(screen, args...)
	return c
}

// write puts files where the program runs.
func (c *console) write(files map[string]string) {
	c.t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *console) start(screen *os.File, args ...string) {
	c.t.Helper()
	c.cmd = exec.Command("maker", args...)
	c.cmd.Dir = c.dir
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TERM=xterm", "GORACE=atexit_sleep_ms=0"}
	c.cmd.Env = append(c.cmd.Env, c.env...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = screen, screen, screen
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	screen.Close()
	c.over = make(chan struct{})
	go func() {
		defer close(c.over)
		buffer := make([]byte, 4096)
		for {
			n, err := c.keys.Read(buffer) // ends when the program does
			c.mu.Lock()
			c.screen.Write(buffer[:n])
			c.ended = err != nil
			close(c.more)
			c.more = make(chan struct{})
			c.mu.Unlock()
			if err != nil {
				break
			}
		}
		_ = c.cmd.Wait() // its state says all
	}()
	c.t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // it may have ended by itself
		<-c.over
		c.keys.Close()
	})
}

func (c *console) typeIn(keys string) {
	c.t.Helper()
	if _, err := c.keys.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

func (c *console) seen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.String()
}

// await waits until a text is on the screen for the n-th time.
func (c *console) await(text string, n int) {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		c.mu.Lock()
		seen, more, ended := c.screen.String(), c.more, c.ended
		c.mu.Unlock()
		if strings.Count(seen, text) >= n {
			return
		}
		if ended {
			c.t.Fatalf("the program ended before %q was on the screen %d times:\n%s", text, n, seen)
		}
		select {
		case <-more:
		case <-deadline:
			c.t.Fatalf("%q is not on the screen %d times:\n%s", text, n, seen)
		}
	}
}

// finish waits for the end of the program and returns its exit code.
func (c *console) finish() int {
	c.t.Helper()
	select {
	case <-c.over:
	case <-time.After(patience):
		c.t.Fatalf("the program does not end:\n%s", c.seen())
	}
	return c.cmd.ProcessState.ExitCode()
}

// exists reports whether the run made a file.
func (c *console) exists(name string) bool {
	_, err := os.Stat(filepath.Join(c.dir, name))
	return err == nil
}

const approvalPrompt = "no, or why not> "

// twoCalls are two tasks that need no model and wait for approval.
var twoCalls = []string{"do", "- Run `touch first.txt`\n- Run `touch second.txt`\n", "--model", "sim/default", "--task-retries", "0", "--sandbox", "off"}

// TestTypedAhead: what was typed before a question was shown answers nothing.
func TestTypedAhead(t *testing.T) {
	for name, typed := range map[string]string{"yes": "y\n", "several": "yes\nyes\nyes\n", "no line end": "yes", "a number": "1\n", "a line and more": "y\ny"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := onConsole(t, typed, twoCalls...)
			c.await("call   Bash", 1)
			c.await(fmt.Sprintf("%d characters that were typed before", len(typed)), 1)
			c.await(approvalPrompt, 1)
			c.typeIn("\n") // does not end what was typed before either
			c.await(approvalPrompt, 2)
			if c.exists("first.txt") {
				t.Errorf("%q, typed before the question, approved the call:\n%s", typed, c.seen())
			}
			c.typeIn("no\n")
			c.await(approvalPrompt, 3)
			c.typeIn("no\n")
			if code := c.finish(); code != 1 || c.exists("first.txt") || c.exists("second.txt") {
				t.Errorf("maker do = exit code %d, want 1 and no call made:\n%s", code, c.seen())
			}
		})
	}
}

// TestTypedTwice: an answer is for one question. What is typed after it is not for the
// next one, which nobody has seen.
func TestTypedTwice(t *testing.T) {
	c := onConsole(t, "", twoCalls...)
	c.await(approvalPrompt, 1)
	c.typeIn("yes\nyes\n")
	c.await(approvalPrompt, 2)
	if !c.exists("first.txt") || c.exists("second.txt") {
		t.Errorf("two answers at one question: first made: %t, second made: %t, want only the first", c.exists("first.txt"), c.exists("second.txt"))
	}
	c.await("4 characters that were typed before", 1)
	c.typeIn("no\n")
	if code := c.finish(); code != 1 || c.exists("second.txt") {
		t.Errorf("maker do = exit code %d, want 1 and no second call:\n%s", code, c.seen())
	}
}
