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
	var chosen []string
	var r reader.Reader = reader.Text{}
	choose := func(name string, on bool, as reader.Reader) {
		if on {
			chosen, r = append(chosen, name), as
		}
	}
	number := reader.Number{Unit: f.Unit, Tolerance: json.Number(f.Within)}
	if share, ok := strings.CutSuffix(strings.TrimSpace(f.Within), "%"); ok { // a relative distance
		number.Tolerance, number.RelativeTolerance = "", json.Number(strings.TrimSpace(share)+"e-2")
	}
	choose("one_of", len(f.OneOf) > 0, reader.OneOf{Options: f.OneOf})
	choose("number", f.Number || f.Unit != "" || f.Within != "", number)
	choose("bool", f.Bool, reader.Bool{})
	choose("date", f.Date || f.DateOrder != "", reader.Date{Order: f.DateOrder})
	choose("match", f.Match != "", reader.Regexp{Pattern: f.Match})
	choose("schema", len(f.Schema) > 0, reader.JSON{Schema: f.Schema, VoteOn: f.VoteOn, Ignore: f.Ignore})
	if len(chosen) > 1 {
		return nil, bad("answer", "%s: an answer is one of these", strings.Join(chosen, " and "))
	}
	if len(f.Schema) == 0 && len(f.VoteOn)+len(f.Ignore) > 0 {
		return nil, bad("answer", "vote_on and ignore name fields of an answer with a schema")
	}
	if f.List || f.Unordered {
		r = reader.List{Of: r, Unordered: f.Unordered}
	}
	if err := r.Validate(); err != nil {
		return nil, bad("answer", "%s", strings.TrimPrefix(err.Error(), "reader: "))
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
