//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// slowHanoi takes long enough to look at it.
var slowHanoi = []string{"hanoi", "--disks", "8", "--model", "sim/default?p=0.9&latency=20ms", "--max-usd", "5"}

// settings are those of a terminal.
func (c *console) settings() unix.Termios {
	c.t.Helper()
	s, err := unix.IoctlGetTermios(int(c.keys.Fd()), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	return *s
}

// left checks that a program that has ended leaves the terminal as it was.
func (c *console) left(before unix.Termios) {
	c.t.Helper()
	seen := c.seen()
	if now := c.settings(); now != before {
		c.t.Errorf("the terminal's settings are %+v, and were %+v", now, before)
	}
	if strings.LastIndex(seen, "\x1b[?25l") > strings.LastIndex(seen, "\x1b[?25h") {
		c.t.Errorf("the cursor stays hidden: %q", seen[max(0, len(seen)-300):])
	}
	for _, mode := range []string{"\x1b[?1049h", "\x1b[?2004h", "\x1b[?1000h", "\x1b[?2026$p", "\x1b[?u", "\x1b[6n"} {
		if strings.Contains(seen, mode) {
			c.t.Errorf("the terminal gets %q, which changes it or makes it answer", mode)
		}
	}
}

// TestLiveInterrupted interrupts a run at many moments: nothing of the live view is left
// behind.
func TestLiveInterrupted(t *testing.T) {
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c, screen := newConsole(t)
			before := c.settings()
			hold, err := os.Open(screen.Name()) // so that it can be looked at after the end
			if err != nil {
				t.Fatal(err)
			}
			defer hold.Close()
			c.start(screen, slowHanoi...)
			c.await("of 255 steps", 1+i)
			_ = c.cmd.Process.Signal(syscall.SIGINT)
			c.await("Continue with: maker resume", 1)
			if state, err := c.cmd.Process.Wait(); err == nil && state.ExitCode() != 130 {
				t.Errorf("maker hanoi = exit code %d, want 130", state.ExitCode())
			}
			c.left(before)
		})
	}
}

// TestLiveCancelledTwice: who does not want to wait for the end presses Ctrl-C again.
func TestLiveCancelledTwice(t *testing.T) {
	c, screen := newConsole(t)
	before := c.settings()
	hold, err := os.Open(screen.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	// The tool cannot be cancelled: its command ignores signals for a while.
	c.start(screen, "do", "- Run `trap '' TERM INT; sleep 5`", "--model", "sim/default", "--sandbox", "off", "--approve", "none")
	c.await("q cancel", 1)
	c.await("call   Bash", 1)
	_ = c.cmd.Process.Signal(syscall.SIGINT)
	_ = c.cmd.Process.Signal(syscall.SIGINT)
	if state, err := c.cmd.Process.Wait(); err == nil && state.ExitCode() != 130 {
		t.Errorf("maker do = exit code %d, want 130", state.ExitCode())
	}
	c.left(before)
}

// TestLivePaused pauses a run by a key, lets it go on by another, and asks before it
// cancels it.
func TestLivePaused(t *testing.T) {
	c := onConsole(t, "", slowHanoi...)
	c.await("p pause", 1)
	c.typeIn("p")
	c.await("paused: p goes on", 1)
	c.typeIn("p")
	c.await("p pause", 2)
	c.typeIn("q")
	c.await("cancel the run?", 1)
	c.typeIn("n")
	c.await("p pause", 3)
	c.typeIn("q")
	c.await("cancel the run?", 2)
	c.typeIn("y")
	if code := c.finish(); code != 130 {
		t.Errorf("maker hanoi = exit code %d, want 130:\n%s", code, c.seen())
	}
	runs, err := filepath.Glob(filepath.Join(c.dir, "runs", "*", "events.jsonl"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("there are the runs %q, want one", runs)
	}
	log, err := os.ReadFile(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), `"type":"run_resumed"`); n != 1 {
		t.Errorf("the run was resumed %d times, want once", n)
	}
	if out, err := exec.Command("maker", "replay", filepath.Dir(runs[0])).CombinedOutput(); err != nil {
		t.Errorf("maker replay: %v\n%s", err, out)
	}
}

// TestLiveAsk: one question is all of the run, and its votes are shown as they arrive.
func TestLiveAsk(t *testing.T) {
	c := onConsole(t, "", "ask", "Compute: (12 + 3) * 4", "--model", "sim/default?p=0.7&latency=600ms,0.7", "--number", "-k", "4")
	c.await("● 60", 1)
	if code := c.finish(); code != 0 {
		t.Errorf("maker ask = exit code %d, want 0:\n%s", code, c.seen())
	}
}

// tmux is a real terminal, with a shell in it.
type tmux struct {
	t      *testing.T
	socket string
	dir    string
}

func newTmux(t *testing.T, width, height int) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux")
	}
	s := &tmux{t: t, socket: filepath.Join(t.TempDir(), "s"), dir: t.TempDir()}
	s.command("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", s.dir,
		"env", "PATH="+os.Getenv("PATH"), "HOME="+s.dir, "PS1=shell$ ", "HISTFILE=/dev/null", "GORACE=atexit_sleep_ms=0", "bash", "--norc", "-i")
	s.command("set", "-g", "status", "off")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	s.await(`shell\$$`)
	return s
}

func (s *tmux) command(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *tmux) keys(keys ...string) { s.command(append([]string{"send-keys"}, keys...)...) }

func (s *tmux) screen() string { return strings.TrimRight(s.command("capture-pane", "-p"), "\n") }

func (s *tmux) resize(width, height int) {
	s.command("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// await waits until the screen matches.
func (s *tmux) await(pattern string) string {
	s.t.Helper()
	want := regexp.MustCompile("(?m)" + pattern)
	deadline := time.Now().Add(patience)
	for {
		screen := s.screen()
		if want.MatchString(screen) {
			return screen
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%q is not on the screen:\n%s", pattern, screen)
		}
		time.Sleep(20 * time.Millisecond) // tmux has no way to wait for a text
	}
}

// TestLiveInTmux resizes a terminal while a run goes on, puts the run aside and back, and
// ends it: on every size there is one drawing and nothing of the one before.
func TestLiveInTmux(t *testing.T) {
	s := newTmux(t, 120, 30)
	s.keys("maker hanoi --disks 9 --model 'sim/default?p=0.9&latency=100ms'", "Enter")
	for _, size := range [][2]int{{120, 30}, {80, 24}, {40, 20}, {61, 12}, {120, 30}, {33, 30}, {100, 8}, {90, 30}} {
		s.resize(size[0], size[1])
		s.await(`^p pause  q cancel`)
		time.Sleep(250 * time.Millisecond) // for what would be drawn on top of it
		screen := s.await(`^p pause  q cancel`)
		for _, once := range []string{" of 511 steps", "p pause", "Towers of Hanoi", ` of \d+ in flight`} {
			if n := len(regexp.MustCompile("(?m)"+once).FindAllString(screen, -1)); n > 1 {
				t.Errorf("on %d x %d %q is on the screen %d times:\n%s", size[0], size[1], once, n, screen)
			}
		}
		if size[1] > 20 && !strings.Contains(screen, " Towers of Hanoi with 9 disks") {
			t.Errorf("on %d x %d the title is not on the screen:\n%s", size[0], size[1], screen)
		}
	}
	s.keys("Down")
	s.await(`^> \[x\] step \d+ contested  \d+-\d+$`)
	s.keys("Enter")
	s.await(`^    \d+ votes? for `)
	s.keys("C-z")
	if screen := s.await(`Stopped +maker hanoi`); strings.Contains(screen, "p pause") {
		t.Errorf("the drawing is still there:\n%s", screen)
	}
	s.keys("fg", "Enter")
	s.await(`^p pause  q cancel`)
	s.keys("C-z")
	s.await(`(?s)Stopped.*Stopped +maker hanoi`)
	s.keys("bg", "Enter", "clear", "Enter")
	s.await(`^shell\$$`)
	s.keys("fg", "Enter")
	s.await(`^p pause  q cancel`)
	s.keys("C-c")
	screen := s.await(`^interrupted; everything committed is kept`)
	if strings.Contains(screen, "p pause") {
		t.Errorf("the keys are still there:\n%s", screen)
	}
	s.keys("echo still echo", "Enter") // which the terminal shows while it is typed
	s.await(`shell\$ echo still echo`)
}

// TestLiveStopped: a program that was stopped without being asked draws anew when it goes on,
// and hears keys; behind the shell it draws nothing.
func TestLiveStopped(t *testing.T) {
	s := newTmux(t, 100, 30)
	s.keys("maker hanoi --disks 9 --model 'sim/default?latency=200ms'", "Enter")
	s.await(`^p pause  q cancel`)
	stop := func() {
		s.command("run-shell", "kill -STOP $(pgrep -P "+strings.TrimSpace(s.command("display-message", "-p", "#{pane_pid}"))+" maker)")
	}
	stop()
	s.await(`Stopped +maker hanoi`)
	s.keys("clear", "Enter")
	s.await(`^shell\$$`)
	s.keys("fg", "Enter")
	s.await(`^p pause  q cancel`)
	screen := s.await(` of 511 steps`)
	for _, once := range []string{" of 511 steps", "p pause", "Towers of Hanoi"} {
		if strings.Count(screen, once) != 1 {
			t.Errorf("%q is on the screen %d times:\n%s", once, strings.Count(screen, once), screen)
		}
	}
	s.keys("p")
	s.await(`^paused: p goes on`)
	s.keys("p")
	s.await(`^p pause  q cancel`)
	stop()
	s.await(`Stopped +maker hanoi`)
	s.keys("clear", "Enter")
	s.await(`^shell\$$`)
	s.keys("bg", "Enter")
	s.await(`maker hanoi .* &$`)
	s.keys("jobs", "Enter")
	if screen := s.await(`Running +maker hanoi`); strings.Contains(screen, "p pause") {
		t.Errorf("it is drawn from behind the shell:\n%s", screen)
	}
	s.keys("fg", "Enter")
	s.await(`^p pause  q cancel`)
	s.keys("C-c")
	s.await(`^interrupted; everything committed is kept`)
}

// TestAskedBehindTheShell: a question that comes up while the program is behind its shell waits
// until it is in front, and can be answered there.
func TestAskedBehindTheShell(t *testing.T) {
	s := newTmux(t, 100, 40)
	s.keys("maker run 'Find the files with TODO comments in src, count them per file, and write a summary to summary.md.' --model sim/default &", "Enter")
	s.await(`^3 steps, `)
	s.command("run-shell", "while ! grep -q '^State:.T' /proc/$(pgrep -P "+strings.TrimSpace(s.command("display-message", "-p", "#{pane_pid}"))+" maker)/status; do sleep 0.02; done")
	s.keys("fg", "Enter")
	s.await(`^run, edit, or stop>$`)
	s.keys("stop", "Enter")
	s.await(`^run, edit, or stop> stop$`)
	s.await(`nothing was carried out`)
	s.keys("echo it is over", "Enter")
	s.await(`^it is over$`)
}

// TestLiveLeavesNoCopies: a terminal that becomes narrower keeps no copies of the drawing above
// the screen, where tmux puts what it takes for a screen that is cleared.
func TestLiveLeavesNoCopies(t *testing.T) {
	s := newTmux(t, 120, 30)
	s.keys("clear; maker hanoi --disks 9 --model 'sim/default?p=0.8&latency=20ms'", "Enter")
	s.await(`^contested lately`)
	s.resize(100, 30)
	s.await(`^contested lately: (step \d+ \d+-\d+(, )?){6}`)                                          // it was drawn anew many times
	if all := s.command("capture-pane", "-p", "-S", "-"); strings.Count(all, "Towers of Hanoi") > 2 { // one if it was resized in the middle of a drawing
		t.Errorf("the drawing is there %d times:\n%s", strings.Count(all, "Towers of Hanoi"), all)
	}
	s.keys("C-c")
	s.await(`^interrupted; everything committed is kept`)
}

// TestAsideWhileItAsks: a question can be put aside and is there again afterwards.
func TestAsideWhileItAsks(t *testing.T) {
	s := newTmux(t, 120, 40)
	s.keys("maker run '"+todoTask+"' --model 'sim/default?p=0.9&seed=1' --sandbox off", "Enter")
	s.await(`^run, edit, or stop>$`)
	s.keys("C-z")
	s.await(`Stopped +maker run`)
	s.keys("fg", "Enter")
	s.await(`^maker run .*\n(.*\n)?run, edit, or stop>$`)
	s.keys("stop", "Enter")
	s.await(`^nothing was carried out`)
}

// TestClosedWhileItAsks: closing the terminal ends a run that asks as Ctrl-C does.
func TestClosedWhileItAsks(t *testing.T) {
	s := newTmux(t, 120, 40)
	s.keys("maker run '"+todoTask+"' --model 'sim/default?p=0.9&seed=1' --sandbox off", "Enter")
	s.await(`^run, edit, or stop>$`)
	s.command("kill-server")
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) { // nobody tells when
		results, err := filepath.Glob(filepath.Join(s.dir, "runs", "*", "result.json"))
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the run does not end: %v", err)
		}
		if len(results) == 0 {
			continue
		}
		if text, err := os.ReadFile(results[0]); err != nil || !strings.Contains(string(text), `"stop": "cancelled"`) {
			t.Errorf("the result is %s, %v, want that it was cancelled", text, err)
		}
		return
	}
}

// todoTask is a task that the simulator knows.
const todoTask = "Find the files with TODO comments in src, count them per file, and write a summary to summary.md."

// onTodoTask starts the task on a terminal, with an editor.
func onTodoTask(t *testing.T, editor string, args ...string) *console {
	t.Helper()
	c, screen := newConsole(t)
	if err := os.MkdirAll(filepath.Join(c.dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(c.dir, "editor")
	for name, text := range map[string]string{"src/app.py": "# TODO a\n# TODO b\n", "src/db.py": "# TODO c\n"} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+editor+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.env = []string{"EDITOR=" + program}
	c.start(screen, append([]string{"run", todoTask, "--model", "sim/default?p=0.9&seed=1", "-k", "3", "--sandbox", "off"}, args...)...)
	return c
}

const planPrompt = "run, edit, or stop> "

// TestScriptIsShownFirst: so it is with a script, and one that the person wrote is checked.
func TestScriptIsShownFirst(t *testing.T) {
	c, screen := newConsole(t)
	editor := filepath.Join(c.dir, "editor.sh")
	for name, text := range map[string]string{
		"rules.yaml": "- match: Say it\n  answers:\n  - text: |\n      def main(args):\n          return \"one\"\n",
		"editor.sh":  "#!/bin/sh\nif grep -q main \"$1\"; then sed -i s/main/mean/ \"$1\"; else sed -i 's/mean/main/; s/one/two/' \"$1\"; fi\n",
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.env = []string{"EDITOR=" + editor}
	c.start(screen, "run", "Say it", "--as", "script", "--model", "sim/default?script=rules.yaml", "--sandbox", "off")
	c.await("the script:", 1)
	c.await("def main(args):", 1)
	c.await(planPrompt, 1)
	c.typeIn("edit\n")
	c.await("def mean(args):", 1)
	c.await(planPrompt, 2)
	c.typeIn("run\n")
	c.await("This script does not pass its checks:", 1)
	c.await("there is no function main", 1)
	c.await("edit, or stop> ", 3)
	c.typeIn("edit\n")
	c.await(planPrompt, 3)
	c.typeIn("run\n")
	if code := c.finish(); code != 0 || !strings.Contains(c.seen(), "two") || strings.Contains(c.seen(), "the plan") {
		t.Errorf("maker run --as script = exit code %d, want 0 and two:\n%s", code, c.seen())
	}
}

// TestPlanIsShownFirst: on a terminal nothing is carried out before the person has seen the
// plan, which can be changed.
func TestPlanIsShownFirst(t *testing.T) {
	t.Run("stop", func(t *testing.T) {
		t.Parallel()
		c := onTodoTask(t, "")
		c.await("write_summary    Write   may change something: Write", 1)
		c.await("if voters agree: about $", 1)
		c.await(planPrompt, 1)
		c.typeIn("yess\n")
		c.await(`"yess" is none of run, edit, or stop`, 1)
		c.await(planPrompt, 2)
		c.typeIn("stop\n")
		if code := c.finish(); code != 130 || !strings.Contains(c.seen(), "nothing was carried out; you are asked about the plan again with: maker resume") {
			t.Errorf("maker run = exit code %d, want 130:\n%s", code, c.seen())
		}
	})
	t.Run("edit", func(t *testing.T) {
		t.Parallel()
		c := onTodoTask(t, `if grep -q '^plan:' "$1"; then sed -i s/write_summary/write_it_down/ "$1"; else sed -i s/TODO/OPEN/ "$1"; fi`)
		c.await(planPrompt, 1)
		c.typeIn("edit\n")
		c.await("write_it_down    Write", 1)
		c.await(planPrompt, 2)
		c.typeIn("run\n")
		c.await("+ # TODO comments", 1)
		c.await("vote   5-2 of 7 samples, 0 discarded", 1)
		c.await(`file_path: "summary.txt" instead of "summary.md"`, 1)
		c.await(approvalPrompt, 1)
		c.typeIn("edit\n")
		c.await("+ # OPEN comments", 1)
		c.await("call it like this? yes or no> ", 1)
		c.typeIn("yes\n")
		if code := c.finish(); code != 0 || !strings.Contains(c.seen(), "undo: rm ") {
			t.Errorf("maker run = exit code %d, want 0 and how to undo it:\n%s", code, c.seen())
		}
		if text, err := os.ReadFile(filepath.Join(c.dir, "summary.md")); err != nil || !strings.HasPrefix(string(text), "# OPEN comments\n") {
			t.Errorf("summary.md is %q, %v, want what the person made of it", text, err)
		}
	})
	t.Run("a tool that is not there", func(t *testing.T) {
		t.Parallel()
		// The first try has a typo; the second mends it, because it goes on with the first.
		c := onTodoTask(t, `sed -i 's/\[Wrote\]/[Write, Read]/; s/primary_tools: \[Write\]/primary_tools: [Wrote]/' "$1"`)
		c.await(planPrompt, 1)
		c.typeIn("edit\n")
		c.await("did you mean Write?", 1)
		c.await("edit again? yes or no> ", 1)
		c.typeIn("yes\n")
		c.await("Write, Read", 1)
		c.await(planPrompt, 2)
		c.typeIn("run\n")
		c.await(approvalPrompt, 1)
		c.typeIn("yes\n")
		if code := c.finish(); code != 0 {
			t.Errorf("maker run = exit code %d, want 0:\n%s", code, c.seen())
		}
	})
	t.Run("slips in arguments", func(t *testing.T) {
		t.Parallel()
		// One slip after the other: no JSON, no such argument, and then what is meant.
		c := onTodoTask(t, `sed -i 's/"file_pth"/"file_path"/; s/"file_path" "/"file_pth": "/; s/"file_path": "summary/"file_path" "SUMMARY/' "$1"`, "--yes")
		c.await(approvalPrompt, 1)
		c.typeIn("edit\n")
		c.await("that is no JSON", 1)
		c.await("edit again? yes or no> ", 1)
		c.typeIn("yes\n")
		c.await("file_pth", 1)
		c.await("edit again? yes or no> ", 2)
		c.typeIn("yes\n")
		c.await("SUMMARY.md, a new file", 1)
		c.await("call it like this? yes or no> ", 1)
		c.typeIn("yes\n")
		if code := c.finish(); code != 0 || !c.exists("SUMMARY.md") {
			t.Errorf("maker run = exit code %d, want 0 and SUMMARY.md:\n%s", code, c.seen())
		}
	})
	t.Run("a mistake", func(t *testing.T) {
		t.Parallel()
		c := onTodoTask(t, `sed -i 's/primary_tools: .Write./primary_tools: [Write/' "$1"`)
		c.await(planPrompt, 1)
		c.typeIn("edit\n")
		c.await("edit again? yes or no> ", 1)
		c.typeIn("no\n")
		c.await(planPrompt, 2)
		c.typeIn("stop\n")
		c.finish()
	})
	t.Run("not asked", func(t *testing.T) {
		t.Parallel()
		for _, flag := range [][]string{{"--approve", "none"}, {"--yes", "--allow", "Write"}} {
			c := onTodoTask(t, "", flag...)
			if code := c.finish(); code != 0 || strings.Contains(c.seen(), planPrompt) || !strings.Contains(c.seen(), "may change something: Write") {
				t.Errorf("maker run %q = exit code %d, want 0 and the plan, but no question:\n%s", flag, code, c.seen())
			}
		}
	})
}
