package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/maker-mdap/maker/event"
)

// TestHolds: what an approval is bound to is what the person was shown of the file.
func TestHolds(t *testing.T) {
	const text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	write := event.Intent{Tool: "Write", Input: json.RawMessage(`{"file_path":"a.txt","content":"x"}`)}
	edit := event.Intent{Tool: "Edit", Input: json.RawMessage(`{"file_path":"a.txt","old_string":"8","new_string":"x"}`)}
	for name, test := range map[string]struct {
		intent  event.Intent
		was, is string // empty if there is no file
		same    bool
	}{
		"write, as it was":             {write, text, text, true},
		"write, one line changed":      {write, text, "one" + text[1:], false},
		"write, still no file":         {write, "", "", true},
		"write, a file appeared":       {write, "", text, false},
		"write, the file is gone":      {write, text, "", false},
		"edit, far from it":            {edit, text, "one" + text[1:], true},
		"edit, close to it":            {edit, text, text[:14] + "eight 8\n9\n", false},
		"edit, what follows it":        {edit, text, text + "10\n11\n12\n", false},
		"edit, far behind it":          {edit, text + "10\n11\n12\n", text + "10\n11\n12\n13\n", true},
		"edit, another place":          {edit, text, "8\n" + text, false},
		"edit, the text is gone":       {edit, text, "1\n", false},
		"edit, the text was not there": {edit, "1\n", "2\n", true},
	} {
		s := &stack{}
		s.policy.Workspace = t.TempDir()
		holds := func(text string) string {
			file := filepath.Join(s.policy.Workspace, "a.txt")
			_ = os.Remove(file)
			if text != "" {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			return s.holds(test.intent)
		}
		if was, is := holds(test.was), holds(test.is); was == "" || (was == is) != test.same {
			t.Errorf("%s: holds() = %q and then %q, want the same: %t", name, was, is, test.same)
		}
	}
	if got := (&stack{}).holds(event.Intent{Tool: "Bash", Input: json.RawMessage(`{"file_path":"a.txt"}`)}); got != "" {
		t.Errorf("holds(Bash) = %q, want nothing", got)
	}
}
