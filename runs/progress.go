package runs

import (
	"time"

	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// Progress is where a run stands.
type Progress struct {
	Steps      int // committed
	Total      int // steps of the task
	Session    int // committed since the run was started or resumed
	Samples    int // votes and red flags of this session
	Contested  int // decisions of this session with more than one answer
	RedFlagged int
	Faults     int
	Spent      usage.Spent
	Elapsed    time.Duration     // over all sessions
	Outlook    *adaptive.Outlook // of a run whose margins adapt: how it stands and is thought to end
	Trouble    string            // what the provider's outage is, if there is one
}
