package yamlclean

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long a text may take, on a machine that is busy with other
// things. What is slow because it grows with the square takes far longer.
const patience = 10 * time.Second

// hostile are texts that are made to be slow, or to fill the memory. Each is of
// about the size given.
func hostile(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	nested := func(line string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.Repeat(" ", i) + line + "\n")
		}
		return b.String()
	}
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	bomb := "a: &a [x, x]\n"
	for i, last := 0, "a"; i < 26; i++ {
		next := fmt.Sprintf("b%d", i)
		bomb += fmt.Sprintf("%s: &%s [*%s, *%s]\n", next, next, last, last)
		last = next
	}
	var keys strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&keys, "k%d: 1, ", i)
	}
	merges := "a: &a {" + keys.String() + "}\n" + numbered("m%d: {<<: *a}\n")
	texts := map[string]string{
		"alias bomb": bomb,
		"merge bomb": merges[:min(len(merges), size)],
		"alias list": "a: &a " + strings.Repeat("x", size/4) + "\nb: [" + strings.Repeat("*a, ", size/8) + "]\n",
		"deep maps":  nested("a:"),
		"deep lists": nested("-"),
		"many keys":  numbered("k%d: v\n"),
		"long line":  "a: " + fill("x"),
		"long words": "a: " + fill("x y: "),
		"stairs":     nested("a: b: c"),
	}
	for _, s := range []string{
		"[", "{", "]", "}", "[]", "[{", "{}", "- ", "-", "? ", ": ", ":", "\"", "'", "\\", ",", "#", "# \n", "&a ", "*a ", "!a ", "%a\n", "@", "`", "|", ">", "\t", " ", "\n", "\r", "x", "“", "”",
		"a: ", "a:\n", "a: [\n", "a: {\n", "a: \"\n", "a: '\n", "a: |\n", "a: \"x\" y\n", "a: \"x \"y\" z\"\n", "a: b: c\n", "a: @\n", "a: *b\n", "a: &b c\n", "a: {{b}}\n", "a: [b] c\n", "a: “b: c”\n",
		"- a\n", "- a: b: c\n", "- x y: b: c\n", "- a\n - b\n", "a: b\n  c: d\n", "a: b\n   c d: e\n f\n", "a\nb: c\n", "a: \"b\",\n", "\ta: 1\n", "a:\n x y: z\n q\n",
		"```\n", "```yaml\n", "```yaml\na: b: c\n```\n", "~~~\nx\n", "---\n", "...\n", "Here is the plan:\n", "{'a': 'b\\'', ", "[\"a\"\n", "{\"a\": \"b \"c\" d\", ", "// x\n", "[1, // x\n", "/* ", "\"a\" \"", "'a' 'b", "\\\"", "a #b\n ", "\u2028", "\u00e9: ",
	} {
		texts[fmt.Sprintf("%.20q", s)] = fill(s)
		texts[fmt.Sprintf("a: b: c, %.20q", s)] = "a: b: c\n" + fill(s)
		texts[fmt.Sprintf("{, %.20q", s)] = "{" + fill(s)
	}
	return texts
}

// large are those that are also tried at 256 KB.
var large = []string{"alias bomb", "merge bomb", "alias list", "long line", `"["`, `"- "`, `"? "`, `"\""`, `a: b: c, "a\nb: c\n"`}

func TestHostileTexts(t *testing.T) {
	texts := hostile(1 << 10)
	if !raceDetector { // which is slow, and there are no goroutines
		texts = hostile(4 << 10)
		for name, text := range hostile(256 << 10) {
			if slices.Contains(large, name) {
				texts[name+", large"] = text
			}
		}
	}
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text := texts[name]
		start := time.Now()
		_, _ = JSON(text)
		loaded := time.Since(start)
		_, _ = Clean(text)
		if took := time.Since(start); took > patience {
			t.Errorf("%s: Load took %v, Clean took %v, want less than %v", name, loaded, took-loaded, patience)
		}
	}
}
