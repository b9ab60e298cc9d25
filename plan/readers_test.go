package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/reader"
)

func TestFieldReaders(t *testing.T) {
	oneOf := reader.OneOf{Options: []string{"billing", "bug", "other"}}
	for _, test := range []struct {
		schema string
		want   []plan.FieldReader
		err    string
	}{
		{"{path: string, count: integer}", nil, ""},
		{"text: string, the content of the file", nil, ""},
		{"a number of things", nil, ""},
		{"the date: when it was", nil, ""},
		{"{label: one_of(billing, bug, other), total: number, due: date}", []plan.FieldReader{{"label", oneOf}, {"total", reader.Number{}}, {"due", reader.Date{}}}, ""},
		{`{label: "one_of(billing, bug, other)", 'ok': boolean}`, []plan.FieldReader{{"label", oneOf}, {"ok", reader.Bool{}}}, ""},
		{"label: one_of(billing, bug, other)\nweight: number(kg)\nday: date(dmy)", []plan.FieldReader{{"label", oneOf}, {"weight", reader.Number{Unit: "kg"}}, {"day", reader.Date{Order: "dmy"}}}, ""},
		{"{sizes: list(number), labels: list( one_of(billing, bug, other) )}", []plan.FieldReader{{"sizes", reader.List{Of: reader.Number{}}}, {"labels", reader.List{Of: oneOf}}}, ""},
		{"{total: number, of what}", []plan.FieldReader{{"total", reader.Number{}}}, ""},
		{"{items: [{price: number}], total: number}", []plan.FieldReader{{"total", reader.Number{}}}, ""},
		{"{total: number of things}", nil, ""},
		{"", nil, ""},
		{"{label: one_of(bug)}", nil, `field "label": want at least two`},
		{"{label: one_of(bug, bug)}", nil, `field "label": the option "bug" is there twice`},
		{"{label: one_of}", nil, `field "label"`},
		{"{label: one_of(a, b}", nil, `field "label"`},
		{"{day: date(ymd)}", nil, `field "day": the order`},
	} {
		got, err := plan.FieldReaders(test.schema)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("FieldReaders(%s) = %v, %v, want an error with %q", test.schema, got, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("FieldReaders(%s) = %v: %s", test.schema, err, diff)
		}
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again []plan.FieldReader
		if err := json.Unmarshal(data, &again); err != nil || !cmp.Equal(again, got) {
			t.Errorf("a field is kept as %s and read as %v, %v", data, again, err)
		}
	}
}

func FuzzFieldReaders(f *testing.F) {
	f.Add("{label: one_of(a, b), total: number(kg), due: list(date)}")
	f.Fuzz(func(t *testing.T, schema string) {
		all, err := plan.FieldReaders(schema)
		for _, field := range all {
			if err != nil || field.Name == "" || field.Of.Validate() != nil {
				t.Errorf("FieldReaders(%q) = %v, %v", schema, all, err)
			}
		}
	})
}
