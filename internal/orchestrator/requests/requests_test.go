package requests_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/requests"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/test/flowtest"
)

func request(t *testing.T, text string, then requests.OnUndecided) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(requests.Request{
		OnUndecided: then, Chat: flow.Chat{Messages: []flow.ChatMessage{{Role: "user", Text: text}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// decide answers "split" with two texts that have a vote each, "act" with two calls, and
// whoever is to choose takes the second one.
func decide(key string, q *flow.Question) (*flow.Verdict, error) {
	undecided := func(answers ...string) (*flow.Verdict, error) {
		cost := 0.25
		v := &flow.Verdict{Status: flow.Undecided, Reason: "they disagree", CostUSD: &cost, Voting: event.Voting{Samples: len(answers)}}
		for _, a := range answers {
			v.Candidates = append(v.Candidates, event.Candidate{Answer: json.RawMessage(a), Votes: 1})
		}
		return v, nil
	}
	switch {
	case strings.HasSuffix(key, "/judge"):
		if !strings.Contains(q.Variants[1], "<asked>\nsplit\n</asked>\n\n<answer_b>\ntwo") {
			return nil, fmt.Errorf("the judge is asked %q", q.Variants[1])
		}
		v, cost := flowtest.Decided(q, `"b"`), 0.5
		v.CostUSD = &cost
		return v, nil
	case q.Chat.LastSaid() == "split":
		return undecided(`{"text":"one"}`, `{"text":"two"}`)
	case q.Chat.LastSaid() == "act":
		return undecided(`{"calls":[{"id":"1","name":"remove","input":{}}]}`, `{"text":"two"}`)
	}
	return flowtest.Decided(q, `{"text":"yes"}`), nil
}

// TestPolicies: what is not agreed on stays undecided, whatever is answered all the same, and
// calls are never answered without a vote.
func TestPolicies(t *testing.T) {
	set, err := prompts.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := flowtest.New(decide)
	f.Requests = []json.RawMessage{
		request(t, "agree", ""), request(t, "split", requests.SayUndecided), request(t, "split", requests.TakeFirst),
		request(t, "split", requests.TakeJudged), request(t, "act", requests.TakeFirst), request(t, "act", requests.TakeJudged),
	}
	if err := requests.Run(f, requests.Config{Prompts: set}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range f.Events {
		switch e := e.(type) {
		case event.StepStarted:
			got = append(got, fmt.Sprintf("%d %s", e.Step, e.Title))
		case event.StepCompleted:
			got = append(got, e.Output.Compact())
		case event.StepFailed:
			got = append(got, fmt.Sprintf("%s: %s %s", e.Status, e.Reason, e.Output.Compact()))
		case event.TaskCompleted:
			got = append(got, "completed")
		}
	}
	want := []string{
		"0 agree", `{"text":"yes"}`,
		"1 split", "undecided: they disagree ",
		"2 split", `undecided: they disagree; answered all the same: first {"text":"one"}`,
		"3 split", `undecided: they disagree; answered all the same: judge {"text":"two"}`,
		"4 act", "undecided: they disagree ",
		"5 act", "undecided: they disagree ", "completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if cost := f.Answers[3].CostUSD; cost == nil || *cost != 0.75 {
		t.Errorf("a request that was judged took %v dollars, want 0.75: what voters and judges took", cost)
	}
	for i, answered := range []bool{true, false, true, true, false, false} {
		if v := f.Answers[i]; (v.Answer != nil) != answered || (v.Status == flow.Decided) != (i == 0) {
			t.Errorf("request %d: %s with %s", i, v.Status, v.Answer)
		}
	}
}
