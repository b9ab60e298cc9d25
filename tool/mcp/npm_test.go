//go:build slow && unix

package mcp

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/maker-mdap/maker/internal/process/supervise"
	"github.com/maker-mdap/maker/tool"
)

// npmServer returns the path of a server from npm.
func npmServer(t *testing.T, name string) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(file), "..", "..", "test", "npm", "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not installed: run npm ci in test/npm", name)
	}
	return path
}

// wantNoProcess looks at the process table for what has mark in its command line
// or environment.
func wantNoProcess(t *testing.T, mark string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	for _, kind := range []string{"cmdline", "environ"} {
		files, err := filepath.Glob("/proc/[0-9]*/" + kind)
		if err != nil || len(files) == 0 {
			t.Fatalf("Glob(%s) = %v, %v", kind, files, err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err == nil && strings.Contains(string(data), mark) && !strings.HasPrefix(name, fmt.Sprintf("/proc/%d/", os.Getpid())) {
				t.Errorf("%s is left: %q", name, data)
			}
		}
	}
}

// mark is a text that no other process has.
func mark() string { return fmt.Sprintf("maker-%d-%d", os.Getpid(), time.Now().UnixNano()) }

func TestNPMFilesystem(t *testing.T) {
	mark := mark()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, mark)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"mcpServers": {"files": {"command": %q, "args": ["${DIR}"], "trusted": true, "required": true}}}`, npmServer(t, "mcp-server-filesystem"))
	c, err := ParseConfig([]byte(text), func(string) (string, bool) { return dir, true })
	if err != nil {
		t.Fatal(err)
	}
	s, r := connect(t, c.Servers, nil)
	h := s.Health()[0]
	t.Logf("%+v", h)
	if h.State != Ready || h.Tools < 10 || h.Server == "" {
		t.Errorf("Health() = %+v, want ready with its tools", h)
	}
	for name, want := range map[string]tool.Class{"read_text_file": tool.Observe, "list_directory": tool.Observe, "write_file": tool.Mutate} {
		if found, err := r.Get("mcp__files__" + name); err != nil || found.Class != want {
			t.Errorf("%s is %v, %v, want %s", name, found.Class, err, want)
		}
	}
	input := func(fields map[string]string) string {
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	a, b := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")
	steps := []struct {
		tool    string
		input   string
		want    string
		isError bool
	}{
		{"list_directory", input(map[string]string{"path": dir}), "[FILE] a.txt", false},
		{"read_text_file", input(map[string]string{"path": a}), "one\ntwo\n", false},
		{"write_file", input(map[string]string{"path": b, "content": "three — drei\n"}), "Successfully wrote", false},
		{"read_text_file", input(map[string]string{"path": b}), "three — drei\n", false},
		{"read_text_file", input(map[string]string{"path": "/etc/passwd"}), "denied", true},
		{"read_text_file", input(map[string]string{"path": filepath.Join(dir, "none")}), "ENOENT", true},
		{"read_text_file", `{}`, "path", true},
	}
	for _, step := range steps {
		began := time.Now()
		got, err := call(t, r, "mcp__files__"+step.tool, step.input)
		t.Logf("%s took %v", step.tool, time.Since(began))
		if err != nil || !strings.Contains(got.Text, step.want) || got.IsError != step.isError {
			t.Errorf("%s(%s) = %+v, %v, want %q, error: %v", step.tool, step.input, got, err, step.want, step.isError)
		}
	}
	if data, err := os.ReadFile(b); string(data) != "three — drei\n" {
		t.Errorf("b.txt = %q, %v", data, err)
	}
	began := time.Now()
	s.Close()
	t.Logf("Close took %v", time.Since(began))
	wantNoProcess(t, mark)
}

// everything calls some tools of the server that has everything.
func everything(t *testing.T, r *tool.Registry) {
	t.Helper()
	for _, step := range []struct{ tool, input, want string }{
		{"echo", `{"message":"hello"}`, "Echo: hello"},
		{"get-sum", `{"a":2,"b":40}`, "42"},
		{"get-tiny-image", `{}`, "[image, not shown, image/png, "},
		{"get-structured-content", `{"location":"Chicago"}`, "temperature"},
		{"get-resource-links", `{"count":2}`, "[link to "},
		{"get-sum", `{"a":"two"}`, "number"},
	} {
		began := time.Now()
		got, err := call(t, r, "mcp__all__"+step.tool, step.input)
		t.Logf("%s took %v", step.tool, time.Since(began))
		if err != nil || !strings.Contains(got.Text, step.want) {
			t.Errorf("%s(%s) = %+v, %v, want %q", step.tool, step.input, got, err, step.want)
		}
	}
}

func TestNPMEverything(t *testing.T) {
	mark := mark()
	// Through npx, as people have it: that is three processes.
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Fatal(err)
	}
	direct := Server{Command: npmServer(t, "mcp-server-everything"), Args: []string{"stdio"}, Env: map[string]string{"MARK": mark}}
	wrapped := Server{
		Command: npx, Args: []string{"--no-install", "mcp-server-everything", "stdio"}, Env: map[string]string{"MARK": mark},
		Cwd: filepath.Join(filepath.Dir(direct.Command), "..", ".."),
	}
	for name, config := range map[string]Server{"direct": direct, "npx": wrapped} {
		t.Run(name, func(t *testing.T) {
			s, r := connect(t, map[string]Server{"all": config}, nil)
			t.Logf("%+v", s.Health()[0])
			everything(t, r)
			began := time.Now()
			s.Close()
			t.Logf("Close took %v", time.Since(began))
			wantNoProcess(t, mark)
		})
	}
}

func TestNPMEverythingHTTP(t *testing.T) {
	mark := mark()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	start := func() *supervise.Process {
		t.Helper()
		o, err := ordersFor(Server{
			Command: npmServer(t, "mcp-server-everything"), Args: []string{"streamableHttp"},
			Env: map[string]string{"PORT": strconv.Itoa(port), "MARK": mark},
		}, "", 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		p, err := supervise.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Stop(); <-p.Done })
		for deadline := time.Now().Add(30 * time.Second); ; {
			if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
				_ = c.Close()
				return p
			}
			select {
			case <-p.Done:
				t.Fatalf("the server has ended: %s", p.Stderr)
			case <-time.After(20 * time.Millisecond):
			}
			if time.Now().After(deadline) {
				t.Fatalf("the server does not listen: %s", p.Stderr)
			}
		}
	}
	p := start()
	config := Server{Type: "http", URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", port), Trusted: true}
	s, r := connect(t, map[string]Server{"all": config}, nil)
	t.Logf("%+v", s.Health()[0])
	everything(t, r)

	// It is started again and does not know us any more; then it is not there.
	p.Stop()
	<-p.Done
	p = start()
	everything(t, r)
	p.Stop()
	<-p.Done
	if _, err := call(t, r, "mcp__all__echo", `{"message":"hello"}`); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("echo() without a server = %v, want an error", err)
	}

	s.Close()
	wantNoProcess(t, mark)
}
