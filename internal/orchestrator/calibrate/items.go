package calibrate

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/stats"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/vote"
)

// An Item is a question of the user's own, with its answer.
type Item struct {
	Line     int             `json:"line"` // of the file that it is from
	Question string          `json:"question"`
	Answer   json.RawMessage `json:"answer"`
}

// A Voter is one of those who are measured.
type Voter struct {
	Name        string   // for people
	Model       string   // the group that a question names
	Temperature *float64 // nil for that of the question
}

// Items says what to measure with items of the user's own.
type Items struct {
	Items    []Item
	Repeated int // items that were left out because another one asks the same
	Reader   reader.Reader

	// Question asks for an item, in all framings; its rule does not matter. It is the
	// same whenever it is asked for.
	Question func(item Item) (*flow.Question, error)

	Voters  []Voter
	Most    int     // items that are asked, chosen at random
	Samples int     // of each item, where it pays
	Target  float64 // the error that is accepted
	Steps   int     // for which the target is meant; 0 for one
	MaxK    int
}

// The distribution of p over the items needs so many samples of so many items.
const (
	DeepSamples = 5
	DeepItems   = 50
)

// firstSamples are taken of every item: two, so that how alike they are can be seen.
const firstSamples = 2

// RunItems measures the voters, emits the calibrated event and returns it.
//
// Every item is asked one greedy sample of each voter, the baseline, and two samples as a
// vote takes them. Then a random part of the items gets [Items.Samples], which tells how p differs
// between items. If some of those come out wrong more often than right the others get as
// many: how many such items there are is what the outcome of votes hangs on. That part is
// chosen by chance and not by what came of an item, so that every item stands for all.
func RunItems(f flow.Flow, c Items) (event.Calibrated, error) {
	m := &measuring{Items: c}
	if err := m.choose(); err != nil {
		return event.Calibrated{}, err
	}
	n := len(m.chosen)
	q, err := m.Question(m.chosen[0])
	if err != nil {
		return event.Calibrated{}, err
	}
	samples := c.Samples
	if furtherSample(max(len(q.Variants), 1), len(c.Voters)) > 0 {
		samples++
	}
	flow.Expect(f, n*(len(c.Voters)+samples)) // at most
	if err := m.ask(f, "items", 0, n, -1, min(firstSamples, samples)); err != nil {
		return event.Calibrated{}, err
	}
	if samples > firstSamples {
		deep := min(n, DeepItems)
		if err := m.ask(f, "deep", 0, deep, firstSamples, samples); err != nil {
			return event.Calibrated{}, err
		}
		switch {
		case deep == n:
		case !m.pays(deep):
			flow.Expect(f, n*(len(c.Voters)+firstSamples)+deep*(samples-firstSamples))
		default:
			if err := m.ask(f, "rest", deep, n, firstSamples, samples); err != nil {
				return event.Calibrated{}, err
			}
		}
	}
	e := m.conclude()
	f.Emit("calibrated", e)
	return e, nil
}

// measuring is a measurement under way.
type measuring struct {
	Items
	chosen []Item
	keyOf  []func(json.RawMessage) (string, bool) // of an answer to each of them
	want   []string                               // the key of the right one

	greedy [][]outcome // of each item, at most one of each voter
	taken  [][]outcome
	best   int // the voter whose greedy samples are right most often
}

// outcome is a sample that was answered, right or wrong or not at all.
type outcome struct {
	framing, voter int
	further        bool // than those that a vote would take
	valid, right   bool
	key            string
	said, flag     string
}

// choose picks the items that are asked, in random order, the same one whenever it is
// run.
func (m *measuring) choose() error {
	type place struct {
		at   int
		rank uint64
	}
	order := make([]place, len(m.Items.Items))
	for i, item := range m.Items.Items {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d\n%s\n%s", i, item.Question, item.Answer)
		order[i] = place{i, scatter(h.Sum64())}
	}
	slices.SortFunc(order, func(a, b place) int {
		if a.rank != b.rank {
			if a.rank < b.rank {
				return -1
			}
			return 1
		}
		return a.at - b.at
	})
	for _, p := range order[:min(len(order), m.Most)] {
		item := m.Items.Items[p.at]
		key, want, err := Expect(m.Reader, item.Answer)
		if err != nil {
			return fmt.Errorf("calibrate: line %d: %w", item.Line, err)
		}
		m.chosen, m.keyOf, m.want = append(m.chosen, item), append(m.keyOf, key), append(m.want, want)
	}
	m.greedy, m.taken = make([][]outcome, len(m.chosen)), make([][]outcome, len(m.chosen))
	return nil
}

// scatter spreads similar hashes.
func scatter(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Expect reads the answer that is right. Other answers are right if their key is the same.
// A text may also be one as a voter would have said it.
func Expect(r reader.Reader, answer json.RawMessage) (keyOf func(json.RawMessage) (string, bool), want string, err error) {
	read, err := reader.ReadField(r)
	if err != nil {
		return nil, "", err
	}
	_, want, flag := read(answer)
	var text string
	if flag != nil && json.Unmarshal(answer, &text) == nil {
		var spoken domain.Reader
		if spoken, err = reader.New(r.Format()); err != nil {
			return nil, "", err
		}
		var said domain.Answer
		if said, flag = spoken.Read(text); flag == nil {
			_, want, flag = read(said.Value)
		}
	}
	if flag != nil {
		return nil, "", fmt.Errorf("the answer %s cannot be read: %s", answer, flag.Reason)
	}
	return func(raw json.RawMessage) (string, bool) {
		_, key, flag := read(raw)
		return key, flag == nil
	}, want, nil
}

// ask takes the samples from one number to another of some of the items, -1 being the
// greedy ones. Those of one item are asked one after the other.
func (m *measuring) ask(f flow.Flow, key string, low, high, from, to int) error {
	return f.Parallel(KeyPrefix+key, high-low, func(i int, f flow.Flow) error {
		item := low + i
		q, err := m.Question(m.chosen[item])
		if err != nil {
			return fmt.Errorf("calibrate: line %d: %w", m.chosen[item].Line, err)
		}
		if from < 0 {
			if err := m.greedily(f, item, q); err != nil {
				return err
			}
		}
		for n := max(from, 0); n < to; n++ {
			if err := m.sample(f, item, n, q); err != nil {
				return err
			}
		}
		return nil
	})
}

// plan is in which framing and by which voter a sample is taken: as in a vote, but that
// each item begins elsewhere, and that one further sample is asked as the first one was.
// It shows how alike samples are that have all but chance in common; a vote would not
// take it.
func plan(item, n, framings, voters int) (framing, voter int, further bool) {
	if again := furtherSample(framings, voters); again > 0 && n >= again {
		further = n == again
		if n--; further {
			n = 0
		}
	}
	return (item + n%voters + n/voters) % framings, (item/framings + n) % voters, further
}

// furtherSample is the number of the sample that is asked as the first one was; 0 if all
// of them are. With several voters the first two are those of different ones.
func furtherSample(framings, voters int) int {
	switch {
	case voters > 1:
		return firstSamples
	case framings > 1:
		return 1
	}
	return 0
}

// greedily takes one greedy sample of each voter: whoever is named first, a vote is held
// against the best of them.
func (m *measuring) greedily(f flow.Flow, item int, of *flow.Question) error {
	for voter := range m.Voters {
		key := "greedy"
		if voter > 0 {
			key = fmt.Sprintf("greedy/%d", voter)
		}
		if err := m.take(f, key, item, outcome{voter: voter}, *of, &m.greedy[item]); err != nil {
			return err
		}
	}
	return nil
}

// sample takes one sample of an item as a vote does.
func (m *measuring) sample(f flow.Flow, item, n int, of *flow.Question) error {
	framing, voter, further := plan(item, n, max(len(of.Variants), 1), len(m.Voters))
	q := *of
	q.FirstTemperature = q.Temperature
	if own := m.Voters[voter].Temperature; own != nil {
		q.FirstTemperature = own
	}
	return m.take(f, fmt.Sprint(n), item, outcome{framing: framing, voter: voter, further: further}, q, &m.taken[item])
}

// take asks a question once, in a framing and by a voter, and adds what came of it.
func (m *measuring) take(f flow.Flow, key string, item int, o outcome, q flow.Question, to *[]outcome) error {
	if len(q.Variants) > 0 {
		q.Prompt, q.Framing = q.Variants[o.framing], o.framing+1
	}
	q.Rule = vote.Rule{Strategy: vote.None, MaxSamples: 1}
	q.Variants, q.Class, q.Model = nil, "", m.Voters[o.voter].Model
	v, err := f.Decide(key, &q)
	if err != nil {
		return err
	}
	switch v.Status {
	case flow.Decided:
		got, valid := m.keyOf[item](v.Answer)
		o.valid, o.key, o.right = valid, got, valid && got == m.want[item]
	case flow.FlaggedOut:
		o.said, o.flag = v.Said, v.Reason
	default:
		return nil // nobody answered
	}
	*to = append(*to, o)
	return nil
}

// pays reports whether more samples of the other items tell something: some of the first
// ones come out wrong more often than right.
func (m *measuring) pays(deep int) bool {
	for _, list := range m.taken[:deep] {
		if c := counted(voting(list)); c.Total > 0 && 2*c.Good < c.Total {
			return true
		}
	}
	return false
}

// voting are the samples that a vote would take.
func voting(list []outcome) []outcome {
	return slices.DeleteFunc(slices.Clone(list), func(o outcome) bool { return o.further })
}

// by are the samples of one voter.
func by(voter int, list []outcome) []outcome {
	return slices.DeleteFunc(slices.Clone(list), func(o outcome) bool { return o.voter != voter })
}

// counted is how many of the valid samples were right.
func counted(list []outcome) stats.Cluster {
	var c stats.Cluster
	for _, o := range list {
		if o.valid {
			c.Total++
		}
		if o.right {
			c.Good++
		}
	}
	return c
}
