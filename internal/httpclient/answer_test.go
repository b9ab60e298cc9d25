package httpclient

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
)

func TestCount(t *testing.T) {
	for text, want := range map[string]Count{
		"7": 7, "0": 0, "-1": 0, "-7": -7, "-1e999": -maxCount, "1e999": maxCount, "7.0": 7, "7.9": 7, "9e2": 900, "null": 0, `"7"`: 0, "[]": 0, "{}": 0, "true": 0, "1e300": maxCount,
	} {
		got := Count(1)
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("Count of %s = %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestCost(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "0.25": 0.25, "-1": -1, "1e308": 1e308, "1e999": math.Inf(1), "-1e999": math.Inf(-1)} {
		if got := Cost(json.RawMessage(text)); got == nil || *got != want {
			t.Errorf("Cost(%s) = %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "null", `"free"`, "[1]", "true"} {
		if got := Cost(json.RawMessage(text)); got != nil {
			t.Errorf("Cost(%s) = %v, want nil", text, *got)
		}
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]Text{
		`"a\nb"`: "a\nb", "null": "", "7": "7", `["a"]`: `["a"]`, `{"a": 1}`: `{"a": 1}`, `""`: "",
	} {
		got := Text("")
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("Text of %s = %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestToolInput(t *testing.T) {
	for arguments, want := range map[string]string{
		"": "{}", " \n": "{}", `{"a": 1}`: `{"a": 1}`, "7": "7", "null": "null", `{"a": `: `"{\"a\": "`, "hi": `"hi"`,
	} {
		if got := string(ToolInput(arguments)); got != want {
			t.Errorf("ToolInput(%q) = %s, want %s", arguments, got, want)
		}
	}
}

func TestTooLong(t *testing.T) {
	for text, want := range map[string]bool{
		"context_length_exceeded": true, "This model's Maximum Context Length is 8": true, "prompt is too long: 9 > 8": true,
		"input length and `max_tokens` exceed context limit": true, "max_tokens is too large": false, "too long a wait": false, "": false,
	} {
		if got := TooLong(text); got != want {
			t.Errorf("TooLong(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestRequestID(t *testing.T) {
	h := http.Header{}
	if got := WithRequestID("m", RequestID(h)); got != "m" {
		t.Errorf("WithRequestID without one = %q, want m", got)
	}
	h.Set("X-Request-Id", "a")
	if got := WithRequestID("m", RequestID(h)); got != "m (request a)" {
		t.Errorf("WithRequestID = %q, want m (request a)", got)
	}
	h.Set("Request-Id", strings.Repeat("b", 1000))
	if got := WithRequestID("m", RequestID(h)); len(got) > 120 || !strings.Contains(got, "bbb…") {
		t.Errorf("WithRequestID of a long one = %q, want it short", got)
	}
}

// TestExcerptKeepsSecret puts the secret at every place of an excerpt, so that it
// is cut in every way.
func TestExcerptKeepsSecret(t *testing.T) {
	const secret = "sk-secret-0123456789"
	c := newClient(t, "http://localhost", Options{Secret: secret})
	for _, filler := range []string{"x", "  x"} {
		for n := range 900 {
			got := c.Excerpt([]byte(strings.Repeat(filler, n) + secret + " and more"))
			if strings.Contains(got, "sk-s") {
				t.Fatalf("Excerpt after %d times %q = %q, want no part of the secret", n, filler, got)
			}
		}
	}
	if got := c.Error(model.Invalid, 400, strings.Repeat("x", maxMessage-5)+secret).Message; strings.Contains(got, "sk-s") || len(got) > maxMessage+3 {
		t.Errorf("Error = %q, want it short and without the secret", got)
	}
}
