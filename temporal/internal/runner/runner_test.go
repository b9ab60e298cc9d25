package runner_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/temporal/internal/devserver"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
)

// cluster is a server with a store.
type cluster struct {
	server *devserver.Server
	store  *store.Folder
	client client.Client
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	server := devserver.ForTest(t)
	c := &cluster{server: server}
	var err error
	if c.store, err = store.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if c.client, err = dial(server.Address, c.store); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.Close)
	return c
}

func (c *cluster) work(t *testing.T) {
	t.Helper()
	e, err := engine.New(engine.Options{LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	r := &runner.Runner{Engine: e, Store: c.store, Lost: lost, Temp: t.TempDir()}
	w := worker.New(c.client, "maker", worker.Options{MaxHeartbeatThrottleInterval: lost / 5})
	r.Register(w)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Stop()
		_ = r.Close()
	})
}

// hold begins a run of a command line and puts it into the store.
func (c *cluster) hold(t *testing.T, args ...string) string {
	t.Helper()
	var said bytes.Buffer
	dir, code := cli.Hold(append(args, "--log-dir", t.TempDir()), cli.Streams{In: bytes.NewReader(nil), Out: &said, Err: &said})
	if dir == "" {
		t.Fatalf("maker %q = %d: %s", args, code, &said)
	}
	run, _, err := runner.Import(t.Context(), c.store, dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (c *cluster) do(t *testing.T, run string) *runner.Output {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errors.New("the run takes too long"))
	defer cancel()
	w, err := c.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: run, TaskQueue: "maker"}, runner.Workflow, runner.Input{Version: wire.Version, Run: run})
	var out runner.Output
	if err == nil {
		err = w.Get(ctx, &out)
	}
	if err != nil {
		t.Fatalf("%s: %v", run, err)
	}
	return &out
}

// workspaceOf is a folder with what the tasks of the tests are about.
func workspaceOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	tickets, err := os.ReadFile("../../../examples/tickets.csv")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"tickets.csv": tickets, "src/a.c": []byte("// TODO: one\n// TODO: two\n"), "src/b.c": []byte("// TODO: three\n")} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestKinds: runs of each kind come to the same end as on one machine, and what is exported is
// a run like any other.
func TestKinds(t *testing.T) {
	c := newCluster(t)
	c.work(t)
	for name, args := range map[string][]string{
		"ask":    {"ask", "Which queue? Thank you: That is all!", "--one-of", "billing,bug,other", "-k", "3", "--model", "sim/default?script=../../../examples/scripts/triage.yaml"},
		"solve":  {"solve", "Multiply 48163 by 729", "--domain", "math", "--ahead-by", "3", "--model", "sim/default?p=0.9&rivals=3&seed=4"},
		"run":    {"run", "Find the files with TODO comments in src, count them per file, and write a summary to summary.md.", "--yes", "-k", "2", "--approve", "none", "--model", "sim/default?p=0.9"},
		"chain":  {"hanoi", "--disks", "11", "--model", "sim/default"},
		"map":    {"map", "../../../examples/tickets.csv", "--prompt", "Which queue? {{.subject}}: {{.body}}", "--one-of", "billing,bug,other", "-k", "2", "--voting", "first_to_k", "--model", "sim/default?p=0.9&script=../../../examples/scripts/triage.yaml"},
		"adapt":  {"map", "../../../examples/tickets.csv", "--prompt", "Which queue? {{.subject}}: {{.body}}", "--one-of", "billing,bug,other", "--model", "sim/default?p=0.9&script=../../../examples/scripts/triage.yaml"},
		"script": {"script", "../../../examples/scripts/triage.star", "--arg", "file=tickets.csv", "--approve", "none", "--model", "sim/default?p=0.9&script=../../../examples/scripts/triage.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			workspace := workspaceOf(t)
			if name == "run" || name == "script" {
				args = append(args, "--workspace", workspace)
			}
			run := c.hold(t, args...)
			if out := c.do(t, run); out.Status != event.StatusCompleted {
				t.Errorf("%s ended as %+v", run, out)
			}
			c.replays(t, run, event.StatusCompleted)
		})
	}
}

// TestDeadline: a run that takes too long is stopped, and goes on when it is started again.
func TestDeadline(t *testing.T) {
	c := newCluster(t)
	c.work(t)
	run := c.hold(t, "hanoi", "--disks", "5", "--model", "sim/default?latency=100ms", "--deadline", "1s")
	sessions := 1
	for ; ; sessions++ {
		out := c.do(t, run)
		if out.Status == event.StatusCompleted {
			break
		}
		if out.Status != event.StatusStopped || out.Stop != "deadline" || sessions == 20 {
			t.Fatalf("session %d ended as %+v, want that the deadline stopped it", sessions, out)
		}
	}
	if sessions < 2 {
		t.Error("it took one session: nothing stopped it")
	}
	c.replays(t, run, event.StatusCompleted)
}
