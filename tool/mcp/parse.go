package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/tool"
)

// maxConfig is more than anybody writes.
const maxConfig = 1 << 20

// ParseConfig reads a configuration in JSON, expands its variables and checks it.
// lookup gives the variables' values; nil means the environment's. Fields that we
// do not know belong to somebody else and are passed over.
func ParseConfig(data []byte, lookup func(name string) (string, bool)) (Config, error) {
	if len(data) > maxConfig {
		return Config{}, fmt.Errorf("mcp: the configuration has %d bytes, and %d is the most", len(data), maxConfig)
	}
	var doc struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return Config{}, fmt.Errorf("mcp: the configuration cannot be read: %w", readable(data, err))
	}
	// The standard library takes the last of two servers of one name.
	if _, err := yamlclean.Load(string(data)); err != nil {
		return Config{}, fmt.Errorf("mcp: the configuration cannot be read: %w", err)
	}
	if doc.Servers == nil {
		return Config{}, errors.New(`mcp: the configuration has no mcpServers; want {"mcpServers": {"NAME": {"command": ...}}}`)
	}
	c := Config{Servers: map[string]Server{}}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(doc.Servers)) {
		var s Server
		if err := json.Unmarshal(doc.Servers[name], &s); err != nil {
			problems = append(problems, fmt.Errorf("mcp: server %q: %w", name, readable(nil, err)))
		}
		c.Servers[name] = s
	}
	if err := errors.Join(problems...); err != nil {
		return Config{}, err
	}
	return c.Expand(lookup)
}

// FromMap is [ParseConfig] for what stands under mcpServers in a document that
// somebody else has read.
func FromMap(servers map[string]any, lookup func(name string) (string, bool)) (Config, error) {
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return Config{}, fmt.Errorf("mcp: mcpServers: %w", err)
	}
	return ParseConfig(data, lookup)
}

// readable says where JSON is wrong, in words of those who write it.
func readable(data []byte, err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: got %s, want %s", cmp.Or(wrong.Field, "it"), kinds[wrong.Value], cmp.Or(forms[wrong.Type], "an object"))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")), err)
	}
	return err
}

// What the library calls values and types of Go, for a reader.
var (
	kinds = map[string]string{"string": "text", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}
	forms = map[reflect.Type]string{
		reflect.TypeFor[string]():          "text",
		reflect.TypeFor[bool]():            "true or false",
		reflect.TypeFor[Duration]():        `text such as "30s"`,
		reflect.TypeFor[[]string]():        "a list of texts",
		reflect.TypeFor[[]tool.Declared](): "a list",
		reflect.TypeFor[tool.Declared]():   `{"name": ..., "description": ...}`,
	}
)
