package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/temporal/internal/runner"
	"github.com/maker-mdap/maker/temporal/internal/wire"
)

// beginning is what start is told.
type beginning struct {
	home            string
	detach, noInput bool
	json            bool
}

func (a *app) start() *cobra.Command {
	var b beginning
	cmd := &cobra.Command{
		Use:   "start -- COMMAND ARGS... | start RUN",
		Short: "Start a run, or go on with one",
		Long: `start begins the run of a command of maker (run, exec, plan, validate, do, solve, ask,
map, script, hanoi or calibrate) with its flags and settings, and has workers do it. It prints the name
of the run, shows what happens until the run ends, and what came of it. With --detach it
does not wait; with Ctrl-C the run goes on.

With the name of a run, it goes on with one that was stopped, cancelled or failed: one of
the store, or one of maker in a folder of this machine. That is then moved into the store;
what is left of the folder has another name, .moved-RUN, so that nobody goes on with it here.
The settings of a run stay as they are.

A run asks people with maker-temporal answer, and waits. With --no-input it ends there.`,
		Example: `  maker-temporal start -- solve "Multiply 48163 by 729" --domain math --model sim/default
  maker-temporal start --detach -- run "Count the TODO comments in this folder"
  maker-temporal start run-20260102`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			switch {
			case dash == 0 && len(args) > 0:
				return a.startCommand(cmd.Context(), b, args)
			case dash < 0 && len(args) == 1:
				return a.startRun(cmd.Context(), b, args[0])
			}
			return usagef("start takes -- and a command of maker, or the name of a run; see `%s start --help`", name)
		},
	}
	homeFlag(cmd, &b.home, "home of the tools: whose folders they work in")
	cmd.Flags().BoolVarP(&b.detach, "detach", "d", false, "do not wait until it ends")
	cmd.Flags().BoolVar(&b.noInput, "no-input", false, "end where only a person can say how it goes on, instead of waiting")
	cmd.Flags().BoolVar(&b.json, "json", false, "print events and result as JSON lines")
	return cmd
}

// commands are those of maker that begin a run.
var commands = []string{"run", "exec", "plan", "validate", "do", "solve", "ask", "map", "script", "hanoi", "calibrate"}

// startCommand begins the run of a command line of maker. Its folder is a temporary one.
func (a *app) startCommand(ctx context.Context, b beginning, args []string) error {
	isTask := strings.Contains(args[0], " ") // in words, without a command
	switch {
	case args[0] == "resume":
		return usagef("a run goes on with: %s start RUN", name)
	case !isTask && !slices.Contains(commands, args[0]):
		return usagef("maker %s begins no run; one that does is %s, first and without flags before it", args[0], strings.Join(commands, ", "))
	}
	if err := checkFlags(args); err != nil {
		return err
	}
	c, err := a.connect(ctx, quiet{})
	if err != nil {
		return err
	}
	defer c.Close()
	temp, err := os.MkdirTemp("", "maker-temporal-start-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	// Flags that follow win: a folder that was named is used, and moved as others are.
	dir, code := cli.Hold(slices.Concat(args[:1], []string{"--log-dir", temp}, args[1:]), a.Streams)
	if dir == "" && code != exitDone {
		return exitError{code} // it has said why
	}
	if dir == "" {
		return usagef("maker %s has begun no run with these flags", args[0])
	}
	return a.startFolder(ctx, c, b, dir)
}

// elsewhere are flags of maker that a run cannot take along, and what there is instead.
var elsewhere = map[string]string{
	"--out":     "write the table once the run has ended: maker-temporal export RUN, then maker show RUN --out FILE",
	"--answers": "prepared answers are the workers': name the file in their maker.yaml (answers), or in MAKER_ANSWERS",
	"--record":  "conversations are recorded by workers: name the file in their maker.yaml (record), or in MAKER_RECORD",
}

// checkFlags refuses flags that would have no effect.
func checkFlags(args []string) error {
	for _, arg := range args {
		flag, _, _ := strings.Cut(arg, "=")
		if flag == "--" {
			break
		}
		if instead := elsewhere[flag]; instead != "" {
			return usagef("%s: %s", flag, instead)
		}
	}
	return nil
}

// startRun goes on with a run of the store, or of a folder.
func (a *app) startRun(ctx context.Context, b beginning, run string) error {
	c, err := a.connect(ctx, quiet{})
	if err != nil {
		return err
	}
	defer c.Close()
	o, err := cli.Settings(a.Streams)
	if err != nil {
		return usageError{err}
	}
	dir, notHere := runs.Find(o.LogDir, run)
	known := run
	if notHere == nil {
		r, err := runs.Open(dir)
		if err != nil {
			return usageError{err}
		}
		if pid, writes := r.Writer(); writes {
			return usagef("process %d does %s here; pause it first, with: maker pause %s", pid, r.ID(), r.ID())
		}
		known = r.ID()
	}
	id, err := c.find(ctx, known)
	if _, missing := errors.AsType[noRunError](err); missing && notHere == nil {
		return a.startFolder(ctx, c, b, dir)
	}
	if err != nil {
		return err
	}
	sessions, err := c.store.List(ctx, wire.Sessions(id))
	if err != nil {
		return err
	}
	if len(sessions) < 2 && notHere == nil { // no worker has begun: the folder may not be in the store as a whole
		return a.startFolder(ctx, c, b, dir)
	}
	return a.execute(ctx, c, b, id)
}

// startFolder puts the run of a folder into the store and begins it.
func (a *app) startFolder(ctx context.Context, c *cluster, b beginning, dir string) error {
	run, _, err := runner.Import(ctx, c.store, dir)
	if err != nil {
		return err
	}
	if err := a.launch(ctx, c, b, run); err != nil {
		return err
	}
	moved := filepath.Join(filepath.Dir(dir), ".moved-"+filepath.Base(dir))
	if err := os.Rename(dir, moved); err != nil {
		return fmt.Errorf("%s goes on in the store; nobody may go on with its folder: %w", run, err)
	}
	return a.watch(ctx, c, b, run)
}

// execute begins a run of the store, and watches it.
func (a *app) execute(ctx context.Context, c *cluster, b beginning, run string) error {
	if err := a.launch(ctx, c, b, run); err != nil {
		return err
	}
	return a.watch(ctx, c, b, run)
}

// launch begins the workflow of a run.
func (a *app) launch(ctx context.Context, c *cluster, b beginning, run string) error {
	if err := checkHome(b.home); err != nil {
		return err
	}
	end, err := c.end(ctx, run)
	if err != nil {
		return err
	}
	if _, done := end.(event.TaskCompleted); done {
		return usagef("%s is completed; look at it with: %s export %s", run, name, run)
	}
	submitted, err := wire.ReadSubmitted(ctx, c.store, run)
	if err != nil {
		return err
	}
	q, err := queueFor(submitted, b.home)
	if err != nil {
		return err
	}
	_, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: run, TaskQueue: q, Memo: map[string]any{memoVersion: wire.Version},
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, runner.Workflow, runner.Input{Version: wire.Version, Run: run, NoInput: b.noInput})
	if _, running := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); running {
		return usagef("%s goes on already; see it with: %s follow %s", run, name, run)
	}
	return c.explain(run, err)
}

// queueFor is where a run is done: tools need the folders of their home.
func queueFor(submitted event.TaskSubmitted, home string) (string, error) {
	e, err := engine.New(engine.Options{})
	if err != nil {
		return "", err
	}
	defer e.Close()
	parts, err := e.Parts(submitted)
	if err != nil {
		return "", err
	}
	defer parts.Close()
	if parts.HasTools() {
		return queue(wire.Version, home), nil
	}
	return queue(wire.Version, ""), nil
}

// memoVersion is where the memo of a workflow says of which version it is.
const memoVersion = "maker_version"

// checkVersion refuses a workflow of another version: what this program asks of it may mean
// something else there.
func (c *cluster) checkVersion(ctx context.Context, run string) error {
	d, err := c.DescribeWorkflow(ctx, run, "")
	if err != nil {
		return c.explain(run, err)
	}
	var of int
	if p := d.Memo.GetFields()[memoVersion]; p != nil {
		if err := c.converter.FromPayload(p, &of); err != nil {
			return c.explain(run, err)
		}
	}
	if of != wire.Version {
		return usagef("%s is a workflow of version %d, and this program's are of version %d: use a %s of that version and its workers; if there are none, end it with `temporal workflow terminate --workflow-id %s` and go on with `%s start %s`", run, of, wire.Version, name, run, name, run)
	}
	return nil
}
