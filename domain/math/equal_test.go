package math

import (
	"strings"
	"testing"
)

func pairs(t testing.TB, table string) [][2]string {
	t.Helper()
	var out [][2]string
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		a, b, ok := strings.Cut(line, " || ")
		if !ok {
			t.Fatalf("no pair: %s", line)
		}
		out = append(out, [2]string{a, b})
	}
	return out
}

func TestEqual(t *testing.T) {
	total := 0
	for _, table := range []struct {
		pairs string
		want  Relation
	}{{samePairs, Same}, {differentPairs, Different}, {unknownPairs, Unknown}} {
		list := pairs(t, table.pairs)
		if table.want != Unknown {
			total += len(list)
		}
		for _, p := range list {
			got := Equal(p[0], p[1])
			if got != table.want {
				t.Errorf("Equal(%q, %q) = %v, want %v", p[0], p[1], got, table.want)
			}
			if back := Equal(p[1], p[0]); back != got {
				t.Errorf("Equal(%q, %q) = %v, want %v as the other way round", p[1], p[0], back, got)
			}
		}
	}
	if total < 200 {
		t.Errorf("%d pairs are compared, want at least 200", total)
	}
}
