package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/internal/cli/settingsfile"
)

// isolate gives a test an empty working folder, an empty configuration folder
// and no variables of ours. It returns the user's configuration file.
func isolate(t *testing.T) string {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "MAKER_") {
			t.Setenv(name, "")
		}
	}
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, home)
	}
	t.Chdir(t.TempDir())
	dir, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "maker", settingsfile.Name)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// load parses a command line and fills in the settings, as a command does before
// it runs.
func load(t *testing.T, args ...string) (*cobra.Command, error) {
	t.Helper()
	a := &app{Streams: Streams{Err: io.Discard}, sources: map[string]string{}}
	root := a.root()
	cmd, rest, err := root.Find(args)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Fatal(err)
	}
	return cmd, a.loadSettings(cmd)
}

func TestSettingsPrecedence(t *testing.T) {
	user := isolate(t)
	write(t, user, "ahead_by: 2\nspare: 2\nmax_calls: 2\nbatch_size: 2\n")
	write(t, settingsfile.Name, "# settings of this folder\nahead_by: 3\nspare: 3\nmax_calls: 3\nquiet: true\nlog-dir: \"there\"\n")
	t.Setenv("MAKER_AHEAD_BY", "4")
	t.Setenv("MAKER_SPARE", "4")
	cmd, err := load(t, "hanoi", "--ahead-by=5")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ahead-by": "5", "spare": "4", "max-calls": "3", "batch-size": "2", "max-faults": "20", "quiet": "true", "log-dir": "there",
	} {
		if got := cmd.Flag(name).Value.String(); got != want {
			t.Errorf("--%s = %s, want %s", name, got, want)
		}
	}
}

func TestSettingsWithoutFiles(t *testing.T) {
	isolate(t)
	cmd, err := load(t, "hanoi")
	if err != nil {
		t.Fatal(err)
	}
	if got := cmd.Flag("ahead-by"); got.Value.String() != "3" || got.Changed {
		t.Errorf("--ahead-by = %s, changed %t, want its default", got.Value, got.Changed)
	}
	for _, text := range []string{"", "\n", "# nothing yet\n"} {
		write(t, settingsfile.Name, text)
		if _, err := load(t, "hanoi"); err != nil {
			t.Errorf("settings %q = %v, want nil", text, err)
		}
	}
}

func TestSettingsErrors(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"unknown", "ahead_by: 3\ncolour: red\n", []string{"maker.yaml, line 2", `"colour"`, "docs/settings.md"}},
		{"misspelt", "ahed_by: 3\n", []string{"maker.yaml, line 1", `"ahed_by"`, "did you mean ahead_by?"}},
		{"misspelt with dashes", "max-ouput: 3\n", []string{"line 1", "did you mean max_output?"}},
		{"misspelt servers", "mcpservers: {}\n", []string{"line 1", "did you mean mcpServers?"}},
		{"twice by an older name", "ahead_by: 3\nvoting_k: 4\n", []string{"line 2", "ahead_by is set twice"}},
		{"of a command line only", "disks: 3\n", []string{"line 1", `"disks"`}},
		{"twice", "ahead_by: 3\nahead_by: 4\n", []string{"ahead_by"}},
		{"twice in two spellings", "ahead_by: 3\nahead-by: 4\n", []string{"line 2", "set twice"}},
		{"out of bounds", "\n\nahead_by: 0\n", []string{"maker.yaml, line 3", "--ahead-by", "at least 1"}},
		{"wrong kind", "ahead_by: many\n", []string{"line 1", "--ahead-by", "want a number"}},
		{"no value", "ahead_by:\n", []string{"line 1", "--ahead-by", "want a number"}},
		{"a list", "model: [a, b]\n", []string{"line 1", "model", "single value"}},
		{"a table", "model:\n  name: x\n", []string{"line 2", "model", "single value"}},
		{"no settings", "- ahead_by\n", []string{"line 1", "ahead_by: 3"}},
		{"text", "hello\n", []string{"line 1"}},
		{"no YAML", "ahead_by: [\n", []string{"maker.yaml"}},
		{"too long", "# " + strings.Repeat("x", 300<<10), []string{"maker.yaml", "too long"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			isolate(t)
			write(t, settingsfile.Name, test.text)
			_, err := load(t, "hanoi")
			if err == nil || exitCode(err) != exitUsage {
				t.Fatalf("settings %.40q = %v, want an error of usage", test.text, err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("settings %.40q = %q, want %q in it", test.text, err, part)
				}
			}
		})
	}
}

func TestSettingsErrorsElsewhere(t *testing.T) {
	user := isolate(t)
	write(t, user, "spare: -1\n")
	if _, err := load(t, "hanoi"); err == nil || !strings.Contains(err.Error(), user) {
		t.Errorf("a wrong file of the user = %v, want its path", err)
	}
	write(t, user, "")
	t.Setenv("MAKER_MAX_USD", "lots")
	if _, err := load(t, "hanoi"); err == nil || !strings.Contains(err.Error(), "MAKER_MAX_USD") || exitCode(err) != exitUsage {
		t.Errorf("MAKER_MAX_USD=lots = %v, want an error of usage that names it", err)
	}
	// What the command line says, it says: a variable is not even looked at.
	if cmd, err := load(t, "hanoi", "--max-usd=1"); err != nil || cmd.Flag("max-usd").Value.String() != "1" {
		t.Errorf("--max-usd=1 beside a wrong variable = %v, want nil", err)
	}
	if err := os.Mkdir(settingsfile.Name, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, "hanoi", "--max-usd=1"); err == nil || !strings.Contains(err.Error(), settingsfile.Name) {
		t.Errorf("a folder called %s = %v, want an error that names it", settingsfile.Name, err)
	}
}

// TestResumeKeepsTheSettingsOfTheRun: a variable or a file must not change a run
// that has its own settings.
func TestResumeKeepsTheSettingsOfTheRun(t *testing.T) {
	isolate(t)
	t.Setenv("MAKER_AHEAD_BY", "9")
	write(t, settingsfile.Name, "spare: 9\n")
	cmd, err := load(t, "resume", "some-run")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ahead-by", "spare"} {
		if cmd.Flag(name).Changed {
			t.Errorf("resume: --%s = %s, want it left to the run", name, cmd.Flag(name).Value)
		}
	}
}

// TestResumeFindsItsRuns: where the runs are is no setting of a run.
func TestResumeFindsItsRuns(t *testing.T) {
	isolate(t)
	write(t, settingsfile.Name, "log_dir: there\n")
	for _, args := range [][]string{{"runs"}, {"show", "x"}, {"replay", "x"}, {"resume", "x"}} {
		cmd, err := load(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := cmd.Flag("log-dir").Value.String(); got != "there" {
			t.Errorf("maker %s: --log-dir = %q, want that of %s", args[0], got, settingsfile.Name)
		}
	}
}

// TestOneFileServesAllCommands: a setting that a command does not have is not
// that command's business.
func TestOneFileServesAllCommands(t *testing.T) {
	isolate(t)
	write(t, settingsfile.Name, "ahead_by: 3\n")
	for _, name := range []string{"runs", "show", "replay", "doctor", "version", "sim"} {
		if _, err := load(t, name); err != nil {
			t.Errorf("maker %s with ahead_by in %s = %v, want nil", name, settingsfile.Name, err)
		}
	}
}

func TestMisspeltVariables(t *testing.T) {
	isolate(t)
	t.Setenv("MAKER_AHED_BY", "3")
	if _, err := load(t, "hanoi"); err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), "did you mean MAKER_AHEAD_BY?") {
		t.Errorf("MAKER_AHED_BY = %v, want an error of usage that names MAKER_AHEAD_BY", err)
	}
	t.Setenv("MAKER_AHED_BY", "")
	for _, fine := range []string{"MAKER_COMPAT_API_KEY", "MAKER_TEST_THING", "MAKER_HOUSE_OF_WINDSOR", "MAKER_VOTING_K"} {
		t.Setenv(fine, "3")
	}
	if cmd, err := load(t, "hanoi"); err != nil || cmd.Flag("ahead-by").Value.String() != "3" {
		t.Errorf("variables of others, and an older name = %v, want nil", err)
	}
}

func TestMisspeltFlags(t *testing.T) {
	isolate(t)
	for arg, want := range map[string]string{
		"--ahed-by=3":       "did you mean --ahead-by?",
		"--votingk=3":       "did you mean --voting-k?",
		"--quite":           "did you mean --quiet?",
		"--max-depth=3":     "about other kinds of run; see `maker solve --help`",
		"--quality-checks":  "about other kinds of run; see `maker hanoi --help`",
		"--xyzzy":           "see `maker hanoi --help`",
		"-Z":                "see `maker hanoi --help`",
		"--output-filename": "see `maker hanoi --help`",
	} {
		root := (&app{}).root()
		cmd, _, err := root.Find([]string{"hanoi"})
		if err != nil {
			t.Fatal(err)
		}
		err = cmd.FlagErrorFunc()(cmd, cmd.ParseFlags([]string{arg}))
		if err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "--") > 3 {
			t.Errorf("maker hanoi %s = %v, want %q", arg, err, want)
		}
	}
}
