//go:build slow && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// changes is a script with questions and files that it writes, in a map and in a chain.
const changes = `
def note(n):
    twice = ask("What is %d + %d?" % (n, n), number = True)
    call("Write", file_path = "items/%d.txt" % n, content = str(twice))
    return twice

def turn(n):
    next = ask("What is %d + 1?" % n, number = True)
    if next % 10 == 0:
        call("Write", file_path = "turns/%d.txt" % next, content = str(next))
    return next

def main():
    items = map(range(1, 61), note)
    last = chain(0, turn, times = 150)
    return [items, last, ask("What is %d + %d?" % (last, len(items)), number = True)]
`

// TestScriptKilledAtRandomMoments kills runs of a script: nothing is lost, decided or committed
// twice, and no call is made twice.
func TestScriptKilledAtRandomMoments(t *testing.T) {
	kills := 60
	if testing.Short() {
		kills = 10
	}
	file := writeFile(t, "changes.star", changes)
	const voters = "sim/default?p=0.9&seed=7&latency=2ms,0.5"
	args := func(dir string) []string {
		return []string{"script", file, "--model", voters, "--approve", "none", "--workspace", filepath.Join(dir, "work"), "--log-dir", filepath.Join(dir, "runs"), "--quiet"}
	}
	newDir := func() string {
		dir := t.TempDir()
		for _, name := range []string{"items", "turns"} {
			if err := os.MkdirAll(filepath.Join(dir, "work", name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	dir := newDir()
	whole := mustMaker(t, 0, args(dir)...)
	want := scriptOutput(t, runDir(t, filepath.Join(dir, "runs")))
	t.Logf("undisturbed: %s", whole.took.Round(time.Millisecond))

	random := rand.New(rand.NewPCG(3, 4))
	done, runs := 0, 0
	for ; done < kills; runs++ {
		dir := newDir()
		logs := filepath.Join(dir, "runs")
		n := killUntilDone(t, random, whole.took/8, kills-done, args(dir), logs, func(run string) { onceEach(t, run) })
		if runs > kills {
			t.Fatalf("%d runs were killed %d times", runs, done)
		}
		done += n
		run := runDir(t, logs)
		onceEach(t, run)
		if got := scriptOutput(t, run); !bytes.Equal(got, want) {
			t.Errorf("after %d kills the output is %s, want %s", n, got, want)
		}
		for i := 1; i <= 60; i++ {
			if got := readFile(t, filepath.Join(dir, "work", "items", fmt.Sprintf("%d.txt", i))); string(got) != fmt.Sprint(2*i) {
				t.Errorf("item %d says %q", i, got)
			}
		}
		mustMaker(t, 0, "replay", run)
	}
	t.Logf("%d kills in %d runs", done, runs)
}

// onceEach checks that no question of a run is decided twice, no step is committed twice, and no
// call has two outcomes.
func onceEach(t *testing.T, dir string) {
	t.Helper()
	seen := map[string]bool{}
	for raw := range bytes.Lines(complete(readLog(t, dir))) {
		var l struct {
			Type, Question, Effect string
			Step                   int
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		id := ""
		switch l.Type {
		case "vote_completed":
			id = "question " + l.Question
		case "effect_done":
			id = "effect " + l.Effect
		case "step_completed":
			id = fmt.Sprint("step ", l.Step)
		default:
			continue
		}
		if seen[id] {
			t.Fatalf("%s is there twice", id)
		}
		seen[id] = true
	}
}

// scriptOutput is what the script of a run returned.
func scriptOutput(t *testing.T, dir string) json.RawMessage {
	t.Helper()
	var r struct{ Output json.RawMessage }
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "result.json")), &r); err != nil {
		t.Fatal(err)
	}
	return r.Output
}

// hanoiScript is the command of Hanoi as a script.
func hanoiScript(t *testing.T, disks int, voters, logDir string) []string {
	t.Helper()
	file, err := filepath.Abs("../../examples/scripts/hanoi.star")
	if err != nil {
		t.Fatal(err)
	}
	return []string{"script", file, "--arg", fmt.Sprint("disks=", disks), "--model", voters, "--quiet", "--log-dir", logDir}
}

// TestScriptOfManyTurns: what a chain in a script keeps in memory does not grow with it.
func TestScriptOfManyTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	const voters = "sim/default?p=0.998&seed=3" // of whom no three are wrong together in so many turns
	peakOf := func(disks int) int64 {
		o, peak := measure(t, hanoiScript(t, disks, voters, t.TempDir())...)
		if o.code != 0 {
			t.Fatalf("%d disks: %v", disks, o)
		}
		return peak
	}
	short := int64(0)
	for range 5 {
		short = max(short, peakOf(14))
	}
	long := peakOf(18)
	const mb = 1 << 20
	ratio := float64(long) / float64(short)
	t.Logf("262,143 turns: peak memory %.1f MB, %.2f times the %.1f MB of 16,383", float64(long)/mb, ratio, float64(short)/mb)
	if ratio > 1.3 {
		t.Errorf("peak memory = %.2f times that of 16,383 turns, want at most 1.3", ratio)
	}
}

// TestScriptCommitsWhatTheFamilyDoes: Hanoi as a script comes to the answers of the built-in
// family, step by step, also if it is killed on the way.
func TestScriptCommitsWhatTheFamilyDoes(t *testing.T) {
	disks, kills := 13, 8
	if testing.Short() {
		disks, kills = 10, 3
	}
	const voters = "sim/default?p=0.99&seed=3"
	family := t.TempDir()
	mustMaker(t, 0, "hanoi", "--disks", fmt.Sprint(disks), "--model", voters, "--quiet", "--log-dir", family)
	want := outputs(t, runDir(t, family))
	logs := t.TempDir()
	whole := mustMaker(t, 0, hanoiScript(t, disks, voters, logs)...)
	if got := outputs(t, runDir(t, logs)); !bytes.Equal(got, want) {
		t.Errorf("the script commits other answers than the built-in family: %s", firstDifference(got, want))
	}
	logs = t.TempDir()
	n := killUntilDone(t, rand.New(rand.NewPCG(5, 6)), whole.took/3, kills, hanoiScript(t, disks, voters, logs), logs, func(run string) { onceEach(t, run) })
	run := runDir(t, logs)
	onceEach(t, run)
	if got := outputs(t, run); !bytes.Equal(got, want) {
		t.Errorf("after %d kills the script has committed other answers: %s", n, firstDifference(got, want))
	}
	mustMaker(t, 0, "replay", run)
	t.Logf("%d kills", n)
}

// outputs are those of the steps of a run, a line each, in a normal form.
func outputs(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	for raw := range bytes.Lines(complete(readLog(t, dir))) {
		var l struct {
			Type   string
			Output any
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		if l.Type == "step_completed" {
			data, err := json.Marshal(l.Output)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(data, '\n'))
		}
	}
	return b.Bytes()
}
