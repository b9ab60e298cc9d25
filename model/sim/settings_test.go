package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/maker-mdap/maker/usage"
)

func TestParse(t *testing.T) {
	const full = "sim/default?p=0.9978&malformed=0.032&overlong=0.01:3000&rivals=3&hard=0.001:0.7&load=2.5&rho=0.2&own=0.3&latency=40ms,1&f429=0.2&f529=0.01&f500=0.02&hang=0.03&cut=0.04&garbage=0.05&retry_after=2s&seed=7&price=1,5.5&script=a/b%26c.yaml&refuse=temperature+schema+n&cache=on"
	want := Settings{P: 0.9978, Malformed: 0.032, Overlong: 0.01, OverlongTokens: 3000, Rivals: 3, HardShare: 0.001, HardP: 0.7, Load: 2.5, Rho: 0.2, Own: 0.3,
		Latency: 40 * time.Millisecond, Sigma: 1, F429: 0.2, F529: 0.01, F500: 0.02, Hang: 0.03, Cut: 0.04, Garbage: 0.05,
		RetryAfter: 2 * time.Second, Seed: 7, PriceIn: 1, PriceOut: 5.5, Script: "a/b&c.yaml", Refuse: Temperature | Schema | Choices, Cache: true}
	got, err := Parse(full)
	if err != nil || got != want {
		t.Errorf("Parse(%q) = %+v, %v, want %+v", full, got, err, want)
	}
	if s := got.String(); s != full {
		t.Errorf("String() = %q, want %q", s, full)
	}
	for _, test := range []struct{ name, want string }{
		{"", "sim/default"},
		{"default", "sim/default"},
		{"sim/", "sim/default"},
		{"sim/default?", "sim/default"},
		{"sim/default?p=0.99&rivals=1&load=4&rho=0&own=0&seed=0&price=0.4,1.6", "sim/default"},
		{"?seed=3&p=1e-1", "sim/default?p=0.1&seed=3"},
		{"default?latency=40ms", "sim/default?latency=40ms"},
		{"default?overlong=0.5", "sim/default?overlong=0.5"},
		{"default?refuse=n,max_tokens,object,n&cache=off", "sim/default?refuse=max_tokens+object+n"},
		{"default?refuse=&cache=on", "sim/default?cache=on"},
		{"default?load=0", "sim/default?load=0"},
		{"default?retry_after=0", "sim/default?retry_after=0s"},
		{"default?f429=0.7&f529=0.2&f500=0.1", "sim/default?f429=0.7&f529=0.2&f500=0.1"},
	} {
		got, err := Parse(test.name)
		if err != nil || got.String() != test.want {
			t.Errorf("Parse(%q) = %s, %v, want %s", test.name, got, err, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"sim/gpt", `no simulated model is called "gpt"; there is sim/default`},
		{"default?q=1", `there is no setting "q"; there are p, malformed, overlong, rivals, hard, load, rho, own, latency, f429, f529, f500, hang, cut, garbage, retry_after, seed, price, script, refuse, cache`},
		{"default?p=1.1", "setting p=1.1: out of range; want a number from 0 to 1"},
		{"default?p=NaN", "setting p=NaN: out of range"},
		{"default?load=101", "setting load=101: out of range; want a number from 0 to 100"},
		{"default?p", "setting p=: not a number"},
		{"default?p=1&p=0", `setting "p" is given twice`},
		{"default?rivals=0", "setting rivals=0: out of range 1 to 1000"},
		{"default?rivals=one", "setting rivals=one: not a whole number"},
		{"default?hard=0.1", "setting hard=0.1: the colon is missing; want SHARE:P"},
		{"default?hard=0.1:2", "setting hard=0.1:2: out of range"},
		{"default?latency=40", "setting latency=40: not a duration; want MEDIAN"},
		{"default?latency=40ms,x", "setting latency=40ms,x: not a number"},
		{"default?latency=-1s", "setting latency=-1s: out of range"},
		{"default?retry_after=2h", "setting retry_after=2h: out of range"},
		{"default?seed=-1", "setting seed=-1: not a whole number"},
		{"default?price=1", "setting price=1: the comma is missing"},
		{"default?overlong=0.1:x", "setting overlong=0.1:x: not a whole number"},
		{"default?script=%zz", "setting script=%zz: "},
		{"default?refuse=top_p", `setting refuse=top_p: "top_p" cannot be refused; want some of temperature+max_tokens+schema+object+n`},
		{"default?cache=yes", "setting cache=yes: neither on nor off; want on or off"},
		{"default?malformed=0.6&overlong=0.5", "malformed and overlong add up to 1.1"},
		{"default?f429=0.6&hang=0.5", "fault rates"},
	} {
		_, err := Parse(test.name)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q) = %v, want an error with %q", test.name, err, test.want)
		}
	}
	if _, err := New(Settings{}); err == nil {
		t.Error("New(Settings{}) succeeds, want an error")
	}
}

func TestCostUSD(t *testing.T) {
	got := Default().CostUSD(usage.Tokens{Input: 1_000_000, CacheRead: 500_000, Output: 100_000, Reasoning: 400_000})
	if want := 1.5*0.4 + 0.5*1.6; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("CostUSD = %v, want %v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("sim/default?p=0.9978&malformed=0.032&rivals=1&hard=0.001:0.7&rho=0&own=0.5&latency=40ms,1.0&f429=0.2&seed=7")
	f.Add("default?overlong=0.1:2000&price=1,2&retry_after=2s&script=%20x&refuse=n,schema&cache=on")
	f.Fuzz(func(t *testing.T, name string) {
		s, err := Parse(name)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || again != s {
			t.Errorf("Parse(%q) = %+v, but Parse(%q) = %+v, %v", name, s, s, again, err)
		}
	})
}
