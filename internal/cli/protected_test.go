package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

// TestFlagsThatNameFiles: a flag that names a file says so, or is listed here.
func TestFlagsThatNameFiles(t *testing.T) {
	free := []string{
		"workspace", "readable", // what tools are for
		"attach", // shown to agents, who may be asked to edit it
		"html",   // written at the end, where the person says
	}
	about := regexp.MustCompile(`\b(file|folder|program,|model|models)\b`)
	root := (&app{}).root()
	for _, c := range append(root.Commands(), root) {
		for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				texts := f.Value.Type() == "string" || takesLists(f.Value)
				if texts && about.MatchString(f.Usage) && f.Name != "base-url" && f.Annotations[namesFiles] == nil && !slices.Contains(free, f.Name) {
					t.Errorf("%s --%s: %s: mark it with names, or say here why not", c.Name(), f.Name, f.Usage)
				}
			})
		}
	}
}

func TestFindProtected(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("HOME", dir)
	t.Setenv("MAKER_ANSWERS", "answers.yaml")
	if err := os.WriteFile(configName, []byte("red_flags: flags.yaml\nprompts_dir: p\nvoters: sim/default?script=a.yaml@0.5,sim/default?script=b.yaml\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	root := (&app{}).root()
	cmd, _, err := root.Find([]string{"tools", "call"})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.ParseFlags([]string{"--mcp-config", "mcp.json", "--log-dir", "logs"}); err != nil {
		t.Fatal(err)
	}
	files, err := loadSettings(cmd, map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	got := findProtected(cmd, files)
	if here, err := os.Getwd(); err == nil {
		dir = here // without links
	}
	for _, want := range []string{"maker.yaml", "flags.yaml", "p/planner_system.tmpl", "a.yaml", "b.yaml", "answers.yaml", "mcp.json"} {
		if !slices.Contains(got.files, filepath.Join(dir, filepath.FromSlash(want))) {
			t.Errorf("findProtected() = %q, want %s among them", got.files, want)
		}
	}
	if want := filepath.Join(dir, "logs"); !slices.Contains(got.own, want) {
		t.Errorf("findProtected() has %q of our own, want %s among them", got.own, want)
	}
	if slices.Contains(got.files, filepath.Join(dir, "format")) {
		t.Error("findProtected() takes the name of red flags for a file")
	}
}
