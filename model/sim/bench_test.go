package sim

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/maker-mdap/maker/model"
)

// longPrompt is a Hanoi prompt of about 2 KB with 20 disks.
func longPrompt(serial int64) string {
	rules := strings.Repeat("Move one disk at a time, and never put a larger disk on a smaller one.\n", 26)
	return rules + "Serial number: " + strconv.FormatInt(serial, 10) +
		"\nPrevious move: [1, 0, 1]\n" +
		"Current state: [[20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2], [1], []]\n" +
		"What is the next move? Answer with two lines, move = [...] and next_state = [...].\n"
}

func BenchmarkHanoi(b *testing.B) {
	for _, name := range []string{"default", "default?p=0.9978&malformed=0.032&rivals=3&hard=0.001:0.7&rho=0.1&f429=0.01"} {
		b.Run(name, func(b *testing.B) {
			m := newModel(b, name)
			req := ask(longPrompt(1))
			b.ReportAllocs()
			for b.Loop() {
				m.Generate(b.Context(), req)
			}
		})
	}
}

// BenchmarkHanoiParallel asks different prompts from many goroutines.
func BenchmarkHanoiParallel(b *testing.B) {
	m := newModel(b, "default")
	var serial atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		reqs := make([]*model.Request, 64)
		for i := range reqs {
			reqs[i] = ask(longPrompt(serial.Add(1)))
		}
		for i := 0; pb.Next(); i++ {
			m.Generate(b.Context(), reqs[i%len(reqs)])
		}
	})
}

func TestAllocations(t *testing.T) {
	m := newModel(t, "default")
	req := ask(longPrompt(1))
	got := testing.AllocsPerRun(200, func() {
		if _, err := m.Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	})
	if got > 3 {
		t.Errorf("Generate of a Hanoi step makes %v allocations, want at most 3", got)
	}
}

func newModel(t testing.TB, name string) *Model {
	t.Helper()
	s, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(prompt string) *model.Request {
	return &model.Request{Messages: []model.Message{{Role: model.User, Text: prompt}}}
}

func askf(format string, args ...any) *model.Request { return ask(fmt.Sprintf(format, args...)) }
