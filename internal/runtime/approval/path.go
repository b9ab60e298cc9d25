package approval

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/maker-mdap/maker/internal/links"
)

// A workspace is the folder that paths are relative to.
type workspace struct {
	given string // absolute, as it is known; empty if there is none
	real  string // without links; empty if they lead nowhere
}

func newWorkspace(dir string) *workspace {
	if dir == "" {
		return &workspace{}
	}
	given, err := filepath.Abs(dir)
	if err != nil {
		given = dir
	}
	real, _ := follow(given)
	return &workspace{given, real}
}

// longestPath is what an operating system opens. A longer text is no path.
const longestPath = 4096

// absolute is the path that a text means, as the tools read it: cleaned before any link
// is followed.
func (w *workspace) absolute(text string) (string, bool) {
	if len(text) > longestPath || strings.ContainsRune(text, 0) {
		return "", false
	}
	text = filepath.FromSlash(text)
	if filepath.IsAbs(text) {
		return filepath.Clean(text), true
	}
	return filepath.Join(w.given, text), w.given != ""
}

// below returns a path relative to the workspace, with slashes, if it is inside.
func (w *workspace) below(abs string) (string, bool) {
	for _, base := range []string{w.given, w.real} {
		if base == "" {
			continue
		}
		if rel, err := filepath.Rel(base, abs); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// reaches reports whether the file that is opened for a text is one that prefix says.
// The folder itself counts only if orSelf.
func (w *workspace) reaches(text, prefix string, orSelf bool) bool {
	if w.given != "" && w.real == "" {
		return false
	}
	want := clean(filepath.ToSlash(prefix))
	if filepath.IsAbs(prefix) {
		if rel, ok := w.below(filepath.Clean(prefix)); ok {
			want = clean(rel + strings.Repeat("/", len(want)-len(strings.TrimRight(want, "/"))))
		}
	}
	opened := clean(filepath.ToSlash(text))
	if abs, ok := w.absolute(text); ok {
		real, ok := follow(abs)
		if !ok {
			return false
		}
		if rel, ok := w.below(real); ok {
			opened = rel
		} else if opened = filepath.ToSlash(real); !path.IsAbs(want) {
			return false
		}
	}
	if orSelf && opened == strings.TrimSuffix(want, "/") {
		return true
	}
	return begins(opened, want) && opened != "."
}

// mayReach reports whether any way to read a text leads to what any way to read prefix
// says. What can be told without looking at files is told first.
func (w *workspace) mayReach(text, prefix string) bool {
	texts, prefixes := readings(text), readings(prefix)
	return meet(lexical(texts), lexical(prefixes)) ||
		meet(w.forms(texts), w.forms(prefixes)) || w.isIn(texts, prefix)
}

// meet reports whether one of the paths begins with one of those that are wanted.
func meet(paths, wanted []string) bool {
	for _, path := range paths {
		for _, want := range wanted {
			if begins(path, want) || path == strings.TrimSuffix(want, "/") {
				return true
			}
		}
	}
	return false
}

// readings are what a text can stand for.
func readings(text string) []string {
	list := []string{text, strings.TrimSpace(text), strings.ReplaceAll(text, `\`, "/")}
	if plain, err := url.PathUnescape(text); err == nil {
		list = append(list, plain)
		if rest, ok := strings.CutPrefix(plain, "file://"); ok {
			list = append(list, rest, strings.TrimPrefix(rest, "localhost"))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// lexical are the forms of texts that need no look at files.
func lexical(texts []string) []string {
	var list []string
	for _, t := range texts {
		list = append(list, folded(t), folded(clean(t)))
	}
	return list
}

// forms are the paths that texts can lead to: as they are, and relative to the
// workspace.
func (w *workspace) forms(texts []string) []string {
	list := lexical(texts)
	for _, t := range texts {
		end := ""
		if strings.HasSuffix(t, "/") {
			end = "/"
		}
		for _, abs := range w.places(t) {
			list = append(list, folded(filepath.ToSlash(abs)+end))
			if rel, ok := w.below(abs); ok {
				list = append(list, folded(rel+end))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// places are the absolute paths that a text can lead to: with and without links, and
// with those links followed that a cleaned path does not have any more.
func (w *workspace) places(text string) []string {
	abs, ok := w.absolute(text)
	if !ok {
		return nil
	}
	list := []string{abs}
	if real, ok := follow(abs); ok {
		list = append(list, real)
	}
	if strings.Contains(text, "..") {
		raw := filepath.FromSlash(text)
		if !filepath.IsAbs(raw) {
			raw = w.given + string(filepath.Separator) + raw
		}
		if real, ok := follow(raw); ok {
			list = append(list, real)
		}
	}
	return list
}

// isIn reports whether one of the texts leads to the very file or folder that prefix
// names, or below it, by whatever name.
func (w *workspace) isIn(texts []string, prefix string) bool {
	folder, ok := w.absolute(prefix)
	if !ok {
		return false
	}
	denied, err := os.Stat(folder)
	if err != nil {
		return false // it is not there, or only begins like something
	}
	seen := map[string]bool{}
	for _, t := range texts {
		for _, place := range w.places(t) {
			for !seen[place] {
				seen[place] = true
				if info, err := os.Stat(place); err == nil && os.SameFile(info, denied) {
					return true
				}
				place = filepath.Dir(place)
			}
		}
	}
	return false
}

// begins reports whether a path begins with another one; . is the workspace.
func begins(path, want string) bool {
	if want == "." || want == "./" {
		return !strings.HasPrefix(path, "/") && path != ".." && !strings.HasPrefix(path, "../")
	}
	return strings.HasPrefix(path, want)
}

// clean is a path without detours. A slash at its end, which says that it is a folder,
// stays.
func clean(p string) string {
	if p == "" {
		return ""
	}
	out := path.Clean(p)
	if strings.HasSuffix(p, "/") && out != "/" {
		out += "/"
	}
	return out
}

// follow returns an absolute path without links. It is false if they lead nowhere or
// cannot be seen.
func follow(p string) (string, bool) {
	if _, real, ok := links.Follow(p); ok {
		return real, true
	}
	return "", false
}

// folded is a path without what some file systems do not tell apart.
func folded(p string) string {
	p = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, norm.NFC.String(p))
	if runtime.GOOS == "windows" {
		parts := strings.Split(p, "/")
		for i, part := range parts {
			if trimmed := strings.TrimRight(part, ". "); trimmed != "" {
				parts[i] = trimmed
			}
		}
		p = strings.Join(parts, "/")
	}
	return norm.NFC.String(p)
}
