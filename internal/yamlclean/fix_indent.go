package yamlclean

import (
	"cmp"
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
	a := aligner{scanner: newScanner(slices.Clone(d)), keys: map[string]int{}, homes: map[home]int{}}
	for _, l := range d {
		key := leadingKey(l.text)
		a.keys[key]++
		a.homes[home{key, keyColumn(l.text)}]++
	}
	for i := 0; i < len(d); {
		if noEntry(a.doc[i].text) {
			i++
			continue
		}
		e := a.next(i)
		target, ok := a.target(e)
		switch {
		case a.unclear(e, ok) || a.moved > maxEdits:
			return nil
		case ok:
			a.move(e, target)
			e = a.next(i)
			a.stray = e
		default:
			a.forget(e)
			a.stray = nil
		}
		a.childless = a.before != nil && a.before.style == empty && e.indent <= a.before.indent
		a.enter(e)
		a.before = e
		i = e.last + 1
	}
	if a.moved == 0 {
		return nil
	}
	return a.doc
}

// leadingKey returns the key of a line, also of one that begins with dashes.
func leadingKey(t string) string { return keyOf(t[keyColumn(t):]) }

// keyColumn returns where a line begins but for dashes.
func keyColumn(t string) int {
	at := indentOf(t)
	for strings.HasPrefix(t[at:], "- ") {
		at = skipBlanks(t, at+1)
	}
	return at
}

// An aligner goes through a document and keeps track of what is open.
type aligner struct {
	*scanner
	levels []level
	shifts []shift
	keys   map[string]int // how often each key begins a line
	homes  map[home]int   // and in which column
	moved  int
	stray  *entry // the entry before, if it was moved

	closed    []closure
	childless bool // the entry before stands where a value of the one before it could
}

// A home is a column in which a key is found.
type home struct {
	key    string
	column int
}

// A level is a list or a mapping that is open.
type level struct {
	column int
	list   bool
	item   bool // the mapping begins behind a dash
	keys   map[string]bool
}

// A closure says that an entry at one column closed the level at another one.
type closure struct{ column, by int }

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

// forget ends shifts at an entry that is in its place.
func (a *aligner) forget(e *entry) {
	a.shifts = slices.DeleteFunc(a.shifts, func(s shift) bool { return e.indent <= s.to })
}

// unclear reports whether an entry could as well belong elsewhere:
//   - below the one before, which was moved and has no value yet;
//   - to a level that was closed by an entry which is off itself;
//   - below the one before that, if the one before is off.
func (a *aligner) unclear(e *entry, moves bool) bool {
	if a.stray != nil && a.stray.style == empty && len(a.shifts) > 0 {
		s := a.shifts[len(a.shifts)-1]
		if e.indent == s.from && s.from > s.to || s.from < e.indent && e.indent <= s.to {
			return true
		}
	}
	off := func(c closure) bool { return c.column == e.indent && c.by < e.indent }
	return moves && (slices.ContainsFunc(a.closed, off) || a.childless && e.indent > a.before.indent)
}

// enter opens and closes levels for an entry that is in its place.
func (a *aligner) enter(e *entry) {
	if !e.isItem() && !e.isKey() {
		return
	}
	if e != a.stray {
		a.closed = slices.DeleteFunc(a.closed, func(c closure) bool { return e.indent <= c.by })
	}
	if e.isItem() {
		a.open(e.indent, true, e.indent)
		if e.dash != e.indent {
			a.open(e.dash, true, e.indent)
		}
	}
	if e.isKey() {
		a.open(e.keyAt, false, e.indent)
		top := &a.levels[len(a.levels)-1]
		top.item = top.item || e.isItem()
		top.keys[e.key] = true
	}
}

func (a *aligner) open(column int, list bool, by int) {
	for len(a.levels) > 0 {
		top := a.levels[len(a.levels)-1]
		if top.column < column || top.column == column && list && !top.list {
			break
		}
		if top.column == column && top.list == list {
			return
		}
		a.closed = append(a.closed, closure{top.column, by})
		a.levels = a.levels[:len(a.levels)-1]
	}
	a.levels = append(a.levels, level{column: column, list: list, keys: map[string]bool{}})
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
	var near []candidate
	for i, l := range a.levels {
		if off := distance(l.column, e.indent); l.list == e.isItem() && off <= maxOff {
			// A key below the dash of its item, and always so, is a known slip.
			below := i > 0 && a.levels[i-1].list && a.levels[i-1].column == e.indent && a.keys[e.key] > 1 && a.homes[home{e.key, e.indent}] == a.keys[e.key]
			if fit := a.fit(e, l, below); fit != misfit {
				near = append(near, candidate{l.column, off, fit})
			}
		}
	}
	if b := a.before; e.isItem() && b.isKey() && b.style == empty && b.keyAt > e.indent && b.keyAt-e.indent <= maxOff {
		near = append(near, candidate{b.keyAt, b.keyAt - e.indent, certain}) // the first item of a list
	}
	return nearest(near)
}

// A candidate is a column that an entry may belong to.
type candidate struct{ column, off, fit int }

const (
	misfit = iota
	possible
	certain
)

// nearest returns the nearest column, if there is only one and it is certain.
func nearest(all []candidate) (int, bool) {
	if len(all) == 0 {
		return 0, false
	}
	best := slices.MinFunc(all, func(a, b candidate) int { return cmp.Compare(a.off, b.off) })
	for _, c := range all {
		if c.off == best.off && c.column != best.column {
			return 0, false
		}
	}
	return best.column, best.fit == certain
}

// fit tells whether an entry can belong to a level. A key cannot if it is there
// already, or if it is always found in other columns. If a mapping has but one
// key, that one may be off instead.
func (a *aligner) fit(e *entry, l level, below bool) int {
	switch {
	case e.isItem():
		return certain
	case l.keys[e.key]:
		return misfit
	case a.keys[e.key] > 1 && a.homes[home{e.key, l.column}] == 0 && !below:
		return misfit
	case l.item || len(l.keys) > 1:
		return certain
	}
	const most = 1000
	for _, next := range a.doc[e.last+1 : min(e.last+1+most, len(a.doc))] {
		if n := indentOf(next.text); !noEntry(next.text) && n <= l.column {
			if n == l.column && keyOf(next.text) != "" {
				return certain
			}
			break
		}
	}
	return possible
}

// sure reports whether an entry cannot be text that belongs to the one before.
func (a *aligner) sure(e *entry) bool {
	if a.before.style != block || e.indent <= a.before.parent {
		return true
	}
	return a.keys[leadingKey(a.doc[e.first].text)] > 1
}

func distance(a, b int) int { return max(a-b, b-a) }

// move moves an entry to a column, and with it the lines that must stay indented
// more than it.
func (a *aligner) move(e *entry, column int) {
	a.moved++
	if s := (shift{e.indent, column, e.isItem()}); !slices.Contains(a.shifts, s) {
		a.shifts = append(a.shifts, s)
	}
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
	right := body > column
	if e.isItem() && e.isKey() {
		right = body != e.keyAt // a member of the item's mapping moves with it
	}
	if right {
		return
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
