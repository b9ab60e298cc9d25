package script

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A script cannot loop for ever: there is neither while nor recursion, and its steps of
// execution are counted. But one operation can make a value of any size, and one that is
// nested deeply enough ends the program when it is printed. So operations that make large
// values out of small ones are replaced with ones that look first.

// maxNesting is how deeply brackets may be nested.
const maxNesting = 200

// checkNesting refuses a text that a parser should not be given, since it follows brackets
// as deep as they go. Everything else nests at most as deep as a script is long.
func checkNesting(name, text string) error {
	depth, line := 0, 1
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '\n':
			line++
		case '(', '[', '{':
			if depth++; depth > maxNesting {
				return fmt.Errorf("%s:%d: this is nested more than %d deep", name, line, maxNesting)
			}
		case ')', ']', '}':
			depth--
		case '#':
			if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
				i += n
				continue
			}
			return nil
		case '"', '\'':
			n := quoted(text[i:])
			line += strings.Count(text[i:i+n], "\n")
			i += n
			continue
		}
		i++
	}
	return nil
}

// quoted is the length of the string that a text begins with.
func quoted(text string) int {
	quote := text[:1]
	if strings.HasPrefix(text, quote+quote+quote) {
		quote = text[:3]
	}
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		case text[i] == '\n' && len(quote) == 1: // it does not end, which the parser says
			return i
		}
	}
	return len(text)
}

// The names of guarded operations, which no script can spell.
const (
	guardedBinary  = "$binary"
	guardedInPlace = "$in place"
	guardedElement = "$element"
	guardedMethod  = "$method"
)

// guard replaces what can make large values.
func guard(f *syntax.File) { guardStmts(f.Stmts) }

func guardStmts(list []syntax.Stmt) {
	for i, stmt := range list {
		switch s := stmt.(type) {
		case *syntax.AssignStmt:
			list[i] = guardAssign(s)
		case *syntax.DefStmt:
			guardExprs(s.Params)
			guardStmts(s.Body)
		case *syntax.ExprStmt:
			s.X = guarded(s.X)
		case *syntax.ForStmt:
			s.Vars, s.X = guarded(s.Vars), guarded(s.X)
			guardStmts(s.Body)
		case *syntax.IfStmt:
			s.Cond = guarded(s.Cond)
			guardStmts(s.True)
			guardStmts(s.False)
		case *syntax.ReturnStmt:
			if s.Result != nil {
				s.Result = guarded(s.Result)
			}
		}
	}
}

// guardAssign guards x += y and its like. What stands on the left is evaluated once.
func guardAssign(s *syntax.AssignStmt) syntax.Stmt {
	var op syntax.Token
	switch s.Op {
	case syntax.PLUS_EQ:
		op = syntax.PLUS
	case syntax.STAR_EQ:
		op = syntax.STAR
	case syntax.PERCENT_EQ:
		op = syntax.PERCENT
	default:
		s.LHS, s.RHS = guarded(s.LHS), guarded(s.RHS)
		return s
	}
	lhs := s.LHS
	for {
		paren, ok := lhs.(*syntax.ParenExpr)
		if !ok {
			break
		}
		lhs = paren.X
	}
	switch lhs := lhs.(type) {
	case *syntax.Ident:
		if isInt(s.RHS) && op == syntax.PLUS {
			return s
		}
		use := &syntax.Ident{NamePos: lhs.NamePos, Name: lhs.Name}
		s.Op, s.LHS = syntax.EQ, lhs
		s.RHS = callOf(guardedInPlace, s.OpPos, literal(op, s.OpPos), use, guarded(s.RHS))
	case *syntax.IndexExpr:
		return &syntax.ExprStmt{X: callOf(guardedElement, s.OpPos, literal(op, s.OpPos), guarded(lhs.X), guarded(lhs.Y), guarded(s.RHS))}
	}
	return s
}

func guardExprs(list []syntax.Expr) {
	for i := range list {
		list[i] = guarded(list[i])
	}
}

// guarded is an expression with its operations replaced.
func guarded(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		e.X, e.Y = guarded(e.X), guarded(e.Y)
		switch e.Op {
		case syntax.PLUS:
			if isInt(e.X) || isInt(e.Y) {
				return e
			}
		case syntax.STAR, syntax.PERCENT:
			if isInt(e.X) && isInt(e.Y) {
				return e
			}
		case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
			if isPlain(e.X) || isPlain(e.Y) {
				return e
			}
		case syntax.IN, syntax.NOT_IN:
		default:
			return e
		}
		return callOf(guardedBinary, e.OpPos, literal(e.Op, e.OpPos), e.X, e.Y)
	case *syntax.CallExpr:
		e.Fn = guarded(e.Fn)
		guardExprs(e.Args)
	case *syntax.Comprehension:
		e.Body = guarded(e.Body)
		for _, clause := range e.Clauses {
			switch c := clause.(type) {
			case *syntax.ForClause:
				c.Vars, c.X = guarded(c.Vars), guarded(c.X)
			case *syntax.IfClause:
				c.Cond = guarded(c.Cond)
			}
		}
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = guarded(e.Cond), guarded(e.True), guarded(e.False)
	case *syntax.DictEntry:
		e.Key, e.Value = guarded(e.Key), guarded(e.Value)
	case *syntax.DictExpr:
		guardExprs(e.List)
	case *syntax.DotExpr:
		e.X = guarded(e.X)
		if _, ok := methods[e.Name.Name]; ok {
			name := &syntax.Literal{Token: syntax.STRING, TokenPos: e.NamePos, Value: e.Name.Name}
			return callOf(guardedMethod, e.Dot, e.X, name)
		}
	case *syntax.IndexExpr:
		e.X, e.Y = guarded(e.X), guarded(e.Y)
	case *syntax.LambdaExpr:
		guardExprs(e.Params)
		e.Body = guarded(e.Body)
	case *syntax.ListExpr:
		guardExprs(e.List)
	case *syntax.ParenExpr:
		e.X = guarded(e.X)
	case *syntax.SliceExpr:
		e.X = guarded(e.X)
		for _, part := range []*syntax.Expr{&e.Lo, &e.Hi, &e.Step} {
			if *part != nil {
				*part = guarded(*part)
			}
		}
	case *syntax.TupleExpr:
		guardExprs(e.List)
	case *syntax.UnaryExpr:
		if e.X != nil {
			e.X = guarded(e.X)
		}
	}
	return e
}

func isInt(e syntax.Expr) bool {
	l, ok := e.(*syntax.Literal)
	return ok && l.Token == syntax.INT
}

// isPlain reports whether an expression is short, whatever it is compared with.
func isPlain(e syntax.Expr) bool {
	_, ok := e.(*syntax.Literal)
	return ok
}

func literal(op syntax.Token, p syntax.Position) syntax.Expr {
	return &syntax.Literal{Token: syntax.INT, TokenPos: p, Value: int64(op)}
}

func callOf(name string, p syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: p, Name: name}, Lparen: p, Args: args, Rparen: p}
}

// methods are those that can make large values, with what they make at most, in bytes.
var methods = map[string]func(recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (int64, error){
	"join": func(recv starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
		sep, _ := starlark.AsString(recv)
		if len(args) != 1 {
			return 0, nil // an error anyway
		}
		total := int64(0)
		for v := range elements(args[0]) {
			s, _ := starlark.AsString(v)
			if total += int64(len(s) + len(sep)); total > maxValue {
				break
			}
		}
		return total, nil
	},
	"replace": func(recv starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
		s, _ := starlark.AsString(recv)
		if len(args) < 2 {
			return 0, nil
		}
		old, _ := starlark.AsString(args[0])
		with, _ := starlark.AsString(args[1])
		return int64(len(s)) + int64(strings.Count(s, old))*int64(len(with)), nil
	},
	"format": func(recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (int64, error) {
		s, _ := starlark.AsString(recv)
		for _, kv := range kwargs {
			args = append(args[:len(args):len(args)], kv[1])
		}
		return formatted(s, strings.Count(s, "{"), args...)
	},
	"extend": func(_ starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
		return elementBytes * int64(sum(args, starlark.Len)), nil
	},
	"count": scanned, "find": scanned, "rfind": scanned, "index": scanned, "rindex": scanned,
	"startswith": scanned, "endswith": scanned, "removeprefix": scanned, "removesuffix": scanned,
	"strip": scanned, "lstrip": scanned, "rstrip": scanned, "lower": scanned, "upper": scanned, "title": scanned, "capitalize": scanned,
	"insert": scanned, "remove": scanned, "pop": scanned, "union": scanned, "update": scanned, "keys": scanned, "values": scanned, "items": scanned,
	"split": pieces, "rsplit": pieces, "splitlines": pieces,
	"partition": pieces, "rpartition": pieces,
	"elems": pieces, "elem_ords": pieces, "codepoints": pieces, "codepoint_ords": pieces,
	"decode": func(_ starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
		return elementBytes * int64(sum(args, starlark.Len)), nil
	},
	"encode_indent": func(_ starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
		n, err := formatted("", 1, args[:min(len(args), 1)]...)
		return maxDepth * n, err
	},
	"encode": func(_ starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
		return formatted("", 1, args...)
	},
	"indent": func(_ starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
		return maxNesting * int64(sum(args, starlark.Len)), nil
	},
}

// scanned is how much is gone through.
func scanned(recv starlark.Value, args starlark.Tuple, _ []starlark.Tuple) (int64, error) {
	total := sizeOf(recv)
	for _, arg := range args {
		total += sizeOf(arg)
	}
	return min(total, maxValue), nil
}

// pieces is what a text in pieces takes.
func pieces(recv starlark.Value, _ starlark.Tuple, _ []starlark.Tuple) (int64, error) {
	s, _ := starlark.AsString(recv)
	return int64(len(s)) * elementBytes / 4, nil
}

func sum(values starlark.Tuple, size func(starlark.Value) int) (total int) {
	for _, v := range values {
		if n := size(v); n > 0 {
			total += n
		}
	}
	return total
}

// formatted is how long a text becomes in which up to n places are filled with one of the
// values each.
func formatted(text string, n int, values ...starlark.Value) (int64, error) {
	longest, all := int64(0), int64(0)
	for _, v := range values {
		printed, err := printedLen(v)
		if err != nil {
			return 0, err
		}
		longest, all = max(longest, printed), all+printed
	}
	if n > len(values) {
		all += int64(n-len(values)) * longest
	}
	return int64(len(text)) + all, nil
}
