package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/temporal/internal/claimcheck"
	"github.com/maker-mdap/maker/temporal/internal/devserver"
	"github.com/maker-mdap/maker/temporal/internal/part"
	"github.com/maker-mdap/maker/temporal/internal/session"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// heartbeat is short, so that a cancelled activity learns of it soon.
const heartbeat = time.Second

// remote is the runtime on Temporal as the suite of all runtimes wants it: a server, and a
// worker in this process.
type remote struct {
	t      *testing.T
	world  *flowtest.World
	client client.Client
	store  *dying
	queue  string
	run    string

	loses func(key string) bool // whether a worker dies before it begins with a part; may be nil

	mu          sync.Mutex
	orchestrate func(flow.Flow) error
	errs        []error // of voters
	ended       error   // of the orchestrator of the last session
}

// dying is a store that a killed process cannot reach any more.
type dying struct {
	store.Store
	left atomic.Int64 // things that are still written; negative for all
	dead chan struct{}
	once sync.Once
}

func (d *dying) Create(ctx context.Context, name string, data []byte) error {
	if !strings.HasPrefix(name, "values/") && d.left.Load() >= 0 {
		if d.left.Add(-1) < 0 {
			d.left.Store(0)
			d.once.Do(func() { close(d.dead) })
			<-ctx.Done() // the process is no more
			return context.Cause(ctx)
		}
	}
	return d.Store.Create(ctx, name, data)
}

var runs atomic.Int64

func newRemote(t *testing.T, w *flowtest.World, address string) *remote {
	t.Helper()
	shared, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &remote{t: t, world: w, store: &dying{Store: shared, dead: make(chan struct{})}, run: fmt.Sprint("run-", runs.Add(1))}
	r.store.left.Store(-1)
	r.queue = r.run
	data, failures, err := claimcheck.Converters(shared)
	if err == nil {
		r.client, err = client.Dial(client.Options{HostPort: address, DataConverter: data, FailureConverter: failures, Logger: devserver.Quiet{}})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.client.Close)
	r.work(r.store)
	submitted, err := event.Record{Event: submission}.AppendJSON(nil)
	if err == nil {
		err = store.Put(t.Context(), shared, wire.Submitted(r.run), submitted)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var submission = event.TaskSubmitted{Format: event.Format, Kind: "test", Form: event.FormPlan}

// work starts a worker on a store. It ends with the test.
func (r *remote) work(s store.Store) {
	a := &part.Activities{Store: s, Open: r.bench, Heartbeat: heartbeat / 5, Temp: r.t.TempDir(), Person: person.Func(r.answer)}
	w := worker.New(r.client, r.queue, worker.Options{MaxHeartbeatThrottleInterval: heartbeat / 5, DefaultHeartbeatThrottleInterval: heartbeat / 5})
	for name, f := range map[string]any{
		wire.Begin: a.Begin, wire.Append: a.Append, wire.Observe: a.Observe, wire.Answer: a.Answer,
		wire.Decide: func(ctx context.Context, in wire.DecideRequest) (*wire.Decision, error) {
			if r.loses != nil && r.loses(in.Key) {
				return nil, errLost
			}
			return a.Decide(ctx, in)
		},
		wire.Perform: func(ctx context.Context, in wire.PerformRequest) (*wire.Performance, error) {
			if r.loses != nil && r.loses(in.Key) {
				return nil, errLost
			}
			return a.Perform(ctx, in)
		},
	} {
		w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error { return r.workflow(ctx, s) }, workflow.RegisterOptions{Name: "run"})
	if err := w.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(w.Stop)
}

func (r *remote) workflow(ctx workflow.Context, shared store.Store) error {
	s, err := session.Open(ctx, session.Options{Store: shared, Run: r.run, Heartbeat: heartbeat, NoInput: true}, submission)
	if err != nil {
		return r.end(err)
	}
	r.mu.Lock()
	orchestrate := r.orchestrate
	r.mu.Unlock()
	return r.end(errors.Join(orchestrate(s.Flow()), s.Close()))
}

// end keeps the error of an orchestrator: it has more to say than what gets through.
func (r *remote) end(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = err
	if err != nil {
		return temporal.NewNonRetryableApplicationError(err.Error(), "ended", nil)
	}
	return nil
}

func (r *remote) answer(_ context.Context, _ string, q *flow.HumanQuestion) (*flow.Answer, error) {
	text, ok := r.world.Answer(q.Text)
	if !ok {
		return nil, person.ErrAbsent
	}
	return &flow.Answer{Text: text, By: "test"}, nil
}

func (r *remote) bench(context.Context, string, event.TaskSubmitted) (part.Bench, error) {
	return r, nil
}

// Options implements [part.Bench].
func (r *remote) Options(context.Context, wire.Allowance) (local.Options, func() error, error) {
	w := r.world
	voter := model.Func(func(ctx context.Context, req *model.Request) (*model.Response, error) {
		if ctx.Err() != nil {
			return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
		}
		text, err := w.Vote(req.Messages[0].Text)
		if err != nil {
			r.mu.Lock()
			r.errs = append(r.errs, err)
			r.mu.Unlock()
			return nil, err
		}
		return &model.Response{Text: text, Stop: model.StopEnd}, nil
	})
	tools := tool.NewRegistry()
	acts, err := tool.New(tool.Tool{Name: flowtest.Tool, Class: tool.Mutate}, func(ctx context.Context, in struct {
		What string `json:"what"`
	}) (tool.Result, error) {
		text, err := w.Act(ctx, in.What)
		return tool.Result{Text: text}, err
	})
	if err == nil {
		err = tools.Register(acts)
	}
	return local.Options{
		Ballot: ballot.New([]ballot.Voter{{Name: "m", Model: voter}}, domain.Readers{flowtest.Reader: func(json.RawMessage) (domain.Reader, error) { return plain{}, nil }}, nil),
		Ledger: budget.New(budget.Limits{}, usage.Spent{}),
		Tools:  tools, Approve: approval.Policy{Mode: approval.None},
		Looks: local.Looks{flowtest.LookKind: func(context.Context, json.RawMessage) (any, error) { return w.Look(), nil }},
	}, func() error { return nil }, err
}

// Session implements [flowtest.Runtime].
func (r *remote) Session(ctx context.Context, orchestrate func(flow.Flow) error) error {
	r.begin(orchestrate)
	running, err := r.client.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{ID: r.run, TaskQueue: r.queue}, "run")
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = r.client.CancelWorkflow(context.Background(), r.run, running.GetRunID()) })
	defer stop()
	err = running.Get(context.Background(), nil)
	return r.meaning(ctx, err)
}

func (r *remote) begin(orchestrate func(flow.Flow) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orchestrate, r.ended, r.errs = orchestrate, nil, nil
}

// meaning is the error of a session as the suite knows it.
func (r *remote) meaning(ctx context.Context, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || r.ended == nil {
		return err
	}
	if errors.Is(r.ended, session.ErrCancelled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, said := range r.errs {
		if strings.Contains(r.ended.Error(), said.Error()) {
			return said
		}
	}
	return r.ended
}

// Records implements [flowtest.Runtime].
func (r *remote) Records() ([]event.Record, error) {
	var list []event.Record
	tail := wire.Tail{Store: r.store.Store, Run: r.run}
	err := tail.Read(context.Background(), func(line json.RawMessage) error {
		rec, err := event.Decode(line)
		list = append(list, rec)
		return err
	})
	return list, err
}

// Crash implements [flowtest.Crasher]: after n things were written, neither the workflow nor its
// activities can write any more, and both are ended.
func (r *remote) Crash(n int, orchestrate func(flow.Flow) error) (bool, error) {
	r.begin(orchestrate)
	r.store.left.Store(int64(n))
	running, err := r.client.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{ID: r.run, TaskQueue: r.queue}, "run")
	if err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- running.Get(context.Background(), nil) }()
	select {
	case err := <-ended:
		return false, r.meaning(context.Background(), err)
	case <-r.store.dead:
	}
	err = r.client.TerminateWorkflow(context.Background(), r.run, running.GetRunID(), "killed")
	<-ended
	// Another worker goes on: what the dead one still does gets nowhere.
	r.queue += "-next"
	r.work(r.store.Store)
	return true, err
}

var errLost = errors.New("the worker died before it began")

// TestLostBeforeItBegan: what a worker was to write that died with its part is written by the one
// that gets the part next.
func TestLostBeforeItBegan(t *testing.T) {
	r := newRemote(t, flowtest.NewWorld(), devserver.ForTest(t).Address)
	var mu sync.Mutex
	lost := map[string]bool{}
	r.loses = func(key string) bool {
		mu.Lock()
		defer mu.Unlock()
		first := !lost[key]
		lost[key] = true
		return first
	}
	terms := flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 4}}
	err := r.Session(t.Context(), func(f flow.Flow) error {
		if _, err := f.Decide("a", &flow.Question{Prompt: "one?", Answer: flow.Format{Reader: flowtest.Reader}, Terms: terms}); err != nil {
			return err
		}
		if _, err := f.Perform("b", &flow.Effect{Scope: "b", Intent: event.Intent{Tool: flowtest.Tool, Input: json.RawMessage(`{"what":"it"}`)}}); err != nil {
			return err
		}
		f.Emit("end", event.TaskCompleted{})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	records, err := r.Records()
	if err != nil {
		t.Fatal(err)
	}
	var got []event.Type
	for i, rec := range records {
		if rec.Seq != uint64(i) {
			t.Errorf("event %d has the number %d", i, rec.Seq)
		}
		got = append(got, rec.Event.Type())
	}
	for _, want := range []event.Type{event.TypeTaskSubmitted, event.TypeVoteCompleted, event.TypeEffectDone, event.TypeTaskCompleted} {
		if !slices.Contains(got, want) {
			t.Errorf("there is no %s among %v", want, got)
		}
	}
}

// plain reads an answer as it stands.
type plain struct{}

func (plain) Read(text string) (domain.Answer, *redflag.Flag) {
	value, _ := json.Marshal(text) // a string
	return domain.Answer{Key: text, Value: value}, nil
}

func TestFlow(t *testing.T) {
	server := devserver.ForTest(t)
	flowtest.TestFlow(t, func(t *testing.T, w *flowtest.World) flowtest.Runtime {
		return newRemote(t, w, server.Address)
	}, func(err error) bool {
		_, ok := errors.AsType[*person.WaitingError](err)
		return ok
	})
}
