package problem

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An Ordering is the problem to sort numbers, or to merge two lists of sorted ones.
type Ordering struct {
	numbers []int64
	with    []int64 // what to merge the numbers with
	merge   bool
}

// sortable is how many numbers are sorted at a glance.
const sortable = 5

var (
	orderForm = regexp.MustCompile(`(?is)^(?:please\s+)?(?:sort|(merge))\b([^\[\]\d]*)(\[[-\d,\s]*\])(?:\s*(?:and|with|,)[^\[\]\d]*(\[[-\d,\s]*\]))?(.*)$`)

	otherOrder = regexp.MustCompile(`(?i)\b(?:descending|decreasing|reverse|backwards|largest|highest|by)\b`)

	// What may follow a list and adds nothing.
	ascending = regexp.MustCompile(`(?i)^\s*,?\s*(?:in (?:ascending|increasing|rising|numerical) order|from smallest to largest|smallest first|numerically)?[\s.!?]*$`)
)

func readOrdering(text string) Problem {
	m := orderForm.FindStringSubmatch(text)
	if m == nil || otherOrder.MatchString(m[2]) || !ascending.MatchString(m[5]) || (m[1] == "") != (m[4] == "") {
		return nil
	}
	numbers, ok := readList(m[3])
	with, also := readList(m[4])
	if !ok || m[4] != "" && !also {
		return nil
	}
	return Ordering{numbers, with, m[4] != ""}
}

// readList reads [3, 1, 2].
func readList(text string) ([]int64, bool) {
	var l []int64
	ok := strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &l) == nil
	return l, ok
}

func listText(l []int64) string { return strings.Join(strings.Fields(fmt.Sprint(l)), ", ") }

// String implements [Problem].
func (o Ordering) String() string {
	if o.merge {
		return "Merge: " + listText(o.numbers) + " and " + listText(o.with)
	}
	return "Sort: " + listText(o.numbers)
}

// sorted returns the numbers in order. Lists to merge are taken as they are: what
// is out of order in one of them stays so.
func (o Ordering) sorted() []int64 {
	if !o.merge {
		return slices.Sorted(slices.Values(o.numbers))
	}
	a, b := o.numbers, o.with
	var merged []int64
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return slices.Concat(merged, a, b)
}

// Solution implements [Problem].
func (o Ordering) Solution(mistakes []Slip) (string, bool) {
	return listText(erring(o.sorted(), mistakes, outOfOrder, slices.Equal)), true
}

// outOfOrder returns a wrong order of the sorted list: two neighbours swapped, one
// number dropped, or one written twice. Equal numbers make some of these the
// same, so only the last of a row of equals counts.
func outOfOrder(l []int64, s Slip) []int64 {
	type mistake struct {
		at, old int
		now     []int64 // in the place of the old ones
	}
	var all []mistake
	for i, n := range l {
		last := i == len(l)-1
		if !last && n == l[i+1] {
			continue
		}
		if !last {
			all = append(all, mistake{i, 2, []int64{l[i+1], n}})
		}
		all = append(all, mistake{i, 1, nil}, mistake{i, 1, []int64{n, n}})
	}
	if len(all) == 0 { // of an empty list
		return []int64{int64(s.Rival)}
	}
	m := all[s.Among(len(all))]
	return slices.Replace(slices.Clone(l), m.at, m.at+m.old, m.now...)
}

// Operations counts sorting a few numbers and merging two sorted lists.
func (o Ordering) Operations() int {
	n := len(o.numbers)
	if o.merge || n <= sortable {
		return 1
	}
	a, b := Ordering{numbers: o.numbers[n/2:]}, Ordering{numbers: o.numbers[:n/2]}
	return a.Operations() + b.Operations() + 1
}

// Split implements [Problem]: the numbers in two halves. What is to be merged is not
// split: it is how parts are put together, not one of them.
func (o Ordering) Split(must bool) (Split, bool) {
	n := len(o.numbers)
	half := (n + 1) / 2
	if slices.Equal(o.numbers[:half], o.numbers[half:]) {
		half++ // two parts that are the same are no split
	}
	if o.merge || n < 2 || n <= sortable && !must || half == n {
		return Split{}, false
	}
	return Split{Ordering{numbers: o.numbers[:half]}.String(), Ordering{numbers: o.numbers[half:]}.String(), "merge the two sorted lists"}, true
}
