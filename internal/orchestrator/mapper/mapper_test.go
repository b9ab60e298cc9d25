package mapper_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/mapper"
	"github.com/maker-mdap/maker/test/flowtest"
)

// number is a record that is asked about by its number. The first is broken.
type number int

func (n number) Ask(question int, earlier map[string]json.RawMessage) (*flow.Question, error) {
	if n == 0 {
		return nil, errors.New("line 1: broken")
	}
	return &flow.Question{Prompt: fmt.Sprint(int(n), "/", question, "/", len(earlier))}, nil
}

func (n number) Right(answers map[string]json.RawMessage) *bool {
	if n%2 == 0 {
		return nil
	}
	right := string(answers["last"]) != `"bad"`
	return &right
}

func decide(_ string, q *flow.Question) (*flow.Verdict, error) {
	switch q.Prompt {
	case "2/1/1":
		voting := event.Voting{Samples: 175, Votes: map[string]int{"a": 92, "b": 83}, Margin: 9}
		return &flow.Verdict{Status: flow.Undecided, Reason: "they disagree", Voting: voting}, nil
	case "3/1/1":
		return flowtest.Decided(q, `"bad"`), nil
	}
	return flowtest.Decided(q, `"good"`), nil
}

func config(n int, ended func(int) (flow.Status, *bool)) mapper.Config {
	return mapper.Config{
		Records: n, Questions: []string{"first", "last"}, Ended: ended,
		Open: func(record int) (mapper.Record, error) { return number(record), nil },
	}
}

func tell(events []event.Event) []string {
	var list []string
	for _, e := range events {
		switch e := e.(type) {
		case event.StepCompleted:
			list = append(list, fmt.Sprintf("%d: %s", e.Step, e.Output.Compact()))
		case event.StepFailed:
			list = append(list, fmt.Sprintf("%d %s: %s %s %s", e.Step, e.Status, e.Reason, e.Voting.Split(), e.Output.Compact()))
		case event.TaskCompleted:
			list = append(list, "completed "+e.Output.Compact())
		case event.TaskFailed:
			list = append(list, e.Status+" "+e.Output.Compact())
		}
	}
	return list
}

func TestRun(t *testing.T) {
	open := func(int) (flow.Status, *bool) { return "", nil }
	f := flowtest.New(decide)
	if err := mapper.Run(f, config(5, open)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0 failed: line 1: broken  ", `1: {"first":"good","last":"good"}`, `2 undecided: last: they disagree 92-83 {"first":"good"}`,
		`3: {"first":"good","last":"bad"}`, `4: {"first":"good","last":"good"}`,
		`undecided {"decided":3,"failed":1,"known":2,"records":5,"right":1,"undecided":1}`,
	}
	if diff := cmp.Diff(want, tell(f.Events)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestGoesOn: what ended before is counted and not asked about again.
func TestGoesOn(t *testing.T) {
	yes := true
	f := flowtest.New(decide)
	c := config(4, func(n int) (flow.Status, *bool) {
		return []flow.Status{flow.Decided, "", "", flow.Decided}[n], []*bool{nil, nil, nil, &yes}[n]
	})
	c.Same = map[int]int{2: 0}
	err := mapper.Run(f, c)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{`1: {"first":"good","last":"good"}`, `completed {"decided":3,"failed":0,"known":2,"records":4,"right":2,"same":1,"undecided":0}`}; !slices.Equal(tell(f.Events), want) {
		t.Errorf("events %q, want %q", tell(f.Events), want)
	}
	if want := []string{"record/1/first", "record/1/last"}; !slices.Equal(f.Asked, want) {
		t.Errorf("asked %q, want %q", f.Asked, want)
	}
}

// TestEnds: an error of the flow, or of the file, ends the run.
func TestEnds(t *testing.T) {
	stop := errors.New("stop")
	open := func(int) (flow.Status, *bool) { return "", nil }
	err := mapper.Run(flowtest.New(func(string, *flow.Question) (*flow.Verdict, error) { return nil, stop }), config(3, open))
	if !errors.Is(err, stop) {
		t.Errorf("Run() = %v, want %v", err, stop)
	}
	c := config(3, open)
	c.Open = func(int) (mapper.Record, error) { return nil, stop }
	if err := mapper.Run(flowtest.New(decide), c); !errors.Is(err, stop) {
		t.Errorf("Run() of a file that is gone = %v, want %v", err, stop)
	}
}
