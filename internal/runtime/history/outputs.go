package history

import (
	"bytes"
	"encoding/json"
	"maps"
	"sync"

	"github.com/maker-mdap/maker/flow"
)

// Outputs counts what steps came to, as long as there are few different answers.
type Outputs struct {
	mu     sync.Mutex
	counts map[string]int
}

// What is counted: so many different answers, of so many bytes.
const (
	mostOutputs   = 30
	longestOutput = 60
)

// Add counts the output of a step.
func (o *Outputs) Add(output json.RawMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	if len(o.counts) <= mostOutputs && len(output) <= longestOutput {
		o.counts[string(output)]++
	}
}

// Counts are the answers with how often they were given; nil if there are too many.
func (o *Outputs) Counts() map[string]int {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.counts) > mostOutputs {
		return nil
	}
	return maps.Clone(o.counts)
}

// addLine counts the output in a line of a step of a record, of which there may be very many.
func (o *Outputs) addLine(line []byte) {
	_, rest, ok := bytes.Cut(line, []byte(`,"output":`)) // in a text the quotes would be escaped
	if !ok || len(o.counts) > mostOutputs {
		return
	}
	var output json.RawMessage
	if json.NewDecoder(bytes.NewReader(rest)).Decode(&output) == nil {
		o.Add(output)
	}
}

// A Contest is a decision with more than one answer.
type Contest struct {
	Question string // its key
	Step     int
	*flow.Verdict
}

// mostContests is how many of them are kept, at least.
const mostContests = 100

// takeContest counts a decision if it had more than one answer.
func (h *History) takeContest(question string, step int, v *flow.Verdict) {
	if !v.Voting.Contested() {
		return
	}
	h.Contested++
	if h.Contests = append(h.Contests, Contest{question, step, v}); len(h.Contests) == 2*mostContests {
		h.Contests = append(h.Contests[:0], h.Contests[mostContests:]...)
	}
}
