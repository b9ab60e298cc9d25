package server

import (
	"encoding/json"
	"strings"

	"github.com/maker-mdap/maker/reader"
)

// An answerForm says how answers are read, by the names of the flags of maker ask.
type answerForm struct {
	OneOf     []string        `json:"one_of"`
	Number    bool            `json:"number"`
	Unit      string          `json:"unit"`
	Within    string          `json:"within"`
	Bool      bool            `json:"bool"`
	Date      bool            `json:"date"`
	DateOrder string          `json:"date_order"`
	Match     string          `json:"match"`
	Schema    json.RawMessage `json:"schema"`
	VoteOn    []string        `json:"vote_on"`
	Ignore    []string        `json:"ignore"`
	List      bool            `json:"list"`
	Unordered bool            `json:"unordered"`
}

// reader is what the form says.
func (f *answerForm) reader() (reader.Reader, error) {
	c := reader.Choice{Number: f.Number, Unit: f.Unit, Within: f.Within, Bool: f.Bool, Date: f.Date, DateOrder: f.DateOrder, List: f.List, Unordered: f.Unordered}
	if len(f.OneOf) > 0 {
		c.OneOf = f.OneOf
	}
	if f.Match != "" {
		c.Match = &f.Match
	}
	if len(f.Schema) > 0 {
		c.Schema = reader.JSON{Schema: f.Schema, VoteOn: f.VoteOn, Ignore: f.Ignore}
	} else if len(f.VoteOn)+len(f.Ignore) > 0 {
		return nil, bad("answer", "vote_on and ignore name fields of an answer with a schema")
	}
	r, err := c.Reader(func(parameter string) string { return parameter })
	if err != nil {
		return nil, bad("answer", "%v", err)
	}
	return r, nil
}

// args are the flags that say the same.
func (f *answerForm) args() []string {
	var args []string
	text := func(flag, value string) {
		if value != "" {
			args = append(args, "--"+flag, value)
		}
	}
	flag := func(flag string, on bool) {
		if on {
			args = append(args, "--"+flag)
		}
	}
	for _, option := range f.OneOf {
		if strings.ContainsAny(option, `,"`) {
			option = `"` + strings.ReplaceAll(option, `"`, `""`) + `"`
		}
		text("one-of", option)
	}
	flag("number", f.Number)
	text("unit", f.Unit)
	text("within", f.Within)
	flag("bool", f.Bool)
	flag("date", f.Date)
	text("date-order", f.DateOrder)
	text("match", f.Match)
	text("schema", string(f.Schema))
	text("vote-on", strings.Join(f.VoteOn, ","))
	text("ignore", strings.Join(f.Ignore, ","))
	flag("list", f.List)
	flag("unordered", f.Unordered)
	return args
}
