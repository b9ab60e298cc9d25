package maker

import (
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/effect"
	"github.com/maker-mdap/maker/internal/runlog"
)

// An Outlook is what a resume of a run would do.
type Outlook struct {
	// Further says that it could come further than the session before. It could not
	// where nothing would be done or asked again, whatever has changed since.
	Further bool

	// AsksAgain says that the person would be asked again about a call that the person
	// has refused.
	AsksAgain bool
}

// Outlook says what a resume would do of the run that has this result, whose folder is
// dir.
func (r *Result) Outlook(dir string) (Outlook, error) {
	switch {
	case r.Status == event.StatusCompleted, r.Wrong:
		return Outlook{}, nil
	case r.Stop != "", r.Status == StatusInterrupted:
		return Outlook{Further: true}, nil
	}
	last, err := runlog.Tail(dir, 1)
	if err != nil || len(last) == 0 {
		return Outlook{}, err
	}
	end, ok := last[0].Event.(event.TaskFailed)
	if !ok {
		return Outlook{}, nil // it is running
	}
	return Outlook{
		// That a step has failed is no question.
		Further:   slices.ContainsFunc(end.Reopen, func(key string) bool { return !strings.HasSuffix(key, "/failed") }),
		AsksAgain: slices.ContainsFunc(r.Effects, func(e EffectResult) bool { return e.isReopened(end.Reopen) }),
	}, nil
}

// isReopened reports whether a failure that names keys has the person asked again about
// the call.
func (e *EffectResult) isReopened(keys []string) bool {
	return e.Status == EffectRefused && effect.IsPerson(e.By) &&
		slices.ContainsFunc(keys, func(above string) bool { return e.Effect == above || strings.HasPrefix(e.Effect, above+"/") })
}
