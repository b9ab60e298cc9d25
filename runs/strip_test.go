package runs_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// voted is a step that was won by so many votes to so many.
func voted(step, won, lost, flagged int) event.StepCompleted {
	v := event.Voting{Samples: won + lost + flagged, RedFlagged: flagged, Votes: map[string]int{`"a"`: won}, Margin: won - lost}
	if lost > 0 {
		v.Votes[`"b"`] = lost
	}
	return event.StepCompleted{Step: step, Output: event.TextValue("a"), Voting: v}
}

// strips gives a run as it is, and without its index.
func strips(t *testing.T, run *runs.Run, check func(t *testing.T)) {
	t.Run("by its index", check)
	if err := os.Remove(filepath.Join(run.Dir(), runlog.IndexFile)); err != nil {
		t.Fatal(err)
	}
	t.Run("by its log", check)
}

func TestStrip(t *testing.T) {
	task := submitted("hanoi")
	task.Form, task.Steps = event.FormChain, 12
	run := written(t, task, voted(0, 3, 0, 0), voted(1, 3, 0, 2), voted(2, 5, 2, 0), voted(3, 3, 0, 0), voted(4, 4, 1, 1), voted(5, 2, 0, 0))
	strips(t, run, func(t *testing.T) {
		for name, test := range map[string]struct {
			options *runs.StripOptions
			want    runs.Strip
		}{
			"the whole run": {nil, runs.Strip{To: 6, Steps: 6, Total: 12, Count: []int{1, 1, 1, 1, 1, 1}, Margin: []int{3, 3, 3, 3, 3, 2},
				Lead: []float64{1, 1, 3. / 7, 1, .6, 1}, Contested: []int{0, 0, 1, 0, 1, 0}, Flagged: []int{0, 2, 0, 0, 1, 0}}},
			"cells of several steps": {&runs.StripOptions{Width: 2}, runs.Strip{To: 6, Steps: 6, Total: 12, Count: []int{3, 3}, Margin: []int{3, 2},
				Lead: []float64{3. / 7, .6}, Contested: []int{1, 1}, Flagged: []int{2, 1}}},
			"a part": {&runs.StripOptions{From: 2, To: 4}, runs.Strip{From: 2, To: 4, Steps: 2, Total: 12, Count: []int{1, 1}, Margin: []int{3, 3},
				Lead: []float64{3. / 7, 1}, Contested: []int{1, 0}, Flagged: []int{0, 0}}},
			"behind the end": {&runs.StripOptions{From: 9}, runs.Strip{From: 9, To: 9, Total: 12, Count: []int{}, Margin: []int{}, Lead: []float64{}, Contested: []int{}, Flagged: []int{}}},
		} {
			got, err := run.Strip(test.options)
			if diff := cmp.Diff(&test.want, got); diff != "" || err != nil {
				t.Errorf("Strip(%s): %v, -want +got\n%s", name, err, diff)
			}
		}
	})
}

// TestStripOfSeveralVotes: a step that took several votes is as close as the closest of them,
// however many samples there were in all, and one that others settled as those who did not.
func TestStripOfSeveralVotes(t *testing.T) {
	task := submitted("exec")
	task.Form = event.FormPlan
	twice := voted(1, 5, 2, 0) // two votes of 5 to 2
	twice.Voting.Samples = 14
	agreed := voted(2, 3, 0, 0) // a call and a result, on which all agreed
	agreed.Voting.Samples = 6
	second := voted(3, 3, 0, 0) // others settled what the first could not
	second.First = &event.Voting{Samples: 5, Votes: map[string]int{"a": 2, "b": 2, "c": 1}}
	person := event.StepCompleted{Step: 4, By: event.ByPerson, Output: event.TextValue("a"), First: second.First}
	run := written(t, task, voted(0, 5, 2, 0), twice, agreed, second, person)
	strips(t, run, func(t *testing.T) {
		got, err := run.Strip(nil)
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < .003 })
		if diff := cmp.Diff([]float64{3. / 7, 3. / 7, 1, 0, 0}, got.Lead, near); diff != "" || err != nil {
			t.Errorf("Strip(), -want +got: %v\n%s", err, diff)
		}
		if diff := cmp.Diff([]int{1, 1, 0, 1, 1}, got.Contested); diff != "" {
			t.Errorf("contested, -want +got\n%s", diff)
		}
	})
}

// TestStripOfAPlan: steps that were left out leave their cells empty.
func TestStripOfAPlan(t *testing.T) {
	task := submitted("exec")
	task.Form = event.FormPlan
	run := written(t, task, voted(3, 3, 0, 0), voted(0, 3, 0, 0))
	strips(t, run, func(t *testing.T) {
		got, err := run.Strip(nil)
		if diff := cmp.Diff([]int{3, -1, -1, 3}, got.Margin); diff != "" || err != nil || got.Total != 4 || got.Steps != 2 {
			t.Errorf("Strip() = %+v, %v", got, err)
		}
	})
}

func TestClosest(t *testing.T) {
	task := submitted("hanoi")
	task.Form, task.Steps = event.FormChain, 6
	run := written(t, task, voted(0, 3, 0, 0), voted(1, 3, 0, 2), voted(2, 5, 2, 0), voted(3, 3, 0, 0), voted(4, 4, 1, 1), voted(5, 2, 0, 0))
	strips(t, run, func(t *testing.T) {
		for name, test := range map[string]struct {
			options runs.StepOptions
			want    []int
		}{
			"the closest":             {runs.StepOptions{Closest: true, Limit: 3}, []int{2, 4, 5}},
			"of a part":               {runs.StepOptions{Closest: true, From: 3}, []int{4, 5, 3}},
			"only the contested ones": {runs.StepOptions{Closest: true, Contested: true}, []int{2, 4}},
			"in order":                {runs.StepOptions{Limit: 2, From: 1}, []int{1, 2}},
		} {
			var got []int
			for s, err := range run.Steps(&test.options) {
				if err != nil {
					t.Fatal(err)
				}
				if s.Output.Text() != "a" {
					t.Errorf("step %d has the output %s", s.Step, s.Output.Text())
				}
				got = append(got, s.Step)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Steps(%s): -want +got\n%s", name, diff)
			}
		}
	})
}

// TestStripOfALongRun: it is there at a glance, a million steps in less than 200 ms.
func TestStripOfALongRun(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("many steps")
	}
	const steps = 100_000
	dir := filepath.Join(t.TempDir(), "run")
	log, err := runlog.Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	task := submitted("hanoi")
	task.Form, task.Steps = event.FormChain, steps
	err = log.Append(task)
	for i := range steps {
		s := voted(i, 3, 0, 0)
		if i == 65_432 {
			s = voted(i, 12, 9, 0)
		}
		err = errors.Join(err, log.Append(s))
	}
	if err = errors.Join(err, log.Close()); err != nil {
		t.Fatal(err)
	}
	run := open(t, dir)
	best := time.Hour
	for range 10 { // the machine may be busy
		begun := time.Now()
		s, err := run.Strip(nil)
		best = min(best, time.Since(begun))
		if err != nil || s.Steps != steps || s.Contested[654] != 1 || len(s.Count) != 1000 {
			t.Fatalf("Strip() = %d steps in %d cells, %v", s.Steps, len(s.Count), err)
		}
	}
	if limit := 20 * time.Millisecond; best > limit {
		t.Errorf("the strip of 100,000 steps took %v, want less than %v", best, limit)
	}
	t.Logf("the strip of 100,000 steps took %v", best)
	for s, err := range run.Steps(&runs.StepOptions{Closest: true, Limit: 1}) {
		if err != nil || s.Step != 65_432 {
			t.Errorf("the closest step is %d, %v", s.Step, err)
		}
	}
}

func TestDetail(t *testing.T) {
	task := submitted("exec")
	task.Form = event.FormPlan
	sample := func(n int) event.Sample {
		return event.Sample{Question: "step/2", Step: 2, Sample: n, Voter: "sim/default", Framing: n + 1}
	}
	v := event.Voting{Samples: 4, RedFlagged: 1, Faults: 1, Votes: map[string]int{"sha256:1": 2, "sha256:2": 1}, Margin: 1, Answers: []event.Candidate{{Answer: []byte(`"b"`), Votes: 1}}}
	other := sample(7)
	other.Step = 22
	run := written(t, task,
		event.SampleCompleted{Sample: sample(0), Vote: "sha256:1", Text: event.TextValue("a")},
		event.SampleRedFlagged{Sample: sample(1), Flag: "length", Reason: "it is too long", Text: event.TextValue("aaaa")},
		event.SampleCompleted{Sample: sample(2), Vote: "sha256:2", Text: event.TextValue("b")},
		event.SampleFaulted{Question: "step/2", Step: 2, Sample: 3, Kind: "overloaded", Message: "busy"},
		event.SampleCompleted{Sample: other, Vote: "sha256:1", Text: event.TextValue("a")},
		event.SampleCompleted{Sample: sample(4), Vote: "sha256:1", Text: event.TextValue("a")},
		event.StepCompleted{Step: 2, Title: "count", Output: event.TextValue("a"), Voting: v},
	)
	d, err := run.Detail(2)
	if err != nil {
		t.Fatal(err)
	}
	want := []runs.Rival{
		{Key: "sha256:1", Votes: 2, Won: true, Answer: []byte(`"a"`), Voters: []string{"sim/default", "sim/default"}},
		{Key: "sha256:2", Votes: 1, Answer: []byte(`"b"`), Voters: []string{"sim/default"}},
	}
	if diff := cmp.Diff(want, d.Rivals); diff != "" {
		t.Errorf("Detail().Rivals: -want +got\n%s", diff)
	}
	var outcomes []string
	for _, s := range d.Samples {
		outcomes = append(outcomes, s.Outcome)
	}
	if diff := cmp.Diff([]string{"vote", "flag", "vote", "fault", "vote"}, outcomes); diff != "" || d.Samples[1].Reason != "it is too long" || d.Samples[2].Framing != 3 {
		t.Errorf("Detail().Samples = %+v, -want +got\n%s", d.Samples, diff)
	}
	if _, err := run.Detail(5); err == nil {
		t.Error("Detail(a step that is not there) is no error")
	}
}

// TestDetailOfAChain: what the voters were asked follows from the step before.
func TestDetailOfAChain(t *testing.T) {
	run := open(t, filepath.Join(frozen, full))
	d, err := run.Detail(3)
	if err != nil || d.Asked == "" || len(d.Samples) == 0 || len(d.Rivals) == 0 {
		t.Errorf("Detail(3) = %+v, %v, want what was asked, samples and rivals", d, err)
	}
}

func TestSession(t *testing.T) {
	task := submitted("exec")
	task.Keeper, task.Owner = "maker serve", "ci"
	for name, test := range map[string]struct {
		events []event.Event
		want   runs.Session
	}{
		"the first":             {nil, runs.Session{Keeper: "maker serve"}},
		"paused by the program": {[]event.Event{event.RunPaused{By: "maker serve"}}, runs.Session{Keeper: "maker serve", Paused: true, PausedBy: "maker serve"}},
		"resumed by hand":       {[]event.Event{event.RunPaused{By: "maker serve"}, event.RunResumed{}}, runs.Session{}},
	} {
		run := written(t, append([]event.Event{task}, test.events...)...)
		got, err := run.Session()
		got.Started = time.Time{}
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil || run.Owner() != "ci" {
			t.Errorf("Session(%s) of %s: %v, -want +got\n%s", name, run.Owner(), err, diff)
		}
		if list, err := runs.List(filepath.Dir(run.Dir())); err != nil || len(list) != 1 || list[0].Owner != "ci" {
			t.Errorf("List() = %+v, %v, want the owner", list, err)
		}
	}
}

// TestCursor: it goes on where it was, also when more was written since.
func TestCursor(t *testing.T) {
	task := submitted("hanoi")
	task.Form = event.FormChain
	run := written(t, task, voted(0, 3, 0, 0), voted(1, 3, 0, 0), voted(2, 3, 0, 0), voted(3, 3, 0, 0))
	for _, from := range []uint64{0, 2, 4, 9} {
		c, next := run.Cursor(from), from
		for {
			lines, err := c.Read(2, 1<<20)
			if err != nil || len(lines) > 2 {
				t.Fatalf("Read(2) = %d lines, %v", len(lines), err)
			}
			if len(lines) == 0 {
				break
			}
			for _, line := range lines {
				if rec, err := event.Decode(line); err != nil || rec.Seq != next {
					t.Errorf("event %d is %s, %v", next, line, err)
				}
				next++
			}
		}
		if want := max(from, 5); next != want {
			t.Errorf("Cursor(%d) ends before %d, want %d", from, next, want)
		}
	}
	if lines, err := run.Cursor(1).Read(10, 1); err != nil || len(lines) != 1 {
		t.Errorf("Read(few bytes) = %d lines, %v, want one", len(lines), err)
	}
}
