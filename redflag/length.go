package redflag

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

func (l *LengthCheck) check(a *Answer) *Flag {
	if !l.On {
		return nil
	}
	maxTokens := l.MaxTokens
	if maxTokens <= 0 && l.MaxChars <= 0 {
		maxTokens = DefaultMaxTokens
	}
	if maxTokens > 0 {
		switch {
		case a.OutputTokens > 0:
			if a.OutputTokens > maxTokens {
				return New(ExcessiveLength, "%d output tokens, limit %d", a.OutputTokens, maxTokens)
			}
		case a.Stop == stopLength:
			return New(ExcessiveLength, "cut at the output limit, no token count reported, limit %d", maxTokens)
		case a.Stop == stopUnknown && int64(len(a.Text)) > maxTokens: // a byte is at most one token
			if n := EstimateTokens(a.Text); n > maxTokens {
				return New(ExcessiveLength, "about %d output tokens (estimated), limit %d", n, maxTokens)
			}
		}
	}
	if l.MaxChars > 0 && len(a.Text) > l.MaxChars { // a character is at least one byte
		if n := utf8.RuneCountInString(a.Text); n > l.MaxChars {
			return New(ExcessiveLength, "%d characters, limit %d", n, l.MaxChars)
		}
	}
	return nil
}

// EstimateTokens guesses how many tokens a text has, for providers that report
// no count: a quarter of a token for an ASCII character, half a token for a
// character of another alphabet, one token for a Chinese, Japanese or Korean
// character, an emoji or an invalid byte; rounded up. No tokenizer agrees with
// it exactly, and code and numbers have more tokens than it says.
func EstimateTokens(text string) int64 {
	var quarters int64
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			quarters++
		case r < 0x2E80: // where the scripts of East Asia begin, but for old Hangul
			quarters += 2
		default:
			quarters += 4
		}
	}
	return (quarters + 3) / 4
}

func (e *EmptyCheck) check(text string) *Flag {
	if !e.On {
		return nil
	}
	want, seen := max(e.MinChars, 1), 0
	for _, r := range text {
		if visible(r) {
			if seen++; seen == want {
				return nil
			}
		}
	}
	if seen == 0 {
		return New(Empty, "no visible characters, length in bytes %d", len(text))
	}
	return New(Empty, "%d visible characters, want at least %d", seen, want)
}

// visible reports whether r puts something on a page. Joiners, direction marks
// and the byte order mark are format characters (Cf) and do not; nor do the
// Hangul fillers and the blank Braille cell, which are letters and symbols only
// in name.
func visible(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r != 0x7F
	}
	switch r {
	case 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0:
		return false
	}
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector)
}

// cutOff looks for a text that breaks off in the middle of something.
func cutOff(text string) *Flag {
	open := ""
	for line := range strings.SplitSeq(text, "\n") {
		open = nextFence(open, line)
	}
	if open != "" {
		return New(Truncated, "a code fence is not closed")
	}
	trimmed := strings.TrimSpace(text)
	if utf8.RuneCountInString(trimmed) < 2 {
		return nil
	}
	if trimmed[0] == '{' || trimmed[0] == '[' {
		var value json.RawMessage
		line := strings.Map(func(r rune) rune { return max(r, ' ') }, trimmed) // models break lines within strings
		if err := json.NewDecoder(strings.NewReader(line)).Decode(&value); errors.Is(err, io.ErrUnexpectedEOF) {
			return New(Truncated, "ends inside a JSON value")
		}
	}
	switch last, _ := utf8.DecodeLastRuneInString(trimmed); last {
	case '(', '[', '{', '（', '「':
		return New(Truncated, "ends with the opening bracket %q", last)
	case ',', '，', '、':
		// A salutation is a line of its own that ends with a comma, and a short
		// text may be nothing else; a cut sentence is longer.
		if line := trimmed[strings.LastIndexByte(trimmed, '\n')+1:]; words(line) >= 5 {
			return New(Truncated, "ends with a comma")
		}
	}
	return nil
}

// fences open and close code.
var fences = regexp.MustCompile("^\\s*(`{3,}|~{3,})(.*)$")

// nextFence returns the fence that is open after line, given the one that was
// open before it; "" is none. A fence is closed by a bare one of the same kind
// that is at least as long.
func nextFence(open, line string) string {
	found := fences.FindStringSubmatch(line)
	switch {
	case found == nil:
	case open == "" && !strings.Contains(found[2], "`"): // or else code within a line
		return found[1]
	case open != "" && strings.HasPrefix(found[1], open) && strings.TrimSpace(found[2]) == "":
		return ""
	}
	return open
}
