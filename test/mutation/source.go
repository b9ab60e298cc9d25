package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// A source is a parsed file of the package.
type source struct {
	name  string
	files *token.FileSet
	file  *ast.File
	lines []string
}

func readSource(name string) (*source, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, data, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{name: filepath.ToSlash(name), files: files, file: file, lines: strings.Split(string(data), "\n")}, nil
}

// identity names the mutant of a kind at a position.
func (s *source) identity(kind string, line, column int) identity {
	text := s.lines[line-1]
	before, rest := text[:column-1], text[column-1:]
	operator := rest[:1]
	for _, two := range []string{"==", "!=", "<=", ">=", "++", "--", "+=", "-=", "*=", "/=", "%="} {
		if strings.HasPrefix(rest, two) {
			operator = two
		}
	}
	return identity{
		file:     s.name,
		function: s.functionAt(line),
		kind:     strings.ReplaceAll(kind, " ", "_"),
		code:     strings.TrimSpace(before + "[[" + operator + "]]" + rest[len(operator):]),
	}
}

// functionAt is the function around a line, written Type.Method or function, or "-".
func (s *source) functionAt(line int) string {
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || line < s.files.Position(f.Pos()).Line || line > s.files.Position(f.End()).Line {
			continue
		}
		if f.Recv == nil {
			return f.Name.Name
		}
		t := f.Recv.List[0].Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		switch generic := t.(type) {
		case *ast.IndexExpr:
			t = generic.X
		case *ast.IndexListExpr:
			t = generic.X
		}
		if name, ok := t.(*ast.Ident); ok {
			return name.Name + "." + f.Name.Name
		}
		return f.Name.Name
	}
	return "-"
}

// A span is a part of a file, from a position to one after it.
type span struct{ from, to token.Position }

func (s *source) span(n ast.Node) span {
	return span{s.files.Position(n.Pos()), s.files.Position(n.End())}
}

// all is the whole file.
func (s *source) all() span {
	return span{token.Position{Line: 1, Column: 1}, token.Position{Line: len(s.lines) + 1, Column: 1}}
}

func (a span) holds(p token.Position) bool {
	after := p.Line > a.from.Line || p.Line == a.from.Line && p.Column >= a.from.Column
	before := p.Line < a.to.Line || p.Line == a.to.Line && p.Column < a.to.Column
	return after && before
}

// unseen is what a coverage profile never speaks of though it is in use: the
// conditions of the cases of each switch that is reached, and what is declared outside
// functions.
func (s *source) unseen(reached func(token.Position) bool) []span {
	var spans []span
	for _, d := range s.file.Decls {
		if _, ok := d.(*ast.GenDecl); ok {
			spans = append(spans, s.span(d))
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.SwitchStmt:
			body = n.Body
		case *ast.SelectStmt:
			body = n.Body
		default:
			return true
		}
		if !reached(s.files.Position(n.Pos())) {
			return true
		}
		for _, c := range body.List {
			switch c := c.(type) {
			case *ast.CaseClause:
				for _, e := range c.List {
					spans = append(spans, s.span(e))
				}
			case *ast.CommClause:
				if c.Comm != nil {
					spans = append(spans, s.span(c.Comm))
				}
			}
		}
		return true
	})
	return spans
}
