//go:build (slow || soak) && linux

package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A soaker sends random runs of all kinds through kills, faults, resumes, approvals
// and bit flips, and counts what comes of them.
type soaker struct {
	t      *testing.T
	random *rand.Rand

	runs, kills, resumes, approvals, unknown, flips int
	lost, doubled                                   int
}

// TestSoak goes on for soakTime. Everything it does is bounded, and its seed is in its
// output: MAKER_TEST_SOAK_SEED repeats it.
func TestSoak(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("MAKER_TEST_SOAK_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("MAKER_TEST_SOAK_SEED: %v", err)
		}
	}
	s := &soaker{t: t, random: rand.New(rand.NewPCG(seed, 0))}
	t.Logf("MAKER_TEST_SOAK_SEED=%d", seed)
	kinds := []struct {
		name string
		run  func()
	}{{"chain", s.chain}, {"plan", s.plan}, {"approved plan", s.approved}, {"outline", s.outline}, {"problem", s.problem}}
	counts := map[string]int{}
	limit := soakTime
	if testing.Short() {
		limit = 30 * time.Second
	}
	for began := time.Now(); time.Since(began) < limit && !t.Failed(); s.runs++ {
		kind := kinds[s.random.IntN(len(kinds))]
		counts[kind.name]++
		kind.run()
	}
	t.Logf("%d runs %v: %d kills, %d resumes, %d approvals, %d unknown outcomes, %d bit flips; lost %d, doubled %d",
		s.runs, counts, s.kills, s.resumes, s.approvals, s.unknown, s.flips, s.lost, s.doubled)
	if s.lost != 0 || s.doubled != 0 {
		t.Errorf("lost %d and doubled %d, want 0 and 0", s.lost, s.doubled)
	}
}

// faults is a server that fails in every way it can, at random rates.
func (s *soaker) faults(settings string) *simServer {
	r := func(most float64) float64 { return s.random.Float64() * most }
	return startSim(s.t, fmt.Sprintf("sim/default?seed=%d&latency=%dms,0.5&f429=%.2f&f500=%.2f&cut=%.2f%s",
		s.random.Uint32(), 1+s.random.IntN(4), r(0.1), r(0.05), r(0.02), settings), "")
}

// drive runs a command and resumes it until it ends with a code that is not that of a
// kill, killing it at random moments. between looks at what it left each time and may
// change how it goes on.
func (s *soaker) drive(logDir string, kills int, between func(dir string, o outcome) (goOn bool), args ...string) (string, outcome) {
	s.t.Helper()
	for n := 0; ; n++ {
		if n > 200 {
			s.t.Fatalf("maker %q does not come to an end", args)
		}
		p := start(s.t, makerPath, args...)
		if kills > 0 && s.random.IntN(3) > 0 {
			select {
			case <-time.After(time.Duration(s.random.IntN(400)) * time.Millisecond): // the moment, not a wait for something
			case <-p.ended:
			}
			p.kill()
		}
		o := p.wait(s.t)
		dir, ok := findRun(logDir)
		if o.code == -1 {
			s.kills++
			kills--
			if !ok {
				continue
			}
			if len(complete(readLog(s.t, dir))) == 0 {
				if err := os.RemoveAll(dir); err != nil { // it never began
					s.t.Fatal(err)
				}
				continue
			}
		}
		if !ok {
			s.t.Fatalf("maker %q = %v, and there is no run", args, o)
		}
		if o.code != -1 && !between(dir, o) {
			return dir, o
		}
		s.resumes++
		args = []string{"resume", dir, "--quiet", "--no-input"}
	}
}

// done is the end of a run that simply has to complete.
func (s *soaker) done(_ string, o outcome) bool {
	if o.code != 0 {
		s.t.Errorf("the run ended with %v, want that it completes", o)
	}
	return false
}

// once counts what did not happen exactly once, and says what the log knows about it.
func (s *soaker) once(dir, item string, times int) {
	s.t.Helper()
	if times == 1 {
		return
	}
	if times == 0 {
		s.lost++
	}
	s.doubled += max(times-1, 0)
	var about []byte
	for line := range bytes.Lines(readLog(s.t, dir)) {
		if bytes.Contains(line, []byte(item)) || bytes.Contains(line, []byte(`"effect_`)) || bytes.Contains(line, []byte(`"person_`)) {
			about = append(about, line...)
		}
	}
	s.t.Errorf("%s happened %d times:\n%s", item, times, about)
}

// settled checks a run that has ended: its log agrees with itself, and a damaged copy of
// it does not.
func (s *soaker) settled(dir string) {
	s.t.Helper()
	mustMaker(s.t, 0, "replay", dir)
	bad := filepath.Join(s.t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(bad, os.DirFS(dir)); err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(bad, "events.jsonl")
	log := readLog(s.t, bad)
	at, bit := s.random.IntN(len(log)), byte(1)<<s.random.IntN(8)
	log[at] ^= bit
	if err := os.WriteFile(path, log, 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.flips++
	if o := maker(s.t, "replay", bad); o.code == 0 {
		s.t.Errorf("bit %d of byte %d of %s was flipped, and maker replay = %v, want that it is found", bit, at, filepath.Base(dir), o)
	}
}

func (s *soaker) chain() {
	const disks = 7
	server, logDir := s.faults("&p=0.95&malformed=0.03"), s.t.TempDir()
	dir, _ := s.drive(logDir, s.random.IntN(5), s.done, "hanoi", "--disks", fmt.Sprint(disks), "--model", "compat/default", "--base-url", server.base,
		"--ahead-by", "5", "--log", []string{"compact", "full"}[s.random.IntN(2)], "--log-dir", logDir, "--quiet", "--max-faults", "100")
	if !s.t.Failed() {
		mustBeRight(s.t, dir, disks)
		s.settled(dir)
	}
	server.kill()
}

// planned runs a plan of effects to its end. A person who knows the truth answers what
// nobody else knows.
func (s *soaker) planned(approve string) {
	const steps = 8
	l := newLedger(s.t, time.Duration(s.random.IntN(20))*time.Millisecond)
	workspace, logDir := s.t.TempDir(), s.t.TempDir()
	server := s.faults("&script=" + effectScript(s.t, "echo item-${1} >> log.txt"))
	count := func(i int) int {
		item := fmt.Sprintf("item-%d", i)
		return l.counts()[item] + linesOf(s.t, filepath.Join(workspace, "log.txt"))[item]
	}
	between := func(dir string, o outcome) bool {
		switch {
		case o.code == 0:
			return false
		case o.code == 5: // waiting for an approval
			s.approvals++
			mustMaker(s.t, 0, "answer", dir, "--text", "yes")
		case o.code == 1 && strings.Contains(o.stdout, "nobody knows whether"):
			s.unknown++
			var step int
			if _, after, ok := strings.Cut(o.stdout, "(item "); ok {
				_, _ = fmt.Sscan(after, &step)
			}
			answer := "it did not happen: do it"
			if count(step) > 0 {
				answer = "it happened"
			}
			mustMaker(s.t, 0, "answer", dir, "--text", answer)
		default:
			s.t.Errorf("the run ended with %v, want that it completes or waits", o)
			return false
		}
		return true
	}
	// A lead of 4 is wrong once in a million steps; a lead of 2 was in one soak of five.
	dir, _ := s.drive(logDir, s.random.IntN(6), between, "exec", effectPlan(s.t, steps, "file", "ledger"), "--model", "compat/default", "--base-url", server.base,
		"--voting", "first_to_k", "--voting-k", "4", "--max-voting-samples", "60", "--approve", approve, "--no-input", "--max-faults", "100",
		"--mcp-config", l.config, "--workspace", workspace, "--log-dir", logDir, "--quiet")
	server.kill()
	if s.t.Failed() {
		return
	}
	for i := range steps {
		s.once(dir, fmt.Sprintf("item-%d", i), count(i))
	}
	s.settled(dir)
}

func (s *soaker) plan()     { s.planned("none") }
func (s *soaker) approved() { s.planned("mutate") }

// outline does literal commands, which may be killed half-way: then the task has failed,
// and nothing is said to be done that was not.
func (s *soaker) outline() {
	const tasks = 12
	workspace, logDir := s.t.TempDir(), s.t.TempDir()
	var b strings.Builder
	for i := range tasks {
		fmt.Fprintf(&b, "%d. Run `echo task-%d >> done.txt`.\n", i+1, i)
	}
	text := writeFile(s.t, "tasks.md", b.String())
	dir, _ := s.drive(logDir, s.random.IntN(4), func(dir string, o outcome) bool {
		if o.code == 0 {
			return false
		}
		if !strings.Contains(o.stdout+o.stderr, "nobody knows whether") {
			s.t.Errorf("the run ended with %v, want that it completes or does not know", o)
			return false
		}
		s.unknown++
		lines := linesOf(s.t, filepath.Join(workspace, "done.txt"))
		answer := "it did not happen: do it"
		if open := openEffect(s.t, dir); lines[open] > 0 {
			answer = "it happened"
		}
		mustMaker(s.t, 0, "answer", dir, "--text", answer)
		return true
	}, "do", text, "--approve", "none", "--no-input", "--workspace", workspace, "--log-dir", logDir, "--quiet", "--model", "sim/default")
	if s.t.Failed() {
		return
	}
	lines := linesOf(s.t, filepath.Join(workspace, "done.txt"))
	for i := range tasks {
		task := fmt.Sprintf("task-%d", i)
		s.once(dir, task, lines[task])
	}
	s.settled(dir)
}

// openEffect is the task whose command was begun last.
func openEffect(t *testing.T, dir string) string {
	t.Helper()
	task := ""
	for line := range bytes.Lines(readLog(t, dir)) {
		if bytes.Contains(line, []byte(`"type":"effect_unknown"`)) {
			_, after, _ := strings.Cut(string(line), "echo ")
			task, _, _ = strings.Cut(after, " ")
		}
	}
	return task
}

// problem solves a product: the votes of many questions over many sessions.
func (s *soaker) problem() {
	server, logDir := s.faults("&p=0.97"), s.t.TempDir()
	a, b := 100+s.random.IntN(900), 100+s.random.IntN(900)
	dir, o := s.drive(logDir, s.random.IntN(5), s.done, "solve", fmt.Sprintf("What is %d * %d?", a, b), "--domain", "math",
		"--model", "compat/default", "--base-url", server.base, "-k", "4", "--log-dir", logDir, "--quiet", "--no-input", "--max-faults", "100", "--max-tokens", "0")
	server.kill()
	if s.t.Failed() {
		return
	}
	if !strings.Contains(o.stdout, fmt.Sprint(a*b)) {
		s.t.Errorf("%d * %d: %v, want %d", a, b, o, a*b)
	}
	s.settled(dir)
}
