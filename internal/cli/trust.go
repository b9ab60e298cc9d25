package cli

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

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
	"github.com/maker-mdap/maker/internal/text/show"
)

// trustedName is the file of the user's configuration folder that says what is
// trusted: a hash and a path a line.
const trustedName = "trusted"

// An untrustedError is a configuration file that nobody has trusted as it is.
type untrustedError struct {
	path  string
	risks []string // its settings that need trust, with their lines
}

func (e *untrustedError) Error() string {
	return fmt.Sprintf("%s sets %s, which can run programs, let calls pass or send data elsewhere, and nobody has trusted this content yet: look at it, and then run `maker trust`",
		e.path, strings.Join(e.risks, ", "))
}

// isOwn reports whether a configuration file is the user's own: it needs no trust.
func (f configFile) isOwn() bool { return f.path != configName }

// risks are the settings of a file that need trust, in the order of the file.
func (f configFile) risks() []string {
	type risk struct {
		name string
		line int
	}
	var list []risk
	if f.servers > 0 {
		list = append(list, risk{serversKey, f.servers})
	}
	for name, v := range f.values {
		if config.Find(name).NeedsTrust {
			list = append(list, risk{name, v.line})
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
func (f configFile) fingerprint() (string, error) {
	place, err := filepath.Abs(f.path)
	if err == nil {
		place, err = filepath.EvalSymlinks(place)
	}
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(f.path)
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
func (f configFile) named() []string {
	files := slices.Concat(f.values["answers"].texts, f.values["mcp_config"].texts)
	for _, dir := range f.values["prompts_dir"].texts {
		entries, _ := os.ReadDir(dir) // no Glob: the folder may be called [a]
		for _, e := range entries {
			if filepath.Ext(e.Name()) == prompts.Extension {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	return files
}

// show prints a file that is to be trusted, and what it names.
func (f configFile) show(w io.Writer) {
	for _, file := range slices.Concat([]string{f.path}, f.named()) {
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

// checkTrust says whether a file may do what it says. A file that cannot be looked at
// is not trusted.
func (f configFile) checkTrust() error {
	risks := f.risks()
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
		return &untrustedError{f.path, risks}
	}
	return nil
}

// setTrust trusts a file as it is, or no longer. Another content of the same file is
// not trusted any more either way.
func (f configFile) setTrust(trust bool) error {
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

func (a *app) trust() *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Trust the maker.yaml of this folder as it is",
		Long: `trust lets the maker.yaml of this folder take effect where it could run programs,
let calls pass, move what is confined or send data elsewhere:
` + settingsThatNeedTrust() + `.
It shows the file and what it names, and asks. What is trusted is this content in this
place: after any change it has to be trusted again. Your own maker.yaml, in your
configuration folder, needs no trust.`,
		Example: `  maker trust
  maker trust --revoke`,
		Args:        exactArgs(),
		Annotations: map[string]string{anySettings: "it decides about them"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := readConfigFile(configName)
			if errors.Is(err, fs.ErrNotExist) {
				return usageError{fmt.Errorf("there is no %s in this folder", configName)}
			}
			if err != nil {
				return usageError{err}
			}
			return a.decideTrust(cmd, file, yes, revoke)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "trust it no longer")
	return cmd
}

func (a *app) decideTrust(cmd *cobra.Command, file configFile, yes, revoke bool) error {
	err := file.checkTrust()
	untrusted, unknown := errors.AsType[*untrustedError](err)
	switch {
	case revoke:
		if err := file.setTrust(false); err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "%s is not trusted any more\n", file.path)
		return nil
	case err == nil && len(file.risks()) == 0:
		fmt.Fprintf(a.Out, "%s needs no trust: it sets nothing that could run or open anything\n", file.path)
		return nil
	case err == nil:
		fmt.Fprintf(a.Out, "%s is trusted as it is\n", file.path)
		return nil
	case !unknown:
		return err
	}
	file.show(a.Out)
	fmt.Fprintf(a.Out, "%s sets %s\n", file.path, strings.Join(untrusted.risks, ", "))
	if !yes {
		if !a.hasTerminal() {
			return usageError{errors.New("nobody is there to say so; look at the file, and then run `maker trust --yes`")}
		}
		answer, err := a.confirm(cmd.Context(), fmt.Sprintf("Trust %s as it is?", file.path))
		if err != nil {
			return err
		}
		if !answer {
			return usageError{fmt.Errorf("%s is not trusted", file.path)}
		}
	}
	if err := file.setTrust(true); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s is trusted as it is, until it changes\n", file.path)
	return nil
}

// settingsThatNeedTrust lists them in lines that fit a help text.
func settingsThatNeedTrust() string {
	text, line := "", serversKey
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
