package redflag

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func (c *PlaceholderCheck) check(text string, p []sentence) *Flag {
	whole := strings.TrimSpace(text)
	if isDots(whole) {
		return New(Placeholder, "nothing but %q", whole)
	}
	if name, ok := strings.CutPrefix(whole, "<"); ok {
		name, ok = strings.CutSuffix(name, ">")
		if ok && slices.Contains([]string{"answer", "value", "result", "number", "integer", "name", "placeholder"}, fold(name)) {
			return New(Placeholder, "nothing but %q", whole)
		}
	}
	extra := foldAll(c.Phrases)
	for i, s := range p {
		if phrase := contains(s.own, fillers); phrase != "" {
			return New(Placeholder, "contains %q", phrase)
		}
		if phrase := contains(s.own, extra); phrase != "" {
			return New(Placeholder, "contains %q", phrase)
		}
		if found := slot(s.own); found != "" {
			return New(Placeholder, "the slot %q is not filled in", found)
		}
		alone := (i == 0 || p[i-1].line != s.line) && (i+1 == len(p) || p[i+1].line != s.line)
		if alone && isUnfilled(s.own) {
			// The heading of a list of things to do looks the same.
			if !strings.HasPrefix(s.full, "#") && !strings.HasSuffix(s.own, ":") {
				return New(Placeholder, "a line is only %q", s.own)
			}
		}
	}
	return nil
}

// isDots reports whether s is an ellipsis, perhaps in brackets, or "???".
func isDots(s string) bool {
	s = strings.Trim(s, "[]()<>")
	return len(s) >= 3 && (strings.Trim(s, ".…") == "" || strings.Trim(s, "?") == "")
}

// isUnfilled reports whether a line is a placeholder, perhaps after a label:
// "TBD", "[todo]", "result: tbd."
func isUnfilled(line string) bool {
	if _, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(value) != "" {
		line = value
	}
	return slices.Contains(unfilled, strings.Trim(line, " .…!()[]<>"))
}

// slot returns the first slot of a template in s: "[your name]",
// "<insert date>", "{{customer_name}}".
func slot(s string) string {
	for i := 0; i < len(s); i++ {
		var inside, after string
		var found bool
		switch {
		case strings.HasPrefix(s[i:], "{{"):
			inside, _, found = cutWithin(s[i+2:], "}}")
			if found && isVariable(inside) {
				return "{{" + inside + "}}"
			}
			continue
		case s[i] == '[':
			if before, _ := utf8.DecodeLastRuneInString(s[:i]); unicode.IsLetter(before) || unicode.IsDigit(before) {
				continue // an index
			}
			inside, after, found = cutWithin(s[i+1:], "]")
			if strings.HasPrefix(after, "(") || strings.HasPrefix(after, "[") || strings.HasPrefix(after, ":") {
				continue // a link
			}
		case s[i] == '<':
			inside, _, found = cutWithin(s[i+1:], ">")
		}
		if !found || strings.HasSuffix(s[:i], "replace ") {
			continue
		}
		inside = strings.TrimSpace(inside)
		if startsWith(strings.Map(spaceOut, inside), slotWords) != "" {
			return s[i:i+1] + inside + closing(s[i])
		}
	}
	return ""
}

// spaceOut turns "your-api_key" into words.
func spaceOut(r rune) rune {
	if r == '_' || r == '-' {
		return ' '
	}
	return r
}

func closing(open byte) string {
	if open == '[' {
		return "]"
	}
	return ">"
}

// cutWithin is strings.Cut for a separator that is near: a slot is short.
func cutWithin(s, sep string) (before, after string, found bool) {
	const longest = 80
	if i := strings.Index(s[:min(len(s), longest)], sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", "", false
}

// isVariable reports whether s is the name of a template's variable. Shorter
// names are sets of sets: {{a}}.
func isVariable(s string) bool {
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) < 3 {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && r != '_' && r != '.' && (r < '0' || r > '9') {
			return false
		}
	}
	return s[0] >= 'a' && s[0] <= 'z'
}
