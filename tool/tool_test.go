package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/tool"
)

func TestNewIntent(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"order and space between", `{ "b": 1, "a": [ true , null ] }`, `{"a":[true,null],"b":1}`},
		{"numbers", `{"n":[1.0,1e2,-0,12345678901234567890]}`, `{"n":[1,100,0,12345678901234567890]}`},
		{"space in strings", `{"s":"  a\t b\n"}`, `{"s":"  a\t b\n"}`},
		{"escapes", `{"s":"\u0041\u003c&"}`, `{"s":"A<&"}`},
		{"composed and not", `{"c":"\u00e9","d":"e\u0301"}`, "{\"c\":\"\u00e9\",\"d\":\"e\u0301\"}"},
	}
	for _, test := range tests {
		got, err := tool.NewIntent("Write", json.RawMessage(test.in))
		if err != nil || string(got.Input) != test.want {
			t.Errorf("NewIntent(%s): %s = %s, %v, want %s", test.name, test.in, got.Input, err, test.want)
		}
		if want := "Write " + test.want; got.Key() != want {
			t.Errorf("NewIntent(%s).Key() = %q, want %q", test.in, got.Key(), want)
		}
	}
}

func TestNewIntentRefuses(t *testing.T) {
	for _, in := range []string{``, `{`, `{"a":1,"a":2}`, `{"a":1} x`, "{\"a\":\"\xff\"}", `{"a":"\ud800"}`} {
		if got, err := tool.NewIntent("Write", json.RawMessage(in)); err == nil || !strings.Contains(err.Error(), "Write") {
			t.Errorf("NewIntent(%q) = %s, %v, want an error that names the tool", in, got.Input, err)
		}
	}
}

func TestBySample(t *testing.T) {
	want := map[tool.Class]bool{tool.Pure: true, tool.Observe: true, tool.Mutate: false, tool.Human: false, "": false}
	for effect, may := range want {
		if got := effect.BySample(); got != may {
			t.Errorf("Effect(%q).BySample() = %v, want %v", effect, got, may)
		}
	}
}

type order struct {
	Item  string   `json:"item" jsonschema:"What."`
	Count int      `json:"count,omitempty" minimum:"1"`
	Size  string   `json:"size,omitempty" enum:"small,large"`
	Gift  bool     `json:"gift,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Why   string   `json:"why,omitempty" vote:"-"`
}

func (o order) Check() error {
	if o.Item == "nothing" {
		return errors.New("item: there is nothing to order")
	}
	return nil
}

func newOrderTool(t *testing.T, run func(context.Context, order) (tool.Result, error)) tool.Tool {
	t.Helper()
	made, err := tool.New(tool.Tool{Name: "Order", Class: tool.Mutate}, run)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestNew(t *testing.T) {
	var got order
	made := newOrderTool(t, func(_ context.Context, in order) (tool.Result, error) {
		got = in
		return tool.Result{Text: "done"}, nil
	})
	result, err := made.Run(t.Context(), json.RawMessage(`{"item":" x ","count":2.0,"size":"large","tags":["a"],"gift":false}`))
	if err != nil || result.Text != "done" || result.IsError {
		t.Errorf("Run(valid) = %+v, %v, want done", result, err)
	}
	want := order{Item: " x ", Count: 2, Size: "large", Tags: []string{"a"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Run(valid) decoded: -want +got\n%s", diff)
	}
	var schema struct {
		Type       string
		Required   []string
		Properties map[string]struct {
			Type        string
			Description string
			Enum        []string
			Minimum     *float64
		}
		AdditionalProperties json.RawMessage
	}
	if err := json.Unmarshal(made.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"item"}, schema.Required); diff != "" {
		t.Errorf("required fields: -want +got\n%s", diff)
	}
	p := schema.Properties
	if schema.Type != "object" || p["item"].Description != "What." || p["tags"].Type != "array" || p["count"].Minimum == nil || *p["count"].Minimum != 1 || len(p["size"].Enum) != 2 {
		t.Errorf("New(order).Schema = %s, want types, descriptions, enum and minimum of the struct", made.Schema)
	}
	if string(schema.AdditionalProperties) == "" {
		t.Errorf("New(order).Schema = %s, want no additional properties", made.Schema)
	}
}

// badOrders are inputs that the tool refuses, with the text that names the field.
var badOrders = []struct{ in, want string }{
	{`{}`, "item"},
	{`{"item":1}`, "item"},
	{`{"item":null}`, "item"},
	{`{"item":"x","count":"2"}`, "count"},
	{`{"item":"x","count":1.5}`, "count"},
	{`{"item":"x","count":0}`, "count: 0 is less than 1"},
	{`{"item":"x","count":1e30}`, "count"},
	{`{"item":"x","size":"huge"}`, "size"},
	{`{"item":"x","tags":null}`, "tags"},
	{`{"item":"x","tags":[1]}`, "tags"},
	{`{"item":"x","colour":"red"}`, "colour"},
	{`{"Item":"x"}`, "Item"},
	{`{"item":"x","item":"y"}`, "item"},
	{`{"item":"nothing"}`, "nothing to order"},
	{`[]`, "want a JSON object"},
	{`null`, "want a JSON object"},
	{`"x"`, "want a JSON object"},
	{`{"item":"x"`, "JSON"},
	{``, "JSON"},
}

func TestNewNamesTheField(t *testing.T) {
	made := newOrderTool(t, func(context.Context, order) (tool.Result, error) {
		t.Error("the tool ran with an input that it does not take")
		return tool.Result{}, nil
	})
	for _, test := range badOrders {
		input := json.RawMessage(test.in)
		result, err := made.Run(t.Context(), input)
		if err != nil || !result.IsError || !strings.Contains(result.Text, test.want) {
			t.Errorf("Run(%s) = %+v, %v, want an error result with %q", test.in, result, err, test.want)
		}
		wrong, ok := errors.AsType[*tool.InputError](made.Validate(input))
		if !ok || wrong.Tool != "Order" || !strings.Contains(wrong.Error(), test.want) {
			t.Errorf("Validate(%s) = %v, want an InputError with %q", test.in, wrong, test.want)
		}
		if _, err := made.Intent(input); err == nil {
			t.Errorf("Intent(%s): want an error: nobody should vote on it", test.in)
		}
	}
	long := `{"item":{"x":"` + strings.Repeat("y", 10_000) + `"}}`
	if err := made.Validate(json.RawMessage(long)); err == nil || len(err.Error()) > 500 {
		t.Errorf("Validate(a long wrong value) = %d bytes, want a short error", len(err.Error()))
	}
}

func TestIntentsOfATool(t *testing.T) {
	made := newOrderTool(t, func(context.Context, order) (tool.Result, error) { return tool.Result{}, nil })
	const want = `{"item":"x"}`
	for _, in := range []string{`{"item":"x"}`, `{"item":"x","gift":false,"why":"because"}`, `{"why":"for fun", "item":"x"}`} {
		if got, err := made.Intent(json.RawMessage(in)); err != nil || string(got.Input) != want || got.Tool != "Order" {
			t.Errorf("Intent(%s) = %+v, %v, want %s", in, got, err, want)
		}
	}
	got, err := made.Intent(json.RawMessage(`{"item":"<a> & e\u0301","gift":true}`))
	if want := "{\"gift\":true,\"item\":\"<a> & e\u0301\"}"; err != nil || string(got.Input) != want {
		t.Errorf("Intent(exact text) = %s, %v, want %s", got.Input, err, want)
	}
}

func TestValidateWithAServersSchema(t *testing.T) {
	tests := []struct {
		schema, in string
		ok         bool
	}{
		{`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, `{"n":1}`, true},
		{`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, `{"n":"1"}`, false},
		{`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, `{}`, false},
		{`{"$ref":"https://example.com/schema"}`, `{"any":"thing"}`, true}, // only the server knows
		{`{"$ref":"https://example.com/schema"}`, `[]`, false},
		{`{}`, `{"any":"thing"}`, true},
	}
	for _, test := range tests {
		made := tool.Tool{Name: "mcp__s__t", Schema: json.RawMessage(test.schema)}
		if err := made.Validate(json.RawMessage(test.in)); (err == nil) != test.ok {
			t.Errorf("Validate(%s) with %s = %v, want ok %v", test.in, test.schema, err, test.ok)
		}
		if _, err := made.Intent(json.RawMessage(test.in)); (err == nil) != test.ok {
			t.Errorf("Intent(%s) with %s = %v, want ok %v", test.in, test.schema, err, test.ok)
		}
	}
}

func TestNewSurvivesAPanic(t *testing.T) {
	made := newOrderTool(t, func(context.Context, order) (tool.Result, error) { panic("ouch") })
	if _, err := made.Run(t.Context(), json.RawMessage(`{"item":"x"}`)); err == nil || !strings.Contains(err.Error(), "ouch") {
		t.Errorf("Run(panics) = %v, want an error with its text", err)
	}
}

func TestNewRefusesTypes(t *testing.T) {
	if _, err := tool.New(tool.Tool{Name: "X"}, func(context.Context, string) (tool.Result, error) { return tool.Result{}, nil }); err == nil {
		t.Error("New(string input) succeeded, want an error")
	}
	type bad struct {
		F func() `json:"f"`
	}
	if _, err := tool.New(tool.Tool{Name: "X"}, func(context.Context, bad) (tool.Result, error) { return tool.Result{}, nil }); err == nil {
		t.Error("New(func field) succeeded, want an error")
	}
}

func FuzzInput(f *testing.F) {
	for _, test := range badOrders {
		f.Add([]byte(test.in))
	}
	f.Add([]byte(`{"item":"x","count":2,"size":"small","tags":["a","b"],"why":"w"}`))
	made, err := tool.New(tool.Tool{Name: "Order", Class: tool.Mutate}, func(_ context.Context, in order) (tool.Result, error) {
		if in.Item == "" && in.Check() != nil || in.Count < 0 || in.Size != "" && in.Size != "small" && in.Size != "large" {
			return tool.Result{}, errors.New("the tool ran with an input that it does not take")
		}
		return tool.Result{Text: "ran"}, nil
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		result, err := made.Run(t.Context(), input)
		if err != nil {
			t.Fatalf("Run(%q) = %v, want a result", input, err)
		}
		invalid := made.Validate(input)
		if result.IsError != (invalid != nil) {
			t.Fatalf("Run(%q) = %+v, but Validate = %v", input, result, invalid)
		}
		intent, err := made.Intent(input)
		if (err == nil) != (invalid == nil) {
			t.Fatalf("Intent(%q) = %v, but Validate = %v", input, err, invalid)
		}
		if err != nil {
			return
		}
		again, err := made.Intent(intent.Input)
		if err != nil || again.Key() != intent.Key() {
			t.Fatalf("Intent(%s) = %s, %v, want itself", intent.Input, again.Input, err)
		}
	})
}
