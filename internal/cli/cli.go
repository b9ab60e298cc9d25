// Package cli is the maker command.
//
// Results go to stdout and everything else to stderr. Errors end with what to
// do next, and the exit code says what kind they are.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/complete"
	"github.com/maker-mdap/maker/internal/cli/configure"
	"github.com/maker-mdap/maker/internal/cli/live"
	"github.com/maker-mdap/maker/internal/cli/manage"
	"github.com/maker-mdap/maker/internal/cli/manpage"
	"github.com/maker-mdap/maker/internal/cli/mcpserve"
	"github.com/maker-mdap/maker/internal/cli/promptdir"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
	"github.com/maker-mdap/maker/internal/cli/tokens"
	"github.com/maker-mdap/maker/internal/cli/tty"
	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1 // the task failed
	exitUsage       = 2 // wrong usage or configuration
	exitUndecided   = 3
	exitBudget      = 4 // a budget or deadline stopped it
	exitWaiting     = 5 // for a person
	exitInterrupted = 130
)

// Streams are the program's standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// An exitError ends the program with a code after everything was said.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// A usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// collectAt sets how much garbage there may be, in percent of what is alive, unless the
// user did.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// Main runs the command line and returns the exit code.
func Main(args []string, s Streams) int { return run(args, s, nil) }

func run(args []string, s Streams, hold func(dir string)) int {
	// What is alive is small and what a step leaves behind is much: a larger
	// heap, still only some tens of megabytes, is collected less often.
	collectAt(400)
	// The packages of the language log there what servers send, keys included, and
	// nothing that is not also an error that is reported.
	log.SetOutput(io.Discard)
	out := newOutput(s.Out)
	s.Out = out
	a := &app{Streams: s, sources: map[string]string{}, watched: make(chan struct{}), hold: hold}
	if hold != nil {
		a.server = maker.AnsweredElsewhere
	}
	ctx := a.interruptible(context.Background())
	defer a.end(nil)
	stop := onInterrupt(func() { a.end(maker.ErrInterrupted) }, a.abandon)
	defer stop()

	root := a.root()
	root.SetArgs(asTask(root, args))
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	if closeErr := a.closeEngines(); err == nil {
		err = closeErr
	}
	if out.err != nil && (err == nil || isA[exitError](err)) {
		err = fmt.Errorf("cannot write to standard output: %w", out.err)
	}
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
	}
	a.sayError(err, args)
	return exitCode(err)
}

// sayError says what went wrong, to a program as one JSON object.
func (a *app) sayError(err error, args []string) {
	message := a.message(err)
	if !a.json && !slices.Contains(args, "--json") { // which was not read if the command line is wrong
		fmt.Fprintf(a.Err, "maker: %s\n", show.Text(message))
		return
	}
	line, failed := json.Marshal(map[string]any{"type": "error", "error": message, "exit_code": exitCode(err)})
	if failed == nil {
		fmt.Fprintf(a.Err, "%s\n", line)
	}
}

// output is stdout. A program that reads it gets everything as it is; on a terminal it
// is made safe to show. It remembers that something could not be written, which nobody
// looks at line by line.
type output struct {
	w          io.Writer
	onTerminal bool
	err        error
}

func newOutput(w io.Writer) *output {
	f, ok := w.(*os.File)
	return &output{w: w, onTerminal: ok && tty.IsTerminal(f)}
}

func (o *output) Write(p []byte) (int, error) {
	var err error
	n := len(p)
	if o.onTerminal {
		_, err = io.WriteString(o.w, show.Text(string(p)))
	} else {
		n, err = o.w.Write(p)
	}
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// interruptible returns a context that ends when the person ends what goes on.
func (a *app) interruptible(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	a.interrupt.Store(&cancel)
	return ctx
}

// end ends what goes on.
func (a *app) end(cause error) { (*a.interrupt.Load())(cause) }

// abandon puts the terminal right before the program ends at once.
func (a *app) abandon() {
	if v := a.view.Load(); v != nil {
		v.Abandon()
	}
}

// onInterrupt calls f on the first Ctrl-C or SIGTERM, or when the terminal is closed. A
// second Ctrl-C calls last and ends the program at once: what is committed is on disk.
func onInterrupt(f, last func()) (stop func()) {
	ch := make(chan os.Signal, 4)
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signal.Notify(ch, syscall.SIGHUP)
	}
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		for n := 0; ; n++ {
			switch sig, ok := <-ch; {
			case !ok:
				return
			case n == 0:
				f()
			case sig != syscall.SIGHUP: // which a shell sends after the system has
				last()
				os.Exit(exitInterrupted)
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(ch)
	}
}

// message is an error for people: settings are named as the flags they are, or by
// where else they came from.
func (a *app) message(err error) string {
	if c, ok := errors.AsType[*maker.ConfigError](err); ok {
		name := strings.ReplaceAll(c.Field, "_", "-")
		if source := a.sources[name]; source != "" {
			return fmt.Sprintf("%s: %v", source, c.Err)
		}
		return fmt.Sprintf("--%s: %v", name, c.Err)
	}
	if c, ok := errors.AsType[*runs.CorruptError](err); ok {
		return fmt.Sprintf("%v\nnothing was changed; `maker resume --set-aside` moves the damaged rest into a file beside the log and goes on from the last intact event", c)
	}
	if l, ok := errors.AsType[*runs.LostError](err); ok {
		return fmt.Sprintf("%v\nsee that no process is writing the run and that its folder is in place, then run `maker resume %s`", l, l.Dir)
	}
	if w, ok := errors.AsType[*runs.WriteError](err); ok && w.Empty {
		return fmt.Sprintf("%v\nmake room or make it writable, then start the run again", w)
	}
	if w, ok := errors.AsType[*runs.WriteError](err); ok {
		return fmt.Sprintf("%v\nmake room or make it writable, then run `maker resume %s`", w, w.Dir)
	}
	return err.Error()
}

func exitCode(err error) int {
	switch {
	case isA[usageError](err), isA[*maker.ConfigError](err), isA[*runs.LockedError](err),
		isA[*runs.NewerError](err), isA[*runs.NotAskedError](err), isA[*runs.NotRunningError](err), isA[*runs.EndedError](err), isA[*runs.DeafError](err), isA[*runs.AnsweredError](err), errors.Is(err, runs.ErrNoRun):
		return exitUsage
	case errors.Is(err, maker.ErrInterrupted):
		return exitInterrupted
	default:
		return exitFailed
	}
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// resultCode is the exit code of a run that has a result.
func resultCode(r *maker.Result) int {
	switch {
	case r.Status == event.StatusCompleted:
		return exitDone
	case r.Status == event.StatusUndecided:
		return exitUndecided
	case r.Stop == event.StopCancelled, r.Stop == event.StopPaused, r.Stop == event.StopDeclined:
		return exitInterrupted
	case r.Stop == event.StopConfiguration:
		return exitUsage
	case r.Stop == event.StopWaiting:
		return exitWaiting
	case r.Status == event.StatusStopped:
		return exitBudget
	default:
		return exitFailed
	}
}

// app is one invocation of the program.
type app struct {
	Streams
	json    bool
	quiet   bool
	logDir  string
	table   bool // the records of a run were written
	noInput bool
	hold    func(dir string)                                      // has runs wait before their first step
	server  func(context.Context, maker.Question) (string, error) // asks for a run of a server

	interrupt atomic.Pointer[context.CancelCauseFunc] // ends what goes on

	asking   sync.Mutex                // held while a question is on the terminal
	keyboard *tty.Terminal             // once somebody was asked
	prompt   atomic.Pointer[string]    // that waits for a line
	view     atomic.Pointer[live.View] // that is live
	watched  chan struct{}             // closed once there is one
	shown    sync.Once                 // closes it
	saysPlan bool                      // plans are printed before they are carried out
	tasks    atomic.Bool               // the run does the tasks of an outline, which count from 1

	sources map[string]string // of settings that were not flags: variable, or file and line
	wrong   error             // what is wrong with the settings, for commands that work with any
	engines []*maker.Engine   // to be closed at the end

	protected settingsfile.Protected
}

// value is where a setting of the program itself is kept; nil for others.
func (a *app) value(d *config.Setting) config.Value {
	at := map[string]any{"json": &a.json, "quiet": &a.quiet, "no_input": &a.noInput, "log_dir": &a.logDir}[d.Name]
	if at == nil {
		return nil
	}
	return d.ValueAt(at)
}

// newEngine makes an engine that lives until the program ends.
func (a *app) newEngine(o *maker.Options) (*maker.Engine, error) {
	o.Protected, o.Hold = a.protected.Files, a.hold
	e, err := maker.New(o)
	if err == nil {
		a.engines = append(a.engines, e)
	}
	return e, err
}

func (a *app) closeEngines() error {
	var err error
	for _, e := range a.engines {
		err = errors.Join(err, e.Close())
	}
	return err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "maker",
		Short: "Run long LLM tasks without errors",
		Long: `maker runs long tasks on language models without errors: a step is put to
several isolated voters, answers that look wrong are discarded, the rest are
counted until one leads by k, and what wins is committed exactly once. The steps
of run, exec and do take one sample each unless -k says how to vote.

Try it, no key needed:

  maker hanoi --disks 10 --model sim/default

A task in words, with a model that you have a key for:

  maker "Count the TODO comments in this folder" --voting first_to_k

Settings come from flags, then from MAKER_* variables (MAKER_AHEAD_BY=3), then
from maker.yaml in this folder (ahead_by: 3), then from maker/maker.yaml in your
configuration folder.

Exit codes: 0 done, 1 the task failed, 2 wrong usage or configuration,
3 undecided, 4 a budget or deadline stopped it, 5 waiting for a person,
130 interrupted.`,
		Version:       maker.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{noCommand(cmd, args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return a.loadSettings(cmd)
		},
	}
	root.SetVersionTemplate(versionLine() + "\n")
	root.SetFlagErrorFunc(flagError)
	root.SetGlobalNormalizationFunc(oldNames)
	flags := root.PersistentFlags()
	for _, d := range config.Settings() {
		if v := a.value(d); v != nil {
			_ = v.Set(d.Default)
			addFlag(root, flags, d, v)
		}
	}
	root.AddCommand(
		a.run(), a.plan(), a.validate(), a.exec(), a.do(), a.solve(), a.askOne(), a.mapRecords(), a.script(), a.hanoi(), a.calibrate(), a.estimate(),
		a.show(), a.resume(), a.answer(), a.replay(), a.certify(),
		a.models(), a.tools(), a.yaml(), a.doctor(), a.version(), a.demo(),
	)
	usage := func(err error) error { return usageError{err} }
	prompts := promptdir.Command(promptdir.App{Out: a.Out, JSON: func() bool { return a.json }, PrintJSON: a.printJSON, Usage: usage})
	for _, cmd := range append(manage.Commands(a.manager()), prompts, a.serveSim(), a.serve(), mcpserve.Command(a.agents()), a.token(), a.config(), a.trust(), configure.Init(a.configurer()), manpage.Command(maker.Version, usage)) {
		for _, c := range append(cmd.Commands(), cmd) {
			if c.Args == nil {
				c.Args = exactArgs(strings.Fields(c.Use)[1:]...)
			}
		}
		root.AddCommand(cmd)
	}
	root.InitDefaultCompletionCmd() // so that it is among the commands below
	if shells, _, err := root.Find([]string{"completion"}); err == nil && shells != root {
		shells.Args = exactArgs()
		shells.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	complete.Add(root, func(cmd *cobra.Command) string {
		_ = a.loadSettings(cmd) // what is wrong is said when the command is run
		return a.logDir
	})
	return root
}

// noCommand says that there is no such command, and which was meant.
func noCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := fmt.Sprintf("`%s --help` lists what there is", cmd.CommandPath())
	if meant := nearest.To(name, names); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	if !cmd.HasParent() {
		hint += fmt.Sprintf(" (a task of one word: maker run %s)", name)
	}
	return fmt.Errorf("there is no command %q; %s", name, hint)
}

// configurer is what the commands about settings need.
func (a *app) configurer() configure.App {
	return configure.App{
		Out: a.Out, Err: a.Err, JSON: func() bool { return a.json }, PrintJSON: a.printJSON,
		Usage:  func(err error) error { return usageError{err} },
		Source: func(flag string) string { return a.sources[flag] },
		Wrong:  func() error { return a.wrong }, Confirm: a.confirm, Attended: a.hasTerminal,
		Register: func(cmd *cobra.Command) {
			var flags settings
			flags.register(cmd, config.All, nil)
		},
	}
}

func (a *app) config() *cobra.Command {
	cmd := configure.Show(a.configurer())
	cmd.Annotations = map[string]string{anySettings: "it shows what has no effect too"}
	return cmd
}

func (a *app) trust() *cobra.Command {
	cmd := configure.Trust(a.configurer())
	cmd.Annotations = map[string]string{anySettings: "it decides about them"}
	return cmd
}

func (a *app) token() *cobra.Command {
	cmd := tokens.Command(tokens.App{
		Out: a.Out, Err: a.Err, JSON: func() bool { return a.json }, PrintJSON: a.printJSON,
		Usage: func(err error) error { return usageError{err} },
	})
	for _, c := range append(cmd.Commands(), cmd) {
		c.Annotations = map[string]string{ownSettings: "max-usd is what all runs of a token may spend"}
	}
	return cmd
}

// exactArgs demands named arguments.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(names) == 0 && cmd.HasAvailableSubCommands() {
			return usageError{noCommand(cmd, args[0])}
		}
		if len(names) == 0 {
			return usageError{fmt.Errorf("%s takes no arguments, but got %q", cmd.CommandPath(), args)}
		}
		return usageError{fmt.Errorf("%s takes %s; see `%s --help`", cmd.CommandPath(), strings.Join(names, " "), cmd.CommandPath())}
	}
}
