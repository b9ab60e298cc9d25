package price

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxOverrides bounds the size of a user's file: a YAML map with very many keys
// takes seconds to read.
const maxOverrides = 256 << 10

var fieldNames = []string{"input", "output", "cache_read", "cache_write", "context", "max_output"}

// readOverrides reads a user's price file. The context and the greatest output
// are facts about a model and not prices, so a file that leaves them out keeps
// those of the built-in table.
func readOverrides(file string, builtin map[string]Price) (map[string]Price, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxOverrides+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxOverrides {
		return nil, fmt.Errorf("%s is larger than %d KB", file, maxOverrides>>10)
	}
	prices, err := parseOverrides(string(text), builtin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return prices, nil
}

func parseOverrides(text string, builtin map[string]Price) (map[string]Price, error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	var doc yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil // an empty file overrides nothing
	case err != nil:
		return nil, err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("there is more than one YAML document")
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want a map from models to prices", root.Line)
	}
	prices := make(map[string]Price, len(root.Content)/2)
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		name := canonical(key.Value)
		p, err := parseOverride(value)
		if _, twice := prices[name]; twice {
			err = fmt.Errorf("it is listed twice")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: model %q: %w", key.Line, key.Value, err)
		}
		if p.Context == 0 {
			p.Context = builtin[name].Context
		}
		if p.MaxOutput == 0 {
			p.MaxOutput = builtin[name].MaxOutput
		}
		prices[name] = p
	}
	return prices, nil
}

func parseOverride(n *yaml.Node) (Price, error) {
	if n.Kind != yaml.MappingNode {
		return Price{}, fmt.Errorf("want a map with %s", strings.Join(fieldNames, ", "))
	}
	fields := make(map[string]string, len(fieldNames))
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		switch _, twice := fields[key]; {
		case !slices.Contains(fieldNames, key):
			return Price{}, fmt.Errorf("%s: no such field; want %s", key, strings.Join(fieldNames, ", "))
		case twice:
			return Price{}, fmt.Errorf("%s: given twice", key)
		case value.Kind != yaml.ScalarNode || value.Value == "":
			return Price{}, fmt.Errorf("%s: want a number", key)
		}
		fields[key] = value.Value
	}
	return parsePrice(fields)
}
