package vote

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`{"a":1}`, `{"a":1}`},
		{" { \"a\" : [ 1 , -20,\n0 ] ,\t\"b\":{ } , \"c\":[ ]} ", `{"a":[1,-20,0],"b":{},"c":[]}`},
		{`[true, false, null, "", "a b", "x"]`, `[true,false,null,"","a b","x"]`},
		{`123456789012345`, `123456789012345`},
		{`{"":1,"A":2,"a":{"b":[{"c":[]}]}}`, `{"":1,"A":2,"a":{"b":[{"c":[]}]}}`},
	} {
		if got, ok := Plain(test.in); !ok || got != test.want {
			t.Errorf("Plain(%s) = %s, %t, want %s", test.in, got, ok, test.want)
		}
	}
	for _, in := range []string{
		``, ` `, `{`, `[`, `"`, `-`, `[1`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `1 2`, `tru`, `truex`, `nul`, `[1]]`, `1a`, `[1 2]`, `{"a" 1}`,
		`-0`, `00`, `01`, `-01`, `1.0`, `1e2`, `1234567890123456`, `+1`, `.5`,
		`{"b":1,"a":2}`, `{"a":1,"a":2}`,
		`" a"`, `"a "`, `"a  b"`, `" "`, "\"a\tb\"", `"\n"`, `"\u0041"`, `"é"`, "\"\xff\"", `{" a":1}`,
		strings.Repeat("[", 30) + strings.Repeat("]", 30),
	} {
		if got, ok := Plain(in); ok {
			t.Errorf("Plain(%s) = %s, want that it is not plain", in, got)
		}
	}
}

// FuzzPlain: what is plain has the key that it would have if it were not.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[true,null,"x y"]}`, ` [ -1 , 0 ] `, `{"a":1,"a":2}`, `"a  b"`, `-0`, "\"\x7f\"", `{"a":{"b":{}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, ok := Plain(in)
		if !ok {
			return
		}
		for _, o := range []KeyOptions{{}, {KeepSpace: true}} {
			if want, err := canonical(json.RawMessage(in), o); err != nil || got != want {
				t.Errorf("Plain(%q) = %q, want %q, %v", in, got, want, err)
			}
		}
	})
}
