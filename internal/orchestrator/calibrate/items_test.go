package calibrate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

// sums are items whose answer is their number.
func sums(n int) []Item {
	list := make([]Item, n)
	for i := range list {
		list[i] = Item{Line: i + 2, Question: fmt.Sprint(i), Answer: json.RawMessage(fmt.Sprint(i))}
	}
	return list
}

// asked is a sample as the voters see it.
type asked struct {
	item, framing int
	voter         string
	greedy        bool
	n             int // samples of the item before
}

// answering measures with voters who are right, wrong, or say nothing that can be read.
func answering(c Items, framings int, say func(asked) string) *flowtest.Flow {
	seen := map[int]int{}
	return flowtest.New(func(key string, q *flow.Question) (*flow.Verdict, error) {
		a := asked{framing: q.Framing, voter: q.Model, greedy: strings.Contains(key, "greedy")}
		if _, err := fmt.Sscanf(q.Prompt, "%d", &a.item); err != nil {
			return nil, err
		}
		temperature := 0.7
		if a.greedy {
			temperature = 0
		}
		if q.Rule != (vote.Rule{Strategy: vote.None, MaxSamples: 1}) || *q.FirstTemperature != temperature || len(q.Variants) > 0 || (q.Framing > 0) != (framings > 1) {
			return nil, fmt.Errorf("%s: %+v, want one sample in one framing at %v", key, q, temperature)
		}
		if !a.greedy {
			a.n = seen[a.item]
			seen[a.item]++
		}
		switch said := say(a); said {
		case "right":
			return flowtest.Decided(q, fmt.Sprint(a.item)), nil
		case "wrong":
			return flowtest.Decided(q, "-1"), nil
		case "fault":
			return &flow.Verdict{Status: flow.Failed}, nil
		default:
			return &flow.Verdict{Status: flow.FlaggedOut, Said: said, Reason: "the only sample was discarded: no number"}, nil
		}
	})
}

func itemsOf(items, framings int, voters ...string) Items {
	c := Items{
		Items: sums(items), Reader: reader.Number{}, Most: 200, Samples: 5, Target: 0.01, MaxK: 10,
		Question: func(item Item) (*flow.Question, error) {
			first, others := 0.0, 0.7
			q := &flow.Question{Prompt: item.Question, Class: "ask", Terms: flow.Terms{FirstTemperature: &first, Temperature: &others}}
			for i := range framings {
				if framings > 1 {
					q.Variants = append(q.Variants, fmt.Sprintf("%s in words %d", item.Question, i+1))
				}
			}
			return q, nil
		},
	}
	for _, name := range voters {
		c.Voters = append(c.Voters, Voter{Name: "voter " + name, Model: name})
	}
	if len(voters) == 0 {
		c.Voters = []Voter{{Name: "the voter"}}
	}
	return c
}

// TestItemsWithABias: half of the items are always wrong, and no vote mends them.
func TestItemsWithABias(t *testing.T) {
	c := itemsOf(80, 1)
	f := answering(c, 1, func(a asked) string {
		if a.item%2 == 0 {
			return "wrong"
		}
		return "right"
	})
	got, err := RunItems(f, c)
	if err != nil {
		t.Fatal(err)
	}
	m := got.Measured
	if got.P != 0.5 || got.PLow > 0.41 || got.PHigh < 0.59 {
		t.Errorf("p = %v (%v to %v), want 0.5 by 80 items and not by 400 samples", got.P, got.PLow, got.PHigh)
	}
	if m.Gain != NoGain || !strings.Contains(m.Says[0], "gains nothing") || m.BelowHalf.Low < 0.3 || m.BelowHalf.High > 0.7 || !got.Limited {
		t.Errorf("it says %q (%s), %+v below one half: want no gain", m.Says, m.Gain, m.BelowHalf)
	}
	if m.SameFraming == nil || m.SameFraming.Value < 0.97 || m.AcrossFramings != nil || m.AcrossVoters != nil {
		t.Errorf("correlations %+v, %+v, %+v, want copies and nothing else measured", m.SameFraming, m.AcrossFramings, m.AcrossVoters)
	}
	advice := strings.Join(m.Says, "\n")
	for _, part := range []string{"no vote can mend", "examples", "Another model", "code can check", "copies of each other"} {
		if !strings.Contains(advice, part) {
			t.Errorf("it says %q, want %q in it", advice, part)
		}
	}
	if diff := cmp.Diff([]event.Event{got}, f.Events); diff != "" {
		t.Errorf("events: -want +got\n%s", diff)
	}
}

// TestItemsThatGain: independent errors are outvoted.
func TestItemsThatGain(t *testing.T) {
	c := itemsOf(150, 1)
	got, err := RunItems(answering(c, 1, func(a asked) string {
		if (a.item*7+a.n*3)%10 == 0 || a.greedy && a.item%10 == 0 {
			return "wrong"
		}
		return "right"
	}), c)
	if err != nil {
		t.Fatal(err)
	}
	if m := got.Measured; m.Gain != Gains || m.BelowHalf.High > 0.05 || m.Greedy.Value != 0.9 || m.StepError.Value <= 0 {
		t.Errorf("it says %q (%s), %+v", m.Says, m.Gain, m)
	}
}

// TestPlan: samples are spread as those of a vote are, and one further is as the first.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		framings, voters int
		want             string // framing and voter of samples 0 to 6 of item 0, * for the further one
	}{
		{1, 1, "0.0 0.0 0.0 0.0 0.0 0.0 0.0"},
		{3, 1, "0.0 0.0* 1.0 2.0 0.0 1.0 2.0"},
		{1, 2, "0.0 0.1 0.0* 0.0 0.1 0.0 0.1"},
		{1, 3, "0.0 0.1 0.0* 0.2 0.0 0.1 0.2"},
		{2, 2, "0.0 1.1 0.0* 1.0 0.1 0.0 1.1"},
	} {
		var got []string
		for n := range 7 {
			framing, voter, further := plan(0, n, c.framings, c.voters)
			text := fmt.Sprintf("%d.%d", framing, voter)
			if further {
				text += "*"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("plan with %d framings and %d voters: %s, want %s", c.framings, c.voters, text, c.want)
		}
		begun := map[string]int{}
		for item := range c.framings * c.voters {
			framing, voter, _ := plan(item, 0, c.framings, c.voters)
			begun[fmt.Sprint(framing, voter)]++
		}
		if len(begun) != c.framings*c.voters {
			t.Errorf("items begin at %v, want each framing and voter once", begun)
		}
	}
}

// TestItemsInFramings: an error that one framing keeps to itself is seen.
func TestItemsInFramings(t *testing.T) {
	c := itemsOf(120, 3)
	got, err := RunItems(answering(c, 3, func(a asked) string {
		if (a.item+5*a.framing)%7 == 0 {
			return "wrong"
		}
		return "right"
	}), c)
	if err != nil {
		t.Fatal(err)
	}
	m := got.Measured
	if len(m.Framings) != 3 || m.SameFraming.Value < 0.9 || m.AcrossFramings.Value > 0.1 || m.Deep < DeepItems {
		t.Errorf("framings %+v, correlations %+v and %+v, want 1 and less than 0", m.Framings, m.SameFraming, m.AcrossFramings)
	}
	if advice := strings.Join(m.Says, "\n"); m.Gain != Gains && !strings.Contains(advice, "Asking in several framings helps") {
		t.Errorf("it says %q", advice)
	}
}

// TestItemsOfVoters: who errs together is told.
func TestItemsOfVoters(t *testing.T) {
	c := itemsOf(120, 1, "a", "b")
	got, err := RunItems(answering(c, 1, func(a asked) string {
		if a.item%4 == 0 || a.voter == "b" && a.item%4 == 1 {
			return "wrong"
		}
		return "right"
	}), c)
	if err != nil {
		t.Fatal(err)
	}
	m := got.Measured
	var names []string
	for _, x := range m.Together {
		names = append(names, x.A+"+"+x.B)
		if x.A != x.B && (x.Both.Value != 0.25 || x.SameAnswer == nil || *x.SameAnswer != 1 || x.IfAlone < 0.1 || x.IfAlone > 0.15) {
			t.Errorf("both: %+v, want 0.25 with the same answer, 0.125 if they were independent", x)
		}
	}
	if diff := cmp.Diff([]string{"voter a+voter a", "voter a+voter b", "voter b+voter b"}, names); diff != "" {
		t.Errorf("pairs: -want +got\n%s", diff)
	}
	if m.Voters[0].P.Value != 0.75 || m.Voters[1].P.Value != 0.5 || m.AcrossVoters == nil {
		t.Errorf("voters %+v, across %+v, want 0.75 and 0.5", m.Voters, m.AcrossVoters)
	}
}

// TestFewItems: what takes more items is not measured, and is not made up.
func TestFewItems(t *testing.T) {
	for name, c := range map[string]Items{
		"few items":   itemsOf(49, 1),
		"few samples": func() Items { c := itemsOf(80, 1); c.Samples = 4; return c }(),
	} {
		got, err := RunItems(answering(c, 1, func(asked) string { return "right" }), c)
		if err != nil {
			t.Fatal(err)
		}
		m := got.Measured
		if m.BelowHalf != nil || m.GainOverSample != nil || m.StepError != nil || m.Gain != Unclear || !strings.Contains(m.Says[0], "not measured") || !strings.Contains(got.Assumes, "not measured") {
			t.Errorf("%s: %+v, %q, want nothing about the distribution", name, m, got.Assumes)
		}
		if got.PUsed != got.PLow || got.StepError <= 0 {
			t.Errorf("%s: p used %v, error %v, want the lower end %v", name, got.PUsed, got.StepError, got.PLow)
		}
	}
}

// TestItemsWithoutAnswers: nothing valid is no measurement, and an example says why.
func TestItemsWithoutAnswers(t *testing.T) {
	c := itemsOf(60, 1)
	got, err := RunItems(answering(c, 1, func(asked) string { return "I cannot say" }), c)
	if err != nil {
		t.Fatal(err)
	}
	if got.Valid != 0 || got.Samples == 0 || got.Measured != nil || !strings.Contains(got.Reason, `said "I cannot say"`) || !strings.Contains(got.Reason, "no number") {
		t.Errorf("RunItems() = %+v, want a reason with an example", got)
	}
	got, err = RunItems(answering(c, 1, func(asked) string { return "fault" }), c)
	if err != nil || got.Samples != 0 {
		t.Errorf("RunItems() = %+v, %v, want no samples", got, err)
	}
}

// TestMoreWhereItPays: few samples for most items, if the first ones show nothing.
func TestMoreWhereItPays(t *testing.T) {
	for _, test := range []struct {
		name string
		say  func(asked) string
		want int // samples, greedy ones not counted
	}{
		{"all right", func(asked) string { return "right" }, 50*5 + 130*2},
		{"one is hopeless", func(a asked) string {
			if a.item%10 == 3 {
				return "wrong"
			}
			return "right"
		}, 180 * 5},
	} {
		c := itemsOf(250, 1)
		c.Most = 180
		got, err := RunItems(answering(c, 1, test.say), c)
		if err != nil {
			t.Fatal(err)
		}
		if got.Samples != test.want || got.Problems != 180 || got.Measured.Of != 250 {
			t.Errorf("%s: %d samples of %d items of %d, want %d of 180 of 250", test.name, got.Samples, got.Problems, got.Measured.Of, test.want)
		}
	}
}

// TestItemsResume: what was asked is not asked again, and the same comes of it.
func TestItemsResume(t *testing.T) {
	c := itemsOf(70, 2)
	f := answering(c, 2, func(a asked) string { return []string{"right", "wrong", "right"}[(a.item+a.n)%3] })
	first, err := RunItems(f, c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := RunItems(f.Resume(), c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("after a resume: -first +again\n%s", diff)
	}
}

func TestExpect(t *testing.T) {
	for _, c := range []struct {
		r            reader.Reader
		want, answer string
		right        bool
	}{
		{reader.Number{}, `"1,234"`, `1234`, true},
		{reader.Number{}, `12`, `13`, false},
		{reader.Number{Tolerance: "0.5"}, `"12"`, `12.4`, true},
		{reader.Number{Tolerance: "0.5"}, `"12"`, `12.6`, false},
		{reader.OneOf{Options: []string{"yes", "no"}}, `"Yes"`, `"yes"`, true},
		{reader.Bool{}, `"no"`, `false`, true},
		{reader.Bool{}, `true`, `false`, false},
		{reader.Date{}, `"March 4, 2025"`, `"2025-03-04"`, true},
		{reader.List{Of: reader.Text{}, Unordered: true}, `"red, green"`, `["green","red"]`, true},
		{reader.List{Of: reader.Text{}}, `["red","green"]`, `["green","red"]`, false},
		{reader.Text{}, `"Paris"`, `"paris"`, true},
	} {
		keyOf, want, err := Expect(c.r, json.RawMessage(c.want))
		if err != nil {
			t.Errorf("Expect(%T, %s): %v", c.r, c.want, err)
			continue
		}
		if got, ok := keyOf(json.RawMessage(c.answer)); !ok || (got == want) != c.right {
			t.Errorf("Expect(%T, %s): %s is right: %v, want %v", c.r, c.want, c.answer, got == want, c.right)
		}
	}
	if _, _, err := Expect(reader.Number{}, json.RawMessage(`"many"`)); err == nil || !strings.Contains(err.Error(), `the answer "many" cannot be read`) {
		t.Errorf("Expect(number, many): %v", err)
	}
}

// expecting notes how many questions it is told of.
type expecting struct {
	*flowtest.Flow
	said []int
}

func (e *expecting) Expect(questions int) { e.said = append(e.said, questions) }

// TestExpected: whoever watches is told beforehand how many samples are taken at most, and
// in the end how many there were.
func TestExpected(t *testing.T) {
	for _, test := range []struct {
		name            string
		items, framings int
		voters          []string
		samples         int
		answer          string
		want            []int
	}{
		{"few items", 20, 1, nil, 5, "right", []int{20 * 6}},
		{"the others do not pay", 80, 1, nil, 5, "right", []int{80 * 6, 80*3 + 50*3}},
		{"the others pay", 80, 1, nil, 5, "wrong", []int{80 * 6}},
		{"a further sample", 80, 2, nil, 5, "right", []int{80 * 7, 80*3 + 50*4}},
		{"two voters", 80, 1, []string{"a", "b"}, 5, "wrong", []int{80 * 8}},
		{"one sample", 80, 1, nil, 1, "right", []int{80 * 2}},
	} {
		c, taken := itemsOf(test.items, test.framings, test.voters...), 0
		c.Samples = test.samples
		f := &expecting{Flow: answering(c, test.framings, func(asked) string { taken++; return test.answer })}
		if _, err := RunItems(f, c); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, f.said); diff != "" {
			t.Errorf("%s: expected questions: -want +got\n%s", test.name, diff)
		}
		if last := f.said[len(f.said)-1]; last != taken {
			t.Errorf("%s: %d questions are asked, and %d expected in the end", test.name, taken, last)
		}
	}
}
