package local

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/runs"
)

// What whoever watches is shown at most.
const (
	mostOpen     = 8   // questions that are being decided
	mostContests = 100 // decisions with more than one answer
	mostAnswers  = 8   // answers of a question
	longestShown = 400 // of an answer, in bytes
)

// watch holds what goes on now for whoever looks. There is room for a few questions, and each
// look makes room again, so that of a million short ones few are shown and of long ones all
// that there is room for. The first few have room before anybody looks: they may be all that a
// run has. From then on, until somebody does, a question costs a look at two variables.
type watch struct {
	on       atomic.Bool // somebody looks
	deciding atomic.Int64
	taken    atomic.Int64 // of the room for questions, since the last look

	mu       sync.Mutex
	open     []*openQuestion // in the order in which they were begun
	contests []runs.Contest
}

// Watch adds what goes on now.
func (r *Runtime) Watch(p *runs.Progress) {
	w := &r.watch
	w.on.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	p.Deciding, p.Contests = int(w.deciding.Load()), slices.Clone(w.contests)
	for _, q := range w.open {
		shown, pending := q.now()
		p.Open = append(p.Open, shown)
		p.Faults += pending
	}
	w.taken.Store(int64(len(w.open)))
}

func (w *watch) full() bool { return w.taken.Load() >= mostOpen }

// begin takes a question that is being decided from now on. It reports whether it is counted,
// for end.
func (w *watch) begin(key string, step int) (q *openQuestion, gauge *ballot.Gauge, counted bool) {
	if w.full() {
		if counted = w.on.Load(); counted {
			w.deciding.Add(1)
		}
		return nil, nil, counted
	}
	q, counted = w.asked(w.ahead(key, step))
	if q != nil {
		gauge = &q.gauge
	}
	return q, gauge, counted
}

// ahead returns a question that may be asked later, and begins to be shown by [watch.asked]
// then; nil if nobody looks.
func (w *watch) ahead(key string, step int) *openQuestion {
	if w.full() && !w.on.Load() {
		return nil
	}
	return &openQuestion{shown: runs.OpenQuestion{Key: key, Step: step}}
}

// asked begins to show a question that was begun ahead, if there is room for it.
func (w *watch) asked(q *openQuestion) (shown *openQuestion, counted bool) {
	if q == nil {
		return nil, false
	}
	w.deciding.Add(1)
	if w.full() || w.taken.Add(1) > mostOpen {
		return nil, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, q)
	return q, true
}

func (w *watch) end(q *openQuestion, counted bool) {
	if counted {
		w.deciding.Add(-1)
	}
	if q == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.open, q); i >= 0 {
		w.open = slices.Delete(w.open, i, i+1)
	}
}

func (w *watch) contested(key string, step int, v *flow.Verdict) {
	output := event.JSONValue(v.Answer)
	if v.Intent != nil {
		if call, err := json.Marshal(v.Intent); err == nil {
			output = event.JSONValue(call)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.contests) == mostContests {
		w.contests = append(w.contests[:0], w.contests[1:]...)
	}
	w.contests = append(w.contests, runs.Contest{Question: key, Step: step, Status: string(v.Status), Voting: v.Voting, Output: output})
}

// openQuestion is one that is being decided and that somebody may look at.
type openQuestion struct {
	gauge ballot.Gauge

	mu     sync.Mutex
	shown  runs.OpenQuestion
	keys   []string // of the votes
	faults int      // of samples that have come
}

// take counts a sample that has arrived. Nil takes nothing.
func (q *openQuestion) take(s *ballot.Sample) {
	if q == nil {
		return
	}
	q.gauge.InFlight.Add(-1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.faults += len(s.Faults())
	switch {
	case s.Flag != nil:
		q.shown.RedFlagged++
	case s.Err == nil && s.Response != nil:
		i := slices.Index(q.keys, s.Answer.Key)
		switch {
		case i >= 0:
			q.shown.Votes[i].Votes++
		case len(q.keys) < mostAnswers:
			q.keys = append(q.keys, s.Answer.Key)
			q.shown.Votes = append(q.shown.Votes, runs.OpenVotes{Answer: clip.Text(s.Answer.Key, longestShown), Votes: 1})
		}
	}
}

// now is how it stands, and how many attempts failed of samples that have not come.
func (q *openQuestion) now() (shown runs.OpenQuestion, pending int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.shown
	out.Votes = slices.Clone(q.shown.Votes)
	out.InFlight, out.Retried = int(max(0, q.gauge.InFlight.Load())), int(q.gauge.Retried.Load())
	return out, max(0, out.Retried-q.faults)
}
