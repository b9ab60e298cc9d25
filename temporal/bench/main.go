// Command bench measures runs on Temporal against the same runs in one process, with real
// workers, a real server and a simulator over HTTP that takes its time.
//
//	go run ./bench map        one to eight workers over a table
//	go run ./bench chain      a chain on one worker
//	go run ./bench cost       what a step costs in histories, activities and the store
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/temporal/internal/claimcheck"
	"github.com/maker-mdap/maker/temporal/internal/devserver"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("say what to measure: map, chain or cost")
	}
	switch args[0] {
	case "maker": // this program as maker
		os.Exit(cli.Main(args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	case "worker":
		return work(args[1], args[2])
	case "map":
		return measureMap(ctx, args[1:])
	case "chain":
		return measureChain(ctx, args[1:])
	case "cost":
		return measureCost(ctx)
	}
	return fmt.Errorf("there is no measurement %q: map, chain or cost", args[0])
}

// inFlight is how many calls a worker, or the one process, has in flight.
const inFlight = 8

// A bench is a server, a store and a simulator.
type bench struct {
	dir, sim string
	server   *devserver.Server
	store    *store.Folder
	client   client.Client
	last     string // run
	stops    []func()
}

func open(ctx context.Context, latency time.Duration) (b *bench, err error) {
	b = &bench{}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.dir, err = os.MkdirTemp("", "maker-bench-"); err != nil {
		return b, err
	}
	b.stops = append(b.stops, func() { _ = os.RemoveAll(b.dir) })
	if b.server, err = devserver.Start(ctx, ""); err != nil {
		return b, err
	}
	b.stops = append(b.stops, func() { _ = b.server.Kill() })
	if b.store, err = store.Open(filepath.Join(b.dir, "store")); err != nil {
		return b, err
	}
	if b.client, err = dial(b.server.Address, b.store); err != nil {
		return b, err
	}
	b.stops = append(b.stops, b.client.Close)
	line, err := b.child("maker", "sim", "--model", fmt.Sprintf("sim/default?p=1&latency=%s,0.3", latency))
	b.sim = line
	return b, err
}

func (b *bench) close() {
	for i := len(b.stops) - 1; i >= 0; i-- {
		b.stops[i]()
	}
	b.stops = nil
}

// child starts this program once more, and returns the first line that it prints. It ends with
// the bench.
func (b *bench) child(args ...string) (string, error) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	b.stops = append(b.stops, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), err
}

func dial(address string, s store.Store) (client.Client, error) {
	data, failures, err := claimcheck.Converters(s)
	if err != nil {
		return nil, err
	}
	return client.Dial(client.Options{HostPort: address, DataConverter: data, FailureConverter: failures, Logger: devserver.Quiet{}})
}

// work is a worker, until it is killed.
func work(address, dir string) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	c, err := dial(address, s)
	if err != nil {
		return err
	}
	e, err := engine.New(engine.Options{LogDir: filepath.Join(dir, "none"), Config: config.Config{MaxInFlight: inFlight}})
	if err != nil {
		return err
	}
	r := &runner.Runner{Engine: e, Store: s, Lost: 30 * time.Second}
	w := worker.New(c, "maker", worker.Options{MaxConcurrentActivityExecutionSize: 2})
	r.Register(w)
	if err := w.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	select {} // until it is killed
}

// local does a run in one process, with so many calls in flight, and returns how long it took.
func (b *bench) local(args []string, inFlight int) (time.Duration, error) {
	cmd := exec.Command(os.Args[0], append(append([]string{"maker"}, args...), "--log-dir", filepath.Join(b.dir, "runs"), "--quiet", "--max-in-flight", strconv.Itoa(inFlight))...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	return time.Since(start), err
}

// remote does a run on the workers that there are.
func (b *bench) remote(ctx context.Context, args []string) (time.Duration, error) {
	dir, code := cli.Hold(append(args, "--log-dir", filepath.Join(b.dir, "held")), cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: os.Stderr})
	if dir == "" {
		return 0, fmt.Errorf("maker %q: exit code %d", args, code)
	}
	run, _, err := runner.Import(ctx, b.store, dir)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	w, err := b.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: run, TaskQueue: "maker"}, runner.Workflow, runner.Input{Version: wire.Version, Run: run})
	var out runner.Output
	if err == nil {
		err = w.Get(ctx, &out)
	}
	if err == nil && out.Status != event.StatusCompleted {
		err = fmt.Errorf("%s ended as %+v", run, out)
	}
	b.last = run
	return time.Since(start), err
}

func (b *bench) addWorker() error {
	line, err := b.child("worker", b.server.Address, filepath.Join(b.dir, "store"))
	if err == nil && line != "ready" {
		err = fmt.Errorf("a worker says %q", line)
	}
	return err
}

// table writes a table and returns the command that maps it.
func (b *bench) table(records int) ([]string, error) {
	path := filepath.Join(b.dir, "sums.csv")
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range records {
		fmt.Fprintf(&text, "%d,%d\n", i+11, i%89+12)
	}
	return []string{
		"map", path, "--prompt", "Compute: {{.a}} + {{.b}}", "--number", "-k", "1", "--voting", "first_to_k", "--extra", "0", "--yes",
		"--out", filepath.Join(b.dir, "out.csv"),
	}, os.WriteFile(path, []byte(text.String()), 0o600)
}

// measureMap maps a table by one, two, four and eight workers.
func measureMap(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("map", flag.ContinueOnError)
	records := f.Int("records", 10_000, "records of the table")
	most := f.Int("workers", 8, "workers at most")
	latency := f.Duration("latency", 40*time.Millisecond, "median latency of the simulator")
	least := f.Float64("least", 0.9, "efficiency from one worker to all, at least")
	limit := f.Float64("max", 1.3, "time on one worker / in one process, at most")
	if err := f.Parse(args); err != nil {
		return err
	}
	b, err := open(ctx, *latency)
	if err != nil {
		return err
	}
	defer b.close()
	command, err := b.table(*records)
	if err != nil {
		return err
	}
	command = append(command, "--model", "compat/default", "--base-url", b.sim)
	local, err := b.local(command, inFlight)
	if err != nil {
		return err
	}
	// What this machine can do at all, with the simulator on it and nothing else.
	ceiling, err := b.local(command, inFlight**most)
	if err != nil {
		return err
	}
	fmt.Printf("%d records, %s, %d in flight for each worker\n", *records, *latency, inFlight)
	fmt.Printf("%-12s %8s %12s %12s\n", "workers", "time", "speed-up", "efficiency")
	fmt.Printf("%-12s %7.1fs\n", "one process", local.Seconds())
	fmt.Printf("%-12s %7.1fs %12.2f %12.2f\n", strconv.Itoa(inFlight**most)+" in flight", ceiling.Seconds(), float64(local)/float64(ceiling), float64(local)/float64(ceiling)/float64(*most))
	var first time.Duration
	efficiency := 1.0
	workers := 0
	for n := 1; n <= *most; n *= 2 {
		for ; workers < n; workers++ {
			if err := b.addWorker(); err != nil {
				return err
			}
		}
		took, err := b.remote(ctx, command)
		if err != nil {
			return err
		}
		if n == 1 {
			first = took
		}
		speedUp := float64(first) / float64(took)
		efficiency = speedUp / float64(n)
		fmt.Printf("%-12s %7.1fs %12.2f %12.2f\n", strconv.Itoa(n), took.Seconds(), speedUp, efficiency)
	}
	return errors.Join(
		bound("efficiency from one worker to "+strconv.Itoa(*most), efficiency, *least, true),
		bound("time on one worker / in one process", float64(first)/float64(local), *limit, false))
}

// measureChain does a chain on one worker.
func measureChain(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("chain", flag.ContinueOnError)
	disks := f.Int("disks", 12, "of the towers")
	latency := f.Duration("latency", 40*time.Millisecond, "median latency of the simulator")
	least := f.Float64("least", 0.8, "speed against one process, at least")
	if err := f.Parse(args); err != nil {
		return err
	}
	b, err := open(ctx, *latency)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.addWorker(); err != nil {
		return err
	}
	command := []string{"hanoi", "--disks", strconv.Itoa(*disks), "--model", "compat/default", "--base-url", b.sim}
	local, err := b.local(command, inFlight)
	if err != nil {
		return err
	}
	took, err := b.remote(ctx, command)
	if err != nil {
		return err
	}
	fmt.Printf("%d disks, %s: %.1fs in one process, %.1fs on one worker\n", *disks, *latency, local.Seconds(), took.Seconds())
	return bound("speed on one worker / in one process", float64(local)/float64(took), *least, true)
}

// bound prints a ratio and holds it against its bound.
func bound(what string, ratio, limit float64, atLeast bool) error {
	word, met := "at most", ratio <= limit
	if atLeast {
		word, met = "at least", ratio >= limit
	}
	verdict := "met"
	if !met {
		verdict = "MISSED"
	}
	fmt.Printf("%-50s %6.2f  (%s %.2f: %s)\n", what, ratio, word, limit, verdict)
	if !met {
		return fmt.Errorf("%s: %.2f, want %s %.2f", what, ratio, word, limit)
	}
	return nil
}
