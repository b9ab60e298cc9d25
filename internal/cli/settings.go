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
)

// configName is the name of a configuration file.
const configName = "maker.yaml"

// notSettings are flags that only make sense on a command line.
var notSettings = []string{"help", "disks", "step", "html"}

// loadSettings fills in the flags that were not given: from the environment,
// then from the configuration files, nearest first. All of them go through the
// flag's own check, so a wrong value is refused wherever it comes from. Where each
// came from is noted in sources. The files are returned.
func loadSettings(cmd *cobra.Command, sources map[string]string) ([]configFile, error) {
	files, err := readConfigFiles(cmd.Root())
	if err != nil && cmd.Annotations[anySettings] == "" {
		return nil, usageError{err}
	}
	flags := cmd.Flags()
	if cmd.Annotations[ownSettings] != "" || cmd.Annotations[anySettings] != "" {
		flags = cmd.InheritedFlags()
	}
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || failed != nil || slices.Contains(notSettings, f.Name) {
			return
		}
		if variable := envName(f.Name); os.Getenv(variable) != "" {
			if err := cmd.Flags().Set(f.Name, os.Getenv(variable)); err != nil {
				failed = fmt.Errorf("%s: %w", variable, err)
			}
			sources[f.Name] = variable
			return
		}
		for _, file := range files {
			v, ok := file.values[f.Name]
			if !ok && f.Name == "mcp-config" && file.servers > 0 {
				v, ok = configValue{texts: []string{file.path}, line: file.servers}, true
			}
			if ok && slices.Contains(needTrust, f.Name) {
				if err := file.checkTrust(); err != nil {
					failed = err
					return
				}
			}
			if ok {
				if err := v.apply(cmd.Flags(), f); err != nil {
					failed = fmt.Errorf("%s, line %d: %w", file.path, v.line, err)
				}
				sources[f.Name] = fmt.Sprintf("%s, line %d: %s", file.path, v.line, strings.ReplaceAll(f.Name, "-", "_"))
				return
			}
		}
	})
	if failed != nil && cmd.Annotations[anySettings] == "" {
		return nil, usageError{failed}
	}
	return files, nil
}

// Marks of commands. ownSettings: its settings come from elsewhere, apart from
// those that all commands share. anySettings: it works with a broken
// configuration too.
const (
	ownSettings = "own-settings"
	anySettings = "any-settings"
)

func envName(flag string) string {
	return "MAKER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

type configFile struct {
	path    string
	values  map[string]configValue // by flag
	servers int                    // the line where it configures MCP servers, 0 if it does not
}

type configValue struct {
	texts []string // one, or those of a list
	list  bool
	line  int
}

// set gives the value to a flag.
func (v configValue) set(to pflag.Value) error {
	if v.list && !takesLists(to) {
		return errors.New("it wants a single value")
	}
	for _, text := range v.texts {
		if err := to.Set(text); err != nil {
			return err
		}
	}
	return nil
}

// takesLists reports whether a flag may be given several times.
func takesLists(v pflag.Value) bool { return v.Type() == "stringSlice" || v.Type() == "stringArray" }

// apply sets a flag as if it had been given.
func (v configValue) apply(flags *pflag.FlagSet, f *pflag.Flag) error {
	if v.list && !takesLists(f.Value) {
		return fmt.Errorf("%s wants a single value", strings.ReplaceAll(f.Name, "-", "_"))
	}
	for _, text := range v.texts {
		if err := flags.Set(f.Name, text); err != nil {
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

func readConfigFiles(root *cobra.Command) ([]configFile, error) {
	var files []configFile
	known := settingNames(root)
	for _, path := range configPaths() {
		file, err := readConfigFile(path, known)
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

// settingNames are the flags of all commands: one file serves them all.
func settingNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) && !slices.Contains(notSettings, f.Name) {
			names = append(names, f.Name)
		}
	}
	cmd.PersistentFlags().VisitAll(add)
	for _, c := range cmd.Commands() {
		c.Flags().VisitAll(add)
	}
	slices.Sort(names)
	return names
}

// checkValues tries the values of a file on the flags that they are for.
func (f configFile) checkValues(root *cobra.Command) error {
	for name, v := range f.values {
		for _, c := range append(root.Commands(), root) {
			flag := c.Flags().Lookup(name)
			if flag == nil {
				flag = c.PersistentFlags().Lookup(name)
			}
			if flag == nil {
				continue
			}
			if err := v.set(flag.Value); err != nil {
				return fmt.Errorf("%s, line %d: --%s: %w", f.path, v.line, name, err)
			}
			break
		}
	}
	return nil
}

func readConfigFile(path string, known []string) (configFile, error) {
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
		name := strings.ReplaceAll(key.Value, "_", "-")
		if key.Value == serversKey {
			file.servers = key.Line // whoever starts them reads it
			continue
		}
		texts, single := scalars(value)
		switch {
		case known == nil:
			continue
		case !slices.Contains(known, name):
			return file, fmt.Errorf("%s, line %d: there is no setting %q; there are %s", path, key.Line, key.Value,
				strings.ReplaceAll(strings.Join(known, ", "), "-", "_"))
		case !single:
			return file, fmt.Errorf("%s, line %d: %s wants a single value, or a list of them", path, value.Line, key.Value)
		}
		if _, twice := file.values[name]; twice {
			return file, fmt.Errorf("%s, line %d: %s is set twice", path, key.Line, key.Value)
		}
		file.values[name] = configValue{texts, value.Kind == yaml.SequenceNode, value.Line}
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
