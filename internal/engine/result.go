package engine

import (
	"errors"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/runtime/control"
	"github.com/maker-mdap/maker/runs"
)

// A Result says what a run did. Package runs has all that belongs to it.
type Result = runs.Result

// A Replay is a result derived a second time, from the log alone, and what does not
// fit.
type Replay = runs.Replay

// Replay checks a run of this engine's folder; see [runs.Run.Replay]. It knows the
// engine's families, and asks no model.
func (e *Engine) Replay(run string) (*Replay, error) {
	dir, err := e.find(run)
	if err != nil {
		return nil, err
	}
	r, err := runs.Open(dir)
	if err != nil {
		return nil, err
	}
	return r.Replay(&runs.ReplayOptions{Families: e.opts.Families})
}

// find returns the folder of a run.
func (e *Engine) find(run string) (string, error) {
	dir, err := runs.Find(e.opts.LogDir, run)
	if f, ok := errors.AsType[*runs.FolderError](err); ok {
		return "", &config.Error{Field: "log_dir", Err: f.Err}
	}
	return dir, err
}

// mendEnded does what is left to do for a run that has ended, in case the session that ended
// it could not: it stores its result, and takes back requests that nobody is left to take.
func mendEnded(dir string) error {
	_, err := storeResult(dir)
	return errors.Join(err, control.Clear(dir))
}

// storeResult derives the result of a run from its log and puts it into the run
// folder.
func storeResult(dir string) (*Result, error) {
	run, err := runs.Open(dir)
	if err != nil {
		return nil, err
	}
	return run.Store()
}
