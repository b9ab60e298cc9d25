package runs

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/usage"
)

// What became of a sample.
const (
	SampleVote  = "vote"
	SampleFlag  = "flag" // it was discarded
	SampleFault = "fault"
)

// A Sample is one attempt at a question of a step.
type Sample struct {
	Question string `json:"question"` // the key under which it was asked
	Sample   int    `json:"sample"`   // from 0, in order of launch
	Outcome  string `json:"outcome"`  // SampleVote, SampleFlag or SampleFault

	Voter       string       `json:"voter,omitempty"` // that was asked
	Model       string       `json:"model,omitempty"` // that answered, as it calls itself
	Framing     int          `json:"framing,omitempty"`
	Temperature *float64     `json:"temperature,omitempty"`
	Tokens      usage.Tokens `json:"tokens,omitzero"`
	CostUSD     *float64     `json:"cost_usd"`
	DurationMS  int64        `json:"duration_ms"`

	Vote     string        `json:"vote,omitempty"` // its key
	Text     event.Value   `json:"text,omitzero"`  // the whole answer
	Read     event.Value   `json:"read,omitzero"`  // what it was read as, if it was repaired
	Intent   *event.Intent `json:"intent,omitempty"`
	Calls    int           `json:"tool_calls,omitempty"`
	Repaired bool          `json:"repaired,omitempty"`

	Flag   string `json:"flag,omitempty"`
	Reason string `json:"reason,omitempty"` // of a flag or a fault
}

func sampleOf(s event.Sample, outcome string) Sample {
	voter := s.Voter
	if voter == "" {
		voter = s.Model
	}
	return Sample{
		Question: s.Question, Sample: s.Sample, Outcome: outcome, Voter: voter, Model: s.Model, Framing: s.Framing, Temperature: s.Temperature,
		Tokens: s.Tokens, CostUSD: s.CostUSD, DurationMS: s.DurationMS, Intent: s.Intent, Calls: s.ToolCalls, Repaired: s.Repaired,
	}
}

// Samples returns the samples of a step as far as the log has them: of a long chain those of
// contested steps, unless it was told to keep all. Large texts are left where they are; see
// [Run.Load]. It reads the part of the log that can have them.
func (r *Run) Samples(step int) ([]Sample, error) {
	list := []Sample{}
	for e, err := range r.about(step, event.TypeSampleCompleted, event.TypeSampleRedFlagged, event.TypeSampleFaulted) {
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case event.SampleCompleted:
			if e.Step == step {
				s := sampleOf(e.Sample, SampleVote)
				s.Vote, s.Text, s.Read = e.Vote, e.Text, e.Read
				list = append(list, s)
			}
		case event.SampleRedFlagged:
			if e.Step == step {
				s := sampleOf(e.Sample, SampleFlag)
				s.Flag, s.Reason, s.Text = e.Flag, e.Reason, e.Text
				list = append(list, s)
			}
		case event.SampleFaulted:
			if e.Step == step {
				list = append(list, Sample{Question: e.Question, Sample: e.Sample, Outcome: SampleFault, Flag: e.Kind, Reason: e.Message})
			}
		}
	}
	return list, nil
}

// about yields the events of some types that may be about a step, from the part of the log that
// can have them.
func (r *Run) about(step int, types ...event.Type) iter.Seq2[event.Event, error] {
	begin, end := r.around(step)
	mark := []byte(`"step":` + strconv.Itoa(step))
	return func(yield func(event.Event, error) bool) {
		for line, err := range runlog.ReadBetween(r.dir, begin, end) {
			if err == nil && (!slices.Contains(types, line.Type) || !bytes.Contains(line.Raw, mark)) {
				continue
			}
			var rec event.Record
			if err == nil {
				if rec, err = line.Decode(); err != nil {
					err = damaged(r.dir, line, err)
				}
			}
			if !yield(rec.Event, err) || err != nil {
				return
			}
		}
	}
}

// lookBack is how many steps before one, in the order of their commits, its samples may be:
// those of a chain are guessed ahead, and those of records are taken side by side.
const lookBack = 4096

// around is the part of the log that may have the samples of a step; all of it if that
// cannot be told.
func (r *Run) around(step int) (begin, end int64) {
	if !r.Form().Alone() {
		return 0, 0
	}
	x, err := runlog.OpenIndex(r.dir)
	if err != nil {
		return 0, 0
	}
	defer x.Close()
	place := -1
	if s, err := x.At(step); err == nil && s.Step == step {
		place, end = step, s.Offset+int64(s.Length)
	} else {
		i := 0
		for s, err := range x.All() {
			if err != nil {
				return 0, 0
			}
			if s.Step == step {
				place, end = i, s.Offset+int64(s.Length)
			}
			i++
		}
	}
	if place <= lookBack {
		return 0, end
	}
	if s, err := x.At(place - lookBack); err == nil {
		begin = s.Offset
	}
	return begin, end
}

// A Rival is an answer to a step that got votes.
type Rival struct {
	Key    string          `json:"key"`
	Votes  int             `json:"votes"`
	Won    bool            `json:"won"`
	Answer json.RawMessage `json:"answer"`           // as far as it is known
	Voters []string        `json:"voters,omitempty"` // of its votes, as far as the log has them
}

// Rivals are the answers to a question that got votes, most of them first: what won is the
// output, if there is one, or what the vote was about on the way to it. Samples, if there are
// any, tell who voted for which; of those of several questions, the ones that the votes are of.
func Rivals(v event.Voting, output event.Value, samples []Sample) []Rival {
	question := votedOn(v, samples)
	samples = slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return question != "" && s.Question != question })
	list := []Rival{}
	for _, key := range slices.Sorted(maps.Keys(v.Votes)) {
		list = append(list, Rival{Key: key, Votes: v.Votes[key]})
	}
	slices.SortStableFunc(list, func(a, b Rival) int { return b.Votes - a.Votes })
	known := slices.Clone(v.Answers)
	for i := range list {
		rival := &list[i]
		if i == 0 && !output.IsZero() {
			rival.Won = true
			if rival.Answer = callVoted(rival, v.Answers, samples); rival.Answer == nil && partOf(rival.Key, output) {
				rival.Answer = []byte(rival.Key)
			}
			if rival.Answer == nil && output.Ref == nil {
				rival.Answer = output.JSON
			}
		} else {
			rival.Answer = answerOf(rival.Key, rival.Votes, &known)
		}
		for _, s := range samples {
			if s.Outcome != SampleVote || s.Vote != rival.Key {
				continue
			}
			rival.Voters = append(rival.Voters, s.Voter)
			if rival.Answer == nil {
				rival.Answer = s.answer()
			}
		}
		if rival.Answer == nil {
			rival.Answer, _ = json.Marshal(rival.Key) // never fails
		}
	}
	return list
}

// votedOn is the question that votes are of, if samples are of several: a step has the votes of
// its closest decision. It is empty if that cannot be told.
func votedOn(v event.Voting, samples []Sample) string {
	var questions []string
	votes := map[string]map[string]int{}
	for _, s := range samples {
		if votes[s.Question] == nil {
			questions = append(questions, s.Question)
			votes[s.Question] = map[string]int{}
		}
		if s.Outcome == SampleVote {
			votes[s.Question][s.Vote]++
		}
	}
	i := slices.IndexFunc(questions, func(q string) bool { return len(questions) > 1 && maps.Equal(votes[q], v.Votes) })
	if i < 0 {
		return ""
	}
	return questions[i]
}

// partOf reports whether a key is the answer to one of several questions that the output has
// the answers to.
func partOf(key string, output event.Value) bool {
	isObject := func(text []byte) bool { return len(text) > 0 && text[0] == '{' }
	return isObject(output.JSON) && json.Valid([]byte(key)) && !isObject([]byte(key))
}

// callVoted is the call that won a vote; nil if a result did.
func callVoted(won *Rival, known []event.Candidate, samples []Sample) json.RawMessage {
	if _, ok := callOfKey(won.Key); ok {
		return answerOf(won.Key, won.Votes, &known)
	}
	for _, c := range known { // which have the winner if it is a call
		if _, ok := callOf(c.Answer); ok && c.Votes == won.Votes {
			return c.Answer
		}
	}
	for i := range samples {
		if s := &samples[i]; s.Outcome == SampleVote && s.Vote == won.Key && s.Intent != nil {
			return s.answer()
		}
	}
	return nil
}

// answer is what a sample said.
func (s *Sample) answer() json.RawMessage {
	switch {
	case s.Intent != nil:
		call, _ := json.Marshal(s.Intent) // never fails: the input is JSON
		return call
	case s.Read.JSON != nil:
		return s.Read.JSON
	}
	return s.Text.JSON
}

// answerOf is what was voted for under a key: the key itself if it is an answer or a call, and
// for a hash the next one of those that the log lists with as many votes. It is nil if neither
// is so.
func answerOf(key string, votes int, known *[]event.Candidate) json.RawMessage {
	if call, ok := callOfKey(key); ok {
		answer, _ := json.Marshal(call) // never fails: the input is JSON
		return answer
	}
	if json.Valid([]byte(key)) {
		return []byte(key)
	}
	for i, c := range *known {
		if c.Key == key || c.Votes == votes {
			*known = slices.Delete(*known, i, i+1)
			return c.Answer
		}
	}
	return nil
}

// A StepDetail is all that the log has about a step.
type StepDetail struct {
	StepResult
	Class   string         `json:"class,omitempty"`
	Rivals  []Rival        `json:"rivals"`
	Voted   string         `json:"voted,omitempty"` // the question that the votes are of, if there were several
	Samples []Sample       `json:"samples"`
	Asked   string         `json:"asked,omitempty"` // what voters were asked, where that is known: in full in a chain, elsewhere what it is about
	Dissent []string       `json:"dissent,omitempty"`
	Effects []EffectResult `json:"effects,omitempty"`
	Changed []string       `json:"changed,omitempty"` // parts of its questions that a resume would ask differently

	Status string `json:"status"` // decided, or why it has no result
	Reason string `json:"reason,omitempty"`
}

// Detail tells all that there is to know about a step, committed or not: what it came to,
// which answers got votes, by whom, and what was discarded. One that the run has not come to
// is a [*NoStepError].
func (r *Run) Detail(step int, families ...domain.Family) (*StepDetail, error) {
	d := &StepDetail{Status: "decided"}
	s, err := r.Step(step)
	if _, open := err.(*NoStepError); open {
		f, err := r.Unsettled(step)
		if err != nil {
			return nil, err
		}
		d.StepResult, d.Status, d.Reason = StepResult{Step: step, Voting: f.Voting}, f.Status, f.Reason
		d.Voting.Answers, d.Dissent = f.Candidates, f.Votes()
	} else if err != nil {
		return nil, err
	} else {
		d.StepResult, d.Class = s.Result(), s.Class
		if d.Output, err = r.Load(s.Output); err != nil {
			return nil, err
		}
		d.Dissent = d.StepResult.Dissent()
	}
	if d.Samples, err = r.Samples(step); err != nil {
		return nil, err
	}
	if d.Effects, err = r.Effects(step); err != nil {
		return nil, err
	}
	if d.Changed, err = r.Changed(step); err != nil {
		return nil, err
	}
	d.Rivals, d.Voted = Rivals(d.Voting, d.Output, d.Samples), votedOn(d.Voting, d.Samples)
	d.Asked, err = r.asked(step, d.Output, families)
	return d, err
}

// Unsettled is how it stands with a step that has no result: it failed, is open or waits. One that
// the run has not come to is a [*NoStepError].
func (r *Run) Unsettled(step int) (*FailedStep, error) {
	result, err := r.Result()
	if err != nil {
		return nil, err
	}
	for _, f := range slices.Concat(result.Unsettled, result.OpenSteps()) {
		if f.Step == step {
			return &f, nil
		}
	}
	if r.Form().Apart() { // of which there may be too many for a result
		var last *FailedStep
		for e, err := range r.about(step, event.TypeStepFailed) {
			if err != nil {
				return nil, err
			}
			if e, ok := e.(event.StepFailed); ok && e.Step == step {
				last = &FailedStep{Step: step, Status: e.Status, Reason: e.Reason, Voting: e.Voting, Candidates: e.Voted()}
			}
		}
		if last != nil {
			return last, nil
		}
	}
	samples, err := r.Samples(step)
	if err != nil {
		return nil, err
	}
	if len(samples) == 0 {
		return nil, &NoStepError{Step: step, Steps: result.StepsCompleted}
	}
	f := &FailedStep{Step: step, Status: StatusOpen, Reason: "it is not decided yet", Voting: event.Voting{Votes: map[string]int{}}}
	for _, s := range samples {
		switch v := &f.Voting; s.Outcome {
		case SampleVote:
			v.Samples++
			v.Votes[s.Vote]++
		case SampleFlag:
			v.Samples++
			v.RedFlagged++
			v.Discarded = event.AddDiscarded(v.Discarded, event.Discarded{Flag: s.Flag, Count: 1, Reason: s.Reason})
		case SampleFault:
			v.Faults++
		}
	}
	for _, rival := range Rivals(f.Voting, event.Value{}, samples) {
		c := event.Candidate{Answer: rival.Answer, Votes: rival.Votes}
		if c.Answer == nil {
			c.Answer, _ = json.Marshal(rival.Key) // never fails
		}
		f.Candidates = append(f.Candidates, c)
	}
	asked, err := r.Waiting()
	if i := slices.IndexFunc(asked, func(q Question) bool { return q.Step == step }); i >= 0 {
		f.Status, f.Reason = event.StopWaiting, "a person is asked: "+asked[i].Text
	}
	return f, err
}
