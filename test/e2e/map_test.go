//go:build slow && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// additions is a table of n sums, no two of which are the same.
func additions(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,a,b\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%d,%d\n", i, i+11, i%89+12)
	}
	return writeFile(t, "sums.csv", b.String())
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mapArgs(file, model string, more ...string) []string {
	return append([]string{"map", file, "--prompt", "What is {{.a}} + {{.b}}?", "--number", "--model", model, "--quiet"}, more...)
}

// TestMapKilledAtRandomMoments kills runs over a table, hundreds of records under way, and
// resumes them each time. Nothing is lost, nothing is committed twice, and what comes out is
// what an undisturbed run gives, to the byte.
func TestMapKilledAtRandomMoments(t *testing.T) {
	kills, records := 100, 3000
	if testing.Short() {
		kills = 10
	}
	file := additions(t, records)
	const voters = "sim/default?p=0.8&malformed=0.05&seed=7&latency=2ms,0.5"
	out := func(dir string) string { return filepath.Join(dir, "out.csv") }

	dir := t.TempDir()
	whole := mustMaker(t, 0, mapArgs(file, voters, "-k", "3", "--max-samples", "100", "--out", out(dir), "--log-dir", dir)...)
	want := readFile(t, out(dir))
	if n := bytes.Count(want, []byte("\n")); n != records+1 {
		t.Fatalf("the output has %d lines, want %d", n, records+1)
	}
	t.Logf("undisturbed: %d records in %s", records, whole.took.Round(time.Millisecond))

	random := rand.New(rand.NewPCG(5, 6))
	longest := whole.took / 10
	done, runs := 0, 0
	for ; done < kills; runs++ {
		dir := t.TempDir()
		n := killUntilDone(t, random, longest, kills-done, mapArgs(file, voters, "-k", "3", "--max-samples", "100", "--out", out(dir), "--log-dir", dir), dir,
			func(run string) { committedOnce(t, run) })
		if n == 0 {
			t.Fatalf("run %d ended before it was killed once", runs)
		}
		done += n
		run := runDir(t, dir)
		mustMaker(t, 0, "show", run, "--out", out(dir))
		if got := readFile(t, out(dir)); !bytes.Equal(got, want) {
			t.Fatalf("after %d kills the output is another: %s", n, firstDifference(got, want))
		}
		if replay := mustMaker(t, 0, "replay", run); !strings.Contains(replay.stdout, "agrees with the stored result") {
			t.Errorf("maker replay = %v, want that it agrees", replay)
		}
		t.Logf("%d kills: %d records, each committed once", n, committedOnce(t, run))
	}
	t.Logf("%d kills in %d runs", done, runs)
}

// committedOnce checks that no record is committed twice and returns how many are.
func committedOnce(t *testing.T, dir string) int {
	t.Helper()
	seen := map[int]bool{}
	for raw := range bytes.Lines(complete(readLog(t, dir))) {
		var l struct {
			Type string
			Step int
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		if l.Type != "step_completed" {
			continue
		}
		if seen[l.Step] {
			t.Fatalf("record %d is committed twice", l.Step)
		}
		seen[l.Step] = true
	}
	return len(seen)
}

func firstDifference(got, want []byte) string {
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d is %q, want %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// TestMapAMillionRecords: what a run over a table keeps in memory does not grow with it.
func TestMapAMillionRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("a million records take some minutes")
	}
	seven := writeFile(t, "seven.yaml", "- match: 'What is'\n  answers: [{text: '7'}]\n")
	peakOf := func(records int) (int64, outcome) {
		dir := t.TempDir()
		defer os.RemoveAll(dir)
		file := additions(t, records)
		out := filepath.Join(dir, "out.csv")
		o, peak := measure(t, mapArgs(file, "sim/default?script="+seven, "--voting", "none", "--yes", "--out", out, "--log-dir", dir)...)
		if o.code != 0 {
			t.Fatalf("maker map over %d records = %v, want exit code 0", records, o)
		}
		if n := bytes.Count(readFile(t, out), []byte("\n")); n != records+1 {
			t.Fatalf("the output has %d lines, want %d", n, records+1)
		}
		return peak, o
	}
	// The peak is the worst moment of the garbage collector, and a long run has more moments:
	// so the worst of several short runs is compared.
	var short int64
	for range 10 {
		p, _ := peakOf(10_000)
		short = max(short, p)
	}
	peak, o := peakOf(1_000_000)
	const mb = 1 << 20
	ratio := float64(peak) / float64(short)
	t.Logf("a million records in %s: peak memory %.1f MB, %.2f times the %.1f MB of ten thousand", o.took.Round(time.Second), float64(peak)/mb, ratio, float64(short)/mb)
	if ratio > 1.3 {
		t.Errorf("peak memory = %.2f times that of ten thousand records, want at most 1.3", ratio)
	}
}
