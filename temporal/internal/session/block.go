package session

import (
	"context"
	"encoding/json"

	"go.temporal.io/sdk/workflow"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// Block has a block done, by several workers if need be, and takes its events into the run.
// Class is that of its questions under an adaptive rule; otherwise it is empty. Alone is a block
// beside which there are no others.
func (s *Session) Block(ctx workflow.Context, in wire.BlockRequest, class string, alone bool) (*wire.BlockDone, error) {
	in.Run = s.opts.Run
	if in.Told = (local.Told{Retired: s.past.Framings.AllRetired()}); class != "" {
		now, begins := s.past.Policies.Now(class)
		for _, e := range begins {
			if err := s.append("", e); err != nil {
				return nil, err
			}
		}
		in.Told.Policies = map[string]adaptive.Change{class: now}
	}
	var tries int
	var loan *loan
	borrow := func() (err error) {
		loan, err = s.lend(ctx, tries, alone)
		return err
	}
	if err := borrow(); err != nil {
		return nil, err
	}
	var out wire.BlockDone
	var attempts []attempt
	request := func(chunks []*wire.Chunk) any {
		in.Chunks, in.Allowance = chunks, loan.allowance
		return in
	}
	settle := func(did workflow.Future) (again bool, err error) {
		out = wire.BlockDone{}
		if err := did.Get(ctx, &out); err != nil {
			return false, err
		}
		s.owe(loan, out.Spent)
		attempts = append(attempts, attempt{out.First, loan})
		switch {
		case out.Stop == nil:
			return false, nil
		case out.Stop.Kind == wire.Exhausted && !loan.all:
			tries++
		case !moved(ctx, out.Stop):
			return false, nil
		}
		return true, borrow()
	}
	err := s.part(ctx, wire.Block, "a block", request, settle, func() error {
		s.forfeit(loan)
		return borrow()
	})
	s.giveBack(loan)
	if err != nil {
		return nil, err
	}
	if err := s.takeBlock(&out, in.N, attempts, class != ""); err != nil {
		return nil, err
	}
	if out.Stop != nil && out.Stop.Kind == wire.Exhausted {
		return nil, &budget.ExhaustedError{Limit: out.Stop.Limit, Max: out.Stop.Max, Spent: s.spent}
	}
	if out.Stop != nil {
		return nil, stopError(out.Stop)
	}
	return &out, nil
}

// An attempt is what a worker has done of a block, whose events from a piece on are its.
type attempt struct {
	piece int
	loan  *loan
}

// takeBlock takes the events of a block into the run.
func (s *Session) takeBlock(out *wire.BlockDone, n int, attempts []attempt, learns bool) error {
	ref := &wire.BlockRef{N: n, Pieces: out.Pieces, Counts: out.Counts}
	if attempts[0].piece > 0 { // workers before these were lost
		ref.Bases = append(ref.Bases, wire.Base{Spent: s.spent})
	}
	for _, a := range attempts {
		ref.Bases = append(ref.Bases, wire.Base{Piece: a.piece, Spent: s.spent})
		s.spent = s.spent.Add(s.owed[a.loan])
		delete(s.owed, a.loan)
	}
	if out.Stop == nil {
		s.done[n] = *ref
	}
	s.chunked(ref)
	if !learns {
		return nil
	}
	// The store has these for good, so that reading them is the same each time.
	err := wire.ReadBlock(context.Background(), s.opts.Store, s.opts.Run, *ref, func(line json.RawMessage) error {
		rec, err := event.Decode(line)
		if err == nil {
			err = s.learn(rec, line)
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.follow()
}

// Done are the blocks that are done, by number.
func (s *Session) Done() map[int]wire.BlockRef { return s.done }

// Ends takes the events with which an orchestrator ended on a worker.
func (s *Session) Ends(lines wire.Lines) error {
	for _, line := range lines {
		rec, err := event.Decode(line)
		if err != nil {
			return err
		}
		s.Flow().Emit("end", rec.Event)
	}
	return s.failed
}
