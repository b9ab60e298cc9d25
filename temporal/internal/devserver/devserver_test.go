package devserver

import (
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
)

// TestStartedAgain: a server that does not answer any more is started again, with what it knew.
func TestStartedAgain(t *testing.T) {
	s := ForTest(t)
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; {
		c, err := client.DialContext(t.Context(), client.Options{HostPort: s.Address, Logger: Quiet{}})
		if err == nil {
			c.Close()
			return
		}
		if time.Since(begun) > 2*time.Minute {
			t.Fatal(err)
		}
	}
}
