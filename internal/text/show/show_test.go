package show_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/show"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ in, text, line, exact string }{
		{"plain", "plain", "plain", "plain"},
		{"größer, 漢字, 🙂, é", "größer, 漢字, 🙂, é", "größer, 漢字, 🙂, é", "größer, 漢字, 🙂, é"},
		{"a\n\tb", "a\n\tb", "a  b", "a\n\tb"},
		{"a\r\nb\rc", "a\\r\nb\\rc", "a b c", "a\\r\nb\\rc"},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`},
		{"\x1b]0;title\x07", `\x1b]0;title\x07`, `\x1b]0;title\x07`, `\x1b]0;title\x07`},
		{"\u009b31m", `\u009b31m`, `\u009b31m`, `\u009b31m`},
		{"del\x7f\x00", `del\x7f\x00`, `del\x7f\x00`, `del\x7f\x00`},
		{"a\u202ecod.exe", `a\u202ecod.exe`, `a\u202ecod.exe`, `a\u202ecod.exe`},
		{"\u2066x\u2069\u061c", `\u2066x\u2069\u061c`, `\u2066x\u2069\u061c`, `\u2066x\u2069\u061c`},
		{"r\u200bm\u200d\u2060\ufeff\u00ad", `r\u200bm\u200d\u2060\ufeff\u00ad`, `r\u200bm\u200d\u2060\ufeff\u00ad`, `r\u200bm\u200d\u2060\ufeff\u00ad`},
		{"a\U000e0041\U000e0100", `a\U000e0041\U000e0100`, `a\U000e0041\U000e0100`, `a\U000e0041\U000e0100`},
		{"a\u3164b\u115f\u2800\u034f\u180b", `a\u3164b\u115f\u2800\u034f\u180b`, `a\u3164b\u115f\u2800\u034f\u180b`, `a\u3164b\u115f\u2800\u034f\u180b`},
		{"\xff\xc3(", `\xff\xc3(`, `\xff\xc3(`, `\xff\xc3(`},
		{"\ue000", `\ue000`, `\ue000`, `\ue000`},
		{"a\u2028b", `a\u2028b`, "a b", `a\u2028b`},
		{"rm\u00a0-rf", "rm\u00a0-rf", "rm\u00a0-rf", `rm\u00a0-rf`},
		{"⚠\ufe0f", "⚠\ufe0f", "⚠\ufe0f", `⚠\ufe0f`},
		{"rm\ufe0f", `rm\ufe0f`, `rm\ufe0f`, `rm\ufe0f`},
		{"\u0301x", `\u0301x`, `\u0301x`, `\u0301x`},
		{"e" + strings.Repeat("\u0301", 8), "e" + strings.Repeat("\u0301", 6) + `\u0301\u0301`, "e" + strings.Repeat("\u0301", 6) + `\u0301\u0301`, "e" + strings.Repeat("\u0301", 6) + `\u0301\u0301`},
		{"ls" + strings.Repeat(" ", 30000) + "; rm", "ls" + strings.Repeat(" ", 30000) + "; rm", "ls" + strings.Repeat(" ", 30000) + "; rm", "ls⟨30000 blanks⟩; rm"},
	} {
		if got := show.Text(c.in); got != c.text {
			t.Errorf("Text(%q) = %q, want %q", c.in, got, c.text)
		}
		if got := show.Line(c.in); got != c.line {
			t.Errorf("Line(%q) = %q, want %q", c.in, got, c.line)
		}
		if got := show.Exact(c.in); got != c.exact {
			t.Errorf("Exact(%q) = %q, want %q", c.in, got, c.exact)
		}
	}
}

func TestCall(t *testing.T) {
	for in, want := range map[string]string{
		`{"command":"ls"}`:                          "{\n  \"command\": \"ls\"\n}",
		`{"n":12345678901234567890,"f":1.50}`:       "{\n  \"n\": 12345678901234567890,\n  \"f\": 1.50\n}",
		`{"c":"a \u003cb\u003e \\u003c \n \u202e"}`: "{\n  \"c\": \"a <b> \\\\u003c \\n \\u202e\"\n}",
		"{\"c\":\"\u202e\u200b\"}":                  "{\n  \"c\": \"\\u202e\\u200b\"\n}",
		"no json \x1b":                              `no json \x1b`,
	} {
		if got := show.Call(json.RawMessage(in)); got != want {
			t.Errorf("Call(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCallLine(t *testing.T) {
	for _, c := range []struct{ tool, in, want string }{
		{"Bash", `{"command":"rm\u00a0-rf x"}`, `Bash $ rm\u00a0-rf x`},
		{"Bash", `{"command":"ls` + strings.Repeat(" ", 30000) + `; rm"}`, "Bash $ ls⟨30000 blanks⟩; rm"},
		{"Write", `{"file_path":"a\u00a0b","content":"x"}`, `Write a\u00a0b (1 bytes)`},
		{"Edit", `{"file_path":"a\u2003b"}`, `Edit a\u2003b`},
		{"fetch", `{"url":"x\u00a0y"}`, `fetch url: "x\u00a0y"`},
	} {
		if got := show.CallLine(c.tool, json.RawMessage(c.in)); got != c.want {
			t.Errorf("CallLine(%s, %.40s) = %q, want %q", c.tool, c.in, got, c.want)
		}
	}
}

func TestFold(t *testing.T) {
	note := func(missing, all int) string { return fmt.Sprintf("[%d of %d]", missing, all) }
	for _, in := range []string{"short", strings.Repeat("a", 22)} {
		if got := show.Fold(in, 10, 10, note); got != in {
			t.Errorf("Fold(%q) = %q, want it as it is", in, got)
		}
	}
	if got, want := show.Fold(strings.Repeat("ä", 50)+"ends", 10, 4, note), strings.Repeat("ä", 10)+"\n[40 of 54]\nends"; got != want {
		t.Errorf("Fold(a long text) = %q, want %q", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"Count the files":               "Count the files",
		"step_0_output, 5 > 3":          "step_0_output, 5 > 3",
		"[x](https://example.com) <b>":  `\[x\](https://example.com) \<b>`,
		"a | b\n# c ``` & ~~no~~ **x**": "a \\| b # c \\`\\`\\` \\& \\~\\~no\\~\\~ \\*\\*x\\*\\*",
		"<!-- \x1b[2J ![i](x) \u202e":   `\<!-- \\x1b\[2J !\[i\](x) \\u202e`,
	} {
		if got := show.Markdown(in); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := show.Fenced("a\n```\n\x1b[0m\n"), "````\na\n```\n\\x1b[0m\n````"; got != want {
		t.Errorf("Fenced() = %q, want %q", got, want)
	}
	if got, want := show.Code("a ` b\n\u202e"), "`` a ` b \\u202e ``"; got != want {
		t.Errorf("Code() = %q, want %q", got, want)
	}
}

// FuzzText: whatever comes in, what comes out can be seen.
func FuzzText(f *testing.F) {
	f.Add("a\x1b[31m\u202e\u200b\xff\n")
	f.Fuzz(func(t *testing.T, s string) {
		for name, got := range map[string]string{"Text": show.Text(s), "Line": show.Line(s), "Exact": show.Exact(s), "Markdown": show.Markdown(s)} {
			if !utf8.ValidString(got) {
				t.Errorf("%s(%q) = %q, which is no UTF-8", name, s, got)
			}
			for _, r := range got {
				if r == '\n' && name != "Line" && name != "Markdown" || r == '\t' && name != "Line" || r == '\ufe0f' {
					continue
				}
				if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Bidi_Control) {
					t.Errorf("%s(%q) = %q, which has %U", name, s, got, r)
				}
			}
		}
	})
}
