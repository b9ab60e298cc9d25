package redflag

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestPresets(t *testing.T) {
	for name, c := range map[string]Config{"Format": Format(), "Default": Default(), "Strict": Strict(), "zero": {}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%s().Validate() = %v, want nil", name, err)
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Config
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("%s() through JSON %s = %+v, %v, want %+v", name, b, back, err, c)
		}
	}
	b, err := json.Marshal(Format())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"refusal":{"enabled":true},"excessive_length":{"enabled":true,"max_tokens":750},"truncated":{"enabled":true},"empty":{"enabled":true}}`
	if string(b) != want {
		t.Errorf("Format() as JSON = %s, want %s", b, want)
	}
	strict := reflect.ValueOf(Strict())
	for i := range strict.NumField() {
		if strict.Field(i).Kind() == reflect.Struct && !strict.Field(i).FieldByName("On").Bool() {
			t.Errorf("Strict() has %s off, want it on", strict.Type().Field(i).Name)
		}
	}
}

func TestFormatPresetIgnoresWords(t *testing.T) {
	c := Format()
	for _, text := range []string{"I'm sorry, but I can't help with that.", "[your name]", strings.Repeat("The answer is 42. ", 9), `{"a": 1,`} {
		if f := c.Check(&Answer{Text: text, OutputTokens: 20}); f != nil {
			t.Errorf("Format().Check(%q) = %v, want nil", text, *f)
		}
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		change func(c *Config)
		want   string
	}{
		{func(c *Config) { c.ExcessiveLength.MaxTokens = -1 }, "excessive_length.max_tokens is -1"},
		{func(c *Config) { c.ExcessiveLength.MaxChars = -2 }, "excessive_length.max_chars is -2"},
		{func(c *Config) { c.Empty.MinChars = -1 }, "empty.min_chars"},
		{func(c *Config) { c.AnswerFields = []string{"a", "b..c"} }, "answer_fields[1]"},
		{func(c *Config) { c.SelfContradiction.Corrections = -1 }, "self_contradiction.corrections"},
		{func(c *Config) { c.Repetition.Times = -1 }, "repetition.times"},
		{func(c *Config) { c.Repetition.MinWords = -1 }, "repetition.min_words"},
		{func(c *Config) { c.LowConfidence.Hedges = -1 }, "low_confidence.hedges"},
		{func(c *Config) { c.LowConfidence.Min = 30 }, "low_confidence.min is 30, want 0 to 1"},
		{func(c *Config) { c.LowConfidence.Min = math.NaN() }, "low_confidence.min"},
		{func(c *Config) { c.LowConfidence.Field = "a..b" }, "low_confidence.field"},
		{func(c *Config) { c.Refusal.Phrases = []string{"no", " \t"} }, "refusal.phrases[1] is blank"},
		{func(c *Config) { c.Refusal = RefusalCheck{On: true, Phrases: []string{"no"}} }, "refusal.words"},
		{func(c *Config) { c.MetaChatter.Phrases = []string{""} }, "meta_chatter.phrases[0]"},
		{func(c *Config) { c.Placeholder.Phrases = []string{""} }, "placeholder.phrases[0]"},
		{func(c *Config) { c.SelfContradiction.Phrases = []string{""} }, "self_contradiction.phrases[0]"},
		{func(c *Config) { c.LowConfidence.Phrases = []string{""} }, "low_confidence.phrases[0]"},
		{func(c *Config) { c.LowConfidence = LowConfidenceCheck{On: true, Phrases: []string{"no"}} }, "low_confidence.hedges"},
		{func(c *Config) { c.SchemaInvalid.Type = "map" }, `schema_invalid.type is "map", want one of string, number`},
		{func(c *Config) { c.SchemaInvalid.Fields = []Field{{"a", "string"}, {"b", "int"}} }, `schema_invalid.fields[1].type is "int"`},
		{func(c *Config) { c.SchemaInvalid.Fields = []Field{{"", "string"}} }, "schema_invalid.fields[0].path"},
		{func(c *Config) { c.SchemaInvalid.Fields = []Field{{"a[][]", "string"}} }, "schema_invalid.fields[0].path"},
		{func(c *Config) { c.MissingField.Required = []string{"a", "[].b"} }, "missing_field.required[1]"},
	}
	for _, tt := range tests {
		c := Strict()
		tt.change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Validate() = %v, want an error with %q", err, tt.want)
		}
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	c := Format()
	a := Answer{Text: longAnswer, Stop: "end", OutputTokens: 600, Value: json.RawMessage(`{"move": [1, 0, 2]}`)}
	if n := testing.AllocsPerRun(100, func() {
		if c.Check(&a) != nil {
			t.Fatal("flagged")
		}
	}); n != 0 {
		t.Errorf("Format().Check allocates %v times, want 0", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	hanoi := "The last move was disk 1, so the only other legal move is disk 2.\n" +
		"move = [2, 0, 2]\nnext_state = [[20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3], [1], [2]]"
	move := json.RawMessage(`{"move": [2, 0, 2]}`)
	for _, bench := range []struct {
		name   string
		config Config
		answer Answer
	}{
		{"format", Format(), Answer{Text: hanoi, Stop: "end", OutputTokens: 120, Value: move}},
		{"format/estimated", Format(), Answer{Text: longAnswer, Value: move}},
		{"default", Default(), Answer{Text: hanoi, Stop: "end", OutputTokens: 120, Value: move}},
		{"strict", Strict(), Answer{Text: hanoi, Stop: "end", OutputTokens: 120, Value: move}},
		{"strict/long", Strict(), Answer{Text: longAnswer, Stop: "end", OutputTokens: 600, Value: move}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if f := bench.config.Check(&bench.answer); f != nil {
					b.Fatal(*f)
				}
			}
		})
	}
}
