package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// root is where release.sh is.
var root = filepath.Join("..", "..")

func TestReleaseRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no bash")
	}
	for _, version := range []string{"", "1.2", "latest", "1.2.3; true", "1.2.3+dirty"} {
		dir := filepath.Join(t.TempDir(), "dist")
		out, err := exec.Command("bash", filepath.Join(root, "release.sh"), version, dir).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "usage: ") {
			t.Errorf("release.sh %q = %s, %v, want how it is used", version, out, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("release.sh %q makes %s", version, dir)
		}
	}
}
