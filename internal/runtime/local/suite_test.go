package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// onDisk is the local runtime as the suite of all runtimes wants it.
type onDisk struct {
	t     *testing.T
	world *flowtest.World
	dir   string
}

func (o *onDisk) Session(ctx context.Context, orchestrate func(flow.Flow) error) error {
	return o.session(ctx, nil, orchestrate)
}

func (o *onDisk) session(ctx context.Context, redact runlog.Redact, orchestrate func(flow.Flow) error) error {
	o.t.Helper()
	past := history.New(o.dir)
	log, _, err := runlog.Open(o.dir, redact, past.Visit)
	if err != nil {
		past = nil
		if log, err = runlog.Create(o.dir, "run", redact); err != nil {
			return err
		}
		err = log.Append(event.TaskSubmitted{Format: event.Format, Kind: "test", Form: event.FormPlan})
	} else if err = past.Finish(); err == nil {
		err = log.Append(event.RunResumed{})
	}
	if err != nil {
		return err
	}
	w := o.world
	voter := model.Func(func(ctx context.Context, req *model.Request) (*model.Response, error) {
		if ctx.Err() != nil {
			return nil, &model.Error{Kind: model.Cancelled, Err: context.Cause(ctx)}
		}
		text, err := w.Vote(req.Messages[0].Text)
		if err != nil {
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
	if err != nil {
		return err
	}
	b := ballot.New([]ballot.Voter{{Name: "m", Model: voter}}, domain.Readers{flowtest.Reader: readers["plain"]}, nil)
	r := New(Options{
		Log: log, Ballot: b, Ledger: budget.New(budget.Limits{}, usage.Spent{}), Past: past,
		Tools: tools, Approve: approval.Policy{Mode: approval.None},
		Looks: Looks{flowtest.LookKind: func(context.Context, json.RawMessage) (any, error) { return w.Look(), nil }},
		Person: person.Func(func(_ context.Context, _ string, q *flow.HumanQuestion) (*flow.Answer, error) {
			text, ok := w.Answer(q.Text)
			if !ok {
				return nil, person.ErrAbsent
			}
			return &flow.Answer{Text: text, By: "test"}, nil
		}),
	})
	err = r.Run(ctx, orchestrate)
	b.Close()
	return errors.Join(err, log.Close())
}

func (o *onDisk) Records() ([]event.Record, error) {
	var list []event.Record
	for line, err := range runlog.Read(o.dir) {
		if err != nil {
			return nil, err
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, err
		}
		list = append(list, rec)
	}
	return list, nil
}

// Crash stops the log's writer for good before it writes the line after the n-th of
// the session, which is as far as a process gets whose disk is gone, and goes on with
// what is on disk then.
func (o *onDisk) Crash(n int, orchestrate func(flow.Flow) error) (bool, error) {
	var lines atomic.Int64
	crashed, ended := make(chan struct{}), make(chan error, 1)
	redact := func(line []byte) []byte {
		if lines.Add(1) == int64(n)+2 { // one line opens the session
			close(crashed)
			select {} // the process is no more
		}
		return line
	}
	go func() { ended <- o.session(context.Background(), redact, orchestrate) }()
	select {
	case err := <-ended:
		return false, err
	case <-crashed:
	}
	before := o.dir
	o.dir = filepath.Join(o.t.TempDir(), "run")
	if events, err := os.ReadFile(filepath.Join(before, runlog.EventsFile)); err != nil || len(events) == 0 {
		return true, err // it never began
	}
	return true, os.CopyFS(o.dir, os.DirFS(before))
}

func TestFlow(t *testing.T) {
	flowtest.TestFlow(t, func(t *testing.T, w *flowtest.World) flowtest.Runtime {
		return &onDisk{t, w, filepath.Join(t.TempDir(), "run")}
	}, func(err error) bool {
		_, ok := errors.AsType[*person.WaitingError](err)
		return ok
	})
}
