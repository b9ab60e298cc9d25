package supervise

import (
	"fmt"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	const limit = 1000
	b := NewTail(limit)
	for i := range 3000 {
		line := fmt.Sprintf("line %d\n", i)
		if n, err := b.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatalf("Write(%q) = %d, %v, want %d", line, n, err, len(line))
		}
	}
	if s := b.String(); len(s) > limit || len(s) < limit-10 || !strings.HasSuffix(s, "line 2998\nline 2999") {
		t.Errorf("String() = %d bytes that end with %q, want about %d, with the last lines", len(s), s[max(0, len(s)-30):], limit)
	}
	if c := cap(b.data); c > 4*limit {
		t.Errorf("a buffer of %d bytes takes %d", limit, c)
	}
	long := strings.Repeat("x", 3*limit) + "end"
	if n, err := b.Write([]byte(long)); n != len(long) || err != nil {
		t.Errorf("Write(more than fits) = %d, %v, want %d", n, err, len(long))
	}
	if got, want := b.String(), strings.Repeat("x", limit-3)+"end"; got != want {
		t.Errorf("String() = %d bytes that end with %q, want %d that end with xend", len(got), got[max(0, len(got)-30):], limit)
	}
}
