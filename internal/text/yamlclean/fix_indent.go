package yamlclean

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxOff is how many columns a line may be off its place.
const maxOff = 2

// A level is a list or a mapping that is open where a line begins.
type level struct {
	node   *yaml.Node
	column int
	list   bool
}

// openLevels returns the levels that are open after a text, the outermost first.
func openLevels(root *yaml.Node) []level {
	var levels []level
	for n := root; n != nil && len(n.Content) > 0 && n.Style&yaml.FlowStyle == 0; n = n.Content[len(n.Content)-1] {
		levels = append(levels, level{n, n.Column - 1, n.Kind == yaml.SequenceNode})
	}
	return levels
}

// last returns the last value of a level.
func (l *level) last() *yaml.Node { return l.node.Content[len(l.node.Content)-1] }

// beforeLast returns the value before the last one, nil if there is none.
func (l *level) beforeLast() *yaml.Node {
	step := 2
	if l.list {
		step = 1
	}
	if i := len(l.node.Content) - 1 - step; i >= 0 {
		return l.node.Content[i]
	}
	return nil
}

// has reports whether a mapping has a key.
func (l *level) has(key string) bool {
	key = strings.Trim(key, `"'`)
	for i := 0; i < len(l.node.Content); i += 2 {
		if l.node.Content[i].Value == key {
			return true
		}
	}
	return false
}

func isEmpty(n *yaml.Node) bool { return n.Tag == tagNull && n.Value == "" }

// fixIndentation moves an item or a key that is a space or two off to the column
// of the list or mapping that it belongs to, if there is only one.
func fixIndentation(d *damage) [][]string {
	t := d.lines[d.at]
	h := headOf(t)
	levels := openLevels(d.before)
	if !d.syntax || len(levels) == 0 || h.dash < 0 && !nameLike(h.key) || fits(h, levels) {
		return nil
	}
	column, ok := d.target(h, levels)
	if !ok {
		return nil
	}
	return [][]string{d.move(h, column)}
}

// fits reports whether a line is where one may be.
func fits(h head, levels []level) bool {
	item := h.dash >= 0
	deepest := levels[len(levels)-1]
	child := isEmpty(deepest.last())
	for i := len(levels) - 1; i >= 0; i-- {
		switch l := levels[i]; {
		case l.column > h.indent:
		case l.column == h.indent && l.list == item:
			return true
		case l.column == h.indent && l.list:
			// A mapping may go on after a list that is not indented.
		default:
			return child && l == deepest
		}
	}
	return false
}

// target returns the column to which a line must move: that of the nearest level
// that it can belong to, if there is only one.
func (d *damage) target(h head, levels []level) (int, bool) {
	if d.unclear(h, levels) {
		return 0, false
	}
	best, off := -1, maxOff+1
	for i, l := range levels {
		if l.list != (h.dash >= 0) || !l.list && l.has(h.key) {
			continue
		}
		inItem := i > 0 && levels[i-1].list && levels[i-1].last() == l.node
		if inItem && levels[i-1].column == h.indent && d.goesOn(h.indent, true) {
			return l.column, true // a key below the dash of its item
		}
		n := max(l.column-h.indent, h.indent-l.column)
		switch {
		case n > off || !l.list && d.strange(h, l.column):
		case n == off:
			best = -1
		case l.list || inItem || len(l.node.Content) > 2 || d.goesOn(l.column, false):
			best, off = l.column, n
		default:
			best, off = -1, n // the only key of that mapping may be off instead
		}
	}
	return best, best >= 0
}

// unclear reports whether the line before may be the one that is off: without it
// this one would be in its place. It also does if the line could be text.
func (d *damage) unclear(h head, levels []level) bool {
	for _, l := range levels {
		before := l.beforeLast()
		if before == nil || h.indent <= l.column {
			continue
		}
		if isEmpty(before) || slices.ContainsFunc(openLevels(before), func(o level) bool { return o.column == h.indent }) {
			return true
		}
	}
	deepest := levels[len(levels)-1]
	last := deepest.last()
	continues := last.Kind == yaml.ScalarNode && last.Style == 0 && last.Tag == tagStr && h.indent > deepest.column
	return continues && (h.dash >= 0 || h.indent > deepest.column+1) && d.keyCount(h.key) < 2
}

// strange reports whether a key is found in other lines, but never in this column.
func (d *damage) strange(h head, column int) bool {
	others, here := 0, 0
	for i, t := range d.lines {
		if i == d.at || !strings.Contains(t, h.key) {
			continue
		}
		if other := headOf(t); other.key == h.key {
			others++
			if other.keyAt == column {
				here++
			}
		}
	}
	return others > 0 && here == 0
}

// goesOn reports whether the list or mapping in this column has another item or key
// after the damage.
func (d *damage) goesOn(column int, list bool) bool {
	for _, t := range d.lines[d.at+1:] {
		h := headOf(t)
		switch {
		case isBlank(t) || h.indent > column:
		case h.indent < column:
			return false
		case list && h.dash >= 0 || !list && h.keyAt == column:
			return true
		}
	}
	return false
}

// move moves a line to a column, and with it the lines that must stay indented
// more than it.
func (d *damage) move(h head, column int) []string {
	last := d.bodyEnd(d.at, h.indent)
	for i := d.at + 1; i <= last; i++ {
		if other := headOf(d.lines[i]); other.dash >= 0 && other.indent == column {
			last = i - 1 // the next item
		}
	}
	moved := slices.Clone(d.lines[d.at : last+1])
	moved[0] = strings.Repeat(" ", column) + moved[0][h.indent:]
	if last > d.at {
		body := indentOf(d.after(d.at))
		if h.opensItem() && body == h.keyAt || body <= column {
			for i := range moved[1:] {
				moved[i+1] = shift(moved[i+1], column-h.indent)
			}
		}
	}
	return d.with(d.at, last, moved...)
}

// shift moves a line to the right, or to the left if by is negative.
func shift(t string, by int) string {
	if by > 0 && !isBlank(t) {
		return strings.Repeat(" ", by) + t
	}
	return t[min(max(-by, 0), indentOf(t)):]
}
