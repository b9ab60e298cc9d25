// Package ballot decides questions: it drives the race between samples.
//
// All the concurrency of voting lives here. The race itself, who leads and what
// is still needed, is the state machine of package vote; a ballot launches
// samples, reads each answer as it arrives, feeds the race and stops it the
// moment it is decided.
//
// # How many samples
//
// At any moment as many samples are in flight as the leader still needs if all
// of them are for it, never more: a race that needs three launches three, and
// one whose third answer dissents launches exactly the shortfall at once,
// without waiting for a batch to end. So a race costs the samples that asking
// one by one would have cost, in the time that asking all at once takes. (A model
// that answers faster than a goroutine starts is indeed asked one by one.)
// [Options.Spare] buys a shorter wait for slow answers with samples beyond that;
// those that come too late are cancelled down to the request.
//
// # What a sample ends as
//
// Exactly one of vote, red flag and fault. Votes and flags count against the
// cap of the rule; faults have a cap of their own and are asked again.
package ballot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/limiter"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// Options configure a Ballot.
type Options struct {
	// BatchSize bounds the samples of one question that are in flight; 0 means
	// DefaultBatchSize.
	BatchSize int

	// Spare is how many samples are launched beyond what is needed.
	Spare int

	// PerCall is how many samples one call may ask for, if the model can give
	// several; 0 means 1. Samples of one call arrive together.
	PerCall int

	// Group returns the voters of a question that names others than those of the
	// ballot; nil means that there are none.
	Group func(name string) ([]Voter, error)

	// Tools finds the tools that questions name; nil means that there are none.
	Tools *tool.Registry

	// Decide is the voting rule of questions whose rule is [vote.Own], and Flag a red flag
	// beside those of the question; nil means that there is none.
	Decide vote.Decider
	Flag   func(q *flow.Question, a *redflag.Answer) *redflag.Flag

	// Alone says that questions have nothing to do with each other, so that a request which
	// its server calls invalid fails its question and no other, once the voter has answered
	// one, now or in an earlier session (Answered). Until then it ends the run.
	Alone, Answered bool

	// Served says that questions come from outside: whatever the server finds wrong with one,
	// or with the key, whoever asked is told, and no other question ends by that.
	Served bool

	// Redact takes secrets out of an answer that a reason quotes; nil if there are none.
	Redact func(string) string
}

// A Voter is a model that is asked.
type Voter struct {
	Name  string
	Model model.Model

	// Limiter is the one through which the model is asked; nil if that is not known. While
	// it holds calls back, or after a refusal, samples are drawn from another voter if one
	// is free.
	Limiter *limiter.Limiter

	// Agent makes the samples of questions that are work.
	Agent agent.Agent

	// Temperature, if not nil, is used instead of the question's for all but
	// the first sample.
	Temperature *float64

	// InProcess says that it is a simulator of this process: it answers as if it took time,
	// and differently if it is asked once more.
	InProcess bool
}

// DefaultBatchSize is the bound of a ballot that was given none.
const DefaultBatchSize = 64

// DefaultMaxFaults is how many faults a question bears that does not say.
const DefaultMaxFaults = 20

// A Ballot asks questions of one voter, or of several in turn. It is safe for
// concurrent use.
type Ballot struct {
	voters  []Voter
	readers domain.Readers
	known   knownReaders
	opts    Options
	crew    crew
	pace    pace
	warmth  warmth
	answers atomic.Int64 // that came so far
	tails   sync.Map     // of *tail by tailKey
	proofs  proofs       // of the voters, if questions are alone
}

// New returns a ballot that spreads the samples of each question over voters, of
// which there must be one at least. Answers are read by readers.
func New(voters []Voter, readers domain.Readers, opts *Options) *Ballot {
	b := &Ballot{voters: voters, readers: readers, crew: newCrew()}
	if opts != nil {
		b.opts = *opts
	}
	if b.opts.BatchSize == 0 {
		b.opts.BatchSize = DefaultBatchSize
	}
	b.opts.PerCall = max(b.opts.PerCall, 1)
	return b
}

// Settle returns when no sample is in flight, those that were cancelled included,
// so that all are accounted for. No question may be asked meanwhile.
func (b *Ballot) Settle() { b.crew.busy.Wait() }

// Close returns when no sample is in flight any more: a race returns as soon as
// it is decided, while the samples that it cancelled are still on their way out.
// The ballot cannot be used afterwards.
func (b *Ballot) Close() { b.crew.close() }

// A Sample is one attempt as it ended. Exactly one of Key (with Flag and Err
// nil), Flag and Err says how.
type Sample struct {
	N           int    // from 0, in order of launch
	Voter       string // who was asked
	Temperature *float64
	Response    *model.Response // nil if there was none
	Work        *agent.Result   // of an agent, which Response sums up
	Answer      domain.Answer   // of a vote
	Flag        *redflag.Flag
	Err         *model.Error
	Duration    time.Duration
	Framing     int // which of the question's variants it got, from 1; 0 if it has none

	fatal   error // ends the run: not the sample's fault
	refused bool  // it was not sent, and no other will be: the budget is exhausted
	missing bool  // a call gave fewer samples than it was asked for
	voter   int
}

// Faults are the failed attempts that belong to the sample, the last one
// included if it ended as a fault.
func (s *Sample) Faults() []*model.Error {
	switch {
	case s.Err != nil && s.Flag != nil: // a refusal, which is no fault itself
		return s.Err.Faults
	case s.Err != nil:
		return append(s.Err.Faults[:len(s.Err.Faults):len(s.Err.Faults)], s.Err)
	case s.Response != nil:
		return s.Response.Faults
	default:
		return nil
	}
}

// ErrDecided is the cause with which the samples that came too late are
// cancelled.
var ErrDecided = errors.New("the question is decided")

// A Watch is told how a question is being decided, from the goroutine that decides.
// Each of its fields may be left out.
type Watch struct {
	// Earlier are samples that an earlier session took of the question, in the order
	// in which they arrived, and EarlierFaults is how many attempts failed then.
	Earlier       []Earlier
	EarlierFaults int

	// Resumed is told the numbers of the earlier samples that count, if there were
	// any, before anybody is asked.
	Resumed func(counted []int)

	// Retired are the framings in which a voter is not to be asked, from 1.
	Retired func(voter string) []int

	// Sample is told of each sample in the order of arrival. It is valid until Sample
	// returns.
	Sample func(*Sample)

	// Leads is told after each vote which answer is ahead of all others, and by its how
	// many votes; of none if several are. A call of a tool has no value.
	Leads func(answer domain.Answer, votes int)

	// Judge compares texts, for questions that are decided by meaning.
	Judge Judge

	// Waits is told that no sample is made until another question was answered.
	Waits func()

	// Stopped is told how the vote stands if it ends without a verdict.
	Stopped func(Standing)

	// Hedge lets slow samples be sent again; nil if they are not.
	Hedge *Hedge

	// Gauge shows what goes on between two samples.
	Gauge *Gauge

	// Room is where the verdict is put; nil for a new one.
	Room *Room
}

// A Gauge shows what goes on while a question is decided. It may be read at any time.
type Gauge struct {
	InFlight atomic.Int64 // samples that were asked for and have not come
	Retried  atomic.Int64 // attempts that failed and were made again
}

// Decide asks q until it has a verdict.
//
// An error means that the run cannot go on: the context ended, the budget is
// exhausted, or the model refuses every request. A question without a winner is
// not an error.
func (b *Ballot) Decide(ctx context.Context, q *flow.Question, w Watch) (*flow.Verdict, error) {
	return b.DecideBy(ctx, q, nil, nil, w)
}

// DecideBy is Decide for a question whose rule may be adaptive, with the margins that are
// in force then, and the leads with which it is given up. (As a part of the watch, which the race does not keep, they would make all
// of it escape to the heap.)
func (b *Ballot) DecideBy(ctx context.Context, q *flow.Question, margins []int, giveUp []vote.Leads, w Watch) (*flow.Verdict, error) {
	if err := q.Rule.Validate(); err != nil {
		return nil, err
	}
	reader, err := b.reader(q.Answer)
	if err != nil {
		return nil, err
	}
	voters, err := b.votersOf(q)
	if err != nil {
		return nil, err
	}
	if q.Rule.Strategy == vote.Adaptive && (len(margins) == 0 || q.Rule.MaxSamples < 1) {
		return nil, errors.New("ballot: an adaptive rule needs margins and a cap, which only a run has")
	}
	r := newRace(b, q, reader, voters, margins)
	if q.Second {
		r.tally.GiveUpAt(giveUp)
	}
	r.judge, r.gauge, r.hedge, r.room = w.Judge, w.Gauge, w.Hedge, w.Room
	if b.opts.Alone {
		defer b.proofs.begin()()
		if w.Judge != nil {
			r.judge = b.proofs.judged(w.Judge)
		}
	}
	r.active = activeFramings(q, voters, w.Retired)
	if q.Work != nil {
		if err := r.prepareWork(); err != nil {
			return nil, err
		}
	}
	defer r.end()
	if len(w.Earlier) > 0 || w.EarlierFaults > 0 {
		r.resume(&w)
	}
	if q.TimeoutMS <= 0 {
		v, err := r.run(ctx, &w)
		r.stopped(&w, err)
		return v, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(q.TimeoutMS)*time.Millisecond, errTimeout)
	defer cancel()
	v, err := r.run(ctx, &w)
	if errors.Is(err, errTimeout) {
		r.now = time.Now()
		v, err = r.verdict(flow.Failed, ""), nil
		v.Reason = fmt.Sprintf("no decision within the step's timeout of %s", time.Duration(q.TimeoutMS)*time.Millisecond)
	}
	r.stopped(&w, err)
	return v, err
}

var errTimeout = errors.New("the time of the question is over")

// room is how many samples of a question can be in flight at once: they all
// must find a place in the channel even when nobody reads it any more.
func (b *Ballot) room(rule vote.Rule) int {
	most := rule.MaxSamples
	if rule.Strategy == vote.FirstToK {
		most = min(most, max(rule.K, rule.MinVotes)+b.opts.Spare)
	}
	return min(most, b.opts.BatchSize)
}

// race is one question being decided.
type race struct {
	ballot *Ballot
	voters []Voter
	q      *flow.Question
	reader domain.Reader
	tally  vote.Tally

	message  [1]model.Message // shared by all requests
	first    model.Request    // of the first sample
	others   model.Request    // of the others
	work     *agent.Task      // of questions for agents, but for what differs between samples
	launched int              // different samples so far
	again    []int            // samples to ask again after a fault
	cold     bool             // nobody has cached the prefix of the question yet
	resumed  bool             // an earlier session took some of its samples

	// Of samples in goroutines of their own; nil until there is one.
	inFlight int
	arrived  chan Sample     // has room for all that are in flight
	ctx      context.Context // ends with the race
	cancel   context.CancelCauseFunc

	started time.Time
	now     time.Time // when the latest sample arrived
	latest  Sample

	firstAnswer standing                // for the key of the first vote
	firstText   string                  // that it was read from,
	firstStop   model.StopReason        // how that ended
	firstTokens int64                   // and how long it was
	answers     map[string]standing     // the answers that stand for other keys
	intents     map[string]*tool.Intent // those among them that are calls

	maxFaults int64
	attempts  atomic.Int64 // failed ones so far, also of samples that go on trying
	excused   atomic.Int64 // of them, those that do not count: the provider was busy
	answered  atomic.Int64 // how many answers had come at the last of these
	heard     atomic.Int64 // when that was seen to have grown, since the beginning
	lastFault atomic.Pointer[model.Error]

	groups   groups // of answers that are compared by meaning
	judge    Judge
	gauge    *Gauge           // nil if nobody looks
	room     *Room            // for the verdict; nil for a new one
	hedge    *Hedge           // nil if slow samples are not sent again
	byVoter  []map[string]int // votes by key, if there are several voters
	active   []framings       // framings that each voter is asked in; empty if there are no several
	shares   []share          // what voters contributed in framings
	refused  error            // why no further sample can be made
	faults   int
	before   int // faults of earlier sessions
	lastErr  *model.Error
	cost     float64
	unpriced bool

	lastFlag    *redflag.Flag
	lastFlagged string            // the answer that it is about
	discarded   []event.Discarded // all flags, in order of their first one
}

func newRace(b *Ballot, q *flow.Question, reader domain.Reader, voters []Voter, margins []int) *race {
	r := idleRaces.Get().(*race)
	onFault := r.others.OnFault
	if onFault == nil {
		onFault = r.mayRetry
	}
	*r = race{} // and field by field, without a copy of it all
	r.ballot, r.voters, r.q, r.reader = b, voters, q, reader
	r.tally.Begin(q.Rule, b.opts.Decide, margins...)
	r.message[0] = model.Message{Role: model.User, Text: q.Prompt, Shared: q.Shared}
	r.maxFaults = int64(cmp.Or(q.MaxFaults, DefaultMaxFaults))
	for _, image := range q.Images {
		r.message[0].Images = append(r.message[0].Images, model.Image(image))
	}
	r.others = model.Request{System: q.System, Messages: r.message[:], Temperature: q.Temperature, MaxOutput: q.MaxOutput}
	r.others.Output = outputFormat(q)
	if q.Chat != nil {
		r.prepareChat()
	}
	if len(q.System)+q.Shared >= cachedPrefix {
		r.others.CachePrefix = true
		r.cold = !b.warmth.warm(r.prefix())
	}
	if len(voters) > 1 {
		r.byVoter = make([]map[string]int, len(voters))
	}
	r.others.OnFault = onFault
	r.started = time.Now()
	r.now = r.started
	r.first = r.others
	r.first.Temperature = q.FirstTemperature
	return r
}

// outputFormat is the structured output that a question asks for, nil for text.
func outputFormat(q *flow.Question) *model.OutputFormat {
	mode := model.OutputMode(q.Structured)
	if q.Structured == flow.StructuredAuto {
		if mode = model.JSONSchema; len(q.Schema) == 0 {
			mode = ""
		}
	}
	if mode == "" {
		return nil
	}
	return &model.OutputFormat{Mode: mode, Name: "answer", Schema: q.Schema}
}

func (r *race) run(ctx context.Context, w *Watch) (*flow.Verdict, error) {
	for {
		d := r.tally.Decision()
		switch d.Outcome {
		case vote.Won:
			if c := r.q.Confirm; c != nil && !slices.Contains(c.Leads, vote.ShortKey(d.Key)) {
				return r.verdict(flow.Undecided, ""), nil
			}
			return r.verdict(flow.Decided, d.Key), nil
		case vote.Stuck:
			if r.tally.Votes() == 0 {
				return r.verdict(flow.FlaggedOut, ""), nil
			}
			return r.verdict(flow.Undecided, ""), nil
		}
		if r.hopeless() {
			return r.verdict(flow.FlaggedOut, ""), nil
		}
		if r.scattered() {
			return r.verdict(flow.Undecided, ""), nil
		}
		s := &r.latest
		if r.refused != nil && r.inFlight == 0 {
			return nil, r.refused
		}
		if r.inFlight == 0 && r.ballot.pace.instant() {
			a := r.next()
			a.sample(ctx, r.now, s)
			r.now = r.now.Add(s.Duration)
		} else {
			r.launch(ctx, d.Need)
			if r.gauge != nil {
				r.gauge.InFlight.Store(int64(r.inFlight))
			}
			select {
			case *s = <-r.arrived:
				r.inFlight--
			case <-ctx.Done():
				r.drain(w.Sample)
				return nil, context.Cause(ctx)
			}
			r.now = time.Now()
		}
		if s.refused {
			r.refused = s.fatal
			continue
		}
		if s.fatal != nil {
			if !r.failsAlone(ctx, s, w.Waits) {
				return nil, s.fatal
			}
			s.Err, _ = errors.AsType[*model.Error](s.fatal)
			s.fatal = nil
		}
		if s.missing {
			r.again = append(r.again, s.N)
			continue
		}
		if r.cold && s.Response != nil {
			r.cold = false
			r.ballot.warmth.heat(r.prefix())
		}
		r.read(s)
		if err := r.regroup(s, r.judge); err != nil {
			return nil, err
		}
		failed := r.count(s)
		if w.Sample != nil {
			w.Sample(s)
		}
		if failed != nil {
			return failed, nil
		}
		if w.Leads != nil && r.ballot.pace.takesTime() {
			r.tellLead(w.Leads)
		}
	}
}

// drain takes in the samples that had arrived when the run was ended: they are paid for.
func (r *race) drain(observe func(*Sample)) {
	for {
		select {
		case s := <-r.arrived:
			if s.Response == nil || s.fatal != nil || s.missing || r.over() {
				continue
			}
			if r.read(&s); r.regroup(&s, nil) != nil {
				continue // nobody is asked any more
			}
			r.count(&s)
			if observe != nil {
				observe(&s)
			}
		default:
			return
		}
	}
}

// end cancels the samples that are still in flight.
func (r *race) end() {
	if r.cancel != nil {
		r.cancel(ErrDecided)
	}
	if r.arrived == nil && r.work == nil { // every sample came at once: nobody else knows it
		idleRaces.Put(r)
	}
}

// idleRaces are used again: a million steps of an instant model need one.
var idleRaces = sync.Pool{New: func() any { return new(race) }}

// launch tops up what is in flight to what is needed.
func (r *race) launch(ctx context.Context, need int) {
	if r.refused != nil {
		return // what is in flight is paid for and may still decide
	}
	if r.arrived == nil {
		r.arrived = make(chan Sample, r.ballot.room(r.q.Rule))
		r.ctx, r.cancel = context.WithCancelCause(ctx)
	}
	room := r.q.Rule.MaxSamples - r.tally.Samples()
	want := min(need+r.ballot.opts.Spare, r.ballot.opts.BatchSize, room)
	if r.cold {
		// One call of each voter fills its cache; the others then read from it.
		want = min(want, len(r.voters))
	}
	for r.inFlight < want {
		a := r.next()
		if a.n == r.launched-1 && a.batcher() != nil {
			a.count = min(r.sameWords(a.n), want-r.inFlight)
			r.launched += a.count - 1
		}
		r.inFlight += a.count
		r.ballot.crew.do(a)
	}
}

// next is the sample to make next: one to ask again, or a new one.
func (r *race) next() attempt {
	a := attempt{race: r, count: 1}
	if len(r.again) > 0 {
		a.n, r.again = r.again[0], r.again[1:]
	} else {
		a.n = r.launched
		r.launched++
	}
	a.voter = a.n % len(r.voters)
	return a
}

// read turns an answer into a vote or a red flag.
func (r *race) read(s *Sample) {
	if s.Response == nil || s.Flag != nil {
		return
	}
	if s.Work != nil && s.Work.Intent != nil {
		s.Answer = r.readIntent(s.Work.Intent)
		return
	}
	if r.q.Chat != nil {
		s.Answer, s.Flag = r.readTurn(s.Response)
		return
	}
	a := redflag.Answer{Text: s.Response.Text, Stop: string(s.Response.Stop), OutputTokens: s.Response.Usage.Output, Asked: r.q.Prompt}
	again := r.tally.Votes() > 0 && a.Text == r.firstText && a.Text != ""
	if !again || s.Response.Stop != r.firstStop || a.OutputTokens != r.firstTokens {
		if s.Flag = r.q.Flags.CheckText(&a); s.Flag != nil {
			return
		}
	}
	if again {
		s.Answer = r.firstAnswer.Answer // voters often agree to the letter
		return
	}
	text := a.Text
	if s.Work != nil && s.Work.Output != nil {
		text = string(s.Work.Output) // what was written, made readable
	}
	if s.Answer, s.Flag = r.reader.Read(text); s.Flag != nil {
		return
	}
	if !s.Answer.IsJSON && !json.Valid(s.Answer.Value) {
		s.Flag = redflag.New(redflag.SchemaInvalid, "the reader %s made something of it that is not JSON", r.q.Answer.Reader)
		return
	}
	a.Value = s.Answer.Value
	if s.Flag = r.q.Flags.CheckValue(&a); s.Flag == nil && r.ballot.opts.Flag != nil {
		own := a // which is theirs to keep
		s.Flag = r.ballot.opts.Flag(r.q, &own)
	}
}

// fail sorts out what kind of end an error is.
func (s *Sample) fail(ctx context.Context, err error) {
	e, ok := errors.AsType[*model.Error](err)
	switch {
	case ctx.Err() != nil:
		s.fatal = context.Cause(ctx)
	case !ok:
		s.fatal, s.refused = err, true // not a model's: the budget's
	case e.Kind == model.Auth || e.Kind == model.Invalid:
		s.fatal = err // every further request would fare the same
	case e.Kind == model.Refused:
		s.Err = e
		s.Flag = redflag.New(redflag.Refusal, "the provider refused: %s", e.Message)
	default:
		s.Err = e
	}
}

// count adds an arrived sample to the race. It returns a verdict if the sample
// ends it outside the vote.
func (r *race) count(s *Sample) *flow.Verdict {
	r.faults += len(s.Faults())
	if s.Response != nil {
		r.ballot.answers.Add(1)
		if r.ballot.opts.Alone {
			r.ballot.proofs.of(s.Voter).took()
		}
		if s.Response.CostUSD == nil {
			r.unpriced = true
		} else {
			r.cost = usage.AddUSD(r.cost, *s.Response.CostUSD)
		}
	}
	switch {
	case s.Flag != nil:
		r.discard(s)
	case s.Err != nil:
		r.lastErr = s.Err
		if r.absent(s.Err) || !s.Err.Kind.Retryable() || r.tooMany(s.Err) {
			return r.verdict(flow.Failed, "")
		}
		r.again = append(r.again, s.N)
	default:
		text := s.Response.Text
		if s.Work != nil && s.Work.Intent != nil {
			text = "" // what was said beside a call is not what was voted for
		}
		r.keep(s, text)
		r.tally.Vote(s.Answer.Key)
		if r.byVoter != nil && s.voter >= 0 {
			if r.byVoter[s.voter] == nil {
				r.byVoter[s.voter] = map[string]int{}
			}
			r.byVoter[s.voter][vote.ShortKey(s.Answer.Key)]++
		}
	}
	r.countShare(s)
	return nil
}
