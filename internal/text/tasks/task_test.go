package tasks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLineEnds: the end of a line is one, however it is written, and spaces that
// only look like spaces do not get in the way.
func TestLineEnds(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Task
	}{
		{"crlf", "- Add login\r\n- Run `make`\r\n", []Task{
			{Text: "Add login", Kind: Processing, Line: 1},
			{Text: "Run `make`", Kind: ToolCall, Command: "make", Line: 2},
		}},
		{"cr", "- a\r- b", []Task{{Text: "a", Kind: Processing, Line: 1}, {Text: "b", Kind: Processing, Line: 2}}},
		{"crlf in a fence", "```sh\r\nmake\r\n  lint\r\n```\r\n", []Task{
			{Text: "```sh\nmake\n  lint\n```", Kind: ToolCall, Command: "make\n  lint", Line: 1},
		}},
		{"byte order mark", "\ufeff# Plan\n- a", []Task{{Text: "a", Kind: Processing, Line: 2, Context: []string{"Plan"}}}},
		{"line separator", "- a\u2028- b", []Task{{Text: "a", Kind: Processing, Line: 1}, {Text: "b", Kind: Processing, Line: 2}}},
		{"no-break space after the bullet", "-\u00a0a\n1.\u00a0b", []Task{{Text: "a", Kind: Processing, Line: 1}, {Text: "b", Kind: Processing, Line: 2}}},
		{"no-break space in a command", "Run `echo a\u00a0b\tc`", []Task{{Text: "Run `echo a\u00a0b\tc`", Kind: ToolCall, Command: "echo a\u00a0b\tc", Line: 1}}},
		{"trailing space in a fence", "```sh\necho a \\ \n```", []Task{{Text: "```sh\necho a \\ \n```", Kind: ToolCall, Command: "echo a \\ ", Line: 1}}},
		{"a command that is no text", "Run `make \xff`", []Task{{Text: "Run `make \ufffd`", Kind: ToolCall, Line: 1}}},
		{"tab after a number", "1.\ta\n2.\tb", []Task{{Text: "a", Kind: Processing, Line: 1}, {Text: "b", Kind: Processing, Line: 2}}},
		{"lines are counted", "\n\na. Add it.\n\nThen b. Next,\nadd c.", nil},
	}
	for _, test := range tests {
		got := Split(test.text)
		if test.want == nil {
			var lines []int
			for _, task := range got {
				lines = append(lines, task.Line)
			}
			if diff := cmp.Diff([]int{3, 5, 5}, lines); diff != "" {
				t.Errorf("%s: Split(%q) has tasks on other lines: -want +got\n%s", test.name, test.text, diff)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: Split(%q): -want +got\n%s", test.name, test.text, diff)
		}
	}
}

func TestNew(t *testing.T) {
	tests := []struct {
		text    string
		kind    Kind
		command string
	}{
		{"Run `make test`", ToolCall, "make test"},
		{"Run `make test`?", Clarification, ""},
		{"$ make test", ToolCall, "make test"},
		{"```sh\nmake\n```", ToolCall, "make"},
		{"Rename `foo` to `bar`", ToolCall, ""},
		{"Write a poem", Processing, ""},
		{"", Processing, ""},
		{"Text\n\n> why?", Processing, ""},
		{"Text\n\n    why?\n", Processing, ""},
		{"Text\n\n\twhy?\n", Processing, ""},
		{"```\nwhy?\n```", ToolCall, ""},
		{"```sh\nmake\n```\nInstall the tools:", ToolCall, ""},
		{"Run:\n> `x`\n```sh\nmake\n```", ToolCall, ""},
		{"Run `" + strings.Repeat("y", 100) + " z`", ToolCall, strings.Repeat("y", 100) + " z"},
		{"Run ` make `", ToolCall, "make"},
		{"What;\u037e", Clarification, ""},
		{"Run: `sudo make install`", ToolCall, "sudo make install"},
		{"Run `sudo`", ToolCall, ""},
		{"Run `FOO=1`", ToolCall, ""},
		{"Run `Make`", ToolCall, ""},
		{"Run `a/b`", ToolCall, ""},
		{"`ls`", ToolCall, "ls"},
		{"`foo bar`", ToolCall, ""},
		{"Use `ls`", ToolCall, ""},
		{"Run `which`", ToolCall, ""},
		{"After that, please run `make`.", ToolCall, "make"},
		{"Run `make` to build and test it", ToolCall, ""},
		{"Run `make` to see", ToolCall, ""},
		{"Run `make`. Then look.", ToolCall, ""},
		{"Run `make`: it is slow", ToolCall, ""},
		{"Run `./a.sh <file> <out>`", ToolCall, ""},
		{"Run `ls \"...\"`", ToolCall, ""},
		{"Install the tools and test with `make`", ToolCall, ""},
		{"Test only if needed with `make`", ToolCall, ""},
	}
	for _, test := range tests {
		if got := New(test.text); got.Kind != test.kind || got.Command != test.command {
			t.Errorf("New(%q) = %s, %q, want %s, %q", test.text, got.Kind, got.Command, test.kind, test.command)
		}
	}
}

func TestTitle(t *testing.T) {
	tests := []struct{ text, want string }{
		{"Add login", "Add login"},
		{"Add\n  a  login\tpage", "Add a login page"},
		{"Add login\n\nQuestion: which?\nAnswer: this", "Add login"},
		{"```sh\nmake test\nmake lint\n```", "make test make lint"},
		{"```sh\n```", "```sh ```"},
		{"~~~\nmake", "make"},
		{strings.Repeat("word ", 40), strings.TrimSpace(strings.Repeat("word ", 16)) + "…"},
		{strings.Repeat("界", 100), strings.Repeat("界", 80) + "…"},
		{"", ""},
	}
	for _, test := range tests {
		if got := Title(test.text); got != test.want {
			t.Errorf("Title(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}
