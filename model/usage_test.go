package model_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

func TestCheckUsage(t *testing.T) {
	usd := func(f float64) *float64 { return &f }
	req := &model.Request{Messages: []model.Message{{Text: strings.Repeat("x", 1000)}}, MaxOutput: 100}
	long := model.Response{Text: strings.Repeat("x", 100_000), Usage: usage.Tokens{Input: 1000, Output: 100_000}}
	call := model.Response{ToolCalls: []model.ToolCall{{Name: "t", Input: json.RawMessage(strings.Repeat("x", 100_000))}}, Usage: usage.Tokens{Input: 1000, Output: 100_000}}
	for _, test := range []struct {
		name    string
		answers []model.Response
		want    string // part of the error; "" for none
	}{
		{"an answer", []model.Response{{Text: "x", Usage: usage.Tokens{Input: 250, Output: 1}}}, ""},
		{"no usage", []model.Response{{Text: "x"}}, ""},
		{"thinking in secret", []model.Response{{Text: "x", Usage: usage.Tokens{Input: 250, Output: 60_000}}}, ""},
		{"a limit that is passed over", []model.Response{long}, ""},
		{"a limit that is passed over by a call", []model.Response{call}, ""},
		{"a search", []model.Response{{Text: "x", Usage: usage.Tokens{Input: 900_000, Output: 9}, CostUSD: usd(0.3)}}, ""},
		{"several answers", []model.Response{long, long}, ""},
		{"output without bytes", []model.Response{{Text: "x", Usage: usage.Tokens{Output: 70_000}}}, "70000 tokens of output for an answer of 1 bytes, where 100 were asked for"},
		{"thinking without end", []model.Response{{Text: "x", Usage: usage.Tokens{Reasoning: 70_000}}}, "70000 tokens of output"},
		{"output of all answers", []model.Response{{Usage: usage.Tokens{Output: 40_000}}, {Usage: usage.Tokens{Output: 40_000}}}, "80000 tokens of output"},
		{"input without bytes", []model.Response{{Text: "x", Usage: usage.Tokens{Input: 1, CacheRead: 2_000_000}}}, "2000001 tokens of input for a request of 1000 bytes"},
		{"negative", []model.Response{{Usage: usage.Tokens{Input: -1}}}, "negative"},
		{"cost of the second", []model.Response{{}, {CostUSD: usd(math.Inf(1))}}, "above any price"},
	} {
		var list []*model.Response
		for i := range test.answers {
			list = append(list, &test.answers[i])
		}
		err := model.CheckUsage(req, len(list), list...)
		switch {
		case (err == nil) != (test.want == ""):
			t.Errorf("CheckUsage(%s) = %v, want %q", test.name, err, test.want)
		case err != nil && (err.Kind != model.BadUsage || !strings.Contains(err.Message, test.want)):
			t.Errorf("CheckUsage(%s) = %v, want bad usage with %q", test.name, err, test.want)
		}
	}
	// Where no limit was asked for, models write at length.
	if err := model.CheckUsage(&model.Request{}, 1, &model.Response{Usage: usage.Tokens{Output: 300_000}}); err != nil {
		t.Errorf("CheckUsage(300,000 tokens without a limit) = %v, want nil", err)
	}
}
