//go:build slow

package release

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// build runs the script of a source tree for this machine.
func build(t *testing.T, source, version string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command("bash", filepath.Join(source, "release.sh"), version, dir, runtime.GOOS+"/"+runtime.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("release.sh %s = %v: %s", version, err, out)
	}
	return dir
}

// TestRelease: the same source gives the same bytes wherever it is built, the checksums are
// right, and the program says its version.
func TestRelease(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "another", "place")
	copyTo(t, elsewhere)
	first, second := build(t, root, "v9.8.7"), build(t, elsewhere, "9.8.7")
	name := "maker_9.8.7_" + runtime.GOOS + "_" + runtime.GOARCH
	program, err := os.ReadFile(filepath.Join(first, name))
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(program)
	for _, dir := range []string{first, second} {
		sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
		if want := hex.EncodeToString(hash[:]) + "  " + name + "\n"; err != nil || string(sums) != want {
			t.Errorf("SHA256SUMS = %s, %v, want %s", sums, err, want)
		}
	}
	out, err := exec.Command(filepath.Join(first, name), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "maker 9.8.7, go") {
		t.Errorf("maker version = %s, %v, want 9.8.7", out, err)
	}
	if strings.Contains(string(program), mustAbs(t, root)) {
		t.Error("the program has the path of the source in it")
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// copyTo copies what a build needs: all Go files and what they embed.
func copyTo(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimPrefix(path, root))
		switch name := d.Name(); {
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "dist"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
