package maker_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestRequirements keeps docs/design/requirements.md honest: every row has a status, what
// is there has a test, and the tests that are named exist.
func TestRequirements(t *testing.T) {
	page, err := os.ReadFile("docs/design/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	problems, rows := requirementProblems(string(page), testsIn(t, "."))
	for _, problem := range problems {
		t.Errorf("docs/design/requirements.md: %s", problem)
	}
	if rows < 300 {
		t.Errorf("docs/design/requirements.md has %d rows, want those of five documents", rows)
	}
}

func TestRequirementProblemsCanBeFound(t *testing.T) {
	known := map[string]bool{"vote/TestTally": true, "internal/outline/TestRun": true, "maker/TestRun": true, script + "a.txtar": true}
	const head = "| requirement | status | where | test |\n|---|---|---|---|\n"
	for _, test := range []struct{ row, want string }{
		{"| a | yes | `vote` | `vote.TestTally`, `" + script + "a.txtar` |", ""},
		{"| a | yes | `vote` | `outline.TestRun`, `internal/outline.TestRun`, `maker.TestRun` |", ""},
		{"| a | differs on purpose: simpler | `vote` | - |", ""},
		{"| a \\| b | no: not there | - | - |", ""},
		{"| a | yes | `vote` | `vote.TestTallies` |", "line 3: there is no test vote.TestTallies"},
		{"| a | yes | `vote` | `line.TestRun` |", "line 3: there is no test line.TestRun"},
		{"| a | yes | `vote` | `" + script + "b.txtar` |", "line 3: there is no test " + script + "b.txtar"},
		{"| a | yes | `vote` | - |", "line 3: it is there, and no test says so"},
		{"| a | yes | `vote` | TestTally |", "line 3: it is there, and no test says so"},
		{"| a | differs on purpose: | `vote` | - |", `line 3: the status is "differs on purpose:"`},
		{"| a | no | `vote` | - |", `line 3: the status is "no"`},
		{"| a | perhaps | `vote` | - |", `line 3: the status is "perhaps"`},
		{"| a | yes | `vote` |", "line 3: 3 cells, want 4"},
	} {
		problems, rows := requirementProblems(head+test.row+"\n", known)
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		if diff := gocmp.Diff(want, problems); diff != "" || rows != 1 {
			t.Errorf("requirementProblems(%s): %d rows, -want +got\n%s", test.row, rows, diff)
		}
	}
}

// script is where the scripts of the program are.
const script = "cmd/maker/testdata/script/"

var (
	statuses   = regexp.MustCompile(`^(yes|differs on purpose: \S.*|no: \S.*)$`)
	namedTests = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz|Example)[A-Za-z0-9_]*)`|`(" + script + "[a-z_]+\\.txtar)`")
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)[A-Za-z0-9_]*)\(`)
)

// requirementProblems are what is wrong with a page of requirements, and how many rows
// its tables have.
func requirementProblems(page string, known map[string]bool) (problems []string, rows int) {
	fault := func(line int, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("line %d: ", line+1)+fmt.Sprintf(format, args...))
	}
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "/"), "|"), "|")
		if len(cells) != 4 {
			fault(i, "%d cells, want 4", len(cells))
			continue
		}
		status, tests := strings.TrimSpace(cells[1]), namedTests.FindAllStringSubmatch(cells[3], -1)
		if !statuses.MatchString(status) {
			fault(i, "the status is %q", status)
		}
		if status == "yes" && len(tests) == 0 {
			fault(i, "it is there, and no test says so")
		}
		for _, name := range tests {
			if !exists(known, name[1], name[2], name[3]) {
				fault(i, "there is no test %s", strings.Trim(name[0], "`"))
			}
		}
	}
	return problems, rows
}

// exists reports whether there is a script, or a test in a package whose path ends like
// this.
func exists(known map[string]bool, pkg, function, script string) bool {
	if script != "" {
		return known[script]
	}
	for test := range known {
		if dir, name := path.Split(test); name == function && strings.HasSuffix("/"+dir, "/"+pkg+"/") {
			return true
		}
	}
	return false
}

// testsIn are the tests of the repository as package/Function, that of the root being
// maker, and its scripts.
func testsIn(t *testing.T, root string) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case strings.HasPrefix(file, script):
			known[file] = true
		case strings.HasSuffix(file, "_test.go"):
			text, err := fs.ReadFile(os.DirFS(root), file)
			if err != nil {
				return err
			}
			pkg, _ := path.Split(file)
			for _, name := range testFunc.FindAllStringSubmatch(string(text), -1) {
				known[cmp.Or(pkg, "maker/")+name[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}
