package redflag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Config says which checks are on and how strict they are. It is plain data,
// used as it is; a threshold of 0 means the check's default.
type Config struct {
	Refusal           RefusalCheck           `json:"refusal,omitzero" yaml:"refusal,omitempty"`
	ExcessiveLength   LengthCheck            `json:"excessive_length,omitzero" yaml:"excessive_length,omitempty"`
	Truncated         TruncatedCheck         `json:"truncated,omitzero" yaml:"truncated,omitempty"`
	Empty             EmptyCheck             `json:"empty,omitzero" yaml:"empty,omitempty"`
	MetaChatter       MetaChatterCheck       `json:"meta_chatter,omitzero" yaml:"meta_chatter,omitempty"`
	ToolLeakage       ToolLeakageCheck       `json:"tool_leakage,omitzero" yaml:"tool_leakage,omitempty"`
	Placeholder       PlaceholderCheck       `json:"placeholder,omitzero" yaml:"placeholder,omitempty"`
	SelfContradiction SelfContradictionCheck `json:"self_contradiction,omitzero" yaml:"self_contradiction,omitempty"`
	Repetition        RepetitionCheck        `json:"repetition,omitzero" yaml:"repetition,omitempty"`
	SchemaInvalid     SchemaCheck            `json:"schema_invalid,omitzero" yaml:"schema_invalid,omitempty"`
	MissingField      MissingFieldCheck      `json:"missing_field,omitzero" yaml:"missing_field,omitempty"`
	LowConfidence     LowConfidenceCheck     `json:"low_confidence,omitzero" yaml:"low_confidence,omitempty"`

	// AnswerFields are the paths of the fields in which the answer itself stands, as in
	// [Field.Path]. meta_chatter, tool_leakage, self_contradiction and the notes of
	// placeholder look at nothing else then: what is said beside the answer may think
	// aloud. Empty means everything.
	AnswerFields []string `json:"answer_fields,omitempty" yaml:"answer_fields,omitempty"`
}

// RefusalCheck flags an answer whose stop reason is a refusal.
type RefusalCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// Words also looks for a refusal in the first two sentences.
	Words bool `json:"words,omitempty" yaml:"words,omitempty"`

	// Phrases are further openings that count as a refusal.
	Phrases []string `json:"phrases,omitempty" yaml:"phrases,omitempty"`
}

// LengthCheck flags an answer that is too long.
//
// The provider's token count decides if there is one. If there is none, an
// answer that the provider cut is too long and one that it reports as complete
// is not. Only where neither is known is the count taken from [EstimateTokens].
type LengthCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// MaxTokens is the most tokens an answer may have, MaxChars the most
	// characters (code points). 0 means no limit; if both are 0, MaxTokens is
	// [DefaultMaxTokens].
	MaxTokens int64 `json:"max_tokens,omitempty" yaml:"max_tokens,omitempty"`
	MaxChars  int   `json:"max_chars,omitempty" yaml:"max_chars,omitempty"`
}

// TruncatedCheck flags an answer that the provider cut at its output limit.
type TruncatedCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// Structure also flags an answer that breaks off inside a code fence or a
	// JSON value, or after a comma or an opening bracket. It is used only where
	// the provider reports no stop reason: one that says "end" is believed.
	Structure bool `json:"structure,omitempty" yaml:"structure,omitempty"`
}

// EmptyCheck flags an answer without visible characters.
type EmptyCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// MinChars is how many visible characters an answer needs; 0 means 1.
	MinChars int `json:"min_chars,omitempty" yaml:"min_chars,omitempty"`
}

// MetaChatterCheck flags talk about the conversation: an assistant's opening
// and closing courtesies, and sentences about being a model.
type MetaChatterCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// Musings also flags "I think" and "Let me": who answers with a result alone has no
	// reason to say so.
	Musings bool `json:"musings,omitempty" yaml:"musings,omitempty"`

	// Phrases are further beginnings of a sentence that count as chatter.
	Phrases []string `json:"phrases,omitempty" yaml:"phrases,omitempty"`
}

// ToolLeakageCheck flags the syntax of calls of tools, such as <function_calls> or
// {"tool_calls", wherever it stands.
type ToolLeakageCheck struct {
	On bool `json:"enabled" yaml:"enabled"`
}

// PlaceholderCheck flags slots that were left to be filled in. An ellipsis or a
// TODO among other words is none, unless Notes says so.
type PlaceholderCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// Notes also flags TODO, FIXME and TBD among other words, in capitals, unless the
	// question is about them.
	Notes bool `json:"notes,omitempty" yaml:"notes,omitempty"`

	// Phrases are further texts that count as a placeholder wherever they
	// stand in the answer's own words.
	Phrases []string `json:"phrases,omitempty" yaml:"phrases,omitempty"`
}

// SelfContradictionCheck flags two different final answers, and a sentence that
// takes back what was said ("Wait, no."). It is a heuristic that prefers to
// miss: answers to several parts, conditional answers, and values that differ
// only in rounding, notation or unit do not count.
type SelfContradictionCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// Corrections is how many sentences that take something back are too many.
	// 0 means 1. Raise it for models that are asked to think aloud.
	Corrections int `json:"corrections,omitempty" yaml:"corrections,omitempty"`

	// Phrases are further beginnings of a sentence that takes something back.
	Phrases []string `json:"phrases,omitempty" yaml:"phrases,omitempty"`
}

// RepetitionCheck flags an answer that says the same thing over and over: a
// phrase looping without a break, or a whole sentence that comes back. Code,
// tables, lists of short items and sentences that only begin alike do not count.
type RepetitionCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// Times is how often a phrase may occur; 0 means [DefaultTimes].
	Times int `json:"times,omitempty" yaml:"times,omitempty"`

	// MinWords is the length from which a looping phrase counts; 0 means
	// [DefaultMinWords]. An entry of a list, and a sentence that comes back
	// between others, need twice that. Two characters of a script without
	// spaces are one word.
	MinWords int `json:"min_words,omitempty" yaml:"min_words,omitempty"`
}

// SchemaCheck flags a value that is not JSON or has a wrong type. It is a small
// part of what a JSON schema can say.
type SchemaCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// Type is the type of the whole value; empty allows any.
	Type string `json:"type,omitempty" yaml:"type,omitempty"`

	// Fields are the types of fields, checked where the field is present.
	Fields []Field `json:"fields,omitempty" yaml:"fields,omitempty"`
}

// A Field is a field of the value and its type: string, number, integer (1.0
// and 1e3 are integers), boolean, array or object.
type Field struct {
	// Path names the field: names joined with dots, "[]" after a name for every
	// element of an array, as in "steps[].title".
	Path string `json:"path" yaml:"path"`
	Type string `json:"type" yaml:"type"`
}

// MissingFieldCheck flags a value in which a field is absent or null.
type MissingFieldCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// Required are the paths of the fields; see [Field.Path].
	Required []string `json:"required,omitempty" yaml:"required,omitempty"`

	// NonEmpty also flags "", [] and {} as missing.
	NonEmpty bool `json:"non_empty,omitempty" yaml:"non_empty,omitempty"`
}

// LowConfidenceCheck flags an answer that states a low confidence in itself: a
// number from 0 to 1, a percentage above 1, or a string such as "85 %". A value
// without the field, or with something else in it, passes.
type LowConfidenceCheck struct {
	On bool `json:"enabled" yaml:"enabled"`

	// Min is the least confidence accepted; 0 means [DefaultConfidence].
	Min float64 `json:"min,omitempty" yaml:"min,omitempty"`

	// Field is where the confidence stands; "" means "confidence".
	Field string `json:"field,omitempty" yaml:"field,omitempty"`

	// Hedges is how many phrases of doubt ("I'm not sure", "just a guess") are
	// too many; 0 does not look for them.
	Hedges int `json:"hedges,omitempty" yaml:"hedges,omitempty"`

	// Phrases are further phrases of doubt, wherever they stand in a sentence.
	Phrases []string `json:"phrases,omitempty" yaml:"phrases,omitempty"`
}

// The thresholds that 0 stands for.
const (
	DefaultMaxTokens  = 750
	DefaultConfidence = 0.3
	DefaultTimes      = 3
	DefaultMinWords   = 3
)

// Format is the setting of the paper: an answer is discarded for its length or
// its form. The form itself is checked by whoever parses the answer.
func Format() Config {
	return Config{
		Refusal:         RefusalCheck{On: true},
		ExcessiveLength: LengthCheck{On: true, MaxTokens: DefaultMaxTokens},
		Truncated:       TruncatedCheck{On: true},
		Empty:           EmptyCheck{On: true},
	}
}

// Default is for answers of any kind and length: it has no limit on length and
// none of the checks that depend on taste.
func Default() Config {
	return Config{
		Refusal:       RefusalCheck{On: true, Words: true},
		Truncated:     TruncatedCheck{On: true, Structure: true},
		Empty:         EmptyCheck{On: true},
		Placeholder:   PlaceholderCheck{On: true},
		Repetition:    RepetitionCheck{On: true},
		SchemaInvalid: SchemaCheck{On: true},
		MissingField:  MissingFieldCheck{On: true},
		LowConfidence: LowConfidenceCheck{On: true},
	}
}

// Strict has every check on, for short answers: at most 750 tokens and 3000
// characters.
func Strict() Config {
	c := Default()
	c.ExcessiveLength = LengthCheck{On: true, MaxTokens: DefaultMaxTokens, MaxChars: 3000}
	c.MetaChatter.On = true
	c.ToolLeakage.On = true
	c.SelfContradiction.On = true
	c.LowConfidence.Hedges = 2
	return c
}

// Validate reports the first setting that makes no sense, by its name in a
// configuration file.
func (c *Config) Validate() error {
	err := cmp.Or(
		notNegative("excessive_length.max_tokens", c.ExcessiveLength.MaxTokens),
		notNegative("excessive_length.max_chars", int64(c.ExcessiveLength.MaxChars)),
		notNegative("empty.min_chars", int64(c.Empty.MinChars)),
		notNegative("self_contradiction.corrections", int64(c.SelfContradiction.Corrections)),
		notNegative("repetition.times", int64(c.Repetition.Times)),
		notNegative("repetition.min_words", int64(c.Repetition.MinWords)),
		notNegative("low_confidence.hedges", int64(c.LowConfidence.Hedges)),
		notBlank("refusal.phrases", c.Refusal.Phrases),
		notBlank("meta_chatter.phrases", c.MetaChatter.Phrases),
		notBlank("placeholder.phrases", c.Placeholder.Phrases),
		notBlank("self_contradiction.phrases", c.SelfContradiction.Phrases),
		notBlank("low_confidence.phrases", c.LowConfidence.Phrases),
		isPath("low_confidence.field", cmp.Or(c.LowConfidence.Field, "confidence")),
		isType("schema_invalid.type", cmp.Or(c.SchemaInvalid.Type, "object")),
	)
	if m := c.LowConfidence.Min; !(m >= 0 && m <= 1) {
		err = cmp.Or(err, fmt.Errorf("redflag: low_confidence.min is %v, want 0 to 1", m))
	}
	if len(c.Refusal.Phrases) > 0 && !c.Refusal.Words {
		err = cmp.Or(err, errors.New("redflag: refusal.phrases has no effect unless refusal.words is true"))
	}
	if len(c.LowConfidence.Phrases) > 0 && c.LowConfidence.Hedges == 0 {
		err = cmp.Or(err, errors.New("redflag: low_confidence.phrases has no effect unless low_confidence.hedges is 1 or more"))
	}
	for i, f := range c.SchemaInvalid.Fields {
		name := fmt.Sprintf("schema_invalid.fields[%d]", i)
		err = cmp.Or(err, isPath(name+".path", f.Path), isType(name+".type", f.Type))
	}
	for i, path := range c.AnswerFields {
		err = cmp.Or(err, isPath(fmt.Sprintf("answer_fields[%d]", i), path))
	}
	for i, path := range c.MissingField.Required {
		err = cmp.Or(err, isPath(fmt.Sprintf("missing_field.required[%d]", i), path))
	}
	return err
}

func notNegative(name string, value int64) error {
	if value < 0 {
		return fmt.Errorf("redflag: %s is %d, want 0 or more", name, value)
	}
	return nil
}

func notBlank(name string, phrases []string) error {
	if i := slices.Index(with(nil, phrases), ""); i >= 0 {
		return fmt.Errorf("redflag: %s[%d] is blank", name, i)
	}
	return nil
}

func isType(name, got string) error {
	types := []string{"string", "number", "integer", "boolean", "array", "object"}
	if !slices.Contains(types, got) {
		return fmt.Errorf("redflag: %s is %q, want one of %s", name, got, strings.Join(types, ", "))
	}
	return nil
}

func isPath(name, path string) error {
	for part := range strings.SplitSeq(path, ".") {
		key := strings.TrimSuffix(part, "[]")
		if key == "" || strings.HasSuffix(key, "[]") {
			return fmt.Errorf("redflag: %s is %q, want names joined with dots", name, path)
		}
	}
	return nil
}
