// Package feed hands the events of runs to any number of followers.
//
// However many follow a run, its log is read once, and the latest lines are kept in memory.
// A follower that is near is handed lines; one that is further behind reads the log itself
// until it has caught up. None of them holds up the others, the feed or the run, and each gets
// every line.
package feed

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/maker-mdap/maker/runs"
)

// What a feed keeps in memory, and what a follower is handed at once.
const (
	mostKept     = 4096
	mostKeptSize = 1 << 20
	mostAtOnce   = 256
	mostOnceSize = 64 << 10
)

// A Line is an event as the log has it.
type Line struct {
	Seq uint64
	Raw []byte // not to be changed
}

// A Log is that of a run, which *[runs.Run] reads.
type Log interface {
	Dir() string
	Next() (uint64, error)
	Cursor(from uint64) *runs.Cursor
	FollowLines(ctx context.Context, from uint64) iter.Seq2[[]byte, error]
}

var _ Log = (*runs.Run)(nil)

// A Hub has the feeds of all runs that are followed. The zero value is ready for use.
type Hub struct {
	mu    sync.Mutex
	feeds map[string]*feed // by folder
}

// Followers is how many follow something.
func (h *Hub) Followers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, f := range h.feeds {
		n += f.followers
	}
	return n
}

// Follow yields the lines of a log from sequence number from on, a few at a time, and then new
// ones as they come. Like [runs.Run.Follow] it ends when nobody writes the log any more and
// all of it was yielded, when ctx ends, or with an error.
func (h *Hub) Follow(ctx context.Context, log Log, from uint64) iter.Seq2[[]Line, error] {
	return func(yield func([]Line, error) bool) {
		f, err := h.join(log)
		if err != nil {
			yield(nil, err)
			return
		}
		defer h.leave(f)
		for next := from; ctx.Err() == nil; {
			lines, behind, changed, err := f.take(next)
			switch {
			case behind > next:
				if next, err = readBehind(ctx, log, next, behind, yield); err != nil {
					if err != errStop {
						yield(nil, err)
					}
					return
				}
			case len(lines) > 0:
				if !yield(lines, nil) {
					return
				}
				next = lines[len(lines)-1].Seq + 1
			case changed == nil: // it has ended
				if err != nil {
					yield(nil, err)
				}
				return
			default:
				select {
				case <-changed:
				case <-ctx.Done():
				}
			}
		}
	}
}

// join finds the feed of a log, or begins one at the end of the log.
func (h *Hub) join(log Log) (*feed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[log.Dir()]; f != nil && !f.over() {
		f.followers++
		return f, nil
	}
	next, err := log.Next()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &feed{dir: log.Dir(), followers: 1, cancel: cancel, done: make(chan struct{}), first: next, changed: make(chan struct{})}
	if h.feeds == nil {
		h.feeds = map[string]*feed{}
	}
	h.feeds[f.dir] = f
	go f.read(ctx, log)
	return f, nil
}

// leave ends a feed that nobody follows any more.
func (h *Hub) leave(f *feed) {
	h.mu.Lock()
	f.followers--
	last := f.followers == 0
	if last && h.feeds[f.dir] == f {
		delete(h.feeds, f.dir)
	}
	h.mu.Unlock()
	if last {
		f.cancel()
		<-f.done
	}
}

// feed is the end of a log.
type feed struct {
	dir       string
	followers int // guarded by the mutex of the hub
	cancel    context.CancelFunc
	done      chan struct{} // closed when nobody reads the log for it any more

	mu      sync.Mutex
	first   uint64 // of the lines that are kept
	lines   [][]byte
	size    int
	ended   bool
	err     error         // that ended it
	changed chan struct{} // closed when there is more, or when it has ended
}

func (f *feed) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// read reads the log until it ends.
func (f *feed) read(ctx context.Context, log Log) {
	defer close(f.done)
	var failed error
	for raw, err := range log.FollowLines(ctx, f.first) {
		if err != nil {
			failed = err
			break
		}
		f.add(append([]byte(nil), raw...))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.err = true, failed
	close(f.changed)
}

// add takes a line and lets go of old ones.
func (f *feed) add(line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, line)
	f.size += len(line)
	drop := 0
	for len(f.lines)-drop > 1 && (len(f.lines)-drop > mostKept || f.size > mostKeptSize) {
		f.size -= len(f.lines[drop])
		f.lines[drop] = nil
		drop++
	}
	f.first += uint64(drop)
	if f.lines = f.lines[drop:]; cap(f.lines) > 4*mostKept {
		f.lines = append(make([][]byte, 0, 2*mostKept), f.lines...)
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// take returns lines from a sequence number on. If the feed does not have them any more,
// behind is up to where the log has to be read. If there are none yet, changed is closed once
// there are; it is nil if there will be none.
func (f *feed) take(next uint64) (lines []Line, behind uint64, changed <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if next < f.first {
		return nil, f.first, nil, nil
	}
	size := 0
	for i := next - f.first; i < uint64(len(f.lines)) && len(lines) < mostAtOnce && size < mostOnceSize; i++ {
		lines = append(lines, Line{f.first + i, f.lines[i]})
		size += len(f.lines[i])
	}
	if len(lines) > 0 || !f.ended {
		return lines, 0, f.changed, nil
	}
	return nil, 0, nil, f.err
}

type stopError struct{}

func (stopError) Error() string { return "no more is wanted" }

var errStop = stopError{}

// readBehind yields the lines of a log up to one, from the log itself. While somebody takes
// them nothing but these lines is held.
func readBehind(ctx context.Context, log Log, next, end uint64, yield func([]Line, error) bool) (uint64, error) {
	cursor := log.Cursor(next)
	for next < end && ctx.Err() == nil {
		raw, err := cursor.Read(mostAtOnce, mostOnceSize)
		if err != nil {
			return next, err
		}
		if len(raw) == 0 {
			return next, fmt.Errorf("the log in %s ends before event %d", log.Dir(), next)
		}
		lines := make([]Line, 0, len(raw))
		for _, line := range raw {
			lines = append(lines, Line{next, line})
			next++
		}
		if !yield(lines, nil) {
			return next, errStop
		}
	}
	return next, nil
}
