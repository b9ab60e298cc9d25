package vote

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTranscripts plays the races in testdata. In each, a line "rule" comes
// first, then samples with the decision that is expected after them.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob(testdata/*.txt) = %v, %v, want files", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			playTranscript(t, string(text))
		})
	}
}

func playTranscript(t *testing.T, text string) {
	t.Helper()
	var tally *Tally
	race := ""
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		want := ""
		switch fields[0] {
		case "race":
			race, tally = strings.Join(fields[1:], " "), nil
			continue
		case "rule":
			tally = NewTally(parseRule(t, fields[1:]))
			continue
		case "start":
			want = strings.Join(fields[1:], " ")
		case "vote":
			tally.Vote(strings.Trim(fields[1], `"`))
			want = strings.Join(fields[2:], " ")
		case "flag":
			tally.Flag()
			want = strings.Join(fields[1:], " ")
		default:
			t.Fatalf("line %d: %q is not a line of a transcript", number, line)
		}
		if got := describe(tally.Decision()); got != want {
			t.Errorf("line %d, race %q, after %q: Decision() = %s, want %s", number, race, fields[0], got, want)
		}
	}
}

func parseRule(t *testing.T, fields []string) Rule {
	t.Helper()
	rule := Rule{Strategy: Strategy(fields[0])}
	for _, field := range fields[1:] {
		name, value, _ := strings.Cut(field, "=")
		into := map[string]*int{"n": &rule.N, "k": &rule.K, "max": &rule.MaxSamples}[name]
		if into == nil {
			t.Fatalf("rule %q has an unknown parameter %q", fields, name)
		}
		if _, err := fmt.Sscan(value, into); err != nil {
			t.Fatalf("rule %q: %v", fields, err)
		}
	}
	return rule
}

func describe(d Decision) string {
	if d.Outcome == Won {
		return fmt.Sprintf("%v %s", d.Outcome, cmp.Or(d.Key, `""`))
	}
	return fmt.Sprintf("%v need %d", d.Outcome, d.Need)
}

func firstToK(k, maxSamples int) Rule {
	return Rule{Strategy: FirstToK, K: k, MaxSamples: maxSamples}
}

// decide plays votes, given as one letter each, and "!" for a flag.
func decide(rule Rule, votes string) Decision {
	tally := NewTally(rule)
	for _, key := range votes {
		if key == '!' {
			tally.Flag()
		} else {
			tally.Vote(string(key))
		}
	}
	return tally.Decision()
}

func checkDecision(t *testing.T, rule Rule, votes, want string) {
	t.Helper()
	if got := describe(decide(rule, votes)); got != want {
		t.Errorf("Decision() under %+v after %q = %s, want %s", rule, votes, got, want)
	}
}

func TestLessonFirstToKNeedsAMargin(t *testing.T) {
	checkDecision(t, firstToK(3, 100), "ababa", "open need 2")
	checkDecision(t, firstToK(3, 100), "abababababab", "open need 3")
	checkDecision(t, firstToK(3, 100), "ababaaa", "won a")
}

func TestLessonUnanimityIsNotSpecial(t *testing.T) {
	for k := 1; k <= 20; k++ {
		rule := firstToK(k, 1000)
		// Not early, whatever k is ...
		checkDecision(t, rule, strings.Repeat("a", k-1), "open need 1")
		// ... and not only at the cap.
		checkDecision(t, rule, strings.Repeat("a", k), "won a")
	}
}

func TestLessonNoShareRule(t *testing.T) {
	checkDecision(t, firstToK(5, 100), "baaa", "open need 3")                          // 75 %
	checkDecision(t, firstToK(11, 100), "bb"+strings.Repeat("a", 12), "open need 1")   // 86 %
	checkDecision(t, firstToK(100, 1000), "b"+strings.Repeat("a", 100), "open need 1") // 99 %
}

func TestLessonPluralityAtTheCapIsNotAWin(t *testing.T) {
	checkDecision(t, firstToK(3, 5), "aabab", "stuck need 2")
	checkDecision(t, firstToK(5, 5), "aaaab", "stuck need 2")
	checkDecision(t, firstToK(3, 5), "aab!!", "stuck need 2")
	checkDecision(t, Rule{Strategy: Majority, N: 3, MaxSamples: 4}, "abca", "stuck need 2")
	checkDecision(t, Rule{Strategy: Majority, N: 5, MaxSamples: 6}, "abac!b", "stuck need 2")
}

func TestLessonTheWinnerIsOneOfTheVotes(t *testing.T) {
	// The key comes back byte for byte: nothing rewrites it or scores it.
	const key = "  {\"b\":1.0, \"a\":\"\u0000\xff\"} "
	tally := NewTally(firstToK(2, 9))
	tally.Vote("a much longer and more confident answer")
	for range 3 {
		tally.Vote(key)
	}
	if got := tally.Decision(); got.Outcome != Won || got.Key != key {
		t.Errorf("Decision() = %+v, want %q to win", got, key)
	}
}

func TestLessonAnEmptyKeyCanWin(t *testing.T) {
	for _, rule := range []Rule{
		{Strategy: None, MaxSamples: 1},
		{Strategy: Majority, N: 3, MaxSamples: 5},
		firstToK(3, 5),
	} {
		tally := NewTally(rule)
		for range 3 {
			tally.Vote("")
		}
		if got := tally.Decision(); got.Outcome != Won || got.Key != "" {
			t.Errorf("Decision() under %+v after empty answers = %+v, want the empty key to win", rule, got)
		}
	}
}

func TestLessonAWinOnTheLastSampleCounts(t *testing.T) {
	checkDecision(t, Rule{Strategy: None, MaxSamples: 3}, "!!a", "won a")
	checkDecision(t, Rule{Strategy: Majority, N: 3, MaxSamples: 5}, "abcaa", "won a")
	checkDecision(t, firstToK(3, 3), "aaa", "won a")
	checkDecision(t, firstToK(3, 6), "ba!aaa", "won a")
}

// A rule may ask for more votes than its margin needs.
func TestMinVotes(t *testing.T) {
	for _, test := range []struct {
		rule          Rule
		samples, want string
	}{
		{Rule{Strategy: FirstToK, K: 2, MinVotes: 3, MaxSamples: 5}, "aa", "open need 1"},
		{Rule{Strategy: FirstToK, K: 2, MinVotes: 3, MaxSamples: 5}, "aaa", "won a"},
		{Rule{Strategy: FirstToK, K: 2, MinVotes: 3, MaxSamples: 5}, "aab", "open need 1"},
		{Rule{Strategy: FirstToK, K: 2, MinVotes: 3, MaxSamples: 5}, "aaba", "won a"},
		{Rule{Strategy: FirstToK, K: 2, MinVotes: 3, MaxSamples: 3}, "!", "stuck need 3"},
		{Rule{Strategy: FirstToK, K: 1, MinVotes: 2, MaxSamples: 5}, "a!", "open need 1"},
		{Rule{Strategy: FirstToK, K: 4, MinVotes: 3, MaxSamples: 5}, "aaa", "open need 1"},
		{Rule{Strategy: Majority, N: 3, MinVotes: 3, MaxSamples: 5}, "aa", "open need 1"},
		{Rule{Strategy: Majority, N: 3, MinVotes: 3, MaxSamples: 5}, "aab", "won a"},
		{Rule{Strategy: None, MinVotes: 3, MaxSamples: 3}, "a", "won a"},
	} {
		checkDecision(t, test.rule, test.samples, test.want)
	}
	for _, rule := range []Rule{{Strategy: FirstToK, K: 1, MinVotes: -1, MaxSamples: 3}, {Strategy: FirstToK, K: 1, MinVotes: 4, MaxSamples: 3}} {
		if err := rule.Validate(); err == nil || !strings.Contains(err.Error(), "min votes") {
			t.Errorf("Validate(%+v) = %v, want an error about min votes", rule, err)
		}
	}
}

func TestTallyCounts(t *testing.T) {
	tally := NewTally(firstToK(3, 10))
	if got := tally.Margin(); got != 0 {
		t.Errorf("Margin() of an empty tally = %d, want 0", got)
	}
	tally.Vote("b")
	if tally.Contested() {
		t.Errorf("Contested() after one vote = true, want false")
	}
	tally.Flag()
	tally.Vote("a")
	tally.Vote("b")
	want := []Count{{"b", 2}, {"a", 1}}
	if got := tally.Counts(); !slices.Equal(got, want) {
		t.Errorf("Counts() = %v, want %v", got, want)
	}
	if v, f, s, m := tally.Votes(), tally.Flags(), tally.Samples(), tally.Margin(); v != 3 || f != 1 || s != 4 || m != 1 {
		t.Errorf("Votes, Flags, Samples, Margin = %d, %d, %d, %d, want 3, 1, 4, 1", v, f, s, m)
	}
	if !tally.Contested() {
		t.Errorf("Contested() with two answers = false, want true")
	}
}

// TestLeast: so many votes for one answer decide, and one fewer does not.
func TestLeast(t *testing.T) {
	for _, rule := range []Rule{
		{Strategy: None, N: 3, K: 4, MaxSamples: 50}, {Strategy: Majority, N: 5, K: 9, MaxSamples: 50}, {Strategy: Majority, N: 4, MaxSamples: 50},
		{Strategy: Majority, N: 3, MinVotes: 7, MaxSamples: 50}, {Strategy: FirstToK, N: 3, K: 1, MaxSamples: 50}, {Strategy: FirstToK, K: 4, MaxSamples: 50},
		{Strategy: FirstToK, K: 4, MinVotes: 6, MaxSamples: 50},
	} {
		tally, votes := NewTally(rule), 0
		for ; tally.Decision().Outcome == Open; votes++ {
			tally.Vote("a")
		}
		if votes != rule.Least() {
			t.Errorf("%+v: %d votes decided, want %d", rule, votes, rule.Least())
		}
	}
}

func TestRuleValidate(t *testing.T) {
	tests := []struct {
		rule Rule
		want string // in the error; empty if there is none
	}{
		{Rule{Strategy: None, MaxSamples: 1}, ""},
		{Rule{Strategy: None}, "max samples is 0"},
		{Rule{Strategy: Majority, N: 1, MaxSamples: 1}, ""},
		{Rule{Strategy: Majority, N: 5, MaxSamples: 3}, ""},
		{Rule{Strategy: Majority, N: 5, MaxSamples: 2}, "needs 3 votes"},
		{Rule{Strategy: Majority, N: 4, MaxSamples: 2}, "needs 3 votes"},
		{Rule{Strategy: Majority, MaxSamples: 2}, "n = 0"},
		{firstToK(3, 3), ""},
		{firstToK(3, 2), "needs as many votes"},
		{firstToK(0, 3), "k = 0"},
		{firstToK(-1, 3), "k = -1"},
		{Rule{MaxSamples: 3}, "unknown strategy"},
		{Rule{Strategy: "best", MaxSamples: 3}, `unknown strategy "best"`},
		{Rule{Strategy: Majority, N: MostSamples, MaxSamples: MostSamples}, ""},
		{Rule{Strategy: None, MaxSamples: MostSamples + 1}, "max samples is 2147483648, want at most 2147483647"},
		{Rule{Strategy: Majority, N: math.MaxInt, MaxSamples: MostSamples}, "n = 9223372036854775807, want at most 2147483647"},
		{firstToK(3_000_000_000, MostSamples), "k = 3000000000, want at most 2147483647"},
	}
	for _, test := range tests {
		err := test.rule.Validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("Validate(%+v) = %v, want %q", test.rule, err, test.want)
		}
		func() {
			defer func() {
				if got := recover() != nil; got != (test.want != "") {
					t.Errorf("NewTally(%+v) panics: %t, want %t", test.rule, got, test.want != "")
				}
			}()
			NewTally(test.rule)
		}()
	}
}

// modelRace is the rule by definition: it looks at all votes each time.
type modelRace struct {
	rule  Rule
	votes map[string]int
	flags int
}

func (m *modelRace) total() int {
	n := 0
	for _, v := range m.votes {
		n += v
	}
	return n
}

// wins reports whether key satisfies the rule.
func (m *modelRace) wins(key string) bool {
	rival := 0
	for other, n := range m.votes {
		if other != key {
			rival = max(rival, n)
		}
	}
	own := m.votes[key]
	switch m.rule.Strategy {
	case None:
		return own > 0
	case Majority:
		return 2*own > m.rule.N && 2*own > m.total()
	default:
		return own >= m.rule.K+rival
	}
}

// decision finds a winner, or the shortest future that has one: it tries each
// candidate, and one nobody has named yet, with ever more votes.
func (m *modelRace) decision() Decision {
	candidates := []string{"nobody"}
	for key := range m.votes {
		candidates = append(candidates, key)
	}
	for need := 0; ; need++ {
		for _, key := range candidates {
			future := modelRace{rule: m.rule, votes: map[string]int{}}
			for k, n := range m.votes {
				future.votes[k] = n
			}
			future.votes[key] += need
			switch {
			case !future.wins(key):
			case need == 0:
				return Decision{Outcome: Won, Key: key}
			case m.total()+m.flags+need > m.rule.MaxSamples:
				return Decision{Outcome: Stuck, Need: need}
			default:
				return Decision{Outcome: Open, Need: need}
			}
		}
	}
}

// checkAgainstModel plays samples on a tally and the model, until the end of
// the race and past it.
func checkAgainstModel(t *testing.T, rule Rule, samples []byte) {
	t.Helper()
	tally := NewTally(rule)
	model := &modelRace{rule: rule, votes: map[string]int{}}
	want := model.decision()
	for i, sample := range samples {
		if want.Outcome == Open {
			if left := rule.MaxSamples - tally.Samples(); want.Need > left {
				t.Fatalf("model: open with need %d and %d samples left", want.Need, left)
			}
		}
		key := string('a' + rune(sample%8))
		flag := sample%8 == 7
		if flag {
			tally.Flag()
		} else {
			tally.Vote(key)
		}
		if want.Outcome == Open {
			if flag {
				model.flags++
			} else {
				model.votes[key]++
			}
			want = model.decision()
		}
		if got := tally.Decision(); got != want {
			t.Fatalf("Decision() under %+v after %d of samples %v = %+v, want %+v", rule, i+1, samples, got, want)
		}
		if got := tally.Samples(); got > rule.MaxSamples {
			t.Fatalf("Samples() = %d, more than the cap %d", got, rule.MaxSamples)
		}
	}
}

// randomRule returns a valid rule.
func randomRule(strategy, size, slack byte) Rule {
	n := int(size%9) + 1
	switch strategy % 3 {
	case 0:
		return Rule{Strategy: None, MaxSamples: n}
	case 1:
		return Rule{Strategy: Majority, N: n, MaxSamples: n/2 + 1 + int(slack%20)}
	default:
		return firstToK(n, n+int(slack%30))
	}
}

func TestTallyMatchesModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		rule := randomRule(byte(rng.Uint32()), byte(rng.Uint32()), byte(rng.Uint32()))
		samples := make([]byte, rng.IntN(40))
		kinds := 1 + rng.IntN(8) // few candidates make close races
		for i := range samples {
			samples[i] = byte(rng.IntN(kinds))
			if rng.IntN(8) == 0 {
				samples[i] = 7
			}
		}
		checkAgainstModel(t, rule, samples)
	}
}

func FuzzTally(f *testing.F) {
	f.Add(byte(0), byte(1), byte(1), []byte{7, 0})
	f.Add(byte(1), byte(4), byte(9), []byte{0, 1, 2, 3, 0, 0, 0})
	f.Add(byte(2), byte(2), byte(9), []byte{0, 1, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, strategy, size, slack byte, samples []byte) {
		checkAgainstModel(t, randomRule(strategy, size, slack), samples[:min(len(samples), 60)])
	})
}

// TestNeedNeverOvershoots launches what Need says in rounds, as the engine
// does, and counts the samples that come in after the decision.
func TestNeedNeverOvershoots(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		rule := randomRule(byte(rng.Uint32()), byte(rng.Uint32()), byte(rng.Uint32()))
		tally := NewTally(rule)
		kinds := 1 + rng.IntN(4)
		for tally.Decision().Outcome == Open {
			launched := tally.Decision().Need
			for i := range launched {
				if d := tally.Decision(); d.Outcome == Won {
					t.Fatalf("under %+v sample %d of %d launched was not needed: %v", rule, i+1, launched, tally.Counts())
				}
				if rng.IntN(6) == 0 {
					tally.Flag()
				} else {
					tally.Vote(string('a' + rune(rng.IntN(kinds))))
				}
			}
		}
	}
}

// TestNeedIsAttained gives the leader what it needs, and one less.
func TestNeedIsAttained(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		rule := randomRule(byte(rng.Uint32()), byte(rng.Uint32()), 0)
		rule.MaxSamples = 1000
		tally := NewTally(rule)
		for range rng.IntN(12) {
			tally.Vote(string('a' + rune(rng.IntN(4))))
		}
		d := tally.Decision()
		if d.Outcome != Open {
			continue
		}
		leader := "a"
		if counts := tally.Counts(); len(counts) > 0 {
			leader = slices.MaxFunc(counts, func(a, b Count) int { return cmp.Compare(a.Votes, b.Votes) }).Key
		}
		for i := range d.Need {
			if got := tally.Decision().Outcome; got != Open {
				t.Fatalf("under %+v: %v after %d of %d votes for the leader %v, want open", rule, got, i, d.Need, tally.Counts())
			}
			tally.Vote(leader)
		}
		if got := tally.Decision(); got.Outcome != Won || got.Key != leader {
			t.Fatalf("under %+v: %+v after %d votes for the leader %s, want a win", rule, got, d.Need, leader)
		}
	}
}

func BenchmarkTally(b *testing.B) {
	b.ReportAllocs()
	rule := firstToK(3, 100)
	for b.Loop() {
		tally := NewTally(rule)
		for _, key := range [...]string{"a", "b", "a", "a", "a"} {
			tally.Vote(key)
		}
		if tally.Decision().Outcome != Won {
			b.Fatal("no winner")
		}
	}
}
