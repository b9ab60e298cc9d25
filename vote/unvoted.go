package vote

import (
	"encoding/json"
	"slices"
	"strings"
)

// Unvoted lists what of an answer is no part of its key, as paths: what nobody has
// agreed on although the answer won. It is empty for an answer that has no key.
func Unvoted(raw json.RawMessage, o KeyOptions) []string {
	all, err := parse(string(raw), o.KeepSpace)
	if err != nil {
		return nil
	}
	key, err := Canonical(raw, o)
	if err != nil {
		return nil
	}
	counted, err := parse(key, o.KeepSpace)
	if err != nil {
		return nil
	}
	return all.beyond(counted, "", nil)
}

// beyond appends the paths of what n has and counted, a part of it, has not.
func (n *node) beyond(counted *node, at string, paths []string) []string {
	add := func(path string) {
		if !slices.Contains(paths, path) { // the elements of a list share theirs
			paths = append(paths, path)
		}
	}
	switch n.kind {
	case objectNode:
		for i := range n.kids {
			path := at + escapeName(n.kids[i].name)
			if j, ok := counted.field(n.kids[i].name); ok {
				paths = n.kids[i].beyond(&counted.kids[j], path+".", paths)
			} else {
				add(path)
			}
		}
	case arrayNode:
		if len(counted.kids) < len(n.kids) { // a path leads to all elements or to none
			add(at + "*")
			break
		}
		for i := range n.kids {
			paths = n.kids[i].beyond(&counted.kids[i], at+"*.", paths)
		}
	}
	return paths
}

// escapeName writes a name as a part of a path.
func escapeName(name string) string {
	name = strings.NewReplacer(`\`, `\\`, `.`, `\.`).Replace(name)
	if name == "*" {
		return `\*`
	}
	return name
}
