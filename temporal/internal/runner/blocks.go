package runner

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/orchestrator/mapper"
	"github.com/maker-mdap/maker/temporal/internal/session"
	"github.com/maker-mdap/maker/temporal/internal/wire"
	"github.com/maker-mdap/maker/vote"
)

// stepsPerBlock is how many steps of a chain are done in a row by one worker.
const stepsPerBlock = 1000

// recordsPerBlock is how many records belong to a block: of a large table so many that there are
// not more than mostBlocks.
func recordsPerBlock(records int) int { return max(leastRecords, (records+mostBlocks-1)/mostBlocks) }

const (
	leastRecords = 100
	mostBlocks   = 2000
)

// inFlight is how many blocks are with workers at once: more than there are workers, and few
// enough for one workflow.
const inFlight = 200

// byBlocks does a run whose steps are done in blocks.
func byBlocks(ctx workflow.Context, s *session.Session, submitted event.TaskSubmitted, cfg config.Config) error {
	class := ""
	if cfg.Voting.Strategy == vote.Adaptive {
		class = submitted.StepClass()
	}
	switch submitted.Form {
	case event.FormChain:
		return chainByBlocks(ctx, s, class)
	case event.FormRecords:
		return recordsByBlocks(ctx, s, submitted, class)
	}
	return fmt.Errorf("a run of the kind %s takes requests from outside, which only its server gets", submitted.Kind)
}

// chainByBlocks does the blocks of a chain one after the other.
func chainByBlocks(ctx workflow.Context, s *session.Session, class string) error {
	at := s.Past().Checkpoint
	for n := len(s.Done()); ; n++ {
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return session.ErrTooLong
		}
		done, err := s.Block(ctx, wire.BlockRequest{N: n, From: at.Step, To: at.Step + stepsPerBlock, Output: at.Output}, class, true)
		if err != nil {
			return err
		}
		if len(done.End) > 0 {
			return s.Ends(done.End)
		}
		if done.Next == at.Step {
			return fmt.Errorf("step %d of the chain was not done, and nobody says why", at.Step)
		}
		at.Step, at.Output = done.Next, done.Output
	}
}

// recordsByBlocks does the blocks of a table, many of them at a time.
func recordsByBlocks(ctx workflow.Context, s *session.Session, submitted event.TaskSubmitted, class string) error {
	p, err := kind.ReadMapParams(submitted.Params)
	if err != nil {
		return err
	}
	size := recordsPerBlock(p.Records)
	blocks := (p.Records + size - 1) / size
	share := min(blocks, inFlight)
	var failed error
	next, tooLong := 0, false
	done := workflow.NewWaitGroup(ctx)
	for range share {
		done.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer done.Done()
			for next < blocks && failed == nil {
				if tooLong = tooLong || workflow.GetInfo(ctx).GetContinueAsNewSuggested(); tooLong {
					return
				}
				n := next
				next++
				if _, ok := s.Done()[n]; ok {
					continue
				}
				_, err := s.Block(ctx, wire.BlockRequest{N: n, From: n * size, To: min((n+1)*size, p.Records)}, class, false)
				if err != nil && failed == nil {
					failed = err
				}
			}
		})
	}
	free, _ := workflow.NewDisconnectedContext(ctx)
	done.Wait(free)
	switch {
	case failed != nil:
		return failed
	case tooLong:
		return session.ErrTooLong
	}
	out := mapper.Outcome{Records: p.Records, Same: p.Same}
	for _, b := range s.Done() {
		out.Decided += b.Decided
		out.Undecided += b.Undecided
		out.Failed += b.Failed
		out.Known += b.Known
		out.Right += b.Right
	}
	end, err := out.End(0)
	if err != nil {
		return err
	}
	s.Flow().Emit("end", end)
	return nil
}
