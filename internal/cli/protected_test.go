package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
)

// TestSettingsThatNameFiles: a setting that names a file says so, or is listed here.
func TestSettingsThatNameFiles(t *testing.T) {
	free := []string{
		"workspace", "readable", // what tools are for
		"attach", // shown to agents, who may be asked to edit it
	}
	about := regexp.MustCompile(`\b(file|folder|program,|model|models)\b`)
	for _, d := range config.Settings() {
		var c config.Config
		v := d.Value(&c)
		texts := v == nil || v.Type() == "text" || v.Type() == "list"
		if texts && about.MatchString(d.Help) && len(d.Choices) == 0 && d.Name != "base_url" && d.Name != "quality_checks" &&
			d.Names == config.Nothing && !slices.Contains(free, d.Name) {
			t.Errorf("%s: %s: say how it names files, or say here why not", d.Name, d.Help)
		}
	}
}

func TestFindProtected(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("HOME", dir)
	t.Setenv("MAKER_ANSWERS", "answers.yaml")
	if err := os.WriteFile(settingsfile.Name, []byte("red_flags: flags.yaml\nprompts_dir: p\nvoters: sim/default?script=a.yaml@0.5,sim/default?script=b.yaml\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a := &app{Streams: Streams{Err: io.Discard}, sources: map[string]string{}}
	root := a.root()
	cmd, _, err := root.Find([]string{"tools", "call"})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.ParseFlags([]string{"--mcp-config", "mcp.json", "--log-dir", "logs"}); err != nil {
		t.Fatal(err)
	}
	if err := a.loadSettings(cmd); err != nil {
		t.Fatal(err)
	}
	got := a.protected
	if here, err := os.Getwd(); err == nil {
		dir = here // without links
	}
	for _, want := range []string{"maker.yaml", "flags.yaml", "p/planner_system.tmpl", "a.yaml", "b.yaml", "answers.yaml", "mcp.json", "config/maker/tokens.json"} {
		if !slices.Contains(got.Files, filepath.Join(dir, filepath.FromSlash(want))) {
			t.Errorf("settingsfile.FindProtected() = %q, want %s among them", got.Files, want)
		}
	}
	if want := filepath.Join(dir, "logs"); !slices.Contains(got.Own, want) {
		t.Errorf("settingsfile.FindProtected() has %q of our own, want %s among them", got.Own, want)
	}
	if slices.Contains(got.Files, filepath.Join(dir, "format")) {
		t.Error("settingsfile.FindProtected() takes the name of red flags for a file")
	}
}
