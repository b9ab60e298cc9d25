package maker_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
)

// collect reads all events of a run.
func collect(t *testing.T, run *maker.Run) []event.Record {
	t.Helper()
	var all []event.Record
	for r, err := range run.Events(t.Context()) {
		if err != nil {
			t.Errorf("Events: %v", err)
			break
		}
		all = append(all, r)
	}
	return all
}

// wantStory checks what every log of a completed chain has in common.
func wantStory(t *testing.T, run *maker.Run, events []event.Record, steps int) {
	t.Helper()
	next := 0
	for i, r := range events {
		if r.Seq != uint64(i) || r.Run != run.ID() || r.Time.IsZero() {
			t.Fatalf("event %d is %+v, want its number and its run", i, r)
		}
		if s, ok := r.Event.(event.StepCompleted); ok {
			if s.Step != next {
				t.Fatalf("event %d commits step %d, want %d", i, s.Step, next)
			}
			next++
		}
	}
	if next != steps || len(events) == 0 {
		t.Fatalf("%d steps are committed in %d events, want %d", next, len(events), steps)
	}
	if got := events[0].Event.Type(); got != event.TypeTaskSubmitted {
		t.Errorf("the first event is %s, want task_submitted", got)
	}
	if got := events[len(events)-1].Event.Type(); got != event.TypeTaskCompleted {
		t.Errorf("the last event is %s, want task_completed", got)
	}
}

func TestEventsAgreeWithResultAndLog(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0.93&seed=2", FullLog: true}})
	run := startHanoi(t, e, 5)
	events := collect(t, run)
	r := mustResult(t, run)
	wantStory(t, run, events, 31)

	votes, samples := 0, 0
	for _, rec := range events {
		switch ev := rec.Event.(type) {
		case event.VoteCompleted:
			votes++
			if diff := cmp.Diff(r.Steps[ev.Step].Voting, ev.Voting); diff != "" {
				t.Errorf("step %d: -result +event\n%s", ev.Step, diff)
			}
		case event.StepCompleted:
			if diff := cmp.Diff(r.Steps[ev.Step].Output, ev.Output); diff != "" {
				t.Errorf("step %d: -result +event\n%s", ev.Step, diff)
			}
		case event.SampleCompleted, event.SampleRedFlagged:
			samples++
		}
	}
	if votes != 31 || samples != r.Voting.Samples {
		t.Errorf("a full log has %d votes and %d samples, want 31 and %d", votes, samples, r.Voting.Samples)
	}

	var lines []byte
	for line, err := range run.Lines(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	log, err := os.ReadFile(filepath.Join(run.Dir(), "events.jsonl"))
	if err != nil || !bytes.Equal(lines, log) {
		t.Errorf("Lines gives %d bytes, the log has %d (%v)", len(lines), len(log), err)
	}
	// Readers that come when all is over get everything as well.
	if diff := cmp.Diff(events, collect(t, run)); diff != "" {
		t.Errorf("Events after the end: -during +after\n%s", diff)
	}
}

// TestCompactLogKeepsContestedSamples: of a contested step everything is kept, of
// any other its commit.
func TestCompactLogKeepsContestedSamples(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0.93&seed=2"}})
	run := startHanoi(t, e, 5)
	events, r := collect(t, run), mustResult(t, run)
	got, want := map[int]int{}, map[int]int{}
	for _, rec := range events {
		switch ev := rec.Event.(type) {
		case event.SampleCompleted:
			got[ev.Step]++
		case event.SampleRedFlagged:
			got[ev.Step]++
		}
	}
	for _, s := range r.Steps {
		if s.Voting.Contested() {
			want[s.Step] = s.Voting.Samples
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("samples in the log by step: -want +got\n%s", diff)
	}
}

// TestEventsHoldNobodyUp has readers of every pace. Some do not read on before
// the run is over: if the engine waited for them, it would never be.
func TestEventsHoldNobodyUp(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0.95&seed=3"}})
	run := startHanoi(t, e, 9)
	read := make(chan []event.Record)
	const readers = 8
	for i := range readers {
		go func() {
			var all []event.Record
			for r, err := range run.Events(t.Context()) {
				if err != nil {
					t.Errorf("reader %d: %v", i, err)
					break
				}
				if all = append(all, r); i%2 == 0 && len(all) == i+1 {
					<-run.Done()
				}
			}
			read <- all
		}()
	}
	first := <-read
	wantStory(t, run, first, 511)
	for range readers - 1 {
		if other := <-read; !reflect.DeepEqual(first, other) {
			t.Errorf("two readers got different events: %d and %d of them", len(first), len(other))
		}
	}
}

func TestEventsCanBeLeft(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: slow}})
	run := startHanoi(t, e, 3)
	n := 0
	for _, err := range run.Events(t.Context()) {
		if n++; err != nil || n == 2 {
			break
		}
	}
	// A reader whose context ends stops waiting, without an error.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range run.Events(ctx) {
		if err != nil {
			t.Errorf("Events: %v", err)
		}
		cancel()
	}
	if r := mustResult(t, run); r.Status != event.StatusCompleted || n != 2 {
		t.Errorf("the run that readers left = %s, want completed", r.Status)
	}
	wantStory(t, run, collect(t, run), 7)
}

func TestProgress(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0.9&malformed=0.1&latency=1ms&seed=6", MaxCalls: 60}})
	run := startHanoi(t, e, 6)
	if p := run.Progress(); p.Total != 63 {
		t.Errorf("Progress().Total = %d, want 63", p.Total)
	}
	last := run.Progress()
	for ended := false; !ended; {
		select {
		case <-run.Done():
			ended = true
		default:
		}
		p := run.Progress()
		if p.Steps < last.Steps || p.Samples < last.Samples || p.Spent.Calls < last.Spent.Calls || p.Elapsed < last.Elapsed {
			t.Fatalf("Progress() = %+v after %+v, want nothing to shrink", p, last)
		}
		if p.Spent.Calls > 60 {
			t.Fatalf("Progress() = %+v, want at most 60 calls", p)
		}
		last = p
	}
	first := mustResult(t, run)
	if last.Steps != first.StepsCompleted || last.Session != last.Steps || last.Spent != first.Usage {
		t.Errorf("Progress() at the end = %+v, want %d steps and %+v", last, first.StepsCompleted, first.Usage)
	}

	second, err := e.Resume(t.Context(), run.ID(), &maker.ResumeOptions{Change: func(c *maker.Config) { c.MaxCalls = 0 }})
	if err != nil {
		t.Fatal(err)
	}
	r, p := mustResult(t, second), second.Progress()
	got := fmt.Sprint(p.Steps, p.Session, p.Contested, p.Trouble)
	want := fmt.Sprint(63, 63-first.StepsCompleted, r.Voting.Contested, "")
	if got != want || p.Spent != r.Usage {
		t.Errorf("Progress() of the second session = %+v, want steps, session and contested %s", p, want)
	}
}

// TestLongRunListsWhatMatters: a result stays readable however long the run.
func TestLongRunListsWhatMatters(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0.97&seed=8"}})
	run := startHanoi(t, e, 11)
	r := mustResult(t, run)
	if r.StepsCompleted != 2047 || r.StepsOmitted != 2047-len(r.Steps) || r.StepsOmitted == 0 {
		t.Errorf("Result() lists %d of %d steps and omits %d", len(r.Steps), r.StepsCompleted, r.StepsOmitted)
	}
	for i, s := range r.Steps {
		if !s.Voting.Contested() && i != len(r.Steps)-1 {
			t.Errorf("step %d is listed, and nobody contested it", s.Step)
		}
	}
	if got, want := len(r.Steps), r.Voting.Contested; got != want && got != want+1 {
		t.Errorf("Result() lists %d steps, want the %d contested ones and the last", got, want)
	}
	if last := r.Steps[len(r.Steps)-1]; last.Step != 2046 || !cmp.Equal(last.Output, r.Output) {
		t.Errorf("the last step listed is %d, want 2046", last.Step)
	}
	wantMoves(t, r, 11)
	wantReplay(t, e, run.ID())
	if _, err := e.Replay(hanoi.Name); err != nil {
		t.Errorf("Replay(the beginning of a name) = %v", err)
	}
}
