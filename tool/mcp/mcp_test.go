//go:build unix

package mcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/maker-mdap/maker/tool"
)

func TestConnectRegisters(t *testing.T) {
	plain, trusted, short := fixture("good"), fixture("good"), fixture("good")
	trusted.Trusted = true
	short.Tools = []tool.Declared{{Name: "echo"}, {Name: "append", Description: "our words"}, {Name: "odd.name/here"}, {Name: "gone.tool", Description: "once was"}}
	off := Server{Command: "${NOBODY}", Disabled: true}
	var warnings []string
	s, r := connect(t, map[string]Server{"plain": plain, "trusted": trusted, "short": short, "off": off},
		&Options{Warn: func(server, text string) { warnings = append(warnings, server+": "+text) }})

	type row struct {
		Effect      tool.Class
		Idempotent  bool
		Description string
		Unavailable string
	}
	got := map[string]row{}
	perServer := map[string]int{}
	for _, l := range r.List() {
		got[l.Name] = row{l.Class, l.Idempotent, l.Description, l.Unavailable}
		perServer[l.Source]++
	}
	want := map[string]row{
		"mcp__plain__echo":            {tool.Mutate, false, "does echo", ""},
		"mcp__plain__put":             {tool.Mutate, false, "does put", ""},
		"mcp__trusted__echo":          {tool.Observe, true, "does echo", ""},
		"mcp__trusted__put":           {tool.Mutate, true, "does put", ""},
		"mcp__trusted__append":        {tool.Mutate, false, "does append", ""},
		"mcp__short__echo":            {tool.Mutate, false, "does echo", ""},
		"mcp__short__append":          {tool.Mutate, false, "our words", ""},
		"mcp__short__odd_name_here":   {tool.Mutate, false, "does odd.name/here", ""},
		"mcp__short__gone_tool":       {tool.Mutate, false, "once was", "the server does not have it"},
		"mcp__trusted__odd_name_here": {tool.Observe, true, "does odd.name/here", ""},
		"mcp__trusted__never_append":  {tool.Mutate, false, "does never_append", ""},
		"mcp__trusted__shaky_put":     {tool.Mutate, true, "does shaky_put", ""},
		"mcp__plain__odd_name_here":   {tool.Mutate, false, "does odd.name/here", ""},
		"mcp__plain__never_append":    {tool.Mutate, false, "does never_append", ""},
		"mcp__plain__structured":      {tool.Mutate, false, "does structured", ""},
		"mcp__trusted__structured":    {tool.Observe, true, "does structured", ""},
		"mcp__trusted__shaky_append":  {tool.Mutate, false, "does shaky_append", ""},
		"mcp__trusted__shaky_read":    {tool.Observe, true, "does shaky_read", ""},
		"mcp__trusted__always_dies":   {tool.Observe, true, "does always_dies", ""},
		"mcp__trusted__never_read":    {tool.Observe, true, "does never_read", ""},
	}
	for name, w := range want {
		if diff := cmp.Diff(w, got[name]); diff != "" {
			t.Errorf("List()[%s]: -want +got\n%s", name, diff)
		}
	}
	const all = 19 // several pages
	if diff := cmp.Diff(map[string]int{"plain": all, "trusted": all, "short": 4}, perServer); diff != "" {
		t.Errorf("tools by server: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{`short: it does not have the tool "gone.tool" that the configuration names`}, warnings); diff != "" {
		t.Errorf("warnings: -want +got\n%s", diff)
	}
	if got, err := call(t, r, "mcp__short__odd_name_here", `{"text":"hi"}`); err != nil || got.Text != "hi" {
		t.Errorf("odd_name_here(hi) = %v, %v, want hi", got, err)
	}

	health := s.Health()
	ready := Health{Transport: "stdio", State: Ready, Server: "fixture", Version: "1.2.3", Protocol: "2025-11-25", Tools: all}
	wantHealth := []Health{
		{Name: "off", Transport: "stdio", State: Disabled, Reason: "the configuration disables it"},
		ready, ready, ready,
	}
	wantHealth[1].Name, wantHealth[2].Name, wantHealth[3].Name = "plain", "short", "trusted"
	wantHealth[2].Tools = 3
	if diff := cmp.Diff(wantHealth, health, cmpopts.IgnoreFields(Health{}, "Took")); diff != "" {
		t.Errorf("Health(): -want +got\n%s", diff)
	}
	if health[1].Took <= 0 {
		t.Errorf("Health()[plain].Took = %v, want more", health[1].Took)
	}
}

func TestConnectModern(t *testing.T) {
	s, r := connect(t, map[string]Server{"s": fixture("modern")}, nil)
	if got, err := call(t, r, "mcp__s__echo", `{"text":"hi"}`); err != nil || got.Text != "hi" {
		t.Errorf("echo(hi) = %v, %v, want hi", got, err)
	}
	if h := s.Health()[0]; h.Protocol <= versions[0] {
		t.Errorf("Health() = %+v, want a later protocol than %s", h, versions[0])
	}
}

func TestConnectUnavailable(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("\x7fELF not really"), 0o700); err != nil {
		t.Fatal(err)
	}
	impatient := fixture("hang")
	impatient.StartTimeout = Duration(time.Second)
	tests := []struct {
		name   string
		server Server
		want   []string // in the reason
	}{
		{"exit", fixture("exit", "DB_PASSWORD", "hunter2hunter2"), []string{"it ended with exit code 3", "no such database: [redacted]"}},
		{"hang", impatient, []string{"not ready after 1s", "start_timeout", "waiting for a lock"}},
		{"garbage", fixture("garbage"), []string{"not MCP", "Welcome to the server!"}},
		{"flood", fixture("flood"), []string{"a message of more than"}},
		{"missing", Server{Command: "no-such-program"}, []string{`command: "no-such-program" is not in the PATH`}},
		{"folder", Server{Command: os.Args[0], Cwd: "/no/such/folder"}, []string{"cwd: there is no folder /no/such/folder"}},
		{"format", Server{Command: script}, []string{"cannot start", "exec format error"}},
		{"false", Server{Command: "false"}, []string{"it ended with exit code 1"}},
		{"killed", Server{Command: "sh", Args: []string{"-c", "kill -9 $$"}}, []string{"it was ended by signal 9"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.server.Tools = []tool.Declared{{Name: "x", Description: "does x"}}
			present, env := watch(t)
			if test.server.Env != nil {
				test.server.Env[env[0]] = env[1]
			}
			s, r := connect(t, map[string]Server{"bad": test.server, "good": fixture("good")}, nil)

			health := s.Health()[0]
			for _, want := range test.want {
				if !strings.Contains(health.Reason, want) {
					t.Errorf("Reason = %q, want %q in it", health.Reason, want)
				}
			}
			if health.State != Unavailable || health.Tools != 0 {
				t.Errorf("Health() = %+v, want unavailable", health)
			}
			listed := r.List()
			if i := slices.IndexFunc(listed, func(l tool.Listed) bool { return l.Name == "mcp__bad__x" }); i < 0 || listed[i].Unavailable == "" || strings.Contains(listed[i].Unavailable, "stderr") {
				t.Errorf("List() = %v, want mcp__bad__x with a short reason", listed)
			}
			if got, err := call(t, r, "mcp__good__echo", `{"text":"hi"}`); err != nil || got.Text != "hi" {
				t.Errorf("echo of the other server = %v, %v, want hi", got, err)
			}

			// The same one, required.
			test.server.Required = true
			registry := tool.NewRegistry()
			_, err := Connect(t.Context(), Config{Servers: map[string]Server{"bad": test.server, "good": fixture("good", env...)}}, registry, nil)
			if err == nil || !strings.Contains(err.Error(), `required server "bad" is not ready`) || !strings.Contains(err.Error(), test.want[0]) {
				t.Errorf("Connect(required) = %v, want an error that names it", err)
			}
			if len(registry.Names()) > 0 || len(registry.Servers()) > 0 {
				t.Errorf("registry has %v and %v, want nothing left", registry.Names(), registry.Servers())
			}
			// The other one was there, and is gone.
			n := 1
			if test.server.Env != nil {
				n = 3
			}
			wantGone(t, present.take(t, n), moment)
		})
	}
}

func TestCheck(t *testing.T) {
	present, env := watch(t)
	bad, good := fixture("exit"), fixture("good", env...)
	bad.Required = true
	c := Config{Servers: map[string]Server{"bad": bad, "good": good}}
	got, err := Check(t.Context(), c, nil)
	if err != nil || len(got) != 2 || got[0].State != Unavailable || !got[0].Required || got[1].State != Ready || got[1].Required {
		t.Errorf("Check() = %+v, %v, want an unavailable and a ready server", got, err)
	}
	if !c.Servers["bad"].Required {
		t.Error("Check() has changed the configuration")
	}
	wantGone(t, present.take(t, 1), moment)
}

func TestConnectCancelled(t *testing.T) {
	t.Parallel()
	present, env := watch(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	seen := make(chan struct{})
	go func() {
		defer close(seen)
		c := <-present.conns
		cancel(stop)
		present.conns <- c
	}()
	r := tool.NewRegistry()
	_, err := Connect(ctx, Config{Servers: map[string]Server{"slow": fixture("hang", env...)}}, r, nil)
	if !errors.Is(err, stop) || len(r.Servers()) > 0 {
		t.Errorf("Connect(cancelled) = %v with %v registered, want %v and nothing", err, r.Servers(), stop)
	}
	<-seen
	wantGone(t, present.take(t, 1), moment)
}

func TestConnectRefuses(t *testing.T) {
	r := tool.NewRegistry()
	if err := r.RegisterServer(tool.Server{Name: "taken"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"taken": "registered already", "a__b": "rename it"} {
		_, err := Connect(t.Context(), Config{Servers: map[string]Server{"a": fixture("good"), name: fixture("good")}}, r, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Connect(%s) = %v, want %q", name, err, want)
		}
		if got := r.Servers(); len(got) != 1 {
			t.Errorf("Connect(%s) left %v, want the one before", name, got)
		}
	}
}
