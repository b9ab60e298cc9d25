package main

import (
	"errors"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// What the stand-in exits with, as gremlins understands it.
const (
	lives     = 0
	killed    = 1
	notViable = 2
)

// standIn does what gremlins asks the go command to do.
func standIn(args []string) int {
	err := func() error {
		if len(args) == 0 || args[0] != "test" {
			return command(os.Getenv(realGo), args...).Run()
		}
		if profile := option(args, "-coverprofile"); profile != "" {
			return cover(profile, args[len(args)-1])
		}
		return testMutant(args)
	}()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return lives
	case errors.Is(err, errNotViable):
		return notViable
	case errors.As(err, &exit):
		return killed
	}
	fmt.Fprintln(os.Stderr, "mutation:", err)
	return killed
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

func option(args []string, name string) string {
	if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

var errNotViable = errors.New("the mutant does not compile")

// testMutant builds the tests first, so that a mutant that does not compile is told
// from one that fails.
func testMutant(args []string) error {
	tmp, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	tests := filepath.Join(tmp, "mutant.test")
	if err := command(os.Getenv(realGo), "test", "-c", "-ldflags=-s -w", "-o", tests, args[len(args)-1]).Run(); err != nil {
		return errNotViable
	}
	run := []string{tests, "-test.short", "-test.failfast", "-test.timeout", option(args, "-timeout"), "-test.skip", os.Getenv(skip)}
	if os.Getenv(children) != "" {
		// What a mutant leaves behind must not be there when the next one is tested. The
		// shell stays: it is the first process in there, and waits for orphans.
		run = append([]string{"unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "bash", "-c", `"$@"; exit $?`, "bash"}, run...)
	}
	runtime.LockOSThread() // what is started dies with its thread, and so with us, whom gremlins kills
	cmd := command(run[0], run[1:]...)
	dieWithUs(cmd)
	return cmd.Run()
}

// cover writes the coverage profile of the untouched tests, and adds to it what such a
// profile leaves out.
func cover(profile, pattern string) error {
	goCommand := os.Getenv(realGo)
	folder := strings.TrimSuffix(pattern, "/...")
	// Gremlins takes the time of this run for that of any other, so it may be neither
	// short of a build nor longer by that of everything else.
	leastTime := time.After(time.Second)
	defer func() { <-leastTime }()
	cmd := command(goCommand, "test", "-count=1", "-short", "-skip", os.Getenv(skip), "-cover", "-coverprofile", profile, folder)
	if err := cmd.Run(); err != nil {
		return err
	}
	data, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	reached := make(map[string][]span) // by the names in the profile
	for line := range strings.Lines(string(data)) {
		name, block, ok := strings.Cut(strings.TrimSpace(line), ".go:")
		var s span
		var statements, count int
		if n, _ := fmt.Sscanf(block, "%d.%d,%d.%d %d %d", &s.from.Line, &s.from.Column, &s.to.Line, &s.to.Column, &statements, &count); !ok || n != 6 {
			continue
		}
		name += ".go"
		if _, ok := reached[name]; !ok {
			reached[name] = nil
		}
		if count > 0 {
			reached[name] = append(reached[name], s)
		}
	}
	more := data
	for name, spans := range reached {
		s, err := readSource(filepath.Join(folder, path.Base(name)))
		if err != nil {
			return err
		}
		within := func(p token.Position) bool {
			return slices.ContainsFunc(spans, func(s span) bool { return s.holds(p) })
		}
		unseen := s.unseen(within)
		if os.Getenv(children) != "" {
			unseen = []span{s.all()}
		}
		for _, u := range unseen {
			more = fmt.Appendf(more, "%s:%d.%d,%d.%d 1 1\n", name, u.from.Line, u.from.Column, u.to.Line, u.to.Column)
		}
	}
	return os.WriteFile(profile, more, 0o600)
}
