package runs

import (
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// Progress is where a run stands.
type Progress struct {
	Steps      int // committed; of a measurement: samples that were taken
	Total      int // steps of the task; samples that a measurement takes at most
	Session    int // those of Steps since the run was started or resumed
	Samples    int // votes and red flags of this session
	Contested  int // decisions with more than one answer
	RedFlagged int // of this session
	Faults     int // of this session
	Spent      usage.Spent
	Elapsed    time.Duration      // over all sessions
	Outlook    *adaptive.Outlook  // of a run whose margins adapt: how it stands and is thought to end
	Futile     *adaptive.Futility // why more votes will not make it right, of a run that goes on all the same
	Trouble    string             // what the provider's outage is, if there is one

	// Limits are what the run may spend; zero where there is no limit.
	Limits Limits
	// Servers are those that answer, with how they do.
	Servers []Server
	// Deciding is how many questions are being decided, and Open are the oldest of them.
	Deciding int
	Open     []OpenQuestion
	// Contests are the latest decisions with more than one answer, the latest one last.
	Contests []Contest

	// Answers are the outputs that came most, as JSON, with how often each did, where steps are
	// records: at most [MostAnswers]. OtherAnswers is how many outputs are none of these.
	Answers      map[string]int
	OtherAnswers int

	// Known is how many records were answered that have a known answer, and Right how many of
	// these have it.
	Known, Right int
}

// MostAnswers is how many answers to records are told apart while a run goes on.
const MostAnswers = 30

// Limits are what a run may spend. What is zero is not limited.
type Limits struct {
	USD    float64
	Tokens int64
	Calls  int64
	Time   time.Duration // of each session
}

// A Server answers the calls of one or several models.
type Server struct {
	Provider string
	Models   []ServerModel

	Limit    int // calls that may be in flight at once
	InFlight int
	Waiting  int

	// Failing says that so many calls failed that only probes are sent, and LastError
	// what failed since the last success. Until is when the next call may start, if only
	// time holds it back.
	Failing   bool
	LastError string
	Until     time.Time
}

// A ServerModel is one of the models of a server.
type ServerModel struct {
	Name      string
	InFlight  int
	LastError string // what failed since it last answered
}

// An OpenQuestion is being decided.
type OpenQuestion struct {
	Key  string
	Step int

	// Votes are the answers so far, the first one that came first.
	Votes []OpenVotes

	InFlight   int // samples that were asked for and have not come
	RedFlagged int
	Retried    int // attempts that failed and were made again
}

// OpenVotes are the votes for one answer to an open question.
type OpenVotes struct {
	Answer string // its key, or the beginning of it
	Votes  int
}

// A Contest is a decision with more than one answer.
type Contest struct {
	Question string // its key
	Step     int
	Status   string // of the verdict
	Voting   event.Voting
	Output   event.Value // what won
}
