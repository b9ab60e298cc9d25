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
type callInput string

// UnmarshalJSON keeps numbers as they are written.
func (c *callInput) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return c.decode(d.Decode)
}

// UnmarshalYAML keeps dates as they are written: JSON has none.
func (c *callInput) UnmarshalYAML(node *yaml.Node) error {
	datesAsText(node)
	return c.decode(node.Decode)
}

func (c *callInput) decode(read func(any) error) error {
	fields := map[string]any{}
	if err := read(&fields); err != nil {
		return err
	}
	text, err := encode(fields)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	*c = callInput(text)
	return nil
}

func datesAsText(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, n := range node.Content {
		datesAsText(n)
	}
}

// check finds references to what no pattern captures.
func (c *scriptCall) check(r *rule) error {
	if c.Name == "" {
		return errors.New("the name is missing")
	}
	if c.Input == "" || c.Input == "null" {
		c.Input = "{}"
	}
	return r.checkReferences(string(c.Input))
}

// make makes the call, with what the patterns captured.
func (c *scriptCall) make(id string, m *match) model.ToolCall {
	input := m.expand(string(c.Input), func(text string) string {
		quoted := jsonText(text)
		return quoted[1 : len(quoted)-1]
	})
	return model.ToolCall{ID: id, Name: c.Name, Input: json.RawMessage(input)}
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

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
