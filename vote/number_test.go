package vote

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

func mustDecimal(t testing.TB, s string) decimal {
	t.Helper()
	d, err := parseDecimal(s)
	if err != nil {
		t.Fatalf("parseDecimal(%q) = %v", s, err)
	}
	return d
}

func TestDecimalNormalForm(t *testing.T) {
	tests := []struct{ in, want string }{
		{"1", "1"},
		{"1.0", "1"},
		{"1e0", "1"},
		{"10e-1", "1"},
		{"0.001E+3", "1"},
		{"0", "0"},
		{"-0", "0"},
		{"-0.000e99", "0"},
		{"0e99999999999999999999999", "0"},
		{"-1.50", "-1.5"},
		{"1000000", "1000000"},
		{"1e6", "1000000"},
		{"1e20", "100000000000000000000"},
		{"1e21", "1e21"},
		{"1000000000000000000000", "1e21"},
		{"123e21", "1.23e23"},
		{"0.1", "0.1"},
		{"0.000001", "0.000001"},
		{"0.0000001", "1e-7"},
		{"-0.00000012", "-1.2e-7"},
		{"0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"},
		{"9007199254740993", "9007199254740993"},
		{"-123456789012345678901234567890123456789", "-123456789012345678901234567890123456789"},
		{"1e999999999", "1e999999999"},
		{"10e999999998", "1e999999999"},
		{"1.5e-999999999", "1.5e-999999999"},
		{"1e1000000000000000", "1e1000000000000000"},
		{"1e00000000000000000000000000005", "100000"},
	}
	for _, test := range tests {
		d := mustDecimal(t, test.in)
		if got := d.String(); got != test.want {
			t.Errorf("parseDecimal(%q) = %s, want %s", test.in, got, test.want)
		}
		if got, err := normalNumber(test.in); err != nil || got != test.want {
			t.Errorf("normalNumber(%q) = %s, %v, want %s", test.in, got, err, test.want)
		}
		if again := mustDecimal(t, test.want); again != d {
			t.Errorf("parseDecimal(%q) = %+v, want %+v", test.want, again, d)
		}
	}
}

func TestDecimalErrors(t *testing.T) {
	for _, in := range []string{
		"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x10", "1_000", "NaN", "Infinity", " 1", "1 ", "--1", "1e1.5",
		"1e10000000000000000000000", "1e-10000000000000000000000", "10e1000000000000000", "0.1e-1000000000000000",
	} {
		if got, err := parseDecimal(in); err == nil {
			t.Errorf("parseDecimal(%q) = %v, want an error", in, got)
		}
	}
}

// FuzzDecimal has the standard library judge: its JSON says what a number is,
// and its rationals say which are equal and how large sums are.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0", "-0", "1", "1.0", "10e-1", "0.1", "1e21", "-1e-7", "12.50", "1e400", "1e999999999", "01", "1."} {
		f.Add(s, "1", "0.5")
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var ds [3]decimal
		var rats [3]*big.Rat
		for i, s := range []string{a, b, c} {
			isNumber := json.Valid([]byte(s)) && s == strings.TrimSpace(s) && s != "" && strings.Contains("-0123456789", s[:1])
			d, err := parseDecimal(s)
			if err == nil && !isNumber {
				t.Fatalf("parseDecimal(%q) = %v, want an error", s, d)
			}
			if err != nil {
				if isNumber && !strings.Contains(err.Error(), "out of range") {
					t.Fatalf("parseDecimal(%q) = %v, want a number", s, err)
				}
				return
			}
			if got, err := normalNumber(s); err != nil || got != d.String() {
				t.Fatalf("normalNumber(%q) = %s, %v, want %s", s, got, err, d)
			}
			if again := mustDecimal(t, d.String()); again != d {
				t.Fatalf("parseDecimal(%q) = %+v, but its form %s gives %+v", s, d, d, again)
			}
			if top := d.top(); top > 2000 || top < -2000 || len(s) > 2000 || hugeExponent(s) {
				return // the judge would run out of memory
			}
			rat, ok := new(big.Rat).SetString(s)
			if !ok {
				t.Fatalf("parseDecimal(%q) = %v, but the judge refuses it", s, d)
			}
			form, ok := new(big.Rat).SetString(d.String())
			if !ok || form.Cmp(rat) != 0 {
				t.Fatalf("parseDecimal(%q) = %v, want %v", s, d, rat)
			}
			ds[i], rats[i] = d, rat
		}
		if got, want := ds[0] == ds[1], rats[0].Cmp(rats[1]) == 0; got != want {
			t.Fatalf("%q equals %q: %t, want %t", a, b, got, want)
		}
		if got := ds[0].rational(); got != nil && got.Cmp(rats[0]) != 0 {
			t.Fatalf("rational(%s) = %v, want %v", a, got, rats[0])
		}
	})
}

func hugeExponent(s string) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	n, err := strconv.Atoi(exponent)
	return exponent != "" && (err != nil || n > 2000 || n < -2000)
}
