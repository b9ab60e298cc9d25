package ballot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/tool"
)

// prepareWork sets up what all samples of a question for agents share.
func (r *race) prepareWork() error {
	for _, v := range r.voters {
		if v.Agent == nil {
			return fmt.Errorf("ballot: %s has no agent to do the work of question", v.Name)
		}
	}
	w := r.q.Work
	tools, err := r.ballot.tools(w.Tools)
	if err != nil {
		return err
	}
	output := r.others.Output
	if len(tools) > 0 {
		output = nil // a server that keeps to a schema cannot write a call
	}
	r.work = &agent.Task{
		System: r.q.System, Shared: r.q.Shared, Images: r.message[0].Images, Tools: tools, Done: w.Done, Output: output,
		MaxOutput: r.q.MaxOutput, MaxMoves: w.MaxMoves, MaxTokens: w.MaxTokens, Repair: w.Repair,
		CachePrefix: r.others.CachePrefix,
	}
	return nil
}

// tools finds the tools called names. One that cannot be used just now, or that is gone
// since somebody looked, is left out: an agent that asks for it is told that it is not
// there.
func (b *Ballot) tools(names []string) ([]tool.Tool, error) {
	var list []tool.Tool
	for _, name := range names {
		if b.opts.Tools == nil {
			return nil, fmt.Errorf("ballot: %w: %q; there is none at all", tool.ErrUnknown, name)
		}
		t, err := b.opts.Tools.Get(name)
		switch {
		case errors.Is(err, tool.ErrUnavailable), errors.Is(err, tool.ErrUnknown):
		case err != nil:
			return nil, err
		default:
			list = append(list, t)
		}
	}
	return list, nil
}

// doWork has an agent make the attempt.
func (a *attempt) doWork(ctx context.Context, req *model.Request, start time.Time, s *Sample) {
	task := *a.race.work
	task.Prompt, task.Temperature, task.Earlier, task.OnFault = req.Messages[0].Text, req.Temperature, req.Earlier, req.OnFault
	result, err := a.race.voters[a.voter].Agent.Attempt(ctx, &task)
	if err != nil {
		a.ended(ctx, a.n, req, nil, err, start, s)
		return
	}
	a.ended(ctx, a.n, req, &model.Response{
		Text: result.Text, Stop: result.Stop, Usage: result.Usage, CostUSD: result.CostUSD,
		Model: result.Model, Faults: result.Faults,
	}, nil, start, s)
	s.Work, s.Flag = result, result.Flag
}

// readIntent turns a call into a vote. Calls that ask the person agree whatever
// their words: what is voted on is that somebody has to be asked.
func (r *race) readIntent(intent *tool.Intent) domain.Answer {
	key := "call " + intent.Key()
	for _, t := range r.work.Tools {
		if t.Name == intent.Tool && t.Class == tool.Human {
			key = "call " + intent.Tool
		}
	}
	if r.intents == nil {
		r.intents = map[string]*tool.Intent{}
	}
	if r.intents[key] == nil {
		r.intents[key] = intent
	}
	value, err := json.Marshal(intent)
	if err != nil { // its input is canonical JSON
		value = json.RawMessage("null")
	}
	return domain.Answer{Key: key, Value: value}
}
