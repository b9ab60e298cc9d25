// Package settingsfile reads configuration files and knows which of them are trusted.
package settingsfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/text/nearest"
)

// Name is the name of a configuration file.
const Name = "maker.yaml"

// A File is a configuration file as it is written.
type File struct {
	Path    string
	Values  map[string]Value // by setting
	Servers int              // the line where it configures MCP servers, 0 if it does not

	// Models are names for models of the gateway.
	Models map[string]string
}

// A Value is what a file says of one setting.
type Value struct {
	Key   string   // as it is written
	Texts []string // one, or those of a list
	List  bool
	Line  int
}

// Set gives the value to a flag.
func (v Value) Set(set func(string) error, to pflag.Value) error {
	if v.List && to.Type() != "list" {
		return fmt.Errorf("%s wants a single value", v.Key)
	}
	for _, text := range v.Texts {
		if err := set(text); err != nil {
			return err
		}
	}
	return nil
}

// ServersKey is the part of a configuration file that is about MCP servers, called
// as everybody calls it.
const (
	ServersKey    = "mcpServers"
	oldServersKey = "mcp_servers"
)

// ModelsKey is the part that gives names to models of the gateway.
const ModelsKey = "gateway_models"

// Paths lists where a configuration file may be, nearest first.
func Paths() []string {
	paths := []string{Name}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = append(paths, filepath.Join(dir, "maker", Name))
	}
	return paths
}

// ReadAll reads those that are there, nearest first.
func ReadAll() ([]File, error) {
	var files []File
	for _, path := range Paths() {
		file, err := Read(path)
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

// AllModels are the names for models of the gateway that the files here give. Those of the
// nearest file count.
func AllModels() (map[string]string, error) {
	files, err := ReadAll()
	all := map[string]string{}
	for _, f := range slices.Backward(files) {
		maps.Copy(all, f.Models)
	}
	return all, err
}

// SettingNames are those of all settings, old ones included.
func SettingNames() []string {
	var names []string
	for _, d := range config.Settings() {
		names = append(append(names, d.Name), d.Aliases...)
	}
	return names
}

// Read reads a configuration file.
func Read(path string) (File, error) {
	const limit = 256 << 10 // a YAML parser can be made slow by more
	file := File{Path: path, Values: map[string]Value{}}
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
	return file, file.add(top, "")
}

// add takes the settings of a mapping, which is the file or one of its sections.
func (f *File) add(settings *yaml.Node, section string) error {
	for i := 0; i+1 < len(settings.Content); i += 2 {
		key, value := settings.Content[i], settings.Content[i+1]
		name := key.Value
		if within := sections[section][name]; within != "" {
			name = within
		}
		if isNone(name, value) {
			continue
		}
		if section == "" && (name == ServersKey || name == oldServersKey) && value.Kind == yaml.MappingNode {
			if f.Servers > 0 {
				return fmt.Errorf("%s, line %d: %s is set twice", f.Path, key.Line, ServersKey)
			}
			f.Servers = key.Line // whoever starts them reads it
			continue
		}
		if section == "" && name == ModelsKey {
			if err := f.addModels(value); err != nil {
				return err
			}
			continue
		}
		if _, known := sections[name]; known && section == "" && value.Kind == yaml.MappingNode {
			if err := f.add(value, name); err != nil {
				return err
			}
			continue
		}
		if fixed, ok := fixed[name]; ok {
			if value.Value != fixed.value {
				return fmt.Errorf("%s, line %d: %s is always %s%s", f.Path, value.Line, name, fixed.value, fixed.instead)
			}
			continue
		}
		d := config.Find(name)
		texts, single := scalars(value)
		switch {
		case d == nil:
			return fmt.Errorf("%s, line %d: %w", f.Path, key.Line, NoSetting(name))
		case value.Kind == yaml.SequenceNode && len(texts) == 0 && d.Name == "tools":
			return fmt.Errorf("%s, line %d: %s is an empty list, which would mean all tools: leave it out, or name those that are wanted", f.Path, value.Line, key.Value)
		case !single:
			return fmt.Errorf("%s, line %d: %s wants a single value, or a list of them", f.Path, value.Line, key.Value)
		}
		if _, twice := f.Values[d.Name]; twice {
			return fmt.Errorf("%s, line %d: %s is set twice", f.Path, key.Line, d.Name)
		}
		f.Values[d.Name] = Value{key.Value, texts, value.Kind == yaml.SequenceNode, value.Line}
	}
	return nil
}

// addModels takes names for models.
func (f *File) addModels(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("%s, line %d: %s wants names with models, such as `careful: openai/gpt-4.1-mini?k=5`", f.Path, n.Line, ModelsKey)
	}
	f.Models = map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, model := n.Content[i], n.Content[i+1]
		if model.Kind != yaml.ScalarNode || model.Value == "" || name.Value == "" {
			return fmt.Errorf("%s, line %d: %s: %q wants the name of a model", f.Path, model.Line, ModelsKey, name.Value)
		}
		if _, twice := f.Models[name.Value]; twice {
			return fmt.Errorf("%s, line %d: %s: %q is there twice", f.Path, name.Line, ModelsKey, name.Value)
		}
		f.Models[name.Value] = model.Value
	}
	return nil
}

// isNone reports whether a value says that there is none of something that need not be
// there. Of other settings a value that is missing is a mistake.
func isNone(name string, value *yaml.Node) bool {
	if value.Tag != "!!null" && !(name == oldServersKey && value.Kind == yaml.SequenceNode && len(value.Content) == 0) {
		return false
	}
	d := config.Find(name)
	return sections[name] != nil || name == ServersKey || name == oldServersKey || d != nil && d.Name == "tools"
}

// sections are the groups that settings may be in, with the names that they have only
// there.
var sections = map[string]map[string]string{
	"models":      {"reasoning": "model_reasoning", "execution": "model_execution"},
	"thresholds":  {},
	"calibration": {"enabled": "calibrate", "samples": "samples_per_problem"},
}

// fixed are names of settings that have one value only. Files that say so are right.
var fixed = map[string]struct{ value, instead string }{
	"max_facts":            {"5", ""},
	"max_notes":            {"20", ""},
	"max_work_shown_chars": {"1200", ""},
	"fallback_p":           {"0.7", ""},
	"max_solution_chars":   {"3000", "; red_flags names a file that can say otherwise, under excessive_length"},
	"min_confidence":       {"0.3", "; red_flags names a file that can say otherwise, under low_confidence"},
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

// NoSetting says that there is no setting of a name, and which one was meant.
func NoSetting(name string) error {
	if meant := nearest.To(name, append(SettingNames(), ServersKey)); meant != "" {
		return fmt.Errorf("there is no setting %q; did you mean %s?", name, meant)
	}
	return fmt.Errorf("there is no setting %q; docs/settings.md lists them", name)
}
