package prompts

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/yamlclean"
)

// bracket finds what could open or close a tag, up to its name.
var bracket = regexp.MustCompile(`<\s*/?\s*`)

// inside returns text that cannot end the tag that it stands in.
func inside(tag, text string) string { return disarm(tag, text, "&lt;") }

// Holds reports whether a text holds what could be taken for a tag of this name.
func Holds(tag, text string) bool { return disarm(tag, text, "") != text }

// YAML writes a value as YAML that stays between tags of this name, and is read as
// the same value there. A text that holds such a tag itself is written as JSON,
// which is YAML too and can say the tag without spelling it.
func YAML(tag string, value json.RawMessage) (string, error) {
	text, err := yamlclean.Encode(value)
	if err != nil || !Holds(tag, text) {
		return text, err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, value, "", "  "); err != nil {
		return "", err
	}
	return disarm(tag, indented.String(), `\u003c`), nil
}

// disarm replaces the bracket of all that could be taken for a tag of this name,
// opening or closing.
func disarm(tag, text, by string) string {
	var out strings.Builder
	done := 0
	for _, at := range bracket.FindAllStringIndex(text, -1) {
		if beginsWith(text[at[1]:], tag) {
			out.WriteString(text[done:at[0]] + by)
			done = at[0] + len("<")
		}
	}
	return out.String() + text[done:]
}

// beginsWith reports whether a text begins with a name, in upper or lower case.
func beginsWith(text, name string) bool {
	end := 0
	for range name {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return strings.EqualFold(text[:end], name)
}
