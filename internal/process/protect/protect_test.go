package protect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func anything(Path) bool { return true }

func TestCovers(t *testing.T) {
	dir := Real(t.TempDir())
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write(t, at("maker.yaml"), "x")
	write(t, at("real/prices.yaml"), "x")
	write(t, at("runs/a/log"), "x")
	for link, target := range map[string]string{"conf": "real", "alias": "maker.yaml", "loop": "loop"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Link(at("maker.yaml"), at("hard")); err != nil {
		t.Skip(err)
	}
	s := New(dir, []string{"maker.yaml", "conf/prices.yaml", "late.yaml", "loop/x", "", dir, filepath.Dir(dir)}, []string{"runs"})
	for name, want := range map[string]bool{
		"maker.yaml": true, "alias": true, "hard": true, "conf/../maker.yaml": true, "conf": true, "conf/prices.yaml": true,
		"real/prices.yaml": true, "late.yaml": true, "LATE.yaml": true, "runs": true, "runs/a/log": true, "runs/new": true,
		"real": false, "real/other": false, "maker.yaml.bak": false, "runs2": false, "sub/maker.yaml": false, ".": false,
	} {
		if got := s.Covers(at(name)); got != want {
			t.Errorf("Covers(%s) = %t, want %t", name, got, want)
		}
	}
	if (*Set)(nil).Covers(at("maker.yaml")) {
		t.Error("a set of nothing covers something")
	}
}

// TestGuardsTogether: of two commands at once, the one that began after the change does
// not take it for what has to be.
func TestGuardsTogether(t *testing.T) {
	dir := Real(t.TempDir())
	file := filepath.Join(dir, "maker.yaml")
	write(t, file, "good")
	s := New(dir, []string{"maker.yaml"}, nil)
	begin := func() *Guard {
		g, err := s.Guard(dir, anything)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	first := begin()
	write(t, file, "evil")
	second := begin()
	if lines := first.End(); len(lines) != 1 || !strings.Contains(lines[0], "maker.yaml was changed") {
		t.Errorf("End() = %q, want a line about maker.yaml", lines)
	}
	if lines := second.End(); len(lines) != 0 {
		t.Errorf("End() = %q, want nothing: it is right again", lines)
	}
	if got := readFile(t, file); got != "good" {
		t.Errorf("maker.yaml = %q, want what was there first", got)
	}
	// What the person writes in between counts.
	write(t, file, "better")
	if lines := begin().End(); len(lines) != 0 || readFile(t, file) != "better" {
		t.Errorf("End() = %q, want nothing", lines)
	}
	if diff := cmp.Diff(map[string]*watched{}, shared.files, cmp.AllowUnexported(watched{})); diff != "" {
		t.Errorf("still watched: %s", diff)
	}
}

// TestGuardVague: what cannot be remembered is said to be changed, and left alone.
func TestGuardVague(t *testing.T) {
	dir := Real(t.TempDir())
	large := filepath.Join(dir, "large")
	write(t, large, "x")
	if err := os.Truncate(large, mostBytes+1); err != nil {
		t.Fatal(err)
	}
	g, err := New(dir, []string{"large"}, nil).Guard(dir, anything)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, mostBytes+2); err != nil {
		t.Fatal(err)
	}
	if lines := g.End(); len(lines) != 1 || !strings.Contains(lines[0], "cannot be put back") {
		t.Errorf("End() = %q, want a line that it cannot be put back", lines)
	}
}
