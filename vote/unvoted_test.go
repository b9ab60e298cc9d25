package vote

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnvoted(t *testing.T) {
	const answer = `{"count": 3, "summary": "three files", "items": [{"id": 1, "note": "a"}, {"id": 2}], "by": {"name": "x", "why": "y"}}`
	for _, test := range []struct {
		raw  string
		o    KeyOptions
		want []string
	}{
		{answer, KeyOptions{}, nil},
		{answer, KeyOptions{Ignore: []string{"summary"}}, []string{"summary"}},
		{answer, KeyOptions{Ignore: []string{"absent"}}, nil},
		{answer, KeyOptions{Ignore: []string{"items.*.note", "by.why"}}, []string{"by.why", "items.*.note"}},
		{answer, KeyOptions{Ignore: []string{"items.*"}}, []string{"items.*"}},
		{answer, KeyOptions{VoteOn: []string{"count"}}, []string{"by", "items", "summary"}},
		{answer, KeyOptions{VoteOn: []string{"count", "items.*.id", "by.name"}}, []string{"by.why", "items.*.note", "summary"}},
		{answer, KeyOptions{VoteOn: []string{"*"}}, nil},
		{answer, KeyOptions{VoteOn: []string{"missing"}}, nil},
		{`{"a.b": 1, "*": 2, "c\\d": 3, "k": 4}`, KeyOptions{VoteOn: []string{"k"}}, []string{`\*`, `a\.b`, `c\\d`}},
		{`"text"`, KeyOptions{Ignore: []string{"a"}}, nil},
		{`{broken`, KeyOptions{}, nil},
	} {
		if diff := cmp.Diff(test.want, Unvoted(json.RawMessage(test.raw), test.o)); diff != "" {
			t.Errorf("Unvoted(%s, %+v): -want +got\n%s", test.raw, test.o, diff)
		}
	}
}
