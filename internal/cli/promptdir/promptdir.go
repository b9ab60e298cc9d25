// Package promptdir reads the templates that take the place of built-in prompts, and has the
// command that shows them.
package promptdir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/prompts"
)

// maxTemplate bounds a template, in bytes: more than any model reads.
const maxTemplate = 8 << 20

// Read reads the templates of a folder, by name; none if there is no folder.
func Read(dir string) (map[string]string, error) {
	if dir == "" {
		return nil, nil
	}
	replace, err := readAll(dir)
	if err != nil {
		return nil, &config.Error{Field: "prompts_dir", Err: err}
	}
	return replace, nil
}

func readAll(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	replace := map[string]string{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), prompts.Extension)
		if !ok || e.IsDir() {
			continue
		}
		file := filepath.Join(dir, e.Name())
		text, err := readTemplate(file)
		if err == nil {
			_, err = prompts.New(map[string]string{name: text})
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		replace[name] = text
	}
	if len(replace) == 0 {
		return nil, fmt.Errorf("%s holds no NAME%s", dir, prompts.Extension)
	}
	return replace, nil
}

func readTemplate(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTemplate+1))
	text := string(data)
	switch {
	case err != nil:
		return "", err
	case len(text) > maxTemplate:
		return "", fmt.Errorf("it has more than %d bytes", maxTemplate)
	case !utf8.ValidString(text):
		return "", errors.New("it is no text in UTF-8")
	case strings.TrimSpace(text) == "":
		return "", errors.New("it is empty")
	}
	return text, nil
}
