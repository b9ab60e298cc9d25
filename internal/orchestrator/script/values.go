package script

import (
	"encoding/json"
	"fmt"
	"slices"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"

	"github.com/maker-mdap/maker/event"
)

var (
	encodeJSON = starlarkjson.Module.Members["encode"]
	decodeJSON = starlarkjson.Module.Members["decode"]
)

// toJSON is a value as data, the keys of mappings sorted.
func toJSON(t *starlark.Thread, v starlark.Value) (json.RawMessage, error) {
	if b, ok := appendPlain(make([]byte, 0, 128), v, 0); ok {
		return b, charge(t, int64(len(b)))
	}
	n, err := printedLen(v)
	if err == nil {
		err = charge(t, n)
	}
	if err != nil {
		return nil, err
	}
	out, err := starlark.Call(t, encodeJSON, starlark.Tuple{v}, nil)
	if err != nil {
		return nil, fmt.Errorf("this is not data: %w", cause(err))
	}
	s, _ := starlark.AsString(out)
	return json.RawMessage(s), nil
}

// fromJSON is data as a value. Who gave the data has read it as JSON before.
func fromJSON(t *starlark.Thread, data json.RawMessage) (starlark.Value, error) {
	if len(data) == 0 {
		return starlark.None, nil
	}
	if err := charge(t, elementBytes*int64(len(data))/4); err != nil {
		return nil, err
	}
	if v, ok := readPlain(string(data)); ok {
		return v, nil
	}
	v, err := starlark.Call(t, decodeJSON, starlark.Tuple{starlark.String(data)}, nil)
	return v, cause(err)
}

// cause is what went wrong, without the calls on the way there.
func cause(err error) error {
	if e, ok := err.(*starlark.EvalError); ok {
		return e.Unwrap()
	}
	return err
}

// orNone is a value that may not be given.
func orNone(v starlark.Value) starlark.Value {
	if v == nil {
		return starlark.None
	}
	return v
}

// texts is a list of strings.
func texts(v starlark.Value) ([]string, error) {
	list := []string{}
	i, ok := v.(starlark.Iterable)
	if !ok {
		return nil, fmt.Errorf("got %s, want a list of strings", v.Type())
	}
	for e := range starlark.Elements(i) {
		s, ok := starlark.AsString(e)
		if !ok {
			return nil, fmt.Errorf("got a list with a %s, want strings", e.Type())
		}
		list = append(list, s)
	}
	return list, nil
}

// arguments are what the script was started with, as the attributes of one value.
type arguments map[string]string

var _ starlark.HasAttrs = arguments(nil)

func (a arguments) String() string      { return fmt.Sprintf("args%q", a.AttrNames()) }
func (arguments) Type() string          { return "args" }
func (arguments) Freeze()               {}
func (arguments) Truth() starlark.Bool  { return starlark.True }
func (arguments) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: args") }
func (a arguments) AttrNames() []string { return sortedKeys(a) }
func (a arguments) Attr(name string) (starlark.Value, error) {
	v, ok := a[name]
	if !ok {
		return nil, starlark.NoSuchAttrError(fmt.Sprintf("args has no %s: %s%s=…", name, event.NoArgument, name))
	}
	return starlark.String(v), nil
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// maxShared is how deeply what is shared between branches may be nested.
const maxShared = 10_000

// freeze makes a value that branches will share unchangeable. Freezing follows it as deep as
// it goes, so that is looked at before.
func freeze(v starlark.Value) error {
	seen := map[starlark.Value]bool{}
	var walk func(v starlark.Value, depth int) error
	walk = func(v starlark.Value, depth int) error {
		if depth > maxShared {
			return fmt.Errorf("this is nested more than %d deep", maxShared)
		}
		var inner []starlark.Value
		switch v := v.(type) {
		case *starlark.List:
			if seen[v] {
				return nil
			}
			seen[v] = true
			for e := range starlark.Elements(v) {
				inner = append(inner, e)
			}
		case *starlark.Dict:
			if seen[v] {
				return nil
			}
			seen[v] = true
			for _, e := range starlark.Entries(v) {
				inner = append(inner, e)
			}
		case *starlark.Function:
			if seen[v] {
				return nil
			}
			seen[v] = true
			for i := range v.NumFreeVars() {
				_, free := v.FreeVar(i)
				inner = append(inner, free)
			}
			for i := range v.NumParams() {
				if d := v.ParamDefault(i); d != nil {
					inner = append(inner, d)
				}
			}
		case starlark.Tuple:
			inner = v
		}
		for _, e := range inner {
			if err := walk(e, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(v, 0); err != nil {
		return err
	}
	v.Freeze()
	return nil
}
