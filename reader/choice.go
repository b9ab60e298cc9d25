package reader

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Choice is how a user says what an answer is, by parameters of which most are not given.
type Choice struct {
	OneOf     []string // nil if it was not given
	Number    bool     // as are those with a unit or a distance
	Unit      string
	Within    string // how near numbers are that agree: 0.5, or 1%
	Bool      bool
	Date      bool // as are those with an order
	DateOrder string
	Match     *string
	Schema    Reader // of a schema; nil if there is none
	List      bool   // as are unordered ones
	Unordered bool
}

// Reader is what was chosen. At most one kind of answer may be, or lists of it. Errors call
// the parameters one_of, number, bool, date, match, schema and list by the names that name gives
// them.
func (c Choice) Reader(name func(parameter string) string) (Reader, error) {
	var chosen []string
	var r Reader = Text{}
	choose := func(parameter string, on bool, as Reader) {
		if on {
			chosen, r = append(chosen, name(parameter)), as
		}
	}
	choose("one_of", c.OneOf != nil, OneOf{Options: c.OneOf})
	choose("number", c.Number || c.Unit != "" || c.Within != "", c.numbers())
	choose("bool", c.Bool, Bool{})
	choose("date", c.Date || c.DateOrder != "", Date{Order: c.DateOrder})
	if c.Match != nil {
		choose("match", true, Regexp{Pattern: *c.Match})
	}
	choose("schema", c.Schema != nil, c.Schema)
	if len(chosen) > 1 {
		return nil, fmt.Errorf("%s: an answer is one of these", strings.Join(chosen, " and "))
	}
	if c.List || c.Unordered {
		chosen, r = append(chosen, name("list")), List{Of: r, Unordered: c.Unordered}
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %s", strings.Join(chosen, " "), strings.TrimPrefix(err.Error(), "reader: "))
	}
	return r, nil
}

// numbers takes a percentage as a relative distance.
func (c Choice) numbers() Number {
	n := Number{Unit: c.Unit}
	if share, ok := strings.CutSuffix(strings.TrimSpace(c.Within), "%"); ok {
		n.RelativeTolerance = json.Number(strings.TrimSpace(share) + "e-2")
	} else {
		n.Tolerance = json.Number(c.Within)
	}
	return n
}
