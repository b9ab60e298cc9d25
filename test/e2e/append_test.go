//go:build slow && linux

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dissent is a model with a seed for which the runs below are right and have
// both contested steps and red flags. Without latency it is asked one sample
// after the other, so a resumed run gets the same answers.
const dissent = "sim/default?p=0.9&malformed=0.05&seed=3"

// TestKillAtEveryAppend cuts a finished log after every line and in the middle
// of every line, which is exactly what a kill at that moment leaves, and resumes
// each.
func TestKillAtEveryAppend(t *testing.T) {
	for _, tc := range []struct {
		log   string
		disks int
	}{{"compact", 5}, {"full", 4}} {
		t.Run(tc.log, func(t *testing.T) {
			logDir := t.TempDir()
			// One sample after the other: a vote that goes on gets the answers that it would
			// have got, which the simulator draws in the order of the calls.
			mustMaker(t, 0, "hanoi", "--disks", fmt.Sprint(tc.disks), "--model", dissent, "--log", tc.log, "--batch-size", "1", "--quiet", "--log-dir", logDir)
			dir := runDir(t, logDir)
			sum := mustBeRight(t, dir, tc.disks)
			if sum.contested == 0 || sum.flagged == 0 {
				t.Fatalf("the run has %d contested steps and %d red flags, want some of both", sum.contested, sum.flagged)
			}
			log := readLog(t, dir)
			index, err := os.ReadFile(filepath.Join(dir, "steps.idx"))
			if err != nil {
				t.Fatal(err)
			}
			cuts := cutsOf(log)
			t.Logf("%d lines, %d contested steps, %d red flags: %d cuts", bytes.Count(log, []byte("\n")), sum.contested, sum.flagged, len(cuts))
			for i, cut := range cuts {
				for _, kept := range []struct {
					name  string
					index []byte
				}{
					{"whole", index},
					{"no", nil},
					{"cut", index[:len(index)*i/len(cuts)]}, // often in the middle of a record
				} {
					t.Run(fmt.Sprintf("at byte %d with %s index", cut, kept.name), func(t *testing.T) {
						t.Parallel()
						resumeCut(t, log[:cut], kept.index, tc.disks, sum)
					})
				}
			}
		})
	}
}

// cutsOf returns the ends and the middles of the lines of a log.
func cutsOf(log []byte) []int {
	var cuts []int
	for at := 0; at < len(log); {
		length := bytes.IndexByte(log[at:], '\n') + 1
		cuts = append(cuts, at+length/2, at+length)
		at += length
	}
	return cuts
}

// resumeCut resumes a run whose folder holds the log and, unless it is nil, the
// index, and demands that it ends as the undisturbed run did.
func resumeCut(t *testing.T, log, index []byte, disks int, undisturbed totals) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"events.jsonl": log, "steps.idx": index}
	for name, data := range files {
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := complete(log)
	if len(before) == 0 {
		// Nothing was promised yet. The program must say so and leave it alone.
		if o := mustMaker(t, 1, "resume", dir, "--quiet"); !strings.Contains(o.stderr, "never started") {
			t.Fatalf("maker resume of an empty log = %v, want that it never started", o)
		}
		return
	}
	o := mustMaker(t, 0, "resume", dir, "--quiet")
	after := readLog(t, dir)
	mustExtend(t, before, after)
	if len(before) == len(after) != strings.Contains(o.stderr, "finished already") {
		t.Fatalf("maker resume = %v; the log grew by %d bytes", o, len(after)-len(before))
	}
	sum := mustBeRight(t, dir, disks)
	if sum.samples != undisturbed.samples || sum.flagged != undisturbed.flagged || sum.contested != undisturbed.contested {
		t.Errorf("resumed at byte %d: %d samples, %d flagged, %d contested; want %d, %d and %d as without the kill", len(log),
			sum.samples, sum.flagged, sum.contested, undisturbed.samples, undisturbed.flagged, undisturbed.contested)
	}
	for _, step := range []int{0, sum.steps - 1} { // the index is whole again
		shown := mustMaker(t, 0, "show", dir, "--step", fmt.Sprint(step))
		if !strings.HasPrefix(shown.stdout, fmt.Sprintf("step %d,", step)) {
			t.Errorf("maker show --step %d = %v, want that step", step, shown)
		}
	}
}

// TestKillAfterEveryLine follows the events of live runs and kills each run
// right after the next line: whatever it has announced must be in its log.
func TestKillAfterEveryLine(t *testing.T) {
	const disks = 3
	for _, log := range []string{"compact", "full"} {
		t.Run(log, func(t *testing.T) {
			args := []string{"hanoi", "--disks", fmt.Sprint(disks), "--model", dissent + "&latency=2ms", "--log", log, "--json"}
			killed, late := 0, 0
			for n := 1; ; n++ {
				logDir := t.TempDir()
				seen, o := killAfter(t, n, append(args, "--log-dir", logDir))
				if len(seen) < n {
					break // there are no more lines
				}
				if o.code == 0 {
					late++ // it ended in the moment between the line and the kill
				} else {
					killed++
				}
				dir := runDir(t, logDir)
				before := readLog(t, dir)
				announced := bytes.Join(seen, nil)
				if bytes.HasPrefix(seen[n-1], []byte(`{"type":"result"`)) {
					announced = bytes.Join(seen[:n-1], nil)
				}
				mustExtend(t, announced, before)
				mustMaker(t, 0, "resume", dir, "--quiet")
				mustExtend(t, complete(before), readLog(t, dir))
				mustBeRight(t, dir, disks)
			}
			t.Logf("killed after %d different lines; %d times the run was faster", killed, late)
			if killed < 1<<disks {
				t.Errorf("killed %d times, want at least once a step", killed)
			}
		})
	}
}

// killAfter kills maker as soon as it has printed n lines, and returns them.
func killAfter(t *testing.T, n int, args []string) ([][]byte, outcome) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := startWith(t, w, makerPath, args...)
	w.Close()
	in := bufio.NewReaderSize(r, 1<<20)
	var seen [][]byte
	for len(seen) < n {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break // it ended
		}
		seen = append(seen, line)
	}
	return seen, p.kill()
}
