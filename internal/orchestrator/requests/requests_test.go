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
	"github.com/maker-mdap/maker/vote"
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

// TestAddressed: a request that says whom it is put to, and how that is decided, is put to them
// by these terms, whoever chooses in the end too, and the log has both.
func TestAddressed(t *testing.T) {
	set, err := prompts.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 20}, MaxOutput: 7}
	theirs := flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 5, MaxSamples: 50}, MaxOutput: 9}
	var asked []string
	f := flowtest.New(func(key string, q *flow.Question) (*flow.Verdict, error) {
		asked = append(asked, fmt.Sprintf("%s k %d, %d tokens", q.Model, q.Rule.K, q.MaxOutput))
		return decide(key, q)
	})
	for _, text := range []string{"agree", "split"} {
		for _, r := range []requests.Addressed{{}, {Model: "x/y", Terms: &theirs}, {Terms: &theirs}} {
			r.Chat.Messages, r.OnUndecided = []flow.ChatMessage{{Role: "user", Text: text}}, requests.TakeJudged
			data, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			f.Requests = append(f.Requests, data)
		}
	}
	if err := requests.Run(f, requests.Config{Prompts: set, Terms: own}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		" k 3, 7 tokens", "x/y k 5, 9 tokens", " k 5, 9 tokens",
		" k 3, 7 tokens", "reasoning k 3, 7 tokens", "x/y k 5, 9 tokens", "reasoning k 5, 9 tokens", " k 5, 9 tokens", "reasoning k 5, 9 tokens",
	}, asked); diff != "" {
		t.Errorf("who is asked: -want +got\n%s", diff)
	}
	var logged []string
	for _, e := range f.Events {
		switch e := e.(type) {
		case event.StepStarted:
			logged = append(logged, "asked "+e.Request[0].Compact())
		case event.StepCompleted:
			k := 0
			if e.Rule != nil {
				k = e.Rule.K
			}
			logged = append(logged, fmt.Sprintf("decided by %q, k %d", e.Pool, k))
		case event.StepFailed:
			logged = append(logged, fmt.Sprintf("undecided by %q", e.Pool))
		}
	}
	head, terms := `asked {"chat":{"messages":null},`, `,"terms":{"flags":null,"max_output":9,"rule":{"k":5,"max_samples":50,"strategy":"first_to_k"}}}`
	plain, both, rule := head+`"on_undecided":"judge"}`, head+`"model":"x/y","on_undecided":"judge"`+terms, head+`"on_undecided":"judge"`+terms
	if diff := cmp.Diff([]string{
		plain, `decided by "", k 0`, both, `decided by "x/y", k 5`, rule, `decided by "", k 5`,
		plain, `undecided by ""`, both, `undecided by "x/y"`, rule, `undecided by ""`,
	}, logged); diff != "" {
		t.Errorf("the log: -want +got\n%s", diff)
	}
}
