package runner_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
)

// TestInFlight: however many workers do a run, it has no more calls in flight than it may.
func TestInFlight(t *testing.T) {
	settings, err := sim.Parse("sim/default?latency=20ms")
	if err != nil {
		t.Fatal(err)
	}
	handler, err := simserver.Handler(simserver.Options{Default: settings})
	if err != nil {
		t.Fatal(err)
	}
	var now, most atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer now.Add(-1)
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	table := filepath.Join(t.TempDir(), "sums.csv")
	var text strings.Builder
	text.WriteString("a\n")
	for i := range 600 { // six blocks
		fmt.Fprintf(&text, "%d\n", i+11)
	}
	if err := os.WriteFile(table, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	for range 3 {
		c.work(t)
	}
	mapped := []string{"map", table, "--prompt", "What is {{.a}} + 1?", "--number", "-k", "1", "--voting", "first_to_k", "--yes"}
	for _, test := range []struct {
		args     []string
		inFlight int64
		want     int64 // at least
	}{
		{mapped, 1, 1}, {mapped, 3, 3}, {mapped, 20, 12},
		{[]string{"hanoi", "--disks", "5"}, 2, 2},
		{[]string{"solve", "Multiply 48163 by 729", "--domain", "math", "-k", "2"}, 3, 3},
	} {
		t.Run(fmt.Sprint(test.args[0], test.inFlight), func(t *testing.T) {
			most.Store(0)
			run := c.hold(t, append(test.args, "--model", "compat/default", "--base-url", server.URL+"/v1", "--max-in-flight", strconv.FormatInt(test.inFlight, 10))...)
			if out := c.do(t, run); out.Status != event.StatusCompleted {
				t.Errorf("%s ended as %+v", run, out)
			}
			if got := most.Load(); got > test.inFlight || got < test.want {
				t.Errorf("%d calls were in flight, want %d to %d", got, test.want, test.inFlight)
			}
		})
	}
}
