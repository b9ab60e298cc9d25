//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// elsewhere runs the program in another terminal, so to say, and returns all that it says.
func (c *console) elsewhere(args ...string) (string, error) {
	c.t.Helper()
	cmd := exec.Command("maker", args...)
	cmd.Dir, cmd.Env = c.dir, c.cmd.Env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// asks waits until the run on the console waits for a person, and returns its process.
func (c *console) asks() int {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		var s struct {
			State string
			PID   int
		}
		out, err := c.elsewhere("runs", "--json")
		if err == nil && json.Unmarshal([]byte(out), &s) == nil && s.State == "waiting" && s.PID != 0 {
			return s.PID
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the run does not ask: %s, %v\n%s", out, err, c.seen())
		}
	}
}

// TestAnsweredFromElsewhere: a question that is on one terminal is answered on another, and
// the run goes on.
func TestAnsweredFromElsewhere(t *testing.T) {
	c := calling(t, "work", "Bash", `{"command": "touch done.txt"}`)
	if got := c.asks(); got != c.cmd.Process.Pid {
		t.Errorf("the run is written by process %d, want %d", got, c.cmd.Process.Pid)
	}
	begun := time.Now()
	out, err := c.elsewhere("answer", "last", "--text", "yes")
	if err != nil || !strings.Contains(out, "answered: the call may be made; the run has taken it") {
		t.Errorf("maker answer = %s, %v, want that the run has taken it", out, err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("maker answer takes %s", took)
	}
	<-c.over
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the run = exit code %d, want 0:\n%s", code, c.seen())
	}
	if _, err := os.Stat(filepath.Join(c.dir, "done.txt")); err != nil {
		t.Errorf("the call was not made: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.dir, "runs", "*", "answers", "*")); len(left) > 0 {
		t.Errorf("the answer was left lying at %s", left)
	}
	if out, err := c.elsewhere("replay", "last"); err != nil {
		t.Errorf("maker replay = %v: %s", err, out)
	}
}

// TestAnsweredOnATerminal: a run that waits is asked about on a terminal as it would have asked
// there itself.
func TestAnsweredOnATerminal(t *testing.T) {
	c, screen := newConsole(t)
	c.write(map[string]string{"plan.yaml": fmt.Sprintf(onePlan, "work"), "rules.yaml": fmt.Sprintf(oneCall, "Write", `{"file_path": "new.txt", "content": "hello"}`)})
	run := exec.Command("maker", "exec", "plan.yaml", "--model", "sim/default?script=rules.yaml", "--sandbox", "off")
	run.Dir = c.dir
	if out, err := run.CombinedOutput(); run.ProcessState.ExitCode() != 5 {
		t.Fatalf("maker exec = %v, want exit code 5:\n%s", err, out)
	}
	c.start(screen, "answer", "last")
	c.await("new.txt, a new file", 1)
	c.await("vote   ", 1)
	c.await("yes, run, always, edit, "+approvalPrompt, 1)
	c.typeIn("yes\n")
	if code := c.finish(); code != 0 || !strings.Contains(c.seen(), "answered: the call may be made; continue with: maker resume") {
		t.Errorf("maker answer = exit code %d, want 0 and how to go on:\n%s", code, c.seen())
	}
	if out, err := c.elsewhere("resume", "last", "--no-input"); err != nil || !c.exists("new.txt") {
		t.Errorf("maker resume = %v, made: %t, want that the call is made:\n%s", err, c.exists("new.txt"), out)
	}
}

// TestPausedWhileItAsks: so is a run ended that waits on another terminal.
func TestPausedWhileItAsks(t *testing.T) {
	c := calling(t, "work", "Bash", `{"command": "touch done.txt"}`)
	c.asks()
	if out, err := c.elsewhere("pause", "last"); err != nil {
		t.Errorf("maker pause = %v: %s", err, out)
	}
	<-c.over
	if code := c.cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(c.seen(), "maker resume ") {
		t.Errorf("the run = exit code %d, want 130 and how to go on:\n%s", code, c.seen())
	}
	for _, step := range []struct {
		args  []string
		state string // of the run afterwards
	}{
		{[]string{"show", "last"}, "paused"},
		{[]string{"answer", "last", "--text", "yes"}, "answered"},
		{[]string{"resume", "last", "--no-input"}, "completed"},
		{[]string{"replay", "last"}, "completed"},
	} {
		if out, err := c.elsewhere(step.args...); err != nil {
			t.Errorf("maker %s = %v: %s", step.args, err, out)
		}
		if out, err := c.elsewhere("runs", "--json"); err != nil || !strings.Contains(out, fmt.Sprintf(`"state":%q`, step.state)) {
			t.Errorf("maker runs after %s = %s, %v, want %s", step.args, out, err, step.state)
		}
	}
	if _, err := os.Stat(filepath.Join(c.dir, "done.txt")); err != nil {
		t.Errorf("the call was not made: %v", err)
	}
}

// TestRemovalIsAskedAbout: only a yes removes.
func TestRemovalIsAskedAbout(t *testing.T) {
	for answer, stays := range map[string]bool{"no": true, "yes": false} {
		c, screen := newConsole(t)
		c.start(screen, "hanoi", "--disks", "2", "--model", "sim/default")
		<-c.over
		rm, screen := newConsole(t)
		rm.dir = c.dir
		rm.start(screen, "prune", "--keep", "0")
		rm.await("Remove hanoi-", 1)
		rm.typeIn(answer + "\n")
		<-rm.over
		left, err := filepath.Glob(filepath.Join(c.dir, "runs", "hanoi-*"))
		if err != nil || (len(left) > 0) != stays {
			t.Errorf("after %s there is %q, want that it stays: %t\n%s", answer, left, stays, rm.seen())
		}
	}
}
