package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

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

// parseServers reads the object by hand, because the library lets the last of two
// servers with one name win, and names fields of Go types in its errors.
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
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return s, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := s.set(name, fields[name]); err != nil {
			return s, err
		}
	}
	return s, nil
}

// set reads one field. Null is the same as not there.
func (s *Server) set(field string, raw json.RawMessage) (err error) {
	if kindOf(raw) == "null" {
		return nil
	}
	switch field {
	case "type":
		err = read(field, raw, &s.Type)
	case "command":
		err = read(field, raw, &s.Command)
	case "args":
		s.Args, err = readList(field, raw)
	case "env":
		s.Env, err = readMap(field, raw)
	case "cwd":
		err = read(field, raw, &s.Cwd)
	case "url":
		err = read(field, raw, &s.URL)
	case "headers":
		s.Headers, err = readMap(field, raw)
	case "tools":
		s.Tools, err = readTools(raw)
	case "trusted":
		err = read(field, raw, &s.Trusted)
	case "required":
		err = read(field, raw, &s.Required)
	case "disabled":
		err = read(field, raw, &s.Disabled)
	case "start_timeout":
		err = read(field, raw, &s.StartTimeout)
	case "call_timeout":
		err = read(field, raw, &s.CallTimeout)
	}
	return err
}

// read reads a value that is one of the types below, and names the field if it is
// something else.
func read[T string | bool | Duration](field string, raw json.RawMessage, to *T) error {
	want := "text"
	switch any(to).(type) {
	case *bool:
		want = "true or false"
	case *Duration:
		want = `text such as "30s"`
	}
	err := json.Unmarshal(raw, to)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s is %s, want %s", field, kindOf(raw), want)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if kindOf(raw) == "null" {
		return fmt.Errorf("%s is null, want %s", field, want)
	}
	return nil
}

func readList(field string, raw json.RawMessage) ([]string, error) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, fmt.Errorf("%s is %s, want a list of texts", field, kindOf(raw))
	}
	out := make([]string, len(items))
	for i, item := range items {
		if err := read(fmt.Sprintf("%s[%d]", field, i), item, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readMap(field string, raw json.RawMessage) (map[string]string, error) {
	var items map[string]json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, fmt.Errorf("%s is %s, want an object of texts", field, kindOf(raw))
	}
	out := make(map[string]string, len(items))
	for _, name := range slices.Sorted(maps.Keys(items)) {
		var value string
		if err := read(field+"."+name, items[name], &value); err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

func readTools(raw json.RawMessage) ([]tool.Declared, error) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, fmt.Errorf("tools is %s, want a list", kindOf(raw))
	}
	out := make([]tool.Declared, len(items))
	for i, item := range items {
		var fields map[string]json.RawMessage
		if json.Unmarshal(item, &fields) != nil || fields == nil {
			return nil, fmt.Errorf(`tools[%d] is %s, want {"name": ..., "description": ...}`, i, kindOf(item))
		}
		for name, to := range map[string]*string{"name": &out[i].Name, "description": &out[i].Description} {
			if value, ok := fields[name]; ok {
				if err := read(fmt.Sprintf("tools[%d].%s", i, name), value, to); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

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
