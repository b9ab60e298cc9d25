// Package jsonpart finds the JSON in what a model wrote around it.
package jsonpart

import (
	"encoding/json"
	"regexp"
	"strings"
)

// maxTries bounds how many brackets are looked at, so that no text takes long.
const maxTries = 50

// All returns the objects and lists that stand in a text, in their order: alone, in
// fences or within prose. What is inside one of them is not listed again. Nothing is
// repaired: what is nearly JSON is passed over, with all that is inside it.
func All(text string) []json.RawMessage {
	var found []json.RawMessage
	for at, tries := 0, 0; tries < maxTries; tries++ {
		i := strings.IndexAny(text[at:], "{[")
		if i < 0 {
			break
		}
		at += i
		d := json.NewDecoder(strings.NewReader(text[at:]))
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			if at = pastBroken(text, at); at < 0 {
				break
			}
			continue
		}
		found = append(found, raw)
		at += int(d.InputOffset())
	}
	return found
}

// broken finds what begins like JSON.
var broken = regexp.MustCompile(`^(?:\{\s*["']|\[\s*["'{\[0-9-])`)

// pastBroken is where to go on after a bracket that begins no JSON: behind the bracket that
// closes it, if it is nearly JSON or a brace, and else behind itself. It is -1 if the rest
// of the text is inside what was cut off.
func pastBroken(text string, at int) int {
	depth, quoted := 0, false
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 && (text[at] == '{' || broken.MatchString(text[at:])) {
				return i + 1
			}
		}
	}
	if broken.MatchString(text[at:]) {
		return -1
	}
	return at + 1
}

// Whole returns all of a text if it is JSON, but for a fence around it.
func Whole(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		if inner, ok = strings.CutSuffix(inner, "```"); ok && !strings.Contains(inner, "```") {
			if label, rest, found := strings.Cut(inner, "\n"); found && len(label) < 20 {
				text = strings.TrimSpace(rest)
			}
		}
	}
	if !json.Valid([]byte(text)) {
		return nil, false
	}
	return json.RawMessage(text), true
}
