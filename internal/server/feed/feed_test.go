package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// started is a run that somebody writes.
func started(t *testing.T) (*runlog.Log, *runs.Run) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Append(event.TaskSubmitted{Format: event.Format, Kind: "hanoi", Form: event.FormChain}), log.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return log, run
}

func write(t *testing.T, log *runlog.Log, from, to int, text string) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := log.Append(event.StepCompleted{Step: i, Output: event.TextValue(text)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// follow checks that a follower gets every event once and in order, and returns how many.
func follow(ctx context.Context, h *Hub, run *runs.Run, from uint64, at func(Line)) (uint64, error) {
	next := from
	for lines, err := range h.Follow(ctx, run, from) {
		if err != nil {
			return next, err
		}
		for _, l := range lines {
			if l.Seq != next || !bytes.Contains(l.Raw[:min(len(l.Raw), 60)], strconv.AppendUint([]byte(`"seq":`), next, 10)) {
				return next, fmt.Errorf("event %d comes after %d: %s", l.Seq, next-1, l.Raw)
			}
			next++
			if at != nil {
				at(l)
			}
		}
	}
	return next, nil
}

// TestThousandFollowers: whenever they come, wherever they begin and however slow they are,
// they miss nothing.
func TestThousandFollowers(t *testing.T) {
	const followers, events = 1000, 1200
	log, run := started(t)
	var h Hub
	var group sync.WaitGroup
	written := make(chan struct{})
	join := func(i int) {
		from := uint64(0)
		if i%3 == 1 {
			from = uint64(i)
		}
		group.Go(func() {
			last, err := follow(t.Context(), &h, run, from, func(l Line) {
				if i%50 == 0 && l.Seq == 10 {
					<-written // it does not read while all the others do
				}
			})
			if want := uint64(events + 1); err != nil || last != want {
				t.Errorf("follower %d from %d got events up to %d, %v, want %d", i, from, last, err, want)
			}
		})
	}
	for i := range followers / 2 {
		join(i)
	}
	for i := range 20 {
		write(t, log, i*events/20, (i+1)*events/20, strings.Repeat("x", 1500))
		for n := range followers / 40 {
			join(followers/2 + i*followers/40 + n)
		}
	}
	close(written)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if n := h.Followers(); n != 0 || len(h.feeds) != 0 {
		t.Errorf("%d followers and %d feeds are left", n, len(h.feeds))
	}
}

// TestKeepsLittle: what a feed has in memory is bounded, however much there is.
func TestKeepsLittle(t *testing.T) {
	log, run := started(t)
	var h Hub
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	near := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := follow(ctx, &h, run, 0, func(l Line) {
			if l.Seq == 3000 {
				close(near)
			}
		}); err != nil {
			t.Error(err)
		}
	})
	write(t, log, 0, 3000, strings.Repeat("x", 2000))
	<-near
	h.mu.Lock()
	f := h.feeds[run.Dir()]
	h.mu.Unlock()
	f.mu.Lock()
	if f.size > mostKeptSize || len(f.lines) > mostKept || f.first+uint64(len(f.lines)) != 3001 {
		t.Errorf("the feed keeps %d lines of %d bytes from %d on", len(f.lines), f.size, f.first)
	}
	f.mu.Unlock()
	cancel()
	group.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEnd: a run that nobody writes is read to its end; one that is resumed goes on.
func TestEnd(t *testing.T) {
	log, run := started(t)
	write(t, log, 0, 10, "x")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var h Hub
	for _, from := range []uint64{0, 5, 11, 20} {
		if last, err := follow(t.Context(), &h, run, from, nil); err != nil || last != max(from, 11) {
			t.Errorf("Follow(from %d) ends at %d, %v", from, last, err)
		}
	}
}

// TestStop: whoever wants no more gets no more.
func TestStop(t *testing.T) {
	log, run := started(t)
	write(t, log, 0, 2000, strings.Repeat("x", 200))
	var h Hub
	for lines, err := range h.Follow(t.Context(), run, 0) {
		if err != nil || len(lines) == 0 || len(lines) > mostAtOnce {
			t.Errorf("Follow() yields %d lines, %v", len(lines), err)
		}
		break
	}
	if len(h.feeds) != 0 {
		t.Errorf("%d feeds are left", len(h.feeds))
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}
