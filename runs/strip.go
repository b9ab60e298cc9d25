package runs

import (
	"container/heap"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// StripOptions choose what a strip shows. The zero value is the whole run.
type StripOptions struct {
	From, To int // the numbers of the first step and of the first one behind; To 0 means no end
	Width    int // how many cells, at most MaxStrip; 0 means 1,000
}

// MaxStrip is how many cells a strip has at most.
const MaxStrip = 10_000

const defaultStrip = 1000

// A Strip is how the committed steps of a run were decided, in so many cells of as many steps
// each, however many steps there are.
type Strip struct {
	From  int `json:"from"`  // the number of the first step of the first cell
	To    int `json:"to"`    // the number of the first step behind the last cell
	Steps int `json:"steps"` // committed ones in these cells
	Total int `json:"total"` // steps of the run: of the task, if that is known, or committed

	Count     []int     `json:"count"`     // steps of a cell
	Margin    []int     `json:"margin"`    // the lowest margin of these; -1 without a step
	Lead      []float64 `json:"lead"`      // the lowest share of the votes by which a step was won, 1 if all agreed, and of several votes the closest; -1 without a step
	Contested []int     `json:"contested"` // steps with more than one answer
	Flagged   []int     `json:"flagged"`   // discarded answers
}

// Strip tells how the steps of the run were decided at a glance. It reads the index of the
// run alone, some 50 bytes a step; a run without one is read from the log.
func (r *Run) Strip(o *StripOptions) (*Strip, error) {
	if o == nil {
		o = &StripOptions{}
	}
	s := &Strip{From: max(o.From, 0), To: o.To, Total: r.task.Steps}
	x, err := runlog.OpenIndex(r.dir)
	if err != nil {
		return s, s.fill(*o, r.indexed())
	}
	defer x.Close()
	if r.Form() == event.FormChain { // whose numbers are places
		if s.To == 0 || s.To > x.Len() {
			s.To = max(x.Len(), s.From)
		}
		s.Total = max(s.Total, x.Len())
		return s, s.fill(*o, untilStep(x.From(s.From), s.To))
	}
	return s, s.fill(*o, x.All())
}

func untilStep(all iter.Seq2[runlog.Step, error], to int) iter.Seq2[runlog.Step, error] {
	return func(yield func(runlog.Step, error) bool) {
		for s, err := range all {
			if err == nil && s.Step >= to || !yield(s, err) {
				return
			}
		}
	}
}

// fill puts steps into the cells. If it is not known how many there are they are looked at
// twice.
func (s *Strip) fill(o StripOptions, steps iter.Seq2[runlog.Step, error]) error {
	if s.To == 0 {
		for step, err := range steps {
			if err != nil {
				return err
			}
			s.To = max(s.To, step.Step+1)
		}
		s.To = max(s.To, s.From)
		s.Total = max(s.Total, s.To)
	}
	width := o.Width
	if width <= 0 {
		width = defaultStrip
	}
	span := max(s.To-s.From, 0)
	width = min(width, MaxStrip, span)
	s.Count, s.Margin, s.Lead = make([]int, width), make([]int, width), make([]float64, width)
	s.Contested, s.Flagged = make([]int, width), make([]int, width)
	for i := range s.Margin {
		s.Margin[i], s.Lead[i] = -1, -1
	}
	if width == 0 {
		return nil
	}
	for step, err := range steps {
		if err != nil {
			return err
		}
		if step.Step < s.From || step.Step >= s.To {
			continue
		}
		i := (step.Step - s.From) * width / span
		if s.Count[i]++; s.Count[i] == 1 || step.Margin < s.Margin[i] {
			s.Margin[i] = step.Margin
		}
		if lead := step.Lead(); s.Lead[i] < 0 || lead < s.Lead[i] {
			s.Lead[i] = lead
		}
		if step.Answers > 1 {
			s.Contested[i]++
		}
		s.Flagged[i] += step.RedFlagged
		s.Steps++
	}
	return nil
}

// indexed are the records that an index would have, from the log.
func (r *Run) indexed() iter.Seq2[runlog.Step, error] {
	return func(yield func(runlog.Step, error) bool) {
		for rec, err := range r.Events(0) {
			e, ok := rec.Event.(event.StepCompleted)
			if err == nil && !ok {
				continue
			}
			if !yield(runlog.NewStep(0, 0, rec.Time, &e), err) || err != nil {
				return
			}
		}
	}
}

// mostClosest is how many of the closest steps are found at most.
const mostClosest = 10_000

// closest yields the steps that were won most closely: by the lowest share of their votes,
// and of these those with the lowest margin. It reads the events of those only.
func (r *Run) closest(o StepOptions, chosen func(step, answers int) bool) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		x, err := runlog.OpenIndex(r.dir)
		records := r.indexed()
		if err == nil {
			defer x.Close()
			records = x.All()
		}
		limit := mostClosest
		if o.Limit > 0 {
			limit = min(o.Limit, mostClosest)
		}
		var found farthest
		for s, err := range records {
			if err != nil {
				yield(Step{}, err)
				return
			}
			if !chosen(s.Step, s.Answers) {
				continue
			}
			if len(found) < limit {
				heap.Push(&found, s)
			} else if closer(s, found[0]) < 0 {
				found[0] = s
				heap.Fix(&found, 0)
			}
		}
		slices.SortFunc(found, closer)
		for _, s := range found {
			step, err := r.eventOf(x, s)
			if !yield(Step{Time: s.Time, StepCompleted: step}, err) || err != nil {
				return
			}
		}
	}
}

// eventOf reads the event of a step, without an index from the log.
func (r *Run) eventOf(x *runlog.Index, s runlog.Step) (event.StepCompleted, error) {
	if x != nil {
		return x.Event(s)
	}
	for rec, err := range r.Events(0) {
		if err != nil {
			return event.StepCompleted{}, err
		}
		if e, ok := rec.Event.(event.StepCompleted); ok && e.Step == s.Step && rec.Time.Equal(s.Time) {
			return e, nil
		}
	}
	return event.StepCompleted{}, errors.New("runs: the log has changed; read it again")
}

// closer orders steps by how closely they were won.
func closer(a, b runlog.Step) int {
	switch first, second := a.Lead(), b.Lead(); {
	case first < second:
		return -1
	case first > second:
		return 1
	case a.Margin != b.Margin:
		return a.Margin - b.Margin
	}
	return a.Step - b.Step
}

// farthest is a heap of steps whose first is the one that was won least closely.
type farthest []runlog.Step

func (f farthest) Len() int           { return len(f) }
func (f farthest) Less(i, j int) bool { return closer(f[i], f[j]) > 0 }
func (f farthest) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }

// Push implements [heap.Interface].
func (f *farthest) Push(s any) { *f = append(*f, s.(runlog.Step)) }

// Pop implements [heap.Interface].
func (f *farthest) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

// Durations yields how long committed steps took, in the order of their commits, from a place
// in that order on. It reads the index of the run alone; without one there are none.
func (r *Run) Durations(from int) iter.Seq2[time.Duration, error] {
	return func(yield func(time.Duration, error) bool) {
		x, err := runlog.OpenIndex(r.dir)
		if err != nil {
			return
		}
		defer x.Close()
		for s, err := range x.From(from) {
			if !yield(time.Duration(s.DurationMS)*time.Millisecond, err) || err != nil {
				return
			}
		}
	}
}

// A Session is the last part of a run that one process did.
type Session struct {
	Started time.Time

	// Keeper is the program that kept it going, as in Options of package maker, and PausedBy
	// who ended it to go on later, if somebody did.
	Keeper   string
	PausedBy string
	Paused   bool
}

// Session tells of the last session of the run. It reads the whole log.
func (r *Run) Session() (Session, error) {
	s := Session{Started: r.started, Keeper: r.task.Keeper}
	for line, err := range runlog.Read(r.dir) {
		if err != nil {
			return s, err
		}
		if line.Type != event.TypeRunResumed && line.Type != event.TypeRunPaused {
			continue
		}
		rec, err := line.Decode()
		if err != nil {
			return s, damaged(r.dir, line, err)
		}
		switch e := rec.Event.(type) {
		case event.RunResumed:
			s = Session{Started: rec.Time, Keeper: e.Keeper}
		case event.RunPaused:
			s.Paused, s.PausedBy = true, e.By
		}
	}
	return s, nil
}
