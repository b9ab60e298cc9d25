package maker

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// A Run is one execution of one task. It goes on by itself; its methods may be
// called from any goroutine.
type Run struct{ run *engine.Run }

// A Result says what a run did. Package runs has all that belongs to it.
type Result = runs.Result

// A Replay is a result derived a second time, from the log alone, and what does not
// fit.
type Replay = runs.Replay

// Why a run ended before its task did.
var (
	// ErrDeadline is why a run that ran out of time stopped.
	ErrDeadline = engine.ErrDeadline

	// ErrInterrupted is the cause to cancel a run's context with when a person
	// stopped it.
	ErrInterrupted = engine.ErrInterrupted

	// ErrPaused is the cause to cancel a run's context with when a person ended its
	// process to go on later.
	ErrPaused = engine.ErrPaused
)

// PausedBy is [ErrPaused] with the name of who paused the run, for its log.
func PausedBy(name string) error { return engine.PausedBy(name) }

// ID is the run's name.
func (r *Run) ID() string { return r.run.ID() }

// Kind is what kind of run it is: a task family, or one of the Kind constants.
func (r *Run) Kind() string { return r.run.Kind() }

// Task is what it does, in words.
func (r *Run) Task() string { return r.run.Task() }

// Rule is when a question of the run is decided.
func (r *Run) Rule() vote.Rule { return r.run.Rule() }

// Form is how its steps hang together.
func (r *Run) Form() event.Form { return r.run.Form() }

// Dir is the run's folder.
func (r *Run) Dir() string { return r.run.Dir() }

// Events yields the run's events in order, from its first one on, each as soon
// as it is on disk, until the run ends or ctx does. Any number of readers may
// read at any pace.
func (r *Run) Events(ctx context.Context) iter.Seq2[event.Record, error] { return r.run.Events(ctx) }

// Lines is like Events, but yields the lines of the log as they stand there. A
// line is valid until the next one is yielded.
func (r *Run) Lines(ctx context.Context) iter.Seq2[[]byte, error] { return r.run.Lines(ctx) }

// Result waits for the end of the run. An error means that the run has no
// result worth the name: its log or the results could not be written. A run
// that failed, was stopped or remained undecided has a result that says so.
func (r *Run) Result() (*Result, error) { return r.run.Result() }

// Done is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.run.Done() }

// Progress is where a run stands.
type Progress = runs.Progress

// Progress returns where the run stands now. It is cheap.
func (r *Run) Progress() Progress { return r.run.Progress() }

// output is that of a run that is over, with its content: a large one is kept beside the
// log.
func (r *Run) output(result *Result) (json.RawMessage, error) {
	if result.Output.Ref == nil {
		return result.Output.JSON, nil
	}
	stored, err := runs.Open(r.Dir())
	if err != nil {
		return nil, err
	}
	loaded, err := stored.Load(result.Output)
	return loaded.JSON, err
}
