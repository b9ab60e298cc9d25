package sim

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
)

func structured(prompt string, mode model.OutputMode) *model.Request {
	req := ask(prompt)
	req.Output = &model.OutputFormat{Mode: mode}
	return req
}

func TestStructured(t *testing.T) {
	m := newModel(t, "default?p=1")
	for _, test := range []struct{ prompt, want string }{
		{"Compute: 20 + 22", `{"answer": 42}`},
		{"Compute: 99999999999999999999 + 1", `{"answer": 100000000000000000000}`},
		{"Compute: 1 / 3", `{"answer": "1/3"}`},
		{"Compute: 1 / 0", `{"error": "This divides by zero, so there is no result."}`},
		{"Sort: [3, 1, 2]", `{"answer": [1, 2, 3]}`},
		{"Sort: []", `{"answer": []}`},
		{hanoiPrompt([][]int{{3, 2, 1}, {}, {}}, "none"), `{"move": [1, 0, 2], "next_state": [[3, 2], [], [1]]}`},
		{hanoiPrompt([][]int{{1, 2, 3}, {}, {}}, "none"), `{"error": "This state cannot be right: the strategy asks for a move that it does not allow. I give no move."}`},
	} {
		for _, mode := range []model.OutputMode{model.JSONSchema, model.JSONObject} {
			got := m.Answer(structured(test.prompt, mode)).Text
			if got != test.want || !json.Valid([]byte(got)) {
				t.Errorf("%s answer to %q = %s, want %s", mode, test.prompt, got, test.want)
			}
		}
	}
}

// TestStructuredSame compares structured answers with those in prose: which are
// right, wrong and malformed must not depend on the form.
func TestStructuredSame(t *testing.T) {
	for _, prompt := range []string{"Compute: 20 + 22", "Compute: 1 / 3", "Sort: [3, 1, 2]", hanoiPrompt(start(4), "none")} {
		const name = "default?p=0.6&malformed=0.2&overlong=0.1:50&rivals=3"
		prose, objects := newModel(t, name), newModel(t, name)
		pairs := map[string]string{}
		kinds := map[bool]int{}
		for range 400 {
			a := prose.Answer(ask(prompt))
			b := objects.Answer(structured(prompt, model.JSONSchema))
			text, object := strings.TrimLeft(strings.ReplaceAll(a.Text, "Wait, let me go over this once more before I settle on anything. ", ""), "\n"), strings.TrimSpace(b.Text)
			if was, ok := pairs[text]; ok && was != object {
				t.Errorf("%q is answered as %s and as %s, want one form of each answer", text, was, object)
			}
			pairs[text] = object
			if long := strings.HasPrefix(a.Text, "Wait"); long != (b.Usage.Output >= 50) {
				t.Errorf("%q rambles: %t, but as an object it has %d tokens", text, long, b.Usage.Output)
			}
			// The answer in the object is the one in the prose.
			sound := json.Valid([]byte(object)) && !strings.Contains(object, "explanation") && !strings.Contains(object, "null")
			for _, field := range strings.Split(text, "\n") {
				if key, value, ok := strings.Cut(field, " = "); ok && sound && !strings.Contains(object, `"`+key+`": `+value) && !strings.Contains(object, `"`+key+`": "`+value+`"`) {
					t.Errorf("object %s does not have %s", object, field)
				}
			}
			kinds[json.Valid([]byte(object))]++
		}
		if kinds[true] == 0 || !strings.HasPrefix(prompt, "Compute") && kinds[false] == 0 {
			t.Errorf("%.20q: %d objects are JSON and %d are not, want both", prompt, kinds[true], kinds[false])
		}
	}
}

func TestRefusedParameters(t *testing.T) {
	zero := 0.0
	greedy := func(name string) map[string]bool {
		m, texts := newModel(t, name), map[string]bool{}
		for range 50 {
			req := ask("Compute: 20 + 22")
			req.Temperature = &zero
			texts[m.Answer(req).Text] = true
		}
		return texts
	}
	if n := len(greedy("default?p=0.5")); n != 1 {
		t.Errorf("%d different greedy answers, want 1", n)
	}
	if n := len(greedy("default?p=0.5&refuse=temperature")); n != 2 {
		t.Errorf("%d different answers of a model that takes no temperature, want 2", n)
	}
	for _, test := range []struct {
		refuse       string
		mode         model.OutputMode
		isStructured bool
	}{
		{"", model.JSONSchema, true},
		{"schema", model.JSONSchema, true}, // a client falls back to an object
		{"object", model.JSONSchema, true},
		{"schema+object", model.JSONSchema, false},
		{"schema", model.JSONObject, true},
		{"object", model.JSONObject, false},
	} {
		text := newModel(t, "default?p=1&refuse="+test.refuse).Answer(structured("Compute: 20 + 22", test.mode)).Text
		if got := strings.HasPrefix(text, "{"); got != test.isStructured {
			t.Errorf("refuse=%s, %s: answer %q is structured: %t, want %t", test.refuse, test.mode, text, got, test.isStructured)
		}
	}
}
