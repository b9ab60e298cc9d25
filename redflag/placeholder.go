package redflag

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// hollow is an ellipsis, perhaps in brackets, "???", or the name of what is
	// asked for in angle brackets.
	hollow = regexp.MustCompile(`(?i)^(?:[\[\](){}<>]*(?:[.…]{3,}|…|\?{3,})[\[\](){}<>]*|<(?:answer|value|result|number|integer|name|placeholder)>)$`)

	// slots are {{name}}, [words] and <words>. Shorter names are sets of sets: {{a}}.
	slots = regexp.MustCompile(`\{\{\s*[a-z][a-z0-9_.]{2,}\s*\}\}|\[([^\[\]]{1,80})\]|<([^<>]{1,80})>`)
)

func (c *PlaceholderCheck) check(said *said) *Flag {
	p := said.sentences
	if whole := strings.TrimSpace(said.text); hollow.MatchString(whole) {
		return New(Placeholder, "nothing but %q", whole)
	}
	phrases := with(fillers, c.Phrases)
	for i, s := range p {
		if phrase := contains(s.own, phrases); phrase != "" {
			return New(Placeholder, "contains %q", phrase)
		}
		if found := slot(s.own); found != "" {
			return New(Placeholder, "the slot %q is not filled in", found)
		}
		alone := (i == 0 || p[i-1].line != s.line) && (i+1 == len(p) || p[i+1].line != s.line)
		heading := strings.HasPrefix(s.full, "#") || strings.HasSuffix(s.own, ":") // of a list of things to do
		if alone && !heading && isUnfilled(s.own) {
			return New(Placeholder, "a line is only %q", s.own)
		}
	}
	if c.Notes && said.answer {
		return noteToSelf(said)
	}
	return nil
}

// note is a word for what is still to be done. In small letters it may be a word of
// another language.
var note = regexp.MustCompile(`\b(?:TODO|FIXME|TBD)\b`)

// noteToSelf looks for notes outside code and quotations.
func noteToSelf(said *said) *Flag {
	fence := ""
	for line := range strings.SplitSeq(said.text, "\n") {
		before := fence
		if fence = nextFence(fence, line); before != "" || fence != "" || isCode(line) {
			continue
		}
		if found := note.FindString(quotations.ReplaceAllString(line, "")); found != "" && !said.asks(strings.ToLower(found)) {
			return New(Placeholder, "contains %q", found)
		}
	}
	return nil
}

// isUnfilled reports whether a line is a placeholder, perhaps after a label:
// "TBD", "[todo]", "result: tbd."
func isUnfilled(line string) bool {
	if _, value, found := strings.Cut(line, ":"); found {
		line = value
	}
	return slices.Contains(unfilled, strings.Trim(line, " .…!()[]<>"))
}

// slot returns the first slot of a template in s: "[your name]",
// "<insert date>", "{{customer_name}}".
func slot(s string) string {
	for _, at := range slots.FindAllStringIndex(s, -1) {
		found, before, after := s[at[0]:at[1]], s[:at[0]], s[at[1]:]
		words := strings.NewReplacer("_", " ", "-", " ").Replace(strings.Trim(found, "[]<> "))
		last, _ := utf8.DecodeLastRuneInString(before)
		index := unicode.IsLetter(last) || unicode.IsDigit(last)
		link := after != "" && strings.IndexByte("([:", after[0]) >= 0
		switch {
		case found[0] == '{':
			return found
		case strings.HasSuffix(before, "replace ") || found[0] == '[' && (index || link):
		case startsWith(words, slotWords) != "":
			return found
		}
	}
	return ""
}
