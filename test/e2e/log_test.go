//go:build (slow || soak) && linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A line is what the tests read of one event.
type line struct {
	Type   string `json:"type"`
	Seq    uint64 `json:"seq"`
	Step   int    `json:"step"`
	Status any    `json:"status"` // of a verdict in words, of a fault a number
	Output struct {
		Move  move     `json:"move"`
		State [3][]int `json:"next_state"`
	} `json:"output"`
	Voting struct {
		Samples    int            `json:"samples"`
		RedFlagged int            `json:"red_flagged"`
		Faults     int            `json:"faults"`
		Votes      map[string]int `json:"votes"`
		Margin     int            `json:"margin"`
	} `json:"voting"`
	Spent spent `json:"spent"`
}

// spent is what a run says it has used.
type spent struct {
	Calls  int64 `json:"calls"`
	Tokens struct {
		Input      int64 `json:"input"`
		CacheRead  int64 `json:"cache_read"`
		CacheWrite int64 `json:"cache_write"`
		Output     int64 `json:"output"`
		Reasoning  int64 `json:"reasoning"`
	} `json:"tokens"`
	USD        float64 `json:"usd"`
	Abandoned  int64   `json:"abandoned"`
	HeldUSD    float64 `json:"held_usd"`
	HeldTokens int64   `json:"held_tokens"`
	Wasted     int64   `json:"wasted"`
}

func (s spent) tokens() int64 {
	t := s.Tokens
	return t.Input + t.CacheRead + t.CacheWrite + t.Output + t.Reasoning + s.HeldTokens
}

func (s spent) usd() float64 { return s.USD + s.HeldUSD }

// lines yields the complete lines of a log.
func lines(dir string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		f, err := os.Open(filepath.Join(dir, "events.jsonl"))
		if err != nil {
			yield(line{}, err)
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 1<<20)
		var seq uint64
		for ; ; seq++ {
			raw, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return // an unfinished line does not count
			}
			var l line
			if err == nil {
				err = json.Unmarshal(raw, &l)
			}
			if err == nil && l.Seq != seq {
				err = fmt.Errorf("seq = %d, want %d", l.Seq, seq)
			}
			if err != nil {
				err = fmt.Errorf("line %d of the log: %w", seq+1, err)
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// A move is disk, from, to.
type move [3]int

// solution yields the textbook solution: to move n disks, move all but the
// largest out of the way, move that one, and move the others onto it.
func solution(n int) iter.Seq[move] {
	var solve func(n, from, to, spare int, yield func(move) bool) bool
	solve = func(n, from, to, spare int, yield func(move) bool) bool {
		return n == 0 ||
			solve(n-1, from, spare, to, yield) &&
				yield(move{n, from, to}) &&
				solve(n-1, spare, to, from, yield)
	}
	return func(yield func(move) bool) { solve(n, 0, 2, 1, yield) }
}

// towers checks the moves of a run one after the other.
type towers struct {
	pegs  [3][]int // from bottom to top
	steps int
	next  func() (move, bool)
	stop  func()
}

func newTowers(disks int) *towers {
	c := &towers{}
	for d := disks; d >= 1; d-- {
		c.pegs[0] = append(c.pegs[0], d)
	}
	c.next, c.stop = iter.Pull(solution(disks))
	return c
}

// take checks the next committed step.
func (c *towers) take(l line) error {
	if l.Step != c.steps {
		return fmt.Errorf("step %d is committed where step %d belongs", l.Step, c.steps)
	}
	want, ok := c.next()
	if !ok {
		return fmt.Errorf("step %d is beyond the solution", l.Step)
	}
	if l.Output.Move != want {
		return fmt.Errorf("step %d: move = %v, want %v", l.Step, l.Output.Move, want)
	}
	from, to := &c.pegs[want[1]], &c.pegs[want[2]]
	*from = (*from)[:len(*from)-1]
	*to = append(*to, want[0])
	for i, peg := range c.pegs {
		if !slices.Equal(l.Output.State[i], peg) {
			return fmt.Errorf("step %d: next_state = %v, want %v", l.Step, l.Output.State, c.pegs)
		}
	}
	c.steps++
	return nil
}

// finished reports what is missing at the end.
func (c *towers) finished() error {
	if m, ok := c.next(); ok {
		return fmt.Errorf("the run ends after %d steps, before %v", c.steps, m)
	}
	if len(c.pegs[0])+len(c.pegs[1]) > 0 {
		return fmt.Errorf("the last state is %v, want all disks on peg 2", c.pegs)
	}
	return nil
}

// totals are what the committed steps of a log add up to.
type totals struct {
	steps, samples, flagged, faults, contested int
	sessions                                   int
	end                                        line  // the last complete line
	most                                       spent // the largest of each that any event states
}

// check reads a log, holds every committed step against the solution and
// demands that each is there once, in order, with votes that add up, and that
// none is asked again once it is decided.
func check(dir string, disks int) (totals, *towers, error) {
	var sum totals
	c := newTowers(disks)
	defer c.stop()
	decided := -1 // the last step with a verdict or a commit
	for l, err := range lines(dir) {
		if err != nil {
			return sum, c, err
		}
		sum.end = l
		sum.most.Calls = max(sum.most.Calls, l.Spent.Calls)
		sum.most.HeldTokens = max(sum.most.HeldTokens, l.Spent.tokens()) // tokens and held ones together
		sum.most.HeldUSD = max(sum.most.HeldUSD, l.Spent.usd())
		switch l.Type {
		case "task_submitted", "run_resumed":
			sum.sessions++
		case "agent_sample_completed", "agent_sample_red_flagged", "agent_sample_faulted", "vote_completed":
			if l.Step <= decided {
				return sum, c, fmt.Errorf("line %d: %s of step %d, which is decided already", l.Seq+1, l.Type, l.Step)
			}
			if l.Type == "vote_completed" && l.Status == "decided" {
				decided = l.Step
			}
		case "step_completed":
			if err := c.take(l); err != nil {
				return sum, c, err
			}
			votes := 0
			for _, n := range l.Voting.Votes {
				votes += n
			}
			if votes+l.Voting.RedFlagged != l.Voting.Samples {
				return sum, c, fmt.Errorf("step %d: %d votes and %d flags, want %d samples", l.Step, votes, l.Voting.RedFlagged, l.Voting.Samples)
			}
			decided = l.Step
			sum.steps++
			sum.samples += l.Voting.Samples
			sum.flagged += l.Voting.RedFlagged
			sum.faults += l.Voting.Faults
			if len(l.Voting.Votes) > 1 {
				sum.contested++
			}
		}
	}
	return sum, c, nil
}

// mustBeRight fails the test unless the run is completed, every move is right
// and a replay agrees.
func mustBeRight(t testing.TB, dir string, disks int) totals {
	t.Helper()
	sum, c, err := check(dir, disks)
	if err == nil {
		err = c.finished()
	}
	if err != nil {
		t.Fatalf("the log of %d disks: %v", disks, err)
	}
	if sum.end.Type != "task_completed" {
		t.Fatalf("the last event = %q, want task_completed", sum.end.Type)
	}
	mustMaker(t, 0, "replay", dir)
	return sum
}

// mustBeConsistent is mustBeRight for a run that is not over.
func mustBeConsistent(t testing.TB, dir string, disks int) totals {
	t.Helper()
	sum, _, err := check(dir, disks)
	if err != nil {
		t.Fatalf("the log of %d disks: %v", disks, err)
	}
	return sum
}

// result is what the tests read of a result.json.
type result struct {
	Status         string `json:"status"`
	Stop           string `json:"stop"`
	Reason         string `json:"reason"`
	StepsCompleted int    `json:"steps_completed"`
	Voting         struct {
		Samples        int     `json:"samples"`
		RedFlagged     int     `json:"red_flagged"`
		Faults         int     `json:"faults"`
		SamplesPerStep float64 `json:"samples_per_step"`
	} `json:"voting"`
	Usage spent `json:"usage"`
}

func readResult(t testing.TB, dir string) result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	var r result
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatalf("result.json: %v", err)
	}
	return r
}

// readLog returns a log as it stands there.
func readLog(t testing.TB, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// complete returns a log without an unfinished last line.
func complete(log []byte) []byte { return log[:bytes.LastIndexByte(log, '\n')+1] }

// mustExtend fails the test unless after begins with all of before.
func mustExtend(t testing.TB, before, after []byte) {
	t.Helper()
	if bytes.HasPrefix(after, before) {
		return
	}
	at := 0
	for at < min(len(before), len(after)) && before[at] == after[at] {
		at++
	}
	t.Fatalf("the log of %d bytes does not begin with the %d that were there before: it differs at byte %d, %.200q instead of %.200q",
		len(after), len(before), at, after[at:], before[at:])
}
