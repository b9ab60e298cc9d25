package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/maker-mdap/maker/internal/process/family"
)

// TestMade: the kernel's numbers of processes tell how many were made, also when they
// have begun again.
func TestMade(t *testing.T) {
	for _, test := range []struct {
		before, wrap, last int
		made               int
		known              bool
	}{
		{100, 32768, 100, 0, true},
		{100, 32768, 107, 7, true},
		{32760, 32768, 5, 13, true},
		{101, 32768, 100, 32767, true}, // that many, or none
		{-1, 32768, 100, 0, false},
		{100, 32768, -1, 0, false},
		{100, 0, 107, 0, false},
		{100, 32768, 0, 0, false},
		{0, 32768, 100, 0, false},
	} {
		c := census{last: test.before, wrap: test.wrap}
		made, known := c.made(test.last)
		if known != test.known || known && made != test.made {
			t.Errorf("after %d of %d, %d was made last: made() = %d, %t, want %d, %t", test.before, test.wrap, test.last, made, known, test.made, test.known)
		}
	}
	if c := newCensus(1); c.wrap <= 0 || c.last != 0 || lastProcess() <= 0 {
		t.Errorf("newCensus() = %+v, and the last process is %d, want numbers of the kernel", c, lastProcess())
	}
}

// TestCensus counts processes of our own, where no control group does it. Those that
// were made in a burst are stopped meanwhile, and go on unless they are too many.
func TestCensus(t *testing.T) {
	const room = 1000
	before := family.Count(room)
	var pids []int
	for range 3 {
		cmd := exec.Command("sleep", "600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		pids = append(pids, cmd.Process.Pid)
	}
	there := before + len(pids)
	stopped := func() bool {
		for _, pid := range pids {
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), ") T ") {
				return false
			}
		}
		return true
	}
	for _, test := range []struct {
		name          string
		limit, before int // before is what the last census knew: how many were made since
		tooMany, stop bool
	}{
		{"as many as there may be", there, 0, false, false},
		{"one too many", there - 1, 0, true, false},
		{"far too many", 1, 0, true, false},
		{"a burst of as many as there may be", there, 20 * room, false, false},
		{"a burst of too many", there - 1, 20 * room, true, true},
	} {
		c := census{limit: test.limit, last: 0, wrap: 40 * room}
		if test.before > 0 {
			c.last = lastProcess() - test.before
			if c.last <= 0 {
				c.last += c.wrap
			}
		}
		if got := c.tooMany(&family.Family{}); got != test.tooMany || c.counted != min(there, test.limit+1) || c.last <= 0 {
			t.Errorf("%s: tooMany() = %t with %d counted, want %t with %d", test.name, got, c.counted, test.tooMany, there)
		}
		waitFor(t, func() bool { return stopped() == test.stop })
		family.Signal(pids, syscall.SIGCONT)
		waitFor(t, func() bool { return !stopped() })
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for range 1000 {
		if so() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the processes are not in the state that they should be in")
}

// TestLastProcess: what the kernel does not tell is not known.
func TestLastProcess(t *testing.T) {
	for load, want := range map[string]int{
		"0.20 0.18 0.12 1/80 11206\n": 11206, "": 0, "0.20 0.18 0.12 1/80 none\n": 0, "0.20 0.18 0.12 1/80 -5": 0, "1/80 0": 0, " \n": 0, "7": 7,
	} {
		if got := lastIn(load); got != want {
			t.Errorf("lastIn(%q) = %d, want %d", load, got, want)
		}
	}
	if lastProcess() < 1 {
		t.Errorf("lastProcess() = %d, want that of somebody", lastProcess())
	}
}
