package vote

import "testing"

func TestMeaning(t *testing.T) {
	for _, test := range []struct {
		key          string
		paths        []string
		exact, texts string
	}{
		{`"a text"`, nil, `""`, `"a text"`},
		{`{"n":3,"s":"a text"}`, nil, `{"n":3,"s":""}`, `{"n":3,"s":"a text"}`},
		{`{"n":3,"path":"a/b","s":"a text"}`, []string{"s"}, `{"n":3,"path":"a/b"}`, `{"s":"a text"}`},
		{`{"items":[{"id":1,"note":"x"},{"id":2}],"n":3}`, []string{"items.*.note"}, `{"items":[{"id":1},{"id":2}],"n":3}`, `{"items":[{"note":"x"},{}]}`},
		{`{"n":3}`, []string{"s"}, `{"n":3}`, ""},
		{`3`, nil, "3", ""},
		{`result "a text"`, nil, `result ""`, `"a text"`},
		{`result 3`, nil, `result 3`, ""},
		{`call Write`, nil, `call Write`, ""},
		{"", nil, "", ""},
	} {
		if exact, texts := Meaning(test.key, test.paths); exact != test.exact || texts != test.texts {
			t.Errorf("Meaning(%s, %q) = %s, %s, want %s, %s", test.key, test.paths, exact, texts, test.exact, test.texts)
		}
	}
}
