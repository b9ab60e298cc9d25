package maker_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

type product struct{ A, B int }

// TestMap: an answer for each input, in their order, each voted on.
func TestMap(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0.9&seed=3"}})
	var inputs []product
	for a := range 40 {
		inputs = append(inputs, product{a + 11, 7})
	}
	n := 0
	for m, err := range maker.Map[product, int](t.Context(), e, slices.Values(inputs), func(p product) string { return fmt.Sprintf("Compute: %d * %d", p.A, p.B) }) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Input != inputs[n] || m.Answer != m.Input.A*m.Input.B || m.Verdict.Status != flow.Decided || m.Verdict.Voting.Margin < 3 {
			t.Errorf("input %d: %+v = %d (%s, margin %d), want %+v", n, m.Input, m.Answer, m.Verdict.Status, m.Verdict.Voting.Margin, inputs[n])
		}
		n++
	}
	if n != len(inputs) {
		t.Errorf("%d answers, want %d", n, len(inputs))
	}
}

// TestResumeMap: a map that ran out of its budget goes on, and yields all of its inputs.
func TestResumeMap(t *testing.T) {
	dir := t.TempDir()
	question := func(n int) string { return fmt.Sprintf("Compute: %d * 7", n) }
	inputs := func(yield func(int) bool) {
		for n := range 40 {
			if !yield(n) {
				return
			}
		}
	}
	short := newEngine(t, maker.Options{LogDir: dir, Config: maker.Config{Model: "sim/default?p=1", MaxCalls: 50}})
	var stopped *maker.NoAnswerError
	for _, err := range maker.Map[int, int](t.Context(), short, inputs, question) {
		if !errors.As(err, &stopped) {
			t.Fatalf("Map() within 50 calls yields %v, want that it was stopped", err)
		}
	}
	e := newEngine(t, maker.Options{LogDir: dir, Config: maker.Config{Model: "sim/default?p=1"}})
	n := 0
	more := &maker.ResumeOptions{Change: func(c *maker.Config) { c.MaxCalls = 0 }}
	for m, err := range maker.ResumeMap[int, int](t.Context(), e, stopped.Result.Run, more) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Input != n || m.Answer != 7*n {
			t.Errorf("input %d: %d = %d", n, m.Input, m.Answer)
		}
		n++
	}
	if n != 40 {
		t.Errorf("%d answers, want 40", n)
	}
}

// TestMapTable: bad records fail alone, known answers are counted, later questions use
// earlier answers, and records with the same questions are asked about once.
func TestMapTable(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=1"}})
	rows := []struct {
		a, gold string
		err     error
	}{{a: "3", gold: "12"}, {err: &maker.RecordError{Line: 3, Err: fmt.Errorf("broken")}}, {a: "5", gold: "21"}, {a: "3", gold: "12"}, {a: "8", gold: "x"}}
	number := reader.Number{}
	table := maker.Table{
		Source: "a test", Dedupe: true,
		Records: func(yield func(maker.Record, error) bool) {
			for i, r := range rows {
				if !yield(maker.Record{Line: i + 2, Columns: []string{"a", "gold"}, Values: map[string]any{"a": r.a, "gold": r.gold}}, r.err) {
					return
				}
			}
		},
		Questions: []maker.RecordQuestion{
			{Name: "square", Prompt: "Compute: {{.a}} * {{.a}}", As: number},
			{Name: "more", Prompt: "Compute: {{.square}} + {{.a}}", As: number, Gold: "gold"},
		},
	}
	if _, err := e.Map(t.Context(), table); err == nil || !strings.Contains(err.Error(), "line 6, column gold") {
		t.Errorf("Map() with a known answer that is none = %v, want where it is", err)
	}
	rows[4].gold, rows[4].err = "", &maker.RecordError{Line: 6, Err: fmt.Errorf("broken too")}
	run, err := e.Map(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Result()
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != event.StatusUndecided || result.Reason != "2 of 4 records have no answer: 0 undecided, 2 failed" {
		t.Errorf("Result() = %s (%s)", result.Status, result.Reason)
	}
	if want := `{"decided":2,"failed":2,"known":2,"records":5,"right":1,"same":1,"undecided":0}`; result.Output.Compact() != want {
		t.Errorf("output %s, want %s", result.Output.Compact(), want)
	}
	asked := run.Progress()
	again, err := e.Resume(t.Context(), run.Dir(), &maker.ResumeOptions{Retry: []string{"failed"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Result(); err != nil {
		t.Fatal(err)
	}
	for when, p := range map[string]maker.Progress{"": asked, " after a resume": again.Progress()} {
		if p.Known != 2 || p.Right != 1 || len(p.Answers) != 2 || p.OtherAnswers != 0 {
			t.Errorf("Progress()%s = %d known, %d right, %v and %d others, want 2 known, 1 right, two answers", when, p.Known, p.Right, p.Answers, p.OtherAnswers)
		}
	}
	kept, err := runs.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r, err := range kept.Records() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s %s%s", r.Line, r.Status, r.Output.Compact(), r.Reason))
	}
	want := []string{
		`2 decided {"more":12,"square":9}`, "3 failed line 3: broken", `4 decided {"more":30,"square":25}`,
		`5 decided {"more":12,"square":9}`, "6 failed line 6: broken too",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records: -want +got\n%s", diff)
	}
	replay, err := kept.Replay(nil)
	if err != nil || len(replay.Differences) > 0 {
		t.Errorf("Replay() = %v, %v", replay.Differences, err)
	}
}

// TestMapAdaptsWithASecondPool: records that are put to a second pool are hard ones, and count as such
// before that has voted, so that the others have the margins that they would have without it.
func TestMapAdaptsWithASecondPool(t *testing.T) {
	if raceDetector {
		t.Skip("too slow for enough seeds; it is done without the race detector")
	}
	certified := func(seed int, second string) float64 {
		c := maker.Config{Model: fmt.Sprintf("sim/default?p=0.95&hard=0.05:0.55&seed=%d", seed)}
		c.Solve.ModelEscalation = second
		e := newEngine(t, maker.Options{Config: c})
		run, err := e.Map(t.Context(), maker.Table{
			Questions: []maker.RecordQuestion{{Prompt: "Compute: {{.n}} + 1", As: reader.Number{}}},
			Records: func(yield func(maker.Record, error) bool) {
				for i := range 300 {
					if !yield(maker.Record{Line: i + 1, Columns: []string{"n"}, Values: map[string]any{"n": i}}, nil) {
						return
					}
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Result(); err != nil {
			t.Fatal(err)
		}
		kept, err := runs.Open(run.Dir())
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := kept.Certify()
		if err != nil {
			t.Fatal(err)
		}
		return certificate.Votes.Bound
	}
	var with, without float64
	const seeds = 3
	for seed := range seeds {
		with += certified(seed, fmt.Sprintf("sim/default?seed=%d", 90+seed)) / seeds
		without += certified(seed, "") / seeds
	}
	if with < without-0.2 { // 0.4 below it if such a record counts only when its step ends, 0.02 now
		t.Errorf("all answers are the likeliest with %.3f, want about as much as without a second pool: %.3f", with, without)
	}
}

// TestMapAdapts: what the votes on records show about how hard they are counts for those
// that come after, by question if there are several, and a resume and a replay agree.
func TestMapAdapts(t *testing.T) {
	for _, test := range []struct {
		questions []string
		classes   []string
	}{
		{[]string{"Compute: {{.n}} + 1"}, []string{"Compute: {{.n}} + 1 #"}},
		{[]string{"Compute: {{.n}} + 1", "Compute: {{.q0}} * 2"}, []string{"q0: Compute: {{.n}} + 1 #", "q1: Compute: {{.q0}} * 2 #"}},
	} {
		e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?p=0.99&seed=2"}})
		table := maker.Table{Records: func(yield func(maker.Record, error) bool) {
			for i := range 300 {
				if !yield(maker.Record{Line: i + 1, Columns: []string{"n"}, Values: map[string]any{"n": i}}, nil) {
					return
				}
			}
		}}
		for i, prompt := range test.questions {
			q := maker.RecordQuestion{Prompt: prompt, As: reader.Number{}}
			if len(test.questions) > 1 {
				q.Name = fmt.Sprint("q", i)
			}
			table.Questions = append(table.Questions, q)
		}
		run, err := e.Map(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := run.Result(); err != nil || r.Status != event.StatusCompleted {
			t.Fatalf("Result() = %+v, %v", r, err)
		}
		kept, err := runs.Open(run.Dir())
		if err != nil {
			t.Fatal(err)
		}
		changes, margins := map[string]int{}, map[string][2]int{} // the first and the last of a class
		for rec, err := range kept.Events(0) {
			if err != nil {
				t.Fatal(err)
			}
			if c, ok := rec.Event.(event.PolicyChanged); ok {
				if c.Why == "drift" {
					t.Errorf("the order in which records end is taken for a drift: %+v", c)
				}
				if changes[c.Class]++; changes[c.Class] == 1 {
					margins[c.Class] = [2]int{c.Margins[0]}
				}
				margins[c.Class] = [2]int{margins[c.Class][0], c.Margins[0]}
			}
		}
		if got := slices.Sorted(maps.Keys(changes)); !slices.EqualFunc(got, test.classes, strings.HasPrefix) {
			t.Errorf("%d questions: policies of %q, want of %q", len(test.questions), got, test.classes)
		}
		for class, m := range margins {
			if changes[class] < 2 || m[1] >= m[0] {
				t.Errorf("%d questions: the margin of %s is %d at first and %d after %d changes, want that it falls", len(test.questions), class, m[0], m[1], changes[class])
			}
		}
		cert, err := kept.Certify()
		if err != nil || cert.Votes.Races != 300*len(test.questions) {
			t.Errorf("Certify() counts %d races, %v, want %d", cert.Votes.Races, err, 300*len(test.questions))
		}
		if replay, err := kept.Replay(nil); err != nil || len(replay.Differences) > 0 {
			t.Errorf("Replay() = %v, %v", replay, err)
		}
	}
}

// TestMapAskedAgain: of a record with several questions what is decided is in the table, stays
// as it is when the others are asked again, and every question counts once in the certificate.
func TestMapAskedAgain(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(script, []byte(`
- match: 'Language of (\S+)\?'
  right: {text: 'french'}
- match: 'Topic of k1 in french\?'
  answers: [{text: 'a', weight: 1}, {text: 'b', weight: 1}]
- match: 'Topic of (\S+) in french\?'
  right: {text: 'a'}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, maker.Options{Config: maker.Config{Model: "sim/default?seed=2&script=" + script, Voting: vote.Rule{Strategy: vote.FirstToK, K: 9, MaxSamples: 20}}})
	run, err := e.Map(t.Context(), maker.Table{
		Records: func(yield func(maker.Record, error) bool) {
			for i := range 3 {
				if !yield(maker.Record{Line: i + 1, Columns: []string{"n"}, Values: map[string]any{"n": fmt.Sprint("k", i)}}, nil) {
					return
				}
			}
		},
		Questions: []maker.RecordQuestion{
			{Name: "lang", Prompt: "Language of {{.n}}?", As: reader.Text{}},
			{Name: "topic", Prompt: "Topic of {{.n}} in {{.lang}}?", As: reader.Text{}},
		},
	})
	for _, most := range []int{20, 30, 40} {
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Result()
		if err != nil || result.Status != event.StatusUndecided {
			t.Fatalf("Result() = %+v, %v", result, err)
		}
		kept, err := runs.Open(run.Dir())
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range kept.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if r.Number == 1 && (r.Status != "undecided" || r.Output.Compact() != `{"lang":"french"}` || !r.Voting.Contested() || r.Voting.Samples > 9+most) {
				t.Errorf("with %d samples: %s, %s, votes %s of %d", most, r.Status, r.Output.Compact(), r.Voting.Split(), r.Voting.Samples)
			}
		}
		log, err := os.ReadFile(filepath.Join(run.Dir(), "events.jsonl"))
		n := 0
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, `"type":"vote_completed"`) && strings.Contains(line, `"question":"record/1/lang"`) {
				n++
			}
		}
		if err != nil || n != 1 {
			t.Errorf("with %d samples: the first question about the record was decided %d times (%v)", most, n, err)
		}
		if c, err := kept.Certify(); err != nil || c.Votes.Races != 6 || c.Votes.Undecided != 1 {
			t.Errorf("with %d samples: the certificate has %+v (%v), want 6 races, 1 of them undecided", most, c.Votes, err)
		}
		replay, err := kept.Replay(nil)
		if err != nil || len(replay.Differences) > 0 {
			t.Errorf("Replay() = %v, %v", replay.Differences, err)
		}
		run, err = e.Resume(t.Context(), result.Run, &maker.ResumeOptions{
			Retry: []string{"undecided"}, Change: func(c *maker.Config) { c.Voting.MaxSamples = most + 10 },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := run.Result(); err != nil { // it writes until then
		t.Error(err)
	}
}
