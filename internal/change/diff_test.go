package change

import (
	"strings"
	"testing"
)

// FuzzDifference: whatever the texts are, the lines that stay and come are the new text, and
// those that stay and go the old one.
func FuzzDifference(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n")
	f.Add("", "x")
	f.Add("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n9\n")
	f.Fuzz(func(t *testing.T, was, becomes string) {
		if strings.ContainsAny(was+becomes, "[") || len(was)+len(becomes) > 2000 {
			return
		}
		var a, b []string
		for _, change := range changesOf(linesOf(was), linesOf(becomes)) {
			if change.mark != '+' {
				a = append(a, change.line)
			}
			if change.mark != '-' {
				b = append(b, change.line)
			}
		}
		if strings.Join(a, "") != was || strings.Join(b, "") != becomes {
			t.Errorf("changes from %q to %q give %q and %q", was, becomes, a, b)
		}
		if (difference(was, becomes) == "") != (was == becomes) {
			t.Errorf("difference(%q, %q) = %q", was, becomes, difference(was, becomes))
		}
	})
}
