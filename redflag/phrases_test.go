package redflag

import "testing"

func TestPhraseLists(t *testing.T) {
	lists := [][]string{
		apologies, refusals, unwilling, selfReferences, leaks, musings, musingOpeners, quotedMusings, openers, presentations, introductions,
		closings, hedges, corrections, thinking, conditions, slotWords, unfilled, fillers,
	}
	if len(phraseLists) != len(lists) {
		t.Errorf("phrases.txt has %d lists, want %d", len(phraseLists), len(lists))
	}
	for i, list := range lists {
		if len(list) < 3 {
			t.Errorf("list %d of phrases is %q, want more", i, list)
		}
		for _, phrase := range list {
			if folded := fold(phrase); folded != phrase {
				t.Errorf("the phrase %q is not folded: want %q", phrase, folded)
			}
		}
	}
}
