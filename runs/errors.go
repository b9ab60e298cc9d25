package runs

import (
	"errors"
	"fmt"

	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// ErrNoRun says that there is no such run.
var ErrNoRun = errors.New("there is no such run")

// A FolderError says that the folder that holds the run folders cannot be read.
type FolderError struct {
	Folder string
	Err    error
}

func (e *FolderError) Error() string { return fmt.Sprintf("the runs in %s: %v", e.Folder, e.Err) }

// Unwrap returns the cause.
func (e *FolderError) Unwrap() error { return e.Err }

// What can be wrong with a run folder.
type (
	// A CorruptError is a line of a log that is damaged, and not just an unfinished
	// last one. Nothing was changed.
	CorruptError = runlog.CorruptError

	// A NewerError is a log that this version of the program is too old to read.
	NewerError = runlog.NewerError

	// A LockedError says that another process is writing the run.
	LockedError = runlog.LockedError

	// A LostError is a run whose lock or folder was removed while it was written.
	LostError = runlog.LostError

	// A WriteError is a log that cannot be written any more. What was on disk before
	// stays intact.
	WriteError = runlog.WriteError

	// A TooLongError is an event that is longer than a line of a log can be.
	TooLongError = runlog.TooLongError
)
