package mcpserver

import (
	"encoding/json"
	"errors"

	"github.com/maker-mdap/maker/reader"
)

// An Answer says how answers are read, by the names of the flags of maker ask.
type Answer struct {
	OneOf     []string       `json:"one_of,omitempty" jsonschema:"the answer is one of these texts"`
	Number    bool           `json:"number,omitempty" jsonschema:"the answer is a number"`
	Unit      string         `json:"unit,omitempty" jsonschema:"unit of the number, such as kg or %; implies number"`
	Within    string         `json:"within,omitempty" jsonschema:"numbers that are this near to each other agree: 0.5, or 1%; implies number"`
	Boolean   bool           `json:"boolean,omitempty" jsonschema:"the answer is true or false"`
	Date      bool           `json:"date,omitempty" jsonschema:"the answer is a date; it is returned as 2026-01-31"`
	DateOrder string         `json:"date_order,omitempty" jsonschema:"dmy or mdy, for dates such as 03/04/2026; implies date"`
	Match     string         `json:"match,omitempty" jsonschema:"the answer matches this regular expression as a whole"`
	Schema    map[string]any `json:"schema,omitempty" jsonschema:"the answer is JSON that fits this JSON schema"`
	VoteOn    []string       `json:"vote_on,omitempty" jsonschema:"fields of the schema that have to agree; the others need not, and are one voter's words"`
	Ignore    []string       `json:"ignore,omitempty" jsonschema:"fields of the schema that need not agree"`
	List      bool           `json:"list,omitempty" jsonschema:"the answer is a list of such items"`
	Unordered bool           `json:"unordered,omitempty" jsonschema:"lists agree whatever their order; implies list"`
	Text      bool           `json:"text,omitempty" jsonschema:"the answer is a text, as it is without any of these: texts agree only if they say the same in the same words, so keep them short"`
}

// reader is what the form says.
func (a *Answer) reader() (reader.Reader, error) {
	c := reader.Choice{Number: a.Number, Unit: a.Unit, Within: a.Within, Bool: a.Boolean, Date: a.Date, DateOrder: a.DateOrder, List: a.List, Unordered: a.Unordered}
	if len(a.OneOf) > 0 {
		c.OneOf = a.OneOf
	}
	if a.Match != "" {
		c.Match = &a.Match
	}
	if a.Schema != nil {
		schema, err := json.Marshal(a.Schema)
		if err != nil {
			return nil, err
		}
		c.Schema = reader.JSON{Schema: schema, VoteOn: a.VoteOn, Ignore: a.Ignore}
	} else if len(a.VoteOn)+len(a.Ignore) > 0 {
		return nil, errors.New("vote_on and ignore name fields of an answer with a schema, and there is none")
	}
	r, err := c.Reader(func(parameter string) string {
		if parameter == "bool" {
			return "boolean"
		}
		return parameter
	})
	if _, text := r.(reader.Text); err == nil && a.Text && !text && !a.List && !a.Unordered {
		err = errors.New("text and another kind: an answer is one of these; leave the others out")
	}
	return r, err
}
