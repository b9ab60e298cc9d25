package yamlclean

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEncode(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`{"a":1,"b":"x y"}`, "a: 1\nb: x y"},
		{`{"b":{"c":[1,{"d":null,"e":true},[]]},"f":{}}`, "b:\n  c:\n    - 1\n    - d: null\n      e: true\n    - []\nf: {}"},
		{`[["a","b"],["c"]]`, "- - a\n  - b\n- - c"},
		{`"x"`, "x"},
		{`{"text":"one\ntwo\n","m":"no","v":"1.10","url":"https://x/y?z=1","e":""}`, "text: |\n  one\n  two\nm: \"no\"\nv: \"1.10\"\nurl: https://x/y?z=1\ne: \"\""},
		{`{"a b:":"- x","t":"a\tb"}`, "\"a b:\": \"- x\"\nt: \"a\\tb\""},
		{`{"m":12345678901234567890,"d":1.10}`, "m: 12345678901234567890\nd: 1.10"},
		{`{"l":["first\nsecond\n"]}`, "l:\n  - |\n    first\n    second\n"},
		{`{"l":["first\nsecond"]}`, "l:\n  - |-\n    first\n    second"},
	} {
		got, err := Encode(json.RawMessage(test.in))
		if err != nil || got != test.want {
			t.Errorf("Encode(%s) = %q, %v, want %q", test.in, got, err, test.want)
		}
	}
	long := strings.Repeat("word ", 20)
	for _, in := range []string{
		`[{"a":{"` + long + `":["` + long + `x",{"` + long + `":{"b":"` + long + `\n\n  x\n\n\ny"}}]}}]`,
		`{"` + strings.Repeat("x", 2000) + `":{"` + strings.Repeat("é", 2000) + `":1}}`,
	} {
		text, err := Encode(json.RawMessage(in))
		if err != nil {
			t.Fatalf("Encode(%s) = %v", in, err)
		}
		if got, err := JSON(text); err != nil || string(got) != in {
			t.Errorf("JSON(Encode(%s)) = %s, %v from\n%s", in, got, err, text)
		}
	}
	for _, in := range []string{``, `{`, `{"a":`, `[1,]`} {
		if got, err := Encode(json.RawMessage(in)); err == nil {
			t.Errorf("Encode(%s) = %q, want an error", in, got)
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, s := range []string{`{"a":"b: c # d"}`, `["|",">-","%","@x","- y","? z","\u2028","\ufeff","a\n b\n","\n","a\n\n"]`, `{"":"","<<":1,"=":2,"~":null}`, `"\ud83d\ude00 \u0007"`, `[1e5,-0,0.1,1E400]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) || len(data) > 4096 {
			return
		}
		// What is read as JSON is the value that has to come back.
		want, err := JSON(string(data))
		if err != nil {
			return
		}
		text, err := Encode(want)
		if err != nil {
			t.Fatalf("Encode(%s) = %v", want, err)
		}
		got, err := JSON(text)
		if err != nil {
			t.Fatalf("JSON(Encode(%s)) = %v in\n%s", want, err, text)
		}
		var a, b any
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil {
			return // numbers beyond what Go reads
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("Encode(%s) came back differently: -want +got\n%s\n%s", want, diff, text)
		}
	})
}
