package solver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
)

func free(t *testing.T) Config {
	t.Helper()
	cfg := config
	cfg.Domain, cfg.Adapter, cfg.Escalate = "anything", anything{}, nil
	return cfg
}

// A direct answer is checked as a composed one is, and what it lacks is added.
func TestDirectAnswersAreChecked(t *testing.T) {
	cfg := free(t)
	cfg.NoDirect = false
	count := map[string]int{}
	list := func(a asked) string {
		count[a.Ask]++
		switch a.Ask {
		case "solve":
			return solution(strings.ToUpper(a.Problem))
		case "check":
			if strings.Contains(a.Answer, "TWO") {
				return complete()
			}
			return incomplete("two")
		case "answer":
			return answer(a.A.Solution + " and " + a.B.Solution)
		}
		return ""
	}
	f := run(t, "one, two", cfg, list)
	got, failure := result(t, f)
	if failure != "" || got.Answer != "ONE, TWO" || got.Status != StatusDirect || count["check"] == 0 {
		t.Errorf("result = %+v (%s) after %v, want a direct answer that was checked", got, failure, count)
	}
	clear(count)
	f = run(t, "one and another", cfg, list)
	got, failure = result(t, f)
	if failure != "" || got.Answer != "ONE AND ANOTHER and TWO" || got.Status != StatusComposed || count["decompose"] > 0 {
		t.Errorf("result = %+v (%s) after %v, want what was missing added to the direct answer", got, failure, count)
	}
}

// When voters do not agree on how to put parts together and code cannot, the parts are
// the result, and it says that they are.
func TestPartsAreNotThrownAway(t *testing.T) {
	f := run(t, "1+2+3+4+5", free(t), voters(adders).but(func(a asked) string {
		if a.Ask == "answer" {
			return "I would add them up."
		}
		return ""
	}))
	got, failure := result(t, f)
	want := "1+2+3: 6\n4+5: 9"
	if got.Answer != want || got.Status != StatusParts || got.Confidence != DraftConfidence || !strings.HasPrefix(failure, "failed: compose 0: all were discarded") ||
		!strings.Contains(failure, "the parts that are solved are in the result") {
		t.Errorf("result = %+v (%s), want the parts %q", got, failure, want)
	}
	// Further down, those that are solved so far.
	f = run(t, "1+2+3+4+5", free(t), voters(adders).but(func(a asked) string {
		if a.Ask == "compose" {
			return solution(fmt.Sprint(a.sample))
		}
		return ""
	}))
	got, failure = result(t, f)
	want = "1+2: 3\n3: 3\n4+5: 9"
	if got.Answer != want || got.Status != StatusParts || failure == "" {
		t.Errorf("result = %+v (%s), want the parts %q", got, failure, want)
	}
}

// What is missing is added by code if nobody agrees on how, and then checked like all else.
func TestMissingItemsAreAddedByCode(t *testing.T) {
	f := run(t, "1+2", free(t), voters(adders).but(func(a asked) string {
		switch {
		case a.Ask == "answer":
			return answer(fmt.Sprint(a.sample))
		case a.Ask == "check" && !strings.Contains(a.Answer, "4+5: 9"):
			return incomplete("4+5")
		}
		return ""
	}))
	got, failure := result(t, f)
	if failure != "" || got.Answer != "3\n\n4+5: 9" || len(got.Remarks) != 1 || !strings.HasPrefix(got.Remarks[0], `"4+5" was added to the answer by code: no answer won`) {
		t.Errorf("result = %+v (%s), want the item added by code, and said so", got, failure)
	}
}

// Items that there was no room for after a check are worked off after the next one, before
// those that were added already.
func TestMoreMissingItemsThanOneCheckHasRoomFor(t *testing.T) {
	var items []string
	for i := range 30 {
		items = append(items, fmt.Sprintf("%d+1", i))
	}
	f := run(t, "1+2", free(t), voters(adders).but(func(a asked) string {
		switch a.Ask {
		case "answer":
			return answer(a.A.Solution + ", " + a.B.Solution)
		case "check":
			return incomplete(items...)
		}
		return ""
	}))
	got := map[string]bool{}
	for _, e := range f.Events {
		if solved, ok := e.(event.SubproblemSolved); ok {
			got[solved.Problem.Text()] = true
		}
	}
	for _, item := range items {
		if !got[item] {
			t.Errorf("%s was never solved", item)
		}
	}
}

// However many items are missing, they are worked off, a few at a time.
func TestManyMissingItems(t *testing.T) {
	var items []string
	for i := range 12 {
		items = append(items, fmt.Sprintf("%d+1", i))
	}
	f := run(t, "1+2", free(t), voters(adders).but(func(a asked) string {
		switch {
		case a.Ask == "answer":
			return answer(a.A.Solution + ", " + a.B.Solution)
		case a.Ask == "check" && !strings.Contains(a.Answer, ", 12"):
			return incomplete(items...)
		}
		return ""
	}))
	got, failure := result(t, f)
	if want := "3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"; failure != "" || got.Answer != want {
		t.Errorf("result = %+v (%s), want %q", got, failure, want)
	}
	var paths []string
	most := 0
	for _, e := range f.Events {
		if solved, ok := e.(event.SubproblemSolved); ok {
			paths = append(paths, solved.Path)
		}
		if c, ok := e.(event.CompletenessChecked); ok {
			most = max(most, c.Round)
		}
	}
	if diff := cmp.Diff([]string{"f0.0", "f0.11"}, []string{paths[0], paths[len(paths)-1]}); diff != "" || most != 1 {
		t.Errorf("solved %v in %d rounds of checks", paths, most)
	}
}
