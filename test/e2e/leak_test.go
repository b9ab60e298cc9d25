//go:build slow && linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sockets counts the open sockets of a process. It is 0 once the process is
// gone.
func sockets(pid int) int {
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return 0
	}
	n := 0
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "socket:") {
			n++
		}
	}
	return n
}

// TestNoLeaks watches the connections of a run at both ends.
func TestNoLeaks(t *testing.T) {
	const disks, aheadBy, spareSamples = 9, 5, 3
	// A connection may be opened while another one becomes free, and one that
	// was cancelled may take a moment to close: 10 of them on an idle machine, and
	// twice as many on a busy one. If they stayed open, they would be hundreds.
	const few = 40
	for _, spare := range []int{0, spareSamples} {
		t.Run(fmt.Sprintf("spare %d", spare), func(t *testing.T) {
			server := startSim(t, "sim/default?p=0.95&malformed=0.03&latency=2ms,0.5&seed=9", "")
			idle := sockets(server.cmd.Process.Pid)
			logDir := t.TempDir()
			p := start(t, makerPath, "hanoi", "--disks", fmt.Sprint(disks), "--model", "compat/default", "--base-url", server.base,
				"--ahead-by", fmt.Sprint(aheadBy), "--spare", fmt.Sprint(spare), "--quiet", "--log-dir", logDir)
			atMaker, atServer, looks := 0, 0, 0
			for ; p.running(); looks++ {
				atMaker = max(atMaker, sockets(p.cmd.Process.Pid))
				atServer = max(atServer, sockets(server.cmd.Process.Pid))
			}
			if o := p.wait(t); o.code != 0 {
				t.Fatalf("maker hanoi = %v, want exit code 0", o)
			}
			sum := mustBeRight(t, runDir(t, logDir), disks)
			eventually(t, "the server has as few sockets as before", func() bool { return sockets(server.cmd.Process.Pid) <= idle })

			seen := server.stats(t)
			const most = aheadBy + spareSamples + few
			if atMaker == 0 || atMaker > most || atServer > most+idle {
				t.Errorf("open sockets = %d at most, %d at the server, want 1 to %d", atMaker, atServer, most)
			}
			switch {
			case seen.Connections == nil:
				t.Errorf("GET /stats: connections = null, want how many there were: maker sim does not count them")
			case spare == 0 && *seen.Connections > most+1: // this test's own request is one
				t.Errorf("GET /stats: connections = %d for %d requests, want at most %d: they are not used again", *seen.Connections, seen.Requests, most+1)
			}
			connections := int64(-1)
			if seen.Connections != nil {
				connections = *seen.Connections
			}
			t.Logf("%d steps, %d requests of which %d were cancelled, %d connections in all (-1: not counted); open at once: %d at maker, %d at the server (%d looks)",
				sum.steps, seen.Requests, seen.Cancelled, connections, atMaker, atServer, looks)
		})
	}
}
