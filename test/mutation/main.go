// Command mutation runs gremlins over one package and judges the outcome; run.sh
// starts it.
//
// Gremlins alone would be wrong in three ways. It takes a mutant that does not
// compile for a killed one, it takes the condition of a case and a constant for code
// that no test covers, and it times its tests by a run that may have come from a
// cache. So this program also stands in for the go command that gremlins calls.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	threshold = 90.0 // percent of the mutants that a package's own tests have to kill

	// patience is how many times longer than the untouched tests a mutant may take. What
	// hangs longer than that would fail in any run, so it counts as killed.
	patience = "10"

	// What the stand-in finds in its environment.
	realGo   = "MAKER_MUTATION_GO"       // the go command
	skip     = "MAKER_MUTATION_SKIP"     // the tests to leave out
	children = "MAKER_MUTATION_CHILDREN" // not empty if the code runs in children of the tests
)

func main() {
	if filepath.Base(os.Args[0]) == "go" {
		os.Exit(standIn(os.Args[1:]))
	}
	gremlins := flag.String("gremlins", "gremlins", "the gremlins program")
	leaveOut := flag.String("skip", "", "a pattern of tests to leave out")
	inChildren := flag.Bool("children", false, "the code runs in children of the tests, whose coverage nobody records: take all of it for covered")
	only := flag.String("only", "", "a pattern of files, if not all of them")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mutation [-gremlins program] [-skip tests] [-children] [-only files] package")
		os.Exit(2)
	}
	env := []string{skip + "=" + *leaveOut}
	if *inChildren {
		env = append(env, children+"=yes")
	}
	ok, err := run(*gremlins, env, filepath.Clean(flag.Arg(0)), *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

// run tests the mutants of the package in a folder and says whether enough of them
// were killed.
func run(gremlins string, env []string, folder, only string) (bool, error) {
	list, err := readEquivalents("test/mutation/equivalent.txt")
	if err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return false, err
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	if err := os.Symlink(self, filepath.Join(tmp, "go")); err != nil {
		return false, err
	}

	build := exec.Command(goCommand, "test", "-count=1", "-run", "^$", "-cover", "./"+folder)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return false, fmt.Errorf("building the tests of %s: %w", folder, err)
	}
	files, err := exec.Command(goCommand, "list", "-f", `{{join .GoFiles "\n"}}`, "./"+folder).Output()
	if err != nil {
		return false, fmt.Errorf("the files of %s: %w", folder, err)
	}
	built := strings.Fields(string(files))
	wanted, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	report := filepath.Join(tmp, "report.json")
	args := []string{"unleash", "--workers", "1", "--timeout-coefficient", patience, "--output", report}
	for _, name := range built {
		if !wanted.MatchString(name) {
			args = append(args, "--exclude-files", "(^|/)"+regexp.QuoteMeta(name)+"$")
		}
	}
	cmd := exec.Command(gremlins, append(args, "./"+folder)...)
	cmd.Env = append(append(os.Environ(), env...),
		"PATH="+tmp+string(os.PathListSeparator)+os.Getenv("PATH"), realGo+"="+goCommand)
	cmd.Stderr, cmd.Stdout = os.Stderr, os.Stderr // it says what became of each mutant
	if err := cmd.Run(); err != nil {
		return false, fmt.Errorf("gremlins over %s: %w", folder, err)
	}
	mutants, err := readReport(report, folder, built)
	if err != nil {
		return false, err
	}
	return summarize(os.Stdout, folder, mutants, list), nil
}

// A mutant is one change of the code, and what became of it.
type mutant struct {
	identity
	status       string
	line, column int
}

// readReport reads what gremlins wrote about the files that are built on this system, and
// names each mutant by the code around it.
func readReport(name, folder string, built []string) ([]mutant, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var report struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type, Status string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, err
	}
	var mutants []mutant
	for _, file := range report.Files {
		if !slices.Contains(built, filepath.Base(file.Name)) {
			continue
		}
		source, err := readSource(filepath.Join(folder, filepath.Base(file.Name)))
		if err != nil {
			return nil, err
		}
		for _, m := range file.Mutations {
			mutants = append(mutants, mutant{
				identity: source.identity(m.Type, m.Line, m.Column),
				status:   m.Status, line: m.Line, column: m.Column,
			})
		}
	}
	slices.SortFunc(mutants, func(a, b mutant) int {
		return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line, a.column-b.column, strings.Compare(a.kind, b.kind))
	})
	return mutants, nil
}
