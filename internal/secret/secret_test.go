package secret

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	s := NewSet("sk-12345678", `pass"word\9`, "short", "")
	for _, c := range []struct{ in, want string }{
		{"nothing here", "nothing here"},
		{"Bearer sk-12345678!", "Bearer [redacted]!"},
		{"sk-12345678sk-12345678", "[redacted][redacted]"},
		{"sk-1234567", "sk-1234567"},
		{"short is no secret", "short is no secret"},
		{`raw pass"word\9`, "raw [redacted]"},
		{`{"x":"pass\"word\\9"}`, `{"x":"[redacted]"}`},
	} {
		if got := s.Redact(c.in); got != c.want {
			t.Errorf("Redact(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestRedactJSON(t *testing.T) {
	s := NewSet("sk-12345678", `pass"word\9`, "60000000000", "timestamp")
	for _, c := range []struct{ in, want string }{
		{`{"x":"nothing"}`, `{"x":"nothing"}`},
		{`{"x":"a sk-12345678 b","y":["sk-12345678"]}`, `{"x":"a [redacted] b","y":["[redacted]"]}`},
		{`{"x":"pass\"word\\9"}`, `{"x":"[redacted]"}`},
		{`{"n":60000000000,"s":"60000000000"}`, `{"n":60000000000,"s":"[redacted]"}`},
		{`{"timestamp":"timestamp", "b" : 1}`, `{"timestamp":"[redacted]", "b" : 1}`},
		{`{"x":"\\","y":"sk-12345678"}`, `{"x":"\\","y":"[redacted]"}`},
		{`"sk-12345678`, `"[redacted]`},
	} {
		if got := string(s.RedactBytes([]byte(c.in))); got != c.want {
			t.Errorf("RedactBytes(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestNoSecrets(t *testing.T) {
	for _, s := range []*Set{nil, NewSet(), NewSet("", "abc")} {
		if got := s.Redact("abc"); got != "abc" {
			t.Errorf("Redact(abc) = %q", got)
		}
		if got := s.RedactBytes([]byte("abc")); string(got) != "abc" {
			t.Errorf("RedactBytes(abc) = %q", got)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("sk-12345678", "x sk-12345678 y")
	f.Fuzz(func(t *testing.T, value, text string) {
		got := NewSet(value).Redact(text)
		if len(value) >= shortest && !strings.Contains(Redacted, value) && strings.Contains(got, value) &&
			!strings.Contains(value, "[") && !strings.Contains(value, "]") {
			t.Errorf("Redact(%q) with the secret %q = %q", text, value, got)
		}
	})
}
