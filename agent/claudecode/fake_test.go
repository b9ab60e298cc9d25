//go:build unix

package claudecode

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/maker-mdap/maker/agent"
)

// TestMain is the claude program if it is run as one. What it does is in the file
// that the address of the model names, a line for each thing:
//
//	> LINE        prints the line
//	< "A" "B"     reads a line, which has to contain A and B as they are quoted
//	2 TEXT        prints to the error output
//	long N        prints a line of N bytes
//	dump FILE     writes what it was started with
//	pid FILE      writes its number
//	spawn FILE    starts a process that hangs, and writes its number
//	escape FILE   the same, in another process group
//	exit N, kill, hang
func TestMain(m *testing.M) {
	switch {
	case slices.Contains(os.Args, "--permission-prompt-tool"):
		fake(os.Getenv("ANTHROPIC_BASE_URL"))
	case len(os.Args) == 2 && os.Args[1] == "hang":
		hang()
	case len(os.Args) == 3 && os.Args[1] == "parent":
		parent(os.Args[2])
	}
	os.Exit(m.Run())
}

func fake(script string) {
	data, err := os.ReadFile(script)
	if err != nil {
		quit(err)
	}
	in := bufio.NewReader(os.Stdin)
	for line := range strings.Lines(string(data)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "", "#":
		case ">":
			fmt.Println(rest)
		case "<":
			got, err := in.ReadString('\n')
			if err != nil {
				quit(fmt.Errorf("%v instead of %s", err, rest))
			}
			for want := range strings.FieldsSeq(rest) {
				if !strings.Contains(got, want) {
					quit(fmt.Errorf("got %s, want %s", got, want))
				}
			}
		case "2":
			fmt.Fprintln(os.Stderr, rest)
		case "long":
			n, err := strconv.Atoi(rest)
			if err != nil {
				quit(err)
			}
			fmt.Println(strings.Repeat("x", n))
		case "dump":
			dump(rest)
		case "pid":
			if err := os.WriteFile(rest, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
				quit(err)
			}
		case "spawn", "escape":
			spawn(rest, word == "escape")
		case "exit":
			code, err := strconv.Atoi(rest)
			if err != nil {
				quit(err)
			}
			os.Exit(code)
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "hang":
			hang()
		default:
			quit(fmt.Errorf("the script says %q", line))
		}
	}
	os.Exit(0)
}

// parent makes an attempt with a program that follows the script.
func parent(script string) {
	a, err := New(Options{Program: os.Args[0], Model: "claude-test", Env: func(name string) string {
		return map[string]string{"ANTHROPIC_BASE_URL": script}[name]
	}})
	if err == nil {
		_, err = a.Attempt(context.Background(), &agent.Task{Prompt: "hi"})
	}
	quit(err)
}

// hang waits longer than any test.
func hang() { time.Sleep(5 * time.Minute) }

func quit(err error) {
	fmt.Fprintln(os.Stderr, "fake:", err)
	os.Exit(97)
}

// A setup is what the program was started with.
type setup struct {
	Args, Env, Files []string
	Dir              string
	Contents         map[string]string // of the files that arguments name
}

func dump(file string) {
	s := setup{Args: os.Args[1:], Env: os.Environ(), Contents: map[string]string{}}
	var err error
	if s.Dir, err = os.Getwd(); err != nil {
		quit(err)
	}
	for i, arg := range s.Args {
		if data, err := os.ReadFile(arg); err == nil && i > 0 {
			s.Contents[s.Args[i-1]] = string(data)
		}
	}
	home, err := os.ReadDir(os.Getenv("HOME"))
	if err != nil {
		quit(err)
	}
	for _, entry := range home {
		s.Files = append(s.Files, entry.Name())
	}
	data, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		quit(err)
	}
}

func spawn(file string, escape bool) {
	cmd := exec.Command(os.Args[0], "hang")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: escape}
	err := cmd.Start()
	if err == nil {
		err = os.WriteFile(file, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
	}
	if err != nil {
		quit(err)
	}
}

// newFake returns an agent whose program follows the script.
func newFake(t *testing.T, script string, change func(*Options)) agent.Agent {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Program: program, Model: "claude-test", Timeout: time.Minute, Env: func(name string) string {
		return map[string]string{"ANTHROPIC_BASE_URL": file, "ANTHROPIC_API_KEY": "key", "PATH": os.Getenv("PATH"), "SECRET": "no"}[name]
	}}
	if change != nil {
		change(&o)
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
