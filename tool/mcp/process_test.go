//go:build unix

package mcp

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironment(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "MAKER_MODEL", "SSH_AUTH_SOCK"} {
		t.Setenv(name, "leaked")
	}
	t.Setenv("HOME", "/home/somebody")
	t.Setenv("LANG", "de_DE.UTF-8")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := fixture("good", "OWN", "yes", "LANG", "C")
	config.Cwd = "sub"
	_, r := connect(t, map[string]Server{"s": config}, &Options{Dir: dir})
	result, err := call(t, r, "mcp__s__env", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(result.Text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		got[name] = value
	}
	for name, want := range map[string]string{"OWN": "yes", "LANG": "C", "HOME": "/home/somebody", "PATH": os.Getenv("PATH"), "cwd": filepath.Join(dir, "sub")} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
	if strings.Contains(result.Text, "leaked") {
		t.Errorf("the server sees %s, want none of our keys", result.Text)
	}
}

// TestNothingIsLeft is about servers that do not end as they should, and what
// they have started.
func TestNothingIsLeft(t *testing.T) {
	tests := []struct {
		fixture   string
		processes int
	}{{"good", 1}, {"stubborn", 1}, {"wrapper", 2}, {"leaver", 3}}
	for _, test := range tests {
		t.Run(test.fixture, func(t *testing.T) {
			t.Parallel()
			if test.fixture == "leaver" && runtime.GOOS != "linux" {
				t.Skip("who leaves the group is only found on Linux")
			}
			present, env := watch(t)
			s, _ := connect(t, map[string]Server{"s": fixture(test.fixture, env...)}, nil)
			conns := present.take(t, test.processes)
			s.Close()
			wantGone(t, conns, moment)
		})
	}
}

// TestKilled kills the program that the servers belong to.
func TestKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux does somebody outlive us to clean up")
	}
	for _, name := range []string{"stubborn", "leaver"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			present, env := watch(t)
			config, err := json.Marshal(Config{Servers: map[string]Server{"s": fixture(name, env...)}})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), parentVar+"="+string(config))
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if line != "connected <nil>\n" {
				t.Errorf("the program says %q, %v", line, err)
			}
			conns := present.take(t, map[string]int{"stubborn": 1, "leaver": 3}[name])
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			wantGone(t, conns, 10*time.Second)
		})
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"run": 0o700, "read": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	run := filepath.Join(dir, "run")
	tests := []struct {
		command, path string
		want          string // "" for an error
	}{
		{"run", "/nowhere:" + dir, run},
		{"run", "/nowhere", ""},
		{"run", ".", ""},
		{"read", dir, ""},
		{"./run", "", run},
		{run, "", run},
		{"./read", "", ""},
		{"./none", "", ""},
		{"", dir, ""},
	}
	for _, test := range tests {
		got, err := find(test.command, dir, test.path)
		if (err != nil) != (test.want == "") || err == nil && cmp.Diff(test.want, got) != "" {
			t.Errorf("find(%q, %q) = %q, %v, want %q", test.command, test.path, got, err, test.want)
		}
	}
}
