package usage_test

import (
	"encoding/json"
	"reflect"
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
			usage.Spent{Calls: 1, Tokens: usage.Tokens{Input: 2, CacheRead: 3, CacheWrite: 4, Output: 5, Reasoning: 6}, USD: 0.5, Unpriced: 7, Abandoned: 8, HeldUSD: 0.25, HeldTokens: 9},
			`{"calls":1,"tokens":{"input":2,"cache_read":3,"cache_write":4,"output":5,"reasoning":6},"usd":0.5,"unpriced":7,"abandoned":8,"held_usd":0.25,"held_tokens":9}`,
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
