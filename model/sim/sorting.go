package sim

import (
	"slices"
	"strconv"
	"strings"
)

// A list of whole numbers to sort.
type list []int64

// parseList reads [3, 1, 2], which takes up a line.
func parseList(line string) (list, bool) {
	line = strings.TrimRight(strings.TrimSpace(line), ".?")
	line, open := strings.CutPrefix(line, "[")
	line, closed := strings.CutSuffix(line, "]")
	if !open || !closed {
		return nil, false
	}
	l := list{}
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

func (l list) answer(buf []byte, d *decision) []byte {
	buf = d.appendRamble(buf)
	slices.Sort(l)
	switch d.quality {
	case malformed:
		switch d.form % 3 {
		case 0:
			return d.chat(buf, "They are in order now, smallest first.")
		case 1:
			buf = l.append(d.field(d.prose(buf, "Smallest first.\n"), true, "answer"))
			return buf[:len(buf)-1]
		default:
			return d.end(d.text(d.field(buf, true, "answer"), "smallest first"))
		}
	case wrong:
		l = l.rival(d)
	}
	buf = d.say(buf, len(l),
		"I put the smallest first and went on from there.\n",
		"Smallest first.\n",
		"In ascending order:\n")
	return d.end(l.append(d.field(buf, true, "answer")))
}

// rival returns a wrong order of the sorted list: two neighbours swapped, one
// number dropped, or one written twice. Equal numbers make some of these the
// same, so only the last of a row of equals counts.
func (l list) rival(d *decision) list {
	type slip struct{ kind, at int }
	const swap, drop, repeat = 0, 1, 2
	var slips []slip
	for i := range l {
		last := i == len(l)-1
		if !last && l[i] == l[i+1] {
			continue
		}
		if !last {
			slips = append(slips, slip{swap, i})
		}
		slips = append(slips, slip{drop, i}, slip{repeat, i})
	}
	if len(slips) == 0 { // of an empty list
		return list{int64(d.rival)}
	}
	s := slips[(d.step>>8+uint64(d.rival))%uint64(len(slips))]
	l = slices.Clone(l)
	switch s.kind {
	case swap:
		l[s.at], l[s.at+1] = l[s.at+1], l[s.at]
	case drop:
		l = slices.Delete(l, s.at, s.at+1)
	case repeat:
		l = slices.Insert(l, s.at, l[s.at])
	}
	return l
}

func (l list) append(buf []byte) []byte {
	buf = append(buf, '[')
	for i, n := range l {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = strconv.AppendInt(buf, n, 10)
	}
	return append(buf, ']')
}
