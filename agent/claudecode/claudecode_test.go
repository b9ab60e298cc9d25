//go:build unix

package claudecode

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

type readInput struct {
	FilePath string `json:"file_path"`
}

type bashInput struct {
	Command string `json:"command"`
}

// testTools are Read, which a sample may run, and Bash, which fails the test if
// it runs.
func testTools(t testing.TB) []tool.Tool {
	t.Helper()
	read, err := tool.New(tool.Tool{Name: "Read", Description: "Reads.", Class: tool.Pure}, func(_ context.Context, in readInput) (tool.Result, error) {
		return tool.Result{Text: "hello from " + in.FilePath}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	bash, err := tool.New(tool.Tool{Name: "Bash", Description: "Runs.", Class: tool.Mutate}, func(_ context.Context, in bashInput) (tool.Result, error) {
		t.Errorf("Bash ran %q", in.Command)
		return tool.Result{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return []tool.Tool{read, bash}
}

func cost(usd float64) *float64 { return &usd }

func TestRecorded(t *testing.T) {
	once := usage.Tokens{Input: 100, Output: 20}
	twice := once.Add(once)
	const price = 0.0006000000000000001
	tests := []struct {
		file string
		want agent.Result
	}{
		{"answer", agent.Result{Text: "It is 42.", Stop: model.StopEnd, Usage: once, CostUSD: cost(price)}},
		{"call", agent.Result{Text: "It says hello.", Stop: model.StopEnd, Usage: twice, CostUSD: cost(2 * price), Calls: 1}},
		{"intent", agent.Result{Text: "I will list.", Stop: model.StopToolUse, Usage: once, CostUSD: cost(price), Intent: &tool.Intent{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}}},
		{"moves", agent.Result{Stop: model.StopToolUse, Usage: once, CostUSD: cost(price), Calls: 1,
			Flag: redflag.New(agent.FlagTooManyMoves, "the attempt came to no end within its moves: Reached maximum number of turns (1)")}},
		// The program had begun to ask for more, which may cost something.
		{"cut", agent.Result{Text: "It is 4", Stop: model.StopLength, Usage: once}},
		{"refused", agent.Result{Text: "I will not.", Stop: model.StopRefusal, Usage: once, CostUSD: cost(price)}},
		{"data", agent.Result{Text: `{"n": 3}`, Stop: model.StopEnd, Usage: once, CostUSD: cost(price)}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			script, err := os.ReadFile(filepath.Join("testdata", "recorded", test.file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			task := &agent.Task{Prompt: "hi", Tools: testTools(t)}
			if test.file == "data" {
				task.Output = &model.OutputFormat{Mode: model.JSONObject}
			}
			got, err := newFake(t, string(script), nil).Attempt(t.Context(), task)
			if err != nil {
				t.Fatalf("Attempt(%s) = %v, want a result", test.file, err)
			}
			test.want.Model = "claude-sonnet-4-5"
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("Attempt(%s): -want +got\n%s", test.file, diff)
			}
		})
	}
}

func TestRecordedOverload(t *testing.T) {
	script, err := os.ReadFile("testdata/recorded/overload.txt")
	if err != nil {
		t.Fatal(err)
	}
	var told []model.Kind
	_, err = newFake(t, string(script), nil).Attempt(t.Context(), &agent.Task{Prompt: "hi", Tools: testTools(t), OnFault: func(e *model.Error) bool {
		told = append(told, e.Kind)
		return true
	}})
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.Overloaded || e.Status != 529 || e.Message != "API Error: 529 Overloaded" || len(e.Faults) != 1 || e.Faults[0].Status != 529 {
		t.Errorf("Attempt(overload) = %+v, want an overload after another", err)
	}
	if diff := cmp.Diff([]model.Kind{model.Overloaded, model.Overloaded}, told); diff != "" {
		t.Errorf("told of faults: -want +got\n%s", diff)
	}
}

// The beginning of a dialog without tools, and an answer.
const (
	hello = `
< "initialize"
< "role":"user"
> {"type":"control_response","response":{"subtype":"success","request_id":"maker-initialize"}}
> {"type":"system","subtype":"init","tools":[],"claude_code_version":"2.1.197"}
> {"type":"system","subtype":"status","status":"requesting"}
`
	start42 = `
> {"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","model":"claude-test","usage":{"input_tokens":100,"cache_read_input_tokens":7,"output_tokens":1}}}}
> {"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}
> {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"4"}}}
> {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"2"}}}
> {"type":"stream_event","event":{"type":"content_block_stop","index":0}}
`
	answer42 = start42 + `
> {"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}}
> {"type":"stream_event","event":{"type":"message_stop"}}
`
	success = `
> {"type":"result","subtype":"success","is_error":false,"result":"42","stop_reason":"end_turn","total_cost_usd":0.25}
`
)

func TestShapes(t *testing.T) {
	tokens := usage.Tokens{Input: 100, CacheRead: 7, Output: 5}
	tests := []struct {
		name, script string
		want         agent.Result
	}{
		{"usage of the stream", hello + answer42 + success, agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens, CostUSD: cost(0.25)}},
		{"more usage than the stream had", hello + answer42 + `
> {"type":"result","subtype":"success","total_cost_usd":0.25,"modelUsage":{"a":{"inputTokens":100,"cacheReadInputTokens":7,"outputTokens":5},"b":{"inputTokens":1,"cacheCreationInputTokens":2}}}
`, agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: usage.Tokens{Input: 101, CacheRead: 7, CacheWrite: 2, Output: 5}, CostUSD: cost(0.25)}},
		{"a price that the program does not know", hello + answer42 + `
> {"type":"result","subtype":"success","total_cost_usd":0.25,"modelUsage":{"a":{"inputTokens":1,"costBasis":"unknown"}}}
`, agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens}},
		{"no cost", hello + answer42 + `> {"type":"result","subtype":"success"}
`, agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens}},
		{"an error after the answer", hello + answer42 + `> {"type":"result","subtype":"error_during_execution","is_error":true,"total_cost_usd":0.25}
`, agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens, CostUSD: cost(0.25)}},
		{"lines of other kinds", hello + `
> {"type":"system","subtype":"ui_invalidate","event":"ui.render"}
> {"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}
> {"type":"keep_alive"}
> {"type":"user","message":{"role":"user","content":"hi"}}
> {"type":"stream_event","event":{"type":"ping"}}
> {"type":"assistant","parent_tool_use_id":"toolu_1","message":{"id":"m0","model":"other","content":[{"type":"text","text":"a helper"}]}}
> null

` + answer42 + success, agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens, CostUSD: cost(0.25)}},
		{"a request that we do not know", hello + `
> {"type":"control_request","request_id":"r9","request":{"subtype":"hook_callback"}}
< "subtype":"error" "request_id":"r9"
` + answer42 + success, agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens, CostUSD: cost(0.25)}},
		{"a stream that broke and began again", hello + start42 + answer42 + success,
			agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens.Add(usage.Tokens{Input: 100, CacheRead: 7, Output: 1})}},
		{"a program that goes on by itself", hello + answer42 + `
> {"type":"stream_event","event":{"type":"message_start","message":{"id":"m2","model":"claude-test","usage":{"input_tokens":1}}}}
< "interrupt"
> {"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}
> {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"43"}}}
> {"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}}
> {"type":"stream_event","event":{"type":"message_stop"}}
` + success, agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens.Add(usage.Tokens{Input: 1, Output: 5}), CostUSD: cost(0.25)}},
		{"a crash after the answer", hello + answer42 + "exit 1\n", agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens}},
		{"garbage after the answer", hello + answer42 + "> x\n", agent.Result{Text: "42", Stop: model.StopEnd, Model: "claude-test", Usage: tokens}},
		{"money", hello + `> {"type":"result","subtype":"error_max_budget_usd","is_error":true,"errors":["Reached $1"],"total_cost_usd":1.5}
`, agent.Result{Flag: redflag.New(agent.FlagTooManyMoves, "the attempt used up its money and came to no end: Reached $1")}},
		{"no data", hello + `> {"type":"result","subtype":"error_max_structured_output_retries","is_error":true}
`, agent.Result{Flag: redflag.New(redflag.SchemaInvalid, "the attempt found no answer that fits the schema")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := newFake(t, test.script+"hang\n", nil).Attempt(t.Context(), &agent.Task{Prompt: "6 * 7?"})
			if err != nil {
				t.Fatalf("Attempt(%s) = %v, want a result", test.name, err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("Attempt(%s): -want +got\n%s", test.name, diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	said := func(word, text string) string {
		return `> {"type":"assistant","message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"` + text + `"}]},"error":"` + word + `"}` + "\n"
	}
	failed := func(fields string) string {
		return `> {"type":"result","subtype":"success","is_error":true,` + fields + "}\n"
	}
	tests := []struct {
		name, script string
		kind         model.Kind
		status       int
		want         string // in the message
	}{
		{"key", hello + failed(`"api_error_status":401,"result":"Invalid API key"`), model.Auth, 401, "ANTHROPIC_API_KEY"},
		{"no key", hello + said("authentication_failed", "Not logged in") + failed(`"result":"Not logged in"`), model.Auth, 0, "Not logged in (set ANTHROPIC_API_KEY"},
		{"right", hello + failed(`"api_error_status":403,"result":"no right"`), model.Auth, 403, "no right"},
		{"request", hello + failed(`"api_error_status":400,"result":"API Error: 400 bad thing"`), model.Invalid, 400, "bad thing"},
		{"model", hello + failed(`"api_error_status":404,"result":"no such model"`), model.Invalid, 404, "no such model"},
		{"credit", hello + said("billing_error", "Credit balance is too low") + failed(`"result":""`), model.Invalid, 0, "Credit balance is too low"},
		{"rate", hello + failed(`"api_error_status":429,"result":"slow down"`), model.RateLimited, 429, "slow down"},
		{"rate by word", hello + said("rate_limit", "slow down") + failed(`"result":"slow down"`), model.RateLimited, 0, "slow down"},
		{"overload", hello + failed(`"api_error_status":529,"result":"busy"`), model.Overloaded, 529, "busy"},
		{"overload by word", hello + said("overloaded", "busy") + failed(`"result":"busy"`), model.Overloaded, 0, "busy"},
		{"internal", hello + failed(`"api_error_status":500,"result":"oops"`), model.Transient, 500, "oops"},
		{"length", hello + failed(`"api_error_status":400,"result":"Too much","terminal_reason":"prompt_too_long"`), model.TooLong, 400, "Too much"},
		{"length by its text", hello + failed(`"api_error_status":400,"result":"prompt is too long: 9 > 8"`), model.TooLong, 400, "9 > 8"},
		{"size", hello + failed(`"api_error_status":413,"result":"large"`), model.TooLong, 413, "large"},
		{"refusal", hello + said("invalid_request", "no") + failed(`"result":"no","stop_reason":"refusal"`), model.Refused, 0, "no"},
		{"connection", hello + said("unknown", "x") + failed(`"result":"API Error: Unable to connect to API (ConnectionRefused)"`), model.Transient, 0, "ConnectionRefused"},
		{"other", hello + `> {"type":"result","subtype":"error_during_execution","is_error":true,"errors":["a","b"]}` + "\n", model.Transient, 0, "a; b"},
		{"unheard of", hello + `> {"type":"result","subtype":"error_new","is_error":false}` + "\n", model.Transient, 0, "error_new"},
		{"a command's answer", hello + said("", "Unknown command") + `> {"type":"result","subtype":"success","result":"Unknown command"}` + "\n", model.Transient, 0, "without an answer of the model: Unknown command"},
		{"retry of what is hopeless", hello + `> {"type":"system","subtype":"api_retry","error_status":401,"error":"authentication_failed"}` + "\n", model.Auth, 401, "authentication_failed"},
		{"initialization", `> {"type":"control_response","response":{"subtype":"error","request_id":"maker-initialize","error":"what?"}}` + "\n", model.Invalid, 0, "what?; install version"},
		{"missing tools", `> {"type":"system","subtype":"init","tools":["Extra"],"claude_code_version":"1.0"}` + "\n", model.Invalid, 0, "(version 1.0) offers the tools Extra, but was given none"},
		{"garbage", hello + "> hello\n", model.Transient, 0, `"hello" is not a JSON object`},
		{"garbage of a kind that is known", hello + `> {"type":"result","is_error":"yes"}` + "\n", model.Transient, 0, "is not as it should be"},
		{"long line", hello + "long 17000000\n", model.Transient, 0, "longer than 16 MB"},
		{"crash", hello + "2 one\n2 out of memory\nexit 3\n", model.Transient, 0, "it ended with exit code 3: one\nout of memory"},
		{"silent crash", "exit 0\n", model.Transient, 0, "it ended with exit code 0: it printed no reason"},
		{"killed", hello + "kill\n", model.Transient, 0, "it was ended by signal 9"},
		{"old version", "2 error: unknown option '--bare'\nexit 1\n", model.Invalid, 0, "unknown option '--bare'); install version"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			told := 0
			script := test.script
			if !strings.Contains(script, "exit") {
				script += "hang\n"
			}
			r, err := newFake(t, script, nil).Attempt(t.Context(), &agent.Task{Prompt: "hi", OnFault: func(*model.Error) bool { told++; return true }})
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != test.kind || e.Status != test.status || e.Provider != "claude-code" || !strings.Contains(e.Message, test.want) {
				t.Fatalf("Attempt(%s) = %+v, %v, want %s, %d with %q", test.name, r, err, test.kind, test.status, test.want)
			}
			if want := test.kind.Retryable(); (told == 1) != want || told > 1 {
				t.Errorf("Attempt(%s) told of %d faults, want one: %v", test.name, told, want)
			}
			if e.NotSent != (test.name == "connection") {
				t.Errorf("Attempt(%s).NotSent = %v", test.name, e.NotSent)
			}
		})
	}
}

func TestNoFurtherRetryIsWanted(t *testing.T) {
	const retry = `> {"type":"system","subtype":"api_retry","error_status":529,"error":"overloaded"}` + "\n"
	told := 0
	_, err := newFake(t, hello+retry+retry+retry+"hang\n", nil).Attempt(t.Context(), &agent.Task{Prompt: "hi", OnFault: func(*model.Error) bool {
		told++
		return told < 2
	}})
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Overloaded || len(e.Faults) != 1 || told != 2 {
		t.Errorf("Attempt(two retries are too many) = %v after %d faults, want the second with the first", err, told)
	}
}

func TestFaultsBeforeAnAnswer(t *testing.T) {
	const retry = `> {"type":"system","subtype":"api_retry","error_status":null,"error":"unknown"}` + "\n"
	r, err := newFake(t, hello+retry+answer42+success+"hang\n", nil).Attempt(t.Context(), &agent.Task{Prompt: "hi"})
	if err != nil || len(r.Faults) != 1 || r.Faults[0].Kind != model.Transient || r.Text != "42" {
		t.Errorf("Attempt(one retry) = %+v, %v, want the answer and the fault", r, err)
	}
}
