package script

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
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

// TestAsked: what is hashed for the key of a question is what it always was, so that answers
// of earlier releases are found.
func TestAsked(t *testing.T) {
	format := flow.Format{Reader: "read_json", Params: json.RawMessage(`{"schema":{"title":"<a>"}}`)}
	encoded, err := json.Marshal(format)
	if err != nil {
		t.Fatal(err)
	}
	var room []byte
	for _, prompt := range []string{"plain", "two\nlines \"quoted\" \\", "tab\there", "é <b> & c", "bad \xff", ""} {
		for _, q := range []*flow.Question{
			{Answer: format},
			{Answer: format, Model: "sim/<x>", Meaning: &flow.Meaning{}},
			{Answer: format, Work: &flow.Work{Tools: []string{"Read", "Write"}}},
			{Answer: format, Work: &flow.Work{}},
		} {
			var tools []string
			if q.Work != nil {
				tools = q.Work.Tools
			}
			want, err := json.Marshal([]any{prompt, q.Answer, q.Meaning != nil, q.Model, tools})
			if err != nil {
				t.Fatal(err)
			}
			if room, err = asked(room, prompt, q, &prepared{encoded: encoded}); err != nil || string(room) != string(want) {
				t.Errorf("asked(%q) = %s, %v, want %s", prompt, room, err, want)
			}
		}
	}
}

// TestReadersAreThoseOfTheMoment: what stands outside of functions is prepared once; what a
// function makes is looked at each time, though it is the same mapping or list.
func TestReadersAreThoseOfTheMoment(t *testing.T) {
	const text = `
OPTIONS = ["a", "b"]

def turn(n):
    ask("say a!", one_of = OPTIONS)
    mine = ["a", "d"]
    ask("say a!", one_of = mine)
    mine.append("c")
    ask("say a!", one_of = mine)
    return n + 1

def main():
    return chain(0, turn, times = 2)
`
	f := newFake(echo)
	if end, ok := f.run(t, text, nil).(event.TaskCompleted); !ok || string(end.Output.JSON) != "2" {
		t.Fatalf("it ended with %+v", end)
	}
	var got []string
	for _, prompt := range f.journal.asked {
		_, instruction, _ := strings.Cut(prompt, "say a!")
		got = append(got, strings.TrimSpace(instruction))
	}
	if len(got) != 6 || got[0] == got[1] || got[1] == got[2] || got[0] == got[2] || !slices.Equal(got[:3], got[3:]) {
		t.Errorf("the questions of two turns ask for %q, want three kinds of answers twice", got)
	}
}
