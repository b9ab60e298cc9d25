package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/maker-mdap/maker/tool"
)

type globInput struct {
	Pattern string `json:"pattern" jsonschema:"A glob such as **/*.go or src/{a,b}/*.ts."`
	Path    string `json:"path,omitempty" jsonschema:"The folder to look in; the workspace unless given."`
}

const globLimit = 1000

// Check refuses patterns that are none.
func (in globInput) Check() error { return checkGlob("pattern", in.Pattern) }

// checkGlob also refuses patterns that would take for ever: each pair of braces
// may double the work.
func checkGlob(field, pattern string) error {
	const longest, braces = 500, 8
	switch {
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("%s: %q is no glob", field, pattern)
	case len(pattern) > longest || strings.Count(pattern, "{") > braces:
		return fmt.Errorf("%s: it is too long or has more than %d braces", field, braces)
	}
	return nil
}

// errEnough ends a walk that has found all that fits.
var errEnough = errors.New("enough")

func (w *workspace) glob(ctx context.Context, in globInput) (tool.Result, error) {
	start, err := w.folder(in.Path)
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	pattern := in.Pattern
	if filepath.IsAbs(pattern) {
		if pattern, err = w.rel(pattern); err != nil {
			return tool.Failed("pattern: %v", err), nil
		}
		pattern, start = filepath.ToSlash(pattern), "."
	}
	pattern = path.Clean(pattern)
	if pattern == ".." || strings.HasPrefix(pattern, "../") {
		return tool.Failed("pattern: %s: %v %s", in.Pattern, errOutside, w.given), nil
	}
	var out strings.Builder
	found := 0
	err = w.walk(start, func(name string, _ fs.DirEntry) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !doublestar.MatchUnvalidated(pattern, below(start, name)) {
			return nil
		}
		if found == globLimit {
			return errEnough
		}
		found++
		fmt.Fprintln(&out, name)
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		fmt.Fprintf(&out, "[cut: the first %d files are shown; use a narrower pattern]\n", globLimit)
	case err != nil:
		return tool.Result{}, err
	case found == 0:
		return tool.Result{Text: "[no files match]"}, nil
	}
	return tool.Result{Text: out.String()}, nil
}

// folder turns the path of a folder into one for the workspace's file system.
func (w *workspace) folder(path string) (string, error) {
	rel, err := w.rel(path)
	if err != nil {
		return "", err
	}
	info, err := w.Stat(rel)
	switch {
	case err != nil:
		return "", w.explain(path, err)
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a folder", path)
	}
	return filepath.ToSlash(rel), nil
}

// below returns name without the folder that it is in.
func below(start, name string) string {
	if start == "." {
		return name
	}
	return strings.TrimPrefix(name, start+"/")
}
