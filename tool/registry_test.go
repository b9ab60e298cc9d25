package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/tool"
)

func run(context.Context, json.RawMessage) (tool.Result, error) { return tool.Result{}, nil }

func plainTool(name, source string) tool.Tool {
	return tool.Tool{Name: name, Description: "Does " + name + ".\nMore.", Schema: json.RawMessage(`{"type":"object"}`), Class: tool.Mutate, Source: source, Run: run}
}

func TestRegister(t *testing.T) {
	change := func(f func(*tool.Tool)) tool.Tool {
		made := plainTool("B", tool.Builtin)
		f(&made)
		return made
	}
	tests := []struct {
		name string
		add  tool.Tool
		want string // of the error
	}{
		{"fine", plainTool("B", tool.Builtin), ""},
		{"human", change(func(t *tool.Tool) { t.Class, t.Run = tool.Human, nil }), ""},
		{"no name", change(func(t *tool.Tool) { t.Name = "" }), "cannot be the name"},
		{"bad name", change(func(t *tool.Tool) { t.Name = "a b" }), "cannot be the name"},
		{"long name", change(func(t *tool.Tool) { t.Name = strings.Repeat("a", 129) }), "cannot be the name"},
		{"taken", plainTool("A", tool.Builtin), "registered already"},
		{"no Run", change(func(t *tool.Tool) { t.Run = nil }), "cannot be run"},
		{"human that runs", change(func(t *tool.Tool) { t.Class = tool.Human }), "for a person"},
		{"no class", change(func(t *tool.Tool) { t.Class = "" }), "effect class"},
		{"unknown class", change(func(t *tool.Tool) { t.Class = "harmless" }), "effect class"},
		{"no schema", change(func(t *tool.Tool) { t.Schema = nil }), "schema"},
		{"schema is no object", change(func(t *tool.Tool) { t.Schema = json.RawMessage(`null`) }), "schema"},
	}
	for _, test := range tests {
		r := tool.NewRegistry()
		if err := r.Register(plainTool("A", tool.Builtin)); err != nil {
			t.Fatal(err)
		}
		err := r.Register(plainTool("C", tool.Builtin), test.add)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("Register(%s) = %v, want %q", test.name, err, test.want)
		}
		names := []string{"A"}
		if err == nil {
			names = []string{"A", "B", "C"}
		}
		if diff := cmp.Diff(names, r.Names()); diff != "" {
			t.Errorf("after Register(%s), Names: -want +got\n%s", test.name, diff)
		}
	}
	twice := plainTool("A", "")
	if err := tool.NewRegistry().Register(twice, twice); err == nil {
		t.Error("Register(A, A) succeeded, want an error")
	}
}

func TestGet(t *testing.T) {
	r := tool.NewRegistry()
	search := plainTool("Search", tool.Builtin)
	search.Unavailable = "no back end"
	if err := r.Register(plainTool("Read", tool.Builtin), search, plainTool("mcp__db__get", "db")); err != nil {
		t.Fatal(err)
	}
	if err := r.RegisterServer(tool.Server{Name: "db"}); err != nil {
		t.Fatal(err)
	}
	check := func(name string, want error, text string) {
		t.Helper()
		got, err := r.Get(name)
		if !errors.Is(err, want) || err == nil && got.Name != name || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("Get(%s) = %q, %v, want %v with %q", name, got.Name, err, want, text)
		}
	}
	check("Read", nil, "")
	check("read", tool.ErrUnknown, "Read, Search, mcp__db__get")
	check("Search", tool.ErrUnavailable, "no back end")
	check("mcp__db__get", nil, "")
	if err := r.SetUnavailable("db", "it does not start"); err != nil {
		t.Fatal(err)
	}
	check("mcp__db__get", tool.ErrUnavailable, "it does not start")
	check("Read", nil, "")
	if err := r.SetUnavailable("db", ""); err != nil {
		t.Fatal(err)
	}
	check("mcp__db__get", nil, "")
	if err := r.SetUnavailable("other", "x"); err == nil {
		t.Error("SetUnavailable(other) succeeded, want an error")
	}
}

func TestServers(t *testing.T) {
	r := tool.NewRegistry()
	for _, name := range []string{"", "a b", "a__b", tool.Builtin} {
		if err := r.RegisterServer(tool.Server{Name: name}); err == nil {
			t.Errorf("RegisterServer(%q) succeeded, want an error", name)
		}
	}
	db := tool.Server{Name: "db", Unavailable: "it does not start", Declared: []tool.Declared{{"get", "Gets."}, {"put", "Puts."}}}
	for _, s := range []tool.Server{db, {Name: "aa"}} {
		if err := r.RegisterServer(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.RegisterServer(db); err == nil {
		t.Error("RegisterServer(db) twice succeeded, want an error")
	}
	if err := r.Register(plainTool(tool.ServerTool("db", "get"), "db"), plainTool("Read", tool.Builtin)); err != nil {
		t.Fatal(err)
	}
	const want = `- Read (mutate): Does Read.
- mcp__db__get (mutate): Does mcp__db__get. [NOT AVAILABLE: it does not start]
- mcp__db__put (mutate): Puts. [NOT AVAILABLE: it does not start]
`
	if diff := cmp.Diff(want, r.Catalogue()); diff != "" {
		t.Errorf("Catalogue: -want +got\n%s", diff)
	}
	if err := r.SetUnavailable("db", ""); err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, l := range r.List() {
		reasons[l.Name] = l.Unavailable
	}
	if diff := cmp.Diff(map[string]string{"Read": "", "mcp__db__get": "", "mcp__db__put": "the server does not have it"}, reasons); diff != "" {
		t.Errorf("List: -want +got\n%s", diff)
	}
	var names []string
	for _, s := range r.Servers() {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"aa", "db"}, names); diff != "" {
		t.Errorf("Servers: -want +got\n%s", diff)
	}
	r.UnregisterServer("db")
	if diff := cmp.Diff([]string{"Read"}, r.Names()); diff != "" || len(r.Servers()) != 1 {
		t.Errorf("Names after UnregisterServer(db), with the servers %v: -want +got\n%s", r.Servers(), diff)
	}
}

func TestRegistryIsSafeForConcurrentUse(t *testing.T) {
	r := tool.NewRegistry()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprintf("T%d", i)
			for range 50 {
				if err := errors.Join(r.RegisterServer(tool.Server{Name: name}), r.Register(plainTool("Of"+name, name))); err != nil {
					t.Error(err)
				}
				_, _ = r.Get("Of" + name)
				_ = r.SetUnavailable(name, name)
				r.List()
				_ = r.Catalogue()
				r.UnregisterServer(name)
			}
		})
	}
	wg.Wait()
}
