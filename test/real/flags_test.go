package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/redflag"
)

// TestFlagsOnRightAnswers counts how many right answers of real models the red flags of
// solving discard: at most one in a hundred.
func TestFlagsOnRightAnswers(t *testing.T) {
	families, err := readFamilies("families")
	if err != nil {
		t.Fatal(err)
	}
	flags := config.SolveFlags(config.DefaultMaxOutput)
	for _, folder := range []string{"bank", "testdata/bank"} {
		b, err := readBank(folder)
		if err != nil {
			t.Fatal(err)
		}
		right, discarded := 0, map[string]int{}
		check := func(asked, text string) *redflag.Flag {
			value, err := json.Marshal(map[string]any{"solution": text, "confidence": 0.9, "work_shown": "As above."})
			if err != nil {
				t.Fatal(err)
			}
			// Those of the families were cut after their first line on purpose, so that the end is no sign.
			return flags.Check(&redflag.Answer{Text: string(value), Stop: "end", Value: value, Asked: asked})
		}
		shown := 0
		for _, f := range families {
			for q, a := range b {
				if q.Family != f.Name {
					continue
				}
				i := slices.IndexFunc(f.Items, func(it item) bool { return it.ID == q.Item })
				key, ok := f.read(a.Text)
				if i < 0 || !ok || !f.right(&f.Items[i], key) {
					continue
				}
				it := &f.Items[i]
				right++
				flag := check(f.render(f.Wordings[q.Wording], it.Fields), a.Text)
				if flag == nil {
					continue
				}
				discarded[flag.Name]++
				if shown++; shown <= 10 {
					t.Logf("%s: %.200q: %s: %s", q.Item, a.Text, flag.Name, flag.Reason)
				}
			}
		}
		t.Logf("%s: of %d right answers %d are discarded: %v", folder, right, shown, discarded)
		// What rambles on in answer to our own prompts is what they are for.
		own, caught := 0, map[string]int{}
		for q, a := range b {
			if !slices.Contains(ownKinds, q.Family) {
				continue
			}
			own++
			if flag := check("", a.Text); flag != nil {
				caught[flag.Name]++
			}
		}
		t.Logf("%s: of %d texts that are no solutions: %v", folder, own, caught)
		if right < 500 || shown*100 > right {
			t.Errorf("%s: of %d right answers %d are discarded, want at most one in a hundred: %v", folder, right, shown, discarded)
		}
	}
}
