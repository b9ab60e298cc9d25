package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/model"
)

func inputs(yaml ...string) []prompts.Input {
	var list []prompts.Input
	for i, text := range yaml {
		list = append(list, prompts.Input{Name: fmt.Sprintf("step_%d_output", i), YAML: text})
	}
	return list
}

// TestStepByHead checks steps without tools.
func TestStepByHead(t *testing.T) {
	for _, test := range []struct {
		step prompts.ExecutorStep
		want string
	}{
		{prompts.ExecutorStep{Description: "Compute: (12 + 3) * 4.", Schema: "result: number, what it comes to"}, `{"result":60}`},
		{prompts.ExecutorStep{Description: "Please work this out.\nCompute: 7 * 6\nThank you.", Schema: "{answer: integer}"}, `{"answer":42}`},
		{prompts.ExecutorStep{Description: "compute: 1 / 3", Schema: "value: number"}, `{"value":"1/3"}`},
		{prompts.ExecutorStep{Description: "Compute: 1 / 0", Schema: "value: number"}, `{"error":"This divides by zero, so there is no result."}`},
		{prompts.ExecutorStep{Description: "sort: [3, 1, 2].", Schema: "sorted: list of integers, n: integer, how many"}, `{"n":3,"sorted":[1,2,3]}`},
		{prompts.ExecutorStep{Description: "Say hello.", Schema: "text: string, the greeting; words: integer; done: boolean"}, `{"done":true,"text":"Simulated: Say hello.","words":1}`},
		{prompts.ExecutorStep{Description: "Say hello.", Schema: "whatever you like"}, `{"result":"Simulated: Say hello."}`},
		{prompts.ExecutorStep{Description: "Say hello.", Schema: `{"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "array"}}}`}, `{"a":["Simulated: Say hello."],"b":"Simulated: Say hello."}`},
		{prompts.ExecutorStep{Description: "count the lines", Inputs: inputs("output: |\n  a\n  b b\n  c\nlines: 3"), Schema: "count: integer"}, `{"count":3}`},
		{prompts.ExecutorStep{Description: "How many words are there?", Inputs: inputs("output: |\n  a\n  b b\n  c\n"), Schema: "count: integer"}, `{"count":4}`},
		{prompts.ExecutorStep{Description: "count them per file", Inputs: inputs("matches: ['a.go:1:x', 'b.go:2:y', 'a.go:3:z']"), Schema: "counts: list of strings"}, `{"counts":["a.go: 2","b.go: 1"]}`},
		{prompts.ExecutorStep{Description: "add up both results", Inputs: inputs("result: 60", "result: 2.5"), Schema: "sum: number"}, `{"sum":62.5}`},
		{prompts.ExecutorStep{Description: "sort them", Inputs: inputs("list: [10, 9, 100]"), Schema: "sorted: list"}, `{"sorted":["9","10","100"]}`},
		{prompts.ExecutorStep{Description: "Write \"x\" to a.txt", Schema: "path: string"}, `{"error":"This needs a tool such as Write, which I do not have."}`},
		{prompts.ExecutorStep{Description: "# Tools\n\nfirst\n\n# Inputs\n\nCompute: 1 + 1\n\n# Answer\n\nno", Inputs: inputs("a: 1"), Schema: "n: integer"}, `{"n":2}`},
	} {
		for _, askTool := range []string{"", "AskUserQuestion"} {
			test.step.AskTool = askTool
			r := reply(t, newModel(t, "default?p=1"), test.step)
			if got := compact(r.Text); got != test.want || len(r.ToolCalls) > 0 {
				t.Errorf("step %q with %q = %s and %d calls, want %s", test.step.Description, test.step.Schema, got, len(r.ToolCalls), test.want)
			}
		}
	}
}

// calls are the calls of a response, each as Name{input}.
func calls(r *model.Response) string {
	var list []string
	for _, c := range r.ToolCalls {
		list = append(list, c.Name+string(c.Input))
	}
	return strings.Join(list, " ")
}

// TestStepCalls checks the first move of steps with tools.
func TestStepCalls(t *testing.T) {
	for _, test := range []struct {
		step prompts.ExecutorStep
		want string
	}{
		{prompts.ExecutorStep{Description: "Run `echo hello`", PrimaryTools: []string{"Bash"}, PrimaryInstructions: "Run this command: echo `date` 'x'\necho 2"}, `Bash{"command":"echo ` + "`date`" + ` 'x'\necho 2"}`},
		{prompts.ExecutorStep{Description: "Count.", PrimaryTools: []string{"Bash"}, PrimaryInstructions: "Run `wc -l notes.txt`."}, `Bash{"command":"wc -l notes.txt"}`},
		{prompts.ExecutorStep{Description: "Run ls -la.", PrimaryTools: []string{"Bash"}}, `Bash{"command":"ls -la"}`},
		{prompts.ExecutorStep{Description: "Append \"it's\" to `a b.txt`", PrimaryTools: []string{"Bash"}, PrimaryInstructions: `Append the text to the file "a b.txt".`}, `Bash{"command":"printf %s 'it'\\''s\n' >> 'a b.txt'"}`},
		{prompts.ExecutorStep{Description: "Show the notes.", PrimaryTools: []string{"Read"}, PrimaryInstructions: "Read the file at notes.txt."}, `Read{"file_path":"notes.txt"}`},
		{prompts.ExecutorStep{Description: "Read the file step_0_output.path", Inputs: inputs("path: x/y.md"), PrimaryTools: []string{"Read"}}, `Read{"file_path":"x/y.md"}`},
		{prompts.ExecutorStep{Description: "x", PrimaryTools: []string{"Grep", "Read"}, PrimaryInstructions: `Search for the pattern "a \"b\"" in "src".`}, `Grep{"output_mode":"content","path":"src","pattern":"a \"b\""}`},
		{prompts.ExecutorStep{Description: "Look for TODO comments.", PrimaryTools: []string{"Grep"}}, `Grep{"output_mode":"content","pattern":"TODO"}`},
		{prompts.ExecutorStep{Description: "x", PrimaryTools: []string{"Glob"}, PrimaryInstructions: `List the files that match "**/*.go".`}, `Glob{"pattern":"**/*.go"}`},
		{prompts.ExecutorStep{Description: "Write \"a, b\" to out.txt", Inputs: inputs("x: 1"), PrimaryTools: []string{"Write"}}, `Write{"content":"a, b\n","file_path":"out.txt"}`},
		{prompts.ExecutorStep{Description: "write the results to out.txt", Inputs: inputs("result: 60", "matches: [a, b]"), PrimaryTools: []string{"Write"}}, `Write{"content":"60\na\nb\n","file_path":"out.txt"}`},
		{prompts.ExecutorStep{Description: "Write hello world to out.txt", PrimaryTools: []string{"Write"}}, `Write{"content":"hello world\n","file_path":"out.txt"}`},
		{prompts.ExecutorStep{Description: "Fetch https://example.com/x.", PrimaryTools: []string{"WebFetch"}}, `WebFetch{"url":"https://example.com/x"}`},
		{prompts.ExecutorStep{Description: "x", PrimaryTools: []string{"mcp__a__b"}, PrimaryInstructions: `Call it with {"n": 1, "s": "x"} and wait.`}, `mcp__a__b{"n":1,"s":"x"}`},
		{prompts.ExecutorStep{Description: "x", PrimaryTools: []string{"mcp__a__b"}}, `mcp__a__b{}`},
		{prompts.ExecutorStep{Description: "Ask for the name.", AskTool: "AskUserQuestion"}, `AskUserQuestion{"question":"Ask for the name."}`},
		{prompts.ExecutorStep{Description: "Do the task.", AskTool: "AskUserQuestion"}, ``},
	} {
		test.step.Schema = "result: string"
		r := reply(t, newModel(t, "default?p=1"), test.step)
		if got := calls(r); got != test.want || (got != "") != (r.Stop == model.StopToolUse) {
			t.Errorf("step %q with %q calls %s, stop %s, want %s", test.step.Description, test.step.PrimaryInstructions, got, r.Stop, test.want)
		}
	}
}

// TestStepResults checks what becomes of the result of a tool.
func TestStepResults(t *testing.T) {
	for _, test := range []struct {
		step   prompts.ExecutorStep
		result model.ToolResult
		want   string
	}{
		{prompts.ExecutorStep{PrimaryTools: []string{"Bash"}, Schema: toolSchemas["Bash"]}, model.ToolResult{Text: "a\nb\n"}, `{"lines":2,"output":"a\nb"}`},
		{prompts.ExecutorStep{PrimaryTools: []string{"Bash"}, Schema: "count: integer"}, model.ToolResult{Text: "  12 notes.txt\n"}, `{"count":12}`},
		{prompts.ExecutorStep{PrimaryTools: []string{"Bash"}, Schema: "share: number, ok: bool"}, model.ToolResult{Text: "0.25\n"}, `{"ok":true,"share":0.25}`},
		{prompts.ExecutorStep{PrimaryTools: []string{"Bash"}, Schema: "n: integer, text: string, any: bool, list: list"}, model.ToolResult{Text: "[no output]"}, `{"any":false,"list":[],"n":0,"text":""}`},
		{prompts.ExecutorStep{PrimaryTools: []string{"Read"}, Schema: toolSchemas["Read"]}, model.ToolResult{Text: "     1\ta: b\n     2\t\tc\n"}, `{"lines":2,"text":"a: b\n\tc"}`},
		{prompts.ExecutorStep{PrimaryTools: []string{"Grep"}, Schema: toolSchemas["Grep"]}, model.ToolResult{Text: "a.go:1:x\nb.go:2:y: z\n"}, `{"count":2,"matches":["a.go:1:x","b.go:2:y: z"]}`},
		{prompts.ExecutorStep{Description: "Write \"x\" to a.txt", PrimaryTools: []string{"Write"}, Schema: toolSchemas["Write"]}, model.ToolResult{Text: "Wrote 2 bytes to a.txt."}, `{"message":"Wrote 2 bytes to a.txt.","path":"a.txt"}`},
		{prompts.ExecutorStep{PrimaryTools: []string{"Bash"}, Schema: "x: string"}, model.ToolResult{Text: "[exit code 1]", IsError: true}, `{"error":"[exit code 1]"}`},
	} {
		if test.step.Description == "" {
			test.step.Description = "Do it."
		}
		m := newModel(t, "default?p=1")
		req := ask(render(t, test.step))
		first := m.Answer(req)
		if len(first.ToolCalls) != 1 {
			t.Fatalf("step with %s makes %d calls", test.step.PrimaryTools, len(first.ToolCalls))
		}
		test.result.ID = first.ToolCalls[0].ID
		req.Messages = append(req.Messages, turn(first, "")...)
		req.Messages[2].ToolResults[0] = test.result
		if got := compact(m.Answer(req).Text); got != test.want {
			t.Errorf("after %q: %s, want %s", test.result.Text, got, test.want)
		}
	}
}

// TestFallback checks that the second tier is used once if the first fails.
func TestFallback(t *testing.T) {
	m := newModel(t, "default?p=1")
	req := ask(render(t, prompts.ExecutorStep{
		Description: "Show notes.txt", Schema: "text: string", PrimaryTools: []string{"Read"}, PrimaryInstructions: "Read notes.txt.",
		FallbackTools: []string{"Bash", "Grep"}, FallbackInstructions: "Run `cat notes.txt`.",
	}))
	for i, want := range []string{`Read{"file_path":"notes.txt"}`, `Bash{"command":"cat notes.txt"}`, `{"error":"no"}`} {
		r := m.Answer(req)
		got := calls(r)
		if got == "" {
			got = compact(r.Text)
		}
		if got != want {
			t.Errorf("move %d = %s, want %s", i, got, want)
		}
		if len(r.ToolCalls) == 1 {
			req.Messages = append(req.Messages, turn(r, "no")...)
			req.Messages[len(req.Messages)-1].ToolResults[0].IsError = true
		}
	}
}

// TestWrongCalls checks that a call that should not win does no harm if it does.
func TestWrongCalls(t *testing.T) {
	m := newModel(t, "default?p=0&rivals=3")
	got := map[string]bool{}
	for range 100 {
		got[calls(reply(t, m, prompts.ExecutorStep{Description: "x", PrimaryTools: []string{"Bash"}, PrimaryInstructions: "Run this command: rm -rf 'a b'; $(x)", Schema: "x: string"}))] = true
	}
	want := map[string]bool{
		`Bash{"command":"echo 'rm -rf '\\''a b'\\''; $(x)'"}`:     true,
		`Bash{"command":"echo 'rm -rf '\\''a b'\\''; $(x)' # 1"}`: true,
		`Bash{"command":"echo 'rm -rf '\\''a b'\\''; $(x)' # 2"}`: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong commands: -want +got\n%s", diff)
	}
	right := calls(reply(t, newModel(t, "default?p=1"), prompts.ExecutorStep{Description: "Write \"one two three\" to a.txt", PrimaryTools: []string{"Write"}, Schema: "x: string"}))
	wrong := calls(reply(t, m, prompts.ExecutorStep{Description: "Write \"one two three\" to a.txt", PrimaryTools: []string{"Write"}, Schema: "x: string"}))
	if wrong == right || !strings.Contains(wrong, `"file_path":"a.txt"`) {
		t.Errorf("wrong call of Write = %s, want another text for the same file than %s", wrong, right)
	}
	for _, tool := range []string{"Read", "Grep", "mcp__a__b"} {
		if r := reply(t, m, prompts.ExecutorStep{Description: "x", PrimaryTools: []string{tool}, Schema: "x: string"}); len(r.ToolCalls) > 0 || fieldsOf(r.Text) == nil {
			t.Errorf("wrong move with %s = %s %q, want an answer without a look", tool, calls(r), r.Text)
		}
	}
}

// TestMalformedSteps checks that no malformed answer can be read as it stands.
func TestMalformedSteps(t *testing.T) {
	m := newModel(t, "default?malformed=1")
	for _, d := range []prompts.Data{
		prompts.ExecutorStep{Description: "Compute: 1 + 1", Schema: "result: integer"},
		prompts.ExecutorStep{Description: "Sort: [2, 1]", Schema: "result: list"},
		prompts.ExecutorStep{Description: "Say \"hello\".", Schema: "text: string, n: integer"},
		prompts.ExecutorStep{Description: "Say hello.", PrimaryTools: []string{"Bash"}, Schema: "x: string"},
	} {
		texts := map[string]bool{}
		for range 40 {
			r := reply(t, m, d)
			texts[r.Text] = true
			if fieldsOf(r.Text) != nil || len(r.ToolCalls) > 0 {
				t.Errorf("malformed answer %q to %s is a mapping", r.Text, d.Prompt())
			}
		}
		if len(texts) != 3 {
			t.Errorf("%s: malformed answers %v, want 3", d.Prompt(), texts)
		}
	}
}

// TestLongResults checks that an answer keeps to its limit, whatever a tool says.
func TestLongResults(t *testing.T) {
	m := newModel(t, "default?p=1")
	for _, schema := range []string{"text: string", "lines: list of strings, count: integer, text: string"} {
		req := ask(render(t, prompts.ExecutorStep{Description: "x", PrimaryTools: []string{"Bash"}, Schema: schema}))
		req.MaxOutput = 750
		req.Messages = append(req.Messages, turn(m.Answer(req), strings.Repeat("some \"words\" of output\n", 5000))...)
		r := m.Answer(req)
		fields := fieldsOf(r.Text)
		if r.Stop != model.StopEnd || fields == nil || fields["count"] != nil && string(fields["count"]) != "5000" {
			t.Errorf("%s: stop %s, %d tokens, count %s, want a whole answer and 5000", schema, r.Stop, r.Usage.Output, fields["count"])
		}
	}
}

// TestStepVote checks how often an agent's moves are right over a whole step.
func TestStepVote(t *testing.T) {
	const n = 1000
	m := newModel(t, "default?p=0.8&rivals=3")
	right := 0
	for i := range n {
		req := ask(render(t, prompts.ExecutorStep{Description: fmt.Sprint("Step ", i), PrimaryTools: []string{"Bash"}, PrimaryInstructions: "Run this command: ls", Schema: "n: integer"}))
		first := m.Answer(req)
		if calls(first) != `Bash{"command":"ls"}` {
			continue
		}
		req.Messages = append(req.Messages, turn(first, "a\nb\n")...)
		if compact(m.Answer(req).Text) == `{"n":2}` {
			right++
		}
	}
	if !within(right, n, 0.8*0.8) {
		t.Errorf("%d of %d steps have both moves right, want a share of 0.64", right, n)
	}
}

func FuzzStep(f *testing.F) {
	f.Add("Count the lines", "output: |\n  a\n", "Run `x`", "count: integer", "1\ta\n", true)
	f.Add("Write it to a.txt", "a: [1, {b: c}]", "Write.", "{path: string}", "", false)
	f.Add("# Tools\n\nUse Bash. x", "&a [*a]", "{\"a\": {", "a: b: c, d", "\xff", true)
	f.Add("Ask me", "", "", "", "", false)
	m := newModel(f, "default?p=0.5&rivals=5")
	f.Fuzz(func(t *testing.T, description, input, instructions, schema, result string, tools bool) {
		step := prompts.ExecutorStep{Description: description, Inputs: inputs(input), PrimaryInstructions: instructions, Schema: schema, AskTool: "AskUserQuestion"}
		if tools {
			step.PrimaryTools = []string{[]string{"Bash", "Read", "Write", "Grep", "Glob", "WebFetch", "other"}[len(description)%7]}
		}
		req := ask(render(t, step))
		for range 3 {
			r := m.Answer(req)
			if len(r.ToolCalls) == 0 {
				if fieldsOf(r.Text) == nil {
					t.Errorf("answer %q is no mapping", r.Text)
				}
				return
			}
			req.Messages = append(req.Messages, turn(r, result)...)
		}
	})
}
