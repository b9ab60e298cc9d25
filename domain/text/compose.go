package text

import (
	"math/big"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
)

// Compose puts two partial solutions together if how can mean one thing only:
//
//   - "concatenate", "append b to a", "join with a newline" and the like put the
//     second text, or list of numbers, after the first;
//   - "merge the sorted lists" merges two lists of numbers that really are sorted
//     in ascending order, or in descending order if how says so.
//
// Whether code may compose at all is up to the caller: what is made here is not
// voted on.
func (Adapter) Compose(problem, how string, a, b domain.Part) (string, bool) {
	instruction := strings.Join(words(how), " ")
	if strings.TrimSpace(a.Solution) == "" || strings.TrimSpace(b.Solution) == "" {
		return "", false
	}
	if descending, ok := merges(instruction); ok {
		return merge(a.Solution, b.Solution, descending)
	}
	separator, ok := concatenates(instruction)
	if !ok {
		return "", false
	}
	x, isListX := bracketed(a.Solution)
	y, isListY := bracketed(b.Solution)
	if isListX != isListY {
		return "", false
	}
	if isListX {
		return writeList(slices.Concat(x, y)), true
	}
	return a.Solution + separator + b.Solution, true
}

// fillers are words of an instruction that do not change what is done.
var fillers = []string{
	"the", "two", "both", "a", "b", "an", "and", "of", "in", "order", "results", "result", "parts", "part", "texts", "text", "strings", "lists",
	"list", "halves", "solutions", "answers", "outputs", "sublists", "them", "together", "into", "one", "single", "to", "get", "with", "by",
	"first", "second", "then",
}

// concatenates returns what comes between the parts, if they are put one after
// the other.
func concatenates(how string) (separator string, ok bool) {
	if how == "append b to a" || how == "a followed by b" {
		return "", true
	}
	verb, rest, _ := strings.Cut(how, " ")
	if !slices.Contains([]string{"concatenate", "concat", "concatenation", "join"}, verb) {
		return "", false
	}
	// The second part first, or the first one twice, is something else.
	if i, j := strings.Index(" "+rest+" ", " b "), strings.Index(" "+rest+" ", " a and b "); i >= 0 && j < 0 {
		return "", false
	}
	found := 0
	for w := range strings.FieldsSeq(rest) {
		switch w {
		case "newline", "newlines", "linebreak":
			separator = "\n"
		case "space", "spaces":
			separator = " "
		default:
			if !slices.Contains(fillers, w) {
				return "", false
			}
			continue
		}
		found++
	}
	// To join without a word about what comes between is not certain.
	return separator, found == 1 || found == 0 && verb != "join"
}

// merges reports whether how is the merging of sorted lists.
func merges(how string) (descending, ok bool) {
	verb, rest, _ := strings.Cut(how, " ")
	if verb != "merge" {
		return false, false
	}
	sorted := false
	for w := range strings.FieldsSeq(rest) {
		switch w {
		case "sorted", "ascending":
			sorted = true
		case "descending":
			sorted, descending = true, true
		case "keeping", "preserving", "maintaining", "numbers", "number", "merge", "merge-sort", "mergesort", "new", "from", "steps", "step":
		default:
			if !slices.Contains(fillers, w) {
				return false, false
			}
		}
	}
	return descending, sorted
}

// bracketed returns the numbers of a list in brackets.
func bracketed(text string) ([]string, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "[") {
		return nil, false
	}
	return numbers(text)
}

// merge merges two lists that are sorted, and none that are not.
func merge(a, b string, descending bool) (string, bool) {
	x, ok := listOf(a)
	if !ok {
		return "", false
	}
	y, ok := listOf(b)
	if !ok {
		return "", false
	}
	after := func(p, q item) bool {
		if descending {
			return p.value.Cmp(q.value) < 0
		}
		return p.value.Cmp(q.value) > 0
	}
	for _, list := range [][]item{x, y} {
		for i := 1; i < len(list); i++ {
			if after(list[i-1], list[i]) {
				return "", false
			}
		}
	}
	var out []string
	for len(x) > 0 || len(y) > 0 {
		if len(y) == 0 || len(x) > 0 && !after(x[0], y[0]) {
			out = append(out, x[0].text)
			x = x[1:]
		} else {
			out = append(out, y[0].text)
			y = y[1:]
		}
	}
	return writeList(out), true
}

// An item is a number as it was written, and its value.
type item struct {
	text  string
	value *big.Rat
}

// listOf reads a list of numbers; one alone is a list too.
func listOf(text string) ([]item, bool) {
	text = strings.TrimRight(strings.TrimSpace(text), ".")
	texts, ok := numbers(text)
	if !ok && number.MatchString(text) && len(text) <= 1000 {
		texts, ok = []string{text}, true
	}
	if !ok {
		return nil, false
	}
	var out []item
	for _, t := range texts {
		value, ok := new(big.Rat).SetString(t)
		if !ok {
			return nil, false
		}
		out = append(out, item{t, value})
	}
	return out, true
}

func writeList(items []string) string { return "[" + strings.Join(items, ", ") + "]" }
