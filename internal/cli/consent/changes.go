package consent

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// mostChanges is how many changed files are listed.
const mostChanges = 50

// Changes lists the files that a run has changed and how to undo that, and says of how many
// calls nobody knows what they have changed. A file that was changed several times is listed
// once: the first copy has what was before the run.
func Changes(w io.Writer, r *runs.Result, dir, folder string) {
	seen := map[string]bool{}
	var lines []string
	others := 0
	for _, e := range r.Effects {
		if e.Status != "done" && e.Status != "unknown" || e.Looks {
			continue
		}
		b := e.Before
		if b == nil {
			others++
			continue
		}
		path := b.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		if seen[path] {
			continue
		}
		seen[path] = true
		if b.Kept == "" {
			lines = append(lines, fmt.Sprintf("  new      %s   undo: rm %s", show.Exact(b.Path), quote(path)))
		} else {
			lines = append(lines, fmt.Sprintf("  changed  %s   undo: cp %s %s", show.Exact(b.Path), quote(filepath.Join(dir, filepath.FromSlash(b.Kept))), quote(path)))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintln(w, "files changed:")
	}
	for i, line := range lines {
		if i == mostChanges {
			fmt.Fprintf(w, "  and %s more: the effects in %s name them\n", report.Thousands(len(lines)-i), filepath.Join(dir, "result.json"))
			break
		}
		fmt.Fprintln(w, line)
	}
	if others > 0 {
		fmt.Fprintf(w, "besides, %s of commands and servers: what that changed is not known here\n", report.Count(others, "call"))
	}
}

// quote is a path as a shell wants it. What cannot be seen is an escape that shells read.
func quote(path string) string {
	safe := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if strings.IndexFunc(path, func(r rune) bool { return !safe(r) }) < 0 {
		return path
	}
	if show.Exact(path) == path && !strings.ContainsAny(path, "\n\t") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for rest := path; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch part := rest[:size]; {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + part)
		case r != utf8.RuneError && show.Exact(part) == part && part != "\n" && part != "\t":
			b.WriteString(part)
		default:
			for _, c := range []byte(part) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		rest = rest[size:]
	}
	return "$'" + b.String() + "'"
}
