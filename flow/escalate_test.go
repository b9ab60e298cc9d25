package flow_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/test/flowtest"
)

func TestClimb(t *testing.T) {
	all := []flow.Escalation{flow.Diversity, flow.Second, flow.Split, flow.Person}
	over := errors.New("out of budget")
	for _, test := range []struct {
		name   string
		ladder flow.Ladder
		ends   string // the rung that settles it
		change func(*flow.Climb)
		err    error
		want   string // what was tried
	}{
		{"at once", flow.Ladder{Order: all, Model: "m"}, "usual", nil, nil, "usual"},
		{"to the top", flow.Ladder{Order: all, Model: "m"}, "", nil, nil, "usual diverse m split person"},
		{"half way", flow.Ladder{Order: all, Model: "m"}, "m", nil, nil, "usual diverse m"},
		{"no other model", flow.Ladder{Order: all}, "", nil, nil, "usual diverse split person"},
		{"another order", flow.Ladder{Order: []flow.Escalation{flow.Person, flow.Split}}, "", nil, nil, "usual person split"},
		{"nothing", flow.Ladder{}, "", nil, nil, "usual"},
		{"nobody to ask, nothing to split", flow.Ladder{Order: all}, "", func(c *flow.Climb) { c.Split, c.Person = nil, nil }, nil, "usual diverse"},
		{"not now", flow.Ladder{Order: all}, "", func(c *flow.Climb) { c.May = func(to flow.Escalation) bool { return to != flow.Diversity } }, nil, "usual split person"},
		{"the run ends", flow.Ladder{Order: all}, "split", nil, over, "usual diverse split"},
	} {
		f := flowtest.New(nil)
		shares := []event.Share{{Voter: "a", Framing: 1, Votes: 2}, {Voter: "a", Framing: 3, Flagged: 1}, {Voter: "b", Framing: 2, Votes: 1}}
		var tried []string
		settle := func(name string) (bool, error) {
			tried = append(tried, name)
			if name == test.ends && test.err != nil {
				return false, test.err
			}
			return name == test.ends, nil
		}
		c := flow.Climb{
			Try: func(_ string, w flow.Way) (bool, error) {
				switch {
				case w.Model != "":
					return settle(w.Model)
				case w.Diverse && cmp.Equal(w.Asked, map[string][]int{"a": {1, 3}, "b": {2}}):
					return settle("diverse")
				}
				return settle("usual")
			},
			Split:  func(string) (bool, error) { return settle("split") },
			Person: func(string) (bool, error) { return settle("person") },
			Last: func() *flow.Verdict {
				return &flow.Verdict{Status: flow.Undecided, Voting: event.Voting{Shares: shares}}
			},
			Note: func(to flow.Escalation) event.Escalated { return event.Escalated{To: string(to)} },
		}
		if test.change != nil {
			test.change(&c)
		}
		ok, err := test.ladder.Climb(f, "s", c)
		if got := strings.Join(tried, " "); got != test.want || !errors.Is(err, test.err) || ok != (test.ends != "" && test.err == nil) {
			t.Errorf("%s: Climb = %t, %v after %q, want %q", test.name, ok, err, got, test.want)
		}
		if len(f.Events) != len(tried)-1 {
			t.Errorf("%s: %d events, want one for each rung after the first of %q", test.name, len(f.Events), tried)
		}
	}
}

func TestWay(t *testing.T) {
	for _, test := range []struct {
		way         flow.Way
		temperature *float64
		want        flow.Question
	}{
		{flow.Way{}, new(0.1), flow.Question{Terms: flow.Terms{FirstTemperature: new(0.0), Temperature: new(0.1)}}},
		{flow.Way{Model: "m"}, new(0.1), flow.Question{Model: "m", Terms: flow.Terms{FirstTemperature: new(0.0), Temperature: new(0.1)}}},
		{flow.Way{Diverse: true, Asked: map[string][]int{"a": {1}}}, new(0.1), flow.Question{Asked: map[string][]int{"a": {1}}, Terms: flow.Terms{FirstTemperature: new(0.7), Temperature: new(0.7)}}},
		{flow.Way{Diverse: true}, new(0.7), flow.Question{Terms: flow.Terms{FirstTemperature: new(1.0), Temperature: new(1.0)}}},
		{flow.Way{Diverse: true}, new(1.5), flow.Question{Terms: flow.Terms{FirstTemperature: new(1.5), Temperature: new(1.5)}}},
		{flow.Way{Diverse: true}, nil, flow.Question{Terms: flow.Terms{FirstTemperature: new(0.7), Temperature: new(0.7)}}},
	} {
		q := flow.Question{Terms: flow.Terms{FirstTemperature: new(0.0), Temperature: test.temperature}}
		test.way.Put(&q)
		if diff := cmp.Diff(test.want, q); diff != "" {
			t.Errorf("%+v: Put: -want +got\n%s", test.way, diff)
		}
	}
}

// TestToConfirm: others confirm what led. Where nobody voted, or what won was no answer,
// there is nothing to confirm.
func TestToConfirm(t *testing.T) {
	votes := func(status flow.Status, v map[string]int) *flow.Verdict {
		return &flow.Verdict{Status: status, Voting: event.Voting{Votes: v}}
	}
	for _, c := range []struct {
		name string
		v    *flow.Verdict
		want *flow.Confirm
	}{
		{"a leader", votes(flow.Undecided, map[string]int{"b": 1, "a": 3}), &flow.Confirm{Leads: []string{"a"}}},
		{"two leaders", votes(flow.Undecided, map[string]int{"b": 2, "a": 2}), &flow.Confirm{Leads: []string{"a", "b"}}},
		{"no votes", votes(flow.FlaggedOut, nil), nil},
		{"decided for what could not be used", votes(flow.Decided, map[string]int{"a": 3}), nil},
		{"nobody was asked", nil, nil},
	} {
		if diff := cmp.Diff(c.want, c.v.ToConfirm()); diff != "" {
			t.Errorf("%s: ToConfirm: -want +got\n%s", c.name, diff)
		}
	}
	for why, v := range map[string]*flow.Verdict{
		event.WhyCap: {Status: flow.Undecided}, event.WhyPrice: {Status: flow.Undecided, Voting: event.Voting{GivenUp: true}}, "failed": {Status: flow.Failed}, "": nil,
	} {
		if got := v.Why(); got != why {
			t.Errorf("Why() = %q, want %q", got, why)
		}
	}
}

// TestConfirmedMoves: a call that a second pool confirms is performed, and the next move is
// for those who were asked first.
func TestConfirmedMoves(t *testing.T) {
	var asked []string
	f := flowtest.New(func(key string, q *flow.Question) (*flow.Verdict, error) {
		asked = append(asked, q.Model)
		if len(asked) == 1 {
			if q.Confirm == nil || q.Confirm.Leads[0] != "a" {
				t.Errorf("the first move confirms %+v, want a", q.Confirm)
			}
			return &flow.Verdict{Status: flow.Decided, Intent: &event.Intent{Tool: "Write"}}, nil
		}
		if q.Confirm != nil {
			t.Errorf("the next move confirms %+v", q.Confirm)
		}
		return flowtest.Decided(q, "7"), nil
	})
	f.OnPerform = func(string, *flow.Effect) (*flow.Result, error) { return &flow.Result{Text: "done"}, nil }
	q := &flow.Question{Model: "first", Work: &flow.Work{}}
	flow.Way{Model: "second", Confirm: &flow.Confirm{Leads: []string{"a"}}}.Put(q)
	if out, err := flow.Act(f, "s", q, 3); err != nil || out.Verdict.Status != flow.Decided {
		t.Fatalf("Act = %+v, %v", out, err)
	}
	if diff := cmp.Diff([]string{"second", "first"}, asked); diff != "" {
		t.Errorf("asked: -want +got\n%s", diff)
	}
}

// TestConfirmAllVotes: what others have to confirm is what leads among all that the usual
// voters were for, however often they were asked.
func TestConfirmAllVotes(t *testing.T) {
	undecided := func(a, b int) *flow.Verdict {
		v := &flow.Verdict{Status: flow.Undecided, Voting: event.Voting{Samples: a + b, Votes: map[string]int{}}}
		for key, n := range map[string]int{"a": a, "b": b} {
			if n > 0 {
				v.Voting.Votes[key] = n
			}
		}
		// Most votes first, and full keys, as if they were compared by meaning.
		v.Candidates = []event.Candidate{{Votes: a, Key: "all of a"}, {Votes: b, Key: "all of b"}}
		if b > a {
			v.Candidates[0], v.Candidates[1] = v.Candidates[1], v.Candidates[0]
		}
		return v
	}
	type put struct{ Leads, Known []string }
	a, b := put{[]string{"a"}, []string{"all of a"}}, put{[]string{"b"}, []string{"all of b"}}
	both := put{[]string{"a", "b"}, []string{"all of a", "all of b"}}
	for _, c := range []struct {
		name          string
		first, second *flow.Verdict // usual, and diverse
		moves         [2]int
		want          put
	}{
		{"the first time says more", undecided(4, 2), undecided(1, 2), [2]int{}, a},
		{"the second time says more", undecided(2, 1), undecided(1, 4), [2]int{}, b},
		{"a tie of both", undecided(3, 1), undecided(1, 3), [2]int{}, both},
		{"a tie that was none", undecided(4, 2), undecided(1, 1), [2]int{}, a},
		{"after a call it is another question", undecided(4, 2), undecided(1, 2), [2]int{0, 1}, b},
		{"a call before both", undecided(4, 2), undecided(1, 2), [2]int{1, 1}, a},
		{"nobody answered the second time", undecided(4, 2), &flow.Verdict{Status: flow.FlaggedOut}, [2]int{}, a},
		{"it broke off the second time", undecided(4, 2), &flow.Verdict{Status: flow.Failed}, [2]int{}, a},
		{"decided for what cannot be used", undecided(4, 2), &flow.Verdict{Status: flow.Decided}, [2]int{}, put{}},
		{"decided for what was rejected", undecided(4, 2), &flow.Verdict{Status: flow.Failed, Answer: []byte("1")}, [2]int{}, put{}},
		{"nobody answered the first time", &flow.Verdict{Status: flow.FlaggedOut}, undecided(1, 2), [2]int{}, b},
	} {
		verdicts := []*flow.Verdict{c.first, c.second, {Status: flow.Undecided}}
		tried := 0
		var got put
		climb := flow.Climb{
			Try: func(_ string, w flow.Way) (bool, error) {
				if tried++; w.Model != "" {
					if got.Known = w.Known; w.Confirm != nil {
						got.Leads = w.Confirm.Leads
					}
				}
				return false, nil
			},
			Moves: func() int { return c.moves[min(tried, 2)-1] },
			Last:  func() *flow.Verdict { return verdicts[tried-1] },
			Note:  func(to flow.Escalation) event.Escalated { return event.Escalated{To: string(to)} },
		}
		ladder := flow.Ladder{Order: []flow.Escalation{flow.Diversity, flow.Second}, Model: "others"}
		if _, err := ladder.Climb(flowtest.New(nil), "s", climb); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: the others confirm: -want +got\n%s", c.name, diff)
		}
	}
}

// TestKnownAnswers: where answers are compared by meaning, those who are asked again can vote
// for what was said before.
func TestKnownAnswers(t *testing.T) {
	var known []string
	tried := 0
	climb := flow.Climb{
		Try: func(_ string, w flow.Way) (bool, error) {
			if tried++; w.Diverse {
				q := flow.Question{}
				w.Put(&q)
				known = q.Known
			}
			return false, nil
		},
		Last: func() *flow.Verdict {
			return &flow.Verdict{Status: flow.Undecided, Candidates: []event.Candidate{{Votes: 2, Key: "x"}, {Votes: 1, Key: "y"}}}
		},
		Note: func(to flow.Escalation) event.Escalated { return event.Escalated{To: string(to)} },
	}
	if _, err := (flow.Ladder{Order: []flow.Escalation{flow.Diversity}}).Climb(flowtest.New(nil), "s", climb); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x", "y"}, known); diff != "" {
		t.Errorf("known: -want +got\n%s", diff)
	}
}
