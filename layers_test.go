package maker_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/maker-mdap/maker"

// Packages are written relative to the module: "." is its root, "./event" the
// folder event, and "./model/..." is model and everything below it.
var (
	// pure packages compute and nothing else: the vocabulary, the texts that are sent to
	// models, and the reading of what they answer.
	pure = []string{
		"./event", "./vote", "./vote/adaptive", "./redflag", "./flow", "./usage", "./domain", "./plan", "./internal/prompts", "./internal/text/...",
		"./outline", "./reader", "./domain/text", "./internal/stats", "./internal/certificate",
	}

	// orchestrators decide what happens next.
	orchestrators = []string{"./internal/orchestrator/..."}

	families = []string{"./domain/..."}

	// deterministic code gives the same result whenever it runs again.
	deterministic = slices.Concat(pure, orchestrators, families)

	commands = []string{"./internal/cli/...", "./cmd/..."}

	// tests are all that is not product: suites, measurements.
	tests = []string{"./test/..."}
)

// A layer is a rule about what packages may import.
type layer struct {
	rule   string
	in     []string // the packages it is about
	except []string // but for these
	forbid []string // what they may not import
	allow  []string // but for these
	deep   bool     // nor may what they import
}

var layers = []layer{
	{
		rule:   "pure packages import only pure packages of the project",
		in:     pure,
		forbid: []string{"./..."},
		allow:  pure,
	},
	{
		rule:   "the suite of runtimes imports only pure packages of the project",
		in:     []string{"./test/flowtest"},
		forbid: []string{"./..."},
		allow:  pure,
	},
	{
		rule:   "the product does not use what tests it",
		in:     []string{"./..."},
		except: tests,
		forbid: tests,
	},
	{
		rule:   "orchestrators import flow and pure packages only",
		in:     orchestrators,
		forbid: []string{"./..."},
		allow:  pure,
	},
	{
		rule:   "domain families import only pure packages of the project",
		in:     families,
		forbid: []string{"./..."},
		allow:  slices.Concat(pure, []string{"./domain/math/notation", "./domain/math/number"}), // parts of one
	},
	{
		rule:   "pure packages, orchestrators and families have no chance, files, network or locks",
		in:     deterministic,
		forbid: []string{"math/rand/...", "crypto/rand", "os/...", "net/...", "sync/...", "syscall"},
	},
	{
		rule:   "pure packages, orchestrators and families have no clock (values of time are fine in event)",
		in:     deterministic,
		except: []string{"./event"},
		forbid: []string{"time/..."},
	},
	{
		rule:   "a configuration is plain data",
		in:     []string{"./config"},
		forbid: []string{"./...", "os/...", "net/...", "sync/...", "math/rand/..."},
		allow:  pure,
	},
	{
		rule:   "the root package is the API: it wires nothing itself",
		in:     []string{"."},
		forbid: []string{"./internal/...", "os/...", "sync/..."},
		allow:  []string{"./internal/engine/..."},
	},
	{
		rule:   "the runtime knows no orchestrator but the chain, whose checkpoints it keeps, and no engine",
		in:     []string{"./internal/runtime/..."},
		forbid: []string{".", "./internal/orchestrator/...", "./internal/engine/...", "./internal/cli/..."},
		allow:  []string{"./internal/orchestrator/chain", "./internal/orchestrator/calibrate"},
	},
	{
		rule:   "only the command line knows its flags library",
		in:     []string{"./..."},
		except: commands,
		forbid: []string{"github.com/spf13/..."},
	},
	{
		rule:   "nothing but the program uses the command line",
		in:     []string{"./..."},
		except: commands,
		forbid: []string{"./internal/cli/..."},
	},
	{
		rule: "reading runs needs no engine, no models and no agents",
		in:   []string{"./runs", "./internal/runtime/history"},
		forbid: []string{
			".", "./model/...", "./agent/...", "./tool/builtin", "./tool/mcp", "./internal/runtime/ballot", "./internal/runtime/local",
			"./internal/engine/...", "./internal/httpclient", "./internal/process/...", "net/http/...", "os/exec",
		},
		deep: true,
	},
	{
		rule:   "the command line, the servers and reports read runs through package runs",
		in:     append([]string{"./internal/report", "./internal/server/...", "./internal/mcpserver"}, commands...),
		forbid: []string{"./internal/runtime/runlog", "./internal/runtime/history"},
	},
	{
		rule:   "of the models only providers speak HTTP",
		in:     []string{"./model/..."},
		except: []string{"./model/anthropic", "./model/openai", "./model/served", "./model/sim/simserver"},
		forbid: []string{"net/http/..."},
	},
	{
		rule:   "of the internal packages only the HTTP client, what opens providers, the server and the page know HTTP",
		in:     []string{"./internal/..."},
		except: []string{"./internal/httpclient", "./internal/engine/...", "./internal/server/...", "./internal/web", "./internal/mcpserver", "./internal/cli/serving", "./internal/cli/mcpserve"},
		forbid: []string{"net/http/..."},
	},
	{
		rule:   "only the client and the server of MCP know its library",
		in:     []string{"./..."},
		except: []string{"./tool/mcp", "./internal/mcpserver"},
		forbid: []string{"github.com/modelcontextprotocol/..."},
	},
	{
		rule:   "only locks and the terminal talk to the operating system itself",
		in:     []string{"./..."},
		except: []string{"./internal/runtime/filelock", "./internal/cli/tty"},
		forbid: []string{"golang.org/x/sys/..."},
	},
	{
		rule:   "only scripts know their language",
		in:     []string{"./..."},
		except: []string{"./internal/orchestrator/script"},
		forbid: []string{"go.starlark.net/..."},
	},
	{
		rule:   "only the screen knows the terminal library",
		in:     []string{"./..."},
		except: []string{"./internal/cli/screen"},
		forbid: []string{"charm.land/...", "github.com/charmbracelet/..."},
	},
	{
		rule:   "test libraries stay in tests",
		in:     []string{"./..."},
		except: tests,
		forbid: []string{"testing/...", "github.com/google/go-cmp/...", "github.com/rogpeppe/go-internal/..."},
	},
	{
		rule:   "the program is pure Go",
		in:     []string{"./..."},
		forbid: []string{"C"},
	},
}

// broken returns the rules that a package of the project breaks with an import.
func broken(pkg, path string) []string {
	path = relative(path)
	var rules []string
	for _, l := range layers {
		if matchAny(l.in, pkg) && !matchAny(l.except, pkg) && matchAny(l.forbid, path) && !matchAny(l.allow, path) {
			rules = append(rules, l.rule)
		}
	}
	return rules
}

// brokenBelow returns how packages break a rule that is also about what they import,
// by what each package of the project imports.
func brokenBelow(imports map[string][]string) []string {
	var problems []string
	for _, l := range layers {
		for _, pkg := range slices.Sorted(maps.Keys(imports)) {
			if !l.deep || !matchAny(l.in, pkg) || matchAny(l.except, pkg) {
				continue
			}
			way := map[string]string{pkg: pkg} // to each package below it
			for queue := []string{pkg}; len(queue) > 0; queue = queue[1:] {
				for _, path := range imports[queue[0]] {
					below := relative(path)
					if way[below] != "" {
						continue
					}
					way[below] = way[queue[0]] + " > " + below
					if matchAny(l.forbid, below) && !matchAny(l.allow, below) {
						problems = append(problems, fmt.Sprintf("%s: %s", way[below], l.rule))
					}
					queue = append(queue, below)
				}
			}
		}
	}
	return problems
}

// relative turns the path of a project package into the form that rules use.
func relative(path string) string {
	if path == module {
		return "."
	}
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		return "./" + rest
	}
	return path
}

func matchAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		base, below := strings.CutSuffix(pattern, "/...")
		return pkg == base || below && strings.HasPrefix(pkg, base+"/")
	})
}

// A source is one Go file of the project that is not a test.
type source struct {
	path  string // with slashes
	pkg   string // as rules name it
	file  *ast.File
	fset  *token.FileSet
	lines int
}

func (s *source) importPaths() []string {
	var paths []string
	for _, i := range s.file.Imports {
		paths = append(paths, strings.Trim(i.Path.Value, "`\""))
	}
	return paths
}

// sources parses the project, whatever system a file is for.
func sources(t *testing.T) []*source {
	t.Helper()
	var all []*source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(name, d.Name())
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := newSource(filepath.ToSlash(name), data)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// skipFolder leaves out what is not part of the module.
func skipFolder(name, base string) error {
	if name == "." {
		return nil
	}
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func newSource(name string, data []byte) (*source, error) {
	s := &source{path: name, pkg: ".", fset: token.NewFileSet(), lines: bytes.Count(data, []byte("\n"))}
	if dir := path.Dir(name); dir != "." {
		s.pkg = "./" + dir
	}
	var err error
	s.file, err = parser.ParseFile(s.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	return s, err
}

func TestLayers(t *testing.T) {
	all := sources(t)
	packages, imports := map[string]bool{}, map[string][]string{}
	for _, s := range all {
		packages[s.pkg] = true
		imports[s.pkg] = append(imports[s.pkg], s.importPaths()...)
		for _, imported := range s.importPaths() {
			for _, rule := range broken(s.pkg, imported) {
				t.Errorf("%s imports %s: %s", s.path, imported, rule)
			}
		}
	}
	for _, problem := range brokenBelow(imports) {
		t.Error(problem)
	}
	// A rule about a package that has moved away would pass for ever.
	for _, l := range layers {
		for _, pattern := range slices.Concat(l.in, l.except) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(packages)), func(pkg string) bool { return matchAny([]string{pattern}, pkg) }) {
				t.Errorf("the rule %q names %s, which is no package of the project", l.rule, pattern)
			}
		}
	}
}

func TestLayersCanFail(t *testing.T) {
	const in = module + "/"
	tests := []struct {
		pkg, imported string
		want          string // a part of the rule that is broken; "" for none
	}{
		{"./vote", "strings", ""},
		{"./vote", "golang.org/x/text/unicode/norm", ""},
		{"./vote", "time", "no clock"},
		{"./event", "time", ""},
		{"./event", "os", "no chance, files"},
		{"./event", "os/exec", "no chance, files"},
		{"./redflag", "math/rand/v2", "no chance, files"},
		{"./redflag", "math/rand", "no chance, files"},
		{"./redflag", "math/bits", ""},
		{"./usage", "crypto/rand", "no chance, files"},
		{"./flow", "sync/atomic", "no chance, files"},
		{"./flow", "net/url", "no chance, files"},
		{"./flow", in + "event", ""},
		{"./flow", in + "model", "pure packages import only pure"},
		{"./flow", module, "pure packages import only pure"},
		{"./test/flowtest", in + "internal/runtime/runlog", "the suite of runtimes imports only pure"},
		{"./domain", in + "domain/hanoi", "pure packages import only pure"},
		{"./domain/hanoi", in + "domain", ""},
		{"./domain/hanoi", in + "model", "domain families"},
		{"./domain/hanoi", "time", "no clock"},
		{"./internal/orchestrator/chain", in + "flow", ""},
		{"./internal/orchestrator/chain", in + "internal/runtime/ballot", "orchestrators"},
		{"./internal/orchestrator/chain", "sync", "no chance, files"},
		{"./runs", in + "internal/runtime/history", ""},
		{"./runs", in + "domain/hanoi", ""},
		{"./runs", module, "no engine"},
		{"./runs", in + "model", "no engine"},
		{"./internal/runtime/history", in + "internal/runtime/ballot", "no engine"},
		{"./internal/runtime/history", in + "internal/runtime/runlog", ""},
		{"./internal/cli", in + "internal/runtime/runlog", "through package runs"},
		{"./internal/cli", in + "runs", ""},
		{"./internal/mcpserver", "github.com/modelcontextprotocol/go-sdk/mcp", ""},
		{"./internal/cli/mcpserve", "github.com/modelcontextprotocol/go-sdk/mcp", "know its library"},
		{"./config", "time", ""},
		{"./config", in + "model", "plain data"},
		{".", in + "internal/engine", ""},
		{".", in + "internal/runtime/local", "the root package is the API"},
		{"./internal/runtime/ballot", in + "internal/orchestrator/solver", "the runtime knows no orchestrator"},
		{"./internal/runtime/ballot", "sync", ""},
		{"./internal/cli", "github.com/spf13/cobra", ""},
		{"./cmd/maker", in + "internal/cli", ""},
		{"./test/bench", in + "internal/cli", "nothing but the program"},
		{".", "github.com/spf13/pflag", "flags library"},
		{".", "net/http", ""},
		{"./model", "net/http", "only providers speak HTTP"},
		{"./model/price", "net/http", "only providers speak HTTP"},
		{"./model/openai", "net/http", ""},
		{"./internal/httpclient", "net/http", ""},
		{"./internal/runtime/retry", "net/http", "internal packages"},
		{"./internal/server/access", "net/http", ""},
		{"./internal/runtime/filelock", "golang.org/x/sys/windows", ""},
		{"./internal/cli", "golang.org/x/sys/unix", "operating system"},
		{"./model", "testing", "test libraries"},
		{"./model", "github.com/google/go-cmp/cmp", "test libraries"},
		{"./test/modeltest", "testing", ""},
		{"./model", in + "test/modeltest", "does not use what tests it"},
		{"./model", "C", "pure Go"},
		{"./eventful", "time", ""}, // a name that only begins like a pure one
	}
	for _, test := range tests {
		got := broken(test.pkg, test.imported)
		if test.want == "" && len(got) > 0 || test.want != "" && (len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), test.want)) {
			t.Errorf("broken(%q, %q) = %q, want %q", test.pkg, test.imported, got, test.want)
		}
	}
}

func TestLayersBelowCanFail(t *testing.T) {
	const in = module + "/"
	got := brokenBelow(map[string][]string{
		"./runs":                    {"fmt", in + "internal/runtime/effect"},
		"./internal/runtime/effect": {in + "tool", "sync"},
		"./tool":                    {in + "model/price"},
		"./model/price":             {"strings"},
		"./test/bench":              {module},
	})
	want := []string{"./runs > ./internal/runtime/effect > ./tool > ./model/price: reading runs needs no engine, no models and no agents"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("brokenBelow(a way to a model): -want +got\n%s", diff)
	}
}

// Where a file, a function or a package has become hard to read.
const (
	maxLines        = 700
	maxFunction     = 80
	maxPackageLines = 4000
)

func TestFiles(t *testing.T) {
	documented, lines := map[string]bool{}, map[string]int{}
	for _, s := range sources(t) {
		lines[s.pkg] += s.lines
		documented[s.pkg] = documented[s.pkg] || s.file.Doc != nil
		for _, problem := range fileProblems(s) {
			t.Error(problem)
		}
	}
	for pkg, n := range lines {
		if n > maxPackageLines {
			t.Errorf("%s has %d lines, want at most %d: it is more than one package", pkg, n, maxPackageLines)
		}
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

// fileProblems are what is wrong with a file beside its imports.
func fileProblems(s *source) []string {
	var problems []string
	if s.lines > maxLines {
		problems = append(problems, fmt.Sprintf("%s has %d lines, want at most %d", s.path, s.lines, maxLines))
	}
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && !matchAny(tests, s.pkg) {
			if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; n > maxFunction {
				problems = append(problems, fmt.Sprintf("%s: %s has %d lines, want at most %d", s.path, f.Name.Name, n, maxFunction))
			}
		}
	}
	if matchAny(deterministic, s.pkg) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				problems = append(problems, fmt.Sprintf("%s starts a goroutine: pure packages, orchestrators and families may not", s.fset.Position(g.Pos())))
			}
			return true
		})
	}
	if isPublic(s) {
		for _, name := range foreignTypes(s) {
			problems = append(problems, fmt.Sprintf("%s: %s: no dependency's type in a public signature", s.path, name))
		}
	}
	return problems
}

func isPublic(s *source) bool {
	return s.file.Name.Name != "main" && !strings.Contains(s.pkg+"/", "/internal/")
}

// foreignTypes lists the exported declarations of a file that mention a type of
// another module, each as "Name uses pkg.Type".
func foreignTypes(s *source) []string {
	known := map[string]bool{} // qualifiers of the standard library and the project
	for _, i := range s.file.Imports {
		imported := strings.Trim(i.Path.Value, "`\"")
		name := path.Base(imported)
		if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
			name = path.Base(path.Dir(imported))
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		host, _, _ := strings.Cut(imported, "/")
		known[name] = !strings.Contains(host, ".") || relative(imported) != imported
	}
	var found []string
	var mention func(name string, nodes ...ast.Node)
	mention = func(name string, nodes ...ast.Node) {
		for _, node := range nodes {
			ast.Inspect(node, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.StructType:
					for _, f := range n.Fields.List {
						// A hidden field may be what it likes.
						if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
							mention(name, f.Type)
						}
					}
					return false
				case *ast.SelectorExpr:
					if q, ok := n.X.(*ast.Ident); ok && !known[q.Name] {
						found = append(found, fmt.Sprintf("%s uses %s.%s", name, q.Name, n.Sel.Name))
					}
				}
				return true
			})
		}
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
				mention(d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				mentionSpec(spec, mention)
			}
		}
	}
	return found
}

func mentionSpec(spec ast.Spec, mention func(string, ...ast.Node)) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			if spec.TypeParams != nil {
				mention(spec.Name.Name, spec.TypeParams)
			}
			mention(spec.Name.Name, spec.Type)
		}
	case *ast.ValueSpec:
		// Without a written type only a conversion or a constructor tells.
		if len(spec.Names) == 1 && spec.Names[0].IsExported() {
			if spec.Type != nil {
				mention(spec.Names[0].Name, spec.Type)
			}
			for _, v := range spec.Values {
				if call, ok := v.(*ast.CallExpr); ok {
					mention(spec.Names[0].Name, call.Fun)
				}
			}
		}
	}
}

func receiver(d *ast.FuncDecl) string {
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

func TestForeignTypesCanBeFound(t *testing.T) {
	const header = `package p

import (
	"math/rand/v2"
	"net/http"

	own "github.com/maker-mdap/maker/event"
	"go.yaml.in/yaml/v3"
)

`
	tests := []struct {
		decl string
		want []string
	}{
		{`func F(*http.Client, own.Event, *rand.Rand) error { return yaml.Load() }`, nil},
		{`func F(n *yaml.Node) {}`, []string{"F uses yaml.Node"}},
		{`func F() (yaml.Node, error) { panic("") }`, []string{"F uses yaml.Node"}},
		{`func F[T yaml.Kind](T) {}`, []string{"F uses yaml.Kind"}},
		{`func f(n yaml.Node) {}`, nil},
		{`func (h hidden) F(n yaml.Node) {}`, nil},
		{`func (s *Shown[T]) F(n yaml.Node) {}`, []string{"F uses yaml.Node"}},
		{`type S struct { hidden yaml.Node; Client http.Client }`, nil},
		{`type S struct { Shown []map[string]*yaml.Node }`, []string{"S uses yaml.Node"}},
		{`type S struct { yaml.Node }`, []string{"S uses yaml.Node"}},
		{`type S struct { F func(n yaml.Node) }`, []string{"S uses yaml.Node"}},
		{`type I interface { M(yaml.Node) }`, []string{"I uses yaml.Node"}},
		{`type A = yaml.Node`, []string{"A uses yaml.Node"}},
		{`type a yaml.Node`, nil},
		{`var V yaml.Node`, []string{"V uses yaml.Node"}},
		{`var V = yaml.NewDecoder(nil)`, []string{"V uses yaml.NewDecoder"}},
		{`var V = http.DefaultClient`, nil},
	}
	for _, test := range tests {
		s, err := newSource("p/p.go", []byte(header+test.decl))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, foreignTypes(s)); diff != "" {
			t.Errorf("foreignTypes(%s): -want +got\n%s", test.decl, diff)
		}
	}
}

func TestFileProblemsCanBeFound(t *testing.T) {
	long := strings.Repeat("\n", maxLines+1)
	tests := []struct {
		path, text string
		want       int
	}{
		{"vote/a.go", "package vote\n\nfunc f() { go f() }\n", 1},
		{"domain/hanoi/a.go", "package hanoi\n\nfunc f() { go f() }\n", 1},
		{"internal/runtime/ballot/a.go", "package ballot\n\nfunc f() { go f() }\n", 0},
		{"internal/runtime/ballot/a.go", "package ballot" + long, 1},
		{"model/a.go", "package model\n\nfunc f() {" + strings.Repeat("\n", maxFunction) + "}\n", 1},
		{"model/a.go", "package model\n\nfunc f() {" + strings.Repeat("\n", maxFunction-1) + "}\n", 0},
		{"model/a.go", "package model\n\nimport \"example.com/dep\"\n\ntype T struct{ F dep.T }\n", 1},
		{"internal/a/a.go", "package a\n\nimport \"example.com/dep\"\n\ntype T struct{ F dep.T }\n", 0},
		{"test/bench/a.go", "package main\n\nimport \"example.com/dep\"\n\ntype T struct{ F dep.T }\n", 0},
	}
	for _, test := range tests {
		s, err := newSource(test.path, []byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := fileProblems(s); len(got) != test.want {
			t.Errorf("fileProblems(%s) = %q, want %d problems", test.path, got, test.want)
		}
	}
}
