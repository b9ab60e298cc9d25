package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/text/nearest"
)

// configName is the name of a configuration file.
const configName = "maker.yaml"

// loadSettings fills in the flags that were not given: from the environment,
// then from the configuration files, nearest first. All of them go through the
// flag's own check, so a wrong value is refused wherever it comes from. Where each
// came from is noted in sources.
func (a *app) loadSettings(cmd *cobra.Command) error {
	files, err := readConfigFiles()
	if err == nil {
		err = a.checkVariables(os.Environ())
	}
	if err != nil && cmd.Annotations[anySettings] == "" {
		return usageError{err}
	}
	flags, lenient := cmd.Flags(), cmd.Annotations[anySettings] != ""
	if cmd.Annotations[ownSettings] != "" {
		flags = cmd.InheritedFlags()
	}
	defer func() { a.protected = findProtected(cmd.Flags(), files) }()
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if d := config.Find(f.Name); d != nil && !f.Changed && (failed == nil || lenient) {
			failed = errors.Join(failed, a.loadSetting(cmd.Flags(), f, d, files))
		}
	})
	if failed != nil && !lenient {
		return usageError{failed}
	}
	return nil
}

// loadSetting looks for one setting in the environment and in the files.
func (a *app) loadSetting(flags *pflag.FlagSet, f *pflag.Flag, d *config.Setting, files []configFile) error {
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
		v, ok := file.values[d.Name]
		if !ok && d.Name == "mcp_config" && file.servers > 0 {
			v, ok = configValue{key: serversKey, texts: []string{file.path}, line: file.servers}, true
		}
		if !ok {
			continue
		}
		if d.NeedsTrust {
			if err := file.checkTrust(); err != nil {
				return err
			}
		}
		a.sources[f.Name] = fmt.Sprintf("%s, line %d: %s", file.path, v.line, d.Name)
		if err := v.set(func(text string) error { return flags.Set(f.Name, text) }, f.Value); err != nil {
			return fmt.Errorf("%s, line %d: %w", file.path, v.line, err)
		}
		return nil
	}
	return nil
}

// otherVariables are those of ours that are no settings.
var otherVariables = []string{"MAKER_COMPAT_", "MAKER_TEST_"}

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
		if meant := nearest.To(name, settingNames()); meant != "" {
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
)

type configFile struct {
	path    string
	values  map[string]configValue // by setting
	servers int                    // the line where it configures MCP servers, 0 if it does not
}

type configValue struct {
	key   string   // as it is written
	texts []string // one, or those of a list
	list  bool
	line  int
}

// set gives the value to a flag.
func (v configValue) set(set func(string) error, to pflag.Value) error {
	if v.list && to.Type() != "list" {
		return fmt.Errorf("%s wants a single value", v.key)
	}
	for _, text := range v.texts {
		if err := set(text); err != nil {
			return err
		}
	}
	return nil
}

// serversKey is the part of a configuration file that is about MCP servers, called
// as everybody calls it.
const serversKey = "mcpServers"

// configPaths lists where a configuration file may be, nearest first.
func configPaths() []string {
	paths := []string{configName}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = append(paths, filepath.Join(dir, "maker", configName))
	}
	return paths
}

func readConfigFiles() ([]configFile, error) {
	var files []configFile
	for _, path := range configPaths() {
		file, err := readConfigFile(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// settingNames are those of all settings, old ones included.
func settingNames() []string {
	var names []string
	for _, d := range config.Settings() {
		names = append(append(names, d.Name), d.Aliases...)
	}
	return names
}

// checkValues tries the values of a file.
func (f configFile) checkValues() error {
	var unused settings
	for name, v := range f.values {
		d := config.Find(name)
		value := unused.value(d)
		if value == nil {
			value = (&app{}).value(d)
		}
		if err := v.set(value.Set, flagValue{value}); err != nil {
			return fmt.Errorf("%s, line %d: %s (--%s): %w", f.path, v.line, v.key, d.Flag(), err)
		}
	}
	return nil
}

func readConfigFile(path string) (configFile, error) {
	const limit = 256 << 10 // a YAML parser can be made slow by more
	file := configFile{path: path, values: map[string]configValue{}}
	info, err := os.Stat(path)
	if err != nil {
		return file, err
	}
	if info.Size() > limit {
		return file, fmt.Errorf("%s: %d bytes is too long for a configuration file", path, info.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return file, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return file, fmt.Errorf("%s: %w", path, err)
	}
	if doc.Kind == 0 {
		return file, nil // empty
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return file, fmt.Errorf("%s, line %d: want settings such as `ahead_by: 3`", path, top.Line)
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if key.Value == serversKey {
			file.servers = key.Line // whoever starts them reads it
			continue
		}
		d := config.Find(key.Value)
		texts, single := scalars(value)
		switch {
		case d == nil:
			return file, fmt.Errorf("%s, line %d: %w", path, key.Line, noSetting(key.Value))
		case !single:
			return file, fmt.Errorf("%s, line %d: %s wants a single value, or a list of them", path, value.Line, key.Value)
		}
		if _, twice := file.values[d.Name]; twice {
			return file, fmt.Errorf("%s, line %d: %s is set twice", path, key.Line, d.Name)
		}
		file.values[d.Name] = configValue{key.Value, texts, value.Kind == yaml.SequenceNode, value.Line}
	}
	return file, nil
}

// scalars are the texts of a value that is one, or a list of them.
func scalars(n *yaml.Node) ([]string, bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}, true
	case yaml.SequenceNode:
		texts := []string{}
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, false
			}
			texts = append(texts, item.Value)
		}
		return texts, true
	}
	return nil, false
}

// noSetting says that there is no setting of a name, and which one was meant.
func noSetting(name string) error {
	if meant := nearest.To(name, append(settingNames(), serversKey)); meant != "" {
		return fmt.Errorf("there is no setting %q; did you mean %s?", name, meant)
	}
	return fmt.Errorf("there is no setting %q; docs/settings.md lists them", name)
}

// flagError explains a flag that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usageError{err}
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
