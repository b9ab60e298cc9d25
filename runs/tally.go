package runs

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/plan"
)

// A Tally tells where a run stands from its folder, whichever process writes it. It reads what
// has been added since it was last asked, and of runs whose steps say all there is to count the
// index alone. Its methods may be called from any goroutine.
type Tally struct {
	run *Run

	mu      sync.Mutex
	byLog   bool  // there is no index that can be read: the log has all of it
	indexed int   // steps of the index that were counted
	at      int64 // up to where the log was read
	counted Progress
	asked   map[string]time.Time // when the questions to people were asked that are open
	waits   []wait               // the latest ones that have ended
}

// A wait is a time in which a person was waited for.
type wait struct{ from, to time.Time }

// mostWaits is how many waits are remembered: more than a forecast looks at.
const mostWaits = 2 * lately

// lately is how many steps tell how fast a run goes.
const lately = 200

// Tally returns a tally of the run, which has read nothing yet.
func (r *Run) Tally() *Tally { return &Tally{run: r, asked: map[string]time.Time{}} }

// Progress tells where the run stands: what it has taken in all its sessions, as far as its
// steps are committed. Of a problem and of a measurement all questions count.
func (t *Tally) Progress() (Progress, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return Progress{}, err
	}
	p := t.counted
	report, err := history.Glance(t.run.dir)
	if err != nil {
		return p, err
	}
	p.Total = max(report.Total, p.Total)
	if p.Total > 0 {
		p.Total = max(p.Total, p.Steps) // a plan may come back to a step, or split one
	}
	p.Spent, p.Elapsed = report.Usage, time.Duration(report.DurationMS)*time.Millisecond
	if report.Status == event.StatusRunning { // its log does not say how long it took
		p.Elapsed = report.Updated.Sub(report.Started)
	}
	return p, nil
}

// read counts what has been added. If that does not fit what was read before, a damaged part of
// the log may have been set aside: all of it is read again.
func (t *Tally) read() error {
	known := t.at > 0
	err := t.readNew()
	if err != nil && known {
		t.restart()
		err = t.readNew()
	}
	return err
}

func (t *Tally) readNew() error {
	log, err := os.Stat(filepath.Join(t.run.dir, runlog.EventsFile))
	if err != nil {
		return err
	}
	if log.Size() < t.at { // the end of it was damaged, and was left out
		t.restart()
	}
	if !t.byLog && t.readIndex() != nil { // everything but the log can be lost
		t.restart()
		t.byLog = true
	}
	if !t.byLog && t.run.Form().Alone() || t.at == log.Size() { // these ask no person, and their steps say all
		return nil
	}
	for line, err := range runlog.ReadBetween(t.run.dir, t.at, 0) {
		if err == nil {
			err = t.take(line)
		}
		if err != nil {
			return err
		}
		t.at = line.Offset + int64(len(line.Raw)) + 1
	}
	return nil
}

// restart forgets what was counted.
func (t *Tally) restart() {
	t.indexed, t.at, t.counted, t.waits = 0, 0, Progress{}, nil
	clear(t.asked)
}

// readIndex counts the steps that have been added to the index.
func (t *Tally) readIndex() error {
	x, err := runlog.OpenIndex(t.run.dir)
	if err != nil {
		return err
	}
	defer x.Close()
	if x.Len() < t.indexed { // likewise
		t.restart()
	}
	if t.byQuestion() {
		return nil
	}
	for s, err := range x.From(t.indexed) {
		if err != nil {
			return err
		}
		t.indexed++
		t.count(s.Samples, s.RedFlagged, s.Faults, s.Answers)
		t.counted.Steps++
	}
	return nil
}

// byQuestion reports whether questions are counted, because a step takes several.
func (t *Tally) byQuestion() bool {
	return t.run.Form() == event.FormTree || t.run.Form() == event.FormMeasurement
}

// take counts what a line of the log says.
func (t *Tally) take(line runlog.Line) error {
	switch line.Type {
	case event.TypeVoteCompleted, event.TypeStepCompleted, event.TypeValidationPassed, event.TypeClarificationRequested, event.TypeClarificationProvided:
	default:
		return nil
	}
	if line.Type == event.TypeVoteCompleted && !t.byQuestion() || line.Type == event.TypeStepCompleted && !t.byLog && !t.byQuestion() {
		return nil
	}
	rec, err := line.Decode()
	if err != nil {
		return damaged(t.run.dir, line, err)
	}
	switch e := rec.Event.(type) {
	case event.VoteCompleted:
		if t.run.Form() == event.FormMeasurement {
			t.counted.Steps++
		} else if history.IsCalibration(e.Question) {
			return nil // it is not part of solving
		}
		t.count(e.Voting.Samples, e.Voting.RedFlagged, e.Voting.Faults, len(e.Voting.Votes))
	case event.StepCompleted:
		if t.run.Form() == event.FormMeasurement {
			return nil
		}
		if t.counted.Steps++; !t.byQuestion() {
			all, answers := e.Taken()
			t.count(all.Samples, all.RedFlagged, all.Faults, answers)
		}
	case event.ValidationPassed:
		return t.planned(e.Plan)
	case event.ClarificationRequested:
		t.asked[e.Question] = rec.Time
	case event.ClarificationProvided:
		if from, ok := t.asked[e.Question]; ok {
			delete(t.asked, e.Question)
			if t.waits = append(t.waits, wait{from, rec.Time}); len(t.waits) > mostWaits {
				t.waits = append([]wait(nil), t.waits[len(t.waits)-mostWaits/2:]...)
			}
		}
	}
	return nil
}

func (t *Tally) count(samples, flagged, faults, answers int) {
	t.counted.Samples += samples
	t.counted.RedFlagged += flagged
	t.counted.Faults += faults
	if answers > 1 {
		t.counted.Contested++
	}
}

// kindRun is the kind of a run that makes its plan and carries it out.
const kindRun = "run"

// planned takes how many steps a plan has that is carried out.
func (t *Tally) planned(v event.Value) error {
	if t.run.Kind() != kindRun {
		return nil
	}
	v, err := t.run.Load(v)
	if err != nil {
		return err
	}
	if p, findings := plan.Parse(v.Text()); p != nil && len(findings) == 0 {
		t.counted.Total = len(p.Steps)
	}
	return nil
}

// Pace is how many steps a second the run has lately committed, without the time in which it
// waited for a person; 0 if it has no two. It looks at so many steps at most; 0 means 200.
func (t *Tally) Pace(steps int) (float64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return 0, err
	}
	x, err := runlog.OpenIndex(t.run.dir)
	if err != nil {
		return 0, nil // everything but the log can be lost
	}
	defer x.Close()
	if steps <= 0 || steps > lately {
		steps = lately
	}
	n := min(x.Len(), steps)
	if n < 2 {
		return 0, nil
	}
	var took time.Duration
	var last time.Time
	for s, err := range x.From(x.Len() - n) {
		if err != nil {
			return 0, err
		}
		if !last.IsZero() {
			took += s.Time.Sub(last) - t.waited(last, s.Time)
		}
		last = s.Time
	}
	return float64(n-1) / max(took, time.Millisecond).Seconds(), nil
}

// waited is how long a person was waited for between two commits. A wait counts where it ended:
// if others were committed meanwhile, the run did not stand still before that.
func (t *Tally) waited(from, to time.Time) time.Duration {
	var ended []wait
	for _, w := range t.waits {
		if w.to.After(from) && !w.to.After(to) {
			ended = append(ended, w)
		}
	}
	slices.SortFunc(ended, func(a, b wait) int { return a.from.Compare(b.from) })
	var all time.Duration
	for _, w := range ended { // which may overlap
		if w.from.Before(from) {
			w.from = from
		}
		if w.to.After(w.from) {
			all += w.to.Sub(w.from)
			from = w.to
		}
	}
	return all
}
