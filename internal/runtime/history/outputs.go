package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// Outputs counts what steps came to, in bounded memory: each of the first answers that are
// different and short, and the others together. An answer that is frequent is among the first.
type Outputs struct {
	mu     sync.Mutex
	counts map[string]int
	others int
}

// What is counted: so many different answers, of so many bytes.
const (
	mostOutputs   = 1000
	longestOutput = 200
)

// Add counts the output of a step. One that is stored elsewhere is empty.
func (o *Outputs) Add(output json.RawMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n, ok := o.counts[string(output)]; ok {
		o.counts[string(output)] = n + 1
		return
	}
	if len(o.counts) == mostOutputs || len(output) > longestOutput || len(output) == 0 {
		o.others++
		return
	}
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	o.counts[string(output)] = 1
}

// Top are the most frequent answers with how often they were given, and how often others were.
// An answer that came once is not frequent unless there are few.
func (o *Outputs) Top(most int) (top map[string]int, others int) {
	if o == nil {
		return nil, 0
	}
	o.mu.Lock()
	all := maps.Clone(o.counts)
	others = o.others
	o.mu.Unlock()
	if len(all) <= most && others == 0 {
		return all, 0
	}
	top = map[string]int{}
	for i, answer := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(all[b]-all[a], strings.Compare(a, b)) }) {
		if i < most && all[answer] > 1 {
			top[answer] = all[answer]
		} else {
			others += all[answer]
		}
	}
	return top, others
}

// addLine counts the output in a line of a step of a record, of which there may be very many.
func (o *Outputs) addLine(line []byte) {
	_, rest, ok := bytes.Cut(line, []byte(`,"output":`)) // in a text the quotes would be escaped
	if !ok {
		return
	}
	var output event.Value
	if json.NewDecoder(bytes.NewReader(rest)).Decode(&output) == nil {
		o.Add(output.JSON)
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
