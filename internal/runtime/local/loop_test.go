package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// looping is a world in which loops run. What happens in it is counted by what it was about,
// which is the key of it.
type looping struct {
	rule    vote.Rule
	compact bool
	broken  string // the key of a question over which voters do not agree
	turns   int    // of each loop
	again   bool   // it is that of a resume, whose first answers differ from those before

	mu     sync.Mutex
	counts map[string]int
}

func (w *looping) count(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.counts == nil {
		w.counts = map[string]int{}
	}
	w.counts[what]++
	return w.counts[what]
}

// answers answers with the length of the question. The first answer to a disputed one is
// another.
func (w *looping) answers(_ context.Context, req *model.Request) (*model.Response, error) {
	key := req.Messages[0].Text
	n, text := w.count(key), fmt.Sprint(len(key))
	if key == w.broken || strings.HasSuffix(key, "disputed") && n == 1 {
		text = fmt.Sprint("no, ", n, w.again)
	}
	return &model.Response{Text: text, Stop: model.StopEnd}, nil
}

// session runs an orchestrator as the next session of the run in dir.
func (w *looping) session(t *testing.T, dir string, orchestrate func(flow.Flow) error) (*Runtime, error) {
	t.Helper()
	past := history.New(dir)
	log, _, err := runlog.Open(dir, nil, past.Visit)
	if err != nil {
		past = nil
		config, _ := json.Marshal(map[string]any{"voting": w.rule, "full_log": !w.compact})
		if log, err = runlog.Create(dir, "run", nil); err == nil {
			err = log.Append(event.TaskSubmitted{Format: event.Format, Kind: "script", Form: event.FormScript, Config: config})
		}
	} else if err = past.Finish(); err == nil {
		err = log.Append(event.RunResumed{Step: past.Steps})
	}
	if err != nil {
		t.Fatal(err)
	}
	sets, err := tool.New(tool.Tool{Name: "Set", Class: tool.Mutate, Idempotent: true}, func(_ context.Context, in payInput) (tool.Result, error) {
		w.count(in.To)
		return tool.Result{Text: "set " + in.To}, nil
	})
	tools := tool.NewRegistry()
	if err = errors.Join(err, tools.Register(sets)); err != nil {
		t.Fatal(err)
	}
	b := ballot.New([]ballot.Voter{{Name: "m", Model: model.Func(w.answers)}}, readers, nil)
	r := New(Options{
		Log: log, Past: past, Ballot: b, Ledger: budget.New(budget.Limits{}, usage.Spent{}), Compact: w.compact, Setup: event.Setup{Rule: w.rule},
		Tools: tools, Approve: approval.Policy{Mode: approval.None},
		Looks: Looks{"look": func(_ context.Context, params json.RawMessage) (any, error) {
			var key string
			return "seen", errors.Join(json.Unmarshal(params, &key), w.look(key))
		}},
		Person: person.Func(func(_ context.Context, key string, _ *flow.HumanQuestion) (*flow.Answer, error) {
			w.count(key)
			return &flow.Answer{Text: "yes", By: "test"}, nil
		}),
	})
	err = r.Run(t.Context(), orchestrate)
	b.Close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return r, err
}

func (w *looping) look(key string) error { w.count(key); return nil }

// errUndecided is that a question had no winner; the log says so too.
var errUndecided = errors.New("undecided")

func (w *looping) ask(f flow.Flow, prefix, key string, step int) (*flow.Verdict, error) {
	v, err := f.Decide(key, &flow.Question{Step: step, Prompt: prefix + key, Class: "q", Answer: flow.Format{Reader: "plain"}, Terms: flow.Terms{Rule: w.rule}})
	if err == nil && v.Status != flow.Decided {
		f.Emit("end", event.TaskFailed{Status: event.StatusUndecided, Step: step, Reason: v.Reason, Reopen: []string{prefix + key}})
		return nil, errUndecided
	}
	return v, err
}

// script asks before, between and after two loops. What came of it is told to end.
func (w *looping) script(end func(states []string)) func(flow.Flow) error {
	return func(f flow.Flow) error {
		step := 0
		var states []string
		for i, name := range []string{"before", "between", "after"} {
			v, err := w.ask(f, "", name, step)
			if err != nil {
				return err
			}
			f.Emit(name+"/completed", event.StepCompleted{Step: step, Output: event.JSONValue(v.Answer), Voting: v.Voting})
			step++
			if i == 2 {
				break
			}
			state, err := w.loop(f, fmt.Sprint("main/chain/", i), step)
			if err != nil {
				return err
			}
			states = append(states, state)
			step += w.turns
		}
		f.Emit("end", event.TaskCompleted{Steps: step})
		end(states)
		return nil
	}
}

// loop goes through the turns of a loop, whose state says what came of each.
func (w *looping) loop(f flow.Flow, key string, step int) (state string, err error) {
	turns, err := flow.Loop(f, key)
	if err != nil {
		return "", err
	}
	at := turns.At()
	if at.N > 0 {
		if err := json.Unmarshal(at.State, &state); err != nil {
			return "", err
		}
	}
	for n := at.N; n < w.turns; n++ {
		did, voting, err := w.turn(turns.Turn(n), flow.TurnKey(key, n)+"/", step+n)
		if err != nil {
			return "", err
		}
		state += did + ";"
		turns.Commit(n, &event.StepCompleted{Step: step + n, Output: event.TextValue(state), Voting: voting})
	}
	return state, nil
}

// turn does everything that can be done in one; in the second loop it asks only.
func (w *looping) turn(f flow.Flow, prefix string, step int) (string, event.Voting, error) {
	v, err := w.ask(f, prefix, "disputed", step)
	if err != nil {
		return "", event.Voting{}, err
	}
	if strings.HasPrefix(prefix, "main/chain/1/") {
		return string(v.Answer), v.Voting, nil
	}
	params, _ := json.Marshal(prefix + "look")
	seen, err := f.Observe("look", flow.Look{Kind: "look", Params: params})
	if err != nil {
		return "", event.Voting{}, err
	}
	said, err := f.Ask("person", &flow.HumanQuestion{Step: step, Kind: event.ClarifyQuestion, Text: "?", Free: true})
	if err != nil {
		return "", event.Voting{}, err
	}
	f.Emit("note", event.StepStarted{Step: step})
	input, _ := json.Marshal(payInput{To: prefix + "act"})
	done, err := f.Perform("act", &flow.Effect{Step: step, Scope: strings.TrimSuffix(prefix, "/"), Intent: event.Intent{Tool: "Set", Input: input}})
	if err != nil {
		return "", event.Voting{}, err
	}
	parts := make([]string, 2)
	err = f.Parallel("all", 2, func(i int, f flow.Flow) error {
		v, err := w.ask(f, prefix+flow.Branch("all", i), "part", step)
		if err == nil {
			parts[i] = string(v.Answer)
		}
		return err
	})
	return fmt.Sprint(string(v.Answer), string(seen), said.Text, done.Text, parts), v.Voting, err
}

// recorded are the keys of what a log has an outcome of.
func recorded(t *testing.T, dir string) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := line.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch e := rec.Event.(type) {
		case event.VoteCompleted:
			keys[e.Question] = e.Status == string(flow.Decided)
		case event.Observed:
			keys[e.Look] = true
		case event.ClarificationProvided:
			keys[e.Question] = true
		case event.EffectDone:
			keys[e.Effect] = true
		}
	}
	return keys
}

// checkLooped holds the log of a script that came to its end against itself.
func checkLooped(t *testing.T, dir string, w *looping) {
	t.Helper()
	r, audit, err := history.ReadAudit(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	steps := 3 + 2*w.turns
	if d := audit.Differences(); len(d) > 0 || r.Committed != steps || r.Status != event.StatusCompleted {
		t.Errorf("%s with %d steps, want %d; what does not fit: %q", r.Status, r.Committed, steps, d)
	}
	commits := map[string]int{}
	for line, err := range runlog.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := line.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch e := rec.Event.(type) {
		case event.StepCompleted:
			commits[rec.Key]++
			if _, _, turn := flow.CutTurn(rec.Key); turn != e.Loop {
				t.Errorf("the step %s says that it is a turn: %t", rec.Key, e.Loop)
			}
		case event.VoteCompleted:
			if inLoop := strings.Contains(e.Question, "/turn/"); (e.Asked == nil) != inLoop {
				t.Errorf("the verdict on %s says what was asked: %v", e.Question, e.Asked)
			}
		}
	}
	for key, n := range commits {
		if n != 1 {
			t.Errorf("%s is committed %d times", key, n)
		}
	}
	if len(commits) != steps {
		t.Errorf("%d steps are committed, want %d", len(commits), steps)
	}
}

// cut makes run folders whose logs end after each line of that in dir.
func cut(t *testing.T, dir string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, runlog.EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	var dirs []string
	for n := range lines {
		short := filepath.Join(t.TempDir(), "run")
		if err := os.Mkdir(short, 0o755); err != nil {
			t.Fatal(err)
		}
		part := bytes.TrimSuffix(bytes.Join(lines[:n+1], nil), []byte("\n"))
		if err := os.WriteFile(filepath.Join(short, runlog.EventsFile), append(part, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, short)
	}
	return dirs
}

// TestALoopGoesOn resumes a run with two loops after every line of its log: what is recorded
// is not asked, looked at, done or committed again, and all comes out as in one go.
func TestALoopGoesOn(t *testing.T) {
	first := vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 9}
	for name, w := range map[string]*looping{
		"compact":   {rule: first, compact: true, turns: 2},
		"in full":   {rule: first, turns: 2},
		"adaptive":  {rule: vote.Rule{Strategy: vote.Adaptive, Target: .05, MaxSamples: 60}, compact: true, turns: 2},
		"undecided": {rule: first, compact: true, turns: 2, broken: "main/chain/1/turn/1/disputed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits for the disk
			var want []string
			good := looping{rule: w.rule, compact: w.compact, turns: w.turns}
			if _, err := good.session(t, filepath.Join(t.TempDir(), "run"), good.script(func(states []string) { want = states })); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "run")
			_, err := w.session(t, dir, w.script(func([]string) {}))
			if w.broken == "" {
				checkLooped(t, dir, w)
			}
			if (w.broken == "") != (err == nil) {
				t.Fatalf("the run ended with %v", err)
			}
			for n, short := range cut(t, dir) {
				known := recorded(t, short)
				again := looping{rule: w.rule, compact: w.compact, turns: w.turns, again: true}
				if w.broken != "" {
					again.rule.MaxSamples *= 4 // it goes on with the votes that it has
				}
				var got []string
				script := again.script(func(states []string) { got = states })
				_, err := again.session(t, short, script)
				if w.broken != "" && errors.Is(err, errUndecided) {
					_, err = again.session(t, short, script) // it is asked again once the log says so
				}
				if err != nil {
					t.Fatalf("after line %d: %v", n+1, err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("after line %d the loops come to (-want +got):\n%s", n+1, diff)
				}
				for key, decided := range known {
					if decided && again.counts[key] > 0 {
						t.Errorf("after line %d: %s is recorded, and was asked again", n+1, key)
					}
				}
				checkLooped(t, short, &again)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// TestACompactLoop: samples on which all agree are not logged in a loop, unless the whole log
// is wanted; verdicts are.
func TestACompactLoop(t *testing.T) {
	for _, compact := range []bool{true, false} {
		w := looping{rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 9}, compact: compact, turns: 1}
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := w.session(t, dir, w.script(func([]string) {})); err != nil {
			t.Fatal(err)
		}
		samples := map[string]int{}
		for line, err := range runlog.Read(dir) {
			if err != nil {
				t.Fatal(err)
			}
			if rec, err := line.Decode(); err == nil {
				if e, ok := rec.Event.(event.SampleCompleted); ok {
					samples[e.Question]++
				}
			}
		}
		agreed := 0
		if !compact {
			agreed = 2
		}
		for key, want := range map[string]int{"before": 2, "main/chain/0/turn/0/disputed": 4, "main/chain/0/turn/0/all/1/part": agreed} {
			if samples[key] != want {
				t.Errorf("compact %t: the log has %d samples of %s, want %d", compact, samples[key], key, want)
			}
		}
	}
}

// TestALoopWithinALoop: a loop in a turn of another begins anew in the next.
func TestALoopWithinALoop(t *testing.T) {
	w := looping{rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 9}, compact: true}
	nested := func(f flow.Flow) error {
		step := 0
		outer, err := flow.Loop(f, "outer")
		if err != nil {
			return err
		}
		for n := outer.At().N; n < 2; n++ {
			turn := outer.Turn(n)
			inner, err := flow.Loop(turn, "inner")
			if err != nil {
				return err
			}
			step = 4 * n
			for m := inner.At().N; m < 3; m++ {
				if _, err := w.ask(inner.Turn(m), flow.TurnKey(flow.TurnKey("outer", n)+"/inner", m)+"/", "q", step+m); err != nil {
					return err
				}
				inner.Commit(m, &event.StepCompleted{Step: step + m, Output: event.TextValue("inner")})
			}
			if _, err := w.ask(turn, flow.TurnKey("outer", n)+"/", "q", step+3); err != nil {
				return err
			}
			outer.Commit(n, &event.StepCompleted{Step: step + 3, Output: event.TextValue("outer")})
		}
		f.Emit("end", event.TaskCompleted{Steps: 8})
		return nil
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := w.session(t, dir, nested); err != nil {
		t.Fatal(err)
	}
	for n, short := range cut(t, dir) {
		known := recorded(t, short)
		w.counts = nil
		if _, err := w.session(t, short, nested); err != nil {
			t.Fatalf("after line %d: %v", n+1, err)
		}
		for key := range known {
			if w.counts[key] > 0 {
				t.Errorf("after line %d: %s is recorded, and was asked again", n+1, key)
			}
		}
		r, audit, err := history.ReadAudit(short, nil)
		if err != nil || len(audit.Differences()) > 0 || r.Committed != 8 {
			t.Errorf("after line %d: %d steps, %q, %v; want 8 and nothing that does not fit", n+1, r.Committed, audit.Differences(), err)
		}
	}
}

// TestTurnsComeInOrder: a loop that leaves a turn out, or uses one that is over, could not be
// resumed; a chain, which keeps no verdicts, has none.
func TestTurnsComeInOrder(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(f flow.Flow, turns flow.Turns) error
		want string
	}{
		"the same turn twice": {func(f flow.Flow, turns flow.Turns) error {
			if _, err := ask(turns.Turn(0), "q", "?"); err != nil {
				return err
			}
			_, err := ask(turns.Turn(0), "q", "?")
			return err
		}, "used twice"},
		"a turn that is over": {func(f flow.Flow, turns flow.Turns) error {
			turn := turns.Turn(0)
			turns.Commit(0, &event.StepCompleted{})
			_, err := ask(turn, "q", "?")
			return err
		}, "after its turn was committed"},
		"a turn left out": {func(f flow.Flow, turns flow.Turns) error {
			_, err := ask(turns.Turn(1), "q", "?")
			return err
		}, `turn 1 of the loop "loop" comes where turn 0 belongs`},
		"committed twice": {func(f flow.Flow, turns flow.Turns) error {
			turns.Commit(0, &event.StepCompleted{})
			turns.Commit(0, &event.StepCompleted{})
			return nil
		}, `turn 0 of the loop "loop" comes where turn 1 belongs`},
		"a loop twice": {func(f flow.Flow, turns flow.Turns) error {
			_, err := flow.Loop(f, "loop")
			return err
		}, "used twice"},
	} {
		_, err := runtime(t, filepath.Join(t.TempDir(), "run"), &echo{}, Options{}, func(f flow.Flow) error {
			turns, err := flow.Loop(f, "loop")
			if err != nil {
				return err
			}
			return test.do(f, turns)
		})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, test.want)
		}
	}
	_, err := runtime(t, filepath.Join(t.TempDir(), "run"), &echo{}, Options{Checkpoints: true, Compact: true}, func(f flow.Flow) error {
		_, err := flow.Loop(f, "loop")
		return err
	})
	if !errors.Is(err, errNoJournal) {
		t.Errorf("a loop in a chain: %v, want %v", err, errNoJournal)
	}
}

// TestLoopsStaySmall: neither a long loop nor a resume of it takes more memory than a short one.
func TestLoopsStaySmall(t *testing.T) {
	const turns = 20_000
	w := looping{rule: vote.Rule{Strategy: vote.None, MaxSamples: 1}, compact: true, turns: turns}
	dir := filepath.Join(t.TempDir(), "run")
	var heap []uint64
	var largest int
	count := func(f flow.Flow) error {
		loop, err := flow.Loop(f, "loop")
		if err != nil {
			return err
		}
		for n := loop.At().N; n < turns; n++ {
			turn := loop.Turn(n)
			v, err := turn.Decide("q", &flow.Question{Step: n, Prompt: "?", Answer: flow.Format{Reader: "plain"}, Terms: flow.Terms{Rule: w.rule}})
			if err != nil {
				return err
			}
			turn.Emit("note", event.StepStarted{Step: n})
			largest = max(largest, len(turn.(*branch).keys.used))
			loop.Commit(n, &event.StepCompleted{Step: n, Output: event.JSONValue(v.Answer), Voting: v.Voting})
			if (n+1)%(turns/4) == 0 {
				var m goruntime.MemStats
				goruntime.GC()
				goruntime.ReadMemStats(&m)
				heap = append(heap, m.HeapAlloc)
			}
		}
		return errCrash
	}
	r, err := w.session(t, dir, count)
	if !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	if n := len(r.keys.used); n > 1 || largest != 2 {
		t.Errorf("%d keys are kept outside of turns and %d within, want that of the loop and two", n, largest)
	}
	if grown := int64(slices.Max(heap[1:])) - int64(heap[0]); grown > 2<<20 {
		t.Errorf("the heap grew by %d bytes, from %d: %d", grown, heap[0], heap)
	}
	r, err = w.session(t, dir, func(f flow.Flow) error {
		loop, err := flow.Loop(f, "loop")
		if err == nil && loop.At().N != turns {
			t.Errorf("the loop goes on at %d, want %d", loop.At().N, turns)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.past; len(p.Verdicts)+len(p.Votes)+len(p.Looks)+len(p.Effects)+len(p.Answers) > 0 || len(p.Loops) != 1 {
		t.Errorf("a resume begins with %d verdicts and %d loops, want none and one", len(p.Verdicts), len(p.Loops))
	}
}

// TestTurnsAreGuessed: what the next turn will ask is asked ahead.
func TestTurnsAreGuessed(t *testing.T) {
	const turns = 50
	rule := vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 100}
	took := func(guess bool) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			log, err := runlog.Create(dir, "run", nil)
			if err == nil {
				err = log.Append(event.TaskSubmitted{Format: event.Format, Kind: "script", Form: event.FormScript, Config: json.RawMessage(`{"voting":{"strategy":"first_to_k","k":3,"max_samples":100}}`)})
			}
			if err != nil {
				t.Fatal(err)
			}
			m := &counter{right: 1, median: 40 * time.Millisecond}
			b := ballot.New([]ballot.Voter{{Name: "m", Model: m}}, readers, &ballot.Options{BatchSize: 64})
			r := New(Options{Log: log, Ledger: budget.New(budget.Limits{}, usage.Spent{}), Ballot: b, Compact: true, Extra: .1, Guess: guess})
			start := time.Now()
			if err := r.Run(t.Context(), countTurns(turns, rule)); err != nil {
				t.Fatal(err)
			}
			d = time.Since(start)
			b.Close()
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			report, audit, err := history.ReadAudit(dir, nil)
			if err != nil || len(audit.Differences()) > 0 || report.Committed != turns {
				t.Errorf("%d steps, %q, %v; want %d and nothing that does not fit", report.Committed, audit.Differences(), err, turns)
			}
		})
		return d
	}
	if one, ahead := took(false), took(true); ahead > one*3/4 {
		t.Errorf("with guesses it takes %v, want much less than %v", ahead, one)
	}
}

// countTurns counts in a loop.
func countTurns(turns int, rule vote.Rule) func(flow.Flow) error {
	var question func(n int, state json.RawMessage) *flow.Question
	question = func(n int, state json.RawMessage) *flow.Question {
		var text string
		_ = json.Unmarshal(state, &text)
		var samples []string // a framing for each
		for n := range 20 {
			samples = append(samples, fmt.Sprint(n, " ", text))
		}
		return &flow.Question{
			Step: n, Prompt: samples[0], Variants: samples, Answer: flow.Format{Reader: "plain"}, Terms: flow.Terms{Rule: rule},
			Next: func(answer json.RawMessage) (string, *flow.Question) {
				return flow.TurnKey("loop", n+1) + "/q", question(n+1, answer)
			},
		}
	}
	return func(f flow.Flow) error {
		loop, err := flow.Loop(f, "loop")
		if err != nil {
			return err
		}
		state := json.RawMessage(`"0"`)
		for n := range turns {
			v, err := loop.Turn(n).Decide("q", question(n, state))
			if err != nil {
				return err
			}
			state = v.Answer
			loop.Commit(n, &event.StepCompleted{Step: n, Output: event.JSONValue(state), Voting: v.Voting})
		}
		return nil
	}
}
