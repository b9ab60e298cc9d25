package anthropic

import (
	"net/http"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/internal/learn"
)

// The forms of parameters; 0 is how a request begins.
const (
	leftOut  = 1
	noObject = 2 // only warned of: the protocol has schemas, but not just any JSON
	noBounds = 3 // of a schema
)

// describe tells a user what a form means.
func describe(p learn.Param, form int) string {
	switch {
	case p == learn.Temperature:
		return "temperature is left out from now on"
	case p == learn.Cache:
		return "cache_control is left out from now on"
	case form == noBounds:
		return "the schema of the output has no bounds from now on"
	case form == noObject:
		return "json_object is not asked for: there are only schemas here"
	}
	return "structured output is not asked for from now on"
}

// adjust returns the forms to try after a refusal: f itself if the refusal is
// about something else.
func adjust(sent *messagesRequest, f learn.Forms, e *model.Error, text string) learn.Forms {
	if e.Kind != model.Invalid || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return f
	}
	why := learn.Complaint{Text: text}
	if sent.Temperature != nil && why.About("temperature") && !why.OfValue() {
		f[learn.Temperature] = leftOut
	}
	if sent.OutputConfig != nil && why.About("output_config", "output_format", "output format", "json_schema", "structured output", "structured outputs", "schema", "grammar") {
		_, bounded := learn.Loosen(sent.OutputConfig.Format.Schema)
		if f[learn.Output] = leftOut; bounded {
			f[learn.Output] = noBounds
		}
	}
	if sent.cached && why.About("cache_control") {
		f[learn.Cache] = leftOut
	}
	return f
}
