package redflag

import (
	"encoding/json"
	"testing"
)

func TestMusings(t *testing.T) {
	bad := []string{
		"I think it is 42.",
		"42, I think",
		"So I think that x is 3.",
		"Let me compute this: 42.",
		"Okay, let me see. It is 42.",
		"As an AI, I say 42.",
		"The result, as an AI would say, is 42.",
		"I believe the answer is Paris.",
	}
	good := []string{
		"42",
		"I think, therefore I am",
		"The sign says \"Let me in\".",
		"Please let me know by Friday.",
		"`let me := 1`",
		"Filet mignon, omelette",
		"He thinks that x is 3.",
		"The AI wins in 12 moves.",
		"Let x be 3.",
	}
	runTexts(t, Config{MetaChatter: MetaChatterCheck{On: true, Musings: true}}, MetaChatter, bad, good)
	c := Config{MetaChatter: MetaChatterCheck{On: true}}
	if f := c.Check(&Answer{Text: bad[0]}); f != nil {
		t.Errorf("Check(%q) without musings = %v, want nil", bad[0], *f)
	}
}

func TestToolLeakage(t *testing.T) {
	bad := []string{
		"<function_calls>\n<invoke name=\"Read\">",
		"42 <invoke name=\"x\">",
		`{"tool_calls": [{"name": "Read"}]}`,
		"<" + "antml:function_calls>",
		"<" + "antml:invoke name=\"x\">",
		"42</" + "antml:invoke>",
		"<" + "antml:parameter name=\"path\">a.txt",
		`{"type":"tool_use","name":"x"}`,
		`{"type": "function_call", "name": "x"}`,
		"The answer: { \"tool_calls\": [] }",
		"```\n<tool_call>\n```",
		"[TOOL_CALLS] [{}]",
		"<|tool_calls_begin|>",
	}
	good := []string{
		"42",
		"Invoke the function twice.",
		"The tool calls are listed below.",
		"x < invoke",
		`{"calls": []}`,
		`{"type":"tool","name":"hammer"}`,
		`<parameter name="timeout">30</parameter>`,
		"<xs:invoker>",
	}
	runTexts(t, Config{ToolLeakage: ToolLeakageCheck{On: true}}, ToolLeakage, bad, good)
}

func TestNotes(t *testing.T) {
	bad := []string{
		"The answer is TODO",
		"x = 3 (TODO: check)",
		"TODO add the third case to the list",
		"FIXME: this is not the right number",
		"The date is TBD.",
	}
	good := []string{
		"42",
		"es todo lo que hay",
		"```go\n// TODO: later\n```",
		"The comment says \"TODO\".",
		"x := f() // TODO",
		"METODO",
	}
	runTexts(t, Config{Placeholder: PlaceholderCheck{On: true, Notes: true}}, Placeholder, bad, good)
}

// What the question is about is no sign of anything.
func TestAskedWords(t *testing.T) {
	c := Config{MetaChatter: MetaChatterCheck{On: true, Musings: true}, ToolLeakage: ToolLeakageCheck{On: true}, Placeholder: PlaceholderCheck{On: true, Notes: true}}
	for _, test := range []struct{ asked, text string }{
		{"How many TODO comments are there?", "3 TODO comments"},
		{"Which tag holds a call: <invoke> or <call>?", "The tag <invoke>"},
		{"Finish the line: I think that I shall never see", "I think that I shall never see a poem lovely as a tree"},
	} {
		if f := c.Check(&Answer{Text: test.text, Asked: test.asked}); f != nil {
			t.Errorf("Check(%q) when asked %q = %v, want nil", test.text, test.asked, *f)
		}
		if f := c.Check(&Answer{Text: test.text, Asked: "What is it?"}); f == nil {
			t.Errorf("Check(%q) = nil, want a flag", test.text)
		}
	}
}

// The answer is what these checks look at, and not what is said beside it.
func TestAnswerFields(t *testing.T) {
	c := Config{
		MetaChatter: MetaChatterCheck{On: true, Musings: true}, ToolLeakage: ToolLeakageCheck{On: true},
		Placeholder: PlaceholderCheck{On: true, Notes: true}, SelfContradiction: SelfContradictionCheck{On: true},
		AnswerFields: []string{"solution", "answer", "parts[].answer"},
	}
	for text, flag := range map[string]string{
		"I think it is 4.":                    MetaChatter,
		"<function_calls>":                    ToolLeakage,
		"The answer is TODO":                  Placeholder,
		"The answer is 4. Wait, no. It is 5.": SelfContradiction,
	} {
		for _, shape := range []struct {
			value any
			want  string
		}{
			{map[string]any{"solution": text, "work_shown": "4"}, flag},
			{map[string]any{"answer": text}, flag},
			{map[string]any{"parts": []any{map[string]any{"answer": text}}}, flag},
			{map[string]any{"solution": "4", "work_shown": text}, ""},
			{map[string]any{"support": map[string]any{"answer": text}}, ""},
			{text, ""},
		} {
			raw, err := json.Marshal(shape.value)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			// The text has the same words in it, and is not the answer.
			if f := c.Check(&Answer{Text: "First this.\n\n" + text, Value: raw}); f != nil {
				got = f.Name
			}
			if got != shape.want {
				t.Errorf("Check(%s) = %q, want %q", raw, got, shape.want)
			}
		}
	}
}
