package builtin

import (
	"bufio"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/maker-mdap/maker/internal/process/protect"
)

// The .gitignore matcher is ours because it is small on top of the globs that we
// have anyway, and because it has to read its files through the workspace's root:
// the modules that do it open paths themselves.

// An ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	base     string // folder of the file, "." for the top
	pattern  string
	negated  bool
	onlyDirs bool
}

// parseIgnore reads a .gitignore that lies in base.
func parseIgnore(base string, r io.Reader) []ignoreRule {
	var rules []ignoreRule
	const longest = 4096 // of a line; what comes after a longer one is passed over
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		if rule, ok := parseIgnoreLine(base, lines.Text()); ok {
			rules = append(rules, rule)
		}
	}
	return rules
}

func parseIgnoreLine(base, line string) (ignoreRule, bool) {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	rule := ignoreRule{base: base}
	if line[0] == '!' {
		rule.negated = true
		line = line[1:]
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		rule.onlyDirs = true
		line = rest
	}
	// A slash anywhere but at the end ties the pattern to this folder.
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if !anchored {
		line = "**/" + line
	}
	if rest, ok := strings.CutSuffix(line, "/**"); ok {
		line = rest + "/**/*" // what is inside, not the folder itself
	}
	// Braces mean nothing to git.
	rule.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	return rule, line != "" && doublestar.ValidatePattern(rule.pattern)
}

// matches reports whether the rule is about name, a path below its folder.
func (r ignoreRule) matches(name string, isDir bool) bool {
	if r.onlyDirs && !isDir {
		return false
	}
	if r.base != "." {
		rest, ok := strings.CutPrefix(name, r.base+"/")
		if !ok {
			return false
		}
		name = rest
	}
	return doublestar.MatchUnvalidated(r.pattern, name)
}

// ignored applies rules, of which the last that matches decides.
func ignored(rules []ignoreRule, name string, isDir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(name, isDir) {
			return !rules[i].negated
		}
	}
	return false
}

// walk calls f for every file below start that is not ignored, in alphabetical
// order, with slashes in its name. It follows no links. Folders that cannot be
// read are passed over, and so are our own: the log of a run is not part of the
// work, and grows while it is looked at. An error of f ends it.
func (w *workspace) walk(start string, f func(name string, d fs.DirEntry) error) error {
	files := w.FS()
	var rules []ignoreRule
	// The files above start count too.
	for dir := start; dir != "."; {
		dir = path.Dir(dir)
		rules = append(readIgnore(files, dir), rules...)
	}
	return w.walkDir(files, start, rules, f)
}

func (w *workspace) walkDir(files fs.FS, dir string, rules []ignoreRule, f func(name string, d fs.DirEntry) error) error {
	rules = append(rules[:len(rules):len(rules)], readIgnore(files, dir)...)
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.Name() == ".git" || ignored(rules, name, e.IsDir()) || e.IsDir() && w.isLog(name) {
			continue
		}
		if e.IsDir() {
			err = w.walkDir(files, name, rules, f)
		} else {
			err = f(name, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readIgnore(files fs.FS, dir string) []ignoreRule {
	name := path.Join(dir, ".gitignore")
	// A pipe of that name would block.
	if info, err := fs.Lstat(files, name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := files.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	return parseIgnore(dir, io.LimitReader(f, 1<<20))
}

// isLog reports whether a folder in the workspace is one that this program writes to.
func (w *workspace) isLog(name string) bool {
	return slices.Contains(w.protected.Paths(), protect.Path{Name: filepath.Join(w.dir, filepath.FromSlash(name)), Own: true})
}
