package settingsfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/internal/runtime/wholefile"
)

// Remember adds a rule to the calls that the user's own file allows, and leaves the rest of
// it as it is. It returns the path of the file. Files in a working folder are never changed:
// others may have them too.
func Remember(rule string) (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "maker", Name)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if len(data) > 0 {
		if _, err := Read(path); err != nil { // one that cannot be read is not made worse
			return "", err
		}
	}
	changed, err := withRule(data, rule)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, wholefile.Replace(path, changed)
}

// withRule is a file with another rule in its list of calls that are allowed.
func withRule(data []byte, rule string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 {
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	top := doc.Content[0]
	list := valueOf(top, "allow")
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode}
		top.Content = append(top.Content, text("allow"), list)
	}
	if list.Kind == yaml.ScalarNode { // a single rule need not be a list
		only := *list
		*list = yaml.Node{Kind: yaml.SequenceNode}
		if only.Value != "" {
			list.Content = append(list.Content, text(only.Value))
		}
	}
	if !slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return n.Value == rule }) {
		list.Content = append(list.Content, text(rule))
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if s != "allow" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}
