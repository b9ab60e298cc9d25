package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
)

// Regexp reads a text that a regular expression matches as a whole, such as an order
// number. Letter case counts.
type Regexp struct {
	Pattern string `json:"pattern"` // as in package regexp
}

// Validate implements [Reader].
func (r Regexp) Validate() error {
	if r.Pattern == "" {
		return errors.New("reader: the regular expression is empty")
	}
	_, err := r.compile()
	return err
}

func (r Regexp) compile() (*pattern, error) {
	part, err := regexp.Compile(r.Pattern)
	if err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	whole, err := regexp.Compile(`\A(?:` + r.Pattern + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	if whole.MatchString("") {
		return nil, fmt.Errorf("reader: the regular expression %s matches an empty text", r.Pattern)
	}
	return &pattern{whole, part}, nil
}

// Format implements [Reader].
func (r Regexp) Format() flow.Format { return format(nameRegexp, r) }

// JSONSchema implements [Reader].
func (r Regexp) JSONSchema() json.RawMessage {
	if strings.Contains(r.Pattern, "(?") || strings.Contains(r.Pattern, `\A`) || strings.Contains(r.Pattern, `\z`) || strings.Contains(r.Pattern, `\p`) {
		return json.RawMessage(`{"type":"string"}`) // other programs write this in other ways
	}
	return encode(map[string]any{"type": "string", "pattern": "^(" + r.Pattern + ")$"})
}

// Instruction implements [Reader].
func (r Regexp) Instruction() string {
	return "Answer with a text that matches the regular expression " + r.Pattern + " and nothing else."
}

func (r Regexp) open() (form, error) { return r.compile() }

type pattern struct{ whole, part *regexp.Regexp }

func (p *pattern) again() form { return p }

func (p *pattern) text(said string) (item, *redflag.Flag) {
	if it, ok := p.exact(said); ok { // what is JSON to others may be what is asked for
		return it, nil
	}
	return readText(said, "text that matches", p, p.field)
}

func (p *pattern) field(raw json.RawMessage) (item, *redflag.Flag) {
	return scalar(raw, 0, func(text string) (item, *redflag.Flag) { return find(text, "text that matches", p) })
}

// pairs are marks around a text that are no part of it. An underscore may be one.
var pairs = [][2]string{{"**", "**"}, {"*", "*"}, {"`", "`"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"(", ")"}}

func (p *pattern) exact(phrase string) (item, bool) {
	for range 2 * len(pairs) {
		if p.whole.MatchString(phrase) {
			return textItem(phrase, phrase), true
		}
		before := phrase
		phrase = strings.TrimSpace(phrase)
		for _, pair := range pairs {
			if len(phrase) > len(pair[0])+len(pair[1]) && strings.HasPrefix(phrase, pair[0]) && strings.HasSuffix(phrase, pair[1]) {
				phrase = phrase[len(pair[0]) : len(phrase)-len(pair[1])]
				break
			}
		}
		if phrase == before {
			if phrase = strings.TrimRight(phrase, ".,;:!"); phrase == before {
				break
			}
		}
	}
	return item{}, false
}

func (p *pattern) goesOn(_ item, rest string) bool {
	return (reason.MatchString(rest) || isSentence(rest)) && !p.part.MatchString(rest)
}
