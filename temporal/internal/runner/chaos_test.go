package runner_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/temporal/internal/claimcheck"
	"github.com/maker-mdap/maker/temporal/internal/devserver"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
)

// asWorker is the variable by which this program is a worker of a server with a store.
const asWorker = "MAKER_TEST_TEMPORAL_WORKER"

func TestMain(m *testing.M) {
	if at := os.Getenv(asWorker); at != "" {
		address, dir, _ := strings.Cut(at, " ")
		if err := workUntilKilled(address, dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func dial(address string, s store.Store) (client.Client, error) {
	data, failures, err := claimcheck.Converters(s)
	if err != nil {
		return nil, err
	}
	return client.Dial(client.Options{HostPort: address, DataConverter: data, FailureConverter: failures, Logger: devserver.Quiet{}})
}

// lost is after how long a silent worker counts as lost in these tests.
const lost = 2 * time.Second

// workUntilKilled is a worker. It says so, and ends when nobody listens any more.
func workUntilKilled(address, dir string) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	c, err := dial(address, s)
	if err != nil {
		return err
	}
	e, err := engine.New(engine.Options{LogDir: filepath.Join(os.TempDir(), "none")})
	if err != nil {
		return err
	}
	r := &runner.Runner{Engine: e, Store: s, Lost: lost}
	w := worker.New(c, "maker", worker.Options{MaxHeartbeatThrottleInterval: lost / 5, MaxConcurrentActivityExecutionSize: 16})
	r.Register(w)
	if err := w.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	w.Stop()
	return err
}

// A process is a worker of its own.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	said  bytes.Buffer
}

func startWorker(t *testing.T, address, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), asWorker+"="+address+" "+dir, "TMPDIR="+t.TempDir())
	p.cmd.Stderr = &p.said
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.stdin, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the worker says %q, %v: %s", line, err, &p.said)
	}
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed
}

// counting is a script whose effect shows how often it happened.
const counting = `
def main(args):
    queues = map(["a", "b", "c"], lambda w: ask("Which queue? Thank you: " + w, one_of = ["billing", "bug", "other"], k = 2))
    call("Bash", command = "echo once >> effect.txt")
    return queues
`

// commands are runs of several kinds, each with a folder of its own.
func commands(t *testing.T, n int) (args []string, workspace string) {
	t.Helper()
	dir := workspaceOf(t)
	script := filepath.Join(dir, "counting.star")
	if err := os.WriteFile(script, []byte(counting), 0o644); err != nil {
		t.Fatal(err)
	}
	triage, err := filepath.Abs("../../../examples/scripts/triage.yaml")
	if err != nil {
		t.Fatal(err)
	}
	queues := fmt.Sprintf("sim/default?p=0.9&seed=%d&script=%s", n, triage)
	tickets := filepath.Join(dir, "tickets.csv")
	switch n % 5 {
	case 0:
		return []string{"solve", "Multiply 48163 by 729", "--domain", "math", "--ahead-by", "3", "--model", fmt.Sprintf("sim/default?p=0.9&rivals=3&seed=%d", n)}, dir
	case 1:
		return []string{"script", script, "--approve", "none", "--workspace", dir, "--model", queues}, dir
	case 2:
		return []string{"hanoi", "--disks", "8", "--ahead-by", "8", "--model", fmt.Sprintf("sim/default?p=0.9&seed=%d", n)}, dir
	case 3:
		return []string{"map", tickets, "--prompt", "Which queue? {{.subject}}: {{.body}}", "--one-of", "billing,bug,other", "--model", queues}, dir
	default:
		return []string{"run", "Find the files with TODO comments in src, count them per file, and write a summary to summary.md.", "--yes", "-k", "2", "--approve", "none", "--workspace", dir, "--model", fmt.Sprintf("sim/default?p=0.9&seed=%d", n)}, dir
	}
}

// TestChaos: workers are killed again and again, and the server once, while many runs of several
// kinds are under way. All of them end, nothing is lost or doubled, and their logs replay.
func TestChaos(t *testing.T) {
	const many = 50
	dir := t.TempDir()
	server := devserver.ForTest(t)
	c := &cluster{server: server}
	shared := filepath.Join(dir, "store")
	var err error
	if c.store, err = store.Open(shared); err == nil {
		c.client, err = dial(server.Address, c.store)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.Close)

	type one struct{ run, workspace string }
	var all []one
	for n := range many {
		args, workspace := commands(t, n)
		run := c.hold(t, args...)
		all = append(all, one{run, workspace})
		if _, err := c.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: run, TaskQueue: "maker"}, runner.Workflow, runner.Input{Version: wire.Version, Run: run, NoInput: true}); err != nil {
			t.Fatal(err)
		}
	}

	ctx, cancel := context.WithTimeoutCause(t.Context(), 8*time.Minute, errors.New("the runs take too long"))
	defer cancel()
	ended := make(chan struct{})
	kills := make(chan int)
	go func() { kills <- c.killing(t, shared, ended) }()
	var wg sync.WaitGroup
	outputs := make([]runner.Output, many)
	for n, o := range all {
		wg.Go(func() {
			if err := c.client.GetWorkflow(ctx, o.run, "").Get(ctx, &outputs[n]); err != nil {
				t.Errorf("%s: %v", o.run, err)
			}
		})
	}
	wg.Wait()
	close(ended)
	t.Logf("workers were killed %d times, the server once", <-kills)
	unknown := 0
	for n, o := range all {
		if out := outputs[n]; out.Status != event.StatusCompleted {
			if !strings.Contains(out.Reason, "nobody knows") {
				t.Errorf("%s ended as %+v", o.run, out)
			}
			unknown++
		}
		if effects, err := os.ReadFile(filepath.Join(o.workspace, "effect.txt")); err == nil && string(effects) != "once\n" {
			t.Errorf("%s: the effect happened %d times", o.run, strings.Count(string(effects), "\n"))
		}
		c.replays(t, o.run, outputs[n].Status)
	}
	t.Logf("%d runs ended at a call of which nobody knows whether it took effect", unknown)
}

// killing kills one of three workers every few seconds, and the server once, until the runs have
// ended. It reports how often.
func (c *cluster) killing(t *testing.T, dir string, ended <-chan struct{}) int {
	workers := []*process{startWorker(t, c.server.Address, dir), startWorker(t, c.server.Address, dir), startWorker(t, c.server.Address, dir)}
	defer func() {
		for _, w := range workers {
			w.kill()
		}
	}()
	random := rand.New(rand.NewPCG(1, 2))
	for n := 0; ; n++ {
		select {
		case <-ended:
			return n
		case <-time.After(time.Duration(1500+random.IntN(2500)) * time.Millisecond): // when it comes is the test
		}
		if n == 4 {
			if err := c.server.Restart(context.Background()); err != nil {
				t.Errorf("the server does not come back: %v", err)
				return n
			}
			continue
		}
		i := random.IntN(len(workers))
		workers[i].kill()
		workers[i] = startWorker(t, c.server.Address, dir)
	}
}

// replays checks that what a run came to is a run like any other.
func (c *cluster) replays(t *testing.T, run, status string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), run)
	if err := runner.Export(t.Context(), c.store, run, dir); err != nil {
		t.Errorf("%s: %v", run, err)
		return
	}
	r, err := runs.Open(dir)
	if err != nil {
		t.Errorf("%s: %v", run, err)
		return
	}
	if result, err := r.Store(); err != nil || result.Status != status {
		t.Errorf("%s: the result is %+v, %v, want %s", run, result, err, status)
	}
	for _, command := range [][]string{{"replay", dir}, {"show", dir}, {"certify", dir}} {
		var out, said bytes.Buffer
		if code := cli.Main(command, cli.Streams{In: os.Stdin, Out: &out, Err: &said}); code != 0 {
			t.Errorf("maker %q = %d\n%s%s", command, code, &out, &said)
		}
	}
}
