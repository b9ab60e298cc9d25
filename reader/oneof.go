package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/domain/text"
	"github.com/maker-mdap/maker/flow"
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

// yesWords and noWords are how models say true and false.
var (
	yesWords = []string{"true", "yes", "y", "ja", "oui", "sí", "sì", "sim", "да", "tak", "是", "是的", "对", "はい", "wahr", "vrai", "verdadero"}
	noWords  = []string{"false", "no", "n", "nein", "nee", "non", "não", "нет", "nie", "否", "不是", "不", "いいえ", "falsch", "faux", "falso"}
)

func (Bool) open() (form, error) {
	c := &choices{want: "yes or no"}
	for _, word := range yesWords {
		c.add(word, item{value: json.RawMessage("true"), key: "true"})
	}
	for _, word := range noWords {
		c.add(word, item{value: json.RawMessage("false"), key: "false"})
	}
	return c.sorted(), nil
}

// choices are words of which one is the answer.
type choices struct {
	want  string
	whole map[string]item // by the canonical form
	words []choice        // the longest first
	plain map[string]bool // keys of those that say yes or no, with which a denial is no surprise
}

func (c *choices) again() form { return c }

type choice struct {
	text string // folded
	item
}

func (c *choices) add(word string, it item) {
	if c.whole == nil {
		c.whole, c.plain = map[string]item{}, map[string]bool{}
	}
	c.plain[it.key] = slices.Contains(yesWords, fold(word)) || slices.Contains(noWords, fold(word))
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
	folded := fold(phrase)
	if it, ok := c.option(phrase); ok {
		// The canonical form has no question mark at its end.
		return it, !strings.HasSuffix(phrase, "?") || slices.ContainsFunc(c.words, func(w choice) bool { return w.text == folded })
	}
	for _, prefix := range []string{"option ", "choice ", "category ", "label "} {
		// "Option B" is B, as long as no option is called that.
		if rest, cut := strings.CutPrefix(folded, prefix); cut {
			return c.option(bare(rest))
		}
	}
	if rest, cut := strings.CutPrefix(folded, "❌"); cut { // which means no
		rest = strings.TrimLeft(rest, "\ufe0f ")
		if slices.Contains(noWords, rest) {
			return c.option(rest)
		}
		return item{}, false
	}
	if rest, cut := strings.CutSuffix(folded, ")"); cut {
		return c.option(rest)
	}
	// "B. Paris" and "B) Paris" are B.
	if m := label.FindStringSubmatch(folded); m != nil {
		return c.option(m[1])
	}
	return item{}, false
}

// label finds an option that is one letter or digit, and what it stands for.
var label = regexp.MustCompile(`^([\pL\pN])[.)][*_]* [^\n]+$`)

func (c *choices) option(name string) (item, bool) {
	it, ok := c.whole[text.Canonical(name)]
	return it, ok
}

// shortWord is how many characters a word has that may stand in a text by chance.
const shortWord = 2

// numbered finds what makes a number of No. 5.
var numbered = regexp.MustCompile(`^\.\s*[0-9]`)

func (c *choices) goesOn(it item, rest string) bool {
	folded := fold(rest)
	if numbered.MatchString(folded) || !reason.MatchString(folded) && !clause.MatchString(folded) && !isSentence(folded) {
		return false
	}
	sentence, _, _ := strings.Cut(strings.TrimLeft(folded, ".! "), ".")
	if !c.plain[it.key] && denial.MatchString(sentence) {
		return false
	}
	folded = strings.TrimLeft(folded, "\"'”’*_`)].,;:!- (\n")
	if other, ok := c.begins(folded); ok && other.key != it.key && !continues(folded[len(other.text):]) {
		return false
	}
	for _, other := range c.named(folded) {
		if other.key != it.key && utf8.RuneCountInString(other.text) > shortWord {
			return false
		}
	}
	for line := range strings.Lines(folded) { // as in a list of the options
		line = strings.TrimLeft(line, "*_ (-")
		if other, ok := c.begins(line); ok && other.key != it.key && strings.IndexAny(line[len(other.text):], ").:,") == 0 {
			return false
		}
	}
	return true
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
