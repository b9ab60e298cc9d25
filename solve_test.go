package maker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// scripted is a model that answers by rules, one a line: a pattern of the input,
// " => ", and the answers, separated by " | ". With "=1>" the answers are given in
// order, and the last one for ever.
func scripted(t *testing.T, rules string) string {
	t.Helper()
	type answer struct {
		Text string `json:"text"`
	}
	type rule struct {
		Match    string   `json:"match"`
		Sequence bool     `json:"sequence"`
		Answers  []answer `json:"answers"`
	}
	var list []rule
	for line := range strings.Lines(rules) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		pattern, answers, ok := strings.Cut(line, " => ")
		r := rule{}
		if !ok {
			pattern, answers, ok = strings.Cut(line, " =1> ")
			r.Sequence = true
		}
		if !ok {
			t.Fatalf("no rule: %s", line)
		}
		r.Match = pattern
		for text := range strings.SplitSeq(answers, " | ") {
			r.Answers = append(r.Answers, answer{short(text)})
		}
		list = append(list, r)
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return "sim/default?script=" + file
}

// short writes an answer out: "s:7" is a solution, "a:7" an answer, "p:x;y" a
// proposal, "atom" that there is none, "ok" a complete check and "no:x" one that
// misses x. Anything else stands as it is.
func short(text string) string {
	kind, rest, _ := strings.Cut(text, ":")
	quote := func(s string) string {
		data, _ := json.Marshal(s) // of a string it cannot fail
		// A script has references to what its pattern captured, which may follow a
		// dollar sign only.
		return string(data)
	}
	switch kind {
	case "s":
		return fmt.Sprintf(`{"solution":%s,"confidence":0.9,"work_shown":"so it is"}`, quote(rest))
	case "a":
		return fmt.Sprintf(`{"answer":%s,"confidence":0.9,"support":{"summary":"so it is","equations":[],"points":[]}}`, quote(rest))
	case "p":
		a, b, _ := strings.Cut(rest, ";")
		return fmt.Sprintf(`{"subproblem_a":%s,"subproblem_b":%s,"compose_fn":"join","is_atomic":false,"rationale":"r"}`, quote(a), quote(b))
	case "atom":
		return `{"subproblem_a":"","subproblem_b":"","compose_fn":"","is_atomic":true,"rationale":"r"}`
	case "ok":
		return `{"requirements":[{"requirement":"it","status":"ADDRESSED","reason":"r"}],"complete":true,"missing_work":[]}`
	case "no":
		return fmt.Sprintf(`{"requirements":[{"requirement":"it","status":"MISSING","reason":"r"}],"complete":false,"missing_work":[%s]}`, quote(rest))
	default:
		return text
	}
}

// Rules for the problem "whole", which nobody can solve as it is; its parts are
// "left" and "right".
const (
	disagree = `"ask":"solve","problem":"whole" =1> ` + never + "\n"
	halves   = `"ask":"decompose","problem":"whole" => p:left;right
"ask":"decompose" => atom
`
	parts = `"ask":"solve","problem":"left" => s:L
"ask":"solve","problem":"right" => s:R
`
	joined = `"ask":"answer" => a:LR
`
	checked = `"ask":"check" => ok
`
	everything = disagree + halves + parts + joined + checked

	never = "s:1 | s:2 | s:3 | s:4 | s:5 | s:6 | s:7 | s:8 | s:9 | s:10 | s:11 | s:12 | s:13 | s:14 | s:15 | s:16 | s:17 | s:18 | s:19 | s:20"
)

func solve(t *testing.T, e *maker.Engine, problem string) *maker.Run {
	t.Helper()
	run, err := e.Solve(t.Context(), problem)
	if err != nil {
		t.Fatalf("Solve(%q) = %v", problem, err)
	}
	return run
}

func answerOf(t *testing.T, r *maker.Result) runs.AnswerOutput {
	t.Helper()
	a, ok := runs.ReadAnswer(r.Output)
	if !ok {
		t.Fatalf("the output of %s is %s (%s: %s), want an answer", r.Run, r.Output.JSON, r.Status, r.Reason)
	}
	return a
}

func eventsOf[E event.Event](t *testing.T, dir string) []E {
	t.Helper()
	var list []E
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := line.Decode()
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := rec.Event.(E); ok {
			list = append(list, e)
		}
	}
	return list
}

func TestSolve(t *testing.T) {
	type want struct {
		answer, how        string
		steps, nodes, deep int
	}
	tests := []struct {
		name  string
		rules string
		want  want
	}{
		{"as it is", `"ask":"solve" => s:7`, want{"7", "direct", 2, 1, 0}},
		{"in two parts", everything, want{"LR", "composed", 7, 3, 1}},
		{"with a gap that is filled", disagree + halves + parts + `"ask":"solve","problem":"rest" => s:!
"ask":"check".*"answer":"LR" => no:rest
"ask":"answer".*"problem":"rest" => a:LR!
` + joined + checked, want{"LR!", "composed", 10, 4, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := newEngine(t, maker.Options{Config: maker.Config{Model: scripted(t, test.rules)}})
			r := mustResult(t, solve(t, e, "whole"))
			a := answerOf(t, r)
			got := want{a.Answer, a.Status, r.StepsCompleted, r.Solve.Nodes, r.Solve.Depth}
			if r.Status != event.StatusCompleted || got != test.want {
				t.Errorf("Solve() = %+v, %s (%s), want %+v", got, r.Status, r.Reason, test.want)
			}
			if a.Confidence != 0.9 || !r.Simulated || r.Kind != maker.KindSolve || r.Task != "whole" {
				t.Errorf("Solve(): confidence %v, simulated %v, kind %q, task %q", a.Confidence, r.Simulated, r.Kind, r.Task)
			}
			if !strings.Contains(r.Markdown(), test.want.answer) {
				t.Errorf("Markdown() = %s, want the answer in it", r.Markdown())
			}
			wantReplay(t, e, r.Run)
		})
	}
}

// TestSolveFigures counts what happened by hand.
func TestSolveFigures(t *testing.T) {
	// The first split is decided at the second attempt, and one sample is discarded.
	model := scripted(t, `"ask":"solve","problem":"whole" =1> s:1 | s:2 | s:3 | s:4
"ask":"decompose","problem":"whole" =1> p:a;b | p:c;d | p:e;f | p:g;h | p:left;right
"ask":"pick" => {"pick":"none of them","reason":"r"}
"ask":"decompose" => atom
"ask":"solve","problem":"left" =1> s:L | no JSON | s:L
"ask":"solve","problem":"right" => s:R
`+joined+checked)
	e := newEngine(t, maker.Options{Config: maker.Config{Model: model, BatchSize: 2, Voting: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4}}})
	run := solve(t, e, "whole")
	r := mustResult(t, run)
	votes, samples, flags, most := 0, 0, 0, 0
	for _, v := range eventsOf[event.VoteCompleted](t, run.Dir()) {
		votes++
		samples += v.Voting.Samples
		flags += v.Voting.RedFlagged
		most = max(most, v.Voting.Samples)
	}
	got := *r.Solve
	if got.Questions != votes || got.Undecided != 3 || got.Escalations != 2 || got.Recoveries != 1 || got.MaxRounds != (most+1)/2 {
		t.Errorf("Solve = %+v, want %d questions, 3 undecided, 2 escalations, 1 recovery, %d rounds", got, votes, (most+1)/2)
	}
	if v := r.Voting; v.Samples != samples || v.RedFlagged != flags || v.MostSamples != most || v.LeastMargin != 2 || flags < 3 {
		t.Errorf("Voting = %+v, want %d samples, %d red flags, at most %d, margin 2", v, samples, flags, most)
	}
	if want := float64(flags) / float64(samples); got.RejectionRate != want || got.SamplesPerStep != float64(samples)/7 {
		t.Errorf("rejection rate %v, samples per step %v, want %v and %v", got.RejectionRate, got.SamplesPerStep, want, float64(samples)/7)
	}
	wantReplay(t, e, r.Run)
}

// TestSolveFails has one rule or two go wrong: each run ends, with few calls, the
// reason in its result and the best draft that there was.
func TestSolveFails(t *testing.T) {
	const undecidable = ` =1> ` + never + "\n"
	tests := []struct {
		name   string
		rules  string
		status string
		reason string // in the result
		answer string // of the draft; "" if it is one of those of the direct attempt
		calls  int64  // at most
	}{
		{
			"never atomic", `"ask":"solve","problem":"(whole|[a-z]+)"` + undecidable + `"ask":"decompose","problem":"([^"]*)" => p:${1}x;${1}y
`, event.StatusUndecided, "is taken as atomic: the depth limit is 2", "", 150,
		},
		{
			"the whole again", disagree + `"ask":"decompose" => p:whole;right
`, event.StatusUndecided, "0 is taken as atomic: nobody agrees on how to split it", "", 60,
		},
		{
			"twice the same part", disagree + `"ask":"decompose" => p:left;left
`, event.StatusUndecided, "0 is taken as atomic: nobody agrees on how to split it", "", 60,
		},
		{
			"round in a circle", disagree + `"ask":"decompose","problem":"whole" => p:left;right
"ask":"decompose","problem":"left" => p:whole;other
"ask":"decompose" => atom
"ask":"solve"` + undecidable, event.StatusUndecided, "0.0 is taken as atomic: nobody agrees on how to split it", "", 120,
		},
		{
			"solvers never agree", disagree + halves + `"ask":"solve"` + undecidable, event.StatusUndecided, "solve 0.0: no answer won", "", 120,
		},
		{
			"nobody can compose", disagree + halves + parts + `"ask":"answer" => what?
`, event.StatusFailed, "compose 0: all 5 samples were discarded", "left: L\nright: R", 80,
		},
		{
			"never complete", disagree + halves + parts + joined + `"ask":"check" => no:more
"ask":"solve","problem":"more" => s:more
`, event.StatusFailed, "something is missing: more", "LR", 80,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := newEngine(t, maker.Options{Config: maker.Config{
				Model: scripted(t, test.rules), Voting: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 6},
				Solve: maker.SolveConfig{MaxDepth: 2, Escalate: []string{"diversity", "split"}},
			}})
			r := mustResult(t, solve(t, e, "whole"))
			if r.Status != test.status || !strings.Contains(r.Reason, test.reason) {
				t.Errorf("Solve() = %s: %s, want %s: ... %s", r.Status, r.Reason, test.status, test.reason)
			}
			if r.Usage.Calls > test.calls {
				t.Errorf("Solve() made %d calls, want at most %d", r.Usage.Calls, test.calls)
			}
			a := answerOf(t, r)
			if a.Status != "draft" && (a.Status != "parts" || test.name != "nobody can compose") || a.Confidence != 0.3 || a.Answer != test.answer && (test.answer != "" || !strings.Contains(never+" ", "s:"+a.Answer+" ")) {
				t.Errorf("Solve() = %+v, want the draft %q with a confidence of 0.3", a, test.answer)
			}
			if r.FailedStep == nil || r.Stop != "" {
				t.Errorf("Solve(): failed step %v, stop %q", r.FailedStep, r.Stop)
			}
			wantReplay(t, e, r.Run)
		})
	}
}

// TestSolveStops: a limit ends the run with its name and the draft, and a resume
// goes on without asking again.
func TestSolveStops(t *testing.T) {
	tests := []struct {
		name   string
		change func(*maker.Config)
		stop   string
	}{
		{"calls", func(c *maker.Config) { c.MaxCalls = 12 }, "max_calls"},
		{"tokens", func(c *maker.Config) { c.MaxTokens = 4000 }, "max_tokens"},
		{"time", func(c *maker.Config) { c.Deadline = 150 * time.Millisecond }, "deadline"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := maker.Config{Model: scripted(t, everything) + "&latency=40ms"}
				test.change(&cfg)
				e := newEngine(t, maker.Options{Config: cfg})
				run := solve(t, e, "whole")
				r := mustResult(t, run)
				if r.Status != event.StatusStopped || r.Stop != test.stop {
					t.Fatalf("Solve() = %s by %q (%s), want stopped by %s", r.Status, r.Stop, r.Reason, test.stop)
				}
				if a := answerOf(t, r); a.Status != "draft" || !strings.Contains(never+" ", "s:"+a.Answer+" ") {
					t.Errorf("Solve() = %+v, want the draft of the direct attempt", a)
				}
				if limit := cfg.MaxTokens; limit > 0 && r.Usage.Tokens.Total()+r.Usage.HeldTokens > limit {
					t.Errorf("the run used %d tokens and may have used %d more, want at most %d", r.Usage.Tokens.Total(), r.Usage.HeldTokens, limit)
				}
				wantReplay(t, e, r.Run)
				before := decidedKeys(t, run.Dir())
				r = resume(t, e, r.Run, func(c *maker.Config) { c.MaxCalls, c.MaxTokens, c.Deadline = 0, 0, 0 })
				if a := answerOf(t, r); r.Status != event.StatusCompleted || a.Answer != "LR" || r.StepsCompleted != 7 {
					t.Errorf("Resume() = %+v, %s (%s) with %d steps, want LR in 7 steps", a, r.Status, r.Reason, r.StepsCompleted)
				}
				for key, n := range decidedKeys(t, run.Dir()) {
					if n != 1 {
						t.Errorf("%s was decided %d times (before: %d)", key, n, before[key])
					}
				}
				wantReplay(t, e, r.Run)
			})
		})
	}
}

// decidedKeys counts how often each question was decided.
func decidedKeys(t *testing.T, dir string) map[string]int {
	t.Helper()
	keys := map[string]int{}
	for _, v := range eventsOf[event.VoteCompleted](t, dir) {
		if v.Status == "decided" {
			keys[v.Question]++
		}
	}
	return keys
}

// TestSolveTimeout: calls that hang are faults and end the run in bounded time.
func TestSolveTimeout(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{
		Model: "sim/default?hang=1", CallTimeout: 5 * time.Millisecond, MaxFaults: 1, RetryAttempts: 1, RetryDelay: time.Microsecond,
		Solve: maker.SolveConfig{Escalate: []string{"diversity", "split"}},
	}})
	r := mustResult(t, solve(t, e, "whole"))
	if r.Status != event.StatusFailed || r.Voting.Faults == 0 || r.Voting.RedFlagged != 0 {
		t.Errorf("Solve() = %s (%s) with %d faults and %d red flags, want failed by faults", r.Status, r.Reason, r.Voting.Faults, r.Voting.RedFlagged)
	}
	if _, ok := runs.ReadAnswer(r.Output); ok {
		t.Errorf("Solve() has the output %s, want none", r.Output.JSON)
	}
}

// TestSolveResumes stops a run at each of its calls: the tree, the answer and the
// steps are those of a run that was never stopped. The model does not begin anew with
// each session.
func TestSolveResumes(t *testing.T) {
	model := scripted(t, disagree+halves+`"ask":"solve","problem":"left" =1> s:L | s:X | s:L
"ask":"solve","problem":"right" => s:R
`+joined+checked)
	// The model answers in turn, so it has to live on from session to session.
	engine := func(calls int64) *maker.Engine {
		return newEngine(t, newClerk(t, model, solveTopic).behind(maker.Options{Config: maker.Config{MaxCalls: calls}}))
	}
	run := solve(t, engine(0), "whole")
	want := mustResult(t, run)
	wantTree := eventsOf[event.DecompositionSelected](t, run.Dir())
	for calls := int64(1); calls < want.Usage.Calls; calls++ {
		e := engine(calls)
		run := solve(t, e, "whole")
		if r := mustResult(t, run); r.Stop != "max_calls" {
			if calls < 15 { // how many it takes depends on which answers come first
				t.Fatalf("%d calls: Solve() = %s (%s), want to be stopped", calls, r.Status, r.Reason)
			}
			continue
		}
		got := resume(t, e, run.ID(), func(c *maker.Config) { c.MaxCalls = 0 })
		if diff := cmp.Diff(answerOf(t, want), answerOf(t, got)); diff != "" || got.StepsCompleted != want.StepsCompleted {
			t.Errorf("%d calls: the answer after %d steps: -whole +resumed\n%s", calls, got.StepsCompleted, diff)
		}
		if diff := cmp.Diff(wantTree, eventsOf[event.DecompositionSelected](t, run.Dir())); diff != "" {
			t.Errorf("%d calls: the tree: -whole +resumed\n%s", calls, diff)
		}
		for key, n := range decidedKeys(t, run.Dir()) {
			if n != 1 {
				t.Errorf("%d calls: %s was decided %d times", calls, key, n)
			}
		}
		wantReplay(t, e, run.ID())
	}
}

// TestSolveKeepsItsRule: another margin could give another tree above what is
// committed.
func TestSolveKeepsItsRule(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: scripted(t, everything), MaxCalls: 12}})
	run := solve(t, e, "whole")
	mustResult(t, run)
	_, err := e.Resume(t.Context(), run.ID(), &maker.ResumeOptions{Change: func(c *maker.Config) { c.Voting.MaxSamples = 100 }})
	if c, ok := errors.AsType[*maker.ConfigError](err); !ok || c.Field != "ahead_by" {
		t.Errorf("Resume() with another rule = %v, want an error about it", err)
	}
	if r := resume(t, e, run.ID(), func(c *maker.Config) { c.MaxCalls, c.Solve.MaxDepth = 0, 1 }); r.Status != event.StatusCompleted {
		t.Errorf("Resume() = %s (%s), want completed", r.Status, r.Reason)
	}
}

// TestSolveModels: the parts are solved by one model, everything else is done by
// another, and a third one is asked when they do not agree: it confirms what one of those
// who lead said.
func TestSolveModels(t *testing.T) {
	solvers := scripted(t, disagree+parts)
	thinkers := scripted(t, halves+`"ask":"answer" =1> a:1 | a:wise | a:3 | a:4
`+checked)
	elders := scripted(t, `"ask":"answer" => a:wise`)
	cfg := maker.Config{
		Model: "sim/default?p=1", ModelExecution: solvers, ModelReasoning: thinkers,
		Voting: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4},
		Solve:  maker.SolveConfig{ModelEscalation: elders, Escalate: []string{"model"}},
	}
	e := newEngine(t, maker.Options{Config: cfg})
	run := solve(t, e, "whole")
	r := mustResult(t, run)
	if a := answerOf(t, r); r.Status != event.StatusCompleted || a.Answer != "wise" {
		t.Errorf("Solve() = %+v, %s (%s), want the answer of the last model", a, r.Status, r.Reason)
	}
	escalated := eventsOf[event.Escalated](t, run.Dir())
	if last := escalated[len(escalated)-1]; last.To != "model" || r.Solve.Recoveries != 1 {
		t.Errorf("the last escalation is %+v with %d recoveries, want to the model, and 1", last, r.Solve.Recoveries)
	}
	cfg.Solve.ModelEscalation = "nobody/nothing"
	_, err := newEngine(t, maker.Options{Config: cfg}).Solve(t.Context(), "whole")
	if c, ok := errors.AsType[*maker.ConfigError](err); !ok || c.Field != "model_escalation" {
		t.Errorf("Solve() with an unknown model = %v, want an error about model_escalation", err)
	}
}

// TestSolveAsksThePerson: the last resort answers.
func TestSolveAsksThePerson(t *testing.T) {
	model := scripted(t, disagree+halves+`"ask":"solve","problem":"left" =1> s:1 | s:2 | s:3 | s:4 | s:5
"ask":"solve","problem":"right" => s:R
`+joined+checked)
	cfg := maker.Config{
		Model: model, Voting: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4},
		Solve: maker.SolveConfig{Escalate: []string{"person"}},
	}
	asked := ""
	e := newEngine(t, maker.Options{Config: cfg, Ask: func(_ context.Context, q maker.Question) (string, error) {
		asked = q.Text
		return "L", nil
	}})
	r := mustResult(t, solve(t, e, "whole"))
	if r.Status != event.StatusCompleted || !strings.Contains(asked, "left") {
		t.Fatalf("Solve() = %s (%s), asked %q", r.Status, r.Reason, asked)
	}
	byPerson := 0
	for _, s := range r.Steps {
		if s.Voting.Strategy == vote.None && s.Voting.Samples == 0 && s.Voting.Margin == 0 {
			byPerson++
		}
	}
	if byPerson != 1 || r.Voting.LeastMargin != 2 || r.Solve.Recoveries != 1 {
		t.Errorf("%d steps by a person, least margin %d, %d recoveries, want 1, 2 and 1", byPerson, r.Voting.LeastMargin, r.Solve.Recoveries)
	}
	wantReplay(t, e, r.Run)

	// Without somebody to ask, the run waits.
	e = newEngine(t, maker.Options{Config: cfg})
	if r := mustResult(t, solve(t, e, "whole")); r.Stop != event.StopWaiting {
		t.Errorf("Solve() without a person = %s by %q, want waiting", r.Status, r.Stop)
	}
}
