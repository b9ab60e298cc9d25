package prompts

import (
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/flow"
)

// MaxFramings is how many framings a prompt has at most. The built-in prompts that are
// voted on have as many.
const MaxFramings = 5

// minShared is the size in bytes from which data is worth caching: about a thousand
// tokens, the least that providers cache.
const minShared = 4_000

// A Splitter is data whose bulk can stand before the prompt, where it is the same in
// every framing, so that a provider needs to read it only once.
type Splitter interface {
	Data
	Split() (shared, rest Data, err error)
}

// A Framed prompt is one content in several framings.
type Framed struct {
	Texts  []string // the plain one first
	Shared int      // bytes at their beginning that are the same in all of them
}

// Framings renders the prompt of d in all of its framings: the template of its name and
// those called NAME_2, NAME_3 and so on. They say the same in other words and in
// another order. Who replaces a template replaces its framings too: built-in ones would
// not say the same.
func (s *Set) Framings(d Data) (Framed, error) {
	var f Framed
	prefix := ""
	if splitter, ok := d.(Splitter); ok {
		shared, rest, err := splitter.Split()
		if err != nil {
			return f, err
		}
		text, err := s.Render(shared)
		if err != nil {
			return f, err
		}
		if len(text) >= minShared {
			prefix, d = text+"\n\n", rest
		}
	}
	f.Shared = len(prefix)
	for _, name := range s.framings(d.Prompt()) {
		text, err := s.render(name, d)
		if err != nil {
			return f, err
		}
		f.Texts = append(f.Texts, prefix+text)
	}
	return f, nil
}

// framings are the names of the templates that ask what the one called name does.
func (s *Set) framings(name string) []string {
	names := []string{name}
	for n := 2; n <= min(s.most, MaxFramings); n++ {
		other := framing(name, n)
		if _, ok := s.texts[other]; ok && !s.Unused(other) {
			names = append(names, other)
		}
	}
	return names
}

// Unused reports whether a template is a built-in framing of one that is replaced: it would
// not say the same, and is not sent.
func (s *Set) Unused(name string) bool {
	return !s.replaced[name] && s.replaced[plainName(name)]
}

func framing(name string, n int) string { return fmt.Sprintf("%s_%d", name, n) }

// plainName is the name of the prompt that a template is a framing of.
func plainName(name string) string {
	for n := 2; n <= MaxFramings; n++ {
		if plain, ok := strings.CutSuffix(name, fmt.Sprintf("_%d", n)); ok {
			return plain
		}
	}
	return name
}

// Put has a question ask for d.
func (s *Set) Put(q *flow.Question, d Data) error {
	f, err := s.Framings(d)
	if err != nil {
		return err
	}
	q.Prompt, q.Shared, q.Class = f.Texts[0], f.Shared, d.Prompt()
	if q.Variants = nil; len(f.Texts) > 1 {
		q.Variants = f.Texts
	}
	return nil
}
