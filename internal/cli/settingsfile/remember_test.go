package settingsfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithRule(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "allow:\n  - \"Write(docs/)\"\n",
		"# mine\nahead_by: 3 # votes\n":      "# mine\nahead_by: 3 # votes\nallow:\n  - \"Write(docs/)\"\n",
		"allow: Bash(ls)\n":                  "allow:\n  - \"Bash(ls)\"\n  - \"Write(docs/)\"\n",
		"allow:\n  - Bash(ls) # fine\nk: 3":  "allow:\n  - Bash(ls) # fine\n  - \"Write(docs/)\"\nk: 3\n",
		"allow:\n  - Write(docs/)\nquiet: 1": "allow:\n  - Write(docs/)\nquiet: 1\n",
	} {
		got, err := withRule([]byte(in), "Write(docs/)")
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("withRule(%q) = %v, -want +got\n%s", in, err, diff)
		}
	}
}

func TestRemember(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	var path string
	for _, rule := range []string{`Bash(echo "a: b" # c)`, "Write(docs/)", "Write(docs/)"} {
		var err error
		if path, err = Remember(rule); err != nil {
			t.Fatalf("Remember(%q) = %v", rule, err)
		}
	}
	f, err := Read(path)
	if diff := cmp.Diff([]string{`Bash(echo "a: b" # c)`, "Write(docs/)"}, f.Values["allow"].Texts); diff != "" || err != nil {
		t.Errorf("Read() = %v, -want +got\n%s", err, diff)
	}
	if err := os.WriteFile(path, []byte("no_such: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Remember("Write"); err == nil {
		t.Error("Remember(in a file that is wrong) = nil, want an error")
	}
}
