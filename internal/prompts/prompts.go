// Package prompts holds every text that the engine sends to a model of its own
// accord, so that nobody has to look for one elsewhere. (How results of earlier tasks
// are written down, with which labels, is the business of package outline.)
//
// A prompt is a template in its own file, below templates, and a Go struct with
// the data that it takes. Rendering goes by the struct, so that a prompt cannot
// be given the data of another. A user may replace single templates; which text
// was used is told by its hash, which a run logs.
package prompts

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/maker-mdap/maker/internal/text/nearest"
)

//go:embed templates/*.tmpl
var files embed.FS

// Data is what one prompt is made from. Every prompt has a type of its own.
type Data interface {
	// Prompt is the name of the template, without its extension.
	Prompt() string
}

// A Set is one version of all prompts. It does not change and is safe for
// concurrent use.
type Set struct {
	texts     map[string]string
	templates map[string]*template.Template
	replaced  map[string]bool
	most      int // framings of a prompt that are used
}

// Default returns the built-in prompts.
func Default() *Set {
	s, err := New(nil)
	if err != nil {
		panic(err) // a template of ours does not parse: a test would have seen it
	}
	return s
}

// New returns the built-in prompts with some of them replaced, by name. A name
// that is none, and a text that is no template or cannot be rendered with the
// prompt's data, are errors.
func New(replace map[string]string) (*Set, error) {
	s := &Set{texts: map[string]string{}, templates: map[string]*template.Template{}, replaced: map[string]bool{}, most: MaxFramings}
	entries, err := files.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	for _, entry := range entries {
		text, err := files.ReadFile("templates/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("prompts: %w", err)
		}
		if err := s.set(strings.TrimSuffix(entry.Name(), Extension), string(text)); err != nil {
			return nil, err
		}
	}
	for name, text := range replace {
		if _, ok := s.texts[plainName(name)]; !ok {
			return nil, fmt.Errorf("prompts: no prompt is called %q; %s", name, nearest.Among(name, s.Names()))
		}
		if err := s.set(name, text); err != nil {
			return nil, err
		}
		s.replaced[name] = true
	}
	for _, d := range samples {
		for name := range s.replaced {
			if plainName(name) != d.Prompt() {
				continue
			}
			if _, err := s.render(name, d); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// Limited returns the set with at most so many framings of each prompt.
func (s *Set) Limited(framings int) *Set {
	limited := *s
	limited.most = framings
	return &limited
}

// Extension is that of the files of templates.
const Extension = ".tmpl"

func (s *Set) set(name, text string) error {
	t, err := template.New(name).Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return fmt.Errorf("prompts: %w", err)
	}
	s.texts[name], s.templates[name] = text, t
	return nil
}

var functions = template.FuncMap{
	"join":   strings.Join,
	"inside": inside,
}

// Render returns the prompt of d, without white space around it.
func (s *Set) Render(d Data) (string, error) { return s.render(d.Prompt(), d) }

func (s *Set) render(name string, d Data) (string, error) {
	t, ok := s.templates[name]
	if !ok {
		return "", fmt.Errorf("prompts: no prompt is called %q", name)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, d); err != nil {
		return "", fmt.Errorf("prompts: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}

// Names lists all prompts in alphabetical order.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.texts))
	for name := range s.texts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Text returns the template called name.
func (s *Set) Text(name string) (string, bool) {
	text, ok := s.texts[name]
	return text, ok
}

// Replaced reports whether a prompt is not the built-in one.
func (s *Set) Replaced(name string) bool { return s.replaced[name] }

// Hash stands for the text of a template.
func (s *Set) Hash(name string) string {
	sum := sha256.Sum256([]byte(s.texts[name]))
	return hex.EncodeToString(sum[:8])
}

// Hashes has the hash of every prompt by name; nil without a set.
func (s *Set) Hashes() map[string]string {
	if s == nil {
		return nil
	}
	hashes := make(map[string]string, len(s.texts))
	for name := range s.texts {
		hashes[name] = s.Hash(name)
	}
	return hashes
}

// samples has one value of each kind of data, to try a replaced prompt with.
var samples = slices.Concat(planSamples, solveSamples, outlineSamples, askSamples, writerSamples)
