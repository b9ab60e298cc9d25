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

// bounds are where the blocks of a table begin, and its end. They are large at first, because each
// costs the server something, and small at the end, so that workers end at about the same time;
// those of a large table are so large that there are not many more than mostBlocks.
func bounds(records int) []int {
	most := max(mostRecords, (records+mostBlocks-1)/mostBlocks)
	at, list := 0, []int{0}
	for at < records {
		at = min(at+min(most, max(leastRecords, (records-at)/spread)), records)
		list = append(list, at)
	}
	return list
}

const (
	mostRecords  = 200
	leastRecords = 50
	mostBlocks   = 2000
	spread       = 16 // blocks at least that share what is left
)

// How many blocks are with workers at once, or wait for them: more than there are workers, few
// enough for one workflow, and not so many that the last ones, which are small, are begun before
// large ones. The server does not keep the order of those that wait.
const (
	leastInFlight = 32
	mostInFlight  = 200
)

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
	at := bounds(p.Records)
	blocks := len(at) - 1
	share := min(blocks, max(leastInFlight, min(mostInFlight, blocks/3)))
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
				_, err := s.Block(ctx, wire.BlockRequest{N: n, From: at[n], To: at[n+1]}, class, false)
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
