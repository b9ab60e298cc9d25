// Package configure has the commands that begin a configuration file and show what is set.
package configure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/internal/text/show"
)

// An App is what the commands need of the program.
type App struct {
	Out, Err  io.Writer
	JSON      func() bool // whether to print JSON
	PrintJSON func(v any) error
	Usage     func(error) error                                        // makes an error one about usage
	Source    func(flag string) string                                 // where a setting came from that was no flag
	Register  func(cmd *cobra.Command)                                 // adds the flags of all settings
	Wrong     func() error                                             // what is wrong with what is set
	Confirm   func(ctx context.Context, question string) (bool, error) // asks the person on the terminal
	Attended  func() bool                                              // somebody is there to be asked
}

// Init is the command that writes a configuration file.
func Init(a App) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Write a maker.yaml with every setting in a comment",
		Long: `init writes maker.yaml into this folder, with every setting, what it is for and its
default, all in comments: take away the # before those that you want to change. A file that
is there stays as it is.`,
		Example: `  maker init
  maker config`,
		RunE: func(*cobra.Command, []string) error {
			err := wholefile.Create(settingsfile.Name, []byte(Text()))
			if errors.Is(err, fs.ErrExist) {
				return a.Usage(fmt.Errorf("there is a %s in this folder already; `maker config` shows what it sets", settingsfile.Name))
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Err, "wrote %s; `maker config` shows what is set, `maker trust` lets it take effect where that needs trust\n", settingsfile.Name)
			return nil
		},
	}
}

// Text is a configuration file that sets nothing and says what can be set.
func Text() string {
	var b bytes.Buffer
	b.WriteString("# Settings of maker for this folder. Flags and MAKER_* variables come before them,\n" +
		"# the file in your own configuration folder after them. What stands behind a # without\n" +
		"# a blank is the default. Secrets do not belong here: keys come from the providers' variables.\n")
	group := ""
	for _, d := range config.Settings() {
		if d.Group != group {
			group = d.Group
			fmt.Fprintf(&b, "\n# %s %s\n", group, strings.Repeat("-", max(3, 70-len(group))))
		}
		fmt.Fprintf(&b, "\n# %s\n", show.Line(d.Help))
		if len(d.Choices) > 0 {
			fmt.Fprintf(&b, "# One of: %s.\n", strings.Join(d.Choices, ", "))
		}
		if d.NeedsTrust {
			b.WriteString("# It takes effect only once you have said `maker trust`.\n")
		}
		fmt.Fprintf(&b, "#%s: %s\n", d.Name, example(d))
	}
	return b.String()
}

// example is the default of a setting as it is written in a file, or something like what
// could stand there.
func example(d *config.Setting) string {
	text := d.Default
	if text == "" && len(d.Defaults) > 0 {
		kinds := slices.Sorted(maps.Keys(d.Defaults))
		text = d.Defaults[kinds[len(kinds)-1]]
	}
	if text == "" && d.Most > 0 {
		return "3" // a number that has no default of its own: nothing would not be one
	}
	if strings.ContainsAny(text, ":#{}[],&*!|>'\"%@`") || text == "" {
		return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
	}
	return text
}

// shown is a setting as it is listed.
type shown struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	From    string `json:"from"`             // flag, variable, file and line, or default
	Note    string `json:"note,omitempty"`   // what else there is to say
	Group   string `json:"group,omitempty"`  // of the documentation
	Effect  bool   `json:"is_set,omitempty"` // somebody has set it
}

// kinds are those of run whose defaults can be asked for.
var kinds = map[string]config.Kinds{
	"run": config.Run, "plan": config.PlanOnly, "exec": config.Exec, "validate": config.Validate, "do": config.Do, "solve": config.Solving,
	"ask": config.Asking, "map": config.Mapping, "script": config.Scripting, "hanoi": config.Chain, "calibrate": config.Measuring,
}

// Show is the command that lists the settings.
func Show(a App) *cobra.Command {
	var of string
	var onlySet bool
	cmd := &cobra.Command{
		Use:   "config [SETTING...]",
		Short: "Show every setting, what it is and where that comes from",
		Long: `config lists the settings with their values and where each comes from: a flag of this
command line, a variable, a file and its line, or the default. Defaults differ between kinds
of run, and not every kind has every setting: --of shows those of one command, with its
defaults. Without it all are shown, with the defaults of run where it has them. Flags that are
given are shown as that command would take them.`,
		Args: cobra.ArbitraryArgs,
		Example: `  maker config --set
  maker config model ahead_by --of hanoi
  maker config --of ask -k 5`,
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, ok := kinds[of]
			if !ok {
				return a.Usage(fmt.Errorf("--of: there is no kind of run %q; %s", of, nearest.Among(of, slices.Sorted(maps.Keys(kinds)))))
			}
			if err := a.Wrong(); err != nil {
				return a.Usage(err)
			}
			every := !cmd.Flags().Changed("of")
			list, err := a.settings(cmd, kind, every, args)
			if err != nil {
				return a.Usage(err)
			}
			if onlySet {
				list = slices.DeleteFunc(list, func(s shown) bool { return !s.Effect })
			}
			return a.print(list)
		},
	}
	a.Register(cmd)
	cmd.Flags().StringVar(&of, "of", "run", "the command whose defaults are shown: "+strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	cmd.Flags().BoolVar(&onlySet, "set", false, "only what somebody has set")
	_ = cmd.RegisterFlagCompletionFunc("of", cobra.FixedCompletions(slices.Sorted(maps.Keys(kinds)), cobra.ShellCompDirectiveNoFileComp))
	cmd.ValidArgsFunction = cobra.FixedCompletions(names(), cobra.ShellCompDirectiveNoFileComp)
	return cmd
}

func names() []string {
	var all []string
	for _, d := range config.Settings() {
		all = append(all, d.Name)
	}
	return all
}

// settings are those that a kind of run has, or every one, or those that are named. One that
// the kind does not have is shown as another kind has it.
func (a App) settings(cmd *cobra.Command, kind config.Kinds, every bool, named []string) ([]shown, error) {
	files, err := settingsfile.ReadAll()
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, name := range named {
		d := config.Find(name)
		if d == nil {
			return nil, settingsfile.NoSetting(name)
		}
		wanted[d.Name] = true
	}
	var list []shown
	for _, d := range config.Settings() {
		has := d.For & kind
		if len(named) > 0 && !wanted[d.Name] || len(named) == 0 && !every && has == 0 {
			continue
		}
		if has == 0 {
			has = d.For & -d.For // the first
		}
		s := shown{Setting: d.Name, Value: d.DefaultFor(has), From: "default", Group: d.Group}
		if f := cmd.Flag(d.Flag()); f != nil && f.Changed {
			s.Value, s.From, s.Effect = f.Value.String(), "flag", true
			if from := a.Source(d.Flag()); from != "" {
				s.From = strings.TrimSuffix(from, ": "+d.Name)
			}
		} else if f, line, ok := untrusted(files, d); ok {
			s.Note = fmt.Sprintf("%s, line %d sets it, without effect: it is not trusted (maker trust)", f, line)
		}
		list = append(list, s)
	}
	return list, nil
}

// untrusted is where a setting is set that has no effect because nobody trusts the file.
func untrusted(files []settingsfile.File, d *config.Setting) (path string, line int, ok bool) {
	for _, f := range files {
		v, set := f.Values[d.Name]
		if d.Name == "mcp_config" && f.Servers > 0 {
			v.Line, set = f.Servers, true
		}
		if _, is := errors.AsType[*settingsfile.UntrustedError](f.CheckTrust()); set && d.NeedsTrust && is {
			return f.Path, v.Line, true
		}
	}
	return "", 0, false
}

func (a App) print(list []shown) error {
	if a.JSON() {
		for _, s := range list {
			if err := a.PrintJSON(s); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		hint := "`maker init` writes a " + settingsfile.Name + " to set something in"
		if _, err := os.Stat(settingsfile.Name); err == nil {
			hint = "take away the # before a line of " + settingsfile.Name + " to set something"
		}
		fmt.Fprintf(a.Err, "nothing is set; %s\n", hint)
		return nil
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tFROM")
	for _, s := range list {
		from := s.From
		if s.Note != "" {
			from += "; " + s.Note
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Setting, show.Line(s.Value), show.Line(from))
	}
	for _, path := range settingsfile.Paths() {
		if _, err := os.Stat(path); err == nil {
			fmt.Fprintf(a.Err, "read: %s\n", path)
		}
	}
	return w.Flush()
}
