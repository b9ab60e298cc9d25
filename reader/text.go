package reader

import (
	"encoding/json"
	"regexp"
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

func (t Text) again() form { return t }

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

// say reads a text. What announces a short answer is no part of it, nor are a fence and
// emphasis around it.
func (Text) say(said string) (item, *redflag.Flag) {
	said = plainText(said)
	lines := strings.Contains(said, "\n")
	if begin := announcement.FindString(said); begin != "" && !lines {
		mark := strings.TrimRight(begin, "*_ ")
		rest := said[len(mark):]
		if strings.Count(mark, "**")%2 == 1 { // **Answer:** Paris
			rest = strings.TrimPrefix(rest, "**")
		}
		if rest = plainText(rest); strings.Trim(rest, "*_") != "" {
			said = rest
		}
	}
	key := text.Canonical(said)
	if lines && key != "" { // they are compared as they are, whether they were in a fence or not
		key = text.Canonical("```\n" + said + "\n```")
	}
	if key == "" {
		return item{}, redflag.New(redflag.Empty, "there is nothing in the answer: %s", said)
	}
	return textItem(said, key), nil
}

// announcement is a conclusion with which a text begins.
var announcement = regexp.MustCompile(`^(?:` + conclusion.String() + `)`)

// emphasis has no space within its marks.
var emphasis = regexp.MustCompile(`^(\*\*|\*|__|\x60)([^*\x60\s](?:[^*\x60\n]*[^*\x60\s])?)(\*\*|\*|__|\x60)([.!]?)$`)

// plainText is a text without a fence or emphasis around all of it.
func plainText(s string) string {
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "```"); ok {
		if inner, ok = strings.CutSuffix(inner, "```"); ok && !strings.Contains(inner, "```") {
			if _, body, ok := strings.Cut(inner, "\n"); ok { // after the name of a language
				s = strings.Trim(body, "\n")
			}
		}
	}
	for m := emphasis.FindStringSubmatch(s); m != nil && m[1] == m[3]; m = emphasis.FindStringSubmatch(s) {
		s = strings.TrimSpace(m[2]) + m[4]
	}
	return s
}
