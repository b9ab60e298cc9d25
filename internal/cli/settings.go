package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
	"github.com/maker-mdap/maker/internal/text/nearest"
)

// loadSettings fills in the flags that were not given: from the environment,
// then from the configuration files, nearest first. All of them go through the
// flag's own check, so a wrong value is refused wherever it comes from. Where each
// came from is noted in sources.
func (a *app) loadSettings(cmd *cobra.Command) error {
	files, err := settingsfile.ReadAll()
	if err == nil {
		err = a.checkVariables(os.Environ())
	}
	if err != nil && cmd.Annotations[anySettings] == "" {
		return usageError{err}
	}
	a.wrong = err
	flags, lenient := cmd.Flags(), cmd.Annotations[anySettings] != ""
	if cmd.Annotations[ownSettings] != "" {
		flags = cmd.InheritedFlags()
	}
	defer func() { a.protected = settingsfile.FindProtected(cmd.Flags(), files) }()
	var failed error
	load := func(f *pflag.Flag) {
		if d := config.Find(f.Name); d != nil && !f.Changed && (failed == nil || lenient) {
			err := a.loadSetting(cmd.Flags(), f, d, files)
			if lenient && isA[*settingsfile.UntrustedError](err) {
				err = nil // it is without effect
			}
			failed = errors.Join(failed, err)
		}
	}
	flags.VisitAll(load)
	if f := cmd.Flags().Lookup("prices"); f != nil && cmd.Annotations[ownSettings] == ofTheRun {
		load(f) // what models cost is not a run's
	}
	a.wrong = errors.Join(a.wrong, failed)
	if failed != nil && !lenient {
		return usageError{failed}
	}
	return nil
}

// loadSetting looks for one setting in the environment and in the files.
func (a *app) loadSetting(flags *pflag.FlagSet, f *pflag.Flag, d *config.Setting, files []settingsfile.File) error {
	for _, name := range append([]string{d.Name}, d.Aliases...) {
		variable := config.VariablePrefix + strings.ToUpper(name)
		if text := os.Getenv(variable); text != "" {
			a.sources[f.Name] = variable
			if err := flags.Set(f.Name, text); err != nil {
				return fmt.Errorf("%s: %w", variable, err)
			}
			return nil
		}
	}
	for _, file := range files {
		v, ok := file.Values[d.Name]
		if !ok && d.Name == "mcp_config" && file.Servers > 0 {
			v, ok = settingsfile.Value{Key: settingsfile.ServersKey, Texts: []string{file.Path}, Line: file.Servers}, true
		}
		if !ok {
			continue
		}
		if d.NeedsTrust {
			if err := file.CheckTrust(); err != nil {
				return err
			}
		}
		a.sources[f.Name] = fmt.Sprintf("%s, line %d: %s", file.Path, v.Line, d.Name)
		if err := v.Set(func(text string) error { return flags.Set(f.Name, text) }, f.Value); err != nil {
			return fmt.Errorf("%s, line %d: %w", file.Path, v.Line, err)
		}
		return nil
	}
	return nil
}

// otherVariables are those of ours that are no settings.
var otherVariables = []string{"MAKER_COMPAT_", "MAKER_TEST_", "MAKER_TEMPORAL_"}

// checkVariables refuses variables that look like a misspelt setting: nobody would
// find out that they are not looked at.
func (a *app) checkVariables(environ []string) error {
	for _, pair := range environ {
		variable, text, _ := strings.Cut(pair, "=")
		name, ours := strings.CutPrefix(variable, config.VariablePrefix)
		if !ours || text == "" || config.Find(strings.ToLower(name)) != nil ||
			slices.ContainsFunc(otherVariables, func(known string) bool { return strings.HasPrefix(variable, known) }) {
			continue
		}
		if meant := nearest.To(name, settingsfile.SettingNames()); meant != "" {
			return fmt.Errorf("there is no setting %s; did you mean %s?", variable, config.Find(meant).Variable())
		}
		fmt.Fprintf(a.Err, "maker: warning: %s is no setting of this program\n", variable)
	}
	return nil
}

// Marks of commands. ownSettings: its settings come from elsewhere, apart from
// those that all commands share. anySettings: it works with a broken
// configuration too.
const (
	ownSettings = "own-settings"
	anySettings = "any-settings"
	ofTheRun    = "the run's" // where it goes on with one
)

// checkValues tries the values of a file.
func checkValues(f settingsfile.File) error {
	var unused settings
	for name, v := range f.Values {
		d := config.Find(name)
		value := unused.value(d)
		if value == nil {
			value = (&app{}).value(d)
		}
		if err := v.Set(value.Set, flagValue{value}); err != nil {
			return fmt.Errorf("%s, line %d: %s (--%s): %w", f.Path, v.Line, v.Key, d.Flag(), err)
		}
	}
	return nil
}

// flagError explains a flag that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usageError{err}
	}
	if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 { // the flag may be one of what was meant
		return usageError{noCommand(cmd, args[0])}
	}
	name := missing.GetSpecifiedName()
	var names []string
	add := func(f *pflag.Flag) {
		names = append(names, f.Name)
		if d := config.Find(f.Name); d != nil {
			names = append(names, d.FlagAliases()...)
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	if meant := nearest.To(name, names); len(name) > 1 && meant != "" {
		return usageError{fmt.Errorf("%s has no flag --%s; did you mean --%s?", cmd.CommandPath(), name, meant)}
	}
	if d := config.Find(name); d != nil {
		other := cmd.CommandPath() + " --help"
		if d.For&config.Solving != 0 {
			other = "maker solve --help"
		}
		return usageError{fmt.Errorf("%s has no flag --%s, which is about other kinds of run; see `%s`", cmd.CommandPath(), name, other)}
	}
	return usageError{fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath())}
}
