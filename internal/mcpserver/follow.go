package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
)

// FollowInput is what the tool follow takes.
type FollowInput struct {
	Run  string `json:"run" jsonschema:"the name that ask, map, run or script returned"`
	Wait *int   `json:"wait_seconds,omitempty" jsonschema:"how long to wait for the end, or for a new question to the person: 0 to 50 seconds (20)"`
	From int    `json:"from,omitempty" jsonschema:"of a map: the number of the first record to return, from 0"`
}

// mostWait is how long a call may take: many clients give one up after a minute.
const mostWait = 50 * time.Second

func (s *Server) follow(ctx context.Context, req *mcp.CallToolRequest, in FollowInput) (*Standing, error) {
	run, j, err := s.find(in.Run)
	if err != nil {
		return nil, err
	}
	patience := min(s.o.Wait, mostWait)
	if in.Wait != nil {
		patience = time.Duration(*in.Wait) * time.Second
	}
	if patience < 0 || patience > mostWait {
		return nil, fmt.Errorf("wait_seconds: %d is not between 0 and %d; call follow again to wait longer", *in.Wait, int(mostWait/time.Second))
	}
	if in.From < 0 {
		return nil, fmt.Errorf("from: %d is less than 0", in.From)
	}
	if j != nil {
		err = s.wait(ctx, req, j, patience)
	} else {
		err = s.waitElsewhere(ctx, run, patience)
	}
	if err != nil {
		return nil, err
	}
	return s.standing(run.Dir(), j, in.From)
}

// wait waits until a run ends or asks something, and reports progress to whoever wants it.
func (s *Server) wait(ctx context.Context, req *mcp.CallToolRequest, j *job, most time.Duration) error {
	timer, beat := time.NewTimer(most), time.NewTicker(s.o.Beat)
	defer timer.Stop()
	defer beat.Stop()
	reported := -1.0
	for {
		select {
		case <-j.run.Done():
			return nil
		case <-j.asks():
			return nil
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-beat.C:
			reported = report(ctx, req, j.run, reported)
		}
	}
}

// report tells the client how far a run has come, if that is more than it was told, and returns
// what it was told.
func report(ctx context.Context, req *mcp.CallToolRequest, run *maker.Run, told float64) float64 {
	token := req.Params.GetProgressToken()
	if token == nil {
		return told
	}
	p := run.Progress()
	// Records are alike, and it is known how many there are. The steps of a plan are not, and
	// are made up on the way: there the samples say that it goes on.
	done, total := float64(p.Samples), 0.0
	if run.Form() == event.FormRecords {
		done, total = float64(p.Steps), float64(p.Total)
	}
	if done <= told {
		return told
	}
	err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: done, Total: total,
		Message: fmt.Sprintf("%s: %d of %d steps, %d samples, %d discarded", run.ID(), p.Steps, max(p.Total, p.Steps), p.Samples, p.RedFlagged),
	})
	if err != nil {
		return told
	}
	return done
}

// waitElsewhere waits until the process that writes a run has ended, or the run asks a person.
func (s *Server) waitElsewhere(ctx context.Context, run *runs.Run, most time.Duration) error {
	next := uint64(0)
	for rec, err := range run.Events(0) {
		if err != nil {
			return err
		}
		next = rec.Seq + 1
	}
	open, err := run.Waiting()
	if err != nil || len(open) > 0 {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() // the server ends
	for rec, err := range run.Follow(bounded, next) {
		if bounded.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		if _, asks := rec.Event.(event.ClarificationRequested); asks {
			break
		}
	}
	return context.Cause(ctx)
}

// CancelInput is what the tool cancel takes.
type CancelInput struct {
	Run string `json:"run" jsonschema:"the name that ask, map, run or script returned"`
}

// endTime is how long a run may take to end.
const endTime = 30 * time.Second

func (s *Server) cancel(ctx context.Context, _ *mcp.CallToolRequest, in CancelInput) (*Standing, error) {
	run, j, err := s.find(in.Run)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	mine := s.begun[run.ID()]
	s.mu.Unlock()
	if !mine {
		return nil, fmt.Errorf("%s was not started by this server, so that it is the person's to end: %s", run.ID(), s.command("cancel", run.ID()))
	}
	ctx, stop := context.WithTimeout(ctx, endTime)
	defer stop()
	if err := run.Cancel(ctx, "an agent (maker mcp)"); err != nil {
		return nil, err
	}
	return s.standing(run.Dir(), j, 0)
}

// CertifyInput is what the tool certify takes.
type CertifyInput struct {
	Run string `json:"run" jsonschema:"the name of a run, finished or not"`
}

func (s *Server) certify(_ context.Context, _ *mcp.CallToolRequest, in CertifyInput) (*runs.Certificate, error) {
	run, _, err := s.find(in.Run)
	if err != nil {
		return nil, err
	}
	return run.Certify()
}
