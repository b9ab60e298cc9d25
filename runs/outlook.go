package runs

import "github.com/maker-mdap/maker/internal/runtime/history"

// An Outlook is what a resume of a run would do.
type Outlook struct {
	// Further says that it could come further than the session before. It could not
	// where nothing would be done or asked again, whatever has changed since.
	Further bool

	// AsksAgain says that the person would be asked again about a call that the person
	// has refused.
	AsksAgain bool
}

// Outlook tells what a resume of the run would do.
func (r *Run) Outlook() (Outlook, error) {
	o, err := history.ReadOutlook(r.dir)
	return Outlook(o), err
}
