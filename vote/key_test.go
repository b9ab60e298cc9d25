package vote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/text/clip"
)

func TestCanonical(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"scalars", ` [true, false ,null,"a",1] `, `[true,false,null,"a",1]`},
		{"empty containers", `{ "b" : { } , "a" : [ ] }`, `{"a":[],"b":{}}`},
		{"sorted at every depth", `{"b":[{"d":1,"c":2}],"a":{"z":1,"y":2}}`, `{"a":{"y":2,"z":1},"b":[{"c":2,"d":1}]}`},
		{"sorted by bytes", `{"é":1,"z":2,"Z":3,"":4}`, `{"":4,"Z":3,"z":2,"é":1}`},
		{"arrays keep their order", `[3,1,2]`, `[3,1,2]`},
		{"numbers", `[1,1.0,1e0,10e-1,-0,0.50,1E2]`, `[1,1,1,1,0,0.5,100]`},
		{"large integers", `12345678901234567890123`, `12345678901234567890123`},
		{"huge exponents", `[1e999999999,-1E-999999999]`, `[1e999999999,-1e-999999999]`},
		{"text that looks like a number", `"1.0"`, `"1.0"`},
		{"white space in strings", `"  a \t\n b\u00a0\u2003c  "`, `"a b c"`},
		{"only white space", `" \n "`, `""`},
		{"white space in names", `{" a  b ":1}`, `{"a b":1}`},
		{"case counts", `"Yes"`, `"Yes"`},
		{"composed", `["e\u0301","\u00e9","\u212b"]`, `["é","é","Å"]`},
		{"composed names", `{"e\u0301":1}`, `{"é":1}`},
		{"escapes", `"\"\\\/\u0041\u0001\u001f\u007f<>&"`, `"\"\\/A\u0001\u001f` + "\x7f" + `<>&"`},
		{"surrogate pair", `"\ud83d\ude00"`, `"😀"`},
		{"replacement character", `"\ufffd"`, "\"\ufffd\""},
		{"line separators are white space", `"a\u2028\u2029b"`, `"a b"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkKey(t, test.in, KeyOptions{}, test.want)
		})
	}
}

func checkKey(t *testing.T, in string, o KeyOptions, want string) {
	t.Helper()
	got, err := Canonical(json.RawMessage(in), o)
	if err != nil || got != want {
		t.Errorf("Canonical(%s, %+v) = %s, %v, want %s", in, o, got, err, want)
		return
	}
	if again, err := Canonical(json.RawMessage(got), o); err != nil || again != got {
		t.Errorf("Canonical(%s, %+v) = %s, %v, want no change", got, o, again, err)
	}
}

func checkKeyError(t *testing.T, in string, o KeyOptions, want string) {
	t.Helper()
	got, err := Canonical(json.RawMessage(in), o)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Canonical(%s, %+v) = %s, %v, want an error with %q", clip.Short(in), o, clip.Short(got), err, want)
	}
}

func TestCanonicalKeepSpace(t *testing.T) {
	o := KeyOptions{KeepSpace: true}
	checkKey(t, `{" a":"if x:\n\ty \r\n"}`, o, `{" a":"if x:\n\ty \r\n"}`)
	checkKey(t, `"\u2000\b\f"`, o, "\"\u2002\\u0008\\u000c\"")
}

func TestCanonicalErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", ``, `unexpected end of JSON input`},
		{"only space", ` `, `unexpected end of JSON input`},
		{"trailing data", `1 2`, `invalid character '2' after top-level value`},
		{"two values", `{}{}`, `invalid character '{' after top-level value`},
		{"trailing comma in an array", `[1,]`, `invalid character ']' looking for beginning of value`},
		{"trailing comma in an object", `{"a":1,}`, `invalid character '}' looking for beginning of object key string`},
		{"no comma", `[1 2]`, `invalid character '2' after array element`},
		{"no comma in an object", `{"a":1 "b":2}`, `invalid character '"' after object key:value pair`},
		{"no colon", `{"a" 1}`, `invalid character '1' after object key`},
		{"unquoted name", `{a:1}`, `invalid character 'a' looking for beginning of object key string`},
		{"open array", `[1`, `unexpected end of JSON input`},
		{"open object", `{"a":1`, `unexpected end of JSON input`},
		{"open string", `"a`, `unexpected end of JSON input`},
		{"open escape", `"a\`, `invalid character ' ' in string escape code`},
		{"open escaped string", `"\n`, `unexpected end of JSON input`},
		{"open code", `"\u00`, `invalid character ' ' in \u hexadecimal character escape`},
		{"bad code", `"\u00g0"`, `invalid character 'g' in \u hexadecimal character escape`},
		{"bad escape", `"\x"`, `invalid character 'x' in string escape code`},
		{"raw newline", "\"a\nb\"", `invalid character '\n' in string literal`},
		{"raw newline after an escape", "\"\\t\n\"", `invalid character '\n' in string literal`},
		{"bad word", `nul`, `invalid character ' ' in literal null (expecting 'l')`},
		{"longer word", `nullx`, `invalid character 'x' after top-level value`},
		{"leading zero", `01`, `invalid character '1' after top-level value`},
		{"bare minus", `-`, `invalid character ' ' in numeric literal`},
		{"plus", `+1`, `invalid character '+' looking for beginning of value`},
		{"fraction without digits", `1.`, `invalid character ' ' after decimal point in numeric literal`},
		{"not a number", `NaN`, `invalid character 'N' looking for beginning of value`},
		{"null byte", "\x00", `invalid character '\x00' looking for beginning of value`},
		{"null byte at the end", "1\x00", `invalid character '\x00' after top-level value`},
		{"comment", `1 // one`, `invalid character '/' after top-level value`},
		{"exponent beyond measure", `1e99999999999999999999`, "out of range"},
		{"twice", `{"a":1,"b":2,"a":1}`, `the field "a" is there twice`},
		{"twice at depth", `[{"x":{"a":1,"a":2}}]`, `the field "a" is there twice`},
		{"twice in normal form", `{"e\u0301":1,"é":1}`, `is there twice`},
		{"twice but for space", `{"a":1," a":1}`, `is there twice`},
		{"not UTF-8", "\"a\xff\"", "not UTF-8"},
		{"not UTF-8 after an escape", "\"\\t\xc3\"", "not UTF-8"},
		{"overlong", "\"\xc0\xaf\"", "not UTF-8"},
		{"surrogate as bytes", "\"\xed\xa0\x80\"", "not UTF-8"},
		{"half a pair", `"\ud83d"`, "half a surrogate pair"},
		{"second half first", `"\ude00\ud83d"`, "half a surrogate pair"},
		{"half a pair and a letter", `"\ud83d\u0041"`, "half a surrogate pair"},
		{"too deep", strings.Repeat("[", MaxKeyDepth+1) + strings.Repeat("]", MaxKeyDepth+1), "nested more than"},
		{"too deep in objects", strings.Repeat(`{"a":`, MaxKeyDepth+1) + "1" + strings.Repeat("}", MaxKeyDepth+1), "nested more than"},
		{"too large", `"` + strings.Repeat("a", MaxKeyBytes) + `"`, "more than"},
		{"too large a key", "[1e20" + strings.Repeat(",1e20", MaxKeyBytes/5-1) + "]", "the key has"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkKeyError(t, test.in, KeyOptions{}, test.want)
		})
	}
}

func TestCanonicalAtTheLimits(t *testing.T) {
	deep := strings.Repeat("[", MaxKeyDepth) + strings.Repeat("]", MaxKeyDepth)
	large := `"` + strings.Repeat("a", MaxKeyBytes-2) + `"`
	for _, in := range []string{deep, large} {
		if got, err := Canonical(json.RawMessage(in), KeyOptions{}); err != nil || got != in {
			t.Errorf("Canonical(%s) = %s, %v, want no change", clip.Short(in), clip.Short(got), err)
		}
	}
}

func TestCanonicalVoteOn(t *testing.T) {
	const answer = `{"why":"because","move":[1,0,2],"next":{"state":[[2],[],[1]],"note":"x"},
		"items":[{"id":1,"price":5,"say":"a"},{"id":2,"price":7,"say":"b"}],"none":[],"a.b":{"*":1,"x":2,"\\":3}}`
	tests := []struct {
		voteOn []string
		want   string
	}{
		{[]string{"move"}, `{"move":[1,0,2]}`},
		{[]string{"move", "next.state"}, `{"move":[1,0,2],"next":{"state":[[2],[],[1]]}}`},
		{[]string{"next.state", "next"}, `{"next":{"note":"x","state":[[2],[],[1]]}}`},
		{[]string{"next", "next.state"}, `{"next":{"note":"x","state":[[2],[],[1]]}}`},
		{[]string{"items.*.price"}, `{"items":[{"price":5},{"price":7}]}`},
		{[]string{"items.*.price", "items.*.id"}, `{"items":[{"id":1,"price":5},{"id":2,"price":7}]}`},
		{[]string{"none.*.price"}, `{"none":[]}`},
		{[]string{"next.*"}, `{"next":{"note":"x","state":[[2],[],[1]]}}`},
		{[]string{`a\.b.\*`}, `{"a.b":{"*":1}}`},
		{[]string{`a\.b.\\`}, `{"a.b":{"\\":3}}`},
	}
	for _, test := range tests {
		checkKey(t, answer, KeyOptions{VoteOn: test.voteOn}, test.want)
	}
	checkKey(t, `[{"a":1,"b":2},{"a":3}]`, KeyOptions{VoteOn: []string{"*.a"}}, `[{"a":1},{"a":3}]`)
	checkKey(t, `{"e\u0301":1,"b":2}`, KeyOptions{VoteOn: []string{"é"}}, `{"é":1}`)
	checkKey(t, `{"a":null,"b":2}`, KeyOptions{VoteOn: []string{"a"}}, `{"a":null}`)

	missing := []struct{ path, want string }{
		{"result", `no field "result"`},
		{"next.result", `no field "next.result"`},
		{"next.state.a", `no field "next.state.a"`}, // an array has no names
		{"why.word", `no field "why.word"`},
		{"why.*", `no field "why.*"`},
		{"items.*.weight", `no field "items.0.weight" (vote_on "items.*.weight")`},
		{"*.state", `.state"`},
	}
	for _, test := range missing {
		checkKeyError(t, answer, KeyOptions{VoteOn: []string{"move", test.path}}, test.want)
	}
	checkKeyError(t, `5`, KeyOptions{VoteOn: []string{"a"}}, `no field "a"`)
	checkKeyError(t, `{"`+strings.Repeat("x", 999)+`":1}`, KeyOptions{VoteOn: []string{"*.a"}}, `xxx….a"`)
}

func TestCanonicalIgnore(t *testing.T) {
	const answer = `{"why":"because","items":[{"id":1,"say":"a"},{"id":2},3],"next":{"note":"x","n":1}}`
	tests := []struct {
		o    KeyOptions
		want string
	}{
		{KeyOptions{Ignore: []string{"why", "next"}}, `{"items":[{"id":1,"say":"a"},{"id":2},3]}`},
		{KeyOptions{Ignore: []string{"why", "items.*.say", "next.note"}}, `{"items":[{"id":1},{"id":2},3],"next":{"n":1}}`},
		{KeyOptions{Ignore: []string{"*"}}, `{}`},
		{KeyOptions{Ignore: []string{"items.*", "*.note", "why"}}, `{"items":[],"next":{"n":1}}`},
		{KeyOptions{Ignore: []string{"gone", "why.gone", "items.id", "next.n.gone", "why", "items", "next.note"}}, `{"next":{"n":1}}`},
		{KeyOptions{VoteOn: []string{"next"}, Ignore: []string{"next.note"}}, `{"next":{"n":1}}`},
		{KeyOptions{VoteOn: []string{"*"}, Ignore: []string{"why", "items"}}, `{"next":{"n":1,"note":"x"}}`},
	}
	for _, test := range tests {
		if err := test.o.Validate(); err != nil {
			t.Errorf("Validate(%+v) = %v, want no error", test.o, err)
		}
		checkKey(t, answer, test.o, test.want)
	}
	checkKey(t, `7`, KeyOptions{Ignore: []string{"a"}}, `7`)
}

func TestKeyOptionsValidate(t *testing.T) {
	tests := []struct {
		o    KeyOptions
		want string // in the error; empty if there is none
	}{
		{KeyOptions{}, ""},
		{KeyOptions{VoteOn: []string{"a.*.b", "c"}, Ignore: []string{"a.*.d", "e"}, Tolerance: "0.01", RelativeTolerance: "1e-9"}, ""},
		{KeyOptions{VoteOn: []string{""}}, "a name is empty"},
		{KeyOptions{VoteOn: []string{"a..b"}}, "a name is empty"},
		{KeyOptions{Ignore: []string{"a."}}, `ignore "a.": a name is empty`},
		{KeyOptions{Ignore: []string{`a\`}}, "a backslash goes before"},
		{KeyOptions{Ignore: []string{`\a`}}, "a backslash goes before"},
		{KeyOptions{VoteOn: []string{"a.b"}, Ignore: []string{"a"}}, `vote_on needs "a.b", but ignore "a" removes it`},
		{KeyOptions{VoteOn: []string{"a.b"}, Ignore: []string{"*"}}, "removes it"},
		{KeyOptions{VoteOn: []string{"a.b"}, Ignore: []string{"a.b"}}, "removes it"},
		{KeyOptions{VoteOn: []string{"a.*.x"}, Ignore: []string{"a.b.x"}}, "removes it"},
		{KeyOptions{VoteOn: []string{"a.*.x"}, Ignore: []string{"a.b"}}, ""},
		{KeyOptions{VoteOn: []string{"a"}, Ignore: []string{"a.b"}}, ""},
		{KeyOptions{VoteOn: []string{"a.b"}, Ignore: []string{"c.b"}}, ""},
		{KeyOptions{Tolerance: "a little"}, "tolerance: \"a little\" is not a number"},
		{KeyOptions{Tolerance: "-1"}, "tolerance -1 is negative"},
		{KeyOptions{RelativeTolerance: "-0.1"}, "relative_tolerance -0.1 is negative"},
		{KeyOptions{RelativeTolerance: "1"}, "want less than 1"},
	}
	for _, test := range tests {
		err := test.o.Validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("Validate(%+v) = %v, want %q", test.o, err, test.want)
		}
	}
	checkKeyError(t, `{}`, KeyOptions{VoteOn: []string{""}}, "a name is empty")
	checkKeyError(t, `{}`, KeyOptions{Ignore: []string{""}}, "a name is empty")
}

func TestKeyOptionsJSON(t *testing.T) {
	const text = `{"vote_on":["a"],"ignore":["b"],"keep_space":true,"tolerance":0.010,"relative_tolerance":1e-9}`
	var o KeyOptions
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(o); err != nil || string(got) != text {
		t.Errorf("Marshal(Unmarshal(%s)) = %s, %v, want no change", text, got, err)
	}
}

func TestShortKey(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 1000} {
		key := strings.Repeat("k", n)
		want := key
		if n > 64 {
			sum := sha256.Sum256([]byte(key))
			want = "sha256:" + hex.EncodeToString(sum[:])[:32]
		}
		if got := ShortKey(key); got != want {
			t.Errorf("ShortKey(%d bytes) = %q, want %q", n, got, want)
		}
		if again := ShortKey(ShortKey(key)); again != want {
			t.Errorf("ShortKey(ShortKey(%d bytes)) = %q, want %q", n, again, want)
		}
	}
	short, long := strings.Repeat("k", 64), strings.Repeat("k", 400)
	if got := testing.AllocsPerRun(100, func() { ShortKey(short) }); got != 0 {
		t.Errorf("ShortKey(short) allocates %v times, want 0", got)
	}
	if got := testing.AllocsPerRun(100, func() { ShortKey(long) }); got > 2 {
		t.Errorf("ShortKey(long) allocates %v times, want at most 2", got)
	}
}

func ExampleCanonical() {
	options := KeyOptions{VoteOn: []string{"move", "next_state"}}
	for _, answer := range []string{
		`{"move": [1, 0, 2], "next_state": [[2], [], [1]], "why": "the small disk goes first"}`,
		`{"next_state": [[2.0], [], [1]], "move": [1, 0, 2], "why": "it is the only move"}`,
	} {
		key, err := Canonical(json.RawMessage(answer), options)
		fmt.Println(key, err)
	}
	_, err := Canonical(json.RawMessage(`{"move": [1, 0, 2]}`), options)
	fmt.Println(err)
	// Output:
	// {"move":[1,0,2],"next_state":[[2],[],[1]]} <nil>
	// {"move":[1,0,2],"next_state":[[2],[],[1]]} <nil>
	// vote: the answer has no field "next_state" (vote_on "next_state")
}
