package part

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/temporal/store"
)

// An Orchestrator is a bench that also runs what the run does: for blocks, whose orchestrators
// run on workers.
type Orchestrator interface {
	Bench

	// Block runs the orchestrator from a checkpoint on, or over a block of records, which are in
	// a file and of which the first has a number.
	Block(f flow.Flow, at chain.Checkpoint, first int, records string) error
}

// errFull ends the orchestrator of a chain at the end of its block.
var errFull = errors.New("the block is full")

// errLate is why a worker stops that another one has taken the block from.
var errLate = fmt.Errorf("another worker does this block: %w", store.ErrTaken)

// pieceEvery is how often the events of a block get to the store: what a lost worker has done
// since is done again.
const pieceEvery = time.Second

// A block is one under way.
type block struct {
	*Activities
	in   *wire.BlockRequest
	dir  string // of its log
	done wire.BlockDone

	ended map[int]end // records
	log   *runlog.Cursor
}

// end is how a record ended.
type end struct {
	status flow.Status
	right  *bool
}

// Block does a block of steps or records.
func (a *Activities) Block(ctx context.Context, in wire.BlockRequest) (*wire.BlockDone, error) {
	ctx, over, err := a.begin(ctx, in.Chunks)
	if err != nil {
		return nil, err
	}
	defer over()
	b := &block{Activities: a, in: &in, ended: map[int]end{}}
	b.done.Next, b.done.Output = in.From, in.Output
	if b.done.Pieces, err = wire.ReadPieces(ctx, a.Store, in.Run, in.N, b.recall); err != nil {
		return nil, err
	}
	b.done.First = b.done.Pieces
	bench, submitted, err := a.bench(ctx, in.Run)
	if err != nil {
		return nil, err
	}
	o, ok := bench.(Orchestrator)
	if !ok {
		return nil, fmt.Errorf("this worker does no blocks")
	}
	opts, release, err := bench.Options(ctx, in.Allowance)
	if err != nil {
		return nil, err
	}
	err = b.do(ctx, o, submitted, opts)
	return &b.done, errors.Join(err, release())
}

// recall takes an event that a worker before this one has left.
func (b *block) recall(_ int, line json.RawMessage) error {
	rec, err := event.Decode(line)
	if err != nil {
		return err
	}
	b.count(rec.Event)
	return nil
}

// count takes a step into account.
func (b *block) count(e event.Event) {
	switch e := e.(type) {
	case event.StepCompleted:
		b.done.Next, b.done.Output = e.Step+1, e.Output.JSON
		b.ended[e.Step] = end{flow.Decided, e.Right}
		b.done.Decided++
		if e.Right != nil {
			if b.done.Known++; *e.Right {
				b.done.Right++
			}
		}
	case event.StepFailed:
		b.ended[e.Step] = end{status: flow.Status(e.Status)}
		if e.Status == string(flow.Undecided) {
			b.done.Undecided++
		} else {
			b.done.Failed++
		}
	}
}

// do runs the orchestrator on a local runtime and puts its events into the store.
func (b *block) do(ctx context.Context, o Orchestrator, submitted event.TaskSubmitted, opts local.Options) error {
	temp, err := os.MkdirTemp(b.Temp, "maker-block-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	b.dir = filepath.Join(temp, "block")
	records := filepath.Join(temp, "records.jsonl")
	if submitted.Form == event.FormRecords {
		data, err := b.Store.Get(ctx, wire.RecordsName(b.in.Run, b.in.N))
		if err == nil {
			err = os.WriteFile(records, data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	log, err := runlog.CreateTemporary(b.dir, b.in.Run, opts.Redact)
	if err != nil {
		return err
	}
	if err := log.Append(submitted); err != nil {
		return errors.Join(err, log.Close())
	}
	b.log = runlog.NewCursor(b.dir, 1)
	opts.Log, opts.Told = log, &b.in.Told
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	at := chain.Checkpoint{Step: b.done.Next, Output: b.done.Output, Ended: b.status(maps.Clone(b.ended))}
	stop, shipped := make(chan struct{}), make(chan error, 1)
	go func() { shipped <- b.shipping(ctx, cancel, stop) }()
	failed := local.New(opts).Run(ctx, func(f flow.Flow) error {
		if submitted.Form == event.FormRecords {
			return o.Block(f, at, b.in.From, records)
		}
		return o.Block(&bounded{Flow: f, to: b.in.To}, at, 0, "")
	})
	opts.Ballot.Close()
	err = log.Close()
	close(stop)
	err = errors.Join(err, <-shipped)
	b.done.Spent = opts.Ledger.Spent()
	if err != nil {
		return err
	}
	if failed != nil && !errors.Is(failed, errFull) {
		b.done.Stop = stopOf(ctx, failed)
	}
	return nil
}

// status tells how records ended; those of other blocks are over.
func (b *block) status(ended map[int]end) func(record int) (flow.Status, *bool) {
	return func(record int) (flow.Status, *bool) {
		if record < b.in.From || record >= b.in.To {
			return flow.Decided, nil
		}
		e := ended[record]
		return e.status, e.right
	}
}

// shipping puts events into the store until there are no more.
func (b *block) shipping(ctx context.Context, cancel context.CancelCauseFunc, stop <-chan struct{}) error {
	every := time.NewTicker(pieceEvery)
	defer every.Stop()
	for {
		last := false
		select {
		case <-stop:
			last = true
		case <-every.C:
		}
		// What is in the log is paid for, whoever ends the run.
		err := b.ship(context.WithoutCancel(ctx))
		if err != nil {
			cancel(err)
			if !last {
				<-stop
			}
			return err
		}
		if last {
			return nil
		}
	}
}

// ship puts the events that have come since the last time into the store.
func (b *block) ship(ctx context.Context) error {
	const most = 64 << 20
	var lines wire.Lines
	for {
		raw, err := b.log.Read(10_000, most)
		if err != nil {
			return err
		}
		if len(raw) == 0 {
			break
		}
		for _, line := range raw {
			if err := b.add(&lines, line); err != nil {
				return err
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	err := b.Store.Create(ctx, wire.PieceName(b.in.Run, b.in.N, b.done.Pieces), lines.Encode())
	if errors.Is(err, store.ErrExists) {
		return errLate
	}
	b.done.Pieces++
	return err
}

// add takes a line of the log.
func (b *block) add(lines *wire.Lines, line []byte) error {
	rec, err := event.Decode(line)
	if err != nil {
		return err
	}
	raw := slices.Clone(line)
	if event.HasRefs(line) {
		if rec.Event, err = event.WithValues(rec.Event, func(v event.Value) (event.Value, error) { return runlog.Load(b.dir, v) }); err != nil {
			return err
		}
		if raw, err = rec.AppendJSON(nil); err != nil {
			return err
		}
	}
	if local.EndsSession(rec.Event) {
		b.done.End = append(b.done.End, raw)
		return nil
	}
	b.count(rec.Event)
	*lines = append(*lines, raw)
	return nil
}

// bounded is a flow that ends at the end of its block.
type bounded struct {
	flow.Flow
	to int
}

// Decide implements flow.Flow.
func (f *bounded) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	if q.Step >= f.to {
		return nil, errFull
	}
	return f.Flow.Decide(key, q)
}

// Commit implements flow.Committer.
func (f *bounded) Commit(key string, step *event.StepCompleted) { flow.Commit(f.Flow, key, step) }
