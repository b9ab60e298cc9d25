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
		return same[pair], &flow.Verdict{Status: flow.Decided, CostUSD: new(0.5)}, nil
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

// TestRegroupNumbers: texts with other numbers are never the same, whatever a judge says.
func TestRegroupNumbers(t *testing.T) {
	for _, test := range []struct {
		first, other string
		same         bool
	}{
		{`"It failed 3 times."`, `"It failed 4 times."`, false},
		{`"It failed 3 times."`, `"There were 3 failures."`, true},
		{`"3 of 10 failed."`, `"Of 10, 3 failed."`, true},
		{`"3 of 10 failed."`, `"3 of 10 failed, which is 30 %."`, false},
		{`"It failed."`, `"It failed 3 times."`, false},
		{`"It took 1,000.50 s."`, `"1000.50 s is what it took."`, true},
		{`"It took 1,000 s."`, `"It took 1.000 s."`, false},
		{`"-3 degrees"`, `"It has 3 degrees."`, false},
		{`"-3 degrees"`, `"It has −3 degrees."`, true},
		{`"Lines 3-4 are wrong."`, `"What is wrong are the lines 3 and 4."`, true},
		{`"It is version 1.2.3."`, `"The version is 1.2.30."`, false},
		{`"It is version 1.1."`, `"The version is 1.10."`, false},
		{`"It grew by ½."`, `"It grew by ¼."`, false},
		{`"It grew by 1½."`, `"By 1½ it grew."`, true},
		{`"It is x² long."`, `"It is x³ long."`, false},
		{`"Answer ① holds."`, `"Answer ② holds."`, false},
		{`"Chapter Ⅱ"`, `"Chapter Ⅲ"`, false},
		{`{"n":1,"s":"all of 007"}`, `{"n":1,"s":"7, all of it"}`, false},
		{`{"n":1,"s":"a \u001f b"}`, `{"n":1,"s":"a b"}`, true}, // no digit is in that
		{`{"s":"in 2024","t":"x"}`, `{"s":"it was 2024","t":"y"}`, true},
	} {
		r := &race{q: &flow.Question{Meaning: &flow.Meaning{}}}
		for i, key := range []string{test.first, test.other} {
			s := Sample{Response: &model.Response{}, Answer: domain.Answer{Key: key}}
			err := r.regroup(&s, func(string, string) (bool, *flow.Verdict, error) {
				return true, &flow.Verdict{Status: flow.Decided}, nil
			})
			if got := s.Answer.Key == test.first; err != nil || i == 1 && got != test.same {
				t.Errorf("%s and %s: same %t, %v, want %t", test.first, test.other, got, err, test.same)
			}
		}
	}
}

// TestRegroupOpen: a judge that comes to nothing again and again is not asked any more,
// and why is said.
func TestRegroupOpen(t *testing.T) {
	r := &race{q: &flow.Question{Meaning: &flow.Meaning{}}}
	asked := 0
	regroup := func(key string, status flow.Status) {
		s := Sample{Response: &model.Response{}, Answer: domain.Answer{Key: key}}
		err := r.regroup(&s, func(string, string) (bool, *flow.Verdict, error) {
			asked++
			return false, &flow.Verdict{Status: status, Reason: "it was: so to say"}, nil
		})
		if err != nil || s.Answer.Key != key {
			t.Fatalf("regroup(%s) = %s, %v", key, s.Answer.Key, err)
		}
	}
	regroup(`"a"`, flow.Decided)
	if why := r.uncompared(); why != "" {
		t.Errorf("before any comparison: %q", why)
	}
	regroup(`"b"`, flow.FlaggedOut) // with a
	regroup(`"c"`, flow.Decided)    // with a and b: it is not the judge's fault
	for _, key := range []string{`"d"`, `"e"`, `"f"`} {
		regroup(key, flow.Undecided)
	}
	if asked != 1+2+maxOpen {
		t.Errorf("the judge was asked %d times, want %d", asked, 1+2+maxOpen)
	}
	want := "; texts could not be compared by meaning in 4 comparisons by the cheap model, and no more were tried; the last one: it was: so to say"
	if why := r.uncompared(); why != want {
		t.Errorf("uncompared() = %q, want %q", why, want)
	}
	r, asked = &race{q: r.q}, 0
	for _, key := range []string{`"a"`, `"b"`, `"c"`} {
		regroup(key, flow.Failed)
	}
	if asked != 1 {
		t.Errorf("a judge that failed was asked %d times, want once", asked)
	}
}

// TestRegroupConfirms: those who are to confirm an answer do so by saying the same.
func TestRegroupConfirms(t *testing.T) {
	r := &race{q: &flow.Question{Meaning: &flow.Meaning{}, Known: []string{`"it is late"`}}}
	for key, want := range map[string]string{`"the hour is late"`: `"it is late"`, `"it is early"`: `"it is early"`} {
		s := Sample{Response: &model.Response{}, Answer: domain.Answer{Key: key}}
		err := r.regroup(&s, func(first, other string) (bool, *flow.Verdict, error) {
			return first == `"it is late"` && other == `"the hour is late"`, &flow.Verdict{Status: flow.Decided}, nil
		})
		if err != nil || s.Answer.Key != want {
			t.Errorf("regroup(%s) = %s, %v, want %s", key, s.Answer.Key, err, want)
		}
	}
}
