package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker/internal/mcpserver"
	"github.com/maker-mdap/maker/runs"
)

// mcpCommand is the real program in a folder of its own, with what a person has set there.
func mcpCommand(t *testing.T, settings string, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "maker.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("maker", append([]string{"mcp"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	return cmd
}

// ended waits for the end of the program and wants it to be a good one.
func ended(t *testing.T, cmd *exec.Cmd, errors *bytes.Buffer) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("maker mcp: %v\n%s", err, errors)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Fatalf("maker mcp goes on without a client\n%s", errors)
	}
}

// callTool calls a tool that succeeds.
func callTool(t *testing.T, client *mcp.ClientSession, name string, args map[string]any) mcpserver.Standing {
	t.Helper()
	r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s(%v): %v", name, args, err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	var st mcpserver.Standing
	if err := json.Unmarshal([]byte(text), &st); err != nil || r.IsError {
		t.Fatalf("%s(%v) = %s, %v", name, args, text, err)
	}
	return st
}

func connect(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

const rightSettings = "model: sim/default?p=1\n"

func TestMCPOverStdio(t *testing.T) {
	cmd := mcpCommand(t, rightSettings)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	client := connect(t, &mcp.CommandTransport{Command: cmd, TerminateDuration: patience})
	if st := callTool(t, client, "ask", map[string]any{"question": "What is 6 times 7?", "number": true, "k": 5}); st.Status != "completed" || st.Answer != 42.0 || st.Votes[0].Votes != 5 {
		t.Errorf("ask = %+v, want 42 by 5 votes", st)
	}
	// A call waits for the person, who answers from another process.
	st := callTool(t, client, "script", map[string]any{"script": "def main(args):\n    call('Write', file_path = 'note.txt', content = 'hello')\n    return 'done'\n"})
	if st.Status != "waiting" || !strings.Contains(st.Next, "`maker answer "+st.Run+"`") {
		t.Fatalf("script = %+v, want it to wait for the person", st)
	}
	answer := exec.Command("maker", "answer", st.Run, "--text", "yes")
	answer.Dir, answer.Env = cmd.Dir, cmd.Env
	if out, err := answer.CombinedOutput(); err != nil {
		t.Fatalf("maker answer: %v\n%s", err, out)
	}
	if st = callTool(t, client, "follow", map[string]any{"run": st.Run, "wait_seconds": 50}); st.Status != "completed" || st.Answer != "done" || len(st.Changes) != 1 {
		t.Errorf("follow after the answer = %+v, want it to be completed", st)
	}
	if err := client.Close(); err != nil {
		t.Errorf("the program ended with %v\n%s", err, &errors)
	}
	if errors.Len() > 0 {
		t.Errorf("stderr is %s", &errors)
	}
}

// slowSettings are those of a person whose model takes an hour.
const slowSettings = "model: sim/default?latency=1h,0\ncall_timeout: 2h\n"

// startedRun waits for the first run of a folder.
func startedRun(t *testing.T, dir string) string {
	t.Helper()
	beat := time.NewTicker(10 * time.Millisecond)
	defer beat.Stop()
	late := time.After(patience)
	for {
		if list, _ := runs.List(filepath.Join(dir, "runs")); len(list) == 1 && list[0].State == "running" {
			return list[0].Dir
		}
		select {
		case <-beat.C:
		case <-late:
			t.Fatal("there is no run")
		}
	}
}

func wantPaused(t *testing.T, dir string) {
	t.Helper()
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := run.Result(); err != nil || r.Stop != "paused" {
		t.Errorf("Result() = %+v, %v, want it to be paused", r, err)
	}
}

// messages begin a session and ask something.
const messages = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"question":"What is 6 times 7?","number":true}}}
`

// TestMCPClientKilled: when a client is killed the system closes its ends of both pipes.
func TestMCPClientKilled(t *testing.T) {
	for _, end := range []string{"killed", "terminated"} {
		t.Run(end, func(t *testing.T) {
			cmd := mcpCommand(t, slowSettings)
			var errors bytes.Buffer
			cmd.Stderr = &errors
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(in, messages); err != nil {
				t.Fatal(err)
			}
			dir := startedRun(t, cmd.Dir)
			if end == "killed" {
				in.Close()
				out.Close()
			} else if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			ended(t, cmd, &errors)
			wantPaused(t, dir)
		})
	}
}

// TestMCPStdinIsHostile: what is no message ends the program or is an error, and nothing but
// messages is written.
func TestMCPStdinIsHostile(t *testing.T) {
	for name, input := range map[string]string{
		"nothing":  "",
		"no JSON":  "hello\n",
		"no end":   messages + `{"jsonrpc":"2.0","id":3,"method":`,
		"a number": messages + "7\n",
		"too long": messages + `{"jsonrpc":"2.0","id":3,"method":"` + strings.Repeat("x", 17<<20) + "\"}\n",
		"unknown":  messages + `{"jsonrpc":"2.0","id":3,"method":"runs/answer","params":{}}` + "\n",
		"no tool":  messages + `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"answer","arguments":{"run":"last","text":"yes"}}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			cmd := mcpCommand(t, rightSettings)
			cmd.Stdin = strings.NewReader(input)
			var out, errors bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errors
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
			defer stop()
			err := cmd.Run()
			if ctx.Err() != nil {
				t.Fatalf("it goes on; stderr is %s", &errors)
			}
			if strings.Contains(errors.String(), "panic") {
				t.Errorf("err %v; stderr is %s", err, &errors)
			}
			for line := range strings.Lines(out.String()) {
				var message struct {
					Version string `json:"jsonrpc"`
				}
				if json.Unmarshal([]byte(line), &message) != nil || message.Version != "2.0" {
					t.Errorf("stdout has %q, want messages alone", line)
				}
			}
		})
	}
}

// bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func TestMCPOverHTTP(t *testing.T) {
	cmd := mcpCommand(t, rightSettings, "--http", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line := func(r io.Reader) string {
		text, err := bufio.NewReader(r).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(text)
	}
	url := line(out)
	token, ok := strings.CutPrefix(line(errs), "token: ")
	if !ok || len(token) < 20 {
		t.Fatalf("the token is %q", token)
	}
	body, _, _ := strings.Cut(messages, "\n")
	for _, test := range []struct {
		name                string
		token, host, origin string
		want                int
	}{
		{"no token", "", "", "", http.StatusUnauthorized},
		{"another token", token + "x", "", "", http.StatusUnauthorized},
		{"another name", token, "evil.example", "", http.StatusForbidden},
		{"another site", token, "", "http://evil.example", http.StatusForbidden},
		{"fine", token, "", "", http.StatusOK},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if req.Host = test.host; test.token != "" {
			req.Header.Set("Authorization", "Bearer "+test.token)
		}
		if test.origin != "" {
			req.Header.Set("Origin", test.origin)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != test.want {
			t.Errorf("%s: status %d, want %d", test.name, resp.StatusCode, test.want)
		}
	}
	client := connect(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}})
	if st := callTool(t, client, "ask", map[string]any{"question": "What is 6 times 7?", "number": true}); st.Status != "completed" || st.Answer != 42.0 {
		t.Errorf("ask = %+v, want 42", st)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(errs)
	if err != nil {
		t.Fatal(err)
	}
	ended(t, cmd, bytes.NewBuffer(rest))
}

// TestMCPRunsATask: a task in words is planned and carried out, and what it writes waits for
// the person.
// TestMCPTokenFile: with a token of the person's own none is printed, and only that one will
// do; a file that others can read is refused.
func TestMCPTokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	token := strings.Repeat("0123456789abcdef", 4)
	if err := os.WriteFile(file, []byte(token+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	open := mcpCommand(t, rightSettings, "--http", "127.0.0.1:0", "--token-file", file)
	if said, err := open.CombinedOutput(); err == nil || !strings.Contains(string(said), "chmod 600") || strings.Contains(string(said), token) {
		t.Errorf("a file that others can read: %v, %s", err, said)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := mcpCommand(t, rightSettings, "--http", "127.0.0.1:0", "--token-file", file)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	other := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token[1:])}}
	if _, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), other, nil); err == nil {
		t.Error("another token will do")
	}
	client := connect(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}})
	if st := callTool(t, client, "ask", map[string]any{"question": "What is 6 times 7?", "number": true}); st.Status != "completed" || st.Answer != 42.0 {
		t.Errorf("ask = %+v, want 42", st)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended(t, cmd, &errs)
	if strings.Contains(errs.String(), "token") {
		t.Errorf("it prints %s", errs.String())
	}
}

func TestMCPRunsATask(t *testing.T) {
	cmd := mcpCommand(t, rightSettings)
	if err := os.Mkdir(filepath.Join(cmd.Dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cmd.Dir, "src", "a.go"), []byte("package a // TODO: one\n// TODO: two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var errors bytes.Buffer
	cmd.Stderr = &errors
	client := connect(t, &mcp.CommandTransport{Command: cmd, TerminateDuration: patience})
	st := callTool(t, client, "run", map[string]any{"task": "Find the files with TODO comments in src, count them per file, and write a summary to summary.md.", "k": 2})
	if st.Status == "running" {
		st = callTool(t, client, "follow", map[string]any{"run": st.Run, "wait_seconds": 50})
	}
	file := filepath.Join(cmd.Dir, "summary.md")
	if _, err := os.Stat(file); st.Status != "waiting" || len(st.Waits) != 1 || st.Waits[0].Tool != "Write" || err == nil {
		t.Fatalf("run = %+v, %v, want it to wait before it writes", st, err)
	}
	answer := exec.Command("maker", "answer", st.Run, "--text", "yes")
	answer.Dir, answer.Env = cmd.Dir, cmd.Env
	if out, err := answer.CombinedOutput(); err != nil {
		t.Fatalf("maker answer: %v\n%s", err, out)
	}
	st = callTool(t, client, "follow", map[string]any{"run": st.Run, "wait_seconds": 50})
	if data, err := os.ReadFile(file); st.Status != "completed" || st.Answer == nil || len(st.Changes) != 1 || st.Changes[0].Status != "done" || err != nil || len(data) == 0 {
		t.Errorf("after the approval the run is %+v, %v, want it to be completed with the file", st, err)
	}
}
