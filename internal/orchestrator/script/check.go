package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// checkFiles finds what is wrong with the files of a script without running it.
func checkFiles(main string, files map[string]*syntax.File) []error {
	var problems []error
	defined := map[string]map[string]*syntax.DefStmt{} // functions, by file and name
	names := map[string]map[string]bool{}              // all that a file defines
	for name, f := range files {
		defined[name], names[name] = definitions(f)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		problems = append(problems, resolveNames(f)...)
		c := &checker{functions: map[*syntax.Ident]*syntax.DefStmt{}, inside: map[*syntax.CallExpr]bool{}}
		for _, d := range defined[name] {
			c.functions[d.Name] = d
		}
		for _, stmt := range f.Stmts {
			if l, ok := stmt.(*syntax.LoadStmt); ok {
				problems = append(problems, c.load(l, defined, names)...)
			}
		}
		problems = append(problems, c.calls(f)...)
		problems = append(problems, outside(f)...)
	}
	problems = append(problems, circles(main, files)...)
	if d := defined[main][mainFunction]; d == nil {
		problems = append(problems, fmt.Errorf("%s: there is no function main: a script begins with its function main(args)", main))
	} else if least, most := bounds(d.Params); least > 1 || most < 1 && len(d.Params) > 0 {
		problems = append(problems, at(d.Def, fmt.Errorf("main takes %d parameters, want one, args, or none", least)))
	}
	return problems
}

// definitions are the functions of a file, and all its names.
func definitions(f *syntax.File) (functions map[string]*syntax.DefStmt, names map[string]bool) {
	functions, names = map[string]*syntax.DefStmt{}, map[string]bool{}
	for _, stmt := range f.Stmts {
		switch s := stmt.(type) {
		case *syntax.DefStmt:
			functions[s.Name.Name], names[s.Name.Name] = s, true
		case *syntax.AssignStmt:
			syntax.Walk(s.LHS, func(n syntax.Node) bool {
				if id, ok := n.(*syntax.Ident); ok {
					names[id.Name] = true
				}
				return true
			})
		}
	}
	return functions, names
}

// A checker looks at the calls of a file.
type checker struct {
	functions map[*syntax.Ident]*syntax.DefStmt // by where their names are bound
	inside    map[*syntax.CallExpr]bool         // chains that were found where they cannot stand
}

// load finds names that a loaded file does not have.
func (c *checker) load(l *syntax.LoadStmt, defined map[string]map[string]*syntax.DefStmt, names map[string]map[string]bool) []error {
	module := l.ModuleName()
	if names[module] == nil {
		return []error{at(l.Module.TokenPos, fmt.Errorf("there is no file %s", module))}
	}
	var problems []error
	for i, from := range l.From {
		if !names[module][from.Name] {
			problems = append(problems, at(from.NamePos, fmt.Errorf("%s does not define %s", module, from.Name)))
		}
		if d := defined[module][from.Name]; d != nil {
			c.functions[l.To[i]] = d
		}
	}
	return problems
}

// circles finds files that load themselves, by way of others or not.
func circles(main string, files map[string]*syntax.File) []error {
	var problems []error
	done := map[string]bool{}
	var follow func(way []string)
	follow = func(way []string) {
		name := way[len(way)-1]
		for _, stmt := range files[name].Stmts {
			l, ok := stmt.(*syntax.LoadStmt)
			if !ok {
				continue
			}
			next := l.ModuleName()
			if i := slices.Index(way, next); i >= 0 {
				problems = append(problems, at(l.Module.TokenPos, fmt.Errorf("%s loads itself: %s", next, strings.Join(append(slices.Clone(way[i:]), next), " loads "))))
			} else if files[next] != nil && !done[next] {
				follow(append(way, next))
			}
		}
		done[name] = true
	}
	follow([]string{main})
	return problems
}

// outside finds calls outside of functions of what only functions may call. What a function
// calls that is called there is seen when it is.
func outside(part syntax.Node) []error {
	var problems []error
	syntax.Walk(part, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			problems = append(problems, outsideOf(n.Params)...)
			return false
		case *syntax.LambdaExpr:
			problems = append(problems, outsideOf(n.Params)...)
			return false
		case *syntax.CallExpr:
			if b := builtinOf(n); b != nil && !b.anywhere {
				problems = append(problems, at(n.Lparen, fmt.Errorf("%s: %w", b.name, errOutside)))
			}
		}
		return true
	})
	return problems
}

// outsideOf finds them in the defaults of parameters, which belong to what is around the
// function.
func outsideOf(params []syntax.Expr) []error {
	var problems []error
	for _, p := range params {
		if b, ok := p.(*syntax.BinaryExpr); ok {
			problems = append(problems, outside(b.Y)...)
		}
	}
	return problems
}

// builtinOf is the built-in function that a call is of, or nil.
func builtinOf(call *syntax.CallExpr) *builtin {
	id, ok := call.Fn.(*syntax.Ident)
	if !ok {
		return nil
	}
	if binding, ok := id.Binding.(*resolve.Binding); !ok || binding.Scope != resolve.Predeclared {
		return nil
	}
	i := slices.IndexFunc(builtins, func(b builtin) bool { return b.name == id.Name })
	if i < 0 {
		return nil
	}
	return &builtins[i]
}

// calls finds calls that cannot succeed.
func (c *checker) calls(f *syntax.File) []error {
	var problems []error
	syntax.Walk(f, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.DefStmt); ok && c.functions[d.Name] != nil {
			problems = append(problems, recursion(d)...)
		}
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		id, ok := call.Fn.(*syntax.Ident)
		if !ok {
			return true
		}
		binding, ok := id.Binding.(*resolve.Binding)
		if !ok {
			return true
		}
		var err error
		if b := builtinOf(call); b != nil {
			if err = b.check(call.Args); err == nil {
				err = b.checkConstants(call)
				problems = append(problems, c.checkFunctions(call, b)...)
			}
		} else if d := c.functions[binding.First]; d != nil {
			err = checkCall(d.Params, call.Args)
		}
		if err != nil {
			problems = append(problems, at(call.Lparen, fmt.Errorf("%s: %w", id.Name, err)))
		}
		return true
	})
	return problems
}

// argsOf are the arguments that a script is seen to use, those in args.NAME and getattr(args,
// "NAME", …). It is not known if the script does something else with args too.
func argsOf(main *syntax.DefStmt) (names []string, known bool) {
	if len(main.Params) == 0 {
		return nil, true
	}
	param, ok := main.Params[0].(*syntax.Ident)
	if !ok {
		return nil, false
	}
	isArgs := func(e syntax.Expr) (*syntax.Ident, bool) {
		id, ok := e.(*syntax.Ident)
		if !ok {
			return nil, false
		}
		b, ok := id.Binding.(*resolve.Binding)
		return id, ok && b.First == param
	}
	seen := map[*syntax.Ident]bool{param: true}
	known = true
	syntax.Walk(main, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			if id, ok := isArgs(n.X); ok {
				seen[id] = true
				names = append(names, n.Name.Name)
			}
		case *syntax.CallExpr:
			f, isName := n.Fn.(*syntax.Ident)
			if !isName || f.Name != "getattr" && f.Name != "hasattr" || len(n.Args) < 2 {
				break
			}
			if l, ok := n.Args[1].(*syntax.Literal); ok {
				name, isText := l.Value.(string)
				if id, ok := isArgs(n.Args[0]); ok && isText {
					seen[id] = true
					names = append(names, name)
				}
			}
		case *syntax.Ident:
			if id, ok := isArgs(n); ok && !seen[id] {
				known = false
			}
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names), known
}

// given are the arguments of a call: how many by position, which by name. Open says that
// there may be more.
func given(args []syntax.Expr) (positional int, named []string, open bool) {
	for _, arg := range args {
		switch arg := arg.(type) {
		case *syntax.UnaryExpr:
			if arg.Op == syntax.STAR || arg.Op == syntax.STARSTAR {
				open = true
				continue
			}
			positional++
		case *syntax.BinaryExpr:
			if id, ok := arg.X.(*syntax.Ident); ok && arg.Op == syntax.EQ {
				named = append(named, id.Name)
				continue
			}
			positional++
		default:
			positional++
		}
	}
	return positional, named, open
}

// check reports whether a call of a built-in function cannot succeed.
func (b *builtin) check(args []syntax.Expr) error {
	positional, named, open := given(args)
	if b.variadic {
		if len(named) > 0 {
			return fmt.Errorf("unexpected keyword argument %q", named[0])
		}
		return nil
	}
	if positional > len(b.params) {
		return fmt.Errorf("got %d arguments, want at most %d", positional, len(b.params))
	}
	for i, name := range named {
		at := slices.Index(b.params, name)
		switch {
		case at < 0 && !b.keywords:
			return fmt.Errorf("unexpected keyword argument %q; there are %s", name, strings.Join(b.params, ", "))
		case at >= 0 && at < positional, slices.Contains(named[:i], name):
			return fmt.Errorf("%q is given twice", name)
		}
	}
	for i := positional; i < b.required && !open; i++ {
		if b.keywords || !slices.Contains(named, b.params[i]) {
			return fmt.Errorf("missing argument for %s", b.params[i])
		}
	}
	if len(b.ends) > 0 && positional <= slices.Index(b.params, b.ends[0]) && !open &&
		!slices.ContainsFunc(named, func(name string) bool { return slices.Contains(b.ends, name) }) {
		return errEndless
	}
	return nil
}

// bounds are how many arguments a function takes at least and at most; most is -1 if there is no
// bound.
func bounds(params []syntax.Expr) (least, most int) {
	for _, p := range params {
		switch p := p.(type) {
		case *syntax.Ident:
			if most >= 0 {
				least++
				most++
			}
		case *syntax.BinaryExpr:
			if most >= 0 {
				most++
			}
		case *syntax.UnaryExpr:
			if p.X != nil || p.Op == syntax.STARSTAR {
				most = -1
			}
		}
	}
	return least, most
}

// checkCall reports whether a call of a function of the script cannot succeed.
func checkCall(params, args []syntax.Expr) error {
	positional, named, open := given(args)
	var names []string
	required := map[string]bool{}
	byPosition, rest, keywords := 0, false, false
	star := false
	for _, p := range params {
		switch p := p.(type) {
		case *syntax.Ident:
			names, required[p.Name] = append(names, p.Name), true
		case *syntax.BinaryExpr:
			names = append(names, p.X.(*syntax.Ident).Name)
		case *syntax.UnaryExpr:
			star = true
			if p.Op == syntax.STARSTAR {
				keywords = true
			} else if p.X != nil {
				rest = true
			}
			continue
		}
		if !star {
			byPosition++
		}
	}
	if positional > byPosition && !rest {
		return fmt.Errorf("got %d arguments, want at most %d", positional, byPosition)
	}
	for i, name := range named {
		at := slices.Index(names, name)
		switch {
		case at < 0 && !keywords:
			return fmt.Errorf("unexpected keyword argument %q", name)
		case at >= 0 && at < positional && at < byPosition, slices.Contains(named[:i], name):
			return fmt.Errorf("%q is given twice", name)
		}
	}
	for i, name := range names {
		if required[name] && (i >= positional || i >= byPosition) && !slices.Contains(named, name) && !open {
			return fmt.Errorf("missing argument for %s", name)
		}
	}
	return nil
}
