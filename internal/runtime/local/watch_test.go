package local

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/runs"
)

// sampleOf is a vote for a key.
func sampleOf(key string) *ballot.Sample {
	return &ballot.Sample{Response: &model.Response{}, Answer: domain.Answer{Key: key}}
}

func TestWatch(t *testing.T) {
	r := &Runtime{}
	var p runs.Progress
	r.Watch(&p)
	q, gauge, _ := r.watch.begin("step/7", 7)
	other, _, _ := r.watch.begin("step/8", 8)
	gauge.InFlight.Store(5)
	gauge.Retried.Add(2)
	long := strings.Repeat("x", 1000)
	for _, s := range []*ballot.Sample{sampleOf("a"), sampleOf("b"), sampleOf("a"), {Flag: redflag.New("odd", "odd")}, {Err: &model.Error{}}} {
		q.take(s) // the last one is one of the two faults
	}
	other.take(sampleOf(long))
	r.Watch(&p)
	want := []runs.OpenQuestion{
		{Key: "step/7", Step: 7, Votes: []runs.OpenVotes{{Answer: "a", Votes: 2}, {Answer: "b", Votes: 1}}, RedFlagged: 1, Retried: 2},
		{Key: "step/8", Step: 8, Votes: []runs.OpenVotes{{Answer: long[:longestShown-1] + "…", Votes: 1}}},
	}
	if diff := cmp.Diff(want, p.Open); diff != "" || p.Deciding != 2 || p.Faults != 1 {
		t.Errorf("Watch() = %d deciding, %d faults of samples that have not come, -want +got\n%s", p.Deciding, p.Faults, diff)
	}
	r.watch.end(q, true)
	p = runs.Progress{}
	if r.Watch(&p); p.Deciding != 1 || p.Open[0].Step != 8 {
		t.Errorf("Watch(one is decided) = %+v, want the other one", p.Open)
	}
}

// TestWatchBeforeTheFirstLook: the only question of a run has begun when somebody looks for the
// first time. As long as nobody does, further ones cost nothing.
func TestWatchBeforeTheFirstLook(t *testing.T) {
	r := &Runtime{}
	q, gauge, counted := r.watch.begin("only", 3)
	if q == nil || gauge == nil || !counted {
		t.Fatalf("begin(before a look) = %v, %v, %t, want it shown and counted", q, gauge, counted)
	}
	q.take(sampleOf("a"))
	var p runs.Progress
	r.Watch(&p)
	if want := []runs.OpenQuestion{{Key: "only", Step: 3, Votes: []runs.OpenVotes{{Answer: "a", Votes: 1}}}}; !cmp.Equal(want, p.Open) || p.Deciding != 1 {
		t.Errorf("Watch() = %d deciding, %+v, want %+v", p.Deciding, p.Open, want)
	}
	r.watch.end(q, counted)
	if r.Watch(&p); p.Deciding != 0 {
		t.Errorf("Watch(at the end) = %d deciding, want none", p.Deciding)
	}

	unseen := &Runtime{}
	for i := range mostOpen {
		unseen.watch.end(ending(unseen.watch.begin("q", i)))
	}
	if q, gauge, counted := unseen.watch.begin("later", mostOpen); q != nil || gauge != nil || counted || unseen.watch.ahead("later", mostOpen) != nil {
		t.Errorf("begin(nobody looks) = %v, %v, %t, want nothing", q, gauge, counted)
	}
}

// ending is what the end of a question takes of its beginning.
func ending(q *openQuestion, _ *ballot.Gauge, counted bool) (*openQuestion, bool) { return q, counted }

// TestWatchMakesRoom: of many questions a few are shown after each look, and all are counted.
func TestWatchMakesRoom(t *testing.T) {
	r := &Runtime{}
	var p runs.Progress
	r.Watch(&p)
	var open []*openQuestion
	for i := range 10 * mostOpen {
		q, _, counted := r.watch.begin("q", i)
		if open = append(open, q); !counted || (q != nil) != (i < mostOpen) {
			t.Fatalf("begin(%d) = %v, %t, want that the first %d are shown and all are counted", i, q, counted, mostOpen)
		}
	}
	if r.Watch(&p); p.Deciding != 10*mostOpen || len(p.Open) != mostOpen {
		t.Errorf("Watch() = %d deciding, %d shown, want %d and %d", p.Deciding, len(p.Open), 10*mostOpen, mostOpen)
	}
	if q, _, _ := r.watch.begin("late", 0); q != nil {
		t.Error("begin(no room) shows another one")
	}
	r.watch.end(open[0], true)
	r.Watch(&p)
	if q, _, _ := r.watch.begin("later", 0); q == nil {
		t.Error("begin(there is room after a look) shows nothing")
	}
}

// TestWatchKeepsTheLatestContests: however long a run is, what is shown of it stays small.
func TestWatchKeepsTheLatestContests(t *testing.T) {
	r := &Runtime{}
	for i := range 3 * mostContests {
		r.watch.contested("q", i, &flow.Verdict{Status: flow.Decided, Answer: []byte(`"a"`)})
	}
	r.watch.contested("q", -1, &flow.Verdict{Status: flow.Decided, Intent: &event.Intent{Tool: "Bash", Input: []byte(`{}`)}})
	var p runs.Progress
	r.Watch(&p)
	last := p.Contests[len(p.Contests)-1]
	if len(p.Contests) != mostContests || p.Contests[0].Step != 2*mostContests+1 || last.Step != -1 || string(last.Output.JSON) != `{"tool":"Bash","input":{}}` {
		t.Errorf("Watch() = %d contests from step %d to %+v, want the latest %d", len(p.Contests), p.Contests[0].Step, last, mostContests)
	}
}
