// Package clip shortens texts, for messages that quote what somebody else wrote.
package clip

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is at most so many characters of a text, the last of them an ellipsis if it has
// more.
func Text(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Line is [Text] on one line: white space and control characters become spaces.
func Line(s string, most int) string {
	return Text(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		return r // U+FFFD for an invalid byte
	}, s), most)
}

// Short is [Line] of a length that leaves room for a message around it.
func Short(s string) string { return Line(s, 40) }

// Words puts a text on one line of at most so many characters, with single spaces. It
// ends at a word, with an ellipsis, if it has to be shortened.
func Words(text string, most int) string {
	var b strings.Builder
	count, lastWord := 0, 0
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			lastWord = b.Len()
			b.WriteByte(' ')
			count++
			space = false
		}
		if count >= most {
			short := b.String()
			if lastWord > len(short)/2 {
				short = short[:lastWord]
			}
			return strings.TrimRight(short, " ,;:") + "…"
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// Output is about so many bytes of a text for a model, which is told if there is more.
func Output(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	shown := s[:cut]
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	return fmt.Sprintf("%s[cut: %d of %d bytes are shown]", shown, cut, len(s))
}
