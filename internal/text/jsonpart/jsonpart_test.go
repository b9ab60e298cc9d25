package jsonpart_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/text/jsonpart"
)

func TestAll(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"no JSON here", nil},
		{`{"a": 1}`, []string{`{"a": 1}`}},
		{"Sure:\n```json\n{\"a\": [1, 2]}\n```\nDone.", []string{`{"a": [1, 2]}`}},
		{`First {"a":1}, then {"a":2}.`, []string{`{"a":1}`, `{"a":2}`}},
		{`a set {x} and a list [1, 2]`, []string{`[1, 2]`}},
		{`{"a": {"b": 1}`, nil},
		{`{"a": {"b": 1},} and {"c": 2}`, []string{`{"c": 2}`}},
		{`{"a": [1], "b": [2`, nil},
		{`[1, [2]`, nil},
		{`{'a': {"b": 1}} {"c": 2}`, []string{`{"c": 2}`}},
		{`[see {"a": 1}]`, []string{`{"a": 1}`}},
		{"{\"a\": \"x\ny {\"} {\"c\": 2}", []string{`{"c": 2}`}},
		{`[x] {"a":1`, nil},
		{`{"text": "} {"}`, []string{`{"text": "} {"}`}},
	} {
		var got []string
		for _, raw := range jsonpart.All(test.text) {
			got = append(got, string(raw))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("All(%q): %s", test.text, diff)
		}
	}
}

func TestWhole(t *testing.T) {
	for text, want := range map[string]string{
		` {"a":1} `:               `{"a":1}`,
		"```json\n[1]\n```":       `[1]`,
		"```\n\"x\"\n```":         `"x"`,
		"true":                    "true",
		"x {}":                    "",
		"```json\n{\n```":         "",
		"```a\n1\n```\n```\n2```": "",
	} {
		got, ok := jsonpart.Whole(text)
		if string(got) != want || ok != (want != "") {
			t.Errorf("Whole(%q) = %s, %t, want %s", text, got, ok, want)
		}
	}
}

func FuzzAll(f *testing.F) {
	f.Add(`a {"b": [1]} c`)
	f.Add(strings.Repeat("[", 500))
	f.Fuzz(func(t *testing.T, text string) {
		for _, raw := range jsonpart.All(text) {
			if !json.Valid(raw) || !strings.Contains(text, string(raw)) {
				t.Errorf("All(%q) has %q", text, raw)
			}
		}
	})
}
