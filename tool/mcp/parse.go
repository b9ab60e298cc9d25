package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

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
		Servers *json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return Config{}, fmt.Errorf("mcp: the configuration is no JSON object: %w", withLine(data, err))
	}
	if doc.Servers == nil {
		return Config{}, errors.New(`mcp: the configuration has no mcpServers; want {"mcpServers": {"NAME": {"command": ...}}}`)
	}
	c, err := parseServers(*doc.Servers)
	if err != nil {
		return Config{}, err
	}
	return c.Expand(lookup)
}

// FromMap is [ParseConfig] for what stands under mcpServers in a document that
// somebody else has read.
func FromMap(servers map[string]any, lookup func(name string) (string, bool)) (Config, error) {
	data, err := json.Marshal(servers)
	if err != nil {
		return Config{}, fmt.Errorf("mcp: mcpServers: %w", err)
	}
	c, err := parseServers(data)
	if err != nil {
		return Config{}, err
	}
	return c.Expand(lookup)
}

// withLine adds where the JSON is wrong.
func withLine(data []byte, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err
	}
	line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}

// parseServers reads the object field by field, because the library lets the last of
// two servers with one name win.
func parseServers(data json.RawMessage) (Config, error) {
	c := Config{Servers: map[string]Server{}}
	if kind := kindOf(data); kind != "an object" {
		return c, fmt.Errorf("mcp: mcpServers is %s, want an object with a field per server", kind)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return c, fmt.Errorf("mcp: mcpServers: %w", err)
	}
	var problems []error
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return c, fmt.Errorf("mcp: mcpServers: %w", err)
		}
		name, _ := key.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return c, fmt.Errorf("mcp: mcpServers: %w", err)
		}
		s, err := parseServer(raw)
		if _, taken := c.Servers[name]; taken {
			err = errors.New("there are two of that name")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("mcp: server %q: %w", name, err))
		}
		c.Servers[name] = s
	}
	return c, errors.Join(problems...)
}

func parseServer(data json.RawMessage) (Server, error) {
	var s Server
	if kind := kindOf(data); kind != "an object" {
		return s, fmt.Errorf("it is %s, want an object", kind)
	}
	err := json.Unmarshal(data, &s)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s: got %s, want %s", wrong.Field, kinds[wrong.Value], forms[wrong.Type])
	}
	return s, err
}

// What the library calls values and types of Go, for a reader.
var (
	kinds = map[string]string{"string": "text", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}
	forms = map[reflect.Type]string{
		reflect.TypeFor[string]():            "text",
		reflect.TypeFor[bool]():              "true or false",
		reflect.TypeFor[Duration]():          `text such as "30s"`,
		reflect.TypeFor[[]string]():          "a list of texts",
		reflect.TypeFor[map[string]string](): "an object of texts",
		reflect.TypeFor[[]tool.Declared]():   "a list",
		reflect.TypeFor[tool.Declared]():     `{"name": ..., "description": ...}`,
	}
)

// kindOf says what a JSON value is, for a reader.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 't', 'f':
		return string(raw)
	case 'n':
		return "null"
	}
	return "a number"
}
