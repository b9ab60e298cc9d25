package approval

import (
	"encoding/json"
	"fmt"
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

// TestLinksHaveAnEnd: a path that leads through many links is followed, one that leads
// in circles is not.
func TestLinksHaveAnEnd(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return filepath.Join(dir, fmt.Sprint("link", i)) }
	for i := 1; i <= maxLinks+1; i++ { // link 0 is not there: it may be made
		if err := os.Symlink(fmt.Sprint("link", i-1), name(i)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Symlink("circle", filepath.Join(dir, "circle")); err != nil {
		t.Skip(err)
	}
	for _, test := range []struct {
		path, want string
		ok         bool
	}{
		{name(0), name(0), true}, {name(1), name(0), true}, {name(maxLinks), name(0), true},
		{name(maxLinks + 1), "", false}, {filepath.Join(dir, "circle"), "", false},
	} {
		if got, ok := follow(test.path); got != test.want || ok != test.ok {
			t.Errorf("follow(%s) = %s, %t, want %s, %t", test.path, got, ok, test.want, test.ok)
		}
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
