package readas_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker/internal/cli/readas"
	"github.com/maker-mdap/maker/reader"
)

func TestReader(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"a":{}}}`)
	for _, test := range []struct {
		args string
		want reader.Reader
		err  string
	}{
		{"", reader.Text{}, ""},
		{"--one-of yes,no", reader.OneOf{Options: []string{"yes", "no"}}, ""},
		{`--one-of "a,b",c`, reader.OneOf{Options: []string{"a,b", "c"}}, ""},
		{"--number", reader.Number{}, ""},
		{"--unit kg --within 0.5", reader.Number{Unit: "kg", Tolerance: "0.5"}, ""},
		{"--within 1%", reader.Number{RelativeTolerance: "1e-2"}, ""},
		{"--bool", reader.Bool{}, ""},
		{"--date", reader.Date{}, ""},
		{"--date-order mdy", reader.Date{Order: "mdy"}, ""},
		{"--match [a-z]+", reader.Regexp{Pattern: "[a-z]+"}, ""},
		{"--schema file --vote-on a", reader.JSON{Schema: schema, VoteOn: []string{"a"}}, ""},
		{"--schema " + string(schema) + " --ignore a", reader.JSON{Schema: schema, Ignore: []string{"a"}}, ""},
		{"--list --date", reader.List{Of: reader.Date{}}, ""},
		{"--unordered", reader.List{Of: reader.Text{}, Unordered: true}, ""},
		{"--schema bom", reader.JSON{Schema: schema}, ""},
		{"--schema file --ignore remrak", nil, `no field "remrak"`},
		{`--schema {"type":"strin"}`, nil, `type "strin"`},
		{"--one-of yes,no --bool", nil, "--one-of and --bool"},
		{"--ignore a", nil, "--ignore"},
		{"--schema missing", nil, "no such file"},
		{"--within x", nil, "--number: "},
		{"--within 100%", nil, "less than 1"},
		{"--unit kg --within", nil, "needs an argument"},
	} {
		var flags readas.Flags
		set := pflag.NewFlagSet("ask", pflag.ContinueOnError)
		flags.Register(set)
		err := set.Parse(strings.Fields(test.args))
		var got reader.Reader
		if err == nil {
			got, err = flags.Reader(func(name string) (string, error) {
				if name == "bom" {
					return "\ufeff" + string(schema), nil
				}
				if name != "file" {
					return "", errors.New("no such file")
				}
				return string(schema) + "\n", nil
			})
		}
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, %v, want an error with %q", test.args, got, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", test.args, err, diff)
		}
	}
}
