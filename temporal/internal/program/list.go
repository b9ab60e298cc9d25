package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/session"
	"github.com/maker-mdap/maker/temporal/internal/wire"
)

// summary is a run in the list.
type summary struct {
	Run     string          `json:"run"`
	State   string          `json:"state"`
	Kind    string          `json:"kind,omitempty"`
	Task    string          `json:"task,omitempty"`
	Queue   string          `json:"queue"`
	Started time.Time       `json:"started"`
	Ended   *time.Time      `json:"ended,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Asks    []wire.Question `json:"asks,omitempty"`
}

func (a *app) list() *cobra.Command {
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the runs",
		Long: `list lists the runs that the server knows, the newest first, and what those ask that
wait. A server forgets runs that ended some time ago; the store does not.

The states: running, waiting (answer it with maker-temporal answer), idle (no worker takes
it: start one of its home), completed, undecided, stopped (by a limit), cancelled, failed,
terminated (from outside), ended (its store is another one).`,
		Example: `  maker-temporal list
  maker-temporal list --json`,
		Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return usagef("--limit: %d is too small, want at least 1", limit)
			}
			c, err := a.connect(cmd.Context(), quiet{})
			if err != nil {
				return err
			}
			defer c.Close()
			all, err := c.list(cmd.Context(), limit)
			if err != nil {
				return c.explain("the list", err)
			}
			return a.printList(all, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for each run")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many to list at most")
	return cmd
}

func (a *app) printList(all []summary, asJSON bool) error {
	if asJSON {
		for _, s := range all {
			if err := a.printJSON(s); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		a.say("there are no runs at %s yet; start one: %s start -- hanoi --disks 8", a.server.address, name)
		return nil
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Run, s.State, s.Started.Local().Format("2006-01-02 15:04:05"), clip.Text(show.Line(s.words()), 100))
		for _, q := range s.Asks {
			fmt.Fprintf(w, "\t\t\t  asks %s: %s\n", q.Key, clip.Text(show.Line(q.Question.Text), 100))
		}
	}
	return w.Flush()
}

// words are what else people want to know about a run.
func (s *summary) words() string {
	switch {
	case s.Kind == "":
		return "its store is another one"
	case s.State == stateIdle:
		return fmt.Sprintf("%s: %s (no worker takes what is on %s)", s.Kind, s.Task, s.Queue)
	case s.Reason != "" && s.State != event.StatusCompleted:
		return fmt.Sprintf("%s: %s (%s)", s.Kind, s.Task, s.Reason)
	}
	return fmt.Sprintf("%s: %s", s.Kind, s.Task)
}

// States that the run itself does not know.
const (
	stateIdle       = "idle"
	stateTerminated = "terminated"
	stateEnded      = "ended" // nobody here can tell how
)

// list is what the server knows about the newest runs.
func (c *cluster) list(ctx context.Context, limit int) ([]summary, error) {
	var found []*workflowpb.WorkflowExecutionInfo
	seen := map[string]bool{}
	for page := []byte(nil); len(found) < limit; {
		got, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowType = %q", runner.Workflow), NextPageToken: page,
		})
		if err != nil {
			return nil, err
		}
		for _, info := range got.GetExecutions() { // the newest first: what went on later counts
			if run := info.GetExecution().GetWorkflowId(); !seen[run] && len(found) < limit {
				seen[run] = true
				found = append(found, info)
			}
		}
		if page = got.GetNextPageToken(); len(page) == 0 {
			break
		}
	}
	all, errs := make([]summary, len(found)), make([]error, len(found))
	var looking sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i, info := range found {
		looking.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			all[i], errs[i] = c.summarize(ctx, info)
		})
	}
	looking.Wait()
	return all, errors.Join(errs...)
}

// summarize says how a run stands.
func (c *cluster) summarize(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (summary, error) {
	s := summary{Run: info.GetExecution().GetWorkflowId(), Queue: info.GetTaskQueue(), Started: info.GetStartTime().AsTime()}
	if submitted, err := wire.ReadSubmitted(ctx, c.store, s.Run); err == nil {
		s.Kind, s.Task = submitted.Kind, submitted.Task
	}
	if info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
		return s, c.summarizeRunning(ctx, &s)
	}
	ended := info.GetCloseTime().AsTime()
	s.Ended = &ended
	var out runner.Output
	err := c.GetWorkflow(ctx, s.Run, info.GetExecution().GetRunId()).Get(ctx, &out)
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED && err == nil:
		s.State, s.Reason = stateOf(&out), out.Reason
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:
		s.State, s.Reason = event.StatusFailed, cause(err).Error()
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		s.State, s.Reason = stateEnded, err.Error()
	default:
		s.State = stateTerminated
	}
	return s, nil
}

// summarizeRunning says what a run that goes on waits for, if it does.
func (c *cluster) summarizeRunning(ctx context.Context, s *summary) error {
	s.State = event.StatusRunning
	pollers, err := c.DescribeTaskQueue(ctx, s.Queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(pollers.GetPollers(), isThere) {
		s.State = stateIdle
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // its worker may have ended just now
	defer cancel()
	got, err := c.QueryWorkflow(ctx, s.Run, "", session.OpenQuery)
	if err != nil || got.Get(&s.Asks) != nil {
		return nil
	}
	if len(s.Asks) > 0 {
		s.State = event.StopWaiting
	}
	return nil
}

// isThere reports whether a worker still asks for work: one question takes a minute at most, and
// servers remember workers for longer.
func isThere(p *taskqueuepb.PollerInfo) bool {
	return time.Since(p.GetLastAccessTime().AsTime()) < 70*time.Second
}

// stateOf is how a run ended, in the words of maker.
func stateOf(out *runner.Output) string {
	switch out.Stop {
	case event.StopCancelled, event.StopPaused, event.StopWaiting:
		return out.Stop
	}
	return out.Status
}
