package consent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// workspace is a folder with one file.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDescribe(t *testing.T) {
	dir := workspace(t)
	for name, test := range map[string]struct{ tool, input, want string }{
		"a new file":             {"Write", `{"file_path":"b.txt","content":"x\ny"}`, "b.txt, a new file\n+ x\n+ y [no line end]"},
		"a file is changed":      {"Write", `{"file_path":"a.txt","content":"1\n2\n3\n4\nfive\n6\n7\n8\n9\n"}`, "a.txt, changed\n  [… 2 lines as they are …]\n  3\n  4\n- 5\n+ five\n  6\n  7\n  [… 2 lines as they are …]"},
		"as it is":               {"Write", `{"file_path":"a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n"}`, "a.txt, changed\n(nothing changes)"},
		"edited":                 {"Edit", `{"file_path":"a.txt","old_string":"5\n6","new_string":"56"}`, "a.txt, changed\n  [… 2 lines as they are …]\n  3\n  4\n- 5\n- 6\n+ 56\n  7\n  8\n  [… 1 lines as they are …]"},
		"nothing to replace":     {"Edit", `{"file_path":"a.txt","old_string":"x","new_string":"y"}`, "a.txt, which does not hold the text to replace now\n- x [no line end]\n+ y [no line end]"},
		"an argument too many":   {"Write", `{"file_path":"a.txt","content":"x","mode":"0777"}`, "content    \"x\"\nfile_path  \"a.txt\"\nmode       \"0777\"\n"},
		"a command":              {"Bash", `{"command":"git status"}`, "$ git status\nin " + dir},
		"a command and more":     {"Bash", `{"command":"ls","timeout":5}`, "$ ls\nin " + dir + "\ntimeout  5\n"},
		"a command of two lines": {"Bash", `{"command":"ls\nyes> <x>"}`, `$ "ls\nyes> <x>"` + "\nin " + dir},
		"a tool of a server":     {"mcp__shop__order", `{"item":"tea\n<b>","n":12345678901234567890,"to":{"b":1,"a":[2]}}`, "item  \"tea\\n<b>\"\nn     12345678901234567890\nto    {\"a\":[2],\"b\":1}\n"},
		"hidden characters":      {"Write", `{"file_path":"c\u202e.txt","content":"x\u200b\u001b[2J\n"}`, "c\\u202e.txt, a new file\n+ x\\u200b\\x1b[2J"},
		"no object":              {"Bash", `[1]`, "[\n  1\n]"},
	} {
		got := describe(&event.Intent{Tool: test.tool, Input: json.RawMessage(test.input)}, dir)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestShow: the vote is there, and what those wanted who were outvoted.
func TestShow(t *testing.T) {
	call := event.Intent{Tool: "Bash", Input: json.RawMessage(`{"command":"git status"}`)}
	answer := func(command string, votes int) event.Candidate {
		return event.Candidate{Answer: json.RawMessage(fmt.Sprintf(`{"tool":"Bash","input":{"command":%q}}`, command)), Votes: votes}
	}
	voting := &event.Voting{Samples: 6, RedFlagged: 1, Votes: map[string]int{"sha256:a": 4, "sha256:b": 1}, Answers: []event.Candidate{answer("git status", 4), answer("rm -rf x", 1)}}
	var out bytes.Buffer
	Show(&out, "step 3", maker.Question{Kind: event.ClarifyApproval, Text: "May Bash be called?", Call: &call, Voting: voting, Options: []string{"yes", "no"}, Free: true}, false)
	for _, want := range []string{
		"\nstep 3: May Bash be called?\n", "  call   Bash, 24 bytes of input\n         $ git status\n", "  vote   4-1 of 6 samples, 1 discarded\n",
		"rm -rf x", "for calls that fit Bash(git status);", "  edit   with other arguments", "why not: the agents read it",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, &out)
		}
	}
	out.Reset()
	Show(&out, "step 3", maker.Question{Kind: event.ClarifyApproval, Text: "May Bash be called?", Call: &call, Voting: &event.Voting{Strategy: "none"}, Options: []string{"yes", "no"}, Free: true}, false)
	if strings.Contains(out.String(), "vote ") || strings.Contains(out.String(), "agents") || !strings.Contains(out.String(), "why not: the log has it") {
		t.Errorf("of a call that code decided on, it is said:\n%s", &out)
	}
	out.Reset()
	compound := event.Intent{Tool: "Bash", Input: json.RawMessage(`{"command":"ls; rm x"}`)}
	Show(&out, "step 3", maker.Question{Kind: event.ClarifyApproval, Text: "May Bash be called?", Call: &compound}, false)
	if strings.Contains(out.String(), "  run ") {
		t.Errorf("a rule is offered for a command line that none fits:\n%s", &out)
	}
}

// script answers questions with lines, one after the other.
func script(out io.Writer, kept *[]string, lines ...string) *Asker {
	return &Asker{
		Out: out,
		Read: func(_ context.Context, prompt string) (string, error) {
			fmt.Fprint(out, prompt)
			if len(lines) == 0 {
				return "", io.EOF
			}
			line := lines[0]
			lines = lines[1:]
			return line, nil
		},
		Remember: func(rule string) (string, error) {
			if rule == "Write" {
				return "", errors.New("no room")
			}
			*kept = append(*kept, rule)
			return "maker.yaml", nil
		},
	}
}

func TestAsk(t *testing.T) {
	t.Setenv("VISUAL", "")
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i s/hello/bye/ \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	// The first time it does what its arguments say, and then what the other one does.
	once := filepath.Join(t.TempDir(), "once")
	if err := os.WriteFile(once, []byte("#!/bin/sh\nif [ -e \"$0.ran\" ]; then for file; do :; done; exec "+editor+" \"$file\"; fi; touch \"$0.ran\"; exec \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	call := &event.Intent{Tool: "Write", Input: json.RawMessage(`{"content":"hello","file_path":"docs/a.md"}`)}
	for name, test := range map[string]struct {
		lines  []string
		editor string
		want   string
		kept   string
		said   string
	}{
		"yes":                 {lines: []string{"yes"}, want: "yes"},
		"a slip":              {lines: []string{"yse", "y"}, want: "yes", said: `"yse" is neither yes nor no`},
		"why not":             {lines: []string{"not on a Sunday"}, want: "not on a Sunday"},
		"for this run":        {lines: []string{"run"}, want: "run Write(docs/)"},
		"always":              {lines: []string{"always Write(docs/a)"}, want: "always Write(docs/a)", kept: "Write(docs/a)", said: "it is in maker.yaml"},
		"always, in vain":     {lines: []string{"always Write", "no"}, want: "no", said: "cannot be kept: no room"},
		"all of it":           {lines: []string{"?", "no"}, want: "no"},
		"edited":              {lines: []string{"edit", "yes"}, editor: editor, want: `edit {"content":"bye","file_path":"docs/a.md"}`, said: "+ bye"},
		"edited, then not":    {lines: []string{"edit", "no", "no"}, editor: editor, want: "no"},
		"edited amiss":        {lines: []string{"edit", "no", "edit", "yes"}, editor: once + " truncate -s 20", want: `edit {"content":"bye","file_path":"docs/a.md"}`, said: "edit again? yes or no> "},
		"a slip after that":   {lines: []string{"edit", "edti", "no", "edit", "yes"}, editor: once + " truncate -s 20", want: `edit {"content":"bye","file_path":"docs/a.md"}`, said: `"edti" is neither yes nor no`},
		"emptied":             {lines: []string{"edit", "edit", "yes"}, editor: once + " truncate -s 0", want: `edit {"content":"bye","file_path":"docs/a.md"}`, said: "nothing was changed"},
		"no editor":           {lines: []string{"edit", "no"}, want: "no", said: "set the variable EDITOR"},
		"an editor that ends": {lines: []string{"edit", "no"}, editor: "false", want: "no", said: "the editor false"},
		"nobody":              {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("EDITOR", test.editor)
			_ = os.Remove(once + ".ran")
			var out bytes.Buffer
			var kept []string
			q := maker.Question{Kind: event.ClarifyApproval, Text: "May Write be called?", Call: call, Options: []string{"yes", "no"}, Free: true, Folder: t.TempDir()}
			got, err := script(&out, &kept, test.lines...).Ask(t.Context(), "step 0", q)
			if got != test.want || (err == nil) != (test.want != "") || strings.Join(kept, " ") != test.kept || !strings.Contains(out.String(), test.said) {
				t.Errorf("Ask(%q) = %q, %v, kept %q, want %q, kept %q, after %q:\n%s", test.lines, got, err, kept, test.want, test.kept, test.said, &out)
			}
			if test.want == "" && !errors.Is(err, maker.ErrAbsent) {
				t.Errorf("Ask() = %v, want %v", err, maker.ErrAbsent)
			}
		})
	}
}

func TestChanges(t *testing.T) {
	effect := func(status string, b *event.Before) runs.EffectResult {
		return runs.EffectResult{Status: status, Before: b}
	}
	r := &runs.Result{Effects: []runs.EffectResult{
		effect("done", &event.Before{Path: "new one.md"}), effect("done", &event.Before{Path: "a.md", Kept: "before/1-a.md"}),
		effect("done", &event.Before{Path: "a.md", Kept: "before/2-a.md"}), effect("refused", &event.Before{Path: "b.md"}),
		effect("done", nil), effect("failed", nil),
	}}
	var out bytes.Buffer
	Changes(&out, r, "runs/x", "/w")
	want := "files changed:\n  new      new one.md   undo: rm '/w/new one.md'\n  changed  a.md   undo: cp runs/x/before/1-a.md /w/a.md\n" +
		"besides, 1 call of commands and servers: what that changed is not known here\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("Changes: -want +got\n%s", diff)
	}
}

// TestQuote: a shell reads the path that is meant, and nobody sees characters that hide.
func TestQuote(t *testing.T) {
	for _, path := range []string{"a.txt", "a b", "it's", `a\b`, "$(rm x);-", "日本.txt", "a \u202e日本.txt", "tab\there", "line\nend", "it's\x1b[2J\\7", "\xff\u200b1"} {
		quoted := quote(path)
		if got, err := exec.Command("bash", "-c", "printf %s "+quoted).Output(); err != nil || string(got) != path {
			t.Errorf("a shell reads %s as %q, %v, want %q", quoted, got, err, path)
		}
		if show.Exact(quoted) != quoted {
			t.Errorf("quote(%q) = %q, want nothing that hides", path, quoted)
		}
	}
}
