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
		{"to the top", flow.Ladder{Order: all, Model: "m"}, "", nil, nil, "usual diverse/7 m split person"},
		{"half way", flow.Ladder{Order: all, Model: "m"}, "m", nil, nil, "usual diverse/7 m"},
		{"no other model", flow.Ladder{Order: all}, "", nil, nil, "usual diverse/7 split person"},
		{"another order", flow.Ladder{Order: []flow.Escalation{flow.Person, flow.Split}}, "", nil, nil, "usual person split"},
		{"nothing", flow.Ladder{}, "", nil, nil, "usual"},
		{"nobody to ask, nothing to split", flow.Ladder{Order: all}, "", func(c *flow.Climb) { c.Split, c.Person = nil, nil }, nil, "usual diverse/7"},
		{"not now", flow.Ladder{Order: all}, "", func(c *flow.Climb) { c.May = func(to flow.Escalation) bool { return to != flow.Diversity } }, nil, "usual split person"},
		{"the run ends", flow.Ladder{Order: all}, "split", nil, over, "usual diverse/7 split"},
	} {
		f := flowtest.New(nil)
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
				case w.Diverse && w.Asked == 7:
					return settle("diverse/7")
				}
				return settle("usual")
			},
			Split:  func(string) (bool, error) { return settle("split") },
			Person: func(string) (bool, error) { return settle("person") },
			Last:   func() *flow.Verdict { return &flow.Verdict{Status: flow.Undecided, Voting: event.Voting{Samples: 7}} },
			Note:   func(to flow.Escalation) event.Escalated { return event.Escalated{To: string(to)} },
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
		{flow.Way{Diverse: true, Asked: 3}, new(0.1), flow.Question{Asked: 3, Terms: flow.Terms{FirstTemperature: new(0.7), Temperature: new(0.7)}}},
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
