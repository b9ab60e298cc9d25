package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/maker-mdap/maker/model"
)

// atLeast is the chance of k or more hits in n trials, each a hit with probability p.
func atLeast(k, n int, p float64) float64 {
	sum := 0.0
	for hits := max(k, 0); hits <= n; hits++ {
		sum += exactlyHits(hits, n, p)
	}
	return sum
}

func exactlyHits(k, n int, p float64) float64 {
	ways := 1.0
	for i := range k {
		ways *= float64(n-i) / float64(i+1)
	}
	return ways * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
}

// majority is the chance that most of the framings get a right answer, each with one
// sample, which repeats the draw of the problem with the probability shared.
func majority(p, shared float64) float64 {
	const most = framings/2 + 1
	sum := 0.0
	for together := 0; together <= framings; together++ {
		apart := framings - together
		sum += exactlyHits(together, framings, shared) * (p*atLeast(most-together, apart, p) + (1-p)*atLeast(most, apart, p))
	}
	return sum
}

// TestFramingsGain checks what asking in five ways gains over asking in one: nothing if
// all errors are common ones, what theory says if framings keep some to themselves. One
// sample alone is right as often as ever.
func TestFramingsGain(t *testing.T) {
	const p = 0.7
	problems := trials(500)
	if got := majority(p, 1); math.Abs(got-p) > 1e-12 {
		t.Fatalf("the majority of copies is right with probability %v, want %v", got, p)
	}
	for _, kind := range framedProblems {
		n, tests := problems, []struct{ rho, own float64 }{{1, 0}, {1, 1}, {1, 0.4}, {0.8, 0.25}, {0, 0}, {0, 1}}
		if kind.name != "towers" { // others are slower, and what differs is how they are read
			n, tests = problems/5, tests[:2]
		}
		all := frame(t, n, kind.ask)
		for _, test := range tests {
			m := scripted(t, sumScript, framedSeed+fmt.Sprintf("&p=%v&rho=%v&own=%v", p, test.rho, test.own))
			var single [framings]int
			voted := 0
			for i := range all {
				right := 0
				for framing, req := range all[i].asked {
					if m.Answer(req).Text == all[i].right {
						right++
						single[framing]++
					}
				}
				if right > framings/2 {
					voted++
				}
				if test.rho == 1 && test.own == 0 && right%framings != 0 {
					t.Fatalf("%s: %d of %d framings of problem %d are right, want all or none", kind.name, right, framings, i)
				}
			}
			if shared := test.rho * (1 - test.own); !within(voted, n, majority(p, shared)) {
				t.Errorf("%s, rho %v, own %v: the majority is right in %d of %d problems, want a share of %.3f", kind.name, test.rho, test.own, voted, n, majority(p, shared))
			}
			for framing, right := range single {
				if !within(right, n, p) {
					t.Errorf("%s, rho %v, own %v: framing %d is right in %d of %d problems, want a share of %v", kind.name, test.rho, test.own, framing, right, n, p)
				}
				if test.rho == 1 && test.own == 0 && right != voted {
					t.Errorf("%s: framing %d is right in %d of %d problems and the majority in %d, want no gain", kind.name, framing, right, n, voted)
				}
			}
		}
	}
}

// TestFramingPairs checks how often two samples are wrong together: of one framing as
// rho says, whatever own is; of two framings less, by what they keep to themselves; of
// two problems in the same words by chance only.
func TestFramingPairs(t *testing.T) {
	const p = 0.8
	problems := trials(4000)
	chance := (1 - p) * (1 - p)
	for _, test := range []struct{ rho, own float64 }{{1, 0}, {1, 0.5}, {1, 1}, {0.7, 0}, {0.7, 0.3}, {0, 0.5}} {
		m := newModel(t, fmt.Sprintf("default?p=%v&rho=%v&own=%v&seed=5", p, test.rho, test.own))
		var inOne, across, neighbours int
		last := false
		for i := range problems {
			right := fmt.Sprintf("answer = [1, 3, %d]", i+5)
			wrong := func(words string) bool { return lastLine(m.Answer(askf(words, i+5)).Text) != right }
			const plain = "Sort: [3, %d, 1]" // the very text that stands for the problem
			a, b, c := wrong(plain), wrong(plain), wrong("Sort: [2, 1]\nanswer = [1, 2]\n\nSort: [3,%d,1].")
			inOne += count(a && b)
			across += count(a && c)
			neighbours += count(a && last)
			last = a
		}
		// Samples that repeat the same draw are wrong together as often as one is.
		expect := func(same float64) float64 { return same*(1-p) + (1-same)*chance }
		for _, pair := range []struct {
			of   string
			got  int
			want float64
		}{
			{"one framing", inOne, expect(test.rho * test.rho)},
			{"two framings", across, expect(test.rho * test.rho * (1 - test.own) * (1 - test.own))},
			{"two problems", neighbours, chance},
		} {
			if !within(pair.got, problems, pair.want) {
				t.Errorf("rho %v, own %v: two samples of %s are wrong in %d of %d cases, want a share of %.4f", test.rho, test.own, pair.of, pair.got, problems, pair.want)
			}
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestGreedyFramings: at temperature 0 a framing has one answer, whoever else is asked
// and however often. Two framings have two draws, unless they share that of the problem.
func TestGreedyFramings(t *testing.T) {
	const problems, p = 400, 0.7
	all := frame(t, problems, framedProblems[0].ask)
	zero := 0.0
	for _, test := range []struct {
		settings string
		same     float64 // share of problems to which two framings have the same greedy answer
	}{
		{"rho=1", 1}, {"rho=1&own=1", p*p + (1-p)*(1-p)}, {"rho=0", p*p + (1-p)*(1-p)}, {"rho=1&own=0.5", 0.25 + 0.75*(p*p+(1-p)*(1-p))},
	} {
		m := scripted(t, sumScript, framedSeed+fmt.Sprintf("&p=%v&", p)+test.settings)
		again := scripted(t, sumScript, framedSeed+fmt.Sprintf("&p=%v&", p)+test.settings)
		same := 0
		for i := range all {
			var greedy [framings]string
			for framing, req := range all[i].asked {
				cold := *req
				cold.Temperature = &zero
				greedy[framing] = m.Answer(&cold).Text
				m.Answer(req)
				m.Answer(all[i].asked[(framing+1)%framings])
				again.Answer(req)
				for _, other := range []*Model{m, again} {
					if got := other.Answer(&cold).Text; got != greedy[framing] {
						t.Fatalf("%s: problem %d, framing %d: greedy answers %q and %q differ", test.settings, i, framing, greedy[framing], got)
					}
				}
			}
			same += count(greedy[0] == greedy[1+i%(framings-1)])
		}
		if !within(same, problems, test.same) {
			t.Errorf("%s: two framings have the same greedy answer to %d of %d problems, want a share of %.3f", test.settings, same, problems, test.same)
		}
	}
}

// TestEarlierFramings: a simulator that is new draws on where another one was that was
// asked in several ways, each of which is counted for itself.
func TestEarlierFramings(t *testing.T) {
	const samples = 4 * framings
	var asked [framings]string
	for framing := range asked {
		asked[framing] = framedProblems[1].ask(t, 31, framing)
	}
	draw := func(m *Model, n, earlier int) string {
		req := ask(asked[n%framings])
		req.Earlier = earlier
		if n == 0 {
			req.Temperature = new(float64) // the first is greedy, as in a vote
		}
		return m.Answer(req).Text
	}
	for _, settings := range []string{"rho=0", "rho=0.5", "rho=0.5&own=0.5"} {
		name := "default?p=0.5&rivals=50&seed=9&" + settings
		one := newModel(t, name)
		var all []string
		for n := range samples {
			all = append(all, draw(one, n, 0))
		}
		for stopped := range samples {
			resumed := newModel(t, name)
			var got []string
			for n := stopped; n < samples; n++ {
				earlier := n / framings
				if n > 0 && n%framings == 0 {
					earlier-- // the greedy one does not count
				}
				got = append(got, draw(resumed, n, earlier))
			}
			if !slices.Equal(got, all[stopped:]) {
				t.Errorf("%s: samples from %d on are %q, want %q", settings, stopped, got, all[stopped:])
			}
		}
		if distinct := slices.Compact(slices.Sorted(slices.Values(all))); len(distinct) < 3 {
			t.Errorf("%s: all samples are among %q, want them to differ", settings, distinct)
		}
	}
}

// TestFramingsOfCalls: what is asked of an agent in two ways is one problem too, before
// and after its tools have answered.
func TestFramingsOfCalls(t *testing.T) {
	const script = `
- match: '(?:Look at|Read) (?P<file>\w+)'
  after: 0
  right: {tool_calls: [{name: Read, input: {path: '${file}'}}]}
  wrong: [{tool_calls: [{name: Read, input: {path: '${file}.old'}}]}]
- match: '(?:Look at|Read) (\w+)'
  match_result: '(?s).+'
  right: {text: 'seen: ${result.0|json}'}
  wrong: [{text: 'nothing'}]
`
	const problems, p = 300, 0.6
	m := scripted(t, script, fmt.Sprintf("&rho=1&p=%v", p))
	var calls, texts int
	for i := range problems {
		var called, said [2]string
		for framing, words := range []string{"Read f%d, please.", "Your task: Look at f%d"} {
			req := askf(words, i)
			first := m.Answer(req)
			called[framing] = moves(first)
			req.Messages = append(req.Messages, turn(&model.Response{ToolCalls: []model.ToolCall{{ID: first.ToolCalls[0].ID, Name: "Read"}}}, "1 line")...)
			said[framing] = m.Answer(req).Text
		}
		if called[0] != called[1] || said[0] != said[1] {
			t.Fatalf("file %d: calls %q and answers %q, want the same twice", i, called, said)
		}
		calls += count(called[0] == fmt.Sprintf(` Read{"path":"f%d"}`, i))
		texts += count(said[0] == `seen: "1 line"`)
	}
	if !within(calls, problems, p) || !within(texts, problems, p) {
		t.Errorf("%d calls and %d answers of %d are right, want shares of %v", calls, texts, problems, p)
	}
}
