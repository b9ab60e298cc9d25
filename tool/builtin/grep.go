package builtin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/maker-mdap/maker/tool"
)

type grepInput struct {
	Pattern    string `json:"pattern" jsonschema:"A regular expression in RE2 syntax."`
	Path       string `json:"path,omitempty" jsonschema:"The file or folder to search; the workspace unless given."`
	Glob       string `json:"glob,omitempty" jsonschema:"Search only files that match, such as *.go or src/**/*.ts."`
	OutputMode string `json:"output_mode,omitempty" enum:"content,files_with_matches,count" jsonschema:"What to show: the lines, the names of the files (unless given), or how many lines match in each."`
	IgnoreCase bool   `json:"-i,omitempty" jsonschema:"Ignore case."`
	Numbers    *bool  `json:"-n,omitempty" jsonschema:"Show line numbers with content; true unless given."`
	After      int    `json:"-A,omitempty" minimum:"0" jsonschema:"Lines to show after each match, with content."`
	Before     int    `json:"-B,omitempty" minimum:"0" jsonschema:"Lines to show before each match, with content."`
	Around     int    `json:"-C,omitempty" minimum:"0" jsonschema:"Lines to show before and after each match, with content."`
	HeadLimit  int    `json:"head_limit,omitempty" minimum:"1" jsonschema:"How many lines of output to show; 250 unless given."`
	Multiline  bool   `json:"multiline,omitempty" jsonschema:"Let the pattern match across lines, and . the end of a line."`
}

// Check refuses patterns that are none.
func (in grepInput) Check() error {
	if _, err := in.expression(); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	return checkGlob("glob", in.Glob)
}

func (in grepInput) expression() (*regexp.Regexp, error) {
	if _, err := regexp.Compile(in.Pattern); err != nil { // so that the error shows what was given
		return nil, err
	}
	flags := "m"
	if in.IgnoreCase {
		flags += "i"
	}
	if in.Multiline {
		flags += "s"
	}
	return regexp.Compile("(?" + flags + ")" + in.Pattern)
}

const (
	grepLines     = 250
	grepLineBytes = 500
	grepBytes     = 60_000
	grepFileBytes = 8 << 20
)

func (w *workspace) grep(ctx context.Context, in grepInput) (tool.Result, error) {
	expression, err := in.expression()
	if err != nil {
		return tool.Failed("pattern: %v", err), nil
	}
	s := &searcher{grepInput: in, expression: expression, limit: cmp.Or(in.HeadLimit, grepLines)}
	rel, err := w.rel(in.Path)
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	info, err := w.Stat(rel)
	if err != nil {
		return tool.Failed("%v", w.explain(in.Path, err)), nil
	}
	start := filepath.ToSlash(rel)
	if !info.IsDir() {
		err = s.file(w, start)
	} else {
		err = w.walk(start, func(name string, d fs.DirEntry) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !d.Type().IsRegular() || !in.wants(below(start, name)) {
				return nil
			}
			return s.file(w, name)
		})
	}
	switch {
	case errors.Is(err, errEnough):
		fmt.Fprintf(&s.out, "[cut: the first %d lines are shown; narrow the search or raise head_limit]\n", s.lines)
	case err != nil:
		return tool.Result{}, err
	case s.lines == 0:
		s.out.WriteString("[no matches]\n")
	}
	if s.long > 0 {
		fmt.Fprintf(&s.out, "[cut: of %d long files only the first %d bytes were searched]\n", s.long, grepFileBytes)
	}
	return tool.Result{Text: s.out.String()}, nil
}

// wants applies the glob: without a slash it is about the name of the file alone.
func (in grepInput) wants(name string) bool {
	if in.Glob == "" {
		return true
	}
	if !strings.Contains(in.Glob, "/") {
		name = path.Base(name)
	}
	return doublestar.MatchUnvalidated(strings.TrimPrefix(in.Glob, "/"), name)
}

// A searcher searches files and writes what it finds, up to a limit.
type searcher struct {
	grepInput
	expression *regexp.Regexp
	limit      int
	lines      int // written
	long       int // files that were not searched to the end
	out        strings.Builder
}

// print writes a line of output, or ends the search.
func (s *searcher) print(line string) error {
	if s.lines == s.limit || s.out.Len()+len(line) > grepBytes {
		return errEnough
	}
	s.lines++
	s.out.WriteString(line)
	s.out.WriteByte('\n')
	return nil
}

// file searches one file. One that cannot be read, or is not text, has no
// matches.
func (s *searcher) file(w *workspace, name string) error {
	f, info, err := w.openRegular(filepath.FromSlash(name))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, grepFileBytes))
	if err != nil || binaryKind(data[:min(len(data), sniffBytes)]) != "" {
		return nil
	}
	if info.Size() > grepFileBytes {
		s.long++
	}
	lines := newLines(data)
	var matched []int // numbers of the lines that match, from 0
	if s.Multiline {
		matched = s.across(lines)
	} else {
		for i := range lines.count() {
			if s.expression.Match(lines.at(i)) {
				matched = append(matched, i)
				if s.OutputMode == "" || s.OutputMode == "files_with_matches" {
					break
				}
			}
		}
	}
	switch {
	case len(matched) == 0:
		return nil
	case s.OutputMode == "content":
		return s.content(name, lines, matched)
	case s.OutputMode == "count":
		return s.print(fmt.Sprintf("%s:%d", name, len(matched)))
	default:
		return s.print(name)
	}
}

// across finds the lines that matches of the whole text touch.
func (s *searcher) across(lines lines) []int {
	var matched []int
	line, offset := 0, 0 // a line and where it begins
	for _, m := range s.expression.FindAllIndex(lines.data, -1) {
		last := max(m[0], m[1]-1)
		for line < lines.count() && offset <= last {
			next := offset + len(lines.at(line)) + 1
			if m[0] < next {
				matched = append(matched, line)
				if next > last {
					break // the next match may begin in this line
				}
			}
			line, offset = line+1, next
		}
	}
	return slices.Compact(matched)
}

// content prints the lines that match and those around them; a line of dashes
// stands where lines are left out.
func (s *searcher) content(name string, lines lines, matched []int) error {
	before, after := cmp.Or(s.Before, s.Around), cmp.Or(s.After, s.Around)
	next := 0 // the first line that is not printed yet
	for i, m := range matched {
		from, to := max(m-before, next), min(m+after, lines.count()-1)
		if i+1 < len(matched) {
			to = min(to, matched[i+1]-1)
		}
		if (before > 0 || after > 0) && from > next && next > 0 {
			if err := s.print("--"); err != nil {
				return err
			}
		}
		for n := from; n <= to; n++ {
			mark := "-"
			if n == m {
				mark = ":"
			}
			prefix := name + mark
			if s.Numbers == nil || *s.Numbers {
				prefix += fmt.Sprint(n+1) + mark
			}
			line := bytes.TrimSuffix(lines.at(n), []byte("\r"))
			text := valid(line[:min(len(line), grepLineBytes)])
			if len(line) > grepLineBytes {
				text += " [cut]"
			}
			if err := s.print(prefix + text); err != nil {
				return err
			}
		}
		next = to + 1
	}
	return nil
}

// lines is a text and where its lines begin; a slice of each would take more
// memory than the text if they are short.
type lines struct {
	data   []byte
	starts []int32 // and one behind the last
}

func newLines(data []byte) lines {
	l := lines{data: data}
	for at := 0; at < len(data); {
		l.starts = append(l.starts, int32(at))
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	end := len(data)
	if end > 0 && data[end-1] != '\n' {
		end++ // as if the last line had an end too
	}
	l.starts = append(l.starts, int32(end))
	return l
}

func (l lines) count() int { return len(l.starts) - 1 }

// at returns a line without its end.
func (l lines) at(i int) []byte { return l.data[l.starts[i] : l.starts[i+1]-1] }
