package vote

import (
	"encoding/json"
	"strings"
)

// Meaning splits a key for a comparison by meaning: into what has to be the same to the
// letter, and the texts that have to say the same. The paths name the latter; without any
// they are all strings. The texts are empty if there are none.
//
// A key is JSON, or a word and JSON. Of any other key everything has to be the same.
func Meaning(key string, paths []string) (exact, texts string) {
	word, value := "", key
	if !json.Valid([]byte(key)) {
		var ok bool
		if word, value, ok = strings.Cut(key, " "); !ok || !json.Valid([]byte(value)) {
			return key, ""
		}
		word += " "
	}
	rest, err := parse(value, true)
	if err != nil {
		return key, ""
	}
	if len(paths) == 0 {
		if rest.takeStrings() == 0 {
			return key, ""
		}
		return word + string(rest.appendTo(nil)), value
	}
	said, err := parse(value, true)
	if err != nil {
		return key, ""
	}
	o := KeyOptions{Ignore: paths, KeepSpace: true}
	_, ignore, err := o.paths()
	if err != nil {
		return key, ""
	}
	for _, p := range ignore {
		said.mark(p) // what is missing is just not there
		rest.remove(p)
	}
	said.prune()
	if len(said.kids) == 0 {
		return key, ""
	}
	return word + string(rest.appendTo(nil)), string(said.appendTo(nil))
}

// takeStrings blanks the strings in n and returns how many there are.
func (n *node) takeStrings() int {
	count := 0
	if n.kind == stringNode {
		n.text = ""
		count++
	}
	for i := range n.kids {
		count += n.kids[i].takeStrings()
	}
	return count
}
