package model_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

func TestFunc(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "here")
	req := &model.Request{System: "s"}
	want := &model.Response{Text: "answer"}
	var m model.Model = model.Func(func(ctx context.Context, got *model.Request) (*model.Response, error) {
		if got != req || ctx.Value(key{}) != "here" {
			t.Errorf("the function got %+v, want the request and the context as they were", got)
		}
		return want, nil
	})
	if got, err := m.Generate(ctx, req); got != want || err != nil {
		t.Errorf("Generate = %+v, %v, want %+v", got, err, want)
	}
}

// TestForm: requests and answers are recorded to files, so their form stays.
func TestForm(t *testing.T) {
	zero, cost := 0.0, 0.5
	tests := []struct {
		value any
		back  any
		want  string
	}{
		{
			&model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}, new(model.Request),
			`{"messages":[{"role":"user","text":"hello"}]}`,
		},
		{
			&model.Request{System: "s", Messages: []model.Message{{Role: model.Assistant, Text: "a"}}, Temperature: &zero, MaxOutput: 9}, new(model.Request),
			`{"system":"s","messages":[{"role":"assistant","text":"a"}],"temperature":0,"max_output":9}`,
		},
		{
			&model.Request{
				Messages: []model.Message{
					{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "1", Name: "read", Input: json.RawMessage(`{"a":1}`)}}},
					{Role: model.User, ToolResults: []model.ToolResult{{ID: "1", Text: "none", IsError: true}}},
				},
				Tools:       []model.Tool{{Name: "read", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}},
				Output:      &model.OutputFormat{Mode: model.JSONSchema, Name: "n", Schema: json.RawMessage(`{}`)},
				CachePrefix: true,
			}, new(model.Request),
			`{"messages":[{"role":"assistant","text":"","tool_calls":[{"id":"1","name":"read","input":{"a":1}}]},` +
				`{"role":"user","text":"","tool_results":[{"id":"1","text":"none","is_error":true}]}],` +
				`"tools":[{"name":"read","description":"d","schema":{"type":"object"}}],` +
				`"output":{"mode":"json_schema","name":"n","schema":{}},"cache_prefix":true}`,
		},
		{
			&model.Response{Text: "t", Stop: model.StopLength, Usage: usage.Tokens{Input: 1, Output: 2}, CostUSD: &cost, Model: "m"}, new(model.Response),
			`{"text":"t","stop":"length","usage":{"input":1,"output":2},"cost_usd":0.5,"model":"m"}`,
		},
	}
	for _, test := range tests {
		got, err := json.Marshal(test.value)
		if err != nil || string(got) != test.want {
			t.Errorf("json.Marshal(%+v) = %s, %v, want %s", test.value, got, err, test.want)
		}
		if err := json.Unmarshal(got, test.back); err != nil {
			t.Errorf("json.Unmarshal(%s) = %v", got, err)
		}
		if diff := cmp.Diff(test.value, test.back); diff != "" {
			t.Errorf("json.Unmarshal(%s): -want +got\n%s", got, diff)
		}
	}
}

// TestFaultsAreNotPartOfAnAnswer: they are what the attempts before it said.
func TestFaultsAreNotPartOfAnAnswer(t *testing.T) {
	data, err := json.Marshal(model.Response{Faults: []*model.Error{{Kind: model.Transient, Message: "broken pipe"}}})
	if err != nil || strings.Contains(string(data), "broken pipe") {
		t.Errorf("json.Marshal(answer with faults) = %s, %v, want no faults in it", data, err)
	}
}

// TestRequestSize: a budget reserves for every byte that is sent.
func TestRequestSize(t *testing.T) {
	empty := &model.Request{}
	if empty.Bytes() != 0 || empty.Parts() != 1 {
		t.Errorf("an empty request has %d bytes in %d parts, want 0 in 1", empty.Bytes(), empty.Parts())
	}
	req := &model.Request{
		System: "1",
		Messages: []model.Message{
			{Text: "22"},
			{Text: "4444", ToolCalls: []model.ToolCall{{ID: "88888888", Name: strings.Repeat("x", 16), Input: json.RawMessage(strings.Repeat("x", 32))}}},
			{ToolResults: []model.ToolResult{{ID: strings.Repeat("x", 64), Text: strings.Repeat("x", 128)}}},
		},
		Tools: []model.Tool{{
			Name: strings.Repeat("x", 256), Description: strings.Repeat("x", 512), Schema: json.RawMessage(strings.Repeat("x", 1024)),
		}},
		Output: &model.OutputFormat{Name: strings.Repeat("x", 2048), Schema: json.RawMessage(strings.Repeat("x", 4096))},
	}
	if got, want := req.Bytes(), 1<<13-1; got != want {
		t.Errorf("Bytes() = %b, want %b: each part counts once", got, want)
	}
	if got, want := req.Parts(), 7; got != want {
		t.Errorf("Parts() = %d, want %d", got, want)
	}
}

type (
	single  struct{ model.Model }
	batcher struct{ model.Model }
	wrapper struct {
		model.Model
		inner model.Model
	}
	batchWrapper struct{ wrapper }
)

func (batcher) GenerateN(context.Context, *model.Request, int) ([]*model.Response, error) {
	return nil, nil
}

func (batchWrapper) GenerateN(context.Context, *model.Request, int) ([]*model.Response, error) {
	return nil, nil
}

func (w wrapper) Unwrap() model.Model { return w.inner }

// TestAsBatcher: a decorator that can pass batches on is worth nothing around a
// model that cannot make them, and the other way round.
func TestAsBatcher(t *testing.T) {
	around := func(m model.Model) model.Model { return batchWrapper{wrapper{inner: m}} }
	tests := []struct {
		name string
		m    model.Model
		want bool
	}{
		{"a model", single{}, false},
		{"a batcher", batcher{}, true},
		{"a wrapper of a batcher", wrapper{inner: batcher{}}, false},
		{"a batching wrapper of a batcher", around(batcher{}), true},
		{"two batching wrappers of a batcher", around(around(batcher{})), true},
		{"two batching wrappers of a model", around(around(single{})), false},
		{"a wrapper between", around(wrapper{inner: batcher{}}), false},
	}
	for _, test := range tests {
		b, ok := model.AsBatcher(test.m)
		if ok != test.want || ok && b != test.m || !ok && b != nil {
			t.Errorf("AsBatcher(%s) = %v, %t, want %t", test.name, b, ok, test.want)
		}
	}
}
