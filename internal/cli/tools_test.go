package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program runs the command line in a folder of its own.
func program(t *testing.T, input string, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Main(args, Streams{In: strings.NewReader(input), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestToolsList(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	code, out, errs := program(t, "", "tools")
	if code != 0 || !strings.Contains(errs, "sandbox: ") {
		t.Errorf("tools = %d, stderr %q, want 0 and what the sandbox is", code, errs)
	}
	var rows []string
	for line := range strings.Lines(out) {
		rows = append(rows, strings.Join(strings.Fields(line)[:3], " "))
	}
	want := []string{
		"TOOL CLASS SOURCE", "AskUserQuestion human builtin", "Bash mutate builtin", "Edit mutate builtin", "Glob pure builtin", "Grep pure builtin",
		"Read pure builtin", "WebFetch observe builtin", "WebSearch observe builtin", "Write mutate builtin",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("tools: -want +got\n%s", diff)
	}
	if !strings.Contains(out, "no: no search back end is configured") {
		t.Errorf("tools = %s, want WebSearch to be unavailable", out)
	}
	t.Setenv("MAKER_SEARCH_URL", "http://127.0.0.1:1/?q={query}")
	code, out, errs = program(t, "", "tools", "--json", "--tools", "WebSearch,Read")
	if code != 0 || errs != "" {
		t.Errorf("tools --json --tools = %d, stderr %q, want 0 and nothing about Bash", code, errs)
	}
	var names []string
	for line := range strings.Lines(out) {
		var listed listedTool
		if err := json.Unmarshal([]byte(line), &listed); err != nil || !listed.Available || len(listed.Schema) == 0 {
			t.Errorf("line %s: %v, want a tool that is available, with its schema", line, err)
		}
		names = append(names, listed.Name)
	}
	if diff := cmp.Diff([]string{"Read", "WebSearch"}, names); diff != "" {
		t.Errorf("tools --tools: -want +got\n%s", diff)
	}
}

func TestToolsCall(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	workspace := t.TempDir()
	for name, content := range map[string]string{"a.txt": "alpha\n", "runs": ""} {
		path := filepath.Join(workspace, name)
		var err error
		if content == "" {
			err = os.Mkdir(path, 0o755)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	in := []string{"--workspace", workspace, "--log-dir", filepath.Join(workspace, "runs")}
	tests := []struct {
		name  string
		args  []string
		input string
		code  int
		out   string // exactly, if the code is not 2
		err   string // a part
	}{
		{"pure", []string{"Read", `{"file_path":"a.txt"}`}, "", 0, "     1\talpha\n", ""},
		{"from stdin", []string{"Read", "-"}, `{"file_path":"a.txt"}`, 0, "     1\talpha\n", ""},
		{"json", []string{"--json", "Grep", `{"pattern":"alpha"}`}, "", 0, `{"text":"a.txt\n"}` + "\n", ""},
		{"json error", []string{"--json", "Read", `{"file_path":"b"}`}, "", 1, `{"text":"b does not exist","is_error":true}` + "\n", ""},
		{"result is an error", []string{"Read", `{"file_path":"/etc/passwd"}`}, "", 1, "/etc/passwd: it is outside the workspace " + workspace + "\n", ""},
		{"write", []string{"Write", `{"file_path":"b.txt","content":"x"}`}, "", 0, "Wrote 1 bytes to b.txt.\n", ""},
		{"the log", []string{"Write", `{"file_path":"runs/x","content":"x"}`}, "", 1, "runs/x is protected: no tool may change settings, what they name, or the log of a run\n", ""},
		{"bash", []string{"Bash", `{"command":"cat a.txt"}`, "--sandbox", "auto"}, "", 0, "alpha\n", "sandbox: "},
		{"bash, off", []string{"Bash", `{"command":"exit 3"}`, "--sandbox", "off"}, "", 1, "[exit code 3]\n", "sandbox: none"},
		{"quiet", []string{"Bash", `{"command":"true"}`, "-q"}, "", 0, "[no output]\n", ""},
		{"private address", []string{"WebFetch", `{"url":"http://127.0.0.1:1/"}`}, "", 1, `Get "http://127.0.0.1:1/": 127.0.0.1: 127.0.0.1: it is not a public address; only public ones are allowed here` + "\n", ""},
		{"human", []string{"AskUserQuestion", `{"question":"why?"}`}, "", 2, "", "asks the person"},
		{"unavailable", []string{"WebSearch", `{"query":"x"}`}, "", 2, "", "no search back end"},
		{"unknown", []string{"Nope", `{}`}, "", 2, "", "there is no such tool"},
		{"field", []string{"Read", `{"path":"a"}`}, "", 2, "", "path"},
		{"no JSON", []string{"Read", `a.txt`}, "", 2, "", "JSON"},
		{"no input", []string{"Read"}, "", 2, "", "NAME JSON"},
		{"wrong sandbox", []string{"Bash", `{"command":"true"}`, "--sandbox", "some"}, "", 2, "", "auto, strict or off"},
		{"no workspace", []string{"Read", `{"file_path":"a"}`, "--workspace", filepath.Join(workspace, "none")}, "", 2, "", "workspace"},
	}
	for _, test := range tests {
		args := append(append([]string{"tools", "call"}, in...), test.args...)
		code, out, errs := program(t, test.input, args...)
		if code != test.code || out != test.out || !strings.Contains(errs, test.err) || test.err == "" && errs != "" {
			t.Errorf("tools call %s = %d, stdout %q, stderr %q, want %d, %q, %q", test.name, code, out, errs, test.code, test.out, test.err)
		}
	}
}
