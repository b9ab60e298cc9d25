package openai

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/internal/learn"
)

// The forms of parameters; 0 is how a request begins. The form of
// [learn.Choices] is how many answers a server gives at most.
const (
	leftOut = 1 // of temperature and cache_control

	asMaxTokens           = 0
	asMaxCompletionTokens = 1

	strictSchema = 0
	looseSchema  = 1 // without bounds
	plainSchema  = 2 // not strict
	anyObject    = 3
	noFormat     = 4

	maxChoices = 128 // the protocol's own limit
)

// known is what needs no learning. It is short on purpose: it saves a request to
// those who use the most common models, and whatever it does not know is learned.
func known(provider, name string) learn.Forms {
	var f learn.Forms
	f[learn.Choices] = maxChoices
	if provider != openAI {
		return f
	}
	f[learn.MaxOutput] = asMaxCompletionTokens
	numbered := len(name) > 1 && name[0] == 'o' && '0' <= name[1] && name[1] <= '9'
	if numbered || strings.HasPrefix(name, "gpt-5") && !strings.Contains(name, "-chat") {
		f[learn.Temperature] = leftOut
	}
	return f
}

// changes tell a user what the forms of parameters mean.
var changes = map[learn.Param]map[int]string{
	learn.Temperature: {leftOut: "temperature is left out from now on"},
	learn.MaxOutput: {
		asMaxTokens:           "the output is limited by max_tokens from now on",
		asMaxCompletionTokens: "the output is limited by max_completion_tokens from now on",
	},
	learn.Output: {
		looseSchema: "the schema of the output has no bounds from now on",
		plainSchema: "the schema of the output is not strict from now on",
		anyObject:   "any JSON object is asked for from now on, not the schema",
		noFormat:    "structured output is not asked for from now on",
	},
	learn.Cache: {leftOut: "cache_control is left out from now on"},
}

// describe tells a user what a form means.
func describe(p learn.Param, form int) string {
	if p == learn.Choices {
		return fmt.Sprintf("at most %d of several answers to one request are given", form)
	}
	return changes[p][form]
}

// adjust returns the forms to try after a refusal: f itself if the refusal is
// about something else.
func adjust(sent *chatRequest, f learn.Forms, e *model.Error, why learn.Complaint) learn.Forms {
	ofFormat := sent.ResponseFormat != nil &&
		why.About("response_format", "json_schema", "json_object", "structured output", "structured outputs", "schema", "grammar", "guided_json")
	if ofFormat && e.Status >= http.StatusInternalServerError { // some servers fail over what they do not know
		f[learn.Output] = nextFormat(sent.ResponseFormat, why)
		return f
	}
	if e.Kind != model.Invalid || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return f
	}
	was, value := f, why.OfValue()
	if sent.Temperature != nil && !value && why.About("temperature") {
		f[learn.Temperature] = leftOut
	}
	switch {
	case value:
	case sent.MaxTokens > 0 && why.About("max_tokens"):
		f[learn.MaxOutput] = asMaxCompletionTokens
	case sent.MaxCompletionTokens > 0 && why.About("max_completion_tokens"):
		f[learn.MaxOutput] = asMaxTokens
	}
	if ofFormat {
		f[learn.Output] = nextFormat(sent.ResponseFormat, why)
	}
	if sent.N > 1 && why.About("n") {
		f[learn.Choices] = 1
	}
	if sent.cached && why.About("cache_control") {
		f[learn.Cache] = leftOut
	}
	if f == was && !value && sent.ResponseFormat != nil && why.Param == "" && !why.About(fields...) {
		f[learn.Output] = noFormat // it does not say what it is about; this is what servers know least
	}
	return f
}

// fields are those of a request that a refusal may name.
var fields = []string{"model", "messages", "message", "content", "tools", "tool_choice", "temperature", "max_tokens", "max_completion_tokens", "n", "cache_control"}

// nextFormat goes one step down, from a schema to any object to nothing. A server
// that takes schemas but not this one may take it without its bounds, or if it need not
// be strict.
func nextFormat(sent *responseFormat, why learn.Complaint) int {
	if sent.JSONSchema == nil {
		return noFormat
	}
	text := strings.ToLower(why.Text)
	ofThisOne := strings.Contains(text, "strict") || strings.Contains(text, "invalid schema") || strings.Contains(text, "grammar")
	if _, bounded := learn.Loosen(sent.JSONSchema.Schema); bounded && sent.JSONSchema.Strict && (ofThisOne || why.OfBounds()) {
		return looseSchema
	}
	if sent.JSONSchema.Strict && ofThisOne {
		return plainSchema
	}
	return anyObject
}
