package solver

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/test/flowtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
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
		t.Errorf("%s: -want +got\n%s", path, diff)
	}
}

// transcript writes down what a run asked and said.
func transcript(t *testing.T, f *flowtest.Flow) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, key := range f.Asked {
		fmt.Fprintf(&b, "asked %s\n", key)
	}
	for _, e := range f.Events {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		// What the runtime fills in is not of interest, nor are accounts.
		for _, name := range []string{"spent", "cost_usd", "duration_ms", "rule"} {
			delete(fields, name)
		}
		if step, ok := e.(event.StepCompleted); ok {
			fields["voting"] = step.Voting.Split()
			delete(fields, "output")
		}
		fmt.Fprintf(&b, "%s %s\n", e.Type(), encode(fields))
	}
	return b.Bytes()
}

func TestTranscripts(t *testing.T) {
	direct, code, free := config, config, config
	direct.NoDirect = false
	code.ComposeByCode = true
	free.Domain, free.Adapter = "anything", anything{}
	for _, test := range []struct {
		name, problem string
		cfg           Config
		voters        voters
	}{
		{"direct", "1+2", direct, adders},
		{"recursive", "1+2+3+4", direct, adders},
		{"memo", "1+2+3+1+2+4", config, adders},
		{"gaps", "1+2+3", free, voters(adders).but(forgetful)},
		{"corrected", "1+2+3", config, voters(adders).but(hasty)},
		{"by_code", "1+2+3+4", code, adders},
		{"discriminators", "1+2+3", config, voters(adders).but(divided)},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden(t, test.name+".txt", transcript(t, run(t, test.problem, test.cfg, test.voters)))
		})
	}
}

// forgetful voters leave the last number to be added later.
func forgetful(a asked) string {
	switch {
	case a.Ask == "answer" && a.Problem == "1+2+3" && a.B.Problem == "3":
		return answer(a.A.Solution)
	case a.Ask == "check" && a.Answer == "3":
		return incomplete("3+0")
	default:
		return ""
	}
}

// hasty voters get the answer right only when they are told what is wrong.
func hasty(a asked) string {
	if a.Ask == "answer" && a.Wrong == "" {
		return answer("5")
	}
	return ""
}

// divided voters propose two ways to split.
func divided(a asked) string {
	if a.Ask == "decompose" && a.Problem == "1+2+3" && a.sample%2 == 1 {
		return parts("1+3", "2")
	}
	return ""
}

func TestDirect(t *testing.T) {
	cfg := config
	cfg.NoDirect = false
	for _, test := range []struct {
		name   string
		voters voters
		direct bool
		draft  string
	}{
		{"right", func(asked) string { return solution("6") }, true, ""},
		{"right in other words", func(a asked) string { return solution(strings.Repeat(" ", a.sample) + "6") }, true, ""},
		{"agreed but wrong", func(asked) string { return solution("7") }, false, "7"},
		{"not agreed", func(a asked) string { return solution(fmt.Sprint(5 + a.sample)) }, false, "5"},
		{"not valid", func(asked) string { return "six" }, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := run(t, "1+2+3", cfg, voters(adders).but(func(a asked) string {
				if a.Ask == "solve" && a.Problem == "1+2+3" {
					return test.voters(a)
				}
				return ""
			}))
			got, failure := result(t, f)
			if strings.TrimSpace(got.Answer) != "6" || failure != "" {
				t.Errorf("result = %+v, %s, want 6", got, failure)
			}
			want := StatusComposed
			if test.direct {
				want = StatusDirect
			}
			if got.Status != want {
				t.Errorf("status = %s, want %s", got.Status, want)
			}
			drafts := eventsOf[event.AnswerComposed](f)
			if first := mustDecode[Result](t, drafts[0].Answer.JSON); test.draft != "" && (first.Answer != test.draft || first.Confidence != DraftConfidence) {
				t.Errorf("the first draft is %+v, want %s", first, test.draft)
			}
			if escalated := len(eventsOf[event.Escalated](f)); (escalated == 0) != test.direct {
				t.Errorf("%d escalations, want one if the direct attempt is not accepted", escalated)
			}
		})
	}
}

// TestDirectIsCheap: the direct attempt gives up early and asks for the same
// margin as every vote.
func TestDirectIsCheap(t *testing.T) {
	cfg := config
	cfg.NoDirect = false
	cfg.Rule.K, cfg.Rule.MaxSamples = 3, 20
	var rules []string
	decide := decider(t, adders)
	f := newFlow(t, func(key string, q *flow.Question) (*flow.Verdict, error) {
		if key == DirectKey {
			rules = append(rules, fmt.Sprint(q.Rule.K, " of ", q.Rule.MaxSamples))
		}
		return decide(key, q)
	})
	if err := Run(f, "1+2+3", cfg); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"3 of 5"}, rules); diff != "" {
		t.Errorf("the rule of the direct attempt: -want +got\n%s", diff)
	}
}

// TestFailures are the ways in which solving can go wrong for good. Each ends, in
// a bounded number of questions, with the reason.
func TestFailures(t *testing.T) {
	counted := 0
	free := config
	free.Domain, free.Adapter = "anything", anything{}
	for _, test := range []struct {
		name    string
		cfg     Config
		problem string
		voters  voters

		answer  string // of the result or the draft; "" for none
		failure string // how it ended; "" for success
		remark  string // in the result
		most    int    // questions
	}{
		{
			"never atomic", free, "grow", func(a asked) string {
				switch a.Ask {
				case "decompose":
					counted++
					return parts(fmt.Sprint("left ", (counted-1)/2), fmt.Sprint("right ", (counted-1)/2)) // agreed by two samples
				case "check":
					return complete()
				case "answer":
					return answer("done")
				default:
					return solution("done")
				}
			}, "done", "", "the depth limit is 3", 7 + 8 + 7 + 1, // splits, solutions, compositions and the check
		},
		{
			"repeats itself", config, "1+2+3", voters(adders).but(func(a asked) string {
				if a.Ask == "decompose" {
					return parts("1+2+3", "0")
				}
				if a.Ask == "solve" && a.Problem != "1+2+3" {
					t.Errorf("asked to solve %q, want nothing but the problem", a.Problem)
				}
				return ""
			}), "too many: 0", "undecided: solve 0: no answer won; nobody agrees on how to split it: all were discarded: tautology; 0 is taken as atomic", "nobody agrees on how to split it", 8,
		},
		{
			"a part is above it", config, "1+2+3+4", voters(adders).but(func(a asked) string {
				if a.Ask == "decompose" && a.Problem == "1+2" {
					return parts("1+2+3+4", "0")
				}
				return ""
			}), "10", "", "0.0 is taken as atomic: nobody agrees on how to split it", 12,
		},
		{
			"tautology", config, "1+2", voters(adders).but(func(a asked) string {
				if a.Ask == "decompose" {
					return parts("1", "1 .")
				}
				return ""
			}), "3", "", "0 is taken as atomic", 6,
		},
		{
			"never agrees", config, "1+2+3", voters(adders).but(func(a asked) string {
				if a.Ask == "solve" {
					return solution(fmt.Sprint(a.sample))
				}
				return ""
			}), "", "undecided: solve 0.1: no answer won; nobody agrees on how to split it: all were discarded: tautology", "", 20,
		},
		{
			"agrees on nonsense", config, "1+2+3", voters(adders).but(func(a asked) string {
				if a.Ask == "solve" {
					return solution("99")
				}
				return ""
			}), "", "failed: solve 0.1: the verifier: 3 is not 99; nobody agrees on how to split it", "", 20,
		},
		{
			"all invalid", config, "1+2+3", voters(adders).but(func(a asked) string {
				if a.Ask == "solve" {
					return `{"solution": "n/a", "confidence": 1, "work_shown": ""}`
				}
				return ""
			}), "", "failed: solve 0.1: all were discarded: pattern; nobody agrees", "", 20,
		},
		{
			"the composer fails", config, "1+2+3+4+5", voters(adders).but(func(a asked) string {
				if a.Ask == "compose" {
					return "I would add them up."
				}
				return ""
			}), "15", "", "0.0 was put together by code: all were discarded: schema_invalid", 20,
		},
		{
			"the final composer fails", config, "1+2+3", voters(adders).but(func(a asked) string {
				if a.Ask == "answer" {
					return answer(fmt.Sprint(40 + a.sample))
				}
				return ""
			}), "6", "", "0 was put together by code: no answer won", 20,
		},
		{
			"the answer is wrong", config, "1+2+3", voters(adders).but(func(a asked) string {
				if a.Ask == "answer" {
					return answer("7")
				}
				return ""
			}), "7", "failed: 2 rounds of filling gaps changed nothing: the answer is wrong: 1+2+3 is not 7", "", 20,
		},
		{
			"never complete", config, "1+2+3", voters(adders).but(func(a asked) string {
				switch {
				case a.Ask == "check":
					return incomplete(fmt.Sprint("0+", len(a.Notes)))
				case a.Ask == "answer":
					return answer("6")
				}
				return ""
			}), "6", "failed: after 2 rounds of filling gaps: something is missing: 0+", "", 20,
		},
		{
			"never complete in the same way", config, "1+2+3", voters(adders).but(func(a asked) string {
				switch {
				case a.Ask == "check":
					return incomplete("0+6")
				case a.Ask == "answer":
					return answer("6")
				}
				return ""
			}), "6", "failed: after 2 rounds of filling gaps: something is missing: 0+6", "", 20,
		},
		{
			"nobody knows whether it is complete", config, "1+2+3", voters(adders).but(func(a asked) string {
				if a.Ask == "check" && a.sample%2 == 0 {
					return incomplete("0+6")
				}
				return ""
			}), "6", "undecided: check: no answer won", "", 20,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			counted = 0
			cfg := test.cfg
			cfg.MaxDepth = 3
			cfg.Escalate = []Escalation{Diversity, Model, Split}
			if test.cfg.Adapter == free.Adapter {
				cfg.Escalate = []Escalation{}
			}
			f := run(t, test.problem, cfg, test.voters)
			got, failure := result(t, f)
			if got.Answer != test.answer {
				t.Errorf("answer = %q, want %q", got.Answer, test.answer)
			}
			if !strings.HasPrefix(failure, test.failure) || (failure == "") != (test.failure == "") {
				t.Errorf("failure = %q, want %q", failure, test.failure)
			}
			if failure != "" && test.answer != "" && (got.Status != StatusDraft || got.Confidence != DraftConfidence || !strings.Contains(failure, "best draft has a confidence of 0.3")) {
				t.Errorf("result = %+v (%s), want a draft with confidence 0.3 that is called one", got, failure)
			}
			if failure != "" && test.answer == "" && !strings.HasSuffix(failure, "there is no draft") {
				t.Errorf("failure = %q, want that there is no draft", failure)
			}
			if remarks := strings.Join(got.Remarks, "\n"); !strings.Contains(remarks, test.remark) {
				t.Errorf("remarks = %q, want %q", remarks, test.remark)
			}
			if len(f.Asked) > test.most {
				t.Errorf("%d questions, want at most %d:\n%s", len(f.Asked), test.most, strings.Join(f.Asked, "\n"))
			}
			checkSteps(t, f)
		})
	}
}

// checkSteps verifies that steps are committed in order, without gaps, and that a
// failure is the last thing that happens.
func checkSteps(t *testing.T, f *flowtest.Flow) {
	t.Helper()
	next := 0
	for i, e := range f.Events {
		switch e := e.(type) {
		case event.StepCompleted:
			if e.Step != next {
				t.Errorf("step %d is committed where %d belongs", e.Step, next)
			}
			next++
		case event.StepFailed:
			if _, ok := f.Events[i+1].(event.TaskFailed); e.Step != next || !ok || len(f.Events) != i+2 {
				t.Errorf("step %d failed where %d belongs, or it is not the end", e.Step, next)
			}
		case event.TaskCompleted:
			if e.Steps != next || len(f.Events) != i+1 {
				t.Errorf("%d steps completed, want %d, and nothing after it", e.Steps, next)
			}
		}
	}
}

// TestFlowErrors: whatever the flow says ends the run at once, unchanged, and the
// draft is known by then.
func TestFlowErrors(t *testing.T) {
	over := errors.New("out of tokens")
	cfg := config
	cfg.NoDirect = false
	total := len(run(t, "1+2+3+4", cfg, adders).Asked)
	for stop := range total {
		decide := decider(t, adders)
		f := newFlow(t, nil)
		f = newFlow(t, func(key string, q *flow.Question) (*flow.Verdict, error) {
			if len(f.Asked) > stop {
				return nil, over
			}
			return decide(key, q)
		})
		if err := Run(f, "1+2+3+4", cfg); err != over {
			t.Errorf("Run() = %v after %d questions, want %v", err, stop, over)
		}
		for _, e := range f.Events {
			switch e.(type) {
			case event.TaskFailed, event.TaskCompleted, event.StepFailed:
				t.Errorf("%s after %d questions, want no end: the run has not ended by itself", e.Type(), stop)
			}
		}
		if drafts := eventsOf[event.AnswerComposed](f); stop > 0 && (len(drafts) == 0 || !drafts[0].Draft) {
			t.Errorf("no draft after %d questions", stop)
		}
	}
}

// TestAllThatFailedIsTriedAgain: after an outage every part of the round is asked
// again, not only the first that failed.
func TestAllThatFailedIsTriedAgain(t *testing.T) {
	decide := decider(t, adders)
	f := newFlow(t, func(key string, q *flow.Question) (*flow.Verdict, error) {
		if strings.HasSuffix(key, "/solve") {
			return &flow.Verdict{Status: flow.Failed, Reason: "connection refused"}, nil
		}
		return decide(key, q)
	})
	cfg := config
	cfg.Escalate = []Escalation{}
	if err := Run(f, "1+2+3+4", cfg); err != nil {
		t.Fatal(err)
	}
	end, ok := f.Events[len(f.Events)-1].(event.TaskFailed)
	if !ok {
		t.Fatalf("Run() ended with %+v, want that it failed", f.Events[len(f.Events)-1])
	}
	below := flow.Below(end.Reopen)
	asked := 0
	for _, key := range f.Asked {
		if strings.HasSuffix(key, "/solve") {
			asked++
			if !below(key) {
				t.Errorf("%s is not asked again: %q", key, end.Reopen)
			}
		}
	}
	if asked < 2 {
		t.Errorf("%d parts were asked, want several", asked)
	}
}

// TestForetold: an answer to the whole, direct or composed, says what is asked about it next;
// a flow compares that with what is asked.
func TestForetold(t *testing.T) {
	direct := config
	direct.NoDirect = false
	for problem, cfg := range map[string]Config{"1+2": direct, "1+2+3": config} {
		if f := run(t, problem, cfg, adders); !slices.Equal(f.Foretold, []string{checkKey(0)}) {
			t.Errorf("of the questions about %s %q were foretold, want the check", problem, f.Foretold)
		}
	}
}
