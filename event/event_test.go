package event_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

var update = flag.Bool("update", false, "write the golden files anew")

func dollars(usd float64) *float64 { return &usd }

var (
	spent = usage.Spent{
		Calls: 41, Tokens: usage.Tokens{Input: 9000, CacheRead: 10, CacheWrite: 11, Output: 800, Reasoning: 12},
		USD: 0.0123, Unpriced: 1, NoPrice: true, Unreported: 3, Abandoned: 2, HeldUSD: 0.5, HeldTokens: 77, Wasted: 4,
	}
	sample = event.Sample{Voter: "m", Framing: 2,
		Question: "step/4", Step: 4, Sample: 1, Model: "sim/default?p=0.9&seed=7", Temperature: dollars(0.1),
		Tokens: usage.Tokens{Input: 120, CacheRead: 4, CacheWrite: 5, Output: 30, Reasoning: 6}, CostUSD: dollars(1e-7), DurationMS: 12,
		ToolCalls: 2, Intent: &intent, Repaired: true,
	}
	intent = event.Intent{Tool: "Write", Input: json.RawMessage(`{"content":"<a> & é","file_path":"a.txt"}`)}
	checks = []event.Check{{Name: "step_numbering", Passed: false, Step: new(int), Message: "step 0 is missing", Score: dollars(0.5)}}
	voting = event.Voting{
		Strategy: vote.FirstToK, Samples: 6, RedFlagged: 1, Faults: 2, Cancelled: 1,
		Votes: map[string]int{"b": 1, "a": 4}, Margin: 3, Unvoted: []string{"summary", "items.*.note"},
		ByModel:   map[string]map[string]int{"sim/default": {"b": 1, "a": 2}, "openai/gpt-4.1-mini": {"a": 2}},
		Shares:    []event.Share{{Voter: "m", Framing: 2, Votes: 5, Dissent: 2, Flagged: 1, CostUSD: new(0.25)}},
		Answers:   []event.Candidate{{Answer: json.RawMessage(`{"a":1}`), Votes: 3}, {Answer: json.RawMessage(`{"a":2}`), Votes: 2}},
		Discarded: []event.Discarded{{Flag: "too_long", Count: 1, Reason: "801 tokens", Said: "Well,"}},
		Policy:    7,
		Disputed:  3,
		GivenUp:   true,
	}
	setup = event.Setup{Model: "sim/default", Rule: vote.Rule{Strategy: vote.FirstToK, N: 5, K: 3, Target: .05, MinVotes: 2, MaxSamples: 150}, Simulated: true, Sandbox: "bubblewrap", Sessions: []event.Session{{
		Step: 2, Model: "compat/m", Rule: vote.Rule{Strategy: vote.Majority, N: 3, K: 1, Target: .01, MinVotes: 2, MaxSamples: 9}, Simulated: true,
	}}}
)

// transcript has an event of every type, with every field set, and then one of
// every type with nothing set.
func transcript() []event.Record {
	full := []event.Event{
		event.TaskSubmitted{
			Format: event.Format, Maker: "0.1.0", Kind: "hanoi", Form: event.FormChain, Task: "Towers of Hanoi with 3 disks",
			Params: json.RawMessage(`{"disks":3}`), Config: json.RawMessage(`{"model":"sim/default"}`), Steps: 7, Simulated: true, Setup: setup,
			Prompts: map[string]string{"planner_user": "0123456789abcdef"}, Races: 7, Checks: event.ChecksSteps, Class: "move", Owner: "ci", Keeper: "maker serve",
		},
		event.StepStarted{Step: 4, Title: "move", Request: []event.Value{event.JSONValue([]byte(`{"system":"s"}`))}},
		event.SampleCompleted{Sample: sample, Vote: `{"move":[1,0,2]}`, Text: event.TextValue("move = [1, 0, 2]\n"), Read: event.TextValue("[1,0,2]")},
		event.SampleRedFlagged{Sample: sample, Flag: "truncated", Reason: "it stops in the middle", Text: event.TextValue("move = [1")},
		event.SampleFaulted{Question: "step/4", Step: 4, Sample: 2, Kind: "rate_limited", Status: 429, Message: "sim: rate limited (HTTP 429)"},
		event.VoteCompleted{
			Question: "step/4", Class: "solve_atom", Pool: "strong", Step: 4, Scope: "step/4", Status: "decided", Answer: event.JSONValue(json.RawMessage(`{"a":[1,2]}`)),
			Reason: "none", Voting: voting, CostUSD: dollars(0.002), DurationMS: 40,
			Intent: &intent, Candidates: []event.Candidate{{Answer: json.RawMessage(`"a"`), Votes: 2}},
			Rule: setup.Rule, Spent: spent, Repaired: true,
			Asked: map[string]string{"prompt": "0123456789abcdef"}, Said: "no idea", Leads: []string{`"a"`}, Second: true,
		},
		event.VoteResumed{Question: "step/4", Step: 4, Samples: []int{0, 2}},
		event.QuestionChanged{Question: "step/4", Step: 4, Changed: []string{"prompt"}},
		event.PolicyChanged{
			Change:  adaptive.Change{Policy: 2, Class: "solve_atom@strong", Why: adaptive.WhyFit, Epoch: 1, Races: 12, Margins: []int{6, 10, 14}, GiveUp: []vote.Leads{{0, -1}, {0, -1}, {5, 9}}, PoolCost: 12.5},
			Outlook: adaptive.Outlook{Bound: .98, Forecast: .97, ExpectedWrong: .01, VotesToCome: 5000, USDToCome: new(12.5), Dearest: "solve_atom@strong"},
		},
		event.PolicyFutile{Futility: adaptive.Futility{Races: 500, NearTies: 9.5, Share: .006, Steps: 100000, Chance: 1e-100}},
		event.FramingRetired{Class: "solve_atom", Voter: "m", Framing: 3, Own: vote.Record{Samples: 25, Bad: 20}, Others: vote.Record{Samples: 100, Bad: 9}},
		event.Observed{Look: "plan/0/tools", Kind: "tools", Params: json.RawMessage(`{"a":1}`), Result: event.JSONValue(json.RawMessage(`["Read"]`))},
		event.EffectReleased{Effect: "step/4/effect/0", Step: 4, Tool: "Write"},
		event.StepCompleted{
			Step: 4, By: event.ByModel, Title: "move", Class: "end", Pool: "strong", First: &voting, Output: event.JSONValue(json.RawMessage(`{"a":[1,2]}`)),
			Voting: voting, CostUSD: dollars(0.002), DurationMS: 40, Spent: spent, Right: new(true), Loop: true, Rule: &vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 9},
		},
		event.StepFailed{Step: 5, Status: "undecided", Reason: "no answer won", Voting: voting, CostUSD: dollars(0.003), Output: event.JSONValue([]byte(`{"lang":"fr"}`)), Pool: "small", Spent: spent, Candidates: []event.Candidate{{Answer: json.RawMessage(`7`), Votes: 2}}},
		event.TaskCompleted{Steps: 7, Output: event.Value{Ref: &event.Ref{SHA256: strings.Repeat("ab", 32), Bytes: 123456}}, DurationMS: 9000, Spent: spent, Setup: setup, Futile: &adaptive.Futility{Races: 60, NearTies: 12, Share: .1, Steps: 1000, Chance: .01}},
		event.TaskFailed{Status: event.StatusStopped, Reason: "the calls are used up", Step: 5, Wrong: true, Final: true, Reopen: []string{"step/5"}, Stop: "max_calls", DurationMS: 9000, Spent: spent, Setup: setup, Output: event.TextValue("a draft"), Futile: &adaptive.Futility{Races: 60, NearTies: 12, Share: .1, Steps: 1000, Chance: .01},
			Open: []event.OpenVote{{Question: "step/5", Step: 5, Voting: event.Voting{Strategy: vote.FirstToK, Samples: 2, RedFlagged: 1, Faults: 1, Votes: map[string]int{"a": 1}, Margin: 1},
				Flag: "empty", Reason: "nothing there", Fault: "no answer"}}},
		event.BudgetExhausted{Limit: "max_usd", Max: "0.5", Spent: spent},
		event.RunResumed{Maker: "0.1.0", Step: 5, Config: json.RawMessage(`{"model":"sim/default"}`), Dropped: 17, Spent: spent, Setup: setup, Retry: []string{"failed"}, Params: json.RawMessage(`{"script":{"name":"a.star"}}`), Keeper: "maker serve"},
		event.RunCancelled{Reason: "interrupted", By: "maker cancel", Spent: spent},
		event.RunPaused{By: "maker pause", Spent: spent},
		event.BudgetClaimed{Calls: 3, Tokens: 400, USD: 0.5},
		event.EffectClaimed{Effect: "step/4/move/0", Step: 4, Scope: "step/4", Tool: "Write", Input: event.JSONValue(json.RawMessage(`{"file_path":"a.txt"}`)), Voting: voting, Approved: "person (terminal), who changed its arguments", By: event.ByCode, Again: true, Voted: event.JSONValue(json.RawMessage(`{"file_path":"b.txt"}`)), Before: &event.Before{Path: "a.txt", Kept: "before/1-a.txt"}, Looks: true},
		event.EffectDone{Effect: "step/4/move/0", Step: 4, Tool: "Write", Result: event.TextValue("wrote 3 bytes"), IsError: true, DurationMS: 3, By: "person (terminal)", Spent: spent},
		event.EffectRefused{Effect: "step/4/move/1", Step: 4, Tool: "Bash", Input: event.JSONValue(json.RawMessage(`{"file_path":"a.txt"}`)), Reason: "rule: deny Bash(rm)", By: "rule", Voting: voting},
		event.EffectUnknown{Effect: "step/4/move/2", Step: 4, Tool: "Bash", Input: event.JSONValue(json.RawMessage(`{"file_path":"a.txt"}`)), Reason: "interrupted"},
		event.ClarificationRequested{Question: "step/4/ask", Step: 4, Kind: event.ClarifyApproval, Text: "May Write be called?", Options: []string{"yes", "no"}, Free: true, Call: json.RawMessage(`{"tool":"Write"}`), Voting: &voting, Folder: "/work", Plan: "plan: []", Holds: "no file", Against: json.RawMessage(`{"type":"object"}`)},
		event.ClarificationProvided{Question: "step/4/ask", Step: 4, Answer: "yes", By: "terminal"},
		event.PlanCreated{Plan: event.TextValue("plan:"), Attempt: 1, Replan: 2, Repaired: true, Voting: voting, CostUSD: dollars(0.01), DurationMS: 7},
		event.ValidationPassed{Plan: event.TextValue("plan:"), Attempt: 1, Replan: 2, Score: dollars(0.9), Checks: checks, ChecksPassed: 17, ChecksSkipped: 1, Notes: []string{"step 0: it is left out"}},
		event.ValidationFailed{Attempt: 1, Replan: 2, Score: dollars(0.4), Checks: checks},
		event.ReplanRequested{Replan: 1, Step: 4, Reason: "it failed", Outputs: event.JSONValue(json.RawMessage(`[{"name":"step_0_output","output":1}]`))},
		event.OutlineCreated{Tasks: event.JSONValue(json.RawMessage(`[{"id":1}]`))},
		event.ContextCompacted{Step: 4, Before: 9000, After: 800, Summary: event.TextValue("so far"), LeftOut: "the details of task 1"},
		event.DecompositionSelected{
			Path: "0.1", Step: 4, Problem: event.TextValue("12 * 34"), Atomic: true, PartA: event.TextValue("12 * 30"), PartB: event.TextValue("12 * 4"),
			Compose: event.TextValue("add them"), By: event.ByDiscriminators, Reason: "no answer won", Score: 0.25, State: "9f86d081884c7d65",
		},
		event.SubproblemSolved{
			Path: "0.1.0", Step: 4, Problem: event.TextValue("12 * 30"), Solution: event.TextValue("360"), Work: event.TextValue("12 * 3 * 10"),
			Confidence: 0.9, By: event.ByMemo, From: "0.0", State: "9f86d081884c7d65",
		},
		event.AnswerComposed{
			Path: "0", Step: 4, Answer: event.JSONValue(json.RawMessage(`{"answer":"408"}`)), Confidence: 0.3, By: event.ByVote,
			Final: true, Draft: true, Reason: "it is not checked yet", State: "9f86d081884c7d65",
		},
		event.CompletenessChecked{
			Step: 4, Round: 1, Complete: true, Requirements: []event.Requirement{{Requirement: "the product", Status: "ADDRESSED", Reason: "it is there"}},
			Missing: []string{"in words"}, State: "9f86d081884c7d65",
		},
		event.Escalated{Path: "0.1", Step: 4, Question: "solve/0.1/solve", To: "diversity", Reason: "no answer won", Why: event.WhyCap},
		event.Calibrated{
			Problems: 5, Samples: 25, Valid: 24, Right: 20, Basis: "known", P: 0.8333, PLow: 0.6412, PHigh: 0.9332, PUsed: 0.7872,
			V: 0.96, VLow: 0.8046, VHigh: 0.9929, Confidence: 0.95, Target: 0.01, Steps: 7, K: 4, MaxK: 5, Limited: true,
			StepError: 0.0053, RunError: 0.0366, SamplesPerStep: 7.1, Reason: "the target needs a margin of 6",
			Assumes: "steps are like these", Measured: &event.Measured{
				Items: 60, Of: 80, Silent: 1, Deep: 55, Cells: []event.Cell{{Right: 4, Valid: 5, Items: 59}},
				BelowHalf: &event.Range{Value: 0.1, Low: 0.05, High: 0.2}, Greedy: &event.Range{Value: 0.9, Low: 0.8, High: 0.95},
				Voters: []event.MeasuredPart{{Name: "a", Samples: 5, P: &event.Range{Value: 0.5, High: 1}, V: event.Range{Value: 1, High: 1}}},
				Gain:   "unclear", Says: []string{"more items would tell"},
			},
		},
	}
	full = append(full, event.Noted{Step: 4, Text: "half done"})
	empty := []event.Event{
		event.TaskSubmitted{Form: event.FormChain}, event.StepStarted{}, event.SampleCompleted{}, event.SampleRedFlagged{}, event.SampleFaulted{},
		event.VoteCompleted{}, event.StepCompleted{}, event.StepFailed{}, event.TaskCompleted{}, event.TaskFailed{},
		event.BudgetExhausted{}, event.RunResumed{}, event.RunCancelled{}, event.BudgetClaimed{},
		event.VoteResumed{}, event.QuestionChanged{}, event.FramingRetired{}, event.Observed{}, event.EffectReleased{},
		event.EffectClaimed{}, event.EffectDone{}, event.EffectRefused{}, event.EffectUnknown{},
		event.ClarificationRequested{}, event.ClarificationProvided{},
		event.PlanCreated{}, event.ValidationPassed{}, event.ValidationFailed{}, event.ReplanRequested{}, event.ContextCompacted{}, event.OutlineCreated{},
		event.DecompositionSelected{}, event.SubproblemSolved{}, event.AnswerComposed{}, event.CompletenessChecked{}, event.Escalated{}, event.Calibrated{}, event.Noted{},
	}
	var records []event.Record
	for i, e := range append(full, empty...) {
		records = append(records, event.Record{
			Seq: uint64(i), Run: "hanoi-20260102-030405-abcde", Event: e,
			Time: time.Date(2026, 1, 2, 3, 4, 5, i*int(time.Millisecond), time.UTC),
		})
	}
	for i := range full { // an event may have a key
		if _, ok := records[i].Event.(event.StepCompleted); ok {
			records[i].Key = "plan/0/step/4/completed"
		}
	}
	return records
}

// TestTranscriptIsComplete holds the transcript against the types and the fields
// there are: a new one must be added to it.
func TestTranscriptIsComplete(t *testing.T) {
	types := map[event.Type]int{}
	for _, r := range transcript() {
		name := r.Event.Type()
		if types[name]++; types[name] == 1 {
			wantFieldsSet(t, string(name), reflect.ValueOf(r.Event))
		}
	}
	for _, name := range []event.Type{
		event.TypeTaskSubmitted, event.TypeStepStarted, event.TypeSampleCompleted, event.TypeSampleRedFlagged,
		event.TypeSampleFaulted, event.TypeVoteCompleted, event.TypeStepCompleted, event.TypeStepFailed,
		event.TypeTaskCompleted, event.TypeTaskFailed, event.TypeBudgetExhausted, event.TypeRunResumed, event.TypeRunCancelled,
		event.TypeBudgetClaimed, event.TypeEffectClaimed, event.TypeEffectDone, event.TypeEffectRefused, event.TypeEffectUnknown,
		event.TypeClarificationRequested, event.TypeClarificationProvided,
		event.TypePlanCreated, event.TypeValidationPassed, event.TypeValidationFailed, event.TypeReplanRequested, event.TypeContextCompacted, event.TypeOutlineCreated, event.TypeNoted,
		event.TypeDecompositionSelected, event.TypeSubproblemSolved, event.TypeAnswerComposed, event.TypeCompletenessChecked, event.TypeEscalated, event.TypeCalibrated,
	} {
		if types[name] != 2 {
			t.Errorf("the transcript has %d events of type %s, want 2", types[name], name)
		}
	}
}

func wantFieldsSet(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[event.Value]() {
		if v.IsZero() {
			t.Errorf("the transcript does not set %s", name)
		}
		return
	}
	for i := range v.NumField() {
		wantFieldsSet(t, name+"."+v.Type().Field(i).Name, v.Field(i))
	}
}

func TestRoundTrip(t *testing.T) {
	for _, want := range transcript() {
		line, err := want.AppendJSON(nil)
		if err != nil {
			t.Fatalf("AppendJSON(%s) = %v", want.Event.Type(), err)
		}
		got, err := event.Decode(line)
		if err != nil {
			t.Fatalf("Decode(%s) = %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Decode(%s): -want +got\n%s", line, diff)
		}
		again, err := json.Marshal(want)
		if err != nil || !sameJSON(t, line, again) {
			t.Errorf("json.Marshal(record) = %s, %v, want %s", again, err, line)
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return cmp.Equal(object(t, a), object(t, b))
}

func object(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%s is no JSON object: %v", line, err)
	}
	return m
}

// TestGolden keeps the form of the log: what is in the golden file was written
// by this release and must be written and read the same by later ones.
func TestGolden(t *testing.T) {
	var got []byte
	for _, r := range transcript() {
		var err error
		if got, err = r.AppendJSON(got); err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
	}
	path := filepath.Join("testdata", "transcript.jsonl")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("the form of events changed: -%s +now\n%s", path, diff)
	}
	records := transcript()
	for i, line := range bytes.Split(bytes.TrimSuffix(want, []byte("\n")), []byte("\n")) {
		r, err := event.Decode(line)
		if err != nil {
			t.Fatalf("Decode(%s) = %v", line, err)
		}
		if diff := cmp.Diff(records[i], r); diff != "" {
			t.Errorf("Decode(%s): -want +got\n%s", line, diff)
		}
	}
}

func TestHeaderComesFirst(t *testing.T) {
	for _, r := range transcript() {
		line, err := r.AppendJSON([]byte("before "))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`before {"type":"%s","seq":%d,"timestamp":"2026-01-02T03:04:05.%03dZ","run":"hanoi-20260102-030405-abcde"`,
			r.Event.Type(), r.Seq, r.Seq)
		if !strings.HasPrefix(string(line), want) {
			t.Errorf("AppendJSON(%s) = %s, want it to begin with %s", r.Event.Type(), line, want)
		}
		if bytes.ContainsRune(line, '\n') || !json.Valid(bytes.TrimPrefix(line, []byte("before "))) {
			t.Errorf("AppendJSON(%s) = %s, want one line of JSON", r.Event.Type(), line)
		}
	}
}

func TestTimestampIsUTCToTheMillisecond(t *testing.T) {
	at := time.Date(2026, 7, 1, 0, 30, 0, 987_654_321, time.FixedZone("east", 2*60*60))
	line, err := event.Record{Time: at, Event: event.StepStarted{}}.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"timestamp":"2026-06-30T22:30:00.987Z"`; !strings.Contains(string(line), want) {
		t.Errorf("AppendJSON = %s, want %s in it", line, want)
	}
}

// strange are names and texts that a careless encoder breaks on.
var strange = []string{
	"", "plain", `quote " and \ backslash`, "<script>&amp;</script>", "tab\tnew\nline\r\x00\x1b\x7f",
	"Türme von Hanoi", "ハノイの塔", "🗼🗼", "e\u0301", "line\u2028separator\u2029", "\ufeffmark", "{\"type\":\"x\"}",
	`","seq":99,"run":"other`, strings.Repeat("long ", 5000),
}

func TestStrangeTexts(t *testing.T) {
	for _, s := range strange {
		for _, e := range []event.Event{
			event.StepStarted{Title: s},
			event.SampleCompleted{Vote: s, Text: event.TextValue(s)},
			event.StepCompleted{Title: s, Output: event.TextValue(s), Voting: event.Voting{Votes: map[string]int{s: 3}}},
			event.StepCompleted{Voting: event.Voting{Votes: map[string]int{s: 3, s + "'": 2}}},
			event.TaskFailed{Reason: s},
		} {
			want := event.Record{Seq: 1 << 60, Time: time.UnixMilli(0).UTC(), Run: s, Key: s, Event: e}
			line, err := want.AppendJSON(nil)
			if err != nil {
				t.Fatalf("AppendJSON(%q) = %v", s, err)
			}
			if bytes.ContainsAny(line, "\n\r") {
				t.Errorf("AppendJSON(%q) = %q, want one line", s, line)
			}
			got, err := event.Decode(line)
			if err != nil {
				t.Fatalf("Decode(%q) = %v", line, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Decode(%q): -want +got\n%s", line, diff)
			}
		}
	}
}

func TestDecodePassesOverWhatItDoesNotKnow(t *testing.T) {
	line := []byte(`{"type":"step_started","seq":3,"timestamp":"2026-01-02T03:04:05Z","run":"r","step":2,"colour":{"deep":[1]},"title":"t"}`)
	got, err := event.Decode(line)
	if err != nil {
		t.Fatalf("Decode(unknown field) = %v", err)
	}
	if diff := cmp.Diff(event.StepStarted{Step: 2, Title: "t"}, got.Event); diff != "" {
		t.Errorf("Decode(unknown field): -want +got\n%s", diff)
	}

	line = []byte(`{"type":"from_the_future","seq":4,"timestamp":"2026-01-02T03:04:05.678901Z","run":"r","step":2, "x":1}`)
	got, err = event.Decode(line)
	if err != nil {
		t.Fatalf("Decode(unknown type) = %v", err)
	}
	want := event.Record{
		Seq: 4, Time: time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC), Run: "r",
		Event: event.Unknown{Name: "from_the_future", Line: json.RawMessage(bytes.Clone(line))},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode(unknown type): -want +got\n%s", diff)
	}
	if name := got.Event.Type(); name != "from_the_future" {
		t.Errorf("Type() = %q, want from_the_future", name)
	}
	again, err := got.AppendJSON(nil)
	if err != nil || !bytes.Equal(again, line) {
		t.Errorf("AppendJSON(unknown) = %s, %v, want the line as it was", again, err)
	}
	// The line is a copy: readers use their buffers again.
	clear(line)
	if again, _ := got.AppendJSON(nil); !bytes.HasPrefix(again, []byte(`{"type"`)) {
		t.Errorf("the line of an unknown event changed with the buffer it was read from: %q", again)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, line := range []string{
		``, `x`, `null`, `[]`, `"step_started"`, `{}`, `{"type":""}`, `{"type":7}`,
		`{"type":"step_started","step":"two"}`,
		`{"type":"step_started","seq":-1}`,
		`{"type":"step_started","timestamp":"yesterday"}`,
		`{"type":"step_completed","output":{"$sha256":7}}`,
		`{"type":"step_started"} {"type":"step_started"}`,
	} {
		if r, err := event.Decode([]byte(line)); err == nil {
			t.Errorf("Decode(%s) = %+v, want an error", line, r)
		}
	}
}

func TestEncodeReportsWhatIsNotJSON(t *testing.T) {
	r := event.Record{Event: event.TaskSubmitted{Params: json.RawMessage(`{"a":`)}}
	if line, err := r.AppendJSON(nil); err == nil || !strings.Contains(err.Error(), "task_submitted") {
		t.Errorf("AppendJSON(broken parameters) = %s, %v, want an error that names task_submitted", line, err)
	}
}

func TestContestedAndSplit(t *testing.T) {
	tests := []struct {
		votes     map[string]int
		split     string
		contested bool
	}{
		{nil, "", false},
		{map[string]int{"a": 3}, "3", false},
		{map[string]int{"a": 1, "b": 12, "c": 5}, "12-5-1", true},
		{map[string]int{"a": 2, "b": 2}, "2-2", true},
	}
	for _, test := range tests {
		v := event.Voting{Votes: test.votes}
		if v.Split() != test.split || v.Contested() != test.contested {
			t.Errorf("votes %v: Split() = %q, Contested() = %t, want %q, %t", test.votes, v.Split(), v.Contested(), test.split, test.contested)
		}
	}
}

// TestFieldNames: a log that has other names cannot be read.
func TestFieldNames(t *testing.T) {
	names := event.FieldNames(struct {
		Inner []map[string]*struct {
			Deep int `json:"deep_name,omitempty"`
		} `json:"inner_name"`
		Hidden int `json:"-"`
	}{})
	for _, want := range []string{"type", "timestamp", "voting", "votes", "red_flagged", "duration_ms", "$sha256", "$value", "max_samples", "reopen", "inner_name", "deep_name"} {
		if !slices.Contains(names, want) {
			t.Errorf("FieldNames() = %q, want %q among them", names, want)
		}
	}
	if slices.Contains(names, "-") || slices.Contains(names, "") || !slices.IsSorted(names) {
		t.Errorf("FieldNames() = %q, want names only, sorted", names)
	}
}
