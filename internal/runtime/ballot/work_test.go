package ballot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
)

// workers is an agent whose n-th attempt ends as the n-th result says.
type workers struct {
	mu      sync.Mutex
	results []agent.Result
	tasks   []agent.Task
}

func (w *workers) Attempt(_ context.Context, t *agent.Task) (*agent.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = append(w.tasks, *t)
	r := w.results[min(len(w.tasks), len(w.results))-1]
	return &r, nil
}

func wants(name, input string) agent.Result {
	return agent.Result{Text: "I will", Intent: &tool.Intent{Tool: name, Input: json.RawMessage(input)}}
}

func answers(text string) agent.Result { return agent.Result{Text: text, Stop: model.StopEnd} }

func registry(t *testing.T) *tool.Registry {
	t.Helper()
	run := func(context.Context, json.RawMessage) (tool.Result, error) { return tool.Result{}, nil }
	schema := json.RawMessage(`{"type":"object"}`)
	r := tool.NewRegistry()
	if err := r.RegisterServer(tool.Server{Name: "gone", Unavailable: "it is down"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Register(
		tool.Tool{Name: "Write", Class: tool.Mutate, Schema: schema, Run: run},
		tool.Tool{Name: "Ask", Class: tool.Human, Schema: schema},
		tool.Tool{Name: "mcp__gone__x", Class: tool.Mutate, Schema: schema, Run: run, Source: "gone"},
	); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWork(t *testing.T) {
	a, b := `{"x":"a"}`, `{"x":"b"}`
	for name, test := range map[string]struct {
		results []agent.Result
		status  flow.Status
		answer  string
		intent  string
		votes   map[string]int
		flagged int
	}{
		"an answer": {[]agent.Result{answers("7")}, flow.Decided, `"7"`, "", map[string]int{"7": 2}, 0},
		"a call":    {[]agent.Result{wants("Write", a)}, flow.Decided, "", "Write " + a, map[string]int{"call Write " + a: 2}, 0},
		"calls and answers are different votes": {[]agent.Result{wants("Write", a), answers("7"), wants("Write", b), wants("Write", a), wants("Write", a)},
			flow.Decided, "", "Write " + a, map[string]int{"call Write " + a: 3, "call Write " + b: 1, "7": 1}, 0},
		"an answer with the words beside a call is no call": {[]agent.Result{wants("Write", a), answers("I will"), answers("I will"), answers("I will")},
			flow.Decided, `"I will"`, "", map[string]int{"call Write " + a: 1, "I will": 3}, 0},
		"asking agrees whatever the words": {[]agent.Result{wants("Ask", `{"question":"Which?"}`), wants("Ask", `{"question":"What colour?"}`)},
			flow.Decided, "", `Ask {"question":"Which?"}`, map[string]int{"call Ask": 2}, 0},
		"a flag of the agent's": {[]agent.Result{{Text: "7", Flag: redflag.New(agent.FlagTooManyMoves, "no end")}, answers("7")},
			flow.Decided, `"7"`, "", map[string]int{"7": 2}, 1},
		"what was made readable is read": {[]agent.Result{{Text: "raw", Output: json.RawMessage("clean")}}, flow.Decided, `"clean"`, "", map[string]int{"clean": 2}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := &workers{results: test.results}
			ballot := New([]Voter{{Name: "w", Agent: w}}, readers, &Options{Tools: registry(t), BatchSize: 1})
			defer ballot.Close()
			q := question(firstToK(2, 9))
			q.Work = &flow.Work{Tools: []string{"Write", "mcp__gone__x", "Ask"}, MaxMoves: 5, Repair: flow.RepairSyntax}
			v, err := ballot.Decide(t.Context(), q, Watch{})
			if err != nil {
				t.Fatal(err)
			}
			intent := ""
			if v.Intent != nil {
				intent = v.Intent.Key()
			}
			if v.Status != test.status || string(v.Answer) != test.answer || intent != test.intent || v.Voting.RedFlagged != test.flagged {
				t.Errorf("Decide() = %s %s, intent %q, %d flagged, want %s %s, %q, %d", v.Status, v.Answer, intent, v.Voting.RedFlagged, test.status, test.answer, test.intent, test.flagged)
			}
			if diff := cmp.Diff(test.votes, v.Voting.Votes); diff != "" {
				t.Errorf("votes: -want +got\n%s", diff)
			}
			task := w.tasks[0]
			if len(task.Tools) != 2 || task.Tools[1].Name != "Ask" || task.MaxMoves != 5 || task.Repair != flow.RepairSyntax || task.Prompt != q.Prompt {
				t.Errorf("the agent was given %+v, want what the question says, without the tool that is not available", task)
			}
		})
	}
}

func TestWorkThatCannotBeDone(t *testing.T) {
	q := question(firstToK(1, 3))
	q.Work = &flow.Work{Tools: []string{"Fly"}}
	for name, b := range map[string]*Ballot{
		"no agent":    New(only(&script{}), readers, nil),
		"no registry": New([]Voter{{Agent: &workers{}}}, readers, nil),
	} {
		if v, err := b.Decide(t.Context(), q, Watch{}); err == nil {
			t.Errorf("Decide(%s) = %+v, want an error", name, v)
		}
		b.Close()
	}
	// One that is gone since somebody looked is left out.
	w := &workers{results: []agent.Result{answers("7")}}
	b := New([]Voter{{Agent: w}}, readers, &Options{Tools: registry(t)})
	defer b.Close()
	if v, err := b.Decide(t.Context(), q, Watch{}); err != nil || v.Status != flow.Decided || len(w.tasks[0].Tools) != 0 {
		t.Errorf("Decide(a tool that is gone) = %+v, %v, want it decided without the tool", v, err)
	}
}

func TestGroups(t *testing.T) {
	says := func(text string) []Voter { return only(&script{replies: texts(text, text, text)}) }
	b := New(says("default"), readers, &Options{Group: func(name string) ([]Voter, error) {
		if name != "cheap" {
			return nil, fmt.Errorf("nobody is called %q", name)
		}
		return says("cheap"), nil
	}})
	defer b.Close()
	for group, want := range map[string]string{"": `"default"`, "cheap": `"cheap"`, "other": ""} {
		q := question(firstToK(2, 9))
		q.Model = group
		v, err := b.Decide(t.Context(), q, Watch{})
		if want == "" {
			if err == nil {
				t.Errorf("Decide(group %q) = %+v, want an error", group, v)
			}
			continue
		}
		if err != nil || string(v.Answer) != want {
			t.Errorf("Decide(group %q) = %v, %v, want %s", group, v, err, want)
		}
	}
	alone := New(says("x"), readers, nil)
	defer alone.Close()
	q := question(firstToK(2, 9))
	q.Model = "cheap"
	if _, err := alone.Decide(t.Context(), q, Watch{}); err == nil || !strings.Contains(err.Error(), "cheap") {
		t.Errorf("Decide(a group where there is none) = %v, want an error that names it", err)
	}
}

// TestVariants: sample n is asked the n-th wording, modulo their number.
func TestVariants(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	m := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[req.Messages[0].Text]++
		return &model.Response{Text: "x", Stop: model.StopEnd}, nil
	})
	q := question(firstToK(6, 9))
	q.Variants = []string{"one", "two", "three"}
	if v := decide(t, m, nil, q); v.Status != flow.Decided {
		t.Fatalf("Decide() = %+v", v)
	}
	if diff := cmp.Diff(map[string]int{"one": 2, "two": 2, "three": 2}, asked); diff != "" {
		t.Errorf("asked: -want +got\n%s", diff)
	}
}

// TestCandidates: a vote without a winner says what it was between, most votes
// first.
func TestCandidates(t *testing.T) {
	v := decide(t, &script{replies: texts("a", "b", "b", "c")}, &Options{BatchSize: 1}, question(firstToK(3, 5)))
	want := []event.Candidate{{Answer: json.RawMessage(`"b"`), Votes: 2}, {Answer: json.RawMessage(`"a"`), Votes: 1}, {Answer: json.RawMessage(`"c"`), Votes: 1}}
	if diff := cmp.Diff(want, v.Candidates); v.Status != flow.Undecided || diff != "" {
		t.Errorf("Decide() = %s; candidates: -want +got\n%s", v.Status, diff)
	}
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	if v := decide(t, &script{replies: texts(many...)}, &Options{BatchSize: 1}, question(vote.Rule{Strategy: vote.Majority, N: 20, MaxSamples: 20})); len(v.Candidates) != maxCandidates {
		t.Errorf("Decide(20 answers) has %d candidates, want %d", len(v.Candidates), maxCandidates)
	}
}

// TestTimeout: a question that takes too long has failed; the run goes on.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := model.Func(func(ctx context.Context, _ *model.Request) (*model.Response, error) {
			<-ctx.Done()
			return nil, &model.Error{Kind: model.Cancelled, Err: ctx.Err()}
		})
		b := New(only(m), readers, nil)
		defer b.Close()
		q := question(firstToK(2, 9))
		q.TimeoutMS = 1500
		start := time.Now()
		v, err := b.Decide(t.Context(), q, Watch{})
		if err != nil || v.Status != flow.Failed || !strings.Contains(v.Reason, "1.5s") || time.Since(start) != 1500*time.Millisecond {
			t.Errorf("Decide() = %+v, %v after %s, want failed after 1.5s", v, err, time.Since(start))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		over := errors.New("over")
		cancel(over)
		if _, err := b.Decide(ctx, q, Watch{}); !errors.Is(err, over) {
			t.Errorf("Decide(cancelled) = %v, want that the run is over", err)
		}
	})
}
