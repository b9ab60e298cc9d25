package ballot

import (
	"errors"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
)

// TestRegroup: an answer joins the first group whose first member says the same, and no
// other; a judgement that is not sure joins nothing; groups never merge.
func TestRegroup(t *testing.T) {
	same := map[string]bool{"a|b": true, "c|d": true, "a|e": false, "c|e": true, "b|e": true}
	var asked []string
	judge := func(first, other string) (bool, *flow.Verdict, error) {
		pair := strings.Trim(first, `"`) + "|" + strings.Trim(other, `"`)
		asked = append(asked, pair)
		return same[pair], &flow.Verdict{CostUSD: new(0.5)}, nil
	}
	r := &race{q: &flow.Question{Meaning: &flow.Meaning{}}}
	group := func(key string) string {
		s := Sample{Response: &model.Response{}, Answer: domain.Answer{Key: key}}
		if err := r.regroup(&s, judge); err != nil {
			t.Fatalf("regroup(%s) = %v", key, err)
		}
		return s.Answer.Key
	}
	for _, test := range []struct{ key, want, asked string }{
		{`"a"`, `"a"`, ""},
		{`"b"`, `"a"`, "a|b"},
		{`"c"`, `"c"`, "a|c"}, // nobody was sure
		{`"d"`, `"c"`, "a|d c|d"},
		{`"e"`, `"c"`, "a|e c|e"}, // b is not asked about, and a and c stay apart
		{`"b"`, `"a"`, ""},        // known
		{`7`, `7`, ""},            // no text
		{`{"n":1}`, `{"n":1}`, ""},
		{`{"n":1,"s":"x"}`, `{"n":1,"s":"x"}`, ""},
		{`{"n":2,"s":"x"}`, `{"n":2,"s":"x"}`, ""}, // another number is another answer
	} {
		asked = nil
		if got := group(test.key); got != test.want || strings.Join(asked, " ") != test.asked {
			t.Errorf("regroup(%s) = %s after %q, want %s after %q", test.key, got, asked, test.want, test.asked)
		}
	}
	if r.cost != 6*0.5 {
		t.Errorf("judgements cost %v, want 3", r.cost)
	}
	// What is no answer is not compared.
	for name, s := range map[string]Sample{"flagged": {Response: &model.Response{}, Flag: redflag.New("x", "y")}, "a fault": {}} {
		if err := r.regroup(&s, nil); err != nil {
			t.Errorf("regroup(%s) = %v", name, err)
		}
	}
	over := errors.New("out of budget")
	s := Sample{Response: &model.Response{}, Answer: domain.Answer{Key: `"f"`}}
	if err := r.regroup(&s, func(string, string) (bool, *flow.Verdict, error) { return false, nil, over }); !errors.Is(err, over) {
		t.Errorf("regroup = %v, want %v", err, over)
	}
	if n := len(r.groups.first); n != 6 {
		t.Errorf("%d groups, want 6", n)
	}
}
