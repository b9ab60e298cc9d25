package outline

import (
	"encoding/json"
	"testing"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/redflag"
)

func readerOf(t testing.TB, name, params string) domain.Reader {
	t.Helper()
	r, err := Readers().New(name, json.RawMessage(params))
	if err != nil {
		t.Fatalf("Readers().New(%s, %s) = %v", name, params, err)
	}
	return r
}

func TestResultReader(t *testing.T) {
	const asks = "call AskUserQuestion"
	for _, test := range []struct {
		text, value, key, flag string
	}{
		{"result: done", `{"result":"done"}`, `result "done"`, ""},
		{"result:   two   words\n", `{"result":"two   words"}`, `result "two words"`, ""},
		{"result: 42\ndetails: found in a.txt", `{"result":"42","details":"found in a.txt"}`, "result 42", ""},
		{"result: 4.20e1", `{"result":"4.20e1"}`, "result 42", ""},
		{"result: 42\ndetails: in other words", `{"result":"42","details":"in other words"}`, "result 42", ""},
		{"result: [b, a]\ndetails: {x: 1}", `{"result":"- b\n- a","details":"x: 1"}`, `result ["b","a"]`, ""},
		{`result: ""`, `{}`, `result ""`, ""},
		{"result: done\nneeds_clarification: null\ndetails: null", `{"result":"done"}`, `result "done"`, ""},
		{"result: done\nneeds_clarification: \"  \"", `{"result":"done"}`, `result "done"`, ""},
		{"needs_clarification: Which one?", `{"needs_clarification":"Which one?"}`, asks, ""},
		{"needs_clarification: Another?", `{"needs_clarification":"Another?"}`, asks, ""},
		{"{\"needs_clarification\": \"In JSON?\"}", `{"needs_clarification":"In JSON?"}`, asks, ""},
		{"result: x\nneeds_clarification: Both?", `{"needs_clarification":"Both?"}`, asks, ""},
		{"needs_clarification: [a]", "", "", redflag.SchemaInvalid},
		{"details: nothing else", "", "", redflag.MissingField},
		{"result: null", "", "", redflag.MissingField},
		{"error: there is no such file", "", "", "error"},
		{"result: null\nerror: {code: 404}", "", "", "error"},
		{"error: null", "", "", redflag.MissingField},
		{"error: ''", "", "", redflag.MissingField},
		{"error: false", "", "", redflag.MissingField},
		{"result: 3\nerror: one file could not be read", `{"result":"3"}`, "result 3", ""},
		{"- result: x", "", "", redflag.SchemaInvalid},
		{"done", "", "", redflag.SchemaInvalid},
		{"", "", "", redflag.SchemaInvalid},
		{"null", "", "", redflag.SchemaInvalid},
		{"result: 'x", "", "", redflag.SchemaInvalid},
	} {
		a, flag := readerOf(t, ResultReader, `{"ask":"AskUserQuestion"}`).Read(test.text)
		got := ""
		if flag != nil {
			got = flag.Name
		}
		if string(a.Value) != test.value || a.Key != test.key || got != test.flag {
			t.Errorf("Read(%q) = %s, key %q, flag %q, want %s, %q, %q", test.text, a.Value, a.Key, got, test.value, test.key, test.flag)
		}
	}
	if a, _ := readerOf(t, ResultReader, `{}`).Read("needs_clarification: Which?"); a.Key != "needs_clarification" {
		t.Errorf("Read(without a tool to ask with) has the key %q, want needs_clarification", a.Key)
	}
}

func FuzzResultReader(f *testing.F) {
	for _, text := range []string{"result: done\ndetails: x", "needs_clarification: Which?", "{\"result\": [1, {\"a\": null}]}", "result: |\n  a\n b", "```yaml\nresult: 1\n```"} {
		f.Add(text)
	}
	r := resultReader{Ask: "AskUserQuestion"}
	f.Fuzz(func(t *testing.T, text string) {
		a, flag := r.Read(text)
		if flag != nil {
			return
		}
		var got answer
		if err := json.Unmarshal(a.Value, &got); err != nil || a.Key == "" {
			t.Fatalf("Read(%q) = %s, key %q: %v", text, a.Value, a.Key, err)
		}
		if asks := got.Needs != ""; asks != (a.Key == askKey(r.Ask)) || asks && got.Result+got.Details != "" {
			t.Fatalf("Read(%q) = %s with the key %q: is that a question or a result?", text, a.Value, a.Key)
		}
		// What was read can be read again, and is the same vote if it is one value.
		again, flag := r.Read(string(a.Value))
		if got.Needs != "" && (flag != nil || again.Key != a.Key) {
			t.Fatalf("Read(%s) = %q, %v, want %q", a.Value, again.Key, flag, a.Key)
		}
	})
}
