package usage_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/usage"
)

// each returns counts in which only the i-th field is set.
func each(i int, n int64) usage.Tokens {
	var t usage.Tokens
	reflect.ValueOf(&t).Elem().Field(i).SetInt(n)
	return t
}

// TestTokens goes over all fields there are, so that a new one is not forgotten
// in a sum.
func TestTokens(t *testing.T) {
	fields := reflect.TypeFor[usage.Tokens]().NumField()
	var all usage.Tokens
	for i := range fields {
		one := each(i, 1<<i)
		if one.Total() != 1<<i {
			t.Errorf("Total(%+v) = %d, want %d", one, one.Total(), 1<<i)
		}
		if got := one.Add(one); got != each(i, 2<<i) {
			t.Errorf("Add(%+v) = %+v, want twice of it", one, got)
		}
		all = all.Add(one)
	}
	if want := int64(1)<<fields - 1; all.Total() != want {
		t.Errorf("Total(%+v) = %d, want %d", all, all.Total(), want)
	}
	if got := (usage.Tokens{}).Add(usage.Tokens{}); got != (usage.Tokens{}) {
		t.Errorf("Add(nothing) = %+v, want nothing", got)
	}
}

// TestSumsStop: a total that wraps around, or is no number, cannot be written down or
// held against a limit.
func TestSumsStop(t *testing.T) {
	huge := usage.Spent{
		Calls: math.MaxInt64, Tokens: usage.Tokens{Input: math.MaxInt64, CacheRead: 1, CacheWrite: math.MaxInt64, Output: math.MaxInt64, Reasoning: math.MaxInt64},
		USD: 1e308, Unpriced: math.MaxInt64, Unreported: math.MaxInt64, Abandoned: math.MaxInt64, HeldUSD: math.Inf(1), HeldTokens: math.MaxInt64,
	}
	got := huge.Add(huge).Add(huge)
	want := huge
	want.USD, want.HeldUSD, want.Tokens.CacheRead = usage.MaxUSD, usage.MaxUSD, 3
	if got != want {
		t.Errorf("Add() = %+v, want %+v", got, want)
	}
	if n := got.Tokens.Total(); n != math.MaxInt64 {
		t.Errorf("Total() = %d, want %d", n, int64(math.MaxInt64))
	}
	least := usage.Tokens{Input: math.MinInt64, Output: math.MinInt64}
	if n := least.Total(); n != math.MinInt64 {
		t.Errorf("Total(%+v) = %d, want %d", least, n, int64(math.MinInt64))
	}
	for _, test := range []struct{ a, b, want float64 }{
		{1, 2, 3}, {0, 0, 0}, {1e308, 1e308, usage.MaxUSD}, {math.NaN(), 2, 2}, {math.Inf(-1), math.Inf(1), 0}, {-5, 2, 0}, {math.NaN(), math.NaN(), 0},
	} {
		if got := usage.AddUSD(test.a, test.b); got != test.want {
			t.Errorf("AddUSD(%v, %v) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func TestCheck(t *testing.T) {
	usd := func(f float64) *float64 { return &f }
	for _, test := range []struct {
		tokens usage.Tokens
		cost   *float64
		want   string // part of the error; "" for none
	}{
		{usage.Tokens{}, nil, ""},
		{usage.Tokens{Input: 1_000_000, Output: 100_000}, usd(210), ""}, // of the dearest model
		{usage.Tokens{}, usd(0.5), ""},                                  // a fee
		{usage.Tokens{Input: 9}, usd(0), ""},
		{usage.Tokens{CacheWrite: -1}, nil, "negative"},
		{usage.Tokens{Reasoning: 1 << 40}, nil, "1099511627776 tokens"},
		{usage.Tokens{Input: 9}, usd(-0.1), "no price"},
		{usage.Tokens{Input: 9}, usd(math.NaN()), "no price"},
		{usage.Tokens{Input: 9}, usd(math.Inf(1)), "above any price"},
		{usage.Tokens{Input: 9}, usd(1e308), "above any price"},
		{usage.Tokens{Input: 1000}, usd(1011), "above any price"},
	} {
		err := usage.Check(test.tokens, test.cost)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("Check(%+v, %v) = %v, want %q", test.tokens, test.cost, err, test.want)
		}
	}
}

func TestCostIsUnknownOrKnown(t *testing.T) {
	known := usage.Spent{Calls: 2, USD: 0.25}
	if got := known.CostUSD(); got == nil || *got != 0.25 {
		t.Errorf("CostUSD(%+v) = %v, want 0.25", known, got)
	}
	// Nothing spent is known to cost nothing.
	if got := (usage.Spent{}).CostUSD(); got == nil || *got != 0 {
		t.Errorf("CostUSD(nothing) = %v, want 0", got)
	}
	unknown := usage.Spent{Calls: 3, USD: 0.25, Unpriced: 1}
	if got := unknown.CostUSD(); got != nil {
		t.Errorf("CostUSD(%+v) = %v, want nil: a part of it is not known", unknown, *got)
	}
	abandoned := usage.Spent{Calls: 3, Abandoned: 3}
	if got := abandoned.CostUSD(); got != nil {
		t.Errorf("CostUSD(%+v) = %v, want nil: nothing is known of any call", abandoned, *got)
	}
	abandoned.HeldUSD = 1
	if got := abandoned.CostUSD(); got == nil || *got != 0 {
		t.Errorf("CostUSD(%+v) = %v, want 0 beside what is held", abandoned, got)
	}
	unpriced := usage.Spent{Calls: 3, NoPrice: true}
	if got := unpriced.CostUSD(); got != nil {
		t.Errorf("CostUSD(%+v) = %v, want nil: 0 would be a guess", unpriced, *got)
	}
	if sum := unpriced.Add(usage.Spent{Calls: 1, Tokens: usage.Tokens{Input: 1}, USD: 0.5}); sum.CostUSD() == nil || sum.NoPrice {
		t.Errorf("%+v after an answer of a known cost, want that the cost is known", sum)
	}
	// The result is not a way into the record.
	*known.CostUSD() = 7
	if known.USD != 0.25 {
		t.Errorf("writing through CostUSD changed the record to %v", known.USD)
	}
}

func TestForm(t *testing.T) {
	tests := []struct {
		spent usage.Spent
		want  string
	}{
		{usage.Spent{}, `{"calls":0,"tokens":{"input":0,"output":0},"usd":0}`},
		{
			usage.Spent{Calls: 1, Tokens: usage.Tokens{Input: 2, CacheRead: 3, CacheWrite: 4, Output: 5, Reasoning: 6}, USD: 0.5, Unpriced: 7, NoPrice: true, Abandoned: 8, HeldUSD: 0.25, HeldTokens: 9},
			`{"calls":1,"tokens":{"input":2,"cache_read":3,"cache_write":4,"output":5,"reasoning":6},"usd":0.5,"unpriced":7,"no_price":true,"abandoned":8,"held_usd":0.25,"held_tokens":9}`,
		},
	}
	for _, test := range tests {
		got, err := json.Marshal(test.spent)
		if err != nil || string(got) != test.want {
			t.Errorf("json.Marshal(%+v) = %s, %v, want %s", test.spent, got, err, test.want)
		}
		var back usage.Spent
		if err := json.Unmarshal(got, &back); err != nil || back != test.spent {
			t.Errorf("json.Unmarshal(%s) = %+v, %v, want %+v", got, back, err, test.spent)
		}
	}
}

// TestSumsOfMoneyHaveNoDust: prices are whole picodollars, and so are their sums.
func TestSumsOfMoneyHaveNoDust(t *testing.T) {
	for _, c := range []struct {
		price float64
		times int
		want  float64
	}{{0.0001776, 3, 0.0005328}, {0.1, 3, 0.3}, {1e-12, 7, 7e-12}, {900, 2, 1800}} {
		sum := 0.0
		for range c.times {
			sum = usage.AddUSD(sum, c.price)
		}
		if sum != c.want {
			t.Errorf("%v added %d times = %v, want %v", c.price, c.times, sum, c.want)
		}
	}
}
