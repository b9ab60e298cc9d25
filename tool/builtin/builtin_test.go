package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/tool"
)

// newSet returns tools on a workspace with the given files. A name that ends in
// a slash is a folder, and a content that starts with "-> " makes a link.
func newSet(t *testing.T, o Options, files map[string]string) *Set {
	t.Helper()
	if o.Workspace == "" {
		o.Workspace = t.TempDir()
	}
	for name, content := range files {
		path := filepath.Join(o.Workspace, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		target, isLink := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		case isLink:
			err = errors.Join(err, os.Symlink(target, path))
		default:
			err = errors.Join(err, os.WriteFile(path, []byte(content), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *Set) tool(t *testing.T, name string) tool.Tool {
	t.Helper()
	for _, made := range s.Tools() {
		if made.Name == name {
			return made
		}
	}
	t.Fatalf("there is no tool %s", name)
	return tool.Tool{}
}

// call runs a tool. In the input, $W stands for the workspace.
func (s *Set) call(t *testing.T, name, input string) tool.Result {
	t.Helper()
	input = strings.ReplaceAll(input, "$W", s.Workspace())
	result, err := s.tool(t, name).Run(t.Context(), json.RawMessage(input))
	if err != nil {
		t.Fatalf("%s(%s) = %v, want a result", name, input, err)
	}
	return result
}

// A callTest is a call and what comes of it.
type callTest struct {
	name  string
	input string
	want  string // the text, or a part of it if it failed
	fails bool
}

func (s *Set) check(t *testing.T, name string, tests []callTest) {
	t.Helper()
	for _, test := range tests {
		got := s.call(t, name, test.input)
		want := strings.ReplaceAll(test.want, "$W", s.Workspace())
		if got.IsError != test.fails || !test.fails && got.Text != want || test.fails && !strings.Contains(got.Text, want) {
			t.Errorf("%s(%s): %s = %q (error %v), want %q (error %v)", name, test.input, test.name, got.Text, got.IsError, want, test.fails)
		}
	}
}

func TestSet(t *testing.T) {
	s := newSet(t, Options{}, nil)
	type class struct {
		Effect     tool.Class
		Idempotent bool
		Available  bool
	}
	got := map[string]class{}
	registry := tool.NewRegistry()
	for _, made := range s.Tools() {
		got[made.Name] = class{made.Class, made.Idempotent, made.Unavailable == ""}
		if made.Source != tool.Builtin || len(made.Description) < 50 {
			t.Errorf("%s: source %q, description %q", made.Name, made.Source, made.Description)
		}
		if err := registry.Register(made); err != nil {
			t.Error(err)
		}
	}
	want := map[string]class{
		"Read":            {tool.Pure, true, true},
		"Glob":            {tool.Pure, true, true},
		"Grep":            {tool.Pure, true, true},
		"WebFetch":        {tool.Observe, true, true},
		"WebSearch":       {tool.Observe, true, false},
		"Write":           {tool.Mutate, true, true},
		"Edit":            {tool.Mutate, false, true},
		"Bash":            {tool.Mutate, false, true},
		"AskUserQuestion": {tool.Human, false, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(Names(), registry.Names()); diff != "" {
		t.Errorf("Names: -want +got\n%s", diff)
	}
	if s.Sandbox() == "" {
		t.Error("Sandbox() = nothing, want what is in force")
	}
}

func TestSubset(t *testing.T) {
	s := newSet(t, Options{Tools: []string{"Write", "Read"}}, nil)
	var names []string
	for _, made := range s.Tools() {
		names = append(names, made.Name)
	}
	if diff := cmp.Diff([]string{"Write", "Read"}, names); diff != "" {
		t.Errorf("tools: -want +got\n%s", diff)
	}
	if s.Sandbox() != "" {
		t.Errorf("Sandbox() = %q without Bash, want nothing", s.Sandbox())
	}
	for _, o := range []Options{
		{Tools: []string{"read"}}, {Tools: []string{"Read", "Read"}}, {Workspace: "/no/such/folder"}, {Sandbox: "maybe"},
	} {
		if _, err := New(t.Context(), o); err == nil {
			t.Errorf("New(%+v) succeeded, want an error", o)
		}
	}
	if _, err := New(t.Context(), Options{Tools: []string{"Nope"}}); !errors.Is(err, tool.ErrUnknown) {
		t.Errorf("New(Nope) = %v, want ErrUnknown", err)
	}
}

func TestIntentsAgree(t *testing.T) {
	s := newSet(t, Options{}, nil)
	tests := []struct{ name, a, b string }{
		{"Bash", `{"command":"make","description":"Build it"}`, `{"description":"Runs make", "command":"make"}`},
		{"Edit", `{"file_path":"a","old_string":"x","new_string":"y"}`, `{"file_path":"a","old_string":"x","new_string":"y","replace_all":false}`},
	}
	for _, test := range tests {
		a, errA := s.tool(t, test.name).Intent(json.RawMessage(test.a))
		b, errB := s.tool(t, test.name).Intent(json.RawMessage(test.b))
		if errA != nil || errB != nil || a.Key() != b.Key() {
			t.Errorf("intents %s (%v) and %s (%v): want them to agree", a.Key(), errA, b.Key(), errB)
		}
	}
}

func TestAskUserQuestion(t *testing.T) {
	ask := newSet(t, Options{Tools: []string{"AskUserQuestion"}}, nil).tool(t, "AskUserQuestion")
	if ask.Run != nil {
		t.Error("AskUserQuestion can be run, want it asked by somebody else")
	}
	for input, ok := range map[string]bool{
		`{"question":"Which?","options":["a","b"]}`: true,
		`{"question":"Why?"}`:                       true,
		`{"question":""}`:                           false,
		`{"options":["a"]}`:                         false,
		`{"question":"x","options":"a"}`:            false,
	} {
		if err := ask.Validate(json.RawMessage(input)); (err == nil) != ok {
			t.Errorf("Validate(%s) = %v, want ok %v", input, err, ok)
		}
	}
}

func TestCancelledCalls(t *testing.T) {
	s := newSet(t, Options{}, map[string]string{"a.txt": "x\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("over")
	cancel(cause)
	for name, input := range map[string]string{
		"Bash": `{"command":"touch made"}`, "Glob": `{"pattern":"**"}`, "Grep": `{"pattern":"x"}`, "WebFetch": `{"url":"http://example.com"}`,
	} {
		if _, err := s.tool(t, name).Run(ctx, json.RawMessage(input)); !errors.Is(err, cause) {
			t.Errorf("%s, cancelled = %v, want its cause", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(s.Workspace(), "made")); err == nil {
		t.Error("a cancelled command ran")
	}
}
