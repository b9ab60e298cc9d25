package approval

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/tool"
)

// TestAbsoluteRules: a rule may name a folder of the workspace by its full path, also
// where the workspace is given by a relative one.
func TestAbsoluteRules(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"docs", "docs2"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	full := func(name string) string { return filepath.ToSlash(filepath.Join(dir, name)) }
	for _, test := range []struct {
		prefix, path string
		want         bool
	}{
		{full("docs") + "/", "docs/a.md", true},
		{full("docs") + "/", full("docs/a.md"), true},
		{full("docs") + "/", "docs2/a.md", false},
		{full("docs") + "//", "docs2/a.md", false},
		{full("docs"), "docs2/a.md", true}, // it is how a path begins
		{full(".") + "/", "docs/a.md", true},
		{"docs/", full("docs/a.md"), true},
		{"docs/", full("docs2/a.md"), false},
		{full("docs") + "/", full("../a.md"), false},
	} {
		r, err := ParseRule("Write(" + test.prefix + ")")
		if err != nil {
			t.Fatal(err)
		}
		input, err := json.Marshal(map[string]string{"file_path": test.path})
		if err != nil {
			t.Fatal(err)
		}
		for _, workspace := range []string{dir, "."} {
			p := Policy{Mode: Mutate, Allow: []Rule{r}, Workspace: workspace}
			if got := !p.Decide(tool.Intent{Tool: "Write", Input: input}, tool.Mutate).Ask; got != test.want {
				t.Errorf("in %s: allow Write(%s) lets %s pass: %t, want %t", workspace, test.prefix, test.path, got, test.want)
			}
		}
	}
}

// TestTextsThatAreNoPaths: what no operating system opens is no path.
func TestTextsThatAreNoPaths(t *testing.T) {
	w := newWorkspace(t.TempDir())
	for _, test := range []struct {
		text string
		want bool
	}{
		{"a", true}, {strings.Repeat("a", longestPath), true}, {strings.Repeat("a", longestPath+1), false}, {"a\x00b", false},
	} {
		if _, got := w.absolute(test.text); got != test.want {
			t.Errorf("absolute(%d bytes) = %t, want %t", len(test.text), got, test.want)
		}
	}
	if _, ok := newWorkspace("").absolute("a"); ok {
		t.Error("absolute(a) without a workspace = true")
	}
}

// TestFolded: Windows drops dots and blanks at the end of a name; others do not.
func TestFolded(t *testing.T) {
	want := "A. /B.."
	if runtime.GOOS == "windows" {
		want = "A/B"
	}
	if got := folded("a. /b.."); got != want {
		t.Errorf("folded() = %q, want %q", got, want)
	}
}
