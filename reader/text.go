package reader

import (
	"encoding/json"
	"strings"

	"github.com/maker-mdap/maker/domain/text"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/jsonpart"
	"github.com/maker-mdap/maker/redflag"
)

// Text reads any text. Two texts agree if package domain/text says so: letter case,
// spacing and what ends a sentence do not count, other words do.
type Text struct{}

// Validate implements [Reader].
func (Text) Validate() error { return nil }

// Format implements [Reader].
func (t Text) Format() flow.Format { return format(nameText, t) }

// JSONSchema implements [Reader].
func (Text) JSONSchema() json.RawMessage { return json.RawMessage(`{"type":"string"}`) }

// Instruction implements [Reader].
func (Text) Instruction() string {
	return "Answer as briefly as you can, with the answer alone and without an explanation."
}

func (t Text) open() (form, error) { return t, nil }

func (t Text) text(said string) (item, *redflag.Flag) {
	if whole, ok := jsonpart.Whole(said); ok && whole[0] == '{' {
		var fields map[string]json.RawMessage
		if json.Unmarshal(whole, &fields) == nil && len(fields) == 1 {
			if answer, ok := fields[answerField]; ok {
				return t.field(answer)
			}
		}
	}
	return t.say(said)
}

func (t Text) field(raw json.RawMessage) (item, *redflag.Flag) {
	if !isJSONText(raw) {
		if string(raw) == "null" {
			return item{}, redflag.New(redflag.Empty, "the answer is null")
		}
		return t.say(string(raw))
	}
	var said string
	if err := json.Unmarshal(raw, &said); err != nil {
		return item{}, unreadable("%v", err)
	}
	return t.say(said)
}

// say reads a text. What announces a short answer is no part of it.
func (Text) say(said string) (item, *redflag.Flag) {
	said = strings.TrimSpace(said)
	if at := conclusion.FindStringIndex(said); at != nil && !strings.Contains(said, "\n") {
		if opening := strings.ToLower(strings.Trim(said[:at[0]], "*_ ")); opening == "" || opening == "the" || opening == "the correct" || opening == "my" || opening == "die" {
			if rest := strings.Trim(strings.TrimSpace(said[at[1]:]), "*_"); rest != "" {
				said = rest
			}
		}
	}
	key := text.Canonical(said)
	if key == "" {
		return item{}, redflag.New(redflag.Empty, "there is nothing in the answer: %s", said)
	}
	return textItem(said, key), nil
}
