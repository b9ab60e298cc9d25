package maker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runlog"
	"github.com/maker-mdap/maker/vote"
)

// A Replay is a result derived a second time, from the log alone, and what does
// not fit.
type Replay struct {
	Result *Result `json:"result"`

	// Compared says whether there was a stored result to compare with.
	Compared bool `json:"compared"`

	// Differences is empty if the log is consistent and the stored result is
	// what follows from it.
	Differences []string `json:"differences"`

	// Races is how many votes were counted again sample by sample: all of them
	// in a full log, the contested ones otherwise.
	Races int `json:"races_recounted"`
}

// maxDifferences is where a replay stops listing what is wrong.
const maxDifferences = 20

// Replay reads the whole log of a run, counts every vote again that the log has
// samples of, checks that each step was decided by the rule and committed
// exactly once, and compares the result that follows with the stored one. It
// uses neither the index nor the stored result to derive its own.
func (e *Engine) Replay(run string) (*Replay, error) {
	dir, err := FindRun(e.opts.LogDir, run)
	if err != nil {
		return nil, err
	}
	result, err := newResult(dir)
	if err != nil {
		return nil, err
	}
	p := newPlayer(result)
	for line, err := range runlog.Read(dir) {
		if err != nil {
			return nil, err
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, err
		}
		if head, ok := rec.Event.(event.TaskSubmitted); ok {
			// A family that this program does not know cannot check its steps.
			p.chain, _, _, _ = e.newChain(head.Kind, head.Params)
			p.agents = tellsItsOutput(head.Kind)
			if cfg, err := parseConfig(head.Config); err == nil {
				p.rule = cfg.Voting
			}
		}
		p.take(dir, rec)
		if err := p.rule.Validate(); err != nil {
			return nil, fmt.Errorf("maker: the rule in the log: %w", err)
		}
	}
	result.Steps = p.listed()
	result.finish(p.steps)
	p.end()
	if err := p.compare(dir); err != nil {
		return nil, err
	}
	return p.replay, nil
}

// player derives a result event by event.
type player struct {
	replay *Replay
	chain  domain.Chain
	agents bool      // steps take several questions, each with a rule of its own
	rule   vote.Rule // in force
	steps  int       // committed so far
	output json.RawMessage
	races  map[string]*recount

	numbers map[int]bool      // of the steps that are committed, if agents did them
	effects map[string]string // how each effect stands: claimed, done or refused

	// What a result lists depends on how many steps there are in the end.
	early     []StepResult // the first ones
	contested []StepResult
	last      StepResult
}

func newPlayer(r *Result) *player {
	return &player{
		replay: &Replay{Result: r, Differences: []string{}}, races: map[string]*recount{},
		numbers: map[int]bool{}, effects: map[string]string{},
	}
}

// recount is a race whose samples are in the log.
type recount struct {
	samples []countedSample
	tally   *vote.Tally
	early   bool // there were samples after the decision
}

// countedSample is a vote, or a red flag.
type countedSample struct {
	key     string
	flagged bool
}

func (p *player) differ(format string, args ...any) {
	if len(p.replay.Differences) < maxDifferences {
		p.replay.Differences = append(p.replay.Differences, fmt.Sprintf(format, args...))
	}
}

func (p *player) take(dir string, rec event.Record) {
	p.replay.Result.takeSolve(rec.Event)
	switch e := rec.Event.(type) {
	case event.RunResumed:
		clear(p.races) // a race that the last session left undecided started again
		if cfg, err := parseConfig(e.Config); err == nil && e.Config != nil {
			p.rule = cfg.Voting
		}
	case event.SampleCompleted:
		p.race(e.Question).add(e.Vote, false)
	case event.SampleRedFlagged:
		p.race(e.Question).add("", true)
	case event.VoteCompleted:
		p.recounted(e)
	case event.StepCompleted:
		p.step(dir, e)
	case event.EffectClaimed, event.EffectDone, event.EffectRefused:
		p.effect(e)
	case event.TaskFailed:
		p.reopened(e.Reopen)
	}
}

// reopened forgets the calls that a person refused and is asked about again.
func (p *player) reopened(keys []string) {
	for _, e := range p.replay.Result.Effects {
		if e.isReopened(keys) {
			delete(p.effects, e.Effect)
		}
	}
}

// effect checks that nothing was executed without a claim, or twice.
func (p *player) effect(e event.Event) {
	p.replay.Result.take(e)
	const claimed, done, refused = "claimed", "done", "refused"
	switch e := e.(type) {
	case event.EffectClaimed:
		if was := p.effects[e.Effect]; was != "" && !(was == claimed && e.Again) {
			p.differ("the effect %s is claimed after it was %s", e.Effect, was)
		}
		p.effects[e.Effect] = claimed
	case event.EffectDone:
		if was := p.effects[e.Effect]; was != claimed {
			p.differ("the effect %s is done, but it was not claimed before (%s)", e.Effect, was)
		}
		p.effects[e.Effect] = done
	case event.EffectRefused:
		if was := p.effects[e.Effect]; was != "" {
			p.differ("the effect %s is refused after it was %s", e.Effect, was)
		}
		p.effects[e.Effect] = refused
	}
}

func (p *player) race(question string) *recount {
	r, ok := p.races[question]
	if !ok {
		r = &recount{}
		p.races[question] = r
	}
	return r
}

func (r *recount) add(key string, flagged bool) {
	r.samples = append(r.samples, countedSample{key, flagged})
}

// count holds the race again by a rule.
func (r *recount) count(rule vote.Rule) {
	r.tally = vote.NewTally(rule)
	for _, s := range r.samples {
		if r.tally.Decision().Outcome == vote.Won {
			r.early = true
		}
		if s.flagged {
			r.tally.Flag()
		} else {
			r.tally.Vote(s.key)
		}
	}
}

// recounted holds a verdict against the samples before it.
func (p *player) recounted(e event.VoteCompleted) {
	p.replay.Races++
	r := p.race(e.Question)
	delete(p.races, e.Question)
	rule := p.rule
	if p.agents && e.Rule.Validate() == nil {
		rule = e.Rule
	}
	r.count(rule)
	votes := map[string]int{}
	for _, c := range r.tally.Counts() {
		votes[c.Key] = c.Votes
	}
	won := r.tally.Decision().Outcome == vote.Won
	switch {
	case !reflect.DeepEqual(votes, e.Voting.Votes) || r.tally.Flags() != e.Voting.RedFlagged:
		p.differ("step %d: the samples give the votes %v and %d red flags, the verdict says %v and %d",
			e.Step, votes, r.tally.Flags(), e.Voting.Votes, e.Voting.RedFlagged)
	case won != (e.Status == string(flow.Decided)):
		p.differ("step %d: the verdict is %s, the rule says otherwise (margin %d)", e.Step, e.Status, r.tally.Margin())
	case r.early:
		p.differ("step %d: samples were counted after the decision", e.Step)
	}
	if s := p.replay.Result.Solve; s != nil && s.Calibrated != nil && !isCalibration(e.Question) && e.Rule.K != s.Calibrated.K {
		p.differ("step %d: the margin of the vote is %d, calibration gave %d", e.Step, e.Rule.K, s.Calibrated.K)
	}
}

func (p *player) step(dir string, e event.StepCompleted) {
	if p.agents && p.replay.Result.Solve == nil { // branches leave steps out
		if p.numbers[e.Step] {
			p.differ("step %d is committed twice", e.Step)
		}
		p.numbers[e.Step] = true
	} else if e.Step != p.steps {
		p.differ("step %d is committed where step %d belongs", e.Step, p.steps)
	}
	if p.agents {
		// Its moves were counted one by one.
	} else if votes, margin := recountMap(e.Voting.Votes); margin != e.Voting.Margin || votes+e.Voting.RedFlagged != e.Voting.Samples {
		p.differ("step %d: the votes %v and %d red flags do not give %d samples and a margin of %d",
			e.Step, e.Voting.Votes, e.Voting.RedFlagged, e.Voting.Samples, e.Voting.Margin)
	} else if p.rule.Strategy == vote.FirstToK && margin != p.rule.K {
		p.differ("step %d was committed with a margin of %d, the rule asks for %d", e.Step, margin, p.rule.K)
	}
	output, err := runlog.Load(dir, e.Output)
	if err != nil {
		p.differ("step %d: %v", e.Step, err)
	}
	p.output = output.JSON
	if p.chain != nil {
		if err := p.chain.Check(e.Step, output.JSON); err != nil && !p.replay.Result.Wrong {
			p.differ("%v", err)
		}
	}
	p.count(e)
}

// count adds a committed step to the totals and the lists.
func (p *player) count(e event.StepCompleted) {
	if p.replay.Result.Solve == nil { // which counts all questions
		p.replay.Result.Voting.add(e.Voting.Samples, e.Voting.RedFlagged, e.Voting.Faults, e.Voting.Margin, len(e.Voting.Votes))
	}
	p.last = stepResult(e)
	if p.steps < maxListed {
		p.early = append(p.early, p.last)
	}
	if e.Voting.Contested() && len(p.contested) < maxListed {
		p.contested = append(p.contested, p.last)
	}
	p.steps++
}

// listed chooses the steps that the result lists.
func (p *player) listed() []StepResult {
	if p.steps <= maxListed {
		return append([]StepResult{}, p.early...)
	}
	list := p.contested[:min(len(p.contested), maxListed-1)]
	if n := len(list); n > 0 && list[n-1].Step == p.last.Step {
		return list
	}
	return append(list, p.last)
}

func recountMap(votes map[string]int) (total, margin int) {
	top, second := 0, 0
	for _, n := range votes {
		total += n
		if n > top {
			top, second = n, top
		} else {
			second = max(second, n)
		}
	}
	return total, top - second
}

// end checks that a task that calls itself completed is.
func (p *player) end() {
	r := p.replay.Result
	if r.Status != event.StatusCompleted {
		return
	}
	if r.StepsTotal != 0 && p.steps != r.StepsTotal && !p.agents {
		p.differ("the run is completed with %d of %d steps", p.steps, r.StepsTotal)
	}
	if p.chain != nil {
		if err := p.chain.Finish(p.output); err != nil {
			p.differ("%v", err)
		}
	}
}

// compare holds the derived result against the stored one.
func (p *player) compare(dir string) error {
	stored, err := os.ReadFile(filepath.Join(dir, ResultFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the run was never ended in an orderly way
	}
	if err != nil {
		return fmt.Errorf("maker: %w", err)
	}
	if s := p.replay.Result.Status; s == event.StatusRunning || s == StatusInterrupted {
		return nil // the stored result is that of an earlier session
	}
	p.replay.Compared = true
	derived, err := json.Marshal(p.replay.Result)
	if err != nil {
		return fmt.Errorf("maker: %w", err)
	}
	var a, b map[string]any
	if err := json.Unmarshal(stored, &a); err != nil {
		p.differ("%s is not JSON: %v", ResultFile, err)
		return nil
	}
	if err := json.Unmarshal(derived, &b); err != nil {
		return fmt.Errorf("maker: %w", err)
	}
	for _, name := range fields(b) {
		if !reflect.DeepEqual(a[name], b[name]) {
			p.differ("%s: the field %q is %s, the log gives %s", ResultFile, name, brief(a[name]), brief(b[name]))
		}
	}
	return nil
}

func fields(m map[string]any) []string {
	var names []string
	t := reflect.TypeFor[Result]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if _, ok := m[name]; ok {
			names = append(names, name)
		}
	}
	return names
}

func brief(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	if len(data) > 120 {
		return string(data[:120]) + "…"
	}
	return string(data)
}
