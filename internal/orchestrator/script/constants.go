package script

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// constantOf is the value of an expression that is written down as it is; false if it is computed.
func constantOf(e syntax.Expr) (starlark.Value, bool) {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return constantOf(e.X)
	case *syntax.Literal:
		switch v := e.Value.(type) {
		case string:
			if e.Token == syntax.BYTES {
				return starlark.Bytes(v), true
			}
			return starlark.String(v), true
		case int64:
			return starlark.MakeInt64(v), true
		case *big.Int:
			return starlark.MakeBigInt(v), true
		case float64:
			return starlark.Float(v), true
		}
	case *syntax.Ident:
		if b, ok := e.Binding.(*resolve.Binding); ok && b.Scope == resolve.Universal {
			switch e.Name {
			case "True", "False", "None":
				return starlark.Universe[e.Name], true
			}
		}
	case *syntax.UnaryExpr:
		if x, ok := constantOf(e.X); ok && e.Op == syntax.MINUS {
			v, err := starlark.Unary(e.Op, x)
			return v, err == nil
		}
	case *syntax.ListExpr:
		list, ok := constantsOf(e.List)
		return starlark.NewList(list), ok
	case *syntax.TupleExpr:
		list, ok := constantsOf(e.List)
		return starlark.Tuple(list), ok
	case *syntax.DictExpr:
		d := starlark.NewDict(len(e.List))
		for _, entry := range e.List {
			entry := entry.(*syntax.DictEntry)
			pair, ok := constantsOf([]syntax.Expr{entry.Key, entry.Value})
			if !ok || d.SetKey(pair[0], pair[1]) != nil {
				return nil, false
			}
		}
		return d, true
	}
	return nil, false
}

func constantsOf(list []syntax.Expr) ([]starlark.Value, bool) {
	values := make([]starlark.Value, len(list))
	for i, e := range list {
		var ok bool
		if values[i], ok = constantOf(e); !ok {
			return nil, false
		}
	}
	return values, true
}

// standIns are given for parameters whose arguments are computed, where leaving them out would
// be wrong.
var standIns = func() map[string]starlark.Value {
	text, list, function := starlark.String("computed"), starlark.Tuple{}, starlark.Universe["str"]
	return map[string]starlark.Value{
		"prompt": text, "task": text, "tool": text, "question": text, "path": text, "tools": list, "items": list,
		"state": starlark.None, "f": function, "step": function, "until": function, "times": starlark.MakeInt(0),
	}
}()

// checkConstants reports whether a call of a built-in function, which names its arguments
// rightly, cannot succeed because of those that are written down. The function itself reads
// them: where there is no run it does no more.
func (b *builtin) checkConstants(call *syntax.CallExpr) error {
	if _, _, open := given(call.Args); open || b.variadic {
		return nil
	}
	var args starlark.Tuple
	var kwargs []starlark.Tuple
	computed := map[string]bool{}
	for _, name := range b.params {
		arg := argument(call, b, name)
		if arg == nil {
			continue
		}
		v, ok := constantOf(arg)
		if computed[name] = !ok; !ok {
			v = standIns[name]
		}
		if (name == "vote_on" || name == "ignore") && computed["schema"] { // they name its fields
			continue
		}
		switch {
		case v == nil:
		case b.keywords: // what has a name is for others
			args = append(args, v)
		default:
			kwargs = append(kwargs, starlark.Tuple{starlark.String(name), v})
		}
	}
	_, err := b.call(newThread(b.name, maxInitSteps, nil), starlark.NewBuiltin(b.name, b.call), args, kwargs)
	if err == nil || errors.Is(err, errOutside) {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), b.name+": "))
}

// functionParams are the parameters of built-in functions that take functions, which are called
// with one value.
var functionParams = []string{"f", "step", "until"}

// checkFunctions finds functions given to a built-in one that cannot be called by it, or call
// what they may not.
func (c *checker) checkFunctions(call *syntax.CallExpr, b *builtin) []error {
	var problems []error
	for _, name := range functionParams {
		f := argument(call, b, name)
		if f == nil {
			continue
		}
		var params []syntax.Expr
		switch f := f.(type) {
		case *syntax.LambdaExpr:
			params = f.Params
			if name == "until" {
				problems = append(problems, outside(f.Body)...)
			} else {
				problems = append(problems, c.chainsIn(f.Body)...)
			}
		case *syntax.Ident:
			binding, _ := f.Binding.(*resolve.Binding)
			if binding == nil || c.functions[binding.First] == nil {
				continue
			}
			params = c.functions[binding.First].Params
		default:
			continue
		}
		if err := checkCall(params, []syntax.Expr{f}); err != nil {
			problems = append(problems, at(call.Lparen, fmt.Errorf("%s: %s is called with one value: %w", b.name, name, err)))
		}
	}
	return problems
}

// chainsIn finds the chains in an item of a map or a turn of a chain.
func (c *checker) chainsIn(body syntax.Node) []error {
	var problems []error
	syntax.Walk(body, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || c.inside[call] {
			return true
		}
		if b := builtinOf(call); b != nil && b.name == "chain" {
			c.inside[call] = true // once, however many maps are around it
			problems = append(problems, at(call.Lparen, fmt.Errorf("chain: %w", errInside)))
		}
		return true
	})
	return problems
}

// recursion finds calls of a function by itself. Functions in it may be called elsewhere, such as
// by a map.
func recursion(d *syntax.DefStmt) []error {
	var problems []error
	for _, stmt := range d.Body {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt, *syntax.LambdaExpr:
				return false
			case *syntax.CallExpr:
				id, ok := n.Fn.(*syntax.Ident)
				if !ok {
					break
				}
				if b, ok := id.Binding.(*resolve.Binding); ok && b.First == d.Name {
					problems = append(problems, at(n.Lparen, fmt.Errorf("function %s calls itself, and there is no recursion: use for, or chain", id.Name)))
				}
			}
			return true
		})
	}
	return problems
}

// atLeast reads a number that has a least value.
func atLeast(least int, into *int) starlark.Unpacker { return &bounded{least, into} }

type bounded struct {
	least int
	into  *int
}

// Unpack implements [starlark.Unpacker].
func (b *bounded) Unpack(v starlark.Value) error {
	if _, ok := v.(starlark.Int); !ok {
		return fmt.Errorf("got %s, want int", v.Type())
	}
	n, err := starlark.AsInt32(v)
	if err != nil {
		return err
	}
	if n < b.least {
		return fmt.Errorf("got %d, want at least %d", n, b.least)
	}
	*b.into = n
	return nil
}
