package modeltest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/anthropic"
	"github.com/maker-mdap/maker/model/openai"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/usage"
)

// An answer is a server without a connection that says the same to everybody.
type answer string

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

func askAnthropic(t *testing.T, reported string) model.Model {
	m, err := anthropic.New(anthropic.Options{Model: "m", Transport: answer(`{"type": "message", "content": [], "usage": ` + reported + `}`)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func askOpenAI(t *testing.T, reported string) model.Model {
	m, err := openai.New(openai.Options{Model: "m", Transport: answer(`{"choices": [{"message": {"content": ""}}], "usage": ` + reported + `}`)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Prices in dollars per million tokens are in picodollars per token here: 3
// dollars a million are 3,000,000 picodollars.
var (
	sonnet = price.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}
	haiku  = price.Price{Input: 1_000_000, Output: 5_000_000, CacheRead: 100_000, CacheWrite: 1_250_000}
	mini   = price.Price{Input: 400_000, Output: 1_600_000, CacheRead: 100_000, CacheWrite: 400_000}
	nano   = price.Price{Input: 50_000, Output: 400_000, CacheRead: 5_000, CacheWrite: 50_000}
)

// TestCost compares what calls cost with sums done by hand.
func TestCost(t *testing.T) {
	for _, test := range []struct {
		name     string
		ask      func(*testing.T, string) model.Model
		reported string
		tokens   usage.Tokens
		price    price.Price
		cost     string
	}{
		{"Anthropic, no cache", askAnthropic,
			`{"input_tokens": 2095, "output_tokens": 503}`,
			usage.Tokens{Input: 2095, Output: 503}, sonnet,
			"$0.01383"}, // 2095*3 = 6285, 503*15 = 7545; 13830 millionths
		{"Anthropic, written to the cache", askAnthropic,
			`{"input_tokens": 21, "cache_creation_input_tokens": 188086, "cache_read_input_tokens": 0, "output_tokens": 393}`,
			usage.Tokens{Input: 21, CacheWrite: 188086, Output: 393}, sonnet,
			"$0.7112805"}, // 63 + 188086*3.75 = 705322.5, + 393*15 = 5895
		{"Anthropic, read from the cache", askAnthropic,
			`{"input_tokens": 21, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 188086, "output_tokens": 393}`,
			usage.Tokens{Input: 21, CacheRead: 188086, Output: 393}, sonnet,
			"$0.0623838"}, // 63 + 188086*0.3 = 56425.8, + 5895
		{"Anthropic, both", askAnthropic,
			`{"input_tokens": 7, "cache_creation_input_tokens": 1001, "cache_read_input_tokens": 4099, "output_tokens": 13}`,
			usage.Tokens{Input: 7, CacheWrite: 1001, CacheRead: 4099, Output: 13}, haiku,
			"$0.00173315"}, // 7 + 1001*1.25 = 1251.25, + 4099*0.1 = 409.9, + 13*5 = 65
		{"OpenAI, no details", askOpenAI,
			`{"prompt_tokens": 1117, "completion_tokens": 46, "total_tokens": 1163}`,
			usage.Tokens{Input: 1117, Output: 46}, mini,
			"$0.0005204"}, // 1117*0.4 = 446.8, 46*1.6 = 73.6
		{"OpenAI, cached inside the prompt", askOpenAI,
			`{"prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306, "prompt_tokens_details": {"cached_tokens": 1920}}`,
			usage.Tokens{Input: 86, CacheRead: 1920, Output: 300}, mini,
			"$0.0007064"}, // 86*0.4 = 34.4, 1920*0.1 = 192, 300*1.6 = 480
		{"OpenAI, reasoning inside the completion", askOpenAI,
			`{"prompt_tokens": 75, "completion_tokens": 1186, "total_tokens": 1261, "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 1024}}`,
			usage.Tokens{Input: 75, Output: 162, Reasoning: 1024}, nano,
			"$0.00047815"}, // 75*0.05 = 3.75, 1186*0.4 = 474.4
		{"OpenAI, both", askOpenAI,
			`{"prompt_tokens": 1151, "completion_tokens": 321, "total_tokens": 1472, "prompt_tokens_details": {"cached_tokens": 1024}, "completion_tokens_details": {"reasoning_tokens": 320}}`,
			usage.Tokens{Input: 127, CacheRead: 1024, Output: 1, Reasoning: 320}, nano,
			"$0.00013987"}, // 127*0.05 = 6.35, 1024*0.005 = 5.12, 321*0.4 = 128.4
		{"xAI, reasoning beside the completion", askOpenAI,
			`{"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135, "completion_tokens_details": {"reasoning_tokens": 94}}`,
			usage.Tokens{Input: 32, Output: 9, Reasoning: 94}, mini,
			"$0.0001776"}, // 32*0.4 = 12.8, 103*1.6 = 164.8
		{"OpenRouter, cost not reported", askOpenAI,
			`{"prompt_tokens": 194, "completion_tokens": 2, "total_tokens": 196, "prompt_tokens_details": {"cached_tokens": 50, "cache_write_tokens": 100}}`,
			usage.Tokens{Input: 44, CacheRead: 50, CacheWrite: 100, Output: 2}, sonnet,
			"$0.000552"}, // 44*3 = 132, 50*0.3 = 15, 100*3.75 = 375, 2*15 = 30
		{"OpenRouter, cost reported", askOpenAI,
			`{"prompt_tokens": 194, "completion_tokens": 2, "total_tokens": 196, "cost": 0.000123456789}`,
			usage.Tokens{Input: 194, Output: 2}, sonnet,
			"$0.000123456789"},
		{"OpenRouter, free", askOpenAI,
			`{"prompt_tokens": 194, "completion_tokens": 2, "total_tokens": 196, "cost": 0}`,
			usage.Tokens{Input: 194, Output: 2}, sonnet,
			"$0"},
		{"nothing counted", askOpenAI, `null`, usage.Tokens{}, sonnet, "$0"},
	} {
		req := &model.Request{Messages: []model.Message{{Role: model.User, Text: "x"}}}
		r, err := test.ask(t, test.reported).Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if r.Usage != test.tokens {
			t.Errorf("%s: usage = %+v, want %+v", test.name, r.Usage, test.tokens)
		}
		// As the budget does it: what the provider reports comes first.
		cost := test.price.Cost(r.Usage)
		if r.CostUSD != nil {
			cost = price.FromUSD(*r.CostUSD)
		}
		if got := cost.String(); got != test.cost {
			t.Errorf("%s: cost = %s, want %s", test.name, got, test.cost)
		}
	}
}
