//go:build unix

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker/tool"
)

// This program is its own fixtures: with these variables it is a server.
const (
	fixtureVar  = "MAKER_MCP_FIXTURE"  // which one
	journalVar  = "MAKER_MCP_JOURNAL"  // file that gets a line for each start and call
	presenceVar = "MAKER_MCP_PRESENCE" // socket that every process of it holds open
	parentVar   = "MAKER_MCP_PARENT"   // be a program that has such servers
)

func TestMain(m *testing.M) {
	if config := os.Getenv(parentVar); config != "" {
		asParent(config)
	}
	name := os.Getenv(fixtureVar)
	if name == "" {
		os.Exit(m.Run())
	}
	appear()
	journal("start")
	fixtures[name]()
	syscall.Exit(0)
}

var fixtures = map[string]func(){
	"good": func() { serve(goodServer()) },
	"exit": func() {
		fmt.Fprintln(os.Stderr, "no such database: "+os.Getenv("DB_PASSWORD"))
		syscall.Exit(3)
	},
	"hang": func() {
		fmt.Fprintln(os.Stderr, "waiting for a lock")
		_, _ = io.Copy(io.Discard, os.Stdin)
		forever()
	},
	"garbage": func() {
		fmt.Println("Welcome to the server!")
		forever()
	},
	"flood": func() {
		for {
			if _, err := os.Stdout.Write([]byte(strings.Repeat("x", 1<<20))); err != nil {
				return
			}
		}
	},
	// It answers the handshake and then goes wrong, in a way that the tool's name says.
	"raw": rawServer,
	"stubborn": func() {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		go serve(goodServer())
		forever()
	},
	// It has children: one in its group, one that has left it, both stubborn.
	"leaver": func() {
		for _, leave := range []bool{false, true} {
			child(leave)
		}
		serve(goodServer())
	},
	"child": func() {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		forever()
	},
	// It does not know the old handshake.
	"modern": func() {
		s := goodServer()
		s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
				if method == "initialize" {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
				}
				return next(ctx, method, req)
			}
		})
		serve(s)
	},
	"wrapper": func() { // as npx is
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fixtureVar+"=good")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	},
}

func forever() { select {} }

// appear makes itself seen by the test.
func appear() {
	if path := os.Getenv(presenceVar); path != "" {
		if _, err := net.Dial("unix", path); err != nil {
			fmt.Fprintln(os.Stderr, "presence:", err)
			syscall.Exit(9)
		}
	}
}

func child(leave bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fixtureVar+"=child")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: leave}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func serve(s *sdk.Server) {
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func journal(line string) int {
	path := os.Getenv(journalVar)
	if path == "" {
		return 0
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, line)
		_ = f.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(9)
	}
	return count(path, line)
}

// count returns how often a line is in a journal.
func count(path, line string) int {
	data, _ := os.ReadFile(path)
	n := 0
	for l := range strings.Lines(string(data)) {
		if strings.TrimSpace(l) == line {
			n++
		}
	}
	return n
}

// goodServer has tools for everything that a server may do, page by page.
func goodServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "fixture", Version: "1.2.3"}, &sdk.ServerOptions{PageSize: 3})
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`)
	add := func(name string, a *sdk.ToolAnnotations, run func(text string) *sdk.CallToolResult) {
		s.AddTool(&sdk.Tool{Name: name, Description: "does " + name, InputSchema: schema, Annotations: a},
			func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				var in struct{ Text string }
				if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
					return nil, err
				}
				return run(in.Text), nil
			})
	}
	readOnly, idempotent := &sdk.ToolAnnotations{ReadOnlyHint: true}, &sdk.ToolAnnotations{IdempotentHint: true}
	text := func(t string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}}
	}
	content := func(c ...sdk.Content) func(string) *sdk.CallToolResult {
		return func(string) *sdk.CallToolResult { return &sdk.CallToolResult{Content: c} }
	}
	size := int64(7)
	add("echo", readOnly, text)
	add("put", idempotent, func(t string) *sdk.CallToolResult { journal("put"); return text("put " + t) })
	add("append", nil, func(t string) *sdk.CallToolResult { journal("append"); return text("appended " + t) })
	add("fail", nil, func(string) *sdk.CallToolResult {
		r := text("there is no such row")
		r.IsError = true
		return r
	})
	add("image", readOnly, content(&sdk.ImageContent{Data: make([]byte, 1234), MIMEType: "image/png"}))
	add("mixed", readOnly, content(
		&sdk.TextContent{Text: "first"},
		&sdk.AudioContent{Data: make([]byte, 5), MIMEType: "audio/wav"},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a", MIMEType: "text/plain", Text: "inside"}},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b", Blob: []byte{1, 2, 3}}},
		&sdk.ResourceLink{URI: "file:///c", Name: "c", MIMEType: "text/csv", Size: &size, Description: "the third"},
	))
	add("structured", readOnly, func(string) *sdk.CallToolResult {
		return &sdk.CallToolResult{StructuredContent: json.RawMessage(`{"b":[1,2],"a":"x"}`)}
	})
	add("large", readOnly, func(string) *sdk.CallToolResult {
		return &sdk.CallToolResult{StructuredContent: json.RawMessage(`{"id":9007199254740993}`)}
	})
	add("both", readOnly, func(string) *sdk.CallToolResult {
		r := text("in words")
		r.StructuredContent = map[string]any{"in": "fields"}
		return r
	})
	add("nothing", readOnly, content())
	add("big", readOnly, func(string) *sdk.CallToolResult { return text(strings.Repeat("é", 1<<20)) })
	add("env", readOnly, func(string) *sdk.CallToolResult {
		env := os.Environ()
		slices.Sort(env)
		dir, _ := os.Getwd()
		return text(strings.Join(append(env, "cwd="+dir), "\n"))
	})
	// These end the server in the middle of the call, the first time.
	for name, a := range map[string]*sdk.ToolAnnotations{"shaky_read": readOnly, "shaky_put": idempotent, "shaky_append": nil} {
		add(name, a, func(string) *sdk.CallToolResult {
			if journal(name) == 1 {
				fmt.Fprintln(os.Stderr, "out of memory")
				syscall.Exit(7)
			}
			return text("survived")
		})
	}
	add("always_dies", readOnly, func(string) *sdk.CallToolResult { journal("always_dies"); syscall.Exit(7); return nil })
	never := func(name string) func(string) *sdk.CallToolResult {
		return func(string) *sdk.CallToolResult { journal(name); appear(); select {} }
	}
	add("never_read", readOnly, never("never_read"))
	add("never_append", nil, never("never_append"))
	add("odd.name/here", readOnly, text)
	return s
}

// rawServer speaks just enough of the protocol to go wrong.
func rawServer() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil {
			continue
		}
		answer := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", req.ID, result) }
		switch req.Method {
		case "initialize":
			answer(`"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"0"}}`)
		case "tools/list":
			var tools []string
			for _, name := range []string{"garbage", "unreadable", "refuse", "missing", "silence", "deaf", "plain"} {
				tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
			}
			answer(`"result":{"tools":[` + strings.Join(tools, ",") + `]}`)
		case "tools/call":
			journal(req.Params.Name)
			switch req.Params.Name {
			case "garbage":
				signal.Ignore(syscall.SIGTERM)
				fmt.Println("DEBUG: got a call")
				forever()
			case "unreadable":
				answer(`"result":{"content":[{"type":"hologram"}]}`)
			case "refuse":
				answer(`"error":{"code":-32602,"message":"there is no column x"}`)
			case "missing":
				answer(`"error":{"code":-32004,"message":"there is no row x"}`)
			case "silence": // it closes its stdout and lives on
				_ = os.Stdout.Close()
				forever()
			case "deaf": // it answers and never reads again
				answer(`"result":{"content":[{"type":"text","text":"what?"}]}`)
				forever()
			case "plain":
				answer(`"result":{"content":[]}`)
			}
		}
	}
}

// setCallTimeout changes it while nothing is under way.
func (s *Servers) setCallTimeout(limit time.Duration) { s.all[0].config.CallTimeout = Duration(limit) }

// fixture configures a server that is this program.
func fixture(name string, env ...string) Server {
	s := Server{Command: os.Args[0], Env: map[string]string{fixtureVar: name}, StartTimeout: Duration(20 * time.Second)}
	for i := 0; i < len(env); i += 2 {
		s.Env[env[i]] = env[i+1]
	}
	return s
}

// connect connects to servers and closes them at the end of the test.
func connect(t *testing.T, servers map[string]Server, o *Options) (*Servers, *tool.Registry) {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	if o.Grace == 0 {
		o.Grace = 200 * time.Millisecond
	}
	registry := tool.NewRegistry()
	s, err := Connect(t.Context(), Config{Servers: servers}, registry, o)
	if err != nil {
		t.Fatalf("Connect() = %v", err)
	}
	t.Cleanup(s.Close)
	return s, registry
}

// call runs a registered tool.
func call(t *testing.T, r *tool.Registry, name, input string) (tool.Result, error) {
	t.Helper()
	found, err := r.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return found.Run(t.Context(), json.RawMessage(input))
}

// presence counts processes by what they hold open.
type presence struct {
	listener net.Listener
	conns    chan net.Conn
}

// watch returns a presence and the variable that makes a fixture part of it.
func watch(t *testing.T) (*presence, []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "mcp") // short: a socket's path is
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	p := &presence{l, make(chan net.Conn, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.conns <- c
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		_ = os.RemoveAll(dir)
	})
	return p, []string{presenceVar, path}
}

// take waits for n processes.
func (p *presence) take(t *testing.T, n int) []net.Conn {
	t.Helper()
	var out []net.Conn
	for range n {
		select {
		case c := <-p.conns:
			out = append(out, c)
		case <-time.After(20 * time.Second):
			t.Fatalf("%d processes have started, want %d", len(out), n)
		}
	}
	return out
}

// moment is for what has happened already.
const moment = 100 * time.Millisecond

// wantGone fails unless the processes have ended, or do within limit.
func wantGone(t *testing.T, conns []net.Conn, limit time.Duration) {
	t.Helper()
	for i, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(limit))
		if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("process %d of %d is still there", i+1, len(conns))
		}
		_ = c.Close()
	}
}

// asParent connects to servers, says so and waits to be killed.
func asParent(config string) {
	_ = os.Unsetenv(parentVar)
	c, err := ParseConfig([]byte(config), nil)
	if err == nil {
		_, err = Connect(context.Background(), c, tool.NewRegistry(), nil)
	}
	fmt.Println("connected", err)
	forever()
}
