package script

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// library is what the library makes of a text, written again.
func library(t *testing.T, text string) (starlark.Value, string, bool) {
	t.Helper()
	thread := new(starlark.Thread)
	v, err := starlark.Call(thread, decodeJSON, starlark.Tuple{starlark.String(text)}, nil)
	if err != nil {
		return nil, "", false
	}
	out, err := starlark.Call(thread, encodeJSON, starlark.Tuple{v}, nil)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v, string(out.(starlark.String)), true
}

// FuzzPlainData: plain data is written and read as the library does.
func FuzzPlainData(f *testing.F) {
	for _, seed := range []string{
		`{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ` { "b" : 1 , "a" : [ true, false ,null ] } `, `{"a":1,"a":2}`, `"x\n"`, `"é"`, `-0`, `007`, `1e3`, `12-3`,
		`999999999999999999`, `9999999999999999999`, `[1,]`, `{"a"}`, `tru`, `"`, `""`, `[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]`, "\"\x7f\"", `{"a b":"~!#"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, written, valid := library(t, text)
		got, ok := readPlain(text)
		if ok {
			if !valid {
				t.Fatalf("readPlain(%q) = %s, and the library refuses it", text, got)
			}
			if same, err := starlark.EqualDepth(got, want, 2*maxPlainDepth); err != nil || !same || got.String() != want.String() {
				t.Fatalf("readPlain(%q) = %s, want %s", text, got, want)
			}
		}
		if !valid {
			return
		}
		if b, ok := appendPlain(nil, want, 0); ok && string(b) != written {
			t.Errorf("appendPlain(%s) = %s, want %s", want, b, written)
		}
	})
}

func TestPlainData(t *testing.T) {
	const text = `{"a":[1,-2,"x y",{"b":null}],"c":true,"d":false}`
	v, ok := readPlain(text)
	if !ok {
		t.Fatalf("readPlain(%s) = false", text)
	}
	if got, ok := appendPlain(nil, v, 0); !ok || string(got) != text {
		t.Errorf("appendPlain(%s) = %s, %t", v, got, ok)
	}
	if got, ok := appendPlain(nil, starlark.Tuple{starlark.MakeInt(1), starlark.String("a")}, 0); !ok || string(got) != `[1,"a"]` {
		t.Errorf("appendPlain of a tuple = %s, %t", got, ok)
	}
	cycle := starlark.NewList(nil)
	if err := cycle.Append(cycle); err != nil {
		t.Fatal(err)
	}
	numbered := new(starlark.Dict)
	if err := numbered.SetKey(starlark.MakeInt(1), starlark.None); err != nil {
		t.Fatal(err)
	}
	for _, v := range []starlark.Value{
		cycle, numbered, starlark.Float(1), starlark.MakeInt(1).Mul(starlark.MakeInt64(1 << 62)).Mul(starlark.MakeInt(4)), starlark.String("a\n"), starlark.String(`\`), starlark.NewSet(0),
		starlark.NewList([]starlark.Value{starlark.String(strings.Repeat("a", maxPlain)), starlark.None}),
	} {
		if b, ok := appendPlain(nil, v, 0); ok {
			t.Errorf("appendPlain(%s) = %s, want that it is left to the library", v.Type(), b)
		}
	}
}
