package runs

import (
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/history"
)

// A RecordOverview is what the records of a run came to, in short.
type RecordOverview struct {
	Records  int
	Answered int

	// Answers are the answers that came most, as JSON, with how often each did, and
	// OtherAnswers is how many records have another one.
	Answers      map[string]int
	OtherAnswers int

	// Split are the first records whose votes named more than one answer: those without a
	// winner before those with one. Contested is how many there are. A record that another
	// one stands for is not among them.
	Split     []RecordResult
	Contested int
}

// Overview sums up the records of a run of maker map, with at most so many answers and so many
// contested records.
func (r *Run) Overview(answers, contested int) (*RecordOverview, error) {
	var o RecordOverview
	var counts history.Outputs
	var decided []RecordResult
	for record, err := range r.Records() {
		if err != nil {
			return nil, err
		}
		o.Records++
		won := record.Status == string(flow.Decided)
		if won {
			o.Answered++
			counts.Add(record.Output.JSON)
		}
		if record.Same || !record.Voting.Contested() {
			continue
		}
		o.Contested++
		if won && len(decided) < contested {
			decided = append(decided, record)
		} else if !won && len(o.Split) < contested {
			o.Split = append(o.Split, record)
		}
	}
	o.Answers, o.OtherAnswers = counts.Top(answers)
	o.Split = append(o.Split, decided[:min(len(decided), contested-len(o.Split))]...)
	return &o, nil
}

// Dissent tells in lines what was said against the answer of the record; if it has none, who
// voted for what.
func (r *RecordResult) Dissent() []string {
	step := StepResult{Voting: r.Voting}
	if r.Status == string(flow.Decided) {
		step.Output = r.Output
	}
	return step.Dissent()
}
