package settingsfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
	"github.com/maker-mdap/maker/internal/text/show"
)

// trustedName is the file of the user's configuration folder that says what is
// trusted: a hash and a path a line.
const trustedName = "trusted"

// An UntrustedError is a configuration file that nobody has trusted as it is.
type UntrustedError struct {
	path  string
	Risks []string // its settings that need trust, with their lines
}

func (e *UntrustedError) Error() string {
	return fmt.Sprintf("%s sets %s, which can run programs, let calls pass or send data elsewhere, and nobody has trusted this content yet: look at it, and then run `maker trust`",
		e.path, strings.Join(e.Risks, ", "))
}

// isOwn reports whether a configuration file is the user's own: it needs no trust.
func (f File) isOwn() bool { return f.Path != Name }

// Risks are the settings of a file that need trust, in the order of the file.
func (f File) Risks() []string {
	type risk struct {
		name string
		line int
	}
	var list []risk
	if f.Servers > 0 {
		list = append(list, risk{ServersKey, f.Servers})
	}
	for name, v := range f.Values {
		if config.Find(name).NeedsTrust {
			list = append(list, risk{name, v.Line})
		}
	}
	slices.SortFunc(list, func(a, b risk) int { return a.line - b.line })
	var names []string
	for _, r := range list {
		names = append(names, fmt.Sprintf("%s (line %d)", r.name, r.line))
	}
	return names
}

// fingerprint stands for the content of a file, of the files that it names for
// programs and answers, and for the place where it is.
func (f File) fingerprint() (string, error) {
	place, err := filepath.Abs(f.Path)
	if err == nil {
		place, err = filepath.EvalSymlinks(place)
	}
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(f.Path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s%d:%s", len(place), place, len(data), data)
	for _, file := range f.named() {
		named, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		fmt.Fprintf(h, "%d:%s%t", len(named), named, err == nil)
	}
	return hex.EncodeToString(h.Sum(nil)) + " " + place, nil
}

// named are the files that a file names whose content is trusted with it: servers to
// start, answers to give, prompts to send.
func (f File) named() []string {
	files := slices.Concat(f.Values["answers"].Texts, f.Values["mcp_config"].Texts)
	for _, dir := range f.Values["prompts_dir"].Texts {
		entries, _ := os.ReadDir(dir) // no Glob: the folder may be called [a]
		for _, e := range entries {
			if filepath.Ext(e.Name()) == prompts.Extension {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	return files
}

// Show prints a file that is to be trusted, and what it names.
func (f File) Show(w io.Writer) {
	for _, file := range slices.Concat([]string{f.Path}, f.named()) {
		data, err := os.ReadFile(file)
		if err != nil {
			fmt.Fprintf(w, "%s: %s\n", show.Line(file), show.Line(err.Error()))
			continue
		}
		fmt.Fprintf(w, "%s:\n", show.Line(file))
		n := 0
		for line := range strings.Lines(string(data)) {
			if n++; n > maxShown {
				fmt.Fprintf(w, "  ... and more, %d bytes in all\n", len(data))
				break
			}
			fmt.Fprintf(w, "  %3d  %s\n", n, show.Exact(strings.TrimRight(line, "\r\n")))
		}
	}
}

// maxShown is how many lines of a file are shown.
const maxShown = 200

// trustedLines is what the user has trusted so far.
func trustedLines() (path string, lines []string, err error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", nil, fmt.Errorf("there is no folder to keep in mind what is trusted: %w", err)
	}
	path = filepath.Join(dir, "maker", trustedName)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, nil, err
	}
	for line := range strings.Lines(string(data)) {
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	return path, lines, nil
}

// CheckTrust says whether a file may do what it says. A file that cannot be looked at
// is not trusted.
func (f File) CheckTrust() error {
	risks := f.Risks()
	if f.isOwn() || len(risks) == 0 {
		return nil
	}
	print, err := f.fingerprint()
	if err != nil {
		return err
	}
	_, lines, err := trustedLines()
	if err != nil {
		return err
	}
	if !slices.Contains(lines, print) {
		return &UntrustedError{f.Path, risks}
	}
	return nil
}

// SetTrust trusts a file as it is, or no longer. Another content of the same file is
// not trusted any more either way.
func (f File) SetTrust(trust bool) error {
	print, err := f.fingerprint()
	if err != nil {
		return err
	}
	path, lines, err := trustedLines()
	if err != nil {
		return err
	}
	_, place, _ := strings.Cut(print, " ")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		_, of, _ := strings.Cut(line, " ")
		return of == place
	})
	if trust {
		lines = append(lines, print)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text := ""
	for _, line := range lines {
		text += line + "\n"
	}
	return wholefile.Replace(path, []byte(text))
}

// ThatNeedTrust lists them in lines that fit a help text.
func ThatNeedTrust() string {
	text, line := "", ServersKey
	for _, d := range config.Settings() {
		if !d.NeedsTrust {
			continue
		}
		if len(line)+len(d.Name) > 80 {
			text, line = text+line+",\n", d.Name
		} else {
			line += ", " + d.Name
		}
	}
	return text + line
}
