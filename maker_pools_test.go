package maker_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// TestPools measures what a second pool is good for, and mixing pools from the first vote.
// One step in a hundred is a blind spot of a model: with the given chance a sample follows
// one opinion of it, which is wrong. Those of the models are different ones. (The table in
// docs/certificate.md.)
func TestPools(t *testing.T) {
	seeds := 40
	if raceDetector || testing.Short() {
		seeds = 20
	}
	type measured struct{ right, wrong, undecided, votes, usd float64 }
	measure := func(rho string, change func(c *maker.Config, models []string)) measured {
		var m measured
		steps := 0.0
		for seed := range seeds {
			var models []string
			for i := range 3 {
				models = append(models, fmt.Sprintf("sim/default?p=0.99&rho=%s&seed=%d", rho, 1000*i+seed+1))
			}
			r := solved(t, adaptive(t, t.TempDir(), models[0], func(c *maker.Config) {
				c.OnFutile = "warn"
				change(c, models)
			}), hanoi.Params{Disks: 7})
			switch {
			case r.Status == event.StatusCompleted:
				m.right += 1 / float64(seeds)
			case r.Wrong:
				m.wrong += 1 / float64(seeds)
			default:
				m.undecided += 1 / float64(seeds)
			}
			steps += float64(r.StepsCompleted)
			m.votes += float64(r.Voting.Samples)
			m.usd += *r.TotalCostUSD
		}
		m.votes /= steps
		m.usd *= 1000 / steps
		return m
	}
	got := map[string]measured{}
	for _, rho := range []string{"0.45", "0.6", "0.95"} {
		for _, s := range []struct {
			name   string
			change func(c *maker.Config, models []string)
		}{
			{"one", func(*maker.Config, []string) {}},
			{"second", func(c *maker.Config, m []string) { c.Solve.ModelEscalation = m[1] }},
			{"mixed", func(c *maker.Config, m []string) { c.Voters = m[:2] }},
			{"mixed, then a third", func(c *maker.Config, m []string) { c.Voters, c.Solve.ModelEscalation = m[:2], m[2] }},
			{"three mixed", func(c *maker.Config, m []string) { c.Voters = m }},
		} {
			m := measure(rho, s.change)
			got[rho+" "+s.name] = m
			t.Logf("rho %-4s %-20s %3.0f %% right, %3.0f %% wrong, %3.0f %% undecided, %5.2f votes a step, $%.2f for 1,000 steps",
				rho, s.name, 100*m.right, 100*m.wrong, 100*m.undecided, m.votes, m.usd)
		}
	}
	// What voters are split over a second pool settles, at least where they lean to what is
	// right; what they agree on it does not get to see.
	if a, b := got["0.45 one"], got["0.45 second"]; b.right < a.right+.2 {
		t.Errorf("with a second pool %.2f of the runs are right, without %.2f, want a fifth more", b.right, a.right)
	}
	if a, b := got["0.95 one"], got["0.95 second"]; b.wrong < a.wrong-.1 || a.wrong < .5 {
		t.Errorf("unanimous errors: %.2f of the runs are wrong, with a second pool %.2f, want most of them with both", a.wrong, b.wrong)
	}
	for _, rho := range []string{"0.45", "0.6", "0.95"} {
		if m := got[rho+" mixed"]; m.wrong > .05 {
			t.Errorf("rho %s: %.2f of the runs with two pools in turn are wrong, want at most .05", rho, m.wrong)
		}
	}
}

// TestSecondPoolOverCrashes: wherever a run is killed whose hard steps a second pool
// settles, it goes on with the policies that it would have had, to the byte; the log is
// sound, and whether it is read in full or by its index gives the same result.
func TestSecondPoolOverCrashes(t *testing.T) {
	const model, other = "sim/default?hard=0.1:0.6&malformed=0.02&seed=5", "sim/default?p=0.99&seed=6"
	second := func(c *maker.Config) {
		c.Solve.ModelEscalation, c.OnFutile = other, "warn"
		c.BatchSize = 1 // so that answers come in one order
	}
	root := t.TempDir()
	whole := solved(t, adaptive(t, root, model, second), hanoi.Params{Disks: 6})
	folder := filepath.Join(root, whole.Run)
	first, err := runs.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := first.Certify()
	if err != nil {
		t.Fatal(err)
	}
	if whole.Status != event.StatusCompleted || cert.Votes.Confirmed == 0 || whole.Certificate.Votes != cert.Votes {
		t.Fatalf("the run is %s (%s) with %+v and %+v, want it completed, with steps that two pools agree on", whole.Status, whole.Reason, whole.Certificate, cert.Votes)
	}
	classes := map[string]int{}
	for _, c := range cert.Classes {
		classes[c.Class] = c.Races
	}
	if want := (map[string]int{"hanoi": whole.StepsCompleted, "hanoi@" + other: cert.Votes.Confirmed}); !cmp.Equal(want, classes) {
		t.Errorf("the races of the classes are %v, want %v", classes, want)
	}
	lines, want := linesOf(t, folder), policiesOf(t, first)
	if log := strings.Join(lines, ""); !strings.Contains(log, `"why":"price"`) || !strings.Contains(log, `"by":"model"`) {
		t.Errorf("no step was left to the second pool because of its price:\n%s", log)
	}
	votes, equal := votesOf(t, first), 0
	every := 29
	if raceDetector || testing.Short() {
		every = 41
	}
	for n := 1; n < len(lines)-1; n += every {
		_, again := resumeAfter(t, func(dir string) *maker.Engine { return adaptive(t, dir, model, second) }, whole.Run, lines[:n])
		got := policiesOf(t, again)
		if cmp.Equal(votes, votesOf(t, again)) {
			equal++
		} else {
			// A simulator that starts anew may answer the rest of a step differently, or in
			// another order, so that the run is another one from here on.
			known := strings.Count(strings.Join(lines[:n], ""), `"type":"policy_`)
			got = append(got[:known:known], want[known:]...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("killed after %d lines (%s): the policies are others (-want +got):\n%s", n, lines[n-1], diff)
		}
		if replay, err := again.Replay(nil); err != nil || len(replay.Differences) > 0 {
			t.Fatalf("killed after %d lines: the replay says %v, %v", n, replay, err)
		}
	}
	if equal < 2 {
		t.Errorf("%d of the resumed runs got the same votes, want some to compare", equal)
	}
}

// votesOf are the votes of the steps of a chain, with those of a first pool.
func votesOf(t *testing.T, run *runs.Run) [][2]map[string]int {
	t.Helper()
	var list [][2]map[string]int
	for rec, err := range run.Events(0) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := rec.Event.(event.StepCompleted); ok {
			votes := [2]map[string]int{e.Voting.Votes}
			if e.First != nil {
				votes[1] = e.First.Votes
			}
			list = append(list, votes)
		}
	}
	return list
}

// TestSecondPoolIsNotBelieved: what the second pool decides for is taken only if the first
// one leads with it, whatever the rule is, and a replay finds a log that says otherwise.
func TestSecondPoolIsNotBelieved(t *testing.T) {
	split := saying(t, "1", "2", "1", "2")
	ask := func(other string) (*maker.Result, *runs.Run) {
		t.Helper()
		dir := t.TempDir()
		cfg := maker.Config{Model: split, Voting: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4}}
		cfg.Solve.ModelEscalation = other
		engine := newEngine(t, maker.Options{LogDir: dir, Config: cfg})
		run, err := engine.Ask(t.Context(), "Which one?", reader.Number{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := run.Result()
		if err != nil {
			t.Fatal(err)
		}
		opened, err := runs.Open(run.Dir())
		if err != nil {
			t.Fatal(err)
		}
		return r, opened
	}
	agrees, _ := ask(saying(t, "2"))
	if agrees.Status != event.StatusCompleted {
		t.Errorf("a pool that agrees: %s (%s), want completed", agrees.Status, agrees.Reason)
	}
	differs, run := ask(saying(t, "3"))
	if differs.Status != event.StatusUndecided || !strings.Contains(differs.Reason, "agree on another answer") {
		t.Errorf("a pool that does not agree: %s (%s), want undecided", differs.Status, differs.Reason)
	}
	if replay, err := run.Replay(nil); err != nil || len(replay.Differences) > 0 {
		t.Errorf("the replay says %v, %v", replay, err)
	}
}

// TestFamilyNamesClasses: a family may say which of its steps are alike. What is learnt is
// by class, also after a resume, and the certificate has them.
func TestFamilyNamesClasses(t *testing.T) {
	family := maker.Steps[int]{
		Name: "sums", Count: 60,
		Question: func(step, previous int) (string, error) { return fmt.Sprintf("Compute: %d + 1", previous), nil },
		Class: func(step int) string {
			if step%3 == 0 {
				return "third"
			}
			return "" // that of the family
		},
	}.Family()
	dir := t.TempDir()
	cfg := maker.Config{Model: "sim/default?p=0.98&seed=4", Voting: vote.Rule{Strategy: vote.Adaptive}, MaxCalls: 150}
	engine := newEngine(t, maker.Options{LogDir: dir, Families: []domain.Family{family}, Config: cfg})
	run, err := engine.Chain(t.Context(), "sums", nil)
	if err != nil {
		t.Fatal(err)
	}
	mustResult(t, run)
	r := resume(t, engine, run.ID(), func(c *maker.Config) { c.MaxCalls = 0 })
	if r.Status != event.StatusCompleted {
		t.Fatalf("%s (%s), want completed", r.Status, r.Reason)
	}
	opened, err := runs.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := opened.Certify()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, k := range c.Classes {
		got[k.Class] = k.Races
	}
	if want := (map[string]int{"sums": 40, "third": 20}); !cmp.Equal(want, got) {
		t.Errorf("the races of the classes are %v, want %v", got, want)
	}
	if c.Votes != r.Certificate.Votes {
		t.Errorf("by the index the votes prove %+v, by the log %+v", r.Certificate.Votes, c.Votes)
	}
	wantReplay(t, engine, run.ID())
}

// TestCircle: a chain that never comes back stops where it does, in a circle of any length.
func TestCircle(t *testing.T) {
	for _, repeats := range []bool{true, false} {
		family := maker.Steps[int]{
			Name: "round", Count: 400, Start: 1, NeverRepeats: repeats,
			Question: func(_, previous int) (string, error) { return fmt.Sprintf("After %d?", previous), nil },
		}.Family()
		var script strings.Builder
		for n := range 30 {
			next := n + 1
			if n == 29 {
				next = 10 // instead of 30: they all think so
			}
			fmt.Fprintf(&script, "After %d\\? => %d\n", n, next)
		}
		engine := newEngine(t, maker.Options{Families: []domain.Family{family}, Config: maker.Config{Model: scripted(t, script.String())}})
		run, err := engine.Chain(t.Context(), "round", nil)
		if err != nil {
			t.Fatal(err)
		}
		r := mustResult(t, run)
		if !repeats {
			if r.Status != event.StatusCompleted {
				t.Errorf("a chain that may repeat: %s (%s), want completed", r.Status, r.Reason)
			}
			continue
		}
		if !r.Wrong || r.StepsCompleted > 3*30 || !strings.Contains(r.Reason, "goes round in a circle of 20 steps") {
			t.Errorf("%s (%s) after %d steps, want a circle of 20 within 90", r.Status, r.Reason, r.StepsCompleted)
		}
	}
}
