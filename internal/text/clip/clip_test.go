package clip

import (
	"strings"
	"testing"
)

func TestClip(t *testing.T) {
	long := strings.Repeat("é", 50)
	for _, test := range []struct{ name, got, want string }{
		{"Text(é…, 50)", Text(long, 50), long},
		{"Text(é…, 10)", Text(long, 10), strings.Repeat("é", 9) + "…"},
		{"Text(a\\nb, 9)", Text("a\nb", 9), "a\nb"},
		{"Line(a\\nb\\a\\xff, 9)", Line("a\nb\a\xff", 9), "a b \uFFFD"},
		{"Line(x…, 10)", Line(strings.Repeat("x", 11), 10), strings.Repeat("x", 9) + "…"},
		{"Short(é…)", Short(long), strings.Repeat("é", 39) + "…"},
		{"Output(é…, 100)", Output(long, 100), long},
		{"Output(é…, 5)", Output(long, 5), "éé\n[cut: 4 of 100 bytes are shown]"},
		{"Output(a\\nbc, 2)", Output("a\nbc", 2), "a\n[cut: 2 of 4 bytes are shown]"},
	} {
		if test.got != test.want {
			t.Errorf("%s = %q, want %q", test.name, test.got, test.want)
		}
	}
}
