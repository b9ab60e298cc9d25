package tasks

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	tests := []struct {
		text string
		want string // "kind text", joined by "; "
	}{
		// names
		{"We asked Ada Lovelace about it.", "name Ada; name Lovelace"},
		{"The service billing-api uses Redis and Postgres.", "name billing-api; name Redis; name Postgres"},
		{"Use Postgres.", "name Postgres"},
		{"Acme Corp said no.", "name Acme; name Corp"},
		{"Then we asked. She said yes.", ""},
		{"The API returns JSON over HTTP.", "name API; name JSON; name HTTP"},
		{"call getUserName and user_id", "name getUserName; name user_id"},
		{"order ORD-48213 and sha256 and ZEBRA-7741.", "name ORD-48213; name sha256; name ZEBRA-7741"},
		{"It runs on node.js in foo.bar", "name node.js; name foo.bar"},
		{"mail ops@example.com, ask @bob", "name ops@example.com"},
		{"set MAX_SIZE in Config", "name MAX_SIZE; name Config"},
		{"We saw Jean-Luc.", "name Jean-Luc"},
		{"The team (with Bob) left", "name Bob"},
		{"Note: Redis is down. Check it.", "name Redis"},
		{"see iPhone and GitHub", "name iPhone; name GitHub"},
		{"uuid 123e4567-e89b-12d3-a456-426614174000", "name 123e4567-e89b-12d3-a456-426614174000"},
		{"commit 9f31c2a", "name 9f31c2a"},
		{"I think that It Is so", ""},
		{"nothing here at all", ""},
		{"", ""},

		// numbers
		{"port 8080 and 443", "number 8080; number 443"},
		{"it took 3 tries, 5 users", ""},
		{"1,234 rows, 99.5% of 3.5", "number 1,234; number 99.5%; number 3.5"},
		{"costs $5 or €12", "number $5; number €12"},
		{"on 2024-01-02 at 12:30", "number 2024-01-02; number 12:30"},
		{"host 192.168.0.1:80", "number 192.168.0.1:80"},
		{"issue #42", "number #42"},
		{"the 1st and 22nd", ""},
		{"10ms and 5GB", "number 10ms; number 5GB"},
		{"v1.2.3 is out", "name v1.2.3"},
		{"from 10 to 20, then 30", "number 10; number 20; number 30"},

		// paths and addresses
		{"wrote /srv/app/config.yml and src/main.go.", "path /srv/app/config.yml; path src/main.go"},
		{`see C:\a\b.txt`, `path C:\a\b.txt`},
		{"see https://a.b/c?d=e, (http://x.y)", "address https://a.b/c?d=e; address http://x.y"},

		// in quotation marks and code
		{`The title is "Hello, World".`, `name Hello; name World`},
		{"ran `make test` in `src/a.go`", "path src/a.go"},
		{"said “so be it”", ""},
		{"```go\nfunc FooBar() {}\n```", "name FooBar"},

		// each once
		{"Redis and Redis and redis, see Redis", "name Redis"},
	}
	for _, test := range tests {
		var got []string
		for word, kind := range Words(test.text) {
			if id := string(kind) + " " + word; kind != "" && !slices.Contains(got, id) {
				got = append(got, id)
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("Words(%q): -want +got\n%s", test.text, diff)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
	}
	f.Add("We decided: ORD-1 \"a b\" 1,234.5% ̈x https://a.b İstanbul ``` `")
	f.Fuzz(func(t *testing.T, text string) {
		plain := valid(text)
		x := IndexOf(plain)
		for word, kind := range Words(text) {
			if word == "" || !strings.Contains(plain, word) || !x.Has(word, false) {
				t.Errorf("Words(%q) has %q, a %q, but the text does not mention it", text, word, kind)
			}
		}
	})
}
