package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/tool"
)

// variables are those that tests know.
func variables(name string) (string, bool) {
	value, ok := map[string]string{
		"HOME": "/home/me", "TOKEN": "t0ken-t0ken", "EMPTY": "", "DOLLAR": "${HOME}", "PORT": "8080",
	}[name]
	return value, ok
}

var sameConfig = cmpopts.IgnoreUnexported(Server{})

func TestParseConfig(t *testing.T) {
	const text = `{
	  "somebody": "else's",
	  "mcpServers": {
	    "files": {
	      "command": "npx",
	      "args": ["-y", "server-filesystem", "${HOME}/data", "$HOME", "${x%y}", "${EMPTY}"],
	      "env": {"KEY": "${TOKEN}", "LEVEL": "${LEVEL:-info}", "MODE": "${EMPTY:-fast}", "RAW": "${DOLLAR}", "NONE": "${LEVEL:-}"},
	      "cwd": "${HOME}",
	      "timeout": 60000, "autoApprove": ["x"], "trust": {"a": 1},
	      "type": null
	    },
	    "web": {
	      "type": "streamable-http",
	      "url": "http://localhost:${PORT}/mcp",
	      "headers": {"Authorization": "Bearer ${TOKEN}"},
	      "tools": [{"name": "search", "description": "Finds things.", "x": 1}, {"name": "get.page"}],
	      "trusted": true, "required": true,
	      "start_timeout": "5s", "call_timeout": "1m30s"
	    },
	    "off": {"command": "${NOBODY}", "disabled": true}
	  }
	}`
	want := Config{Servers: map[string]Server{
		"files": {
			Command: "npx",
			Args:    []string{"-y", "server-filesystem", "/home/me/data", "$HOME", "${x%y}", ""},
			Env:     map[string]string{"KEY": "t0ken-t0ken", "LEVEL": "info", "MODE": "fast", "RAW": "${HOME}", "NONE": ""},
			Cwd:     "/home/me",
		},
		"web": {
			Type:         "streamable-http",
			URL:          "http://localhost:8080/mcp",
			Headers:      map[string]string{"Authorization": "Bearer t0ken-t0ken"},
			Tools:        []tool.Declared{{Name: "search", Description: "Finds things."}, {Name: "get.page"}},
			Trusted:      true,
			Required:     true,
			StartTimeout: Duration(5 * time.Second),
			CallTimeout:  Duration(90 * time.Second),
		},
		"off": {Command: "${NOBODY}", Disabled: true},
	}}
	got, err := ParseConfig([]byte(text), variables)
	if diff := cmp.Diff(want, got, sameConfig); diff != "" || err != nil {
		t.Errorf("ParseConfig() = %v, -want +got\n%s", err, diff)
	}
	if diff := cmp.Diff(defaultStartTimeout, got.Servers["files"].startTimeout()); diff != "" {
		t.Errorf("startTimeout(): -want +got\n%s", diff)
	}

	// What maker.yaml says the same way is the same.
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil { // JSON is YAML
		t.Fatal(err)
	}
	fromMap, err := FromMap(doc["mcpServers"].(map[string]any), variables)
	if diff := cmp.Diff(want, fromMap, sameConfig); diff != "" || err != nil {
		t.Errorf("FromMap() = %v, -want +got\n%s", err, diff)
	}
	var direct Config
	if err := yaml.Unmarshal([]byte(text), &direct); err != nil {
		t.Fatal(err)
	}
	expanded, err := direct.Expand(variables)
	if diff := cmp.Diff(want, expanded, sameConfig); diff != "" || err != nil {
		t.Errorf("Expand(YAML) = %v, -want +got\n%s", err, diff)
	}
	if direct.Servers["files"].Args[2] != "${HOME}/data" || direct.Servers["files"].Env["KEY"] != "${TOKEN}" {
		t.Errorf("Expand() changed what it was given: %+v", direct.Servers["files"])
	}

	// And there and back again.
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseConfig(data, variables)
	want.Servers["files"].Env["RAW"] = "/home/me" // a variable's value was one
	if diff := cmp.Diff(want, back, sameConfig); diff != "" || err != nil {
		t.Errorf("ParseConfig(Marshal()) = %v, -want +got\n%s", err, diff)
	}
}

func TestParseConfigErrors(t *testing.T) {
	one := func(server string) string { return `{"mcpServers": {"s": ` + server + `}}` }
	tests := []struct {
		text string
		want string // in the error
	}{
		{``, "line 1"},
		{"{\n\"mcpServers\": {\n]}", "line 3"},
		{`[]`, "got a list, want an object"},
		{`{}`, "has no mcpServers"},
		{`{"mcpServers": null}`, "has no mcpServers"},
		{`{"mcpServers": []}`, "mcpServers: got a list, want an object"},
		{one(`"npx"`), `server "s": it: got text, want an object`},
		{one(`null`), `server "s": it has neither command nor url`},
		{one(`{}`), `server "s": it has neither command nor url`},
		{one(`{"type": "stdio"}`), "command is missing"},
		{one(`{"type": "http"}`), "url: it is missing"},
		{one(`{"type": "http", "command": "x"}`), "do not go with a url"},
		{one(`{"type": "sse", "url": "http://x"}`), `"sse" was replaced by streamable HTTP`},
		{one(`{"type": "pigeon", "url": "http://x"}`), `there is no transport "pigeon"; there are "stdio" and "http"`},
		{one(`{"command": "x", "url": "http://x"}`), "command and url exclude each other"},
		{one(`{"command": "x", "headers": {"A": "b"}}`), "headers go with a url"},
		{one(`{"url": "http://x", "env": {"A": "b"}}`), "do not go with a url"},
		{one(`{"url": "ftp://x"}`), "url: want http:// or https://"},
		{one(`{"url": "http://"}`), "url: want http:// or https://"},
		{one(`{"url": "http://x\u007f"}`), "url: it cannot be read"},
		{one(`{"command": 1}`), `server "s": command: got a number, want text`},
		{one(`{"command": "x", "args": "-y"}`), "args: got text, want a list of texts"},
		{one(`{"command": "x", "args": ["-p", 80]}`), "args: got a number, want text"},
		{one(`{"command": "x", "env": ["A=b"]}`), "env: got a list, want an object"},
		{one(`{"command": "x", "env": {"PORT": 80}}`), "env: got a number, want text"},
		{one(`{"command": "x", "env": {"ON": true}}`), "env: got true or false, want text"},
		{one(`{"command": "x", "cwd": {}}`), "cwd: got an object, want text"},
		{one(`{"url": ["http://x"]}`), "url: got a list, want text"},
		{one(`{"command": "x", "trusted": "yes"}`), "trusted: got text, want true or false"},
		{one(`{"command": "x", "required": 1}`), "required: got a number, want true or false"},
		{one(`{"command": "x", "disabled": "no"}`), "disabled: got text, want true or false"},
		{one(`{"command": "x", "disabled": true, "required": true}`), "both required and disabled"},
		{one(`{"command": "x", "start_timeout": 30}`), `start_timeout: got a number, want text such as "30s"`},
		{one(`{"command": "x", "start_timeout": "soon"}`), `"soon" is no duration such as "30s"`},
		{one(`{"command": "x", "call_timeout": "-1s"}`), `"-1s" is no duration`},
		{one(`{"command": "x", "call_timeout": "0s"}`), `"0s" is no duration`},
		{one(`{"command": "x", "tools": {}}`), "tools: got an object, want a list"},
		{one(`{"command": "x", "tools": []}`), "tools is empty"},
		{one(`{"command": "x", "tools": ["read"]}`), "tools: got text, want {"},
		{one(`{"command": "x", "tools": [null]}`), "tools[0].name is missing"},
		{one(`{"command": "x", "tools": [{"name": 1}]}`), "tools.name: got a number, want text"},
		{one(`{"command": "x", "tools": [{"description": "d"}]}`), "tools[0].name is missing"},
		{one(`{"command": "x", "tools": [{"name": "a"}, {"name": "a"}]}`), `tools[1]: "a" is there twice`},
		{`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`, `"a"`},
		{one(`{"command": "${NOBODY}"}`), `server "s": command: the variable NOBODY is not set`},
		{one(`{"command": "x", "args": ["${HOME}", "${NOBODY}"]}`), "args[1]: the variable NOBODY is not set"},
		{one(`{"command": "x", "env": {"A": "${NOBODY}"}}`), "env.A: the variable NOBODY is not set"},
		{one(`{"command": "x", "cwd": "${NOBODY}"}`), "cwd: the variable NOBODY is not set"},
		{one(`{"url": "http://${NOBODY}"}`), "url: the variable NOBODY is not set"},
		{one(`{"url": "http://x", "headers": {"A": "${NOBODY}"}}`), "headers.A: the variable NOBODY is not set"},
		{one(`{"command": "${NOBODY:-${HOME}}"}`), "command: the default of NOBODY has a variable in it"},
		{one(`{"command": "${EMPTY}"}`), "neither command nor url"},
		{`{"mcpServers": {"my server": {"command": "x"}}}`, `server "my server": a name starts with a letter`},
		{`{"mcpServers": {"": {"command": "x"}}}`, `server "": a name starts with a letter`},
		{`{"mcpServers": {"a__b": {"command": "x"}}}`, "no __ in it"},
		{`{"mcpServers": {"builtin": {"command": "x"}}}`, `not "builtin"`},
		{`{"mcpServers": {"` + strings.Repeat("a", 65) + `": {"command": "x"}}}`, "at most 64"},
		{`{"mcpServers": {"b": {}, "a": {"command": "${NOBODY}"}}}`, `server "a"`},
		{strings.Repeat(" ", maxConfig+1), "is the most"},
	}
	for _, test := range tests {
		got, err := ParseConfig([]byte(test.text), variables)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("ParseConfig(%.100s) = %v, %v, want an error with %q", test.text, got, err, test.want)
		}
	}
}

// TestParseConfigAll: one round of mending is enough.
func TestParseConfigAll(t *testing.T) {
	_, err := ParseConfig([]byte(`{"mcpServers": {"b": {"command": 1}, "a": {"args": 2}, "c": {"command": "x"}}}`), variables)
	if err == nil || !strings.Contains(err.Error(), `server "a"`) || !strings.Contains(err.Error(), `server "b"`) {
		t.Errorf("ParseConfig() = %v, want both errors", err)
	}
}

func TestSecrets(t *testing.T) {
	c, err := ParseConfig([]byte(`{"mcpServers": {
		"a": {"command": "x", "args": ["--key", "${TOKEN}", "${HOME}"], "env": {"API_KEY": "k-literal", "LEVEL": "not-secret"}},
		"b": {"url": "https://me:passw0rd@x/?api_key=in%20query&q=public-thing", "headers": {"Authorization": "Bearer h-literal", "X-Team": "blue-team"}}
	}}`), variables)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"t0ken-t0ken", "k-literal", "Bearer h-literal", "h-literal", "passw0rd", "in query", "in+query"}
	if diff := cmp.Diff(want, c.Secrets()); diff != "" {
		t.Errorf("Secrets(): -want +got\n%s", diff)
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{
		`{"mcpServers": {"s": {"command": "x", "args": ["${HOME}", "${A:-b}"], "env": {"A": "${TOKEN}"}}}}`,
		`{"mcpServers": {"s": {"type": "http", "url": "http://${PORT}/?key=${TOKEN}", "headers": {"A": "b"}, "tools": [{"name": "n"}]}}}`,
		`{"mcpServers": {"s": {"disabled": true, "start_timeout": "1s"}, "t": null}}`,
		`{"mcpServers": {"s": {"command": "${${HOME}}"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConfig(data, variables)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "mcp: ") {
				t.Errorf("ParseConfig() = %v, want an error that says whose it is", err)
			}
			return
		}
		for name, s := range c.Servers {
			if err := tool.NewRegistry().RegisterServer(tool.Server{Name: name}); err != nil {
				t.Errorf("ParseConfig() has a server %q: %v", name, err)
			}
			if !s.Disabled && (s.Command == "") == (s.URL == "") {
				t.Errorf("ParseConfig() = %+v, want either a command or a url", s)
			}
		}
		_ = c.Secrets()
		// What was written out is read back the same, but for what looks like a variable.
		out, err := json.Marshal(c)
		if err != nil {
			t.Fatalf("Marshal(%+v) = %v", c, err)
		}
		if strings.Contains(string(out), "${") {
			return
		}
		back, err := ParseConfig(out, variables)
		if diff := cmp.Diff(c, back, sameConfig, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("ParseConfig(%s) = %v, -want +got\n%s", out, err, diff)
		}
	})
}
