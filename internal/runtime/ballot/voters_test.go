package ballot

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
)

// TestVotersTakeTurns asks three models; each gets every third sample, with its
// own temperature, and the verdict says who voted for what.
func TestVotersTakeTurns(t *testing.T) {
	var mu sync.Mutex
	asked := map[string][]float64{}
	voter := func(name, answer string, temperature *float64) Voter {
		return Voter{Name: name, Temperature: temperature, Model: model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			asked[name] = append(asked[name], *req.Temperature)
			return &model.Response{Text: answer, Stop: model.StopEnd}, nil
		})}
	}
	hot := 0.7
	b := New([]Voter{voter("a", "x", nil), voter("b", "y", &hot), voter("c", "x", nil)}, readers, nil)
	defer b.Close()
	v, err := b.Decide(t.Context(), question(firstToK(2, 30)), Watch{})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, temps := range asked {
		total += len(temps)
	}
	if v.Status != flow.Decided || string(v.Answer) != `"x"` || total != v.Voting.Samples {
		t.Errorf("Decide() = %s %s with %d samples of %d", v.Status, v.Answer, v.Voting.Samples, total)
	}
	for _, temp := range asked["b"] {
		if temp != hot {
			t.Errorf("voter b was asked at %v, want %v", temp, hot)
		}
	}
	if asked["a"][0] != 0 {
		t.Errorf("the first sample was asked at %v, want 0", asked["a"][0])
	}
	sums := map[string]int{}
	for _, votes := range v.Voting.ByModel {
		for key, n := range votes {
			sums[key] += n
		}
	}
	if diff := cmp.Diff(v.Voting.Votes, sums); diff != "" {
		t.Errorf("votes by model do not add up (-all +sum):\n%s", diff)
	}
	if v.Voting.ByModel["b"]["x"] != 0 || v.Voting.ByModel["a"]["x"] == 0 {
		t.Errorf("by model = %v", v.Voting.ByModel)
	}
}

// batch is a model that gives several answers in one call.
type batch struct {
	script
	sizes []int
	short bool // gives one answer fewer than asked for, the first time
	fail  error
}

func (b *batch) GenerateN(ctx context.Context, req *model.Request, n int) ([]*model.Response, error) {
	b.mu.Lock()
	b.sizes = append(b.sizes, n)
	give, fail := n, b.fail
	if b.short {
		give, b.short = n-1, false
	}
	b.fail = nil
	b.mu.Unlock()
	if fail != nil {
		return nil, fail
	}
	var out []*model.Response
	for range give {
		r, err := b.Generate(ctx, req)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func TestSeveralSamplesPerCall(t *testing.T) {
	for _, c := range []struct {
		name    string
		perCall int
		short   bool
		fail    error
		sizes   []int
		faults  int
	}{
		{"one", 1, false, nil, nil, 0},
		{"all but the first", 8, false, nil, []int{4}, 0},
		{"in pairs", 2, false, nil, []int{2, 2}, 0},
		{"fewer than asked for", 8, true, nil, []int{4}, 0},
		{"one failed call is one fault", 8, false, &model.Error{Kind: model.Transient}, []int{4}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &batch{script: script{replies: texts("a", "a", "a", "a", "a", "a", "a", "a")}, short: c.short, fail: c.fail}
			v := decide(t, m, &Options{PerCall: c.perCall}, question(firstToK(5, 20)))
			if v.Status != flow.Decided || v.Voting.Samples != 5 || v.Voting.Faults != c.faults {
				t.Errorf("%s: Decide() = %s, %+v", c.name, v.Status, v.Voting)
			}
			if diff := cmp.Diff(c.sizes, m.sizes); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", c.name, diff)
			}
		})
	}
}

// TestColdPrefix lets the first sample fill the provider's cache before the
// others read from it, once.
func TestColdPrefix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{replies: []reply{
			{"a", nil, time.Second}, {"a", nil, time.Second}, {"a", nil, time.Second},
			{"a", nil, time.Second}, {"a", nil, time.Second}, {"a", nil, time.Second},
			{"a", nil, time.Second}, {"a", nil, time.Second}, {"a", nil, time.Second},
		}}
		b := New(only(s), readers, nil)
		defer b.Close()
		q := question(firstToK(3, 10))
		q.System = strings.Repeat("rules ", 1000)
		for i, want := range []time.Duration{2 * time.Second, time.Second} {
			start := time.Now()
			if _, err := b.Decide(t.Context(), q, Watch{}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took != want {
				t.Errorf("question %d took %s, want %s", i, took, want)
			}
		}
		time.Sleep(2 * cacheLife) // fake time: the cache has gone cold
		start := time.Now()
		if _, err := b.Decide(t.Context(), q, Watch{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("after the cache's life a question took %s, want 2s", took)
		}
	})
}

func TestPrefixIsMarked(t *testing.T) {
	var marked []bool
	m := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
		marked = append(marked, req.CachePrefix)
		return &model.Response{Text: "a", Stop: model.StopEnd}, nil
	})
	short, long := question(firstToK(1, 1)), question(firstToK(1, 1))
	long.System = strings.Repeat("x", cachedPrefix)
	decide(t, m, nil, short)
	decide(t, m, nil, long)
	if want := []bool{false, true}; fmt.Sprint(marked) != fmt.Sprint(want) {
		t.Errorf("CachePrefix = %v, want %v", marked, want)
	}
}
