//go:build slow && linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// outlineBudget is the context budget of the long outline, in tokens.
const outlineBudget = 4000

// longOutline is an outline of n tasks with results of 2 KB each. Some results of the
// first quarter hold a key that the last tasks mention, and no others do.
func longOutline(t *testing.T, n, keys int) (outline, script string) {
	t.Helper()
	var text, rules strings.Builder
	filler := strings.Repeat("Nothing of note was seen in this part of it, and nobody asked. ", 32) // 2 KB
	for i := 1; i <= n-keys; i++ {
		fmt.Fprintf(&text, "%d. Report part %d of the survey.\n", i, i)
	}
	rule := func(match, answer string) {
		fmt.Fprintf(&rules, "- match: '%s'\n  answers: [{text: %q}]\n", match, answer)
	}
	planted := make([]string, keys)
	for i := range keys {
		planted[i] = fmt.Sprintf("KEY-%d-%c", 1000+7*i, 'A'+i%26)
		fmt.Fprintf(&text, "%d. Compare %s with the rest.\n", n-keys+1+i, planted[i])
		rule(fmt.Sprintf(`# Task\n\nReport part %d of`, 1+i*(n/4)/keys), "result: seen\ndetails: \"It is kept under "+planted[i]+". "+filler+"\"")
	}
	rule(`# Task\n\nReport part (\d+) of`, "result: part ${1}\ndetails: \""+filler+"\"")
	rule(`(?s)Summarise the results.*spelt exactly like this:\n((?:- [^\n]*\n)+)`, "${1}")
	rule(`Summarise the results`, "Nothing of note.")
	for _, key := range planted {
		// The key has to be in the context, which comes before the task.
		rule(fmt.Sprintf(`(?s)%s.*# Task\n\nCompare %s `, key, key), "result: found "+key)
	}
	rule(`# Task\n\nCompare (\S+)`, "result: LOST ${1}")
	return writeFile(t, "outline.md", text.String()), writeFile(t, "script.yaml", rules.String())
}

// halves are how long the first and the second half of a run's steps took, by the
// clock of its log.
func halves(t *testing.T, dir string, steps int) (first, second time.Duration) {
	t.Helper()
	var times []time.Time
	for line := range strings.Lines(string(readLog(t, dir))) {
		var e struct {
			Type      string    `json:"type"`
			Timestamp time.Time `json:"timestamp"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == "step_started" || e.Type == "step_completed" {
			times = append(times, e.Timestamp)
		}
	}
	if len(times) != 2*steps {
		t.Fatalf("the log has %d beginnings and ends of steps, want %d", len(times), 2*steps)
	}
	return times[steps-1].Sub(times[0]), times[2*steps-1].Sub(times[steps])
}

// prompts reads a recording and returns the longest prompt and the longest context in
// it, in tokens as the compactor estimates them, and how many calls there were.
func prompts(t *testing.T, file string) (longest, context, calls int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inside := regexp.MustCompile(`(?s)<context>\n(.*)\n</context>`)
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var call struct {
			Request struct {
				Messages []struct {
					Text string `json:"text"`
				} `json:"messages"`
			} `json:"request"`
		}
		if err := json.Unmarshal(in.Bytes(), &call); err != nil || len(call.Request.Messages) == 0 {
			t.Fatalf("%s: %v: %.200s", file, err, in.Bytes())
		}
		text := call.Request.Messages[0].Text
		longest = max(longest, (len(text)+2)/3)
		if m := inside.FindStringSubmatch(text); m != nil {
			context = max(context, (len(m[1])+2)/3)
		}
		calls++
	}
	if in.Err() != nil || calls == 0 {
		t.Fatalf("%s has %d calls: %v", file, calls, in.Err())
	}
	return longest, context, calls
}

// TestLongOutline does 2,000 tasks with results of 2 KB: prompts stay within the
// budget, time is linear, memory flat, and what early results say is there when a
// late task needs it.
func TestLongOutline(t *testing.T) {
	const tasks, keys = 2000, 60
	outline, script := longOutline(t, tasks, keys)
	small, smallScript := longOutline(t, tasks/4, keys)
	do := func(outline, script string, more ...string) (string, int64, time.Duration) {
		t.Helper()
		logDir := t.TempDir()
		o, peak := measure(t, append([]string{
			"do", outline, "--model", "sim/default?script=" + script, "--context-budget", fmt.Sprint(outlineBudget), "--quiet", "--log-dir", logDir,
		}, more...)...)
		if o.code != 0 {
			t.Fatalf("maker do = %v, want exit code 0", o)
		}
		return runDir(t, logDir), peak, o.took
	}
	record := filepath.Join(t.TempDir(), "calls.jsonl")
	dir, peak, took := do(outline, script, "--record", record)

	log := string(readLog(t, dir))
	for _, event := range []string{"step_completed", "step_started"} {
		if n := strings.Count(log, fmt.Sprintf(`{"type":%q`, event)); n != tasks {
			t.Errorf("the log has %d %s, want %d", n, event, tasks)
		}
	}
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`"output":"found (KEY-\S+)"`).FindAllStringSubmatch(log, -1) {
		found[m[1]] = true
	}
	if lost := strings.Count(log, `"output":"LOST`); lost > 0 || len(found) != keys {
		t.Errorf("%d keys were there when they were needed and %d were not, want all %d", len(found), lost, keys)
	}
	longest, context, calls := prompts(t, record)
	t.Logf("%d tasks in %s, %d calls, the longest prompt %d tokens, the longest context %d of %d, %d summaries",
		tasks, took.Round(time.Millisecond), calls, longest, context, outlineBudget, strings.Count(log, `{"type":"context_compacted"`))
	if context > outlineBudget || context < outlineBudget/2 {
		t.Errorf("the longest context has %d tokens, want at most %d and not much less", context, outlineBudget)
	}
	if most := outlineBudget + 500; longest > most { // the task and what is said around it
		t.Errorf("the longest prompt has %d tokens, want at most %d", longest, most)
	}
	mustMaker(t, 0, "replay", dir)

	// Time: the clock of a busy machine may be wrong once or twice.
	ratio := 0.0
	for try := range 3 {
		if try > 0 {
			dir, _, _ = do(outline, script)
		}
		first, second := halves(t, dir, tasks)
		ratio = float64(second) / float64(first)
		t.Logf("first half %s, second half %s: ratio %.2f", first.Round(time.Millisecond), second.Round(time.Millisecond), ratio)
		if ratio <= 1.5 {
			break
		}
	}
	if ratio > 1.5 {
		t.Errorf("the second half took %.2f times as long as the first, want at most 1.5", ratio)
	}

	var peaks []int64
	for range 3 {
		_, p, _ := do(small, smallScript)
		peaks = append(peaks, p)
	}
	slices.Sort(peaks)
	const mb = 1 << 20
	growth := float64(peak) / float64(peaks[1])
	t.Logf("peak memory %.1f MB, %.2f times the %.1f MB of %d tasks", float64(peak)/mb, growth, float64(peaks[1])/mb, tasks/4)
	if peak > 150*mb || growth > 1.5 {
		t.Errorf("peak memory = %d MB, %.2f times that of %d tasks, want at most 150 MB and 1.5 times", peak/mb, growth, tasks/4)
	}
}

// A console is a terminal that a program is run on.
type console struct {
	*exec.Cmd
	mu     sync.Mutex
	output strings.Builder
	ended  chan struct{}
	keys   *os.File
}

// onTerminal starts maker on a terminal of its own.
func onTerminal(t *testing.T, args ...string) *console {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{Cmd: exec.Command(makerPath, args...), keys: keys, ended: make(chan struct{})}
	c.Dir = t.TempDir()
	c.Stdin, c.Stdout, c.Stderr = screen, screen, screen
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	screen.Close()
	go func() {
		defer close(c.ended)
		buffer := make([]byte, 4096)
		for {
			n, err := keys.Read(buffer) // ends when the program does
			c.mu.Lock()
			c.output.Write(buffer[:n])
			c.mu.Unlock()
			if err != nil {
				break
			}
		}
		_ = c.Wait() // its state says all
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended by itself
		<-c.ended
		keys.Close()
	})
	return c
}

func (c *console) seen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.output.String()
}

// TestKilledWhileWaiting kills a run that waits for an answer on its terminal, twice in
// one task, and goes on in another process.
func TestKilledWhileWaiting(t *testing.T) {
	script := writeFile(t, "script.yaml", `
- match: '# Task\n\nFind it'
  answers: [{text: 'result: index.html'}]
- match: '(?s)# Task\n\nPaint it.*Answer: (\w+).*Answer: (\w+)'
  answers: [{text: 'result: ${2} ${1}'}]
- match: '(?s)# Task\n\nPaint it.*Answer: '
  answers: [{text: 'needs_clarification: Light or dark?'}]
- match: '# Task\n\nPaint it'
  after: 0
  answers: [{tool_calls: [{name: Bash, input: {command: 'echo ladder >> log.txt'}}]}]
- match: '# Task\n\nPaint it'
  answers: [{tool_calls: [{name: AskUserQuestion, input: {question: 'Which colour?', options: [red, blue]}}]}]
- match: '# Task\n\nSay'
  answers: [{text: 'result: bye'}]
`)
	sim := startSim(t, "sim/default?script="+script, "")
	workspace, logDir := t.TempDir(), t.TempDir()
	c := onTerminal(t, "do", "Find it. Paint it. Say goodbye.", "--model", "compat/default", "--base-url", sim.base,
		"--approve", "none", "--workspace", workspace, "--log-dir", logDir)
	eventually(t, "the question is on the screen", func() bool { return strings.Contains(c.seen(), "number, or your own answer> ") })
	for _, want := range []string{"[x] 1. Find it.", "[?] 2. Paint it.", "[ ] 3. Say goodbye.", "task 2: Which colour?", "2) blue"} {
		if !strings.Contains(c.seen(), want) {
			t.Errorf("%q is not on the screen:\n%q", want, c.seen())
		}
	}
	requests := sim.stats(t).Requests
	_ = c.Process.Kill()
	<-c.ended
	dir := runDir(t, logDir)
	mustMaker(t, 5, "answer", dir)
	mustMaker(t, 0, "answer", dir, "--text", "2")
	if again := sim.stats(t).Requests; again != requests {
		t.Errorf("waiting made %d requests, want none", again-requests)
	}

	c = onTerminal(t, "resume", dir)
	eventually(t, "the second question is on the screen", func() bool { return strings.Contains(c.seen(), "task 2: Light or dark?") })
	_ = c.Process.Kill()
	<-c.ended

	// Answered on the terminal this time.
	c = onTerminal(t, "resume", dir)
	eventually(t, "the second question is on the screen again", func() bool { return strings.Contains(c.seen(), "answer> ") })
	if _, err := c.keys.WriteString("dark\n"); err != nil {
		t.Fatal(err)
	}
	<-c.ended
	if code := c.ProcessState.ExitCode(); code != 0 || !strings.Contains(c.seen(), "dark blue (one sample)") {
		t.Errorf("maker resume = exit code %d, want 0:\n%s", code, c.seen())
	}
	events := effectEvents(t, dir)
	want := map[string]int{
		"step_completed": 3, "step_started": 3, "effect_claimed": 1, "effect_done": 1,
		"clarification_requested": 2, "clarification_provided": 2, "run_resumed": 2, "task_completed": 1,
	}
	for name, n := range want {
		if events[name] != n {
			t.Errorf("the log has %d %s, want %d", events[name], name, n)
		}
	}
	if lines := linesOf(t, filepath.Join(workspace, "log.txt")); lines["ladder"] != 1 || len(lines) != 1 {
		t.Errorf("the call before the questions was made %d times, want once", lines["ladder"])
	}
	mustMaker(t, 0, "replay", dir)
}
