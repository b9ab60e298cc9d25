package approval_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/tool"
)

// site is a workspace with links in it, in a folder that is reached by a link.
func site(t *testing.T) (workspace string) {
	t.Helper()
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(top, "site")); err != nil {
		t.Skipf("there are no links here: %v", err)
	}
	workspace = filepath.Join(top, "site")
	for _, dir := range []string{"docs", "secrets/deep", ".git/hooks", "vault", "src"} {
		if err := os.MkdirAll(filepath.Join(workspace, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(workspace, "secrets", "key.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"open":          "secrets",
		"docs/hooks":    ".." + "/.git/hooks",
		"docs/new":      "../.git/hooks/pre-commit", // which is not there
		"hidden":        "vault",
		"docs/out":      filepath.Dir(top),
		"loop":          "loop",
		"docs/inside":   "../docs",
		"docs/twice":    "hooks",
		"src/to-docs":   "../docs",
		"src/to-secret": "../open/deep",
	} {
		if err := os.Symlink(target, filepath.Join(workspace, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(workspace, "secrets", "key.txt"), filepath.Join(workspace, "docs", "same.txt")); err != nil {
		t.Fatal(err)
	}
	return workspace
}

func call(t *testing.T, name string, input map[string]any) tool.Intent {
	t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return intent(t, name, string(data))
}

func rule(t *testing.T, text string) []approval.Rule {
	t.Helper()
	rules, err := approval.ParseRules([]string{text})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// TestDenyBySpelling: however the path of a denied file is written, it is denied.
func TestDenyBySpelling(t *testing.T) {
	workspace := site(t)
	real, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		t.Fatal(err)
	}
	spellings := []string{
		"secrets/x", "./secrets/x", "././secrets/x", ".//secrets/x", "secrets//x", "a/../secrets/x", "docs/../secrets/x", "./a/.././secrets/./x",
		workspace + "/secrets/x", real + "/secrets/x", workspace + "//./secrets/x", workspace + "/../site/secrets/x", workspace + "/docs/../secrets/x",
		"open/x", "open/deep/x", "src/to-secret/x", "./open/../open/x", "secrets", "secrets/", "secrets/deep/new/file",
		"Secrets/x", "SECRETS/x", "s\u200becrets/x", "secret\u017f/x", // a long s is an S where case does not count
	}
	for _, pattern := range []string{"secrets/", "secrets", "./secrets/", "secrets/*", "docs/../secrets/", workspace + "/secrets/", real + "/secrets", "open/"} {
		for _, name := range []string{"Write", "Edit"} {
			policy := approval.Policy{Mode: approval.None, Deny: rule(t, name+"("+pattern+")"), Workspace: workspace}
			for _, path := range spellings {
				if d := policy.Decide(call(t, name, map[string]any{"file_path": path}), tool.Mutate); !d.Denied {
					t.Errorf("deny %s(%s): Decide(%s) = %+v, want denied", name, pattern, path, d)
				}
			}
			for _, path := range []string{"docs/x", "secret/x", "src/secrets.go", "docs/secrets/x", "hidden/x"} {
				if d := policy.Decide(call(t, name, map[string]any{"file_path": path}), tool.Mutate); d.Denied {
					t.Errorf("deny %s(%s): Decide(%s) = %+v, want that it passes", name, pattern, path, d)
				}
			}
		}
	}
	for pattern, path := range map[string]string{"secrets/key.txt": "docs/same.txt", "hidden/": "vault/x", "vault/": "hidden/x", "caf\u00e9/": "cafe\u0301/x", "caf\u0065\u0301/": "CAF\u00c9/x"} {
		policy := approval.Policy{Deny: rule(t, "Write("+pattern+")"), Workspace: workspace}
		if d := policy.Decide(call(t, "Write", map[string]any{"file_path": path}), tool.Mutate); !d.Denied {
			t.Errorf("deny Write(%s): Decide(%s) = %+v, want denied", pattern, path, d)
		}
	}
}

// TestAllowJudgesWhatIsOpened: a rule lets only those calls pass that end up where it
// says.
func TestAllowJudgesWhatIsOpened(t *testing.T) {
	workspace := site(t)
	for path, want := range map[string]bool{
		"docs/x": true, "./docs/x": true, "docs/deep/er/x": true, "src/../docs/x": true, workspace + "/docs/x": true,
		"docs/inside/x": true, "src/to-docs/x": true, // they lead back
		"docs": false, "docs/": false, "docs/.": false, "documents/x": false, "docs/../src/x": false, "docs/..": false,
		"docs/hooks/pre-commit": false, "docs/twice/x": false, "docs/new": false, "docs/out/x": false,
		"src/to-secret/x": false, "loop/x": false, "/docs/x": false, "../docs/x": false, "DOCS/x": false, "": false,
		workspace + "/../docs/x": false, "docs/inside/../../src/x": false,
	} {
		policy := approval.Policy{Mode: approval.Mutate, Allow: rule(t, "Write(docs/)"), Workspace: workspace}
		if d := policy.Decide(call(t, "Write", map[string]any{"file_path": path, "content": "docs/"}), tool.Mutate); d.Ask == want {
			t.Errorf("allow Write(docs/): Decide(%s) = %+v, want it to pass: %t", path, d, want)
		}
	}
	// A link in place of the folder of the rule is not the folder of the rule.
	if err := os.Rename(filepath.Join(workspace, "docs"), filepath.Join(workspace, "old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".git/hooks", filepath.Join(workspace, "docs")); err != nil {
		t.Fatal(err)
	}
	policy := approval.Policy{Mode: approval.Mutate, Allow: rule(t, "Write(docs/)"), Workspace: workspace}
	if d := policy.Decide(call(t, "Write", map[string]any{"file_path": "docs/pre-commit"}), tool.Mutate); !d.Ask {
		t.Errorf("allow Write(docs/), where docs leads to .git/hooks: Decide(docs/pre-commit) = %+v, want that a person is asked", d)
	}
	for path, want := range map[string]bool{"x": true, "src/x": true, "../x": false, "/etc/x": false, "old/out/x": false} {
		policy := approval.Policy{Mode: approval.Mutate, Allow: rule(t, "Write(./)"), Workspace: workspace}
		if d := policy.Decide(call(t, "Write", map[string]any{"file_path": path}), tool.Mutate); d.Ask == want {
			t.Errorf("allow Write(./): Decide(%s) = %+v, want it to pass: %t", path, d, want)
		}
	}
}

// TestDecoys: no argument stands for another one.
func TestDecoys(t *testing.T) {
	workspace := site(t)
	for _, test := range []struct {
		rule, tool, input string
		allows, denies    bool
	}{
		// Without a name, a rule is about all arguments of a tool that is not built in.
		{"mcp__fs__write(docs/)", "mcp__fs__write", `{"command":"docs/x","path":"/etc/passwd"}`, false, true},
		{"mcp__fs__write(/etc/)", "mcp__fs__write", `{"command":"docs/x","path":"/etc/passwd"}`, false, true},
		{"mcp__fs__write(docs/)", "mcp__fs__write", `{"path":"docs/x"}`, true, true},
		{"mcp__fs__write(docs/)", "mcp__fs__write", `{"path":"docs/x","mode":420}`, false, true},
		{"mcp__fs__write(docs/)", "mcp__fs__write", `{}`, false, false},
		{"mcp__fs__move(docs/)", "mcp__fs__move", `{"from":"docs/a","to":"docs/b"}`, true, true},
		{"mcp__fs__move(docs/)", "mcp__fs__move", `{"from":"docs/a","to":"src/b"}`, false, true},
		{"mcp__fs__move(docs/)", "mcp__fs__move", `{"files":["docs/a",{"x":"docs/b"}]}`, true, true},
		{"mcp__fs__move(docs/)", "mcp__fs__move", `{"files":["docs/a",{"x":"src/b"}]}`, false, true},
		{"mcp__fs__*(docs/)", "mcp__fs__move", `{"from":"src/a","to":"src/b"}`, false, false},
		// With one it is about that argument.
		{"mcp__fs__write(path=docs/)", "mcp__fs__write", `{"path":"docs/x","content":"any"}`, true, true},
		{"mcp__fs__write(path=docs/)", "mcp__fs__write", `{"command":"docs/x","path":"/etc/passwd"}`, false, false},
		{"mcp__fs__write(path=docs/)", "mcp__fs__write", `{"path":"docs/x","PATH":"/etc/passwd"}`, false, true},
		{"mcp__fs__write(path=docs/)", "mcp__fs__write", `{"path":["docs/x","src/y"]}`, false, true},
		{"mcp__fs__write(target=docs/)", "mcp__fs__write", `{"target":"docs/../../etc/passwd"}`, false, true},
		{"mcp__fs__write(target=docs/)", "mcp__fs__write", `{"target":"docs/x/../y"}`, false, true},
		{"mcp__fs__write(target=docs/)", "mcp__fs__write", `{"target":"docs\\..\\..\\x"}`, false, true},
		{"mcp__fs__write(target=docs/)", "mcp__fs__write", `{"target":"docs/%2e%2e/%2E./x"}`, false, true},
		{"mcp__fs__write(target=docs/)", "mcp__fs__write", `{"target":"docs/hooks/x"}`, false, true},
		{"mcp__fs__write(target=docs/)", "mcp__fs__write", `{"target":"./docs/x"}`, true, true},
		{"mcp__fs__write(target=secrets/)", "mcp__fs__write", `{"target":"a/../secrets/x"}`, false, true},
		{"mcp__fs__write(target=secrets/)", "mcp__fs__write", `{"target":"open/x"}`, true, true},
		{"mcp__fs__write(target=secrets/)", "mcp__fs__write", `{"target":"` + workspace + `/secrets/x"}`, true, true},
		{"mcp__fs__write(target=secrets/)", "mcp__fs__write", `{"target":"file://` + workspace + `/secrets/x"}`, false, true},
		{"mcp__fs__write(options.path=docs/)", "mcp__fs__write", `{"options":{"path":"docs/x"}}`, true, true},
		{"mcp__fs__write(options.path=docs/)", "mcp__fs__write", `{"options":{"path":"src/x"},"options.path":"docs/y"}`, false, true},
		// A built-in tool has one argument that matters.
		{"Write(docs/)", "Write", `{"command":"docs/x","file_path":"secrets/x"}`, false, false},
		{"Write(docs/)", "Write", `{"path":"docs/x","file_path":"secrets/x","FILE_PATH":"docs/x"}`, false, true},
		{"Write(content=docs/)", "Write", `{"file_path":"secrets/x","content":"docs/"}`, true, true},
		{"Bash(git status)", "Bash", `{"command":"rm x","description":"git status"}`, false, false},
		{"Bash(git status)", "Bash", `{"command":"git\u00a0status"}`, false, true},
		{"Bash(rm)", "Bash", `{"command":"/bin/rm -rf x"}`, false, true},
		{"Bash(rm)", "Bash", `{"command":"'rm' -rf x"}`, false, true},
		{"Bash(rm)", "Bash", `{"command":"A=1 rm -rf x"}`, false, true},
		// Addresses.
		{"mcp__web__post(url=https://example.com/)", "mcp__web__post", `{"url":"https://example.com/a"}`, true, true},
		{"mcp__web__post(url=https://example.com)", "mcp__web__post", `{"url":"https://example.com/a"}`, true, true},
		{"mcp__web__post(url=https://example.com)", "mcp__web__post", `{"url":"https://example.com.evil.org/"}`, false, true},
		{"mcp__web__post(url=https://example.com)", "mcp__web__post", `{"url":"https://example.com@evil.org/"}`, false, true},
		{"mcp__web__post(url=https://example.com/)", "mcp__web__post", `{"url":"HTTPS://EXAMPLE.com:443/a"}`, true, true},
		{"mcp__web__post(url=https://example.com/a/)", "mcp__web__post", `{"url":"https://example.com/a/../b"}`, false, true},
		{"mcp__web__post(url=https://example.com/a/)", "mcp__web__post", `{"url":"https://example.com/a/%2e%2e/b"}`, false, true},
		{"mcp__web__post(url=https://example.com/a/)", "mcp__web__post", `{"url":"https://example.com/b/../a/x"}`, false, true},
	} {
		i := intent(t, test.tool, test.input)
		allow := approval.Policy{Mode: approval.Mutate, Allow: rule(t, test.rule), Workspace: workspace}
		if d := allow.Decide(i, tool.Mutate); d.Ask == test.allows {
			t.Errorf("allow %s: Decide(%s) = %+v, want it to pass: %t", test.rule, test.input, d, test.allows)
		}
		deny := approval.Policy{Mode: approval.None, Deny: rule(t, test.rule), Workspace: workspace}
		if d := deny.Decide(i, tool.Mutate); d.Denied != test.denies {
			t.Errorf("deny %s: Decide(%s) = %+v, want it denied: %t", test.rule, test.input, d, test.denies)
		}
	}
}

// TestRulesAreNoPatterns: a rule that could never fit is refused.
func TestRulesAreNoPatterns(t *testing.T) {
	for _, text := range []string{"Write(**/secrets/*)", "Write(*.key)", "mcp__fs__write(path=*/x)"} {
		if r, err := approval.ParseRule(text); err == nil || !strings.Contains(err.Error(), "*") {
			t.Errorf("ParseRule(%s) = %+v, %v, want an error about *", text, r, err)
		}
	}
	for _, text := range []string{"Write(docs/*)", "Write(docs/**)", "Bash(ls *.go)", "Bash(git status:*)"} {
		if _, err := approval.ParseRule(text); err != nil {
			t.Errorf("ParseRule(%s) = %v, want a rule", text, err)
		}
	}
}
