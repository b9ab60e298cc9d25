//go:build linux

package mcp

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestNoLeak runs before the parallel tests, alone. Whatever happens to a server,
// no goroutine and no file is left after Close.
func TestNoLeak(t *testing.T) {
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	round := func(t *testing.T) {
		site := newSite(t, nil)
		good, raw, impatient := fixture("good"), fixture("raw"), fixture("hang")
		good.Trusted, good.CallTimeout = true, Duration(50*time.Millisecond)
		impatient.StartTimeout = Duration(50 * time.Millisecond)
		s, r := connect(t, map[string]Server{"good": good, "raw": raw, "web": site.config(), "hang": impatient, "exit": fixture("exit")}, nil)
		for _, name := range []string{"mcp__good__echo", "mcp__good__never_read", "mcp__good__always_dies", "mcp__raw__garbage", "mcp__web__read"} {
			_, _ = call(t, r, name, `{}`) // most of them fail
		}
		s.Close()
	}
	t.Run("warm up", round)
	before := files()
	for range 3 {
		t.Run("round", round)
	}
	// What the SDK does on the side to cancel a call ends soon after it.
	var left []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if left = ours(); len(left) == 0 {
			break
		}
	}
	if len(left) > 0 {
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
	if after := files(); after > before {
		t.Errorf("%d files are open after three rounds, want %d as before", after, before)
	}
}

var ourFrame = regexp.MustCompile(`maker/tool/mcp\.(\(|open|launch|start)|streamableClientConn|mcp\.\(\*ClientSession\)`)

// ours lists the goroutines of this package and of the SDK's client.
func ours() []string {
	buf := make([]byte, 1<<20)
	var out []string
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if ourFrame.MatchString(g) && !strings.Contains(g, "mcp.ours(") {
			out = append(out, g)
		}
	}
	return out
}
