package event

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// FieldNames are the names that the fields of events have in a log, and those of the
// given values: what a log cannot do without.
func FieldNames(more ...any) []string {
	names := map[string]bool{"$value": true}
	seen := map[reflect.Type]bool{}
	for _, v := range append(more, Header{}) {
		namesOf(reflect.TypeOf(v), names, seen)
	}
	for _, decode := range decoders {
		if e, err := decode([]byte("{}")); err == nil {
			namesOf(reflect.TypeOf(e), names, seen)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// namesOf adds the names of the fields of a type, and of those of the types in it.
func namesOf(t reflect.Type, names map[string]bool, seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		namesOf(t.Elem(), names, seen)
		return
	case reflect.Struct:
	default:
		return
	}
	if seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names[name] = true
		}
		namesOf(f.Type, names, seen)
	}
}
