package simserver

import (
	"fmt"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/served"
	"github.com/maker-mdap/maker/model/sim"
)

// asks is what is in a request of that which can be refused.
func asks(c *served.Call, format served.Format) sim.Parameters {
	var p sim.Parameters
	if t := c.Request.Temperature; t != nil && *t != 1 {
		p |= sim.Temperature
	}
	if _, chat := format.(served.Chat); chat && c.MaxTokens {
		p |= sim.MaxTokens
	}
	if o := c.Request.Output; o != nil && o.Mode == model.JSONSchema {
		p |= sim.Schema
	} else if o != nil {
		p |= sim.Object
	}
	if c.Choices > 1 {
		p |= sim.Choices
	}
	return p
}

// refuse is what the provider says to parameters that a model does not take.
func refuse(c *served.Call, format served.Format, refused sim.Parameters) *served.Failure {
	if _, ok := format.(served.Messages); ok {
		return refuseMessages(c, refused)
	}
	return refuseChat(c, refused)
}

// refuseChat is what OpenAI says to parameters that a model does not take.
func refuseChat(c *served.Call, refused sim.Parameters) *served.Failure {
	switch {
	case refused.Has(sim.Temperature):
		return &served.Failure{
			Message: fmt.Sprintf("Unsupported value: 'temperature' does not support %v with this model. Only the default (1) value is supported.", *c.Request.Temperature),
			Param:   "temperature", Code: "unsupported_value",
		}
	case refused.Has(sim.MaxTokens):
		return &served.Failure{
			Message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			Param:   "max_tokens", Code: "unsupported_parameter",
		}
	case refused.Has(sim.Schema):
		return &served.Failure{Message: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. " +
			"Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs"}
	case refused.Has(sim.Object):
		return &served.Failure{Message: "Invalid parameter: 'response_format' of type 'json_object' is not supported with this model.", Param: "response_format"}
	}
	return &served.Failure{
		Message: fmt.Sprintf("Unsupported value: 'n' does not support %d with this model. Only the default (1) value is supported.", c.Choices),
		Param:   "n", Code: "unsupported_value",
	}
}

// refuseMessages is what Anthropic says. It never sees max_tokens, for which this provider
// has no other name.
func refuseMessages(c *served.Call, refused sim.Parameters) *served.Failure {
	if refused.Has(sim.Temperature) {
		return &served.Failure{Message: "`temperature` is deprecated for this model."}
	}
	return &served.Failure{Message: c.Format + ": Extra inputs are not permitted"}
}
