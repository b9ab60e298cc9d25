package links

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFollow: a path that leads through many links is followed, one that leads in
// circles is not.
func TestFollow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return filepath.Join(dir, fmt.Sprint("link", i)) }
	link := func(target, path string) {
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err)
		}
	}
	for i := 1; i <= most+1; i++ { // link 0 is not there: it may be made
		link(fmt.Sprint("link", i-1), name(i))
	}
	in := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	link("circle", in("circle"))
	if err := os.MkdirAll(in("a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(in("a/b"), in("absolute"))
	link("../gone/x", in("a/b/up"))
	for _, test := range []struct {
		path, to string
		through  int
		certain  bool
	}{
		{name(0), name(0), 0, true},
		{name(1), name(0), 1, true},
		{name(most), name(0), most, true},
		{name(most + 1), name(1), most, false},
		{in("circle"), in("circle"), most, false},
		{in("absolute/c"), in("a/b/c"), 1, true},
		{in("absolute/up/y"), in("a/gone/x/y"), 2, true},
		{in("a/.") + string(filepath.Separator) + "..", dir, 0, true},
		{in("absolute") + "/..//./b", in("a/b"), 1, true}, // of what the link leads to
	} {
		through, to, certain := Follow(test.path)
		if to != test.to || len(through) != test.through || certain != test.certain {
			t.Errorf("Follow(%s) = %d links, %s, %t, want %d, %s, %t", test.path, len(through), to, certain, test.through, test.to, test.certain)
		}
	}
	if through, _, _ := Follow(in("absolute/up/y")); !slices.Equal(through, []string{in("absolute"), in("a/b/up")}) {
		t.Errorf("Follow() leads through %q", through)
	}
}
