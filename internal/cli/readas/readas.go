// Package readas has the flags that say how answers are read.
package readas

import (
	"encoding/json"
	"errors"
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
	c := reader.Choice{
		Number: f.number || changed("unit") || changed("within"), Unit: f.unit, Within: f.within, Bool: f.yesNo,
		Date: f.date || changed("date-order"), DateOrder: f.dateOrder, List: f.list, Unordered: f.unordered,
	}
	if changed("one-of") {
		c.OneOf = trimmed(f.oneOf)
	}
	if changed("match") {
		c.Match = &f.match
	}
	switch {
	case changed("schema"):
		text := f.schema
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			var err error
			if text, err = readFile(text); err != nil {
				return nil, err
			}
			text = strings.TrimPrefix(text, "\ufeff") // as some editors begin a file
		}
		c.Schema = reader.JSON{Schema: json.RawMessage(strings.TrimSpace(text)), VoteOn: f.voteOn, Ignore: f.ignore}
	case changed("vote-on") || changed("ignore"):
		return nil, errors.New("--vote-on and --ignore name fields of an answer with a --schema")
	}
	return c.Reader(func(parameter string) string { return "--" + strings.ReplaceAll(parameter, "_", "-") })
}

func trimmed(list []string) []string {
	out := []string{}
	for _, s := range list {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}
