// Package redflag finds reasons to discard an answer unread.
//
// A model that is confused shows it: it goes on too long, repeats itself, breaks
// the format. Such an answer is wrong far more often than others, and wrong in
// the same way as its siblings, which is the error that voting cannot remove.
// So it is thrown away and sampled again, never repaired.
//
// Each check has a name and returns a [Flag] with a short reason. [Config] is
// plain data that switches and tunes them; its zero value switches all of them
// off. A flag is cheap (one more sample), but a check that fires on good answers
// discards them every time, so the heuristic checks would rather miss.
//
// # Order
//
// [Config.Check] returns the first flag, in this order. First what the provider
// said and what can be measured: refusal (stop reason), excessive_length,
// truncated (stop reason), empty, truncated (structure). Then the answer's own
// words: refusal (phrases), meta_chatter, tool_leakage, placeholder, low_confidence
// (hedges), self_contradiction, repetition. Then its value: schema_invalid, missing_field,
// low_confidence (field), and the checks of words again on each string in it.
//
// # Heuristics
//
// The checks of words look only at what the answer says in its own voice: fenced
// and inline code, lines that look like code, tables, quoted speech and block
// quotes are passed over. They know English phrases, as our prompts are English;
// the Phrases of a check add those of other languages. They cannot know what was
// meant: a question whose right answer is a refusal in a drafted letter should
// leave that check off. Only words that the question has itself are no sign of anything,
// if the caller says what was asked.
package redflag

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// The names of the checks.
const (
	SchemaInvalid     = "schema_invalid"
	MissingField      = "missing_field"
	ExcessiveLength   = "excessive_length"
	Repetition        = "repetition"
	MetaChatter       = "meta_chatter"
	ToolLeakage       = "tool_leakage"
	LowConfidence     = "low_confidence"
	SelfContradiction = "self_contradiction"
	Placeholder       = "placeholder"
	Truncated         = "truncated"
	Empty             = "empty"
	Refusal           = "refusal"
)

// A Flag is a reason to discard an answer.
type Flag struct {
	Name   string `json:"flag"`
	Reason string `json:"reason"`
}

// Reasons end up in every log and on every screen, so they stay short whatever
// the model wrote.
const (
	maxExcerpt = 80
	maxReason  = 240
)

// New makes a flag. The reason is one line of valid UTF-8; each argument that
// can carry the model's text (string, bytes, error) is cut to 80 characters.
func New(name, format string, args ...any) *Flag {
	short := slices.Clone(args)
	for i, arg := range args {
		switch v := arg.(type) {
		case string, []byte, json.RawMessage, error:
			short[i] = clip.Line(fmt.Sprintf("%s", v), maxExcerpt)
		}
	}
	return &Flag{Name: name, Reason: clip.Line(fmt.Sprintf(format, short...), maxReason)}
}

// The stop reasons that matter here, spelled as in package model. Anything
// other than "" counts as reported.
const (
	stopUnknown = ""
	stopLength  = "length"
	stopRefusal = "refusal"
)

// An Answer is what the checks look at.
type Answer struct {
	Text string

	// Stop is why the model stopped: "end", "length", "refusal", or "" if the
	// provider did not say.
	Stop string

	// OutputTokens is the provider's own count for the visible answer. 0 or
	// less means that it reported none: an answer with text has at least one.
	OutputTokens int64

	// Value is the answer as it was parsed, nil if the format is free text.
	Value json.RawMessage

	// Asked is the question, "" if it is not known.
	Asked string
}

// Check returns the first flag of the answer, or nil. It does not change the
// answer and may be called from several goroutines. A nil configuration has no checks.
func (c *Config) Check(a *Answer) *Flag {
	if f := c.CheckText(a); f != nil {
		return f
	}
	return c.CheckValue(a)
}

// CheckText makes the checks that need no parsed value. A caller that checks
// before it parses learns that an answer was cut, not that it does not parse.
func (c *Config) CheckText(a *Answer) *Flag {
	if c == nil {
		return nil
	}
	if c.Refusal.On && a.Stop == stopRefusal {
		if text := strings.TrimSpace(a.Text); text != "" {
			return New(Refusal, "the provider reports a refusal: %s", text) // often it says why
		}
		return New(Refusal, "the provider reports a refusal")
	}
	if f := c.ExcessiveLength.check(a); f != nil {
		return f
	}
	if c.Truncated.On && a.Stop == stopLength {
		return New(Truncated, "the provider cut the answer at its output limit")
	}
	if f := c.Empty.check(a.Text); f != nil {
		return f
	}
	if c.Truncated.On && c.Truncated.Structure && a.Stop == stopUnknown {
		if f := cutOff(a.Text); f != nil {
			return f
		}
	}
	return c.checkWords(a.Text, a.Asked, len(c.AnswerFields) == 0)
}

// readsWords reports whether any check needs the text taken apart.
func (c *Config) readsWords() bool {
	return c.Refusal.On && c.Refusal.Words || c.MetaChatter.On || c.ToolLeakage.On || c.Placeholder.On ||
		c.LowConfidence.On && c.LowConfidence.Hedges > 0 || c.SelfContradiction.On || c.Repetition.On
}

// said is one text of an answer.
type said struct {
	text      string
	sentences []sentence
	asked     string
	answer    bool // it is the answer itself, and not what is said beside it
}

// asks reports whether the question has a phrase, which is folded, in it.
func (s *said) asks(phrase string) bool { return strings.Contains(fold(s.asked), phrase) }

// checkWords makes the checks of the answer's own words on one text.
func (c *Config) checkWords(text, asked string, answer bool) *Flag {
	if !c.readsWords() {
		return nil
	}
	s := &said{text, read(text), asked, answer}
	for _, words := range []struct {
		on    bool
		check func(*said) *Flag
	}{
		{c.Refusal.On && c.Refusal.Words, c.Refusal.check},
		{c.MetaChatter.On && answer, c.MetaChatter.check},
		{c.ToolLeakage.On && answer, c.ToolLeakage.check},
		{c.Placeholder.On, c.Placeholder.check},
		{c.LowConfidence.On && c.LowConfidence.Hedges > 0, c.LowConfidence.checkHedges},
		{c.SelfContradiction.On && answer, c.SelfContradiction.check},
		{c.Repetition.On, c.Repetition.check},
	} {
		if words.on {
			if f := words.check(s); f != nil {
				return f
			}
		}
	}
	return nil
}
