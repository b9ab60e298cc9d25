package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"maker": main, "handicap": handicap})
}

// TestScripts drives the real program. The commands that the scripts have
// beyond those of testscript are described at their functions.
func TestScripts(t *testing.T) { testscript.Run(t, params(filepath.Join("testdata", "script"))) }

func params(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		Setup:               setup,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     positive("CODE PROGRAM ARGS...", 2, -1, exits),
			"start":     positive("NAME PROGRAM ARGS...", 2, -1, start),
			"signal":    positive("NAME INT|TERM|HUP|KILL", 2, 2, signal),
			"finish":    positive("NAME CODE", 2, 2, finish),
			"sim":       positive("ARGS...", 0, -1, startSim),
			"serve":     positive("NAME ARGS...", 1, -1, startServe),
			"request":   positive("METHOD PATH STATUS [@TOKENFILE|nobody|HEADER|BODY]...", 3, -1, request),
			"await":     positive("FILE REGEXP", 2, 2, await),
			"run":       positive("VARIABLE [LOGDIR]", 1, 2, newRun),
			"json":      positive("FILE PATH OPERATOR VALUE", 4, 4, checkJSON),
			"events":    positive("FILE STEPS", 2, 2, checkEvents),
			"result":    positive("FILE", 1, 1, checkResult),
			"solved":    positive("FILE DISKS", 2, 2, solved),
			"decisions": positive("FILE OUT", 2, 2, decisions),
			"kept":      positive("BEFORE AFTER", 2, 2, kept),
			"within":    positive("FILE LIMIT VALUE", 3, 3, within),
			"edit":      positive("FILE REGEXP REPLACEMENT", 3, 3, edit),
			"seal":      positive("FILE", 1, 1, seal),
			"examples":  positive("MAXDISKS COMMAND...", 1, -1, examples),
			"steps":     positive("FILE NUMBER", 2, 2, writeSteps),
			"page":      positive("PAGE", 1, 1, runPage),
			"printed":   positive("CODE SCRIPT", 2, 2, printed),
			"extract":   positive("PAGE LANGUAGE NUMBER FILE", 4, 4, extract),
		},
	}
}

// patience bounds the wait for something that another process does.
const patience = 20 * time.Second

// positive checks the number of arguments of a command that cannot be negated.
func positive(usage string, least, most int, f func(*testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < least || most >= 0 && len(args) > most {
			ts.Fatalf("want %s, not negated", usage)
		}
		f(ts, args)
	}
}

// session is what the commands of one script share.
type session struct {
	variables []string // names, for processes in the background
	processes map[string]*process
	runs      map[string]bool // known to the script
	client    *http.Client    // of maker serve
}

type sessionKey struct{}

type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	config := filepath.Join(home, ".config")
	env.Setenv("HOME", home)
	env.Setenv("XDG_CONFIG_HOME", config)
	if runtime.GOOS == "darwin" {
		config = filepath.Join(home, "Library", "Application Support")
	}
	env.Setenv("CONFIG", config)
	if os.Getenv("GORACE") == "" {
		env.Setenv("GORACE", "atexit_sleep_ms=0") // the default is a second for each process
	}
	s := &session{processes: map[string]*process{}, runs: map[string]bool{}}
	for _, v := range env.Vars {
		name, _, _ := strings.Cut(v, "=")
		s.variables = append(s.variables, name)
	}
	env.Values[sessionKey{}] = s
	return os.MkdirAll(config, 0o755)
}

func sessionOf(ts *testscript.TestScript) *session { return ts.Value(sessionKey{}).(*session) }

// exits runs a program that must end with the given exit code.
func exits(ts *testscript.TestScript, args []string) {
	want := number(ts, args[0])
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s = exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// start runs a program in the background, with its output in NAME.out and
// NAME.err and its process id in $NAME_PID. The end of the script kills it.
func start(ts *testscript.TestScript, args []string) {
	s := sessionOf(ts)
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range s.variables {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	for end, stream := range map[string]*io.Writer{".out": &cmd.Stdout, ".err": &cmd.Stderr} {
		f, err := os.Create(ts.MkAbs(args[0] + end))
		ts.Check(err)
		defer f.Close()
		*stream = f
	}
	ts.Check(cmd.Start())
	ts.Setenv(args[0]+"_PID", strconv.Itoa(cmd.Process.Pid))
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // how it ended is in its ProcessState
	}()
	s.processes[args[0]] = p
	ts.Defer(func() {
		_ = cmd.Process.Kill() // fails if it has ended, which is fine
		<-p.done
	})
}

func processOf(ts *testscript.TestScript, name string) *process {
	p, ok := sessionOf(ts).processes[name]
	if !ok {
		ts.Fatalf("no process is called %s", name)
	}
	return p
}

// signal sends a signal to a program in the background.
func signal(ts *testscript.TestScript, args []string) {
	sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": os.Kill}[args[1]]
	ts.Check(processOf(ts, args[0]).cmd.Process.Signal(sig))
}

// finish waits for the end of a program in the background and checks its exit
// code, which is -1 if a signal killed it.
func finish(ts *testscript.TestScript, args []string) {
	p := processOf(ts, args[0])
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("%s does not end", args[0])
	}
	if got, want := p.cmd.ProcessState.ExitCode(), number(ts, args[1]); got != want {
		ts.Fatalf("%s = exit code %d, want %d; stderr:\n%s", args[0], got, want, ts.ReadFile(args[0]+".err"))
	}
}

// startSim runs `maker sim ARGS...` in the background as the process sim and
// puts its base address into $SIM.
func startSim(ts *testscript.TestScript, args []string) {
	start(ts, slices.Concat([]string{"sim", "maker", "sim", "--addr", "127.0.0.1:0"}, args))
	var address string
	eventually(ts, "maker sim prints its address", func() bool {
		line, rest, ok := strings.Cut(ts.ReadFile("sim.out"), "\n")
		address = line
		return ok && rest == ""
	})
	if !strings.HasPrefix(address, "http://127.0.0.1:") || !strings.HasSuffix(address, "/v1") {
		ts.Fatalf("maker sim prints %q, want http://127.0.0.1:PORT/v1", address)
	}
	ts.Setenv("SIM", address)
}

func eventually(ts *testscript.TestScript, what string, holds func() bool) {
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}

// await waits until a file exists and its content matches.
func await(ts *testscript.TestScript, args []string) {
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	eventually(ts, args[0]+" matches "+args[1], func() bool {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && re.Match(data)
	})
}

// newRun puts the id of the one run that the script does not know yet into
// $VARIABLE, and the path of its folder into $VARIABLE_DIR.
func newRun(ts *testscript.TestScript, args []string) {
	logDir := "runs"
	if len(args) > 1 {
		logDir = args[1]
	}
	s, fresh := sessionOf(ts), []string(nil)
	eventually(ts, "there is a new run in "+logDir, func() bool {
		found, err := filepath.Glob(filepath.Join(ts.MkAbs(logDir), "*", "events.jsonl"))
		ts.Check(err)
		fresh = slices.DeleteFunc(found, func(path string) bool { return s.runs[path] })
		return len(fresh) > 0
	})
	if len(fresh) != 1 {
		ts.Fatalf("there are %d new runs, want 1: %q", len(fresh), fresh)
	}
	s.runs[fresh[0]] = true
	id := filepath.Base(filepath.Dir(fresh[0]))
	ts.Setenv(args[0], id)
	ts.Setenv(args[0]+"_DIR", filepath.Join(logDir, id))
}

// document is the last JSON value of a file, or of stdout.
func document(ts *testscript.TestScript, file string) map[string]any {
	var doc map[string]any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	for d.More() {
		clear(doc)
		if err := d.Decode(&doc); err != nil {
			ts.Fatalf("%s: %v", file, err)
		}
	}
	return doc
}

// at follows a path of names and indexes. What is not there is nil.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// checkJSON compares a field of the last JSON value of a file. The operators
// are ==, != and, for numbers, < <= > >=; the value is JSON.
func checkJSON(ts *testscript.TestScript, args []string) {
	got := at(document(ts, args[0]), args[1])
	var want any
	if err := json.Unmarshal([]byte(args[3]), &want); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[3], err)
	}
	a, first := got.(float64)
	b, second := want.(float64)
	numbers := first && second
	holds, ok := map[string]bool{
		"==": cmp.Equal(got, want), "!=": !cmp.Equal(got, want),
		"<": numbers && a < b, "<=": numbers && a <= b, ">": numbers && a > b, ">=": numbers && a >= b,
	}[args[2]]
	if !ok {
		ts.Fatalf("there is no operator %s", args[2])
	}
	if !holds {
		ts.Fatalf("%s: %s = %v, want %s %s", args[0], args[1], got, args[2], args[3])
	}
}

// line is one event.
type line struct {
	Type      string          `json:"type"`
	Seq       *int            `json:"seq"`
	Timestamp time.Time       `json:"timestamp"`
	Run       string          `json:"run"`
	Step      int             `json:"step"`
	Output    json.RawMessage `json:"output"`
	Voting    struct {
		Samples    int            `json:"samples"`
		RedFlagged int            `json:"red_flagged"`
		Votes      map[string]int `json:"votes"`
		Margin     int            `json:"margin"`
	} `json:"voting"`
}

var header = regexp.MustCompile(`^\{"type":"[a-z_]+","seq":\d+,"timestamp":"[^"]+","run":"[^"]+"[,}]`)

// lines reads the events of a log or of --json; the result that ends the latter
// is left out.
func lines(ts *testscript.TestScript, file string) []line {
	var all []line
	for text := range strings.Lines(ts.ReadFile(file)) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			ts.Fatalf("%s: the line %q is not a JSON object: %v", file, text, err)
		}
		if l.Type == "result" {
			break
		}
		if !header.MatchString(text) {
			ts.Fatalf("%s: an event does not begin with type, seq, timestamp and run: %s", file, text)
		}
		all = append(all, l)
	}
	return all
}

// checkEvents checks the form and the order of events: sequence numbers without
// a gap, one run, and exactly one step_completed for each of the steps.
func checkEvents(ts *testscript.TestScript, args []string) {
	all, steps := lines(ts, args[0]), 0
	for i, l := range all {
		if l.Seq == nil || *l.Seq != i || l.Run != all[0].Run || l.Timestamp.IsZero() {
			ts.Fatalf("%s: event %d is out of order: %+v", args[0], i, l)
		}
		if l.Type != "step_completed" {
			continue
		}
		if l.Step != steps {
			ts.Fatalf("%s: step %d is committed, want step %d", args[0], l.Step, steps)
		}
		steps++
	}
	if want := number(ts, args[1]); steps != want {
		ts.Fatalf("%s: %d committed steps, want %d", args[0], steps, want)
	}
}

// checkResult checks that the last JSON value of a file has every field that a
// result must have.
func checkResult(ts *testscript.TestScript, args []string) {
	doc := document(ts, args[0])
	require := func(where string, v any, names ...string) {
		fields, ok := v.(map[string]any)
		for _, name := range names {
			if _, there := fields[name]; !ok || !there {
				ts.Fatalf("%s: %s has no field %q; it has %q", args[0], where, name, slices.Sorted(maps.Keys(fields)))
			}
		}
	}
	require("the result", doc, "task", "status", "steps", "total_cost_usd", "total_duration_ms", "usage", "run", "simulated")
	list, _ := doc["steps"].([]any) // a run may have none
	for i, step := range list {
		where := fmt.Sprintf("steps[%d]", i)
		require(where, step, "step", "title", "output", "voting", "cost_usd", "duration_ms")
		require(where+".voting", at(step, "voting"), "strategy", "samples", "red_flagged", "faults", "votes", "margin")
	}
}

// solved plays the committed moves by the rules of the game, knowing nothing of
// how they came about, and looks where the disks end up.
func solved(ts *testscript.TestScript, args []string) {
	pegs := [3][]int{{}, {}, {}}
	for d := number(ts, args[1]); d > 0; d-- {
		pegs[0] = append(pegs[0], d)
	}
	for _, l := range lines(ts, args[0]) {
		if l.Type != "step_completed" {
			continue
		}
		var out struct {
			Move  [3]int   `json:"move"`
			State [3][]int `json:"next_state"`
		}
		ts.Check(json.Unmarshal(l.Output, &out))
		disk, from, to := out.Move[0], out.Move[1], out.Move[2]
		top := len(pegs[from]) - 1
		if top < 0 || pegs[from][top] != disk || len(pegs[to]) > 0 && pegs[to][len(pegs[to])-1] < disk {
			ts.Fatalf("step %d: the move %v is illegal in %v", l.Step, out.Move, pegs)
		}
		pegs[from], pegs[to] = pegs[from][:top:top], append(pegs[to], disk)
		if diff := cmp.Diff(pegs, out.State); diff != "" {
			ts.Fatalf("step %d: the state does not follow from the move (-want +got):\n%s", l.Step, diff)
		}
	}
	if len(pegs[0]) != 0 || len(pegs[1]) != 0 {
		ts.Fatalf("the disks end up as %v, want all on peg 2", pegs)
	}
}

// decisions writes what was committed and by which votes, so that two runs can
// be compared with cmp.
func decisions(ts *testscript.TestScript, args []string) {
	var b bytes.Buffer
	for _, l := range lines(ts, args[0]) {
		if l.Type == "step_completed" {
			fmt.Fprintf(&b, "%d %s %v %d flagged, margin %d\n", l.Step, l.Output, l.Voting.Votes, l.Voting.RedFlagged, l.Voting.Margin)
		}
	}
	if b.Len() == 0 {
		ts.Fatalf("%s: nothing is committed", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o644))
}

// kept checks that all decisions of one file are in another, first and unchanged.
func kept(ts *testscript.TestScript, args []string) {
	if before, after := ts.ReadFile(args[0]), ts.ReadFile(args[1]); before == after || !strings.HasPrefix(after, before) {
		ts.Fatalf("%s does not go on where %s ends:\n%s", args[1], args[0], cmp.Diff(before, after))
	}
}

// within checks that a result used no more than a limit allows, the worst case
// of the calls that were given up included.
func within(ts *testscript.TestScript, args []string) {
	doc := document(ts, args[0])
	limit, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	sum := func(paths ...string) (total float64) {
		for _, path := range paths {
			n, _ := at(doc, "usage."+path).(float64) // what is zero may be left out
			total += n
		}
		return total
	}
	used := map[string]float64{
		"max-calls":  sum("calls"),
		"max-tokens": sum("tokens.input", "tokens.cache_read", "tokens.cache_write", "tokens.output", "tokens.reasoning", "held_tokens"),
		"max-usd":    sum("usd", "held_usd"),
	}[args[1]]
	if used <= 0 || used > limit {
		ts.Fatalf("%s: %s is %v, but %v was used", args[0], args[1], limit, used)
	}
}

// edit replaces the first match in a file. There must be one.
func edit(ts *testscript.TestScript, args []string) {
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	place := re.FindStringSubmatchIndex(text)
	if place == nil {
		ts.Fatalf("%s: nothing matches %s", args[0], args[1])
	}
	changed := text[:place[0]] + string(re.ExpandString(nil, args[2], text, place)) + text[place[1]:]
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(changed), 0o644))
}

// sealed is a line with the checksum at its end.
var sealed = regexp.MustCompile(`(?m)^(.*),"crc":"[0-9a-f]{8}"\}$`)

// seal writes the checksums of a log anew, as somebody would who tampers with it.
func seal(ts *testscript.TestScript, args []string) {
	text := sealed.ReplaceAllStringFunc(ts.ReadFile(args[0]), func(line string) string {
		before := sealed.FindStringSubmatch(line)[1]
		return fmt.Sprintf(`%s,"crc":"%08x"}`, before, crc32.Checksum([]byte(before), crc32.MakeTable(crc32.Castagnoli)))
	})
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

var (
	helped  = regexp.MustCompile(`(?m)^ +maker (hanoi .*--disks \d.*)$`)
	word    = regexp.MustCompile(`'[^']*'|[^ ']+`)
	address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/v1`)
)

// examples runs the examples of `maker hanoi` in the help of the program and of
// the commands, but those with more disks. One that says that it fails must fail.
func examples(ts *testscript.TestScript, args []string) {
	ran := 0
	for _, command := range append(args[1:], "") {
		ts.Check(ts.Exec("maker", strings.Fields(command+" --help")...))
		for _, match := range helped.FindAllStringSubmatch(ts.ReadFile("stdout"), -1) {
			text, comment, _ := strings.Cut(match[1], " #")
			words := word.FindAllString(address.ReplaceAllString(text, ts.Getenv("SIM")), -1)
			for i := range words {
				words[i] = strings.Trim(words[i], "'")
			}
			if number(ts, words[slices.Index(words, "--disks")+1]) > number(ts, args[0]) {
				continue
			}
			code := "0"
			if strings.Contains(comment, "fails") {
				code = "1"
			}
			exits(ts, slices.Concat([]string{code, "maker"}, words))
			ran++
		}
	}
	if ran < len(args) {
		ts.Fatalf("the help of maker and %q has %d examples to run, want at least %d", args[1:], ran, len(args))
	}
}
