// Package jsonpart finds the JSON in what a model wrote around it.
package jsonpart

import (
	"encoding/json"
	"strings"
)

// maxTries bounds how many brackets are looked at, so that no text takes long.
const maxTries = 50

// All returns the objects and lists that stand in a text, in their order: alone, in
// fences or within prose. What is inside one of them is not listed again. Nothing is
// repaired: what is nearly JSON is passed over.
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
			at++
			continue
		}
		found = append(found, raw)
		at += int(d.InputOffset())
	}
	return found
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
