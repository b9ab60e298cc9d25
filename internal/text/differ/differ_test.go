package differ_test

import (
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/text/differ"
)

func TestBetween(t *testing.T) {
	long := strings.Repeat("all is as it was before, ", 10)
	tests := []struct{ name, a, b, want string }{
		{"equal", `{"a":1}`, `{"a": 1}`, ""},
		{"field", `{"total":14,"unit":"EUR"}`, `{"total":15,"unit":"EUR"}`, "total: 15 instead of 14"},
		{"deep", `{"order":{"items":[1000000,2000000,300000,4]}}`, `{"order":{"items":[1000000,2000000,300000,5]}}`, "order.items[3]: 5 instead of 4"},
		{"short lists", `{"move":[1,0,2]}`, `{"move":[1,0,1]}`, "move: [1,0,1] instead of [1,0,2]"},
		{"lengths", `{"items":[1,2]}`, `{"items":[1]}`, "items: [1] instead of [1,2]"},
		{"missing", `{"a":1,"b":2}`, `{"a":1}`, "b: missing"},
		{"extra", `{"a":1}`, `{"a":1,"b":null}`, "b: null instead of nothing"},
		{"types", `{"a":1}`, `{"a":"1"}`, `a: "1" instead of 1`},
		{"numbers are as written", `{"a":1.0}`, `{"a":1}`, "a: 1 instead of 1.0"},
		{"scalars", `14`, `15`, "15 instead of 14"},
		{"texts", "yes", "no", `"no" instead of "yes"`},
		{"text and JSON", `"yes"`, `{"a":1}`, `{"a":1} instead of "yes"`},
		{"long texts", long + "and done.", long + "and not done.", `"…it was before, and not done." instead of "…it was before, and done."`},
		{"many", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}`, `{"a":2,"b":2,"c":2,"d":2,"e":2,"f":2}`,
			"a: 2 instead of 1; b: 2 instead of 1; c: 2 instead of 1; d: 2 instead of 1; and 2 more"},
		{"two values are a text", "1 2", "1 3", `"1 3" instead of "1 2"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := differ.Between(test.a, test.b); got != test.want {
				t.Errorf("Between(%s, %s) = %s, want %s", test.a, test.b, got, test.want)
			}
		})
	}
}

func FuzzBetween(f *testing.F) {
	f.Add(`{"a":[1,"x"]}`, `{"a":[2,"y"],"b":{}}`)
	f.Add("", "\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		got := differ.Between(a, b)
		if a == b && got != "" {
			t.Errorf("Between(%q, itself) = %q, want nothing", a, got)
		}
		if strings.ContainsAny(got, "\r\n") {
			t.Errorf("Between(%q, %q) = %q, want one line", a, b, got)
		}
	})
}
