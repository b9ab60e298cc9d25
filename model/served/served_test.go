package served

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPieces(t *testing.T) {
	text := strings.Repeat("ü€𝄞a", 50)
	parts := pieces(text)
	if got := strings.Join(parts, ""); got != text {
		t.Errorf("pieces joined = %q, want %q", got, text)
	}
	for _, p := range parts {
		if !utf8.ValidString(p) || p == "" {
			t.Errorf("piece %q is broken", p)
		}
	}
}
