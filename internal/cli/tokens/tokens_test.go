package tokens

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/maker-mdap/maker/internal/server/access"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestOrder(t *testing.T) {
	until := now.Add(30 * 24 * time.Hour)
	tests := []struct {
		o       order
		limited bool
		want    access.Token
		wrong   string // a part of the error
	}{
		{o: order{name: "ci", scope: "write"}, want: access.Token{Name: "ci", Scope: access.Write}},
		{o: order{name: "ci", scope: "answer", runs: "all", maxUSD: 2, expires: "30d"}, limited: true,
			want: access.Token{Name: "ci", Scope: access.Answer, AllRuns: true, Expires: &until, Budget: &access.Budget{MaxUSD: 2}}},
		{o: order{name: "board", scope: "read"}, want: access.Token{Name: "board", Scope: access.Read, AllRuns: true}},
		{o: order{scope: "read"}, wrong: "--name: "},
		{o: order{name: "a/b", scope: "read"}, wrong: "--name: "},
		{o: order{name: "ci"}, wrong: "--scope: say what"},
		{o: order{name: "ci", scope: "wrte"}, wrong: "did you mean write?"},
		{o: order{name: "ci", scope: "read", runs: "own"}, wrong: "--runs: a token that only reads"},
		{o: order{name: "ci", scope: "write", runs: "some"}, wrong: "--runs: "},
		{o: order{name: "ci", scope: "write"}, limited: true, wrong: "--max-usd: 0"},
		{o: order{name: "ci", scope: "write", maxUSD: -1}, limited: true, wrong: "--max-usd: -1"},
		{o: order{name: "ci", scope: "read", maxUSD: 1}, limited: true, wrong: "--max-usd: a token that only reads"},
		{o: order{name: "ci", scope: "read", expires: "yesterday"}, wrong: "--expires: "},
	}
	for _, test := range tests {
		got, err := test.o.token(test.limited, now)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("token(%+v) = %v, want %q", test.o, err, test.wrong)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("token(%+v) = %v, -want +got\n%s", test.o, err, diff)
		}
	}
}

func TestChoose(t *testing.T) {
	a, b := access.At{URL: "http://127.0.0.1:7433"}, access.At{URL: "https://m.example.org:8443"}
	tests := []struct {
		running []access.At
		meant   string
		want    access.At
		wrong   string
	}{
		{[]access.At{a}, "", a, ""},
		{[]access.At{a, b}, "8443", b, ""},
		{[]access.At{a, b}, "http://127.0.0.1:7433/", a, ""},
		{[]access.At{a, b}, "m.example.org:8443", b, ""},
		{nil, "", access.At{}, "start one: maker serve"},
		{[]access.At{a, b}, "", access.At{}, "several servers run"},
		{[]access.At{a, b}, "433", access.At{}, `no server is "433"`},
	}
	for _, test := range tests {
		got, err := choose(test.running, test.meant)
		if diff := cmp.Diff(test.want, got, cmpopts.IgnoreUnexported(access.At{})); diff != "" {
			t.Errorf("choose(%q): -want +got\n%s", test.meant, diff)
		}
		if test.wrong == "" && err != nil || test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("choose(%q) = %v, want %q", test.meant, err, test.wrong)
		}
	}
}
