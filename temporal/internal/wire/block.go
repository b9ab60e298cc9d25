package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/temporal/store"
	"github.com/maker-mdap/maker/usage"
)

// A BlockRequest has a block of a chain, or of the records of a table, done.
type BlockRequest struct {
	Chunks []*Chunk `json:"chunks,omitempty"`
	Run    string   `json:"run"`
	N      int      `json:"n"`

	// From is the first step or record, and To the first that does not belong to the block.
	From int `json:"from"`
	To   int `json:"to"`

	Output    json.RawMessage `json:"output,omitempty"` // of the step before, in a chain
	Told      local.Told      `json:"told"`
	Allowance Allowance       `json:"allowance"`
}

// A BlockDone is what came of a block.
type BlockDone struct {
	Pieces int             `json:"pieces"`           // of its events
	Next   int             `json:"next"`             // the step after the last that is done, in a chain
	Output json.RawMessage `json:"output,omitempty"` // of that last one
	End    Lines           `json:"end,omitempty"`    // what the orchestrator said at its end, if it came to it
	Stop   *Stop           `json:"stop,omitempty"`

	First int         `json:"first"` // piece that this worker has written
	Spent usage.Spent `json:"spent"` // by this worker

	Counts // of records
}

// PieceName is a piece of the events of a block.
func PieceName(run string, block, n int) string {
	return fmt.Sprintf("%s/blocks/%08d/%06d", runFolder(run), block, n)
}

// RecordsName is a piece of the records of a run: those of a block.
func RecordsName(run string, block int) string {
	return fmt.Sprintf("%s/records/%08d", runFolder(run), block)
}

// ReadPieces visits the events of a block that are there, and returns how many pieces they are.
func ReadPieces(ctx context.Context, s store.Store, run string, block int, visit func(piece int, line json.RawMessage) error) (int, error) {
	for n := 0; ; n++ {
		data, err := s.Get(ctx, PieceName(run, block, n))
		if errors.Is(err, fs.ErrNotExist) {
			return n, nil
		}
		var lines Lines
		if err == nil {
			err = json.Unmarshal(data, &lines)
		}
		if err != nil {
			return n, fmt.Errorf("piece %d of block %d of %s: %w", n, block, run, err)
		}
		for _, line := range lines {
			if err := visit(n, line); err != nil {
				return n, err
			}
		}
	}
}

// ReadBlock visits the events of a block that is done, with what the run had spent in all.
func ReadBlock(ctx context.Context, s store.Store, run string, b BlockRef, visit func(json.RawMessage) error) error {
	n, err := ReadPieces(ctx, s, run, b.N, func(piece int, line json.RawMessage) error {
		rec, err := event.Decode(line)
		if err != nil {
			return err
		}
		for _, base := range slices.Backward(b.Bases) {
			if base.Piece <= piece {
				rec.Event = withBase(rec.Event, base.Spent)
				break
			}
		}
		if line, err = rec.AppendJSON(nil); err != nil {
			return err
		}
		return visit(line)
	})
	if err == nil && n != b.Pieces {
		err = fmt.Errorf("block %d of %s has %d pieces, want %d", b.N, run, n, b.Pieces)
	}
	return err
}

// withBase is an event of a block with what was spent outside of it.
func withBase(e event.Event, base usage.Spent) event.Event {
	switch e := e.(type) {
	case event.StepCompleted:
		e.Spent = base.Add(e.Spent)
		return e
	case event.StepFailed:
		e.Spent = base.Add(e.Spent)
		return e
	case event.VoteCompleted:
		e.Spent = base.Add(e.Spent)
		return e
	}
	return e
}
