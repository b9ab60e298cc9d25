package summary

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/redflag"
)

func TestSummaryReader(t *testing.T) {
	r, err := Readers().New(Reader, json.RawMessage(`{"text":"Zoe put 1,500 files into /srv/data; see https://example.com/x. Build 77 failed on host-3.",
		"must":[{"text":"host-3","exact":true},{"text":"Zoe"}],"max_tokens":30}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, flag := range map[string]string{
		"zoe put the files on host-3.":                            "",
		"Zoe put 1500 files on host-3, see https://example.com/x": "",
		"Zoe put 1,500 files into /srv/data of host-3.":           "",
		"Zoe did it.":                                               redflag.MissingField,
		"Zoe did it on host-35.":                                    redflag.MissingField,
		"Zoe did it on HOST-3.":                                     redflag.MissingField,
		"Zoe put 1501 files on host-3.":                             redflag.SchemaInvalid,
		"Zoe put them on host-3, in /srv/other.":                    redflag.SchemaInvalid,
		"Zoe put them on host-3, see https://example.com/elsewhere": redflag.SchemaInvalid,
		" \n": redflag.Empty,
		"zoe host-3 amet tempor dolor consectetur magna aliqua veniam nostrud": redflag.SchemaInvalid,
		"Sure! Here is the summary of Zoe and host-3.":                         redflag.MetaChatter,
		"I'm sorry, but I can't help with that. Zoe, host-3.":                  redflag.Refusal,
		"Zoe on host-3. " + strings.Repeat("And so on and so on. ", 9):         redflag.ExcessiveLength,
	} {
		a, f := r.Read(text)
		got := ""
		if f != nil {
			got = f.Name
		}
		if got != flag || (a.Key == "summary") != (flag == "") {
			t.Errorf("Read(%q) = key %q, flag %q (%v), want %q", text, a.Key, got, f, flag)
		}
	}
}

func FuzzSummaryReader(f *testing.F) {
	f.Add("Zoe put 12 files into /srv/a on host-3.", "Zoe put 12 files.", "Zoe")
	f.Add("a 1,000 b", "1000", "b")
	f.Fuzz(func(t *testing.T, text, summary, must string) {
		valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
		r := reader{outline.SummaryRequest{Text: valid(text), Must: []outline.Needed{{Text: valid(must)}}, MaxTokens: 50}}
		a, flag := r.Read(summary)
		if flag != nil {
			return
		}
		var got string
		if err := json.Unmarshal(a.Value, &got); err != nil || got == "" || outline.EstimateTokens(got) > 50 {
			t.Fatalf("Read(%q) = %s (%v), want a short text", summary, a.Value, err)
		}
		if !strings.Contains(strings.ToLower(got), strings.ToLower(valid(must))) {
			t.Fatalf("Read(%q) lets pass what drops %q", summary, must)
		}
	})
}
