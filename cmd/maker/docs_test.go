package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// docsRoot is where README.md and docs are.
var docsRoot = filepath.Join("..", "..")

// TestDocs runs the examples of the documentation as they are printed, with the scripts
// that ship with the simulator. There is a script for each page; in it, page runs the
// examples of that page.
func TestDocs(t *testing.T) { testscript.Run(t, params(filepath.Join("testdata", "docs"))) }

// TestEveryExample checks that no example is left out silently: each is run by a script
// of TestDocs, or docs-not-run.txt has it with a reason.
func TestEveryExample(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("testdata", "docs", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]bool{} // pages
	for _, file := range scripts {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^page (\S+)$`).FindAllStringSubmatch(string(archive.Comment), -1) {
			run[m[1]] = true
		}
	}
	pages, err := filepath.Glob(filepath.Join(docsRoot, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	reasons, err := notRun()
	if err != nil {
		t.Fatal(err)
	}
	needed := map[string]bool{}
	for _, file := range append(pages, filepath.Join(docsRoot, "README.md")) {
		page, err := filepath.Rel(docsRoot, file)
		if err != nil {
			t.Fatal(err)
		}
		page = filepath.ToSlash(page)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range readExamples(string(text)) {
			if entry := listed(reasons, page, e.command); entry != "" {
				needed[entry] = true
			} else if !run[page] {
				t.Errorf("%s:%d: nobody runs %q: write a script in testdata/docs with `page %s`, or say why not in testdata/docs-not-run.txt", page, e.line, e.command, page)
			}
		}
	}
	for _, entry := range reasons {
		if !needed[entry] {
			t.Errorf("docs-not-run.txt has %q, which is no example", entry)
		}
	}
}

// notRun are the examples that are not run: the page and how the command begins.
func notRun() ([]string, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "docs-not-run.txt"))
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		entry, reason, _ := strings.Cut(line, " # ")
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("docs-not-run.txt: %q has no reason", line)
		}
		list = append(list, strings.TrimSpace(entry))
	}
	return list, nil
}

// listed is the entry for an example, or "".
func listed(entries []string, page, command string) string {
	for _, entry := range entries {
		if strings.HasPrefix(page+": "+command, entry) {
			return entry
		}
	}
	return ""
}

// An example is a command in a page, and what the page says that it prints.
type example struct {
	line    int
	command string
	prints  string // empty if the page does not say
}

var (
	fence    = regexp.MustCompile("^```(\\w*)$")
	comment  = regexp.MustCompile(`(^|\s+)# .*$`)
	callsOur = regexp.MustCompile(`(?:^|[|;&] *|\w=\S* )(?:maker|go run \./cmd/maker) `)
)

// readExamples finds the examples in a page: the lines of blocks of shell commands, and
// in other blocks those after a dollar sign, with the lines that follow.
func readExamples(page string) []example {
	var list []example
	var last *example
	language, inside, continued := "", false, false
	for i, line := range strings.Split(page, "\n") {
		if m := fence.FindStringSubmatch(line); m != nil {
			language, inside, last, continued = m[1], !inside, nil, false
			continue
		}
		if !inside || !slices.Contains([]string{"", "sh", "console"}, language) {
			continue
		}
		command, prompted := strings.CutPrefix(line, "$ ")
		switch {
		case continued:
			last.command += "\n" + line
		case prompted || language == "sh":
			command = comment.ReplaceAllString(command, "")
			list = append(list, example{line: i + 1, command: command})
			last = &list[len(list)-1]
		case last != nil:
			last.prints += line + "\n"
		}
		continued = last != nil && strings.HasSuffix(last.command, `\`)
	}
	return slices.DeleteFunc(list, func(e example) bool { return !callsOur.MatchString(e.command) })
}

var (
	addressInPage = regexp.MustCompile(`http://127\.0\.0\.1:\d+/v1`)
	runInPage     = regexp.MustCompile(`\b(hanoi|run|plan|exec|do|solve|script)-20\d+(-\d+)?\b|\bRUN\b`)
)

// runPage runs the examples of a page in their order. One that the page says nothing
// about has to succeed; what the others print is compared. Simulators in the page are
// $SIM, and runs are those that an example started.
func runPage(ts *testscript.TestScript, args []string) {
	text, err := os.ReadFile(filepath.Join(docsRoot, filepath.FromSlash(args[0])))
	ts.Check(err)
	entries, err := notRun()
	ts.Check(err)
	if bytes.Contains(text, []byte("examples/")) { // pages are read beside them
		ts.Check(os.CopyFS(ts.MkAbs("examples"), os.DirFS(filepath.Join(docsRoot, "examples"))))
	}
	ran := 0
	for _, e := range readExamples(string(text)) {
		if listed(entries, args[0], e.command) != "" {
			continue
		}
		ran++
		command := strings.ReplaceAll(e.command, "go run ./cmd/maker ", "maker ")
		command = addressInPage.ReplaceAllLiteralString(command, ts.Getenv("SIM"))
		command = runInPage.ReplaceAllStringFunc(command, func(id string) string {
			kind, _, named := strings.Cut(id, "-")
			if !named {
				kind = "*"
			}
			return newest(ts, kind)
		})
		err := ts.Exec("sh", "-c", "{ "+command+"\n} 2>&1")
		if e.prints == "" {
			if err != nil {
				ts.Fatalf("%s:%d: %s: %v", args[0], e.line, e.command, err)
			}
			continue
		}
		if got := ts.ReadFile("stdout"); !likePrinted(e.prints, got) {
			ts.Fatalf("%s:%d: %s prints\n%s\nwant what the page has:\n%s", args[0], e.line, e.command, got, e.prints)
		}
	}
	if ran == 0 {
		ts.Fatalf("%s has no examples to run", args[0])
	}
}

// printed runs the command in the head of a script of examples, which must end with the given
// exit code.
func printed(ts *testscript.TestScript, args []string) {
	if _, err := os.Stat(ts.MkAbs("examples")); errors.Is(err, fs.ErrNotExist) {
		ts.Check(os.CopyFS(ts.MkAbs("examples"), os.DirFS(filepath.Join(docsRoot, "examples"))))
	}
	command := commandInHead(ts.ReadFile(args[1]))
	if command == "" {
		ts.Fatalf("the head of %s has no command", args[1])
	}
	exits(ts, []string{args[0], "sh", "-c", command})
}

// commandInHead is the command in the comment that a script begins with.
func commandInHead(script string) string {
	var lines []string
	for line := range strings.Lines(script) {
		line, indented := strings.CutPrefix(line, "#   ")
		if indented && (len(lines) > 0 || strings.HasPrefix(line, "maker ")) {
			lines = append(lines, line)
		} else if len(lines) > 0 {
			break
		}
	}
	return strings.Join(lines, "")
}

// TestEveryScript checks that the tests run all the scripts of examples as they say.
func TestEveryScript(t *testing.T) {
	tests, err := os.ReadFile(filepath.Join("testdata", "script", "script_examples.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join(docsRoot, "examples", "scripts", "*.star"))
	if err != nil || len(scripts) < 6 {
		t.Fatalf("there are %d scripts in examples, want at least 6 (%v)", len(scripts), err)
	}
	for _, script := range scripts {
		if run := "examples/scripts/" + filepath.Base(script) + "\n"; !bytes.Contains(tests, []byte(run)) {
			t.Errorf("script_examples.txtar has no `printed CODE %s`", strings.TrimSpace(run))
		}
	}
}

// extract writes a block of a page to a file: the n-th in a language.
func extract(ts *testscript.TestScript, args []string) {
	text, err := os.ReadFile(filepath.Join(docsRoot, filepath.FromSlash(args[0])))
	ts.Check(err)
	found := regexp.MustCompile("(?ms)^```"+args[1]+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	n := number(ts, args[2])
	if n < 1 || n > len(found) {
		ts.Fatalf("%s has %d blocks of %s, want %d", args[0], len(found), args[1], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(found[n-1][1]), 0o644))
}

// newest is the last run of a kind.
func newest(ts *testscript.TestScript, kind string) string {
	found, err := filepath.Glob(filepath.Join(ts.MkAbs("runs"), kind+"-*"))
	ts.Check(err)
	if len(found) == 0 {
		ts.Fatalf("there is no run of the kind %s", kind)
	}
	slices.SortFunc(found, func(a, b string) int {
		first, err := os.Stat(filepath.Join(a, "events.jsonl"))
		ts.Check(err)
		second, err := os.Stat(filepath.Join(b, "events.jsonl"))
		ts.Check(err)
		return first.ModTime().Compare(second.ModTime())
	})
	return filepath.Base(found[len(found)-1])
}

var (
	runID    = regexp.MustCompile(`\b(hanoi|run|plan|exec|do|solve|script)-\d{8}-\d{6}-[a-z0-9]{5}\b`)
	duration = regexp.MustCompile(`\b\d+(\.\d+)?(ms|µs|s)\b`)
	confined = regexp.MustCompile(`(?m)^(sandbox:? .*|run \S+)\n`)
)

// likePrinted reports whether an output is the one in a page, where lines may be broken
// and three dots stand for anything. Names of runs, times and what sandbox there is
// differ from one to the next.
func likePrinted(page, output string) bool {
	plain := func(text string) string {
		text = confined.ReplaceAllString(text, "")
		text = runID.ReplaceAllString(text, "$1")
		text = duration.ReplaceAllString(text, "soon")
		return strings.Join(strings.Fields(text), " ")
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(plain(page)), `\.\.\.`, `.*`)
	return regexp.MustCompile("^" + pattern + "$").MatchString(plain(output))
}

func TestLikePrinted(t *testing.T) {
	for _, test := range []struct {
		page, output string
		want         bool
	}{
		{"a  b\n c\n", "a b c", true}, {"a\n", "a\nb\n", false}, {"a ...\n", "a\nb\n", true}, {"...\nb\n", "a\nb\n", true},
		{"run do-20260102-030405-abcde\nsandbox  x\ntime 1.5s", "run do-20270102-030405-fghij\nsandbox  y\ntime 12ms", true},
		{"run do-20260102-030405-abcde", "run run-20260102-030405-abcde", false}, {"(a)", "a", false}, {"votes 5-2", "votes 3", false},
	} {
		if got := likePrinted(test.page, test.output); got != test.want {
			t.Errorf("likePrinted(%q, %q) = %t, want %t", test.page, test.output, got, test.want)
		}
	}
}

// TestAttacksHaveTests checks that the tests which docs/safety.md names exist, in the
// folder that it says: those of Go by their func, the others as scripts.
func TestAttacksHaveTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(docsRoot, "docs", "safety.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Attacks that have a test\n")
	funcs := map[string][]string{} // the folders of each
	err = filepath.WalkDir(docsRoot, func(name string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		code, err := os.ReadFile(name)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(string(code), -1) {
			funcs[m[1]] = append(funcs[m[1]], filepath.Dir(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		if len(cells) != 3 {
			continue
		}
		for _, group := range regexp.MustCompile("((?:`[^`]+`(?:, )?)+)(?: in `([^`]+)`)?").FindAllStringSubmatch(cells[2], -1) {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(group[1], -1) {
				checked++
				name, _, _ := strings.Cut(m[1], "/")
				script := filepath.Join("testdata", "script", name+".txtar")
				if _, err := os.Stat(script); err == nil && group[2] == "cmd/maker" {
					continue
				}
				if in := funcs[name]; len(in) == 0 || group[2] != "" && !slices.Contains(in, filepath.Join(docsRoot, group[2])) {
					t.Errorf("docs/safety.md names %s in %q; it is in %q", m[1], group[2], in)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("docs/safety.md names %d tests, want all of them read", checked)
	}
}
