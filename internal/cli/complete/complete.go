// Package complete tells shells what can be written next on a command line: runs, models,
// tools, files.
package complete

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/redflags"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/tool/builtin"
)

// Func is how the library of the command line asks.
type Func = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

const noFile = cobra.ShellCompDirectiveNoFileComp

// Add adds completions to all commands. LogDir is where the runs are, for a command whose
// flags are read.
func Add(root *cobra.Command, logDir func(*cobra.Command) string) {
	c := completer{logDir}
	all := []*cobra.Command{root}
	for len(all) > 0 {
		cmd := all[0]
		all = append(all[1:], cmd.Commands()...)
		c.arguments(cmd)
		for _, flags := range []*pflag.FlagSet{cmd.LocalNonPersistentFlags(), cmd.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) { c.flag(cmd, f) })
		}
	}
}

type completer struct{ logDir func(*cobra.Command) string }

// wanted are the states of runs that a command is for; all if there are none.
var wanted = map[string][]string{
	"answer": {event.StopWaiting},
	"pause":  {event.StatusRunning, event.StopWaiting},
	"cancel": {event.StatusRunning, event.StopWaiting, runs.StateAnswered, event.StopPaused, runs.StatusInterrupted, event.StatusStopped, event.StatusUndecided},
	"resume": {event.StopWaiting, runs.StateAnswered, event.StopPaused, runs.StatusInterrupted, event.StatusStopped, event.StatusUndecided, event.StopCancelled, event.StatusFailed},
}

// arguments completes those of a command, by what its usage calls them.
func (c completer) arguments(cmd *cobra.Command) {
	_, takes, _ := strings.Cut(cmd.Use, " ")
	switch {
	case cmd.ValidArgsFunction != nil || !cmd.Runnable():
	case strings.HasPrefix(takes, "RUN"):
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && !strings.HasSuffix(takes, "...") {
				return nil, noFile
			}
			return c.runs(cmd, args, begun)
		}
	case strings.HasPrefix(takes, "PLAN"):
		cmd.ValidArgsFunction = files("yaml", "yml", "json")
	case strings.HasPrefix(takes, "NAME") && cmd.HasParent() && cmd.Parent().Name() == "tools":
		cmd.ValidArgsFunction = first(words(builtin.Names()))
	case takes == "" || strings.HasPrefix(takes, "TASK"), strings.HasPrefix(takes, "QUESTION"), strings.HasPrefix(takes, "PROBLEM"):
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// flag completes the value of a flag.
func (c completer) flag(cmd *cobra.Command, f *pflag.Flag) {
	d := config.Find(f.Name)
	var complete Func
	switch {
	case d == nil && f.Name == "state":
		complete = list(runs.States())
	case d == nil && f.Name == "retry":
		complete = list([]string{event.StatusFailed, event.StatusUndecided})
	case d == nil && f.Name == "as":
		complete = words([]string{"plan", "script"})
	case d == nil && f.Name == "date-order":
		complete = words([]string{"dmy", "mdy"})
	case d == nil && f.Name == "from": // of estimate
		complete = c.runs
	case d == nil || len(d.Choices) > 0: // which have their completion
		return
	case d.Name == "red_flags":
		complete = orFile(words(slices.Sorted(maps.Keys(redflags.Presets))))
	case d.Name == "escalate":
		complete = list(config.Escalations())
	case d.Name == "warm":
		complete = c.runs
	case d.Names == config.InModels && d.Name != "voters":
		complete = words(Models())
	case d.Name == "voters":
		complete = list(Models())
	case d.Name == "tools":
		complete = list(builtin.Names())
	case d.Name == "allow" || d.Name == "deny":
		complete = words(builtin.Names())
	case d.Name == "domain":
		complete = words([]string{"default", "math", "text"})
	case d.Name == "log_dir" || d.Names == config.InFolder || d.Name == "workspace":
		complete = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	case f.Value.Type() == "number" || f.Value.Type() == "duration":
		complete = cobra.NoFileCompletions
	default:
		return
	}
	_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // one that has another keeps it
}

// runs completes the name of a run that the command is for.
func (c completer) runs(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if strings.ContainsRune(begun, os.PathSeparator) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	all, err := runs.List(c.logDir(cmd))
	if err != nil {
		return nil, noFile
	}
	states := wanted[cmd.Name()]
	var names []string
	for _, s := range slices.Backward(all) { // the newest first
		name := filepath.Base(s.Dir)
		if slices.Contains(args, name) || !strings.HasPrefix(name, begun) || len(states) > 0 && !slices.Contains(states, s.State) {
			continue
		}
		names = append(names, fmt.Sprintf("%s\t%s, %s", name, s.State, clip.Line(show.Line(s.Task), 50)))
	}
	if n := len(all); n > 0 && strings.HasPrefix(runs.Last, begun) && (len(states) == 0 || slices.Contains(states, all[n-1].State)) {
		names = append(names, runs.Last+"\tthe run that was begun last")
	}
	return names, noFile | cobra.ShellCompDirectiveKeepOrder
}

// Models are the models that are known by name, of providers that can be asked.
func Models() []string {
	names := []string{"sim/default"}
	for name := range price.Default().All() {
		provider, rest := route.Split(name)
		if slices.ContainsFunc(route.Providers(), func(p route.Provider) bool { return p.Name == provider }) {
			names = append(names, provider+"/"+rest)
		}
	}
	return append(names, "ollama/", "openrouter/", "compat/")
}

// words completes one of a list.
func words(all []string) Func {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		var fit []string
		for _, word := range all {
			if strings.HasPrefix(word, begun) {
				fit = append(fit, word)
			}
		}
		directive := noFile
		if len(fit) == 1 && strings.HasSuffix(fit[0], "/") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return fit, directive
	}
}

// list completes the last of several words with commas between them.
func list(all []string) Func {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		cut := strings.LastIndexByte(begun, ',') + 1
		before := strings.Split(begun[:cut], ",")
		fit, directive := words(all)(cmd, args, begun[cut:])
		fit = slices.DeleteFunc(fit, func(word string) bool { return slices.Contains(before, word) })
		for i := range fit {
			fit[i] = begun[:cut] + fit[i]
		}
		return fit, directive | cobra.ShellCompDirectiveNoSpace
	}
}

// first completes the first argument only.
func first(f Func) Func {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFile
		}
		return f(cmd, args, begun)
	}
}

// orFile completes the name of a file if nothing else fits.
func orFile(f Func) Func {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		fit, _ := f(cmd, args, begun)
		return fit, cobra.ShellCompDirectiveDefault
	}
}

// files completes the names of files that end like that.
func files(endings ...string) Func {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}
