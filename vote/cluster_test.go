package vote

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/text/clip"
)

func newClusters(t testing.TB, absolute, relative string) *Clusters {
	t.Helper()
	c, err := NewClusters(KeyOptions{Tolerance: json.Number(absolute), RelativeTolerance: json.Number(relative)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClusters(t *testing.T) {
	tests := []struct {
		name               string
		absolute, relative string
		keys, want         []string
	}{
		{"no chain", "0.1", "",
			[]string{"1", "1.1", "1.2"}, []string{"1", "1", "1.2"}},
		{"no chain, middle first", "0.1", "",
			[]string{"1.1", "1", "1.2"}, []string{"1.1", "1.1", "1.2"}},
		{"the bound belongs to it, exactly", "0.1", "",
			[]string{"0.3", "0.2", "0.4", "0.1999999999999999999999"}, []string{"0.3", "0.3", "0.4", "0.1999999999999999999999"}},
		{"first in order of creation", "1", "",
			[]string{"0", "2", "1"}, []string{"0", "2", "0"}},
		{"all members count, not just the first", "1", "",
			[]string{"0", "1", "-0.5", "-1"}, []string{"0", "0", "-0.5", "-0.5"}},
		{"equal keys stay together", "1", "",
			[]string{"0", "2", "1", "3", "1", "2"}, []string{"0", "2", "0", "2", "0", "2"}},
		{"every number of an answer", "0.5", "",
			[]string{`{"a":[1,2],"b":3}`, `{"a":[1.5,1.5],"b":3}`, `{"a":[1,2.6],"b":3}`},
			[]string{`{"a":[1,2],"b":3}`, `{"a":[1,2],"b":3}`, `{"a":[1,2.6],"b":3}`}},
		{"another shape", "9", "",
			[]string{`[1]`, `[1,1]`, `1`, `"1"`, `"2"`, `{"a":1}`, `{"b":1}`, `null`, `["#"]`},
			[]string{`[1]`, `[1,1]`, `1`, `"1"`, `"2"`, `{"a":1}`, `{"b":1}`, `null`, `["#"]`}},
		{"not JSON", "9", "",
			[]string{"move 1", "move 2", "", "move 1"}, []string{"move 1", "move 2", "", "move 1"}},
		{"no tolerance", "", "",
			[]string{"1", "1.0", "2"}, []string{"1", "1.0", "2"}},
		{"not in normal form", "0.1", "",
			[]string{"1.0", "1", "1.05"}, []string{"1.0", "1.0", "1.0"}},
		{"relative", "", "0.01",
			[]string{"1000", "1010", "990", "-1000", "0", "1e-30"}, []string{"1000", "1000", "990", "-1000", "0", "1e-30"}},
		{"either tolerance", "0.5", "0.01",
			[]string{"1000", "1009", "0", "0.5", "-0.5"}, []string{"1000", "1000", "0", "0", "-0.5"}},
		{"huge numbers", "1", "",
			[]string{"1e999999999", "1e999999998", "1e-999999999", "0", "0.5"}, []string{"1e999999999", "1e999999998", "1e-999999999", "0", "0"}},
		{"huge numbers, relative", "", "0.1",
			[]string{"1e999", "1.1e999", "1.2e999", "1e1001", "1.1e1001"}, []string{"1e999", "1e999", "1.2e999", "1e1001", "1.1e1001"}},
		{"beyond floats", "1", "",
			[]string{"9007199254740992", "9007199254740993", "9007199254740994"}, []string{"9007199254740992", "9007199254740992", "9007199254740994"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newClusters(t, test.absolute, test.relative)
			for i, key := range test.keys {
				if got := c.Key(key); got != test.want[i] {
					t.Errorf("Key(%s) after %q = %s, want %s", key, test.keys[:i], got, test.want[i])
				}
			}
		})
	}
}

func TestClustersLongNumbers(t *testing.T) {
	c := newClusters(t, "0.5", "")
	long := strings.Repeat("7", maxTolerantDigits)
	for _, key := range []string{long, long + ".1", long + ".2", long + ".1"} {
		if got := c.Key(key); got != key {
			t.Errorf("Key(%s), of %d digits, = %s, want itself", clip.Short(key), len(key), clip.Short(got))
		}
	}
}

func TestClustersZeroValue(t *testing.T) {
	var c Clusters
	for _, key := range []string{"1", "1.0", "", "1"} {
		if got := c.Key(key); got != key {
			t.Errorf("Key(%q) of the zero value = %q, want itself", key, got)
		}
	}
}

// TestClustersProperties draws answers of two numbers and has rational
// arithmetic judge.
func TestClustersProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	type answer struct{ x, y *big.Rat }
	for range 100 {
		tolerance := strconv.Itoa(rng.IntN(8)) + "e-1"
		limit, _ := new(big.Rat).SetString(tolerance)
		near := func(a, b answer) bool {
			for _, pair := range [][2]*big.Rat{{a.x, b.x}, {a.y, b.y}} {
				if d := new(big.Rat).Sub(pair[0], pair[1]); d.Abs(d).Cmp(limit) > 0 {
					return false
				}
			}
			return true
		}

		c := newClusters(t, tolerance, "")
		answers := map[string]answer{}
		members := map[string][]string{} // by the cluster's key
		var order []string               // of creation
		first := map[string]string{}     // what a key got when it came first
		for range 60 {
			x, y := big.NewRat(int64(rng.IntN(25)-12), 10), big.NewRat(int64(rng.IntN(7)), 10)
			key, err := Canonical(json.RawMessage("["+x.FloatString(2)+","+y.FloatString(1)+"]"), KeyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			answers[key] = answer{x, y}
			got := c.Key(key)

			if before, ok := first[key]; ok {
				if got != before {
					t.Fatalf("Key(%s) = %s, want %s as before", key, got, before)
				}
				continue
			}
			want := key
			for _, candidate := range order {
				if !slices.ContainsFunc(members[candidate], func(m string) bool { return !near(answers[m], answers[key]) }) {
					want = candidate
					break
				}
			}
			if got != want {
				t.Fatalf("tolerance %s: Key(%s) = %s, want %s of clusters %v", tolerance, key, got, want, members)
			}
			first[key] = got
			if got == key {
				order = append(order, key)
			}
			members[got] = append(members[got], key)
		}
		for _, cluster := range members {
			for _, a := range cluster {
				for _, b := range cluster {
					if !near(answers[a], answers[b]) {
						t.Fatalf("tolerance %s: %s and %s are in one cluster", tolerance, a, b)
					}
				}
			}
		}
	}
}

func FuzzClusters(f *testing.F) {
	f.Add("1", "1.1", "1.2", "0.1")
	f.Add(`{"a":[1e999999999]}`, `{"a":[1]}`, "move", "1e-5")
	f.Fuzz(func(t *testing.T, a, b, c, tolerance string) {
		clusters, err := NewClusters(KeyOptions{Tolerance: json.Number(tolerance), RelativeTolerance: "0.25"})
		if err != nil {
			return
		}
		first := map[string]string{}
		for _, key := range []string{a, b, c} {
			first[key] = clusters.Key(key)
		}
		for _, key := range []string{c, a, b} {
			if got := clusters.Key(key); got != first[key] {
				t.Errorf("Key(%q) = %q, want %q as before", key, got, first[key])
			}
			if got := clusters.Key(first[key]); got != first[key] {
				t.Errorf("Key(%q), a cluster's key, = %q, want itself", first[key], got)
			}
		}
	})
}

func ExampleClusters() {
	clusters, err := NewClusters(KeyOptions{Tolerance: "0.1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []string{"1", "1.1", "1.2", "1.05"} {
		fmt.Println(key, "votes for", clusters.Key(key))
	}
	// Output:
	// 1 votes for 1
	// 1.1 votes for 1
	// 1.2 votes for 1.2
	// 1.05 votes for 1
}
