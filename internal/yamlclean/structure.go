package yamlclean

// A container is a list or a mapping of a document, as far as its indentation
// tells.
type container struct {
	column  int
	list    bool
	entries []*entry
}

// A place is the innermost containers of an entry: the mapping that its key is
// in, and the list that its dash is in.
type place struct{ mapping, list *container }

// containers finds the lists and mappings that entries form, in the order in
// which they begin, and the place of each entry.
func containers(entries []*entry) ([]*container, map[*entry]place) {
	var all, open []*container
	places := make(map[*entry]place, len(entries))
	enter := func(e *entry, column int, list bool) *container {
		for len(open) > 0 {
			top := open[len(open)-1]
			if top.column < column || top.column == column && (top.list == list || list) {
				break
			}
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			if top := open[len(open)-1]; top.column == column && top.list == list {
				top.entries = append(top.entries, e)
				return top
			}
		}
		c := &container{column: column, list: list, entries: []*entry{e}}
		all = append(all, c)
		open = append(open, c)
		return c
	}
	for _, e := range entries {
		var p place
		if e.isItem() {
			// Dashes in a row are rare enough to be taken for one list.
			p.list = enter(e, e.dash, true)
		}
		if e.isKey() {
			p.mapping = enter(e, e.keyAt, false)
		}
		places[e] = p
	}
	return all, places
}
