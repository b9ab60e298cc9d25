package configure

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
)

// TestTextIsAFile: what maker init writes is read, sets nothing, and has every setting with
// a value that it takes.
func TestTextIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), settingsfile.Name)
	read := func(text string) settingsfile.File {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := settingsfile.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := read(Text()); len(f.Values) > 0 {
		t.Errorf("maker init sets %v, want nothing", f.Values)
	}
	f := read(regexp.MustCompile(`(?m)^#([a-z_]+: \S.*)$`).ReplaceAllString(Text(), "$1"))
	for _, d := range config.Settings() {
		v, ok := f.Values[d.Name]
		if !ok {
			t.Errorf("maker init says nothing about %s", d.Name)
			continue
		}
		var c config.Config
		if place := d.Value(&c); place != nil && (v.Texts[0] != "" || d.Most > 0) {
			if err := place.Set(v.Texts[0]); err != nil {
				t.Errorf("%s: %s is no value that it takes: %v", d.Name, v.Texts[0], err)
			}
		}
	}
	for line := range strings.Lines(Text()) {
		if !strings.HasPrefix(line, "#") && line != "\n" {
			t.Errorf("a line is no comment: %s", line)
		}
	}
}
