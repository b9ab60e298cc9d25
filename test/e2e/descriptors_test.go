//go:build slow && linux

package e2e

import (
	"fmt"
	"testing"
)

// TestFewDescriptors runs with hardly any file descriptors and more samples in flight
// than these allow connections for: the run ends well, and has a result.
func TestFewDescriptors(t *testing.T) {
	const disks = 5
	sim := startSim(t, "sim/default?p=1&latency=20ms", "")
	for _, limit := range []int{32, 64, 256} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			logDir := t.TempDir()
			o := start(t, "sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$@"`, limit), "sh", makerPath,
				"hanoi", "--disks", fmt.Sprint(disks), "--model", "compat/sim/default", "--base-url", sim.base,
				"--ahead-by", "100", "--max-samples", "300", "--quiet", "--log-dir", logDir).wait(t)
			if o.code != 0 {
				t.Fatalf("maker hanoi with %d descriptors = %v, want that it completes", limit, o)
			}
			dir := runDir(t, logDir)
			mustBeRight(t, dir, disks)
			if r := readResult(t, dir); r.Status != "completed" || r.Voting.Faults > 0 {
				t.Errorf("the result with %d descriptors = %+v, want completed without faults", limit, r)
			}
		})
	}
}
