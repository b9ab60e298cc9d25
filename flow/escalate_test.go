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
		return &flow.Verdict{
			Status: status, Voting: event.Voting{Votes: v},
			Candidates: []event.Candidate{{Votes: 3, Key: "the first in full"}, {Votes: 1, Key: "another"}},
		}
	}
	for _, c := range []struct {
		name string
		v    *flow.Verdict
		want *flow.Confirm
	}{
		{"a leader", votes(flow.Undecided, map[string]int{"b": 1, "a": 3}), &flow.Confirm{Leads: []string{"a"}, Keys: []string{"the first in full"}}},
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
