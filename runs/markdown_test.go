package runs

import (
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
)

// TestMarkdownIsSafe: whatever models, tools and servers wrote, result.md commands no
// terminal and has no link, HTML or heading of theirs outside of fences.
func TestMarkdownIsSafe(t *testing.T) {
	evil := "x\x1b[2J\u202e\u200b <img src=x onerror=a> [click](https://evil.example) | `code` \n# Heading\n```\n</pre>"
	r := &Result{
		Run: "exec-1", Kind: "exec", Task: evil, Status: event.StatusFailed, Reason: evil, Model: evil,
		Output: event.TextValue(evil),
		Steps:  []StepResult{{Step: 0, Title: evil, Output: event.TextValue(evil)}},
		Effects: []EffectResult{
			{Effect: "e", Step: 0, Tool: "Bash" + evil, Input: event.TextValue(evil), Status: EffectRefused, By: evil},
			{
				Effect: "f", Step: 7, Tool: "Bash" + evil, Input: event.TextValue(evil), Status: EffectRefused, By: evil,
				Voted: event.TextValue("other" + evil), Voting: event.Voting{Votes: map[string]int{evil: 5, "other" + evil: 2}},
			},
		},
		FailedStep: &FailedStep{Step: 7, Status: evil, Reason: evil},
		Sessions:   []event.Session{{Step: 1, Model: evil}},
	}
	text := r.Markdown()
	for _, c := range "\x1b\u202e\u200b" {
		if strings.ContainsRune(text, c) {
			t.Errorf("Markdown() has %U:\n%s", c, text)
		}
	}
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if mark := strings.TrimLeft(line, "`"); mark == "" && len(line) >= 3 && (fence == "" || line == fence) {
			if fence == "" {
				fence = line
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		plain := withoutCode(line)
		for _, bad := range []string{"<img", "[click](", "</pre"} {
			if at := strings.Index(plain, bad); at == 0 || at > 0 && plain[at-1] != '\\' {
				t.Errorf("Markdown() has %q outside of fences: %s", bad, line)
			}
		}
		if strings.HasPrefix(line, "# Heading") {
			t.Errorf("Markdown() has the heading %q", line)
		}
	}
	if fence != "" {
		t.Errorf("Markdown() leaves the fence %s open", fence)
	}
}

// withoutCode is a line without its spans of code.
func withoutCode(line string) string {
	var b strings.Builder
	for line != "" {
		start := strings.IndexByte(line, '`')
		if start < 0 {
			break
		}
		if start > 0 && line[start-1] == '\\' {
			b.WriteString(line[:start+1])
			line = line[start+1:]
			continue
		}
		mark := line[start : len(line)-len(strings.TrimLeft(line[start:], "`"))]
		end := strings.Index(line[start+len(mark):], mark)
		if end < 0 {
			break
		}
		b.WriteString(line[:start])
		line = line[start+len(mark)+end+len(mark):]
	}
	return b.String() + line
}
