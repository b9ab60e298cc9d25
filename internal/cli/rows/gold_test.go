package rows

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
)

// TestMix: known records lie anywhere among the others, which stay in order, and in the same
// places each time, however many others there turn out to be.
func TestMix(t *testing.T) {
	numbered := func(n int) iter.Seq2[maker.Record, error] {
		return func(yield func(maker.Record, error) bool) {
			for i := range n {
				if !yield(maker.Record{Line: i}, nil) {
					return
				}
			}
		}
	}
	places := func(others, announced int, known []maker.Record) (at []int) {
		next, n := 0, 0
		var seen []string
		for r, err := range Mix(numbered(others), announced, known) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Mixed {
				at, seen = append(at, n), append(seen, fmt.Sprint(r.Values["q"]))
			} else if r.Line != next {
				t.Fatalf("record %d of the table came when %d was due", r.Line, next)
			} else {
				next++
			}
			n++
		}
		if slices.Sort(seen); next != others || len(slices.Compact(seen)) != len(known) {
			t.Fatalf("%d of %d records and %d of %d known ones", next, others, len(seen), len(known))
		}
		return at
	}
	sum, runs := 0, 200
	for seed := range runs {
		known := []maker.Record{{Values: map[string]any{"q": "a", "seed": seed}, Mixed: true}, {Values: map[string]any{"q": "b", "seed": seed}, Mixed: true}, {Values: map[string]any{"q": "c", "seed": seed}, Mixed: true}}
		first := places(97, 97, known)
		if again := places(97, 97, known); !cmp.Equal(first, again) {
			t.Fatalf("the places are %v and then %v", first, again)
		}
		for _, at := range first {
			sum += at
		}
		places(97, 50, known) // the table grew after it was looked at
		places(97, 200, known)
	}
	// The mean of 600 places of 100 has a standard error of 1.2.
	if mean := float64(sum) / float64(3*runs); mean < 44 || mean > 55 {
		t.Errorf("the mean place of 100 is %.1f, want about 49.5", mean)
	}
}
