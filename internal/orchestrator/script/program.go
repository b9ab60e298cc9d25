// Package script runs a procedure that a user wrote in Starlark, a small language like Python
// that is deterministic and has no way to the world: whatever a script learns, it asks the
// flow for. So it has what every run has, without a line of its own: votes, durability,
// effects that happen once, budgets, resume and replay.
package script

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A Source is a script as it was written, with the files that it loads. It is plain data.
type Source struct {
	Name  string            `json:"name"` // of its file
	Text  string            `json:"text"`
	Files map[string]string `json:"files,omitempty"` // that it loads, by the names that it loads them by
}

// The function that a script begins with.
const mainFunction = "main"

// maxSource is how long a script may be, in bytes.
const maxSource = 256 << 10

// A Program is a script that can be run.
type Program struct {
	source  Source
	modules map[string]*starlark.Program // by name; the script itself is among them
	asks    bool                         // something of it names ask or act

	tools  []string // that it names
	models []string // likewise

	args      []string // that it is seen to use
	knowsArgs bool     // there are no others
}

// options are those of the language: the defaults, in which everything ends.
var options = &syntax.FileOptions{Set: true}

// Load reads the files that a script loads, and what these load, with readFile. Names are
// relative to the folder of the script.
func Load(name, text string, readFile func(name string) (string, error)) (Source, error) {
	s := Source{Name: name, Text: text, Files: map[string]string{}}
	var add func(name, text string) error
	add = func(name, text string) error {
		f, err := parse(name, text)
		if err != nil {
			return err
		}
		for _, stmt := range f.Stmts {
			l, ok := stmt.(*syntax.LoadStmt)
			if !ok {
				continue
			}
			module := l.ModuleName()
			if _, known := s.Files[module]; known {
				continue
			}
			if err := checkModule(module); err != nil {
				return at(l.Module.TokenPos, err)
			}
			text, err := readFile(module)
			if err != nil {
				return at(l.Module.TokenPos, err)
			}
			s.Files[module] = text
			if err := add(module, text); err != nil {
				return err
			}
		}
		return nil
	}
	return s, add(name, text)
}

// checkModule refuses names that lead elsewhere than to files beside the script.
func checkModule(name string) error {
	if name == "" || path.IsAbs(name) || path.Clean(name) != name || strings.HasPrefix(name, "..") || strings.ContainsAny(name, `\:`) {
		return fmt.Errorf("load(%q): want the name of a file beside the script, such as \"helpers.star\"", name)
	}
	return nil
}

// at is an error at a place of a script.
func at(p syntax.Position, err error) error { return fmt.Errorf("%s: %w", p, err) }

func parse(name, text string) (*syntax.File, error) {
	if len(text) > maxSource {
		return nil, fmt.Errorf("%s: the script has %d bytes, want at most %d", name, len(text), maxSource)
	}
	if err := checkNesting(name, text); err != nil {
		return nil, err
	}
	f, err := options.Parse(name, text, 0)
	if e, ok := errors.AsType[syntax.Error](err); ok {
		return nil, at(e.Pos, errors.New(e.Msg))
	}
	return f, err
}

// Compile reads a script and checks what can be known without running it: syntax, names, and
// how functions are called.
func Compile(s Source) (*Program, error) {
	p := &Program{source: s, modules: map[string]*starlark.Program{}}
	texts := maps.Clone(s.Files)
	if texts == nil {
		texts = map[string]string{}
	}
	texts[s.Name] = s.Text
	files := map[string]*syntax.File{}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f, err := parse(name, texts[name])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		files[name] = f
	}
	if len(problems) == 0 {
		problems = checkFiles(s.Name, files)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	main, _ := definitions(files[s.Name])
	p.args, p.knowsArgs = argsOf(main[mainFunction])
	predeclared := predeclare()
	for name, text := range texts {
		f, err := parse(name, text) // once more: resolving names has marked the other one
		if err != nil {
			return nil, err
		}
		p.asks = p.asks || names(f, "ask", "act")
		p.note(files[name])
		guard(f)
		compiled, err := starlark.FileProgram(f, predeclared.Has)
		if err != nil {
			return nil, err
		}
		p.modules[name] = compiled
	}
	return p, nil
}

// names reports whether a file uses one of some names.
func names(f *syntax.File, wanted ...string) (found bool) {
	syntax.Walk(f, func(n syntax.Node) bool {
		id, ok := n.(*syntax.Ident)
		found = found || ok && slices.Contains(wanted, id.Name)
		return !found
	})
	return found
}

// resolveNames reports the names that nothing stands for.
func resolveNames(f *syntax.File) []error {
	var problems []error
	err := resolve.File(f, predeclare().Has, starlark.Universe.Has)
	if list, ok := errors.AsType[resolve.ErrorList](err); ok {
		for _, e := range list {
			problems = append(problems, at(e.Pos, errors.New(e.Msg)))
		}
	} else if err != nil {
		problems = append(problems, err)
	}
	return problems
}

// init runs what stands outside of functions, of the script and of what it loads, and
// returns what it defines.
func (p *Program) init(room func() error) (starlark.StringDict, error) {
	type loaded struct {
		names starlark.StringDict
		err   error
	}
	modules := map[string]*loaded{}
	predeclared := predeclare()
	var load func(thread *starlark.Thread, name string) (starlark.StringDict, error)
	load = func(_ *starlark.Thread, name string) (starlark.StringDict, error) {
		if m, ok := modules[name]; ok {
			if m == nil {
				return nil, fmt.Errorf("%s loads itself", name)
			}
			return m.names, m.err
		}
		compiled, ok := p.modules[name]
		if !ok {
			return nil, fmt.Errorf("there is no file %s", name)
		}
		modules[name] = nil
		thread := newThread(name, maxInitSteps, room)
		thread.Load = load
		m := &loaded{}
		if m.names, m.err = compiled.Init(thread, predeclared); m.err == nil {
			m.names.Freeze()
		}
		modules[name] = m
		return m.names, m.err
	}
	return load(nil, p.source.Name)
}

// note takes down the tools and models that the calls of a file name.
func (p *Program) note(f *syntax.File) {
	add := func(list *[]string, e syntax.Expr) {
		if l, ok := e.(*syntax.Literal); ok {
			if name, ok := l.Value.(string); ok && !slices.Contains(*list, name) {
				*list = append(*list, name)
			}
		}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		b := builtinOf(call)
		switch {
		case b == nil:
		case b.name == "call":
			if len(call.Args) > 0 {
				add(&p.tools, call.Args[0])
			}
		case b.name == "ask" || b.name == "act":
			add(&p.models, argument(call, b, "model"))
			if tools, ok := argument(call, b, "tools").(*syntax.ListExpr); ok {
				for _, e := range tools.List {
					add(&p.tools, e)
				}
			}
		}
		return true
	})
}

// argument is what a call gives a parameter, nil if it does not.
func argument(call *syntax.CallExpr, b *builtin, name string) syntax.Expr {
	for i, arg := range call.Args {
		if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
			if id, ok := named.X.(*syntax.Ident); ok && id.Name == name {
				return named.Y
			}
		} else if i < len(b.params) && b.params[i] == name {
			return arg
		}
	}
	return nil
}

// Uses are the tools and models that the script names, as far as they are written down in it.
func (p *Program) Uses() (tools, models []string) {
	return slices.Sorted(slices.Values(p.tools)), slices.Sorted(slices.Values(p.models))
}

// Args are the arguments that the script is seen to use.
func (p *Program) Args() []string { return p.args }

// CheckArgs finds arguments that the script has no use for, as far as that can be seen.
func (p *Program) CheckArgs(args map[string]string) error {
	if !p.knowsArgs {
		return nil
	}
	for _, name := range sortedKeys(args) {
		switch {
		case slices.Contains(p.args, name):
		case len(p.args) == 0:
			return fmt.Errorf("%s: the script takes no arguments", name)
		default:
			return fmt.Errorf("%s: the script has no use for it; it takes %s", name, strings.Join(p.args, ", "))
		}
	}
	return nil
}

// Asks reports whether a model may be asked.
func (p *Program) Asks() bool { return p.asks }
