package sim

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A pattern is a regular expression that is tried on many texts, most of which it does not match.
type pattern struct {
	*regexp.Regexp
	needs string // what each text has that it matches
}

func compile(text string) (pattern, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return pattern{}, err
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	return pattern{re, needed(parsed)}, err
}

// find is FindStringSubmatch.
func (p pattern) find(text string) []string {
	if !strings.Contains(text, p.needs) {
		return nil
	}
	return p.FindStringSubmatch(text)
}

// needed is the longest piece of text that an expression cannot do without.
func needed(re *syntax.Regexp) string {
	longest := ""
	switch {
	case re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError): // which matches any invalid byte
		longest = string(re.Rune)
	case re.Op == syntax.OpConcat, re.Op == syntax.OpCapture, re.Op == syntax.OpPlus:
		for _, part := range re.Sub {
			if text := needed(part); len(text) > len(longest) {
				longest = text
			}
		}
	}
	return longest
}
