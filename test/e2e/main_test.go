//go:build (slow || soak) && linux

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds everything that is waited for. It is far beyond what anything
// takes: reaching it is a failure.
const patience = 10 * time.Minute

// makerPath is the program under test.
var makerPath string

// measureVariable makes the test binary a launcher; see [measure].
const measureVariable = "MAKER_E2E_MEASURE"

func TestMain(m *testing.M) {
	if report := os.Getenv(measureVariable); report != "" {
		os.Exit(launch(report, os.Args[1:]))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "maker-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	makerPath = filepath.Join(dir, "maker")
	build := exec.Command("go", "build", "-o", makerPath, "./cmd/maker")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	// Neither the settings of whoever runs the tests nor a proxy may interfere.
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		ours := strings.HasPrefix(name, "MAKER_") && !strings.HasPrefix(name, "MAKER_TEST_")
		if ours || strings.HasSuffix(strings.ToLower(name), "_proxy") {
			os.Unsetenv(name)
		}
	}
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config")) // which is not there
	return m.Run()
}

// An outcome is how a program ended.
type outcome struct {
	code           int // -1 if a signal ended it
	stdout, stderr string
	took           time.Duration
}

func (o outcome) String() string {
	return fmt.Sprintf("exit code %d after %s\nstdout: %.2000s\nstderr: %.2000s", o.code, o.took.Round(time.Millisecond), o.stdout, o.stderr)
}

// A process is a program that may still be running.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	started        time.Time
	ended          chan struct{} // closed when it has
	ctx            context.Context
}

// start runs a program until it ends, the test does, or patience is over.
func start(t testing.TB, name string, args ...string) *process {
	t.Helper()
	return startWith(t, nil, name, args...)
}

// startWith is start with stdout going elsewhere, unless it is nil.
func startWith(t testing.TB, stdout *os.File, name string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	p := &process{cmd: exec.CommandContext(ctx, name, args...), ended: make(chan struct{}), ctx: ctx}
	p.cmd.Dir = t.TempDir() // where there is no maker.yaml
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if stdout != nil {
		p.cmd.Stdout = stdout
	}
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		cancel()
		t.Fatalf("start %s: %v", name, err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // its state says all
	}()
	t.Cleanup(func() {
		cancel()
		<-p.ended
	})
	return p
}

// kill ends a process as a power switch would, and waits until it is gone.
func (p *process) kill() outcome {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	return p.outcome()
}

func (p *process) outcome() outcome {
	<-p.ended
	return outcome{p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String(), time.Since(p.started)}
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// wait returns how a process ended and fails the test if it never did.
func (p *process) wait(t testing.TB) outcome {
	t.Helper()
	o := p.outcome()
	if p.ctx.Err() != nil {
		t.Fatalf("%q did not end within %s: %v", p.cmd.Args, patience, o)
	}
	return o
}

// maker runs the program to its end.
func maker(t testing.TB, args ...string) outcome {
	t.Helper()
	return start(t, makerPath, args...).wait(t)
}

// mustMaker is maker for a command whose exit code is known.
func mustMaker(t testing.TB, code int, args ...string) outcome {
	t.Helper()
	o := maker(t, args...)
	if o.code != code {
		t.Fatalf("maker %q = %v, want exit code %d", args, o, code)
	}
	return o
}

// eventually polls a condition that another process brings about.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience / 4); !condition(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// runDir returns the only run in a log folder.
func runDir(t testing.TB, logDir string) string {
	t.Helper()
	dir, ok := findRun(logDir)
	if !ok {
		t.Fatalf("there is not exactly one run in %s", logDir)
	}
	return dir
}

func findRun(logDir string) (string, bool) {
	found, err := filepath.Glob(filepath.Join(logDir, "*", "events.jsonl"))
	if err != nil || len(found) != 1 {
		return "", false
	}
	return filepath.Dir(found[0]), true
}

// A simServer is a `maker sim` process.
type simServer struct {
	*process
	base string // address with /v1
	addr string // host:port
}

// startSim serves a simulated model; an empty addr takes a free port.
func startSim(t testing.TB, model, addr string) *simServer {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := startWith(t, w, makerPath, "sim", "--addr", addr, "--model", model)
	w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("maker sim printed no address: %v", p.kill())
	}
	base := strings.TrimSpace(line)
	return &simServer{process: p, base: base, addr: strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/v1")}
}

// stats are the counters of a server that the tests look at.
type stats struct {
	Requests    int64            `json:"requests"`
	Answers     int64            `json:"answers"`
	Faults      map[string]int64 `json:"faults"`
	Cancelled   int64            `json:"cancelled"`
	InFlight    int64            `json:"in_flight"`
	Connections *int64           `json:"connections"`
}

// statsClient leaves no connection behind that could be taken for a leak.
var statsClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}

func (s *simServer) stats(t testing.TB) stats {
	t.Helper()
	resp, err := statsClient.Get("http://" + s.addr + "/stats")
	if err != nil {
		t.Fatalf("GET /stats: %v", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	var out stats
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatalf("GET /stats: %v: %s", err, data)
	}
	return out
}

// measured is what a launcher says about the program it ran.
type measured struct {
	Code     int   `json:"code"`
	PeakRSS  int64 `json:"peak_rss"` // in bytes
	TookNano int64 `json:"took_ns"`
}

// measure runs maker and returns its peak memory too. A process inherits the
// peak of the one that started it, because they share their memory for a
// moment. Therefore a small one, the test binary itself, stands in between.
func measure(t testing.TB, args ...string) (outcome, int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "measured.json")
	o := start(t, "env", append([]string{measureVariable + "=" + report, self, makerPath}, args...)...).wait(t)
	data, err := os.ReadFile(report)
	var m measured
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatalf("launch maker %q: %v: %v", args, err, o)
	}
	o.code, o.took = m.Code, time.Duration(m.TookNano)
	return o, m.PeakRSS
}

// launch is what the test binary does as a launcher.
func launch(report string, args []string) int {
	os.Unsetenv(measureVariable)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// The program must not outlive a test that gave up.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	began := time.Now()
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	data, err := json.Marshal(measured{
		Code:     cmd.ProcessState.ExitCode(),
		PeakRSS:  cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024,
		TookNano: time.Since(began).Nanoseconds(),
	})
	if err == nil {
		err = os.WriteFile(report, data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
