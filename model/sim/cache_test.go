package sim

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

func TestCache(t *testing.T) {
	long := strings.Repeat("word ", 1000) // 1250 tokens
	tool := []model.Tool{{Name: "tool", Schema: []byte(`{"type":"object"}`)}}
	request := func(system string, tools []model.Tool, cache bool) *model.Request {
		req := ask("Sort: [2, 1]") // 3 tokens
		req.System, req.Tools, req.CachePrefix = system, tools, cache
		return req
	}
	m := newModel(t, "default?p=1&cache=on")
	off := newModel(t, "default?p=1")
	for i, test := range []struct {
		m    *Model
		req  *model.Request
		want usage.Tokens
	}{
		{off, request(long, nil, true), usage.Tokens{Input: 1253}},
		{m, request(long, nil, false), usage.Tokens{Input: 1253}},
		{m, request(long, nil, true), usage.Tokens{Input: 3, CacheWrite: 1250}},
		{m, request(long, nil, true), usage.Tokens{Input: 3, CacheRead: 1250}},
		{m, request(long, nil, false), usage.Tokens{Input: 1253}},
		{m, request(long, tool, true), usage.Tokens{Input: 3, CacheWrite: 1256}},
		{m, request(long, tool, true), usage.Tokens{Input: 3, CacheRead: 1256}},
		{m, request(long+"!", nil, true), usage.Tokens{Input: 3, CacheWrite: 1251}},
		{m, request(long, nil, true), usage.Tokens{Input: 3, CacheRead: 1250}},
		{m, request(long[:minCached*4-4], nil, true), usage.Tokens{Input: minCached + 2}},
		{m, request(long[:minCached*4-4], nil, true), usage.Tokens{Input: minCached + 2}},
		{m, request(long[:minCached*4-3], nil, true), usage.Tokens{Input: 3, CacheWrite: minCached}},
	} {
		r, err := test.m.Generate(t.Context(), test.req)
		if err != nil {
			t.Fatal(err)
		}
		test.want.Output = r.Usage.Output
		if r.Usage != test.want {
			t.Errorf("call %d: usage = %+v, want %+v", i, r.Usage, test.want)
		}
	}
	if r := m.Answer(request(long, nil, true)); r.Usage.CacheRead != 1250 {
		t.Errorf("Answer: usage = %+v, want it to read the cache", r.Usage)
	}
}

// TestCacheTakesTime sends requests together: none can read what the first one
// of them writes before that one is answered.
func TestCacheTakesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t, "default?cache=on&latency=1s")
		round := func() (writes, reads int) {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for range 5 {
				wg.Go(func() {
					req := ask("Sort: [2, 1]")
					req.System, req.CachePrefix = strings.Repeat("word ", 1000), true
					r, err := m.Generate(t.Context(), req)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					if r.Usage.CacheWrite > 0 {
						writes++
					}
					if r.Usage.CacheRead > 0 {
						reads++
					}
				})
			}
			wg.Wait()
			return writes, reads
		}
		begin := time.Now()
		if writes, reads := round(); writes != 5 || reads != 0 {
			t.Errorf("first five requests: %d writes and %d reads, want 5 and 0", writes, reads)
		}
		if writes, reads := round(); writes != 0 || reads != 5 {
			t.Errorf("next five requests: %d writes and %d reads, want 0 and 5", writes, reads)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("two rounds took %v, want 2s", took)
		}
	})
}
