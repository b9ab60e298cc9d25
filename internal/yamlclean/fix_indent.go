package yamlclean

import (
	"slices"
	"strings"
)

// maxOff is how many columns a line may be off its place.
const maxOff = 2

// fixIndentation moves items and keys that are a space or two off to the column
// of the list or mapping that they belong to, if there is only one.
func fixIndentation(d document) document {
	if len(scan(d)) == 0 {
		return nil
	}
	a := aligner{scanner: newScanner(slices.Clone(d)), keys: map[string]int{}}
	for _, l := range d {
		a.keys[leadingKey(l.text)]++
	}
	for i := 0; i < len(d); {
		if noEntry(a.doc[i].text) {
			i++
			continue
		}
		e := a.next(i)
		if target, ok := a.target(e); ok && a.moved <= maxEdits {
			a.move(e, target)
			e = a.next(i)
		}
		a.enter(e)
		a.before = e
		i = e.last + 1
	}
	if a.moved == 0 || a.moved > maxEdits {
		return nil
	}
	return a.doc
}

// leadingKey returns the key of a line, also of one that begins with dashes.
func leadingKey(t string) string {
	t = strings.TrimLeft(t, " ")
	for strings.HasPrefix(t, "- ") {
		t = strings.TrimLeft(t[1:], " ")
	}
	return keyOf(t)
}

// An aligner goes through a document and keeps track of what is open.
type aligner struct {
	*scanner
	levels []level
	shifts []shift
	keys   map[string]int // how often each key begins a line
	moved  int
}

// A level is a list or a mapping that is open.
type level struct {
	column int
	list   bool
	keys   map[string]bool
}

// A shift says that lines at one column belong to another one.
type shift struct {
	from, to int
	list     bool
}

// next returns the entry at a line. A line that looks like a key, and that is
// indented as if it continued the text before, is not taken for text.
func (a *aligner) next(i int) *entry {
	e := a.entry(i)
	if e.style != plain || e.oneLine() || !e.isKey() {
		return e
	}
	for j := e.first + 1; j <= e.last; j++ {
		if a.strayKey(e, a.doc[j].text) {
			for e.last = j - 1; strings.TrimSpace(a.doc[e.last].text) == ""; {
				e.last--
			}
			break
		}
	}
	return e
}

// strayKey reports whether a further line of a plain scalar is a key that is
// indented too far. One column is a slip; two could be a text with a colon,
// unless the key is also found elsewhere or the scalar is no text.
func (a *aligner) strayKey(e *entry, t string) bool {
	key := leadingKey(t)
	if !nameLike(key) {
		return false
	}
	if a.keys[key] > 1 {
		return true
	}
	off := indentOf(t) - e.keyAt
	isText := plainTag(e.text(a.doc)) == tagStr
	return t[indentOf(t)] != '-' && (off == 1 || off <= maxOff && !isText)
}

// enter opens and closes levels for an entry that is in its place.
func (a *aligner) enter(e *entry) {
	if !e.isItem() && !e.isKey() {
		return
	}
	a.shifts = slices.DeleteFunc(a.shifts, func(s shift) bool { return e.indent < min(s.from, s.to) })
	if e.isItem() {
		a.open(e.indent, true)
		if e.dash != e.indent {
			a.open(e.dash, true)
		}
	}
	if e.isKey() {
		a.open(e.keyAt, false)
		a.levels[len(a.levels)-1].keys[e.key] = true
	}
}

func (a *aligner) open(column int, list bool) {
	for len(a.levels) > 0 {
		top := a.levels[len(a.levels)-1]
		if top.column < column || top.column == column && list && !top.list {
			break
		}
		if top.column == column && top.list == list {
			return
		}
		a.levels = a.levels[:len(a.levels)-1]
	}
	a.levels = append(a.levels, level{column, list, map[string]bool{}})
}

// fits reports whether an entry is where one may be.
func (a *aligner) fits(e *entry) bool {
	if len(a.levels) == 0 {
		return true
	}
	child := a.before != nil && a.before.style == empty
	for i := len(a.levels) - 1; i >= 0; i-- {
		switch l := a.levels[i]; {
		case l.column > e.indent:
		case l.column == e.indent && l.list == e.isItem():
			return true
		case l.column == e.indent && l.list:
			// A mapping may go on after a list that is not indented.
		case l.column == e.indent:
			return child && a.before.keyAt == e.indent
		default:
			return child && a.before.parent == l.column
		}
	}
	return false
}

// target returns the column to which an entry must move.
func (a *aligner) target(e *entry) (int, bool) {
	if !e.isItem() && !nameLike(e.key) {
		return 0, false
	}
	for _, s := range a.shifts {
		if s.from == e.indent && s.list == e.isItem() {
			return s.to, true
		}
	}
	if a.fits(e) || !a.sure(e) {
		return 0, false
	}
	var columns []int
	aligned := -1 // the mapping of the item whose dash is in this column
	for i, l := range a.levels {
		if l.list && l.column == e.indent && i+1 < len(a.levels) && !e.isItem() {
			aligned = a.levels[i+1].column
		}
		off := l.column - e.indent
		if l.list == e.isItem() && -maxOff <= off && off <= maxOff && !l.keys[e.key] {
			columns = append(columns, l.column)
		}
	}
	if b := a.before; e.isItem() && b.isKey() && b.style == empty && b.keyAt > e.indent && b.keyAt-e.indent <= maxOff {
		columns = append(columns, b.keyAt) // the first item of a list
	}
	return nearest(columns, e.indent, aligned)
}

// sure reports whether an entry cannot be text that belongs to the one before.
func (a *aligner) sure(e *entry) bool {
	if a.before.style != block || e.indent <= a.before.parent {
		return true
	}
	return a.keys[leadingKey(a.doc[e.first].text)] > 1
}

// nearest returns the column that is nearest. If two are, it is the preferred
// one.
func nearest(columns []int, to, preferred int) (int, bool) {
	best, ties := -1, 0
	for _, c := range columns {
		switch d, least := distance(c, to), distance(best, to); {
		case best < 0 || d < least:
			best, ties = c, 0
		case d == least && c != best:
			ties++
		}
	}
	if ties > 0 {
		best = preferred
		return best, slices.Contains(columns, best)
	}
	return best, best >= 0
}

func distance(a, b int) int { return max(a-b, b-a) }

// move moves an entry to a column, and with it the lines that must stay indented
// more than it.
func (a *aligner) move(e *entry, column int) {
	a.moved++
	a.shifts = append(a.shifts, shift{e.indent, column, e.isItem()})
	by := column - e.indent
	from, to := e.first+1, e.last
	if e.isItem() {
		to = a.lastOfItem(e, column)
	}
	a.indent(e.first, by)
	next := from
	for next <= to && strings.TrimSpace(a.doc[next].text) == "" {
		next++
	}
	if next > to {
		return
	}
	body := indentOf(a.doc[next].text)
	if e.isItem() && (e.isKey() && body != e.keyAt || !e.isKey() && body > column) || !e.isItem() && body > column {
		return // it stands where it should
	}
	for i := from; i <= to; i++ {
		a.indent(i, by)
	}
}

// lastOfItem returns the last line that belongs to an item that will move.
func (a *aligner) lastOfItem(e *entry, column int) int {
	last := e.first
	for i := e.first + 1; i < len(a.doc); i++ {
		t := a.doc[i].text
		if strings.TrimSpace(t) == "" {
			continue
		}
		n := indentOf(t)
		if n <= e.indent || n == column && strings.HasPrefix(t[n:], "-") && blankAt(t, n+1) {
			break
		}
		last = i
	}
	return last
}

// indent moves a line to the right, or to the left if by is negative.
func (a *aligner) indent(i, by int) {
	t := a.doc[i].text
	switch {
	case strings.TrimSpace(t) == "":
	case by > 0:
		t = strings.Repeat(" ", by) + t
	default:
		t = t[min(-by, indentOf(t)):]
	}
	a.doc[i].text = t
}
