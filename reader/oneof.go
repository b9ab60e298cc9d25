package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/domain/text"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/redflag"
)

// OneOf reads one of a list of words or phrases. Letter case does not matter.
type OneOf struct {
	Options []string `json:"options"`
}

// maxOptions is the most that a model can keep in mind.
const maxOptions = 1000

// Validate implements [Reader].
func (o OneOf) Validate() error {
	if len(o.Options) < 2 {
		return errors.New("reader: want at least two options to choose from")
	}
	if len(o.Options) > maxOptions {
		return fmt.Errorf("reader: %d options, want at most %d", len(o.Options), maxOptions)
	}
	seen := map[string]string{}
	for _, option := range o.Options {
		key := text.Canonical(bare(option))
		switch other, taken := seen[key]; {
		case strings.TrimSpace(option) == "" || key == "":
			return fmt.Errorf("reader: the option %q has nothing to tell it by", option)
		case strings.ContainsAny(option, "\n\r"):
			return fmt.Errorf("reader: the option %q has more than one line", option)
		case taken && other == option:
			return fmt.Errorf("reader: the option %q is there twice", option)
		case taken:
			return fmt.Errorf("reader: the options %q and %q could not be told apart", other, option)
		}
		seen[key] = option
	}
	return nil
}

// Format implements [Reader].
func (o OneOf) Format() flow.Format { return format(nameOneOf, o) }

// JSONSchema implements [Reader].
func (o OneOf) JSONSchema() json.RawMessage {
	return encode(map[string]any{"type": "string", "enum": o.Options})
}

// Instruction implements [Reader].
func (o OneOf) Instruction() string {
	return "Answer with exactly one of these, as it is written here, and nothing else: " + quoteAll(o.Options) + "."
}

// Instructions say how to answer in n ways that mean the same: options stand in another
// order in each, so that none wins by its place.
func Instructions(r Reader, n int) []string {
	o, ok := r.(OneOf)
	if !ok {
		return []string{r.Instruction()}
	}
	var list []string
	for i := range min(n, len(o.Options)) {
		// Five of a hundred are far from each other, too.
		at := i * len(o.Options) / min(n, len(o.Options))
		list = append(list, OneOf{slices.Concat(o.Options[at:], o.Options[:at])}.Instruction())
	}
	return list
}

// quoteAll lists options; those that could be taken for several are in quotation marks.
func quoteAll(options []string) string {
	list := slices.Clone(options)
	if slices.ContainsFunc(list, func(s string) bool { return strings.ContainsAny(s, `,;"`) || strings.HasSuffix(s, ".") }) {
		for i, s := range list {
			list[i] = string(encode(s))
		}
	}
	return strings.Join(list, ", ")
}

func (o OneOf) open() (form, error) {
	c := &choices{want: "option"}
	for _, option := range o.Options {
		c.add(option, textItem(option, option))
	}
	return c.sorted(), nil
}

// Bool reads yes or no, true or false, as JSON's true or false.
type Bool struct{}

// Validate implements [Reader].
func (Bool) Validate() error { return nil }

// Format implements [Reader].
func (b Bool) Format() flow.Format { return format(nameBool, b) }

// JSONSchema implements [Reader].
func (Bool) JSONSchema() json.RawMessage { return json.RawMessage(`{"type":"boolean"}`) }

// Instruction implements [Reader].
func (Bool) Instruction() string { return "Answer with true or false and nothing else." }

func (Bool) open() (form, error) {
	c := &choices{want: "yes or no"}
	for value, words := range map[string][]string{
		"true":  {"true", "yes", "y", "ja", "oui", "sí", "sì", "sim", "да", "tak", "是", "是的", "对", "はい", "wahr", "vrai", "verdadero"},
		"false": {"false", "no", "n", "nein", "nee", "non", "não", "нет", "nie", "否", "不是", "不", "いいえ", "falsch", "faux", "falso"},
	} {
		for _, word := range words {
			c.add(word, item{value: json.RawMessage(value), key: value})
		}
	}
	return c.sorted(), nil
}

// choices are words of which one is the answer.
type choices struct {
	want  string
	whole map[string]item // by the canonical form
	words []choice        // the longest first
}

type choice struct {
	text string // folded
	item
	at int // where it is named
}

func (c *choices) add(word string, it item) {
	if c.whole == nil {
		c.whole = map[string]item{}
	}
	c.whole[text.Canonical(bare(word))] = it
	if folded := fold(bare(word)); folded != "" {
		c.words = append(c.words, choice{text: folded, item: it})
	}
}

func (c *choices) sorted() *choices {
	slices.SortFunc(c.words, func(a, b choice) int {
		if len(a.text) != len(b.text) {
			return len(b.text) - len(a.text)
		}
		return strings.Compare(a.text, b.text)
	})
	return c
}

func (c *choices) text(said string) (item, *redflag.Flag) {
	return readText(said, c.want, c, c.field)
}

func (c *choices) field(raw json.RawMessage) (item, *redflag.Flag) {
	return scalar(raw, 0, func(text string) (item, *redflag.Flag) { return find(text, c.want, c) })
}

func (c *choices) exact(phrase string) (item, bool) {
	const longest = 1000 // no option is longer by much, and prose is not worth its canonical form
	if len(phrase) > longest+len(c.words[0].text) {
		return item{}, false
	}
	phrase = bare(phrase)
	it, ok := c.whole[text.Canonical(phrase)]
	if !ok {
		// "Option B" and "B)" are B, as long as no option is called that.
		folded := fold(phrase)
		for _, prefix := range []string{"option ", "choice ", "category ", "label "} {
			if rest, cut := strings.CutPrefix(folded, prefix); cut {
				it, ok = c.whole[text.Canonical(bare(rest))]
				return it, ok
			}
		}
		if rest, cut := strings.CutSuffix(folded, ")"); cut {
			it, ok = c.whole[text.Canonical(rest)]
		}
	}
	return it, ok
}

// reasons begin what explains an answer.
var reasons = []string{"because", "since", "as ", "given", "due to", "weil", "denn", "da ", "parce", "car ", "porque", "perché", "потому"}

// shortWord is how many characters a word has that may stand in a text by chance.
const shortWord = 2

func (c *choices) lead(phrase string) (item, bool) {
	phrase = clip.Text(phrase, maxLead)
	folded := strings.TrimLeft(fold(phrase), "*_\"'“”«»([#> ")
	first, ok := c.begins(folded)
	if !ok {
		return item{}, false
	}
	tail := folded[len(first.text):]
	rest := strings.TrimLeft(tail, "*_\"'“”«»)]")
	after := strings.TrimLeft(rest, " ")
	switch {
	case rest == "", strings.HasPrefix(tail, ")"):
	case strings.IndexByte(".,;:!\n", rest[0]) >= 0, strings.HasPrefix(after, "- "), strings.HasPrefix(after, "("):
	case slices.ContainsFunc(reasons, func(r string) bool { return strings.HasPrefix(after, r) }):
	default:
		return item{}, false
	}
	rest = strings.TrimLeft(rest, ".,;:!- (\n")
	if other, ok := c.begins(rest); ok && other.key != first.key && !continues(rest[len(other.text):]) {
		return item{}, false
	}
	for _, other := range c.named(rest) {
		if other.key != first.key && utf8.RuneCountInString(other.text) > shortWord {
			return item{}, false
		}
	}
	for line := range strings.Lines(rest) { // as in a list of the options
		line = strings.TrimLeft(line, "*_ (-")
		if other, ok := c.begins(line); ok && other.key != first.key && strings.IndexAny(line[len(other.text):], ").:,") == 0 {
			return item{}, false
		}
	}
	return first.item, true
}

// continues reports whether a word goes on in a sentence, as "no" in "no doubt".
func continues(rest string) bool {
	word := strings.TrimLeft(rest, " ")
	r, _ := utf8.DecodeRuneInString(word)
	return word != rest && isWord(r)
}

// begins is the longest choice that a folded text begins with.
func (c *choices) begins(folded string) (choice, bool) {
	for _, w := range c.words {
		if rest, ok := strings.CutPrefix(folded, w.text); ok {
			if next, _ := utf8.DecodeRuneInString(rest); rest == "" || !isWord(next) {
				return w, true
			}
		}
	}
	return choice{}, false
}

// named are the choices in a folded text, as whole words.
func (c *choices) named(folded string) []choice {
	var all []choice
	last := rune(0)
	for i := 0; i < len(folded); {
		if !isWord(last) {
			if w, ok := c.begins(folded[i:]); ok {
				w.at = i
				all = append(all, w)
				i += len(w.text)
				last = 0
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(folded[i:])
		last, i = r, i+size
	}
	return all
}

func (c *choices) mentions(text string) []item {
	const longest = 2000 // what is longer says more than one thing
	if len(text) > longest {
		return nil
	}
	folded := fold(text)
	named := c.named(folded)
	var all []item
	var rest strings.Builder // without what is named, which may have words of denial itself
	end := 0
	for _, w := range named {
		all = append(all, w.item)
		rest.WriteString(folded[end:w.at] + " ")
		end = w.at + len(w.text)
	}
	rest.WriteString(folded[end:])
	if len(distinct(all)) == 1 && (denial.MatchString(rest.String()) || utf8.RuneCountInString(named[0].text) <= shortWord) {
		return nil
	}
	return all
}
