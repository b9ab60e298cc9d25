//go:build linux

package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func newBash(t *testing.T, o Options) *Set {
	t.Helper()
	o.Tools = []string{"Bash"}
	if o.Grace == 0 {
		o.Grace = 100 * time.Millisecond
	}
	return newSet(t, o, map[string]string{"in.txt": "inside\n"})
}

func TestBash(t *testing.T) {
	for _, mode := range []string{"auto", "off"} {
		s := newBash(t, Options{Sandbox: mode})
		if got := strings.HasPrefix(s.Sandbox(), "none"); mode == "off" && !got {
			t.Errorf("Sandbox() = %q with off, want none", s.Sandbox())
		}
		s.check(t, "Bash", []callTest{
			{"output", `{"command":"echo out; echo err >&2; cat in.txt","description":"Prints"}`, "out\nerr\ninside\n", false},
			{"nothing", `{"command":"true"}`, "[no output]", false},
			{"code", `{"command":"echo bad; exit 3"}`, "bad\n[exit code 3]", true},
			{"code without output", `{"command":"exit 4"}`, "[exit code 4]", true},
			{"signal", `{"command":"kill -TERM $$"}`, "[exit code 143]", true},
			{"input", `{"command":"cat; read x; echo \"<$x>\""}`, "<>\n", false},
			{"folder", `{"command":"pwd"}`, "$W\n", false},
			{"new shell", `{"command":"echo \"<$x>\"; x=1; cd /"}`, "<>\n", false},
			{"bash", `{"command":"a=(1 2 3); echo ${#a[@]} <(:) | cut -c1-5"}`, "3 /de\n", false},
			{"not UTF-8", `{"command":"printf 'a\\377b'"}`, "a\uFFFDb", false},
			{"timeout", `{"command":"echo before; sleep 50; echo after","timeout":1000}`, "before\n[timeout: the command did not finish; it was ended after 1s]", true},
			{"deaf", `{"command":"trap '' TERM; echo before; while :; do sleep 0.05; done","timeout":1000}`, "before\n[timeout:", true},
			{"empty", `{"command":""}`, "command", true},
			{"wrong timeout", `{"command":"true","timeout":600001}`, "timeout", true},
			{"no timeout", `{"command":"true","timeout":0}`, "timeout", true},
			{"too long", `{"command":"` + strings.Repeat("x", 100_001) + `"}`, "command: it has 100001 bytes", true},
		})
		result := s.call(t, "Bash", `{"command":"echo new > made.txt"}`)
		if data, err := os.ReadFile(filepath.Join(s.Workspace(), "made.txt")); result.IsError || err != nil || string(data) != "new\n" {
			t.Errorf("made.txt = %q, %v (%q), want new", data, err, result.Text)
		}
	}
}

func TestBashKeepsSecrets(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-leaked")
	t.Setenv("SOME_TOKEN", "sk-leaked")
	for _, mode := range []string{"auto", "off"} {
		got := newBash(t, Options{Sandbox: mode}).call(t, "Bash", `{"command":"env; export -p; cat /proc/self/environ | tr '\\0' '\\n'; true"}`)
		if strings.Contains(got.Text, "sk-leaked") || !strings.Contains(got.Text, "PATH=") {
			t.Errorf("env with sandbox %s = %s, want no secret", mode, got.Text)
		}
	}
}

// 200 MB come out, and neither the result nor the memory in use grows with it.
func TestBashMuchOutput(t *testing.T) {
	s := newBash(t, Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	got := s.call(t, "Bash", `{"command":"echo first; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo last"}`)
	runtime.ReadMemStats(&after)
	if got.IsError || !strings.HasPrefix(got.Text, "first\nxxx") || !strings.HasSuffix(got.Text, "xxx\nlast\n") {
		t.Errorf("the result begins %q and ends %q", got.Text[:20], got.Text[len(got.Text)-20:])
	}
	if !strings.Contains(got.Text, fmt.Sprintf("[cut: %d bytes in the middle are left out]", 200_000_000+6+1+5-bashBytes)) || len(got.Text) > bashBytes+200 {
		t.Errorf("the result has %d bytes, want about %d and a note of what is missing", len(got.Text), bashBytes)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 10<<20 {
		t.Errorf("%d bytes were allocated, want a few megabytes at most", grown)
	}
}

func TestBashLimits(t *testing.T) {
	s := newBash(t, Options{Processes: 30})
	// The tree is bounded, should the limit not hold.
	got := s.call(t, "Bash", `{"command":"b() { if [ $1 -gt 0 ]; then b $(($1-1)) & b $(($1-1)) & fi; exec sleep 20; }; b 6"}`)
	if !got.IsError || !strings.Contains(got.Text, "limit of 30 processes") {
		t.Errorf("Bash(bomb) = %q, want the limit", got.Text)
	}
}

func TestBashCancelled(t *testing.T) {
	s := newBash(t, Options{})
	started := filepath.Join(s.Workspace(), "started")
	mark := fmt.Sprintf("300.%d%d", os.Getpid(), time.Now().UnixNano())
	input, err := json.Marshal(map[string]string{"command": "trap '' TERM; (setsid sleep " + mark + ") & touch started; wait; sleep " + mark})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	done := make(chan error, 1)
	go func() {
		_, err := s.tool(t, "Bash").Run(ctx, input)
		done <- err
	}()
	deadline := time.Now().Add(10 * time.Second)
	for {
		if _, err := os.Stat(started); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command did not start")
		}
		time.Sleep(2 * time.Millisecond)
	}
	cause := errors.New("enough")
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("Run(cancelled) = %v, want its cause", err)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lines {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(mark)) {
			t.Errorf("%s is still running: %q", name, data)
		}
	}
}
