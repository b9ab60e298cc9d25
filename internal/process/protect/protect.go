// Package protect keeps agents from changing the files that say what agents may do:
// configuration, and whatever a configuration names.
//
//   - A [Set] says which paths are protected, for tools that work on a path.
//   - A sandbox makes what is in the set read-only, where it can.
//   - A [Guard] remembers files before a command and puts them back after it. It is
//     for what a sandbox cannot do: much, at some levels, and at all of them for files
//     that are not there and must not be made.
package protect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/internal/links"
)

// A Path is protected, with everything below it.
type Path struct {
	// Name is absolute, without links on the way. It may be a link itself.
	Name string

	// Own says that this program, or one that it trusts, writes to it while tools run,
	// as to a log. A guard cannot tell who did it, so it does not look.
	Own bool
}

// A Set is what is protected. It is safe for concurrent use; nil has nothing.
type Set struct{ paths []Path }

// New returns the set of files and of things of our own, which need not exist. A path
// that leads through links is protected together with these links. Relative paths
// start in the workspace. A folder that the workspace is in is left out: nothing could
// be changed any more.
func New(workspace string, files, own []string) *Set {
	workspace = Real(workspace)
	s := &Set{}
	for i, names := range [][]string{files, own} {
		for _, name := range names {
			if name == "" {
				continue
			}
			if !filepath.IsAbs(name) {
				name = filepath.Join(workspace, name)
			}
			for _, on := range trace(filepath.Clean(name)) {
				if p := (Path{on, i == 1}); !Within(on, workspace) && !slices.Contains(s.paths, p) {
					s.paths = append(s.paths, p)
				}
			}
		}
	}
	return s
}

// Paths lists what is protected.
func (s *Set) Paths() []Path {
	if s == nil {
		return nil
	}
	return slices.Clone(s.paths)
}

// Covers reports whether to change the file at an absolute path is to change something
// protected: through links, or by another name of the same file or folder too.
func (s *Set) Covers(path string) bool {
	return slices.ContainsFunc(trace(filepath.Clean(path)), func(name string) bool {
		return slices.ContainsFunc(s.Paths(), func(p Path) bool { return p.covers(name) })
	})
}

func (p Path) covers(name string) bool {
	is, err := os.Lstat(p.Name)
	for {
		// The file system knows whether letters of another case, or another form of
		// them, make a difference, unless there is nothing to ask it about.
		if name == p.Name || err != nil && strings.EqualFold(name, p.Name) {
			return true
		}
		if info, nameErr := os.Lstat(name); err == nil && nameErr == nil && os.SameFile(is, info) {
			return true
		}
		parent := filepath.Dir(name)
		if parent == name {
			return false
		}
		name = parent
	}
}

// Within reports whether a clean path is dir or in it.
func Within(dir, path string) bool {
	sep := string(filepath.Separator)
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, sep)+sep)
}

// Real follows the links of an absolute path as far as it exists.
func Real(path string) string {
	all := trace(path)
	return all[len(all)-1]
}

// trace follows an absolute path and returns the links that it leads through, and what
// it leads to.
func trace(path string) []string {
	through, to, _ := links.Follow(path)
	return append(through, to)
}
