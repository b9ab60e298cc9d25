package planner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/plan"
)

func newReader(t testing.TB, name, params string) domain.Reader {
	t.Helper()
	r, err := planner.Readers().New(name, json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPlanReader(t *testing.T) {
	lax, strict := newReader(t, planner.Reader, ``), newReader(t, planner.Reader, `{"strict":true}`)
	var asJSON strings.Builder
	p, findings := plan.Parse(good)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if err := json.NewEncoder(&asJSON).Encode(p); err != nil {
		t.Fatal(err)
	}
	a, flagA := strict.Read(good)
	b, flagB := strict.Read(asJSON.String())
	c, flagC := strict.Read(strings.Replace(good, "One step will do.", "Another way to say it.", 1))
	d, flagD := strict.Read(strings.Replace(good, "[Read]", "[Grep]", 1))
	if flagA != nil || flagB != nil || flagC != nil || flagD != nil {
		t.Fatalf("plans are discarded: %v %v %v %v", flagA, flagB, flagC, flagD)
	}
	if a.Key != b.Key || a.Key != c.Key || a.Key == d.Key {
		t.Errorf("keys are %q, %q, %q, %q, want the first three alike", a.Key, b.Key, c.Key, d.Key)
	}
	if string(a.Value) != string(b.Value) {
		t.Errorf("YAML and JSON of one plan are read as %s and %s", a.Value, b.Value)
	}
	for _, text := range []string{"", "words", "plan: []", "a: [", "reasoning: x", "\x00\xff", strings.Replace(good, "step: 0", "step: zero", 1)} {
		if got, flag := strict.Read(text); flag == nil {
			t.Errorf("Read(%q), strict = %s, want it discarded", text, got.Value)
		}
		got, flag := lax.Read(text)
		var answer planner.Draft
		if flag != nil || json.Unmarshal(got.Value, &answer) != nil || answer.Plan != strings.ToValidUTF8(text, "\ufffd") {
			t.Errorf("Read(%q) = %s %v, want it as it is", text, got.Value, flag)
		}
	}
	if _, err := planner.Readers().New(planner.Reader, json.RawMessage(`[]`)); err == nil {
		t.Error("New with parameters that are none = nil, want an error")
	}
}

func TestScoreReader(t *testing.T) {
	r := newReader(t, planner.ScoreReader, ``)
	for text, want := range map[string]string{
		"score: 0.5\nreason: so": `{"score":0.5,"reason":"so"}`,
		`{"score": 1}`:           `{"score":1,"reason":""}`,
		"score: 0":               `{"score":0,"reason":""}`,
		"score: 1e-3":            `{"score":0.001,"reason":""}`,
	} {
		got, flag := r.Read(text)
		if flag != nil || string(got.Value) != want {
			t.Errorf("Read(%q) = %s %v, want %s", text, got.Value, flag, want)
		}
	}
	for _, text := range []string{
		"", "0.5", "score: high", "score: '0.5'", "score: 1.01", "score: -0.1", "score: .nan", "score: .inf", "score: 1e400",
		"score: null", "reason: so", "- score: 1", "score: [1]", "score: 1\nscore: 0", "score: 0.5\nreason: [a]", "\x00",
	} {
		if got, flag := r.Read(text); flag == nil {
			t.Errorf("Read(%q) = %s, want it discarded", text, got.Value)
		}
	}
	a, _ := r.Read("score: 0.5\nreason: one way")
	b, _ := r.Read("score: 0.50\nreason: or another")
	if a.Key != b.Key || a.Key == "" {
		t.Errorf("0.5 and 0.50 are counted under %q and %q, want the same", a.Key, b.Key)
	}
}

// FuzzPlanReader: what is read as a plan is one, and is read as itself again.
func FuzzPlanReader(f *testing.F) {
	for _, text := range []string{good, "", "a: [", "plan: []", "reasoning: x\nplan:\n- step: 0", "\x00\xff", strings.Repeat("- ", 100)} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, strict bool) {
		params, err := json.Marshal(planner.Format{Strict: strict})
		if err != nil {
			t.Fatal(err)
		}
		r := newReader(t, planner.Reader, string(params))
		a, flag := r.Read(text)
		if flag != nil {
			if !strict || flag.Reason == "" {
				t.Errorf("Read(%q) is discarded: %+v", text, flag)
			}
			return
		}
		var answer planner.Draft
		if err := json.Unmarshal(a.Value, &answer); err != nil || a.Key == "" {
			t.Fatalf("Read(%q) = %s under %q (%v)", text, a.Value, a.Key, err)
		}
		if _, findings := plan.Parse(answer.Plan); strict && len(findings) > 0 {
			t.Errorf("Read(%q) = %q, which is no plan: %v", text, answer.Plan, findings)
		}
		again, flag := r.Read(answer.Plan)
		if flag != nil || again.Key != a.Key && strict {
			t.Errorf("Read(%q) is counted under %q, and what was read under %q (%v)", text, a.Key, again.Key, flag)
		}
	})
}

// FuzzScoreReader: a score is a number from 0 to 1.
func FuzzScoreReader(f *testing.F) {
	for _, text := range []string{"score: 0.5\nreason: so", "score: .nan", "score: 1e400", `{"score": 1}`, "- 1", "score: 0x1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, flag := newReader(t, planner.ScoreReader, ``).Read(text)
		if flag != nil {
			return
		}
		var s planner.Score
		if err := json.Unmarshal(a.Value, &s); err != nil || !(s.Score >= 0 && s.Score <= 1) || a.Key == "" {
			t.Errorf("Read(%q) = %s under %q (%v), want a score from 0 to 1", text, a.Value, a.Key, err)
		}
	})
}

func TestDrafts(t *testing.T) {
	r := newReader(t, planner.DraftReader, ``)
	for text, want := range map[string]string{
		"def main():\n    return 1":                                    "def main():\n    return 1\n",
		"```python\ndef main():\n    return 1\n```":                    "def main():\n    return 1\n",
		"Like this:\n\n```\nx = 1\n```\nThat is all.":                  "x = 1\n",
		"```\na\n```\nor rather\n```star\nlonger = \"```\"\n```\nYes.": "longer = \"```\"\n",
		"```python\ncut = 1":                                           "cut = 1\n",
	} {
		got, flag := r.Read(text)
		var d planner.Draft
		if flag != nil || json.Unmarshal(got.Value, &d) != nil || d.Plan != want {
			t.Errorf("Read(%q) = %q, %v, want %q", text, d.Plan, flag, want)
		}
	}
	for _, text := range []string{"", " \n", "```python\n```", "```\n\n```"} {
		if got, flag := r.Read(text); flag == nil {
			t.Errorf("Read(%q) = %s, want a red flag", text, got.Value)
		}
	}
}
