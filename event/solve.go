package event

// The types of event about recursive solving and about calibration.
const (
	TypeDecompositionSelected Type = "decomposition_selected"
	TypeSubproblemSolved      Type = "subproblem_solved"
	TypeAnswerComposed        Type = "answer_composed"
	TypeCompletenessChecked   Type = "completeness_checked"
	TypeEscalated             Type = "escalated"
	TypeCalibrated            Type = "calibrated"
)

// Who settled a part of a solution.
const (
	ByVote           = "vote"
	ByDiscriminators = "discriminators" // voters who chose among proposals
	ByCode           = "code"
	ByMemo           = "memo" // the same problem was solved before
	ByPerson         = "person"
	ByAnswer         = "answer" // of the person, whom alone a script asked
	BySplit          = "split"  // the steps that a step was split into
	ByModel          = "model"  // voters of the model that is asked when others do not agree
	ByLimit          = "limit"  // of the depth or the size of the tree
	ByDefault        = "default"
)

// DecompositionSelected says how a problem is split, or that it is not. The task
// itself is at path "0", the parts of the problem at a path are at path.0 and
// path.1, and item i of what was found missing in round r is at "f<r>.<i>".
type DecompositionSelected struct {
	Path    string `json:"path"`
	Step    int    `json:"step"` // that brought it about
	Problem Value  `json:"problem"`
	Atomic  bool   `json:"atomic"` // it is solved as it is

	PartA   Value `json:"subproblem_a,omitzero"`
	PartB   Value `json:"subproblem_b,omitzero"`
	Compose Value `json:"compose_fn,omitzero"` // how the solution is made from those of the parts

	By     string  `json:"by"`
	Reason string  `json:"reason,omitempty"` // why, if not simply by vote
	Score  float64 `json:"score"`            // how much smaller the larger part is than the problem, 0 to 1
	State  string  `json:"state"`            // hash of what is known now
}

// SubproblemSolved is the solution of a problem that is not split.
type SubproblemSolved struct {
	Path       string  `json:"path"`
	Step       int     `json:"step"` // that brought it about
	Problem    Value   `json:"problem"`
	Solution   Value   `json:"solution"`
	Work       Value   `json:"work_shown,omitzero"`
	Confidence float64 `json:"confidence"` // as the voters stated it
	By         string  `json:"by"`
	From       string  `json:"from,omitempty"` // the path of the same problem, if it is known from there
	State      string  `json:"state"`
}

// AnswerComposed is a solution made from those of its parts, or an answer to the
// whole task. A run that ends without success has its best answer in the last
// event of this type with Draft.
type AnswerComposed struct {
	Path       string  `json:"path"`
	Step       int     `json:"step"`
	Answer     Value   `json:"answer"` // a solution; at the root the whole result
	Confidence float64 `json:"confidence"`
	By         string  `json:"by"`
	Final      bool    `json:"final,omitempty"`  // it was checked and is the result
	Draft      bool    `json:"draft,omitempty"`  // the best so far, not checked or known to lack something
	Reason     string  `json:"reason,omitempty"` // why it is only a draft
	State      string  `json:"state"`
}

// CompletenessChecked says what of the task an answer deals with.
type CompletenessChecked struct {
	Step         int           `json:"step"`
	Round        int           `json:"round"` // of filling gaps, from 0
	Complete     bool          `json:"complete"`
	Requirements []Requirement `json:"requirements,omitempty"`
	Missing      []string      `json:"missing_work,omitempty"`
	State        string        `json:"state"`
}

// A Requirement is one thing that the task asks for.
type Requirement struct {
	Requirement string `json:"requirement"`
	Status      string `json:"status"` // ADDRESSED or MISSING
	Reason      string `json:"reason"`
}

// Escalated says that voters did not agree and what is tried next.
type Escalated struct {
	Path     string `json:"path"`
	Step     int    `json:"step"`
	Question string `json:"question"` // that was not decided, without the prefix of its branch
	To       string `json:"to"`       // diversity, model, split or person
	Reason   string `json:"reason"`

	// Why says why voters did not decide it: one of the Why constants, or how it ended
	// otherwise. Early logs do not have it.
	Why string `json:"why,omitempty"`
}

// Why a question went to others.
const (
	WhyCap   = "cap"   // its voters did not agree within their cap
	WhyPrice = "price" // others are thought to settle it for less
)

// Calibrated says how good the voters are and what margin follows from it.
type Calibrated struct {
	Problems int `json:"problems"` // that were asked
	Samples  int `json:"samples"`
	Valid    int `json:"valid"` // samples without a red flag
	Right    int `json:"right"` // valid samples that are right; if nobody knows, those with the commonest answer

	// Basis says what P is: "known" is the share of right answers to problems
	// whose answer is known, "agreement" the share of the commonest answer, which
	// P cannot exceed, and "fallback" a guess.
	Basis string `json:"basis"`

	P     float64 `json:"p"` // the share that was seen
	PLow  float64 `json:"p_low"`
	PHigh float64 `json:"p_high"`
	PUsed float64 `json:"p_used"` // from which the margin follows
	V     float64 `json:"v"`      // the share of valid samples
	VLow  float64 `json:"v_low"`
	VHigh float64 `json:"v_high"`

	Confidence float64 `json:"confidence"` // of the intervals

	Target  float64 `json:"target_error"` // of the run, or of one step if it is not known how many there are
	Steps   int     `json:"steps,omitempty"`
	K       int     `json:"k"`
	MaxK    int     `json:"max_k"`
	Limited bool    `json:"limited,omitempty"` // the target needs a larger margin than MaxK, or there is none

	StepError float64 `json:"step_error"` // that is to be expected with K
	RunError  float64 `json:"run_error,omitempty"`

	// SamplesPerStep are to be expected with K; 0 if no sample was valid.
	SamplesPerStep float64 `json:"samples_per_step"`

	Reason string `json:"reason,omitempty"` // why the basis is what it is, or the margin is limited

	// Assumes is what the forecast is worth nothing without.
	Assumes string `json:"assumes,omitempty"`

	// Measured is what items of the user's own told, if there were any.
	Measured *Measured `json:"measured,omitempty"`
}

// Measured is what questions with known answers told about the voters, item by item.
// What is nil was not measured.
type Measured struct {
	Items  int `json:"items"`  // that were asked
	Of     int `json:"of"`     // that there are, each question counted once
	Silent int `json:"silent"` // without a single valid answer
	Deep   int `json:"deep"`   // with as many valid answers as the distribution needs

	// Repeated are the items that were left out because another one asks the same.
	Repeated int `json:"repeated,omitempty"`

	// Cells are how many items had so many right answers of so many valid ones: what a
	// forecast is made from.
	Cells []Cell `json:"cells"`

	// How p is distributed over the items: the shares of those below one half, which no
	// vote can mend, of those up to 0.8, and of those above.
	BelowHalf *Range `json:"below_half"`
	Middling  *Range `json:"middling"`
	Easy      *Range `json:"easy"`

	StepError *Range `json:"step_error"` // of a vote with the margin K

	// How alike whether right or wrong samples of one item are: 0 if errors are
	// independent, 1 if samples are copies.
	SameFraming    *Range `json:"icc_same_framing"`
	AcrossFramings *Range `json:"icc_across_framings"`
	AcrossVoters   *Range `json:"icc_across_voters"`

	Greedy         *Range `json:"greedy"`           // share of items that one greedy sample of the best voter gets right
	GainOverSample *Range `json:"gain_over_sample"` // of a vote over one of its samples
	GainOverGreedy *Range `json:"gain_over_greedy"` // of a vote over one greedy sample

	// GreedyBy is the voter whose greedy samples are right most often, if there are several.
	// Without it they are those of the first one.
	GreedyBy string `json:"greedy_by,omitempty"`

	Voters   []MeasuredPart `json:"voters"`
	Framings []MeasuredPart `json:"framings"`
	Together []ErrTogether  `json:"err_together,omitempty"`

	// Gain says whether a vote gains anything: "yes", "no" or "unclear"; Says says it in
	// words, and what else would.
	Gain string   `json:"gain"`
	Says []string `json:"says"`
}

// A Range is an estimate and the ends of its interval.
type Range struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// A Cell counts items with the same result.
type Cell struct {
	Right int `json:"right"`
	Valid int `json:"valid"`
	Items int `json:"items"`
}

// MeasuredPart is what the samples of one voter, or in one framing, came to.
type MeasuredPart struct {
	Name    string `json:"name"`
	Samples int    `json:"samples"`
	P       *Range `json:"p"` // nil without a valid answer
	V       Range  `json:"v"`
	Greedy  *Range `json:"greedy,omitempty"` // share of items that one greedy sample of the voter gets right
}

// ErrTogether is how often two voters are wrong about the same item; twice the same one
// stands for two samples of it.
type ErrTogether struct {
	A       string  `json:"a"`
	B       string  `json:"b"`
	Items   int     `json:"items"`
	Both    Range   `json:"both"`
	IfAlone float64 `json:"if_independent"`

	// SameAnswer is the share of these errors with the same wrong answer; nil without one.
	SameAnswer *float64 `json:"same_answer"`
}

// Type implements [Event] for each type of event.
func (DecompositionSelected) Type() Type { return TypeDecompositionSelected }
func (SubproblemSolved) Type() Type      { return TypeSubproblemSolved }
func (AnswerComposed) Type() Type        { return TypeAnswerComposed }
func (CompletenessChecked) Type() Type   { return TypeCompletenessChecked }
func (Escalated) Type() Type             { return TypeEscalated }
func (Calibrated) Type() Type            { return TypeCalibrated }
