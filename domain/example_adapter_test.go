package domain_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
)

// words is an adapter for problems whose solution is a set of words, in any order
// and with anything between them.
type words struct{}

func (words) set(text string) []string {
	list := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
	list = slices.DeleteFunc(list, func(w string) bool { return w == "and" })
	slices.Sort(list)
	return slices.Compact(list)
}

// Equivalent decides which solutions vote for the same thing.
func (w words) Equivalent(a, b string) bool { return slices.Equal(w.set(a), w.set(b)) }

// Verify rejects a solution that cannot be right, here one with words that the
// problem does not have.
func (w words) Verify(problem, solution string) error {
	given := w.set(problem)
	for _, word := range w.set(solution) {
		if !slices.Contains(given, word) {
			return fmt.Errorf("words: %q is not among those of the problem", word)
		}
	}
	return nil
}

// Compose is an ability of its own: the union of two sets needs no model.
func (w words) Compose(problem, how string, a, b domain.Part) (string, bool) {
	if !strings.Contains(how, "union") {
		return "", false
	}
	return strings.Join(w.set(a.Solution+" "+b.Solution), ", "), true
}

// An adapter of your own takes two methods. Each further ability is a method of
// another small interface, which is found if it is there.
func ExampleAdapter() {
	var adapter domain.Adapter = words{}
	fmt.Println(adapter.Equivalent("Fig, apple and pear", "apple pear fig"))

	problem := "Which of these are fruits: apple, chair, fig, pear, table?"
	fmt.Println(adapter.Verify(problem, "apple, fig, pear"))
	fmt.Println(adapter.Verify(problem, "apple, fig, plum"))

	if c, ok := adapter.(domain.Composer); ok {
		fmt.Println(c.Compose(problem, "union of both", domain.Part{Solution: "fig, apple"}, domain.Part{Solution: "pear, fig"}))
	}
	// Output:
	// true
	// <nil>
	// words: "plum" is not among those of the problem
	// apple, fig, pear true
}
