package httpclient

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

func TestAllowance(t *testing.T) {
	const second = time.Second
	for _, test := range []struct {
		name               string
		limit, left, reset string
		cost               float64
		want               *model.Quota
	}{
		{"requests", "60", "59", "1s", 1, &model.Quota{Left: 59, Every: second}},
		{"half is left", "60", "30", "30s", 1, &model.Quota{Left: 30, Every: second}},
		{"nothing is left", "60", "0", "1m0s", 1, &model.Quota{Left: 0, Every: second}},
		{"tokens", "150000", "149984", "6m0s", 500, &model.Quota{Left: 299, Every: 6 * time.Minute}},
		{"few tokens", "30000", "1200", "57.6s", 1000, &model.Quota{Left: 1, Every: 2 * second}},
		{"a number of seconds", "10", "0", "20", 1, &model.Quota{Left: 0, Every: 2 * second}},
		{"more left than there is", "10", "50", "20", 1, &model.Quota{Left: 10, Every: 20 * second}},
		{"refused", "30000", "0", "60s", UnknownCost, &model.Quota{Left: 0, Every: 6 * second}},
		{"no limit", "-1", "-1", "0s", 1, nil},
		{"no limit either", "0", "0", "0s", 1, nil},
		{"nothing left of no limit", "0", "0", "1m0s", 1, nil},
		{"-1 left", "60", "-1", "1m0s", 1, nil},
		{"does not say when", "60", "0", "", 1, nil},
		{"nonsense", "60", "0", "soon", 1, nil},
		{"not numbers", "NaN", "NaN", "NaN", 1, nil},
		{"costs nothing", "30000", "5", "1m0s", 0, nil},
		{"nothing", "", "", "", 1, nil},
	} {
		h := http.Header{}
		h.Set("X-Limit", test.limit)
		h.Set("X-Left", test.left)
		h.Set("X-Reset", test.reset)
		a := (&Reply{Header: h}).Allowance("X-Limit", "X-Left", "X-Reset", test.cost)
		if diff := cmp.Diff(test.want, Quota(a)); diff != "" {
			t.Errorf("%s: the quota of limit %s, remaining %s, reset %s differs (-want +got):\n%s", test.name, test.limit, test.left, test.reset, diff)
		}
	}
}

func TestTightest(t *testing.T) {
	many := Allowance{Limit: 100, Left: 90, Reset: time.Second, Cost: 1}
	few := Allowance{Limit: 1000, Left: 100, Reset: 9 * time.Second, Cost: 50}
	slow := Allowance{Limit: 1000, Left: 100, Reset: time.Minute, Cost: 50}
	want := &model.Quota{Left: 2, Every: time.Minute * 50 / 900}
	if diff := cmp.Diff(want, Quota(many, Allowance{}, slow, few)); diff != "" {
		t.Errorf("the tightest differs (-want +got):\n%s", diff)
	}
}
