package domain

import (
	"slices"
	"strings"

	"github.com/maker-mdap/maker/flow"
)

// A Variation is one question in several framings: voters who were shown other examples,
// or the same things in another order, err in other ways. Vary puts it.
type Variation struct {
	// Examples are sets of worked examples, one of which stands at the beginning of each
	// framing. Several sets are what gains most where a model learns the task from them.
	Examples []string

	// Parts are what the question consists of. They stand in another order in each
	// framing, so none of them may refer to "the above".
	Parts []string

	// Last is the part that stays at the end, such as the question itself.
	Last string
}

// maxOrders is how many framings are made of parts alone.
const maxOrders = 5

// Vary has q asked in the framings of v, the plain one first: the first examples, and the
// parts as they are given.
func Vary(q *flow.Question, v Variation) {
	orders := rotations(v.Parts)
	n := max(len(v.Examples), min(len(orders), maxOrders))
	var texts []string
	for i := range n {
		var parts []string
		if len(v.Examples) > 0 {
			parts = append(parts, v.Examples[i%len(v.Examples)])
		}
		parts = append(append(parts, orders[i%len(orders)]...), v.Last)
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		if text := strings.Join(parts, "\n\n"); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	q.Prompt, q.Variants = texts[0], nil
	if len(texts) > 1 {
		q.Variants = texts
	}
}

// rotations are the orders of parts in which each of them is first once, and then the
// same backwards.
func rotations(parts []string) [][]string {
	orders := [][]string{slices.Clone(parts)}
	for i := 1; i < len(parts); i++ {
		orders = append(orders, slices.Concat(parts[i:], parts[:i]))
	}
	if len(parts) > 2 {
		for _, o := range slices.Clone(orders) {
			back := slices.Clone(o)
			slices.Reverse(back)
			orders = append(orders, back)
		}
	}
	return orders
}
