package tasks

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// texts returns every text of the split tests.
func texts(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, name := range []string{"prose", "lists", "kinds"} {
		archive, err := txtar.ParseFile("testdata/split/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			text, _, _ := strings.Cut(string(f.Data), "%%%%%\n")
			out = append(out, text)
		}
	}
	return out
}

// checkSplit holds the tasks of a text against what Split promises for any.
func checkSplit(t *testing.T, text string) {
	t.Helper()
	s := split(text)
	tasks := s.tasks()
	plain := normalise(text)

	at := 0 // everything before it has been found
	line := 0
	for i, task := range tasks {
		if strings.TrimFunc(task.Text, isBlank) == "" {
			t.Errorf("Split(%q): task %d has no text", text, i+1)
		}
		if task.Line < line || task.Line < 1 {
			t.Errorf("Split(%q): task %d is on line %d, after line %d", text, i+1, task.Line, line)
		}
		line = task.Line
		if task.Kind != Clarification && task.Kind != ToolCall && task.Kind != Processing {
			t.Errorf("Split(%q): task %d has kind %q", text, i+1, task.Kind)
		}
		// The tasks come in the order of the text, each line of them as written.
		for row := range strings.SplitSeq(task.Text, "\n") {
			row = strings.TrimFunc(row, isBlank)
			j := strings.Index(plain[at:], row)
			if j < 0 {
				t.Fatalf("Split(%q): task %d: %q is not in the text after %q", text, i+1, row, plain[:at])
			}
			at += j + len(row)
		}
		// A command is in the text byte for byte, but for the indentation.
		for row := range strings.SplitSeq(task.Command, "\n") {
			if !strings.Contains(plain, row) {
				t.Errorf("Split(%q): task %d: command line %q is not in the text", text, i+1, row)
			}
		}
		if alone := New(task.Text); alone.Kind != task.Kind || task.Command != "" && alone.Command != task.Command {
			t.Errorf("New(%q) = %s, %q, want %s, %q", task.Text, alone.Kind, alone.Command, task.Kind, task.Command)
		}
	}

	// Nothing is lost and nothing is made up: tasks, what is context only, and
	// marks make up the text.
	count := map[rune]int{}
	add := func(text string, n int) {
		for _, r := range text {
			if !isBlank(r) {
				count[r] += n
			}
		}
	}
	add(plain, 1)
	for _, task := range tasks {
		add(task.Text, -1)
	}
	for _, kept := range s.kept {
		add(kept, -1)
	}
	for _, mark := range s.dropped {
		add(mark, -1)
		if !isMark(mark) {
			t.Errorf("Split(%q) drops %q, want marks only", text, mark)
		}
	}
	for r, n := range count {
		if n != 0 {
			t.Errorf("Split(%q): %q is there %+d times more in the text than in the tasks %s, above them %q and dropped %q", text, r, n, describe(tasks), s.kept, s.dropped)
		}
	}
	// What is context only is the context of some task.
	for _, kept := range s.kept {
		found := false
		for _, task := range tasks {
			for _, c := range task.Context {
				found = found || c == kept
			}
		}
		if !found {
			t.Errorf("Split(%q): %q is above no task", text, kept)
		}
	}
	if again := Split(text); cmp.Diff(tasks, again) != "" {
		t.Errorf("Split(%q) differs from one time to the next", text)
	}
}

// isMark reports whether what Split leaves out is a bullet, a number, a box, a
// ruler or a heading sign.
func isMark(s string) bool {
	for word := range strings.FieldsSeq(s) {
		word = strings.Trim(strings.ToLower(word), "[]()（）*.:-–—、．,;#=_~")
		switch {
		case word == "", word == "step", word == "task", word == "x", len(word) == 1:
		case strings.TrimFunc(word, func(r rune) bool { return unicode.IsDigit(r) || r == '.' }) == "":
		case strings.Trim(word, "ivx") == "", strings.Trim(word, hanDigits) == "":
		case strings.Trim(word, bullets+weakBullets+openBoxes+doneBoxes+"\uFE0F"+"①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳") == "":
		default:
			return false
		}
	}
	return true
}

// TestSplitKeepsTheText checks the promises for all texts of the tables, and for
// each of them cut off anywhere.
func TestSplitKeepsTheText(t *testing.T) {
	for _, text := range texts(t) {
		checkSplit(t, text)
		checkSplit(t, strings.ReplaceAll(text, "\n", "\r\n"))
		for i := 0; i < len(text); i += 5 {
			checkSplit(t, text[:i])
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
	}
	for _, text := range []string{"\xff", "\ufeff- a", "a\u2028b", "- [x]", "1.", "```", "$ ", "$ \\\n\\", "a:\n\n- \n  - ", "#", "~~~~", "1. a 2. b", "(1) add x (2) add y"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkSplit(t, text) })
}
