package runs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// writerFolder makes this program write the run in a folder instead of testing.
const writerFolder = "MAKER_TEST_WRITER_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerFolder); dir != "" {
		if err := write(dir, os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func committed(step int) event.StepCompleted {
	return event.StepCompleted{
		Step: step, Output: event.TextValue(fmt.Sprint("output ", step)),
		Voting: event.Voting{Strategy: vote.FirstToK, Samples: 3, Votes: map[string]int{"a": 3}, Margin: 3},
	}
}

// submitted is the first event of a run of a kind.
func submitted(kind string) event.TaskSubmitted {
	return event.TaskSubmitted{
		Format: event.Format, Kind: kind, Task: "a task",
		Config: []byte(`{"model":"sim/default","voting":{"strategy":"first_to_k","k":3,"max_samples":10}}`),
	}
}

// write does what it is told in lines: to append n steps, to leave an unfinished line,
// to die. It says when that is done. At the end of its orders it closes the log.
func write(dir string, orders io.Reader, out io.Writer) error {
	step := 0
	log, _, err := runlog.Open(dir, nil, func(l runlog.Line) error {
		if l.Type == event.TypeStepCompleted {
			step++
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		if log, err = runlog.Create(dir, filepath.Base(dir), nil); err == nil {
			err = log.Append(submitted("hanoi"))
		}
	}
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(orders); in.Scan(); {
		var n int
		switch order := in.Text(); {
		case order == "die":
			os.Exit(3)
		case order == "tear":
			if err := errors.Join(log.Sync(context.Background()), tear(dir)); err != nil {
				return err
			}
		default:
			if _, err := fmt.Sscanf(order, "append %d", &n); err != nil {
				return err
			}
			for range n {
				if err := log.Append(committed(step)); err != nil {
					return err
				}
				step++
			}
			if err := log.Sync(context.Background()); err != nil {
				return err
			}
		}
		fmt.Fprintln(out, "done")
	}
	return log.Close()
}

func tear(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, runlog.EventsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(`{"type":"step_completed","seq":`)
	return errors.Join(err, f.Close())
}

// A process writes a run.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	orders io.WriteCloser
	said   *bufio.Reader
}

func startWriter(t *testing.T, dir string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], "-test.run=^$")}
	p.cmd.Env = append(os.Environ(), writerFolder+"="+dir)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.orders, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	said, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.said = bufio.NewReader(said)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.orders.Close()
		_ = p.cmd.Wait() // unless the test did
	})
	return p
}

// order has the process do something, and returns when it is done.
func (p *process) order(format string, args ...any) {
	p.t.Helper()
	fmt.Fprintf(p.orders, format+"\n", args...)
	if said, err := p.said.ReadString('\n'); said != "done\n" {
		p.t.Fatalf("the writer of %s said %q, %v, want that it is done", format, said, err)
	}
}

// die ends the process without a word to its log.
func (p *process) die() {
	fmt.Fprintln(p.orders, "die")
	_ = p.cmd.Wait() // its exit code says that it died
}

// end has the process close its log.
func (p *process) end() {
	p.t.Helper()
	if err := errors.Join(p.orders.Close(), p.cmd.Wait()); err != nil {
		p.t.Fatal(err)
	}
}

// numbers follows a run and checks that each event comes once and in order.
func numbers(t *testing.T, run *runs.Run, from uint64, meet func(seq uint64)) (next uint64) {
	next = from
	for rec, err := range run.Follow(t.Context(), from) {
		if err != nil || rec.Seq != next {
			t.Errorf("Follow(from %d) = event %d, %v, want event %d", from, rec.Seq, err, next)
			return next
		}
		if next++; meet != nil {
			meet(rec.Seq)
		}
	}
	return next
}

// TestFollowAnotherProcess: readers at different places see all that another process
// writes, until it ends.
func TestFollowAnotherProcess(t *testing.T) {
	const events = 2001
	dir := filepath.Join(t.TempDir(), "run")
	writer := startWriter(t, dir)
	writer.order("append 10")
	run := open(t, dir)
	if pid, written := run.Writer(); !written || pid != writer.cmd.Process.Pid {
		t.Errorf("Writer() = %d, %t, want %d", pid, written, writer.cmd.Process.Pid)
	}
	if r, err := run.Result(); err != nil || r.Status != event.StatusRunning || r.StepsCompleted != 10 {
		t.Errorf("Result() = %+v, %v, want 10 steps of a run that goes on", r, err)
	}
	var readers sync.WaitGroup
	for _, from := range []uint64{0, 1, 10, 11, 700, events - 2, events, events + 5} {
		readers.Go(func() {
			if end := numbers(t, run, from, nil); end != max(from, events) {
				t.Errorf("Follow(from %d) ended before event %d, want %d", from, end, events)
			}
		})
	}
	for range 10 {
		writer.order("append 199")
	}
	writer.end()
	readers.Wait()
	if pid, written := run.Writer(); written {
		t.Errorf("Writer() = %d after its end, want nobody", pid)
	}
	if r, err := run.Result(); err != nil || r.Status != runs.StatusInterrupted || r.StepsCompleted != events-1 {
		t.Errorf("Result() = %+v, %v, want %d steps of a run that was interrupted", r, err, events-1)
	}
}

// TestFollowOverAResume: a process dies in the middle of a line while others read, and
// a third one goes on with the run. For those who look at that moment it is one run.
func TestFollowOverAResume(t *testing.T) {
	const last = 100 // event of the process that dies
	dir := filepath.Join(t.TempDir(), "run")
	first := startWriter(t, dir)
	first.order("append 10")
	run := open(t, dir)
	var readers, there sync.WaitGroup
	resumed := make(chan struct{})
	for _, from := range []uint64{0, 5, 60, last} {
		there.Add(1)
		readers.Go(func() {
			arrived := sync.OnceFunc(there.Done)
			defer arrived()
			end := numbers(t, run, from, func(seq uint64) {
				if seq == last {
					arrived()
					<-resumed
				}
			})
			if end != last+26 {
				t.Errorf("Follow(from %d) ended before event %d, want %d", from, end, last+26)
			}
		})
	}
	first.order("append %d", last-10)
	there.Wait()
	first.order("tear")
	first.die()
	third := startWriter(t, dir)
	third.order("append 20")
	close(resumed)
	third.order("append 5")
	third.end()
	readers.Wait()
}

// TestFollowOfARunThatDied: there is nothing to wait for.
func TestFollowOfARunThatDied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	writer := startWriter(t, dir)
	writer.order("append 30")
	run := open(t, dir)
	died := sync.OnceFunc(func() {
		writer.order("tear")
		writer.die()
	})
	if end := numbers(t, run, 3, func(uint64) { died() }); end != 31 {
		t.Errorf("Follow() ended before event %d, want 31", end)
	}
	if end := numbers(t, run, 0, nil); end != 31 {
		t.Errorf("Follow() of a dead run ended before event %d, want 31", end)
	}
}

// TestFollowThisProcess: the writer may be a goroutine as well, and a reader may leave.
func TestFollowThisProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Append(submitted("hanoi")), log.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	run := open(t, dir)
	var readers sync.WaitGroup
	for _, from := range []uint64{0, 1, 250} {
		readers.Go(func() {
			if end := numbers(t, run, from, nil); end != 501 {
				t.Errorf("Follow(from %d) ended before event %d, want 501", from, end)
			}
		})
	}
	for range run.Follow(t.Context(), 0) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range run.Follow(ctx, 0) {
		cancel() // while it is being written
	}
	for n := range 500 {
		if err := log.Append(committed(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	readers.Wait()
}

// TestEvents: what is there now, and where it is damaged.
func TestEvents(t *testing.T) {
	run := open(t, copyRun(t, full, t.TempDir(), "run"))
	var all, rest []event.Record
	for rec, err := range run.Events(0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
	for rec, err := range run.Events(20) {
		if err != nil {
			t.Fatal(err)
		}
		rest = append(rest, rec)
	}
	if len(all) < 30 || len(rest) != len(all)-20 || rest[0].Seq != 20 {
		t.Errorf("Events(0) = %d events, Events(20) = %d, want 20 less", len(all), len(rest))
	}
	replace(t, filepath.Join(run.Dir(), runlog.EventsFile), "", `"type":"agent_sample_completed","seq":6,`, `"type":"agent_sample_completed","seq":6,"step":"six",`)
	var last error
	for _, err := range run.Events(0) {
		last = err
	}
	if c, ok := errors.AsType[*runs.CorruptError](last); !ok || c.Line != 7 || !strings.Contains(c.Error(), run.Dir()) {
		t.Errorf("Events(with a step that is no number) = %v, want a CorruptError in line 7", last)
	}
}
