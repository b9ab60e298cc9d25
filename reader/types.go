package reader

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// An Enumeration is a type of strings that knows which ones there are. Its reader is
// [OneOf].
type Enumeration interface {
	Options() []string
}

// For returns the reader whose values are those of a Go type:
//
//   - a string is [Text], or [OneOf] if its type is an [Enumeration];
//   - a bool is [Bool], an integer or a float is a [Number], a time.Time a [Date];
//   - a slice is a [List];
//   - a struct is an [Object] of its exported fields, under their json names.
//
// A field may be missing if its type is a pointer or its json tag says omitempty or
// omitzero. Further tags are enum:"a,b,c", unit:"kg", tolerance:"0.5", match:"REGEXP",
// order:"any" for a slice, jsonschema:"DESCRIPTION", and vote:"-" for prose, which need
// not agree.
func For[T any]() (Reader, error) {
	r, err := forType(reflect.TypeFor[T](), 0)
	if err != nil {
		return nil, err
	}
	return r, r.Validate()
}

var (
	enumeration = reflect.TypeFor[Enumeration]()
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

// isTime reports whether a type is that of a point in time. Its package is not imported
// here: nothing that reads answers may know a clock.
func isTime(t reflect.Type) bool { return t.PkgPath() == "time" && t.Name() == "Time" }

func forType(t reflect.Type, depth int) (Reader, error) {
	const deepest = 20 // and of types that contain themselves there is no end
	switch {
	case depth > deepest:
		return nil, fmt.Errorf("reader: %v contains itself", t)
	case isTime(t):
		return Date{}, nil
	case t.Kind() == reflect.String && t.Implements(enumeration):
		return OneOf{reflect.Zero(t).Interface().(Enumeration).Options()}, nil
	case reflect.PointerTo(t).Implements(unmarshaler):
		return nil, fmt.Errorf("reader: %v reads itself, so that nobody knows what it looks like; say how it is read", t)
	}
	switch t.Kind() {
	case reflect.String:
		return Text{}, nil
	case reflect.Bool:
		return Bool{}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return integer(t), nil
	case reflect.Float32:
		return Number{Min: "-3.4028234e38", Max: "3.4028234e38"}, nil
	case reflect.Float64:
		return Number{Min: "-1.797693134862315e308", Max: "1.797693134862315e308"}, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil, fmt.Errorf("reader: it does not follow from %v how an answer is read; say how", t)
		}
		of, err := forType(t.Elem(), depth+1)
		return List{Of: of}, err
	case reflect.Struct:
		return forStruct(t, depth)
	default:
		return nil, fmt.Errorf("reader: it does not follow from %v how an answer is read; say how", t)
	}
}

// integer reads what an integer type can hold.
func integer(t reflect.Type) Number {
	n := Number{Integer: true, Min: "0", Max: json.Number(strconv.FormatUint(math.MaxUint64>>(64-t.Bits()), 10))}
	if zero := reflect.Zero(t); zero.CanInt() {
		n.Min = json.Number(strconv.FormatInt(math.MinInt64>>(64-t.Bits()), 10))
		n.Max = json.Number(strconv.FormatInt(math.MaxInt64>>(64-t.Bits()), 10))
	}
	return n
}

func forStruct(t reflect.Type, depth int) (Reader, error) {
	var o Object
	for i := range t.NumField() {
		f := t.Field(i)
		name, optional, ok := jsonName(f)
		if !ok {
			continue
		}
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			ft, optional = ft.Elem(), true
		}
		of, err := forType(ft, depth+1)
		if err == nil {
			of, err = tagged(of, f.Tag)
		}
		if err != nil {
			return nil, fmt.Errorf("reader: field %s: %s", f.Name, strings.TrimPrefix(err.Error(), "reader: "))
		}
		o.Fields = append(o.Fields, Field{
			Name: name, Of: of, Optional: optional, Prose: f.Tag.Get("vote") == "-", Description: f.Tag.Get("jsonschema"),
		})
	}
	return o, nil
}

// jsonName is what a field is called in JSON; false if it is no part of it.
func jsonName(f reflect.StructField) (name string, optional, ok bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.IsExported() || name == "-" && options == "" {
		return "", false, false
	}
	if name == "" {
		name = f.Name
	}
	return name, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero"), true
}

// tagged changes a reader by the tags of its field. Those of a slice are about its items.
func tagged(r Reader, tag reflect.StructTag) (Reader, error) {
	if l, ok := r.(List); ok {
		of, err := tagged(l.Of, reflect.StructTag(regexp.MustCompile(`order:"[^"]*"`).ReplaceAllString(string(tag), "")))
		switch order := tag.Get("order"); order {
		case "", "any":
			return List{Of: of, Unordered: order == "any"}, err
		default:
			return nil, fmt.Errorf(`the tag order:%q of a list, want order:"any"`, order)
		}
	}
	if list, ok := tag.Lookup("enum"); ok {
		if _, text := r.(Text); !text {
			return nil, fmt.Errorf("the tag enum is for strings")
		}
		options := strings.Split(list, ",")
		for i := range options {
			options[i] = strings.TrimSpace(options[i])
		}
		return OneOf{options}, nil
	}
	if pattern, ok := tag.Lookup("match"); ok {
		if _, text := r.(Text); !text {
			return nil, fmt.Errorf("the tag match is for strings")
		}
		return Regexp{pattern}, nil
	}
	n, isNumber := r.(Number)
	d, isDate := r.(Date)
	for _, name := range []string{"unit", "tolerance"} {
		if _, ok := tag.Lookup(name); ok && !isNumber {
			return nil, fmt.Errorf("the tag %s is for numbers", name)
		}
	}
	switch {
	case isNumber:
		n.Unit, n.Tolerance = tag.Get("unit"), json.Number(tag.Get("tolerance"))
		return n, nil
	case isDate:
		d.Order = tag.Get("order")
		return d, nil
	}
	return r, nil
}

// Decode reads a value that the reader of [For] has read into a Go value.
func Decode[T any](value json.RawMessage) (T, error) {
	var out T
	if err := json.Unmarshal(withTimes(value, reflect.TypeFor[T]()), &out); err != nil {
		return out, fmt.Errorf("reader: the answer %.80s is no %v: %w", value, reflect.TypeFor[T](), err)
	}
	return out, nil
}

// withTimes turns the dates of a value into points in time, where the type has those:
// the beginning of the day, UTC.
func withTimes(raw json.RawMessage, t reflect.Type) json.RawMessage {
	switch {
	case isTime(t):
		var date string
		if json.Unmarshal(raw, &date) == nil && len(date) == len("2006-01-02") {
			return encode(date + "T00:00:00Z")
		}
	case t.Kind() == reflect.Pointer:
		return withTimes(raw, t.Elem())
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil && items != nil {
			for i := range items {
				items[i] = withTimes(items[i], t.Elem())
			}
			return encode(items)
		}
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(unmarshaler):
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil || fields == nil {
			return raw
		}
		for i := range t.NumField() {
			if name, _, ok := jsonName(t.Field(i)); ok && len(fields[name]) > 0 {
				fields[name] = withTimes(fields[name], t.Field(i).Type)
			}
		}
		return encode(fields)
	}
	return raw
}
