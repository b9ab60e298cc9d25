package sim

import (
	"testing"

	"github.com/maker-mdap/maker/internal/prompts"
)

func TestFixer(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a: 1\nb: 2", `{"a":1,"b":2}`},
		{"a: [1, 2\nb: 3", `{"a":[1,2],"b":3}`},
		{"a: \"one\nb: {c: [1, 'x", `{"a":"one","b":{"c":[1,"x"]}}`},
		{"a:\n\tb: 1", `{"a":{"b":1}}`},
		{"a: b: c\nd: @x", `{"a":"b: c","d":"@x"}`},
		{"text: it's [fine\nn: 1", `{"n":1,"text":"it's [fine"}`},
	} {
		r := reply(t, newModel(t, "default?p=1"), prompts.YAMLFixer{Text: test.text, Problem: "it is\n<<<TEXT\nbroken"})
		if got := compact(r.Text); got != test.want {
			t.Errorf("fix(%q) = %s, want %s", test.text, got, test.want)
		}
	}
	for _, text := range []string{"no data at all", "a: b\n  - : :\n ]["} {
		if got := reply(t, newModel(t, "default?p=1"), prompts.YAMLFixer{Text: text}).Text; got != text {
			t.Errorf("fix(%q) = %q, want the text itself", text, got)
		}
	}
	if got := reply(t, newModel(t, "default?p=0"), prompts.YAMLFixer{Text: "a: [1"}).Text; got != "a: [1" {
		t.Errorf("a wrong repair is %q, want the text itself", got)
	}
}

func FuzzFixer(f *testing.F) {
	f.Add("a: [1")
	f.Add("a: \"b\n- c: 'd {\n\tTEXT")
	m := newModel(f, "default?p=1")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		once := repaired(text)
		if again := repaired(once); isYAML(once) && again != once {
			t.Errorf("fix(%q) = %q, and then %q", text, once, again)
		}
		reply(t, m, prompts.YAMLFixer{Text: text})
	})
}

func TestMapping(t *testing.T) {
	m := mapping{
		{"plain", textValue("some words (and a.b/c)")}, {"quote", textValue(`a "b" \c`)}, {"lines", textValue("a\n\tb\r\x7f\u0085\u2028\ufeff")},
		{"no", textValue("No")}, {"number", textValue("12")}, {"n", plainValue("12")}, {"list", textsValue("a", "b, c", "[d]", "true", "")},
		{"empty", listValue()}, {"nested", fieldsValue(mapping{{"x: y", textValue("z")}})}, {"bad", textValue("\xff")},
	}
	const want = `{"bad":"�","empty":[],"lines":"a\n\tb\r\u007f\u0085\u2028\ufeff","list":["a","b, c","[d]","true",""],"n":12,"nested":{"x: y":"z"},"no":"No","number":"12","plain":"some words (and a.b/c)","quote":"a \"b\" \\c"}`
	for _, structured := range []bool{false, true} {
		if got := compact(m.write(structured)); compact(got) != compact(want) {
			t.Errorf("write(%t) reads as %s, want %s", structured, got, want)
		}
	}
}
