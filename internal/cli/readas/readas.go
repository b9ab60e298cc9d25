// Package readas has the flags that say how answers are read.
package readas

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker/reader"
)

// Flags are those that say how answers are read. The zero value is ready for use.
type Flags struct {
	oneOf     []string
	number    bool
	unit      string
	within    string
	yesNo     bool
	date      bool
	dateOrder string
	match     string
	schema    string
	voteOn    []string
	ignore    []string
	list      bool
	unordered bool
	flags     *pflag.FlagSet
}

// Register adds the flags to those of a command.
func (f *Flags) Register(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringSliceVar(&f.oneOf, "one-of", nil, "the answer is one of these, separated by commas; repeatable ('\"a, b\",c' for one with a comma)")
	flags.BoolVar(&f.number, "number", false, "the answer is a number")
	flags.StringVar(&f.unit, "unit", "", "unit of the number, such as kg or %; implies --number")
	flags.StringVar(&f.within, "within", "", "numbers that are this near to each other agree: 0.5, or 1%; implies --number")
	flags.BoolVar(&f.yesNo, "bool", false, "the answer is true or false")
	flags.BoolVar(&f.date, "date", false, "the answer is a date")
	flags.StringVar(&f.dateOrder, "date-order", "", "dmy or mdy, for dates such as 03/04/2025; implies --date")
	flags.StringVar(&f.match, "match", "", "the answer matches this regular expression as a whole")
	flags.StringVar(&f.schema, "schema", "", "the answer is JSON that fits this JSON schema: a file, or the schema itself")
	flags.StringSliceVar(&f.voteOn, "vote-on", nil, "fields that have to agree, with --schema; the others need not")
	flags.StringSliceVar(&f.ignore, "ignore", nil, "fields that need not agree, with --schema")
	flags.BoolVar(&f.list, "list", false, "the answer is a list of such items")
	flags.BoolVar(&f.unordered, "unordered", false, "lists agree whatever their order; implies --list")
}

// Reader is what the flags say. A schema that is in a file is read by readFile.
func (f *Flags) Reader(readFile func(name string) (string, error)) (reader.Reader, error) {
	changed := f.flags.Changed
	var chosen []string
	var r reader.Reader = reader.Text{}
	choose := func(flag string, on bool, make func() reader.Reader) {
		if on {
			chosen, r = append(chosen, "--"+flag), make()
		}
	}
	choose("one-of", changed("one-of"), func() reader.Reader { return reader.OneOf{Options: trimmed(f.oneOf)} })
	choose("number", f.number || changed("unit") || changed("within"), func() reader.Reader { return f.numberReader() })
	choose("bool", f.yesNo, func() reader.Reader { return reader.Bool{} })
	choose("date", f.date || changed("date-order"), func() reader.Reader { return reader.Date{Order: f.dateOrder} })
	choose("match", changed("match"), func() reader.Reader { return reader.Regexp{Pattern: f.match} })
	choose("schema", changed("schema"), func() reader.Reader { return reader.JSON{VoteOn: f.voteOn, Ignore: f.ignore} })
	if len(chosen) > 1 {
		return nil, fmt.Errorf("%s: an answer is one of these", strings.Join(chosen, " and "))
	}
	j, isJSON := r.(reader.JSON)
	if !isJSON && (changed("vote-on") || changed("ignore")) {
		return nil, errors.New("--vote-on and --ignore name fields of an answer with a --schema")
	}
	if isJSON {
		text := f.schema
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			var err error
			if text, err = readFile(text); err != nil {
				return nil, err
			}
			text = strings.TrimPrefix(text, "\ufeff") // as some editors begin a file
		}
		j.Schema = json.RawMessage(strings.TrimSpace(text))
		r = j
	}
	if f.list || f.unordered {
		chosen, r = append(chosen, "--list"), reader.List{Of: r, Unordered: f.unordered}
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %s", strings.Join(chosen, " "), strings.TrimPrefix(err.Error(), "reader: "))
	}
	return r, nil
}

// numberReader takes a percentage as a relative distance.
func (f *Flags) numberReader() reader.Number {
	n := reader.Number{Unit: f.unit}
	if share, ok := strings.CutSuffix(strings.TrimSpace(f.within), "%"); ok {
		n.RelativeTolerance = json.Number(strings.TrimSpace(share) + "e-2")
	} else {
		n.Tolerance = json.Number(f.within)
	}
	return n
}

func trimmed(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}
