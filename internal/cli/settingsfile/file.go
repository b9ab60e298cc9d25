// Package settingsfile reads configuration files and knows which of them are trusted.
package settingsfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
const ServersKey = "mcpServers"

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
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if key.Value == ServersKey {
			file.Servers = key.Line // whoever starts them reads it
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
		if _, twice := file.Values[d.Name]; twice {
			return file, fmt.Errorf("%s, line %d: %s is set twice", path, key.Line, d.Name)
		}
		file.Values[d.Name] = Value{key.Value, texts, value.Kind == yaml.SequenceNode, value.Line}
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
	if meant := nearest.To(name, append(SettingNames(), ServersKey)); meant != "" {
		return fmt.Errorf("there is no setting %q; did you mean %s?", name, meant)
	}
	return fmt.Errorf("there is no setting %q; docs/settings.md lists them", name)
}
