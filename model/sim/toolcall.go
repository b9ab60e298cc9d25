package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/model"
)

// A scriptCall is a tool call that a script makes.
type scriptCall struct {
	Name  string    `json:"name" yaml:"name"`
	Input callInput `json:"input" yaml:"input"`
}

// callInput is the input of a call: JSON whose strings can hold references.
type callInput map[string]any

// UnmarshalJSON keeps numbers as they are written.
func (c *callInput) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode((*map[string]any)(c))
}

// UnmarshalYAML keeps dates as they are written: JSON has none.
func (c *callInput) UnmarshalYAML(node *yaml.Node) error {
	datesAsText(node)
	return node.Decode((*map[string]any)(c))
}

func datesAsText(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, n := range node.Content {
		datesAsText(n)
	}
}

// check finds references to what no pattern captures, and values that JSON does
// not have.
func (c *scriptCall) check(r *rule) error {
	if c.Name == "" {
		return errors.New("the name is missing")
	}
	var wrong error
	filled := substitute(map[string]any(c.Input), func(text string) string {
		if err := r.checkReferences(text); err != nil {
			wrong = err
		}
		return text
	})
	if wrong != nil {
		return wrong
	}
	if _, err := encode(filled); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	return nil
}

// make makes the call, with what the patterns captured.
func (c *scriptCall) make(id string, expand func(string) string) model.ToolCall {
	input, err := encode(substitute(map[string]any(c.Input), expand))
	if err != nil { // check has encoded the same with other texts
		panic(err)
	}
	return model.ToolCall{ID: id, Name: c.Name, Input: input}
}

// callID names the i-th call of a sample. It is a function of seed, question and
// ordinal, so that a run which is repeated sees the same ids.
func (d *decision) callID(i int) string {
	ids := newStream(d.key, forCalls, d.ordinal)
	for range i {
		ids.next()
	}
	return fmt.Sprintf("call_%016x", ids.next())
}

// substitute returns v with f applied to all strings but the names of fields.
func substitute(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = substitute(v[i], f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = substitute(v[name], f)
		}
		return out
	}
	return v
}

func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
