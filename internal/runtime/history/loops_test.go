package history

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/effect"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// scripted is the beginning of a script.
func scripted() event.Event {
	e := task("script").(event.TaskSubmitted)
	e.Form, e.Steps = event.FormScript, 0
	return e
}

// turned is a committed turn of a loop.
func turned(loop string, n, step int) event.Event {
	e := committedStep(step, 2)
	e.Loop = true
	return keyed{flow.TurnKey(loop, n), e}
}

func TestLoopOf(t *testing.T) {
	for key, want := range map[string]string{
		"a/turn/0/q": "a", "a/turn/0/q/same/1-2": "a", "a/turn/0/b/turn/12/all/0/q": "a/turn/0/b",
		"a/turn/0": "", "a/turn/x/q": "", "turn/0/q": "", "a/b": "", "": "",
	} {
		if got := loopOf(key); got != want {
			t.Errorf("loopOf(%q) = %q, want %q", key, got, want)
		}
	}
}

// TestTurnsAreForgotten: of a turn that is committed nothing stays but its output, whatever
// was recorded in it; what is beside it stays.
func TestTurnsAreForgotten(t *testing.T) {
	in := func(turn string) []event.Event {
		at := func(key string) string { return turn + "/" + key }
		return []event.Event{
			sample(at("q"), 0, "a"), sample(at("q"), 1, "a"), verdict(at("q"), 2, 0, map[string]int{"a": 2}),
			sample(at("open"), 0, "a"), event.SampleFaulted{Question: at("faulted")},
			event.Observed{Look: at("look"), Result: event.TextValue("x")},
			event.ClarificationRequested{Question: at("person")}, event.ClarificationProvided{Question: at("person"), Answer: "yes"},
			event.ClarificationRequested{Question: at("act/approve")}, event.ClarificationProvided{Question: at("act/approve"), Answer: "run Pay"},
			claim(at("act"), turn, 1), effectDone(at("act"), 1),
			event.QuestionChanged{Question: at("q")},
			keyed{at("note"), event.StepStarted{Step: 1}},
		}
	}
	type sizes struct{ Verdicts, Votes, Looks, Answers, Answered, Effects, Changed, Emitted int }
	of := func(h *History) sizes {
		return sizes{len(h.Verdicts), len(h.Votes), len(h.Looks), len(h.Answers), len(h.Answered), len(h.Effects), len(h.Changed), len(h.emitted)}
	}
	all := sizes{1, 2, 1, 2, 2, 1, 1, 1}
	for name, test := range map[string]struct {
		events []event.Event
		want   sizes
		loops  map[string]flow.Turn
	}{
		"under way":         {in("a/turn/0"), all, map[string]flow.Turn{}},
		"beside a loop":     {append(in("b"), turned("a", 0, 0)), all, map[string]flow.Turn{"a": {N: 1, State: []byte(`"output 0"`)}}},
		"of another loop":   {append(in("b/turn/0"), turned("a", 0, 0)), all, map[string]flow.Turn{"a": {N: 1, State: []byte(`"output 0"`)}}},
		"committed":         {append(in("a/turn/3"), turned("a", 3, 7)), sizes{Answers: 1}, map[string]flow.Turn{"a": {N: 4, State: []byte(`"output 7"`)}}},
		"committed, nested": {append(in("a/turn/0/b/turn/0"), turned("a/turn/0/b", 0, 0)), sizes{Answers: 1}, map[string]flow.Turn{"a/turn/0/b": {N: 1, State: []byte(`"output 0"`)}}},
		"around a nested":   {append(in("a/turn/0/b/turn/0"), turned("a", 0, 0)), sizes{Answers: 1}, map[string]flow.Turn{"a": {N: 1, State: []byte(`"output 0"`)}}},
		"and its nested loops": {append(append(in("a/turn/0/b/turn/5"), turned("a/turn/0/b", 5, 0)), turned("a", 0, 1)), sizes{Answers: 1},
			map[string]flow.Turn{"a": {N: 1, State: []byte(`"output 1"`)}}},
		"reopened, and committed stays": {append(append(in("a/turn/0"), turned("a", 0, 0)), reopen("a")), sizes{Answers: 1},
			map[string]flow.Turn{"a": {N: 1, State: []byte(`"output 0"`)}}},
	} {
		dir := writtenKeyed(t, append([]event.Event{scripted()}, test.events...)...)
		h, err := read(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, of(h)); diff != "" {
			t.Errorf("%s: the journal has (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.loops, h.Loops); diff != "" {
			t.Errorf("%s: loops (-want +got):\n%s", name, diff)
		}
		// A reader that decodes every line comes to the same.
		r := reader(dir, &Report{}, nil)
		if err := r.read(); err != nil {
			t.Fatal(err)
		}
		test.want.Votes = 0
		got := of(r)
		if got.Votes = 0; got != test.want {
			t.Errorf("%s: a report leaves %+v, want %+v", name, got, test.want)
		}
	}
}

// TestAnAnswerInATurn can be read after the turn is over, and what it allows stays allowed.
func TestAnAnswerInATurn(t *testing.T) {
	dir := writtenKeyed(t, scripted(),
		event.ClarificationRequested{Question: "a/turn/0/person"}, event.ClarificationProvided{Question: "a/turn/0/person", Answer: "yes"}, turned("a", 0, 0))
	if a, err := ReadAnswer(dir, "a/turn/0/person"); err != nil || a == nil || a.Text != "yes" {
		t.Errorf("ReadAnswer() = %v, %v, want yes", a, err)
	}
	if a, err := ReadAnswer(dir, "a/turn/1/person"); err != nil || a != nil {
		t.Errorf("ReadAnswer() of another turn = %v, %v, want none", a, err)
	}
	for answer, want := range map[string]bool{"run Pay": true, "always Pay": true, "yes": false, "running": false} {
		if _, ok := effect.Allows("a/turn/0/act/approve", &flow.Answer{Text: answer}); ok != want {
			t.Errorf("Allows(%q) = %t, want %t", answer, ok, want)
		}
	}
}

// TestAuditLoops: turns follow each other, nothing happens in one that is over, and samples may
// be left out where all agreed.
func TestAuditLoops(t *testing.T) {
	type votes = map[string]int
	full := scripted().(event.TaskSubmitted)
	full.Config = []byte(`{"voting":{"strategy":"first_to_k","k":2,"max_samples":10},"full_log":true}`)
	const turn0 = "a/turn/0"
	scoped := func(question string, step int) event.Event {
		e := verdict(question, 2, 0, votes{"x": 2})
		e.Step, e.Scope = step, turn0
		return e
	}
	badKey := turned("a", 0, 0).(keyed)
	badKey.key = "a/0"
	end := event.TaskCompleted{}
	for name, test := range map[string]struct {
		first  event.Event
		events []event.Event
		want   string
		races  int
	}{
		"two turns":               {events: []event.Event{turned("a", 0, 0), turned("a", 1, 1), end}},
		"two loops":               {events: []event.Event{turned("a", 0, 0), turned("b", 0, 1), turned("a", 1, 2), end}},
		"a turn twice":            {events: []event.Event{turned("a", 0, 0), turned("a", 0, 1), end}, want: "turn 0 of the loop a is committed where turn 1 belongs"},
		"a turn left out":         {events: []event.Event{turned("a", 1, 0), end}, want: "turn 1 of the loop a is committed where turn 0 belongs"},
		"no turn's key":           {events: []event.Event{badKey, end}, want: `a turn of a loop, but its key is "a/0"`},
		"a step twice":            {events: []event.Event{turned("a", 0, 0), turned("a", 1, 0), end}, want: "step 0 is committed twice"},
		"a step left out":         {events: []event.Event{turned("a", 0, 0), turned("a", 1, 2), end}, want: "completed without step 1"},
		"steps in any order":      {events: []event.Event{completed("m/1", 1), completed("m/0", 0), completed("m/2", 2), end}},
		"not at its end":          {events: []event.Event{completed("m/1", 1)}},
		"all agreed":              {events: []event.Event{scoped(turn0+"/q", 0), turned("a", 0, 0), end}},
		"in full":                 {events: []event.Event{sample(turn0+"/q", 0, "x"), sample(turn0+"/q", 1, "x"), scoped(turn0+"/q", 0), turned("a", 0, 0), end}, races: 1},
		"too few agreed":          {events: []event.Event{verdict(turn0+"/q", 2, 0, votes{"x": 1}), turned("a", 0, 0), end}, want: "the rule says otherwise (margin 1)"},
		"too many agreed":         {events: []event.Event{verdict(turn0+"/q", 2, 0, votes{"x": 3}), turned("a", 0, 0), end}, want: "the samples give the votes map[x:2]"},
		"red flags, then agreed":  {events: []event.Event{verdict(turn0+"/q", 2, 3, votes{"x": 2}), turned("a", 0, 0), end}},
		"some left out":           {events: []event.Event{sample(turn0+"/q", 0, "x"), scoped(turn0+"/q", 0), turned("a", 0, 0), end}, want: "the samples give the votes map[x:1]", races: 1},
		"disputed, left out":      {events: []event.Event{verdict(turn0+"/q", 2, 0, votes{"x": 3, "y": 1}), turned("a", 0, 0), end}, want: "the samples give the votes map[]", races: 1},
		"left out of a full log":  {first: full, events: []event.Event{scoped(turn0+"/q", 0), turned("a", 0, 0), end}, want: "the samples give the votes map[]", races: 1},
		"left out beside loops":   {events: []event.Event{verdict("q", 2, 0, votes{"x": 2}), completed("m/0", 0), end}, want: "the samples give the votes map[]", races: 1},
		"voted on after its end":  {events: []event.Event{turned("a", 0, 0), scoped(turn0+"/q", 0), end}, want: "step 0 is voted on under a/turn/0 after it was committed"},
		"another step's question": {events: []event.Event{scoped(turn0+"/q", 0), turned("b", 0, 0), end}, want: "step 0 happens under two keys"},
		"an effect":               {events: []event.Event{claim(turn0+"/act", turn0, 0), effectDone(turn0+"/act", 0), turned("a", 0, 0), end}},
		"an effect after its end": {events: []event.Event{turned("a", 0, 0), claim(turn0+"/act", "", 0), end}, want: "is claimed after step 0 was committed"},
	} {
		first := test.first
		if first == nil {
			first = scripted()
		}
		_, a, err := ReadAudit(writtenKeyed(t, append([]event.Event{first}, test.events...)...), nil)
		if err != nil {
			t.Errorf("%s: ReadAudit() = %v", name, err)
			continue
		}
		if got := a.Differences(); test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
			t.Errorf("%s: Differences() = %q, want one with %q", name, got, test.want)
		}
		if a.Races != test.races {
			t.Errorf("%s: %d votes were counted again, want %d", name, a.Races, test.races)
		}
	}
}

// TestLoopsStaySmall: what the fold holds does not grow with the turns of a loop, whoever reads.
func TestLoopsStaySmall(t *testing.T) {
	const turns = 6_000
	dir := longLoop(t, turns)
	for name, h := range map[string]*History{"resume": New(dir), "result": reader(dir, &Report{}, nil), "replay": reader(dir, &Report{}, newAudit(nil))} {
		var heap []uint64
		n := 0
		for line, err := range runlog.Read(dir) {
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Visit(line); err != nil {
				t.Fatal(err)
			}
			if n++; n%turns == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				heap = append(heap, m.HeapAlloc)
			}
		}
		if grown := int64(heap[len(heap)-1]) - int64(heap[0]); grown > 512<<10 {
			t.Errorf("%s: the heap grew by %d bytes: %d", name, grown, heap)
		}
		if n := len(h.Verdicts) + len(h.Votes) + len(h.emitted) + len(h.loops["loop"].keys); n > 0 || len(h.loops) != 1 {
			t.Errorf("%s: the journal holds %d things and %d loops, want none and one", name, n, len(h.loops))
		}
		if a := h.audit; a != nil && (len(a.scopes)+len(a.committed.apart) > 0 || len(a.Differences()) > 0) {
			t.Errorf("%s: it holds %d scopes and %d steps; differences %q", name, len(a.scopes), len(a.committed.apart), a.Differences())
		}
	}
}

// longLoop is the log of a loop, with a vote in each turn.
func longLoop(t testing.TB, turns int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Append(scripted()); err != nil {
		t.Fatal(err)
	}
	for n := range turns {
		key := flow.TurnKey("loop", n)
		spent := usage.Spent{Calls: int64(2*n + 2)}
		voting := event.Voting{Strategy: vote.FirstToK, Samples: 2, Votes: map[string]int{"x": 2}, Margin: 2}
		v := verdict(key+"/q", 2, 0, voting.Votes)
		v.Step, v.Scope, v.Voting, v.Answer, v.Spent, v.Class = n, key, voting, event.TextValue(fmt.Sprint("answer ", n)), spent, "next"
		err := log.Append(v)
		if err == nil {
			err = log.AppendKeyed(key, event.StepCompleted{Step: n, Output: event.TextValue(fmt.Sprint("state ", n)), Voting: voting, Spent: spent, Loop: true})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// BenchmarkLongLoop is how long a resume, a result and a replay of a long loop take to read it.
func BenchmarkLongLoop(b *testing.B) {
	const turns = 200_000
	dir := longLoop(b, turns)
	for name, open := range map[string]func() *History{
		"resume": func() *History { return New(dir) },
		"result": func() *History { return reader(dir, &Report{}, nil) },
		"replay": func() *History { return reader(dir, &Report{}, newAudit(nil)) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := open().read(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
		})
	}
}
