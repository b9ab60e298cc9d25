package sim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

// scripted makes a model that follows a script.
func scripted(t *testing.T, script, settings string) *Model {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return newModel(t, "default?script="+escape(file)+settings)
}

// agentScript reads a file, writes another if the first has a number in it, and
// says what it did.
const agentScript = `
- match: 'Copy (?P<file>\S+)'
  after: 0
  answers:
    - text: 'I read ${file}.'
      tool_calls:
        - {name: Read, input: {path: '${1}', limit: 10, when: 2026-01-02, nested: {also: ['${file}', 1.50, true, null]}}}
- match: 'Copy (\S+)'
  match_result: 'value (?P<n>\d+)'
  after: 1
  answers:
    - tool_calls:
        - {name: Write, input: {path: '${1}.bak', text: '${result.n}, ${result.0}'}}
        - {name: Note}
- match: 'Copy'
  after: 1
  answers: [{text: 'There is nothing to copy.'}]
- match: 'Copy'
  answers: [{text: 'Done after ${0}.'}]
- match_result: ''
  answers: [{text: 'I got a result.'}]
`

// turn is an assistant's turn and the results that answer its calls.
func turn(r *model.Response, results ...string) []model.Message {
	user := model.Message{Role: model.User}
	for i, text := range results {
		user.ToolResults = append(user.ToolResults, model.ToolResult{ID: r.ToolCalls[i].ID, Text: text})
	}
	return []model.Message{{Role: model.Assistant, Text: r.Text, ToolCalls: r.ToolCalls}, user}
}

func TestAgent(t *testing.T) {
	m := scripted(t, agentScript, "")
	req := ask("Copy a.txt")
	first := m.Answer(req)
	if first.Text != "I read a.txt." || first.Stop != model.StopToolUse || len(first.ToolCalls) != 1 || first.ToolCalls[0].Name != "Read" {
		t.Fatalf("first move = %+v, want a call of Read", first)
	}
	const input = `{"limit":10,"nested":{"also":["a.txt",1.5,true,null]},"path":"a.txt","when":"2026-01-02"}`
	if got := string(first.ToolCalls[0].Input); got != input {
		t.Errorf("input = %s, want %s", got, input)
	}
	if want := int64(len(first.Text)+len("Read")+len(input)+3) / 4; first.Usage.Output != want {
		t.Errorf("output tokens = %d, want %d", first.Usage.Output, want)
	}

	req.Messages = append(req.Messages, turn(first, "the value 42")...)
	second := m.Answer(req)
	var inputs []string
	for _, c := range second.ToolCalls {
		inputs = append(inputs, c.Name+string(c.Input))
	}
	if diff := cmp.Diff([]string{`Write{"path":"a.txt.bak","text":"42, value 42"}`, `Note{}`}, inputs); diff != "" || second.Text != "" {
		t.Errorf("second move, text %q: -want +got\n%s", second.Text, diff)
	}
	if in := int64(len("Copy a.txt")+len(first.Text)+len(first.ToolCalls[0].ID)*2+len("Read")+len(input)+len("the value 42")+3) / 4; second.Usage.Input != in {
		t.Errorf("input tokens = %d, want %d", second.Usage.Input, in)
	}

	req.Messages = append(req.Messages, turn(second, "ok", "ok")...)
	if third := m.Answer(req); third.Text != "Done after Copy." || third.Stop != model.StopEnd || third.ToolCalls != nil {
		t.Errorf("third move = %+v, want the end", third)
	}

	// Without the number it goes another way; a new prompt is a new task, whatever
	// came before it, and text in the same turn as results is the prompt.
	other := ask("Copy a.txt")
	other.Messages = append(other.Messages, turn(first, "no number")...)
	if got := m.Answer(other).Text; got != "There is nothing to copy." {
		t.Errorf("after another result = %q", got)
	}
	last := &other.Messages[len(other.Messages)-1]
	last.Text = "And now?"
	if got := m.Answer(other).Text; got != "I got a result." {
		t.Errorf("after a result with text = %q", got)
	}
	other.Messages = append(other.Messages, model.Message{Role: model.User, Text: "Compute: 1 + 1"})
	if got := lastLine(m.Answer(other).Text); got != "answer = 2" {
		t.Errorf("after a new prompt = %q", got)
	}
	other.Messages = append(other.Messages, model.Message{Role: model.User})
	if got := lastLine(m.Answer(other).Text); got != "answer = 2" {
		t.Errorf("after a turn without words = %q", got)
	}
}

// TestCallIDs checks that ids depend on seed, question and ordinal only.
func TestCallIDs(t *testing.T) {
	const script = `[{"answers": [{"tool_calls": [{"name": "a"}, {"name": "a"}]}]}]`
	ids := func(m *Model, prompt string, results ...string) []string {
		req := ask(prompt)
		for _, text := range results {
			req.Messages = append(req.Messages, model.Message{Role: model.User, ToolResults: []model.ToolResult{{ID: "any", Text: text}}})
		}
		var out []string
		for _, c := range m.Answer(req).ToolCalls {
			out = append(out, c.ID)
		}
		return out
	}
	m, again, other := scripted(t, script, ""), scripted(t, script, ""), scripted(t, script, "&seed=1")
	seen := map[string]bool{}
	for i, q := range [][]string{{"x"}, {"x"}, {"y"}, {"x", "1"}, {"x", "2"}, {"x", "1", "1"}} {
		got := ids(m, q[0], q[1:]...)
		if diff := cmp.Diff(got, ids(again, q[0], q[1:]...)); diff != "" {
			t.Errorf("question %d: ids of two models with one seed differ:\n%s", i, diff)
		}
		for _, id := range append(got, ids(other, q[0], q[1:]...)...) {
			if seen[id] || len(id) != len("call_")+16 {
				t.Errorf("question %d: id %s came before, or is no id", i, id)
			}
			seen[id] = true
		}
	}
	zero := 0.0
	greedy := ask("x")
	greedy.Temperature = &zero
	if a, b := m.Answer(greedy).ToolCalls[0].ID, m.Answer(greedy).ToolCalls[0].ID; a != b {
		t.Errorf("ids of greedy samples %s and %s differ", a, b)
	}
}

func TestSamplesOfMoves(t *testing.T) {
	const script = `
- match: x
  sequence: true
  answers: [{text: one}, {text: two}]
`
	m := scripted(t, script, "")
	var got []string
	for _, id := range []string{"call_a", "call_b", "call_c"} {
		r := m.Answer(ask("x"))
		req := ask("x")
		// Samples that saw the same are samples of the same question, whatever
		// the ids of their calls.
		req.Messages = append(req.Messages, model.Message{Role: model.User, ToolResults: []model.ToolResult{{ID: id, Text: "same"}}})
		got = append(got, r.Text+" "+m.Answer(req).Text)
	}
	if diff := cmp.Diff([]string{"one one", "two two", "two two"}, got); diff != "" {
		t.Errorf("samples of two moves: -want +got\n%s", diff)
	}
}

func TestCutCalls(t *testing.T) {
	const script = `[{"answers": [{"text": "12345678", "tool_calls": [{"name": "ab"}, {"name": "cdef", "input": {"x": "123"}}, {"name": "g"}]}]}]`
	m := scripted(t, script, "")
	for _, test := range []struct {
		most, text, calls int
		stop              model.StopReason
	}{
		{0, 8, 3, model.StopToolUse}, {100, 8, 3, model.StopToolUse}, {1, 4, 0, model.StopLength},
		{2, 8, 0, model.StopLength}, {3, 8, 1, model.StopLength}, {6, 8, 1, model.StopLength}, {7, 8, 2, model.StopLength},
	} {
		req := ask("x")
		req.MaxOutput = test.most
		r := m.Answer(req)
		if len(r.Text) != test.text || len(r.ToolCalls) != test.calls || r.Stop != test.stop || test.most > 0 && r.Usage.Output > int64(test.most) {
			t.Errorf("at most %d tokens: %d bytes of text, %d calls, stop %s, usage %+v, want %+v", test.most, len(r.Text), len(r.ToolCalls), r.Stop, r.Usage, test)
		}
	}
}

func TestParseToolCalls(t *testing.T) {
	const answer = "[{answers: [{tool_calls: [{name: a, input: %s}]}]}]"
	for _, test := range []struct{ script, want string }{
		{"[{match_result: '(', answers: [{text: a}]}]", "match_result"},
		{"[{after: -1, answers: [{text: a}]}]", "after is negative"},
		{"[{answers: [{text: a, stop: tool_use}]}]", "no tool_calls"},
		{"[{answers: [{tool_calls: [{input: {}}]}]}]", "tool call 1: the name is missing"},
		{"[{answers: [{tool_calls: [{name: a, arguments: {}}]}]}]", "arguments"},
		{"[{answers: [{text: '${result.1}'}]}]", "no group ${result.1}"},
		{"[{match_result: x, answers: [{text: '${result.1}'}]}]", "no group ${result.1}"},
		{fmt.Sprintf(answer, "{x: ['${1}']}"), "no group ${1}"},
		{fmt.Sprintf(answer, "{x: {1: 2}}"), "input"},
		{fmt.Sprintf(answer, "{x: .nan}"), "input"},
		{fmt.Sprintf(answer, "[1]"), "line 1"},
	} {
		if _, err := parseScript([]byte(test.script)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("parseScript(%s) = %v, want an error with %q", test.script, err, test.want)
		}
	}
	s, err := parseScript([]byte(`[{"answers": [{"tool_calls": [{"name": "a", "input": {"n": 12345678901234567890}}], "stop": "end"}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	m := s.find(&question{})
	a := m.answer(&decision{})
	if got := string(a.calls[0].Input); got != `{"n":12345678901234567890}` || a.stop != model.StopEnd {
		t.Errorf("input %s, stop %s, want the number as it is written and stop end", got, a.stop)
	}
}

// FuzzScript looks for scripts that pass the checks and then cannot be followed.
func FuzzScript(f *testing.F) {
	f.Add([]byte(agentScript), "Copy a.txt", "the value 7")
	f.Add([]byte(testScript), "capital of X", "")
	f.Add([]byte(capitalScript), "Look at it", "x\ny")
	f.Add([]byte(`[{"match": "(?s)(.*)", "right": {"text": "${1|field a.b|lines} ${1|json|count}"}}]`), "a: {b: [1, 2]}", "")
	f.Add([]byte(`[{"match": "(a)|b", "answers": [{"text": "${1}", "tool_calls": [{"name": "x", "input": {"y": ["${1}", 1]}}]}]}]`), "b", "")
	f.Fuzz(func(t *testing.T, script []byte, prompt, result string) {
		s, err := parseScript(script)
		if err != nil {
			return
		}
		for _, results := range [][]model.ToolResult{nil, {{Text: result}}, {{Text: result}, {Text: prompt}}} {
			m := s.find(&question{prompt: prompt, results: results, after: len(results)})
			if m.rule == nil {
				continue
			}
			for _, q := range []quality{right, wrong, malformed} {
				for _, c := range m.answer(&decision{quality: q}).calls {
					if !json.Valid(c.Input) {
						t.Errorf("input %s is not JSON", c.Input)
					}
				}
			}
		}
	})
}
