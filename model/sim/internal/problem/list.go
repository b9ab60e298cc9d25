package problem

import (
	"slices"
	"strconv"
	"strings"
)

// A List is whole numbers to sort.
type List []int64

// ParseList reads [3, 1, 2], which takes up a line.
func ParseList(line string) (List, bool) {
	line = strings.TrimRight(strings.TrimSpace(line), ".?")
	line, open := strings.CutPrefix(line, "[")
	line, closed := strings.CutSuffix(line, "]")
	if !open || !closed {
		return nil, false
	}
	l := List{}
	if strings.TrimSpace(line) == "" {
		return l, true
	}
	for word := range strings.SplitSeq(line, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
		if err != nil {
			return nil, false
		}
		l = append(l, n)
	}
	return l, true
}

// Off returns a wrong order of the sorted list: two neighbours swapped, one
// number dropped, or one written twice. Equal numbers make some of these the
// same, so only the last of a row of equals counts.
func (l List) Off(s Slip) List {
	type mistake struct{ kind, at int }
	const swap, drop, repeat = 0, 1, 2
	var all []mistake
	for i := range l {
		last := i == len(l)-1
		if !last && l[i] == l[i+1] {
			continue
		}
		if !last {
			all = append(all, mistake{swap, i})
		}
		all = append(all, mistake{drop, i}, mistake{repeat, i})
	}
	if len(all) == 0 { // of an empty list
		return List{int64(s.Rival)}
	}
	m := all[s.Among(len(all))]
	l = slices.Clone(l)
	switch m.kind {
	case swap:
		l[m.at], l[m.at+1] = l[m.at+1], l[m.at]
	case drop:
		l = slices.Delete(l, m.at, m.at+1)
	case repeat:
		l = slices.Insert(l, m.at, l[m.at])
	}
	return l
}

// String writes the list as ParseList reads it.
func (l List) String() string { return string(l.Append(nil)) }

// Append does the same to a buffer.
func (l List) Append(buf []byte) []byte {
	buf = append(buf, '[')
	for i, n := range l {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = strconv.AppendInt(buf, n, 10)
	}
	return append(buf, ']')
}
