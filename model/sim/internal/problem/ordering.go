package problem

import "slices"

// An Ordering is the problem to sort numbers, or to merge two lists of sorted ones.
type Ordering struct {
	numbers List
	with    List // what to merge the numbers with
	merge   bool
}

// sortable is how many numbers are sorted at a glance.
const sortable = 5

// String implements [Problem].
func (o Ordering) String() string {
	if o.merge {
		return "Merge: " + o.numbers.String() + " and " + o.with.String()
	}
	return "Sort: " + o.numbers.String()
}

// Sorted returns the numbers in order. Lists to merge are taken as they are: what
// is out of order in one of them stays so.
func (o Ordering) Sorted() List {
	if !o.merge {
		return slices.Sorted(slices.Values(o.numbers))
	}
	a, b := o.numbers, o.with
	merged := make(List, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return append(append(merged, a...), b...)
}

// Solution implements [Problem].
func (o Ordering) Solution(mistakes []Slip) (string, bool) {
	right := o.Sorted()
	l := right
	for _, m := range mistakes {
		l = l.Off(m)
	}
	if len(mistakes) > 0 && slices.Equal(l, right) { // they make up for each other
		l = l.Off(mistakes[0])
	}
	return l.String(), true
}

// Operations counts sorting a few numbers and merging two sorted lists.
func (o Ordering) Operations() int {
	if o.merge {
		return 1
	}
	return sortOperations(len(o.numbers))
}

func sortOperations(n int) int {
	if n <= sortable {
		return 1
	}
	return sortOperations(n-n/2) + sortOperations(n/2) + 1
}

const mergeThem = "merge the two sorted lists"

// Split implements [Problem]: the numbers in two halves.
func (o Ordering) Split(must bool) (Split, bool) {
	if o.merge {
		return o.splitMerge(must)
	}
	n := len(o.numbers)
	if n < 2 || n <= sortable && !must {
		return Split{}, false
	}
	half := (n + 1) / 2
	if slices.Equal(o.numbers[:half], o.numbers[half:]) {
		half++ // two parts that are the same are no split
	}
	if half == n {
		return Split{}, false
	}
	return Split{Ordering{numbers: o.numbers[:half]}, Ordering{numbers: o.numbers[half:]}, mergeThem}, true
}

// splitMerge splits both lists at a number in the middle.
func (o Ordering) splitMerge(must bool) (Split, bool) {
	all := o.Sorted()
	if !must || len(all) < 2 || !slices.IsSorted(o.numbers) || !slices.IsSorted(o.with) {
		return Split{}, false
	}
	middle := all[len(all)/2]
	i, _ := slices.BinarySearch(o.numbers, middle)
	j, _ := slices.BinarySearch(o.with, middle)
	if i+j == 0 {
		return Split{}, false
	}
	return Split{
		Ordering{numbers: o.numbers[:i], with: o.with[:j], merge: true},
		Ordering{numbers: o.numbers[i:], with: o.with[j:], merge: true},
		"append b to a",
	}, true
}

// Spoil makes a mistake in copying: the whole as a part, a number that is off by
// one, a number left out.
func (o Ordering) Spoil(s Split, mistake Slip) Split {
	b, _ := s.B.(Ordering)
	kind := mistake.Among(3)
	if len(b.numbers) == 0 {
		kind = 0
	}
	b.numbers = slices.Clone(b.numbers)
	switch kind {
	case 0:
		s.A = o
	case 1:
		b.numbers[mistake.Among(len(b.numbers))]++
	default:
		at := mistake.Among(len(b.numbers))
		b.numbers = slices.Delete(b.numbers, at, at+1)
	}
	s.B = b
	return s
}

// Confuse asks for the first few numbers alone.
func (o Ordering) Confuse() Problem {
	return Ordering{numbers: o.numbers[:min(2, len(o.numbers)/2)]}
}
