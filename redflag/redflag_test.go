package redflag

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/clip"
)

func TestNew(t *testing.T) {
	long := strings.Repeat("é", 500)
	tests := []struct {
		flag *Flag
		want string
	}{
		{New(SchemaInvalid, "want %d numbers, got %d", 3, 2), "want 3 numbers, got 2"},
		{New("illegal_move", "plain"), "plain"},
		{New(SchemaInvalid, "bad %q", "a\nb"), `bad "a b"`},
		{New(SchemaInvalid, "bad %s", []byte("a\x00b")), "bad a b"},
		{New(SchemaInvalid, "bad %s", json.RawMessage("a\xffb")), "bad a\uFFFDb"},
		{New(SchemaInvalid, "bad: %v", errors.New(long)), "bad: " + strings.Repeat("é", 79) + "…"},
		{New(SchemaInvalid, "%s", long), strings.Repeat("é", 79) + "…"},
		{New(SchemaInvalid, "%s", "short"), "short"},
		{New(SchemaInvalid, long), strings.Repeat("é", 239) + "…"},
	}
	for _, tt := range tests {
		if tt.flag.Reason != tt.want {
			t.Errorf("New(%s).Reason = %q, want %q", tt.flag.Name, tt.flag.Reason, tt.want)
		}
	}
}

func TestClipKeepsWhatFits(t *testing.T) {
	for _, s := range []string{"", "a", strings.Repeat("x", 10)} {
		if got := clip.Line(s, 10); got != s {
			t.Errorf("clip.Line(%q, 10) = %q, want it unchanged", s, got)
		}
	}
	if got, want := clip.Line(strings.Repeat("x", 11), 10), strings.Repeat("x", 9)+"…"; got != want {
		t.Errorf("clip of 11 characters = %q, want %q", got, want)
	}
}

func TestExcessiveLength(t *testing.T) {
	tokens := LengthCheck{On: true, MaxTokens: 750}
	chars := LengthCheck{On: true, MaxChars: 3000}
	both := LengthCheck{On: true, MaxTokens: 750, MaxChars: 3000}
	tests := []struct {
		name  string
		check LengthCheck
		a     Answer
		want  string // part of the reason, "" for no flag
	}{
		{"at the limit", tokens, Answer{OutputTokens: 750, Stop: "end"}, ""},
		{"over the limit", tokens, Answer{OutputTokens: 751, Stop: "end"}, "751 output tokens, limit 750"},
		{"over the limit and cut", tokens, Answer{OutputTokens: 751, Stop: "length"}, "751 output tokens"},
		{"the count beats the text", tokens, Answer{OutputTokens: 700, Text: strings.Repeat("word ", 5000)}, ""},
		{"the count beats a short text", tokens, Answer{OutputTokens: 800, Text: "42"}, "800 output tokens"},
		{"the count beats the stop reason", tokens, Answer{OutputTokens: 500, Stop: "length"}, ""},
		{"no count, cut", tokens, Answer{Stop: "length", Text: "42"}, "cut at the output limit"},
		{"no count, complete", tokens, Answer{Stop: "end", Text: strings.Repeat("word ", 5000)}, ""},
		{"neither, long", tokens, Answer{Text: strings.Repeat("word ", 601)}, "about 752 output tokens (estimated)"},
		{"neither, short", tokens, Answer{Text: strings.Repeat("word ", 600)}, ""},
		{"neither, negative count", tokens, Answer{OutputTokens: -1, Text: strings.Repeat("word ", 601)}, "estimated"},
		{"neither, long Chinese", tokens, Answer{Text: strings.Repeat("字", 751)}, "about 751"},
		{"neither, long Russian", tokens, Answer{Text: strings.Repeat("ы", 1502)}, "about 751"},
		{"neither, short Russian", tokens, Answer{Text: strings.Repeat("ы", 1500)}, ""},
		{"the default", LengthCheck{On: true}, Answer{OutputTokens: 751}, "limit 750"},
		{"another limit", LengthCheck{On: true, MaxTokens: 10}, Answer{OutputTokens: 11}, "limit 10"},
		{"characters only", chars, Answer{OutputTokens: 5000, Stop: "end", Text: strings.Repeat("x", 3000)}, ""},
		{"too many characters", chars, Answer{Stop: "end", Text: strings.Repeat("x", 3001)}, "3001 characters, limit 3000"},
		{"characters are not bytes", chars, Answer{Stop: "end", Text: strings.Repeat("字", 3000)}, ""},
		{"both, tokens first", both, Answer{OutputTokens: 900, Text: strings.Repeat("x", 4000)}, "900 output tokens"},
		{"both, characters", both, Answer{OutputTokens: 700, Text: strings.Repeat("x", 4000)}, "4000 characters"},
		{"off", LengthCheck{MaxTokens: 1}, Answer{OutputTokens: 900, Stop: "length"}, ""},
	}
	for _, tt := range tests {
		c := Config{ExcessiveLength: tt.check}
		f := c.Check(&tt.a)
		switch {
		case tt.want == "" && f != nil:
			t.Errorf("%s: Check = %v, want nil", tt.name, *f)
		case tt.want != "" && (f == nil || f.Name != ExcessiveLength || !strings.Contains(f.Reason, tt.want)):
			t.Errorf("%s: Check = %v, want %s with %q", tt.name, f, ExcessiveLength, tt.want)
		}
	}
}

func TestEstimateTokens(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "a": 1, "abcd": 1, "abcde": 2, "ыы": 1, "字字": 2, "😀": 1, "\xff": 1} {
		if got := EstimateTokens(text); got != want {
			t.Errorf("EstimateTokens(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestEmpty(t *testing.T) {
	c := Config{Empty: EmptyCheck{On: true}}
	for _, text := range []string{"", " ", "\n\t\r\n", "\u00a0\u3000", "\ufeff", "\u200b\u200d", "\u2060", "\u2800", "\u3164", "\x00\x01", "\u202e", "\ufe0f"} {
		if f := c.Check(&Answer{Text: text}); f == nil || f.Name != Empty {
			t.Errorf("Check(%q) = %v, want %s", text, f, Empty)
		}
	}
	for _, text := range []string{"0", ".", " x ", "\ufeff5", "字", "ا", "😀", "null", "{}", "\xff", "-", "½"} {
		if f := c.Check(&Answer{Text: text}); f != nil {
			t.Errorf("Check(%q) = %v, want nil", text, *f)
		}
	}
	c.Empty.MinChars = 3
	if f := c.Check(&Answer{Text: " a b "}); f == nil || f.Reason != "2 visible characters, want at least 3" {
		t.Errorf("Check(a b) with min_chars 3 = %v, want a flag", f)
	}
	if f := c.Check(&Answer{Text: " a b c"}); f != nil {
		t.Errorf("Check(a b c) with min_chars 3 = %v, want nil", *f)
	}
}

func TestRefusalByStopReason(t *testing.T) {
	c := Config{Refusal: RefusalCheck{On: true}}
	for text, want := range map[string]string{"": "the provider reports a refusal", " I will\nnot. ": "the provider reports a refusal: I will not."} {
		if f := c.Check(&Answer{Text: text, Stop: "refusal"}); f == nil || f.Name != Refusal || f.Reason != want {
			t.Errorf("Check(%q, stop refusal) = %v, want %s: %s", text, f, Refusal, want)
		}
	}
	for _, a := range []Answer{{Text: "I'm sorry, but I can't help with that."}, {Stop: "end"}, {Stop: "length"}} {
		if f := c.Check(&a); f != nil {
			t.Errorf("Check(%+v) = %v, want nil", a, *f)
		}
	}
}

// TestOrder gives one answer with every fault and switches the checks off one
// by one, in the documented order.
func TestOrder(t *testing.T) {
	text := "I can't help with that. Sure. As an AI language model, I say [your name]. <invoke name=x> I'm not sure. I don't know. Wait, no. " +
		strings.Repeat("The answer is 42. ", 5) + "[("
	steps := []struct {
		want string
		off  func(c *Config, a *Answer)
	}{
		{Refusal, func(c *Config, a *Answer) { a.Stop = "length" }},
		{ExcessiveLength, func(c *Config, a *Answer) { c.ExcessiveLength.On = false }},
		{Truncated, func(c *Config, a *Answer) { a.Stop = "" }},
		{Empty, func(c *Config, a *Answer) { c.Empty.MinChars = 0 }},
		{Truncated, func(c *Config, a *Answer) { c.Truncated.On = false }},
		{Refusal, func(c *Config, a *Answer) { c.Refusal.On = false }},
		{MetaChatter, func(c *Config, a *Answer) { c.MetaChatter.On = false }},
		{ToolLeakage, func(c *Config, a *Answer) { c.ToolLeakage.On = false }},
		{Placeholder, func(c *Config, a *Answer) { c.Placeholder.On = false }},
		{LowConfidence, func(c *Config, a *Answer) { c.LowConfidence.Hedges = 0 }},
		{SelfContradiction, func(c *Config, a *Answer) { c.SelfContradiction.On = false }},
		{Repetition, func(c *Config, a *Answer) { a.Text = "42" }},
		{SchemaInvalid, func(c *Config, a *Answer) { c.SchemaInvalid.On = false }},
		{MissingField, func(c *Config, a *Answer) { c.MissingField.On = false }},
		{LowConfidence, func(c *Config, a *Answer) { c.LowConfidence.On = false }},
		{Repetition, func(c *Config, a *Answer) { c.Repetition.On = false }},
	}
	c := Strict()
	c.Empty.MinChars = 100_000
	c.SchemaInvalid.Type = "array"
	c.MissingField.Required = []string{"answer"}
	value, err := json.Marshal(map[string]any{"confidence": 0.1, "text": text})
	if err != nil {
		t.Fatal(err)
	}
	a := Answer{Text: text, Stop: "refusal", OutputTokens: 10_000, Value: value}
	for i, s := range steps {
		f := c.Check(&a)
		if f == nil || f.Name != s.want {
			t.Fatalf("step %d: Check = %v, want %s", i, f, s.want)
		}
		s.off(&c, &a)
	}
	if f := c.Check(&a); f != nil {
		t.Errorf("Check with everything off = %v, want nil", *f)
	}
}

func TestZeroConfigFlagsNothing(t *testing.T) {
	var c Config
	if f := c.Check(&Answer{Stop: "refusal", OutputTokens: 1 << 40, Value: json.RawMessage("{")}); f != nil {
		t.Errorf("Config{}.Check = %v, want nil", *f)
	}
}

func TestNamesMatchTheConfig(t *testing.T) {
	fields := make(map[string]bool)
	for f := range reflect.TypeFor[Config]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if yaml, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); yaml != name {
			t.Errorf("field %s: yaml name %q, json name %q, want the same", f.Name, yaml, name)
		}
		if f.Type.Kind() == reflect.Struct { // a check
			fields[name] = true
		}
	}
	for _, name := range []string{
		SchemaInvalid, MissingField, ExcessiveLength, Repetition, MetaChatter, ToolLeakage, LowConfidence, SelfContradiction, Placeholder, Truncated, Empty, Refusal,
	} {
		if !fields[name] {
			t.Errorf("the flag %q is not a setting", name)
		}
		delete(fields, name)
	}
	if len(fields) > 0 {
		t.Errorf("the settings %v are no flags", fields)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("I'm sorry, but I can't help with that.", "", int64(0), []byte(`{"confidence": "12 %"}`))
	f.Add("[your name] {{name}} <insert", "end", int64(5), []byte(`{"steps":[{"title":"TODO"}]}`))
	f.Add(longAnswer, "length", int64(800), []byte(nil))
	f.Add("```\n“‘«「\"'`", "", int64(-1), []byte(`"\ud800"`))
	f.Add("答案是5。最终答案是6。", "refusal", int64(0), []byte("[1e999999999, -0.0, 1E-5]"))
	f.Add(strings.Repeat("ab. ", 40), "", int64(0), []byte("{"))
	f.Add("\xff\xfe answer = \x00", "", int64(0), []byte("\xff"))
	f.Fuzz(func(t *testing.T, text, stop string, count int64, value []byte) {
		c := Strict()
		c.Refusal.Phrases = []string{text}
		c.SchemaInvalid.Fields = []Field{{"steps[].title", "string"}, {"n", "integer"}}
		c.MissingField.Required = []string{"steps[].title"}
		short := c
		short.ExcessiveLength.On = false
		for _, c := range []*Config{&c, &short} {
			a := Answer{Text: text, Stop: stop, OutputTokens: count, Value: value}
			got := c.Check(&a)
			if again := c.Check(&a); !reflect.DeepEqual(got, again) {
				t.Fatalf("Check = %v, then %v", got, again)
			}
			checkReason(t, got)
		}
		// Each check alone, so that none hides behind an earlier one.
		for _, c := range []Config{
			{Refusal: short.Refusal}, {MetaChatter: MetaChatterCheck{On: true, Musings: true}}, {ToolLeakage: short.ToolLeakage},
			{Placeholder: PlaceholderCheck{On: true, Notes: true}},
			{SelfContradiction: short.SelfContradiction}, {Repetition: RepetitionCheck{On: true, Times: 1, MinWords: 1}},
			{LowConfidence: LowConfidenceCheck{On: true, Min: 1, Hedges: 1}}, {SchemaInvalid: short.SchemaInvalid}, {MissingField: short.MissingField},
		} {
			checkReason(t, c.Check(&Answer{Text: text, Value: value}))
		}
	})
}

func checkReason(t *testing.T, f *Flag) {
	t.Helper()
	if f == nil {
		return
	}
	if n := utf8.RuneCountInString(f.Reason); !utf8.ValidString(f.Reason) || n == 0 || n > maxReason {
		t.Fatalf("reason of %s = %q, want 1 to %d characters of valid UTF-8", f.Name, f.Reason, maxReason)
	}
}
