// Package calibrate measures voters before they are relied on: how often a sample
// is right (p), how often it is valid (v), and what margin k follows from that. It
// is an orchestrator: the samples are real, and asked through flow.Flow.
//
// # How
//
// Each calibration problem is asked several times, each time as a question of its
// own with exactly one sample: a vote would stop as soon as it is decided, and the
// shares of a race that stopped early are not those of the voters. The first sample
// of a problem is asked at the temperature of a first sample and the others at
// that of the others, as in a vote.
//
// # What p is
//
// For problems with a known answer, p is the share of right answers among the valid
// ones. For others only agreement can be seen: the share of the commonest answer.
// The right answer cannot be more frequent than the commonest one, so that share is
// an upper bound of p, and is labelled as such. If nothing can be seen at all, p is
// a guess.
//
// # From p to k
//
// The margin is [vote.MinK] for the target error of one step, or of all steps if
// their number is known. It is computed with the centre of the interval of p, which
// is never 0 or 1: a perfect score on 25 samples is no proof of perfection. A bound
// by agreement is worth less, so there the lower end of the interval is used.
//
// # What it does not see
//
// Samples of one problem are more alike than samples of several, so the true
// interval is wider than the one given. The problems stand for the steps of the
// run only as far as they are like them.
//
// # Items of one's own
//
// [RunItems] has neither fault: it asks many items that the user says are like the steps,
// few times each, and goes by the spread between them (package stats). Its margin follows
// from how p is distributed over the items, at the bad end of what was measured.
package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/vote"
)

// A Subject is what is measured: how voters are asked for the solution of a
// problem, and how what they say is judged.
type Subject interface {
	// Question asks for the solution of a problem; its rule does not matter.
	Question(problem string) (*flow.Question, error)

	// Solution returns the solution in an answer to such a question.
	Solution(answer json.RawMessage) (string, error)

	// Domain is that of the problems: it knows which solutions say the same.
	Domain() string
}

// Config says what to measure for. A zero field means its default.
type Config struct {
	Trials   []domain.Trial
	Problems int     // how many of the trials are asked; DefaultProblems
	Samples  int     // of each problem; DefaultSamples
	Target   float64 // the error that is accepted; DefaultTarget
	Steps    int     // for which the target is meant; 0 if it is not known: then it is for one
	Fallback float64 // p if nothing can be measured; DefaultFallback
	MaxK     int     // DefaultMaxK
}

// The defaults.
const (
	DefaultProblems = 5
	DefaultSamples  = 5
	DefaultTarget   = 0.01
	DefaultFallback = 0.7
	DefaultMaxK     = 5

	// Confidence is that of the intervals.
	Confidence = 0.95
)

// Rule is the rule of a run whose margin was found by measuring.
func Rule(configured vote.Rule, k int) vote.Rule {
	return vote.Rule{Strategy: vote.FirstToK, K: k, MinVotes: configured.MinVotes, MaxSamples: max(configured.MaxSamples, k)}
}

// KeyPrefix is what the keys of the questions of a calibration begin with.
const KeyPrefix = "calibrate/"

// What p can be based on.
const (
	Known     = "known"     // answers are known: p itself
	Agreement = "agreement" // the commonest answer: an upper bound of p
	Fallback  = "fallback"  // a guess
)

// Run measures the voters, emits the calibrated event and returns it. Its error is
// the flow's, or that the configuration makes no sense.
func Run(f flow.Flow, subject Subject, cfg Config) (event.Calibrated, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return event.Calibrated{}, err
	}
	trials := cfg.Trials[:min(len(cfg.Trials), cfg.Problems)]
	seen := make([]sample, len(trials)*cfg.Samples)
	flow.Expect(f, len(seen))
	err = f.Parallel(strings.TrimSuffix(KeyPrefix, "/"), len(seen), func(i int, f flow.Flow) (err error) {
		problem, n := i/cfg.Samples, i%cfg.Samples
		seen[i], err = ask(f, fmt.Sprintf("%d/%d", problem, n), subject, trials[problem], n)
		return err
	})
	if err != nil {
		return event.Calibrated{}, err
	}
	e, err := cfg.estimate(f, subject.Domain(), trials, seen)
	if err != nil {
		return e, err
	}
	f.Emit("calibrated", e)
	return e, nil
}

func (c Config) withDefaults() (Config, error) {
	for _, n := range []struct {
		name    string
		value   *int
		initial int
	}{
		{"Problems", &c.Problems, DefaultProblems}, {"Samples", &c.Samples, DefaultSamples},
		{"MaxK", &c.MaxK, DefaultMaxK}, {"Steps", &c.Steps, 0},
	} {
		if *n.value < 0 {
			return c, fmt.Errorf("calibrate: %s is %d, want 0 or more", n.name, *n.value)
		}
		if *n.value == 0 {
			*n.value = n.initial
		}
	}
	if c.Target == 0 {
		c.Target = DefaultTarget
	}
	if c.Fallback == 0 {
		c.Fallback = DefaultFallback
	}
	if !(c.Target > 0 && c.Target < 1) {
		return c, fmt.Errorf("calibrate: Target is %v, want more than 0 and less than 1", c.Target)
	}
	if !(c.Fallback > 0.5 && c.Fallback <= 1) {
		return c, fmt.Errorf("calibrate: Fallback is %v, want more than 0.5 and at most 1: otherwise no margin is enough", c.Fallback)
	}
	return c, nil
}

// sample is what came of one question.
type sample struct {
	asked    bool // it was a vote or a red flag, not a fault
	valid    bool
	solution string
	said     string // if it was discarded
	flag     string // why it was
}

// ask takes one sample of a problem.
func ask(f flow.Flow, key string, subject Subject, t domain.Trial, n int) (sample, error) {
	q, err := subject.Question(t.Problem)
	if err != nil {
		return sample{}, err
	}
	q.Rule = vote.Rule{Strategy: vote.None, MaxSamples: 1}
	if n > 0 {
		q.FirstTemperature = q.Temperature
	}
	v, err := f.Decide(key, q)
	if err != nil {
		return sample{}, err
	}
	switch v.Status {
	case flow.Decided:
		solution, err := subject.Solution(v.Answer)
		return sample{asked: true, valid: true, solution: solution}, err
	case flow.FlaggedOut:
		return sample{asked: true, said: v.Said, flag: v.Reason}, nil
	default:
		return sample{}, nil
	}
}

// estimate works out what the samples mean.
func (c *Config) estimate(f flow.Flow, of string, trials []domain.Trial, seen []sample) (event.Calibrated, error) {
	e := event.Calibrated{
		Problems: len(trials), Confidence: Confidence,
		Target: c.Target, Steps: c.Steps, MaxK: c.MaxK,
	}
	var judged, right, grouped, commonest int
	for i, t := range trials {
		var valid []string
		for _, s := range seen[i*c.Samples : (i+1)*c.Samples] {
			if s.asked {
				e.Samples++
			}
			if s.valid {
				valid = append(valid, s.solution)
			}
		}
		e.Valid += len(valid)
		if len(valid) == 0 {
			continue
		}
		solutions := valid
		if t.Solution != "" {
			solutions = append(slices.Clip(valid), t.Solution)
		}
		groups, err := flow.Same(f, fmt.Sprintf("%ssame/%d", KeyPrefix, i), flow.Comparison{Domain: of, Solutions: solutions})
		if err != nil {
			return e, err
		}
		if len(groups) != len(solutions) {
			return e, fmt.Errorf("calibrate: the domain %s compared %d of %d solutions", of, len(groups), len(solutions))
		}
		if t.Solution != "" {
			judged += len(valid)
			right += len(groups[len(valid)]) - 1 // without itself
			continue
		}
		grouped += len(valid)
		most := 0
		for _, same := range groups {
			most = max(most, len(same))
		}
		commonest += most
	}
	e.V, e.VLow, e.VHigh = share(e.Valid, e.Samples)

	switch {
	case judged > 0:
		e.Basis, e.Right = Known, right
		e.P, e.PLow, e.PHigh = share(right, judged)
		e.PUsed = (e.PLow + e.PHigh) / 2
	case grouped > 0:
		e.Basis, e.Right = Agreement, commonest
		e.P, e.PLow, e.PHigh = share(commonest, grouped)
		e.PUsed = e.PLow
		e.Reason = "no answer is known: p is at most the share of the commonest answer"
	default:
		e.Basis, e.P, e.PLow, e.PHigh, e.PUsed = Fallback, c.Fallback, 0, 1, c.Fallback
		e.Reason = "there was no valid answer to learn from"
		for _, s := range seen {
			if s.asked {
				e.Reason = nothingValid(e.Samples, s.said, s.flag)
				break
			}
		}
		if len(trials) == 0 {
			e.Reason = "there are no calibration problems"
		}
	}
	reason := e.Reason
	c.margin(&e)
	if e.Basis == Fallback && e.Samples > 0 {
		e.Reason = reason // there is nothing else to say
	}
	return e, nil
}

// alike is what a forecast from one p assumes.
const alike = "every step is as hard as these problems are on average, samples err independently, and wrong answers agree"

// margin sets k and what is to be expected from it.
func (c *Config) margin(e *event.Calibrated) {
	steps := max(c.Steps, 1)
	k, err := vote.MinK(e.PUsed, steps, 1-c.Target)
	switch {
	case errors.Is(err, vote.ErrNoMargin):
		e.K, e.Limited = c.MaxK, true
		e.Reason = join(e.Reason, "voters must be right more often than not: no margin reaches the target")
	case k > c.MaxK:
		e.K, e.Limited = c.MaxK, true
		e.Reason = join(e.Reason, fmt.Sprintf("the target needs a margin of %d", k))
	default:
		e.K = k
	}
	e.StepError = vote.StepError(e.PUsed, e.K)
	if c.Steps > 0 {
		e.RunError = vote.RunError(e.PUsed, e.K, c.Steps)
	}
	e.Assumes = alike
	if e.V > 0 {
		e.SamplesPerStep = vote.ExpectedSamples(e.PUsed, e.V, e.K)
	}
}

// nothingValid says why a measurement came to nothing, with an example.
func nothingValid(samples int, said, why string) string {
	return fmt.Sprintf("none of %d answers was valid: nothing could be measured. One of them said %q; %s", samples, said, why)
}

// share returns the share of n in total and its Wilson interval: all of 0 to 1 if
// there is nothing to go by.
func share(n, total int) (p, low, high float64) {
	if total == 0 {
		return 0, 0, 1
	}
	const errors = 1.959963984540054 // two-sided, at Confidence
	low, high = vote.Wilson(n, total, errors)
	return float64(n) / float64(total), low, high
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
