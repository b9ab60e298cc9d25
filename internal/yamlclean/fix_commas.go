package yamlclean

import "strings"

// fixTrailingCommas removes the commas between the members of what is JSON but
// for its brackets:
//
//	"name": "Ann",
//	"age": 36
//
// A comma after a quoted value cannot be YAML. One after a plain value would be
// part of it, so all members but the last must have one.
func fixTrailingCommas(d document) document {
	edit := editor{from: d}
	all, _ := containers(scan(d))
	for _, c := range all {
		if !commaSeparated(d, c) || edit.full() {
			continue
		}
		for _, e := range c.entries {
			switch t := d[e.last].text; commaAfter(d, e) {
			case afterValue:
				edit.replace(e.last, e.last, t[:e.end])
			case inValue:
				edit.replace(e.last, e.last, strings.TrimSuffix(strings.TrimRight(t, " \t"), ","))
			}
		}
	}
	return edit.result()
}

// commaSeparated reports whether a comma after a quoted or flow value shows that
// the entries of a container are separated by commas, and nothing speaks against
// it.
func commaSeparated(d document, c *container) bool {
	sure := false
	for i, e := range c.entries {
		switch commaAfter(d, e) {
		case afterValue:
			sure = true
		case noComma:
			if i < len(c.entries)-1 {
				return false
			}
		}
	}
	return sure
}

type commaPlace int

const (
	noComma    commaPlace = iota
	afterValue            // where none can be
	inValue               // of a plain scalar
	noPlace               // the entry has no value on its line
)

func commaAfter(d document, e *entry) commaPlace {
	switch e.style {
	case quote, flow:
		if e.end >= 0 && e.rest(d) == "," {
			return afterValue
		}
	case plain:
		if e.oneLine() && strings.HasSuffix(e.text(d), ",") {
			return inValue
		}
	case empty, block:
		return noPlace
	}
	return noComma
}
