package anthropic

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
)

// TestBoundsAreLeftOut: a schema that is refused for its bounds is sent without them, and
// only then not at all.
func TestBoundsAreLeftOut(t *testing.T) {
	for _, test := range []struct {
		refuses string // requests with this in them
		want    []string
		warning string
	}{
		{`"minimum"`, []string{"bounded", "plain", "plain"}, "has no bounds from now on"},
		{`"output_config"`, []string{"bounded", "plain", "none", "none"}, "not asked for from now on"},
	} {
		var seen, warnings []string
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			kind := "none"
			if strings.Contains(string(body), `"minimum"`) {
				kind = "bounded"
			} else if strings.Contains(string(body), `"output_config"`) {
				kind = "plain"
			}
			seen = append(seen, kind)
			if strings.Contains(string(body), test.refuses) {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported"}}`)
				return
			}
			io.WriteString(w, `{"type":"message","model":"m","content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
		}))
		c, err := New(Options{BaseURL: ts.URL, Model: "m", APIKey: "sk-long-enough-0123456789", Warn: func(s string) { warnings = append(warnings, s) }})
		if err != nil {
			t.Fatal(err)
		}
		req := &model.Request{
			Messages: []model.Message{{Role: model.User, Text: "a"}}, MaxOutput: 10,
			Output: &model.OutputFormat{Mode: model.JSONSchema, Schema: []byte(`{"type":"object","properties":{"a":{"type":"integer","minimum":0}}}`)},
		}
		for range 2 {
			if _, err := c.Generate(t.Context(), req); err != nil {
				t.Errorf("Generate() = %v", err)
			}
		}
		if got, want := strings.Join(seen, " "), strings.Join(test.want, " "); got != want {
			t.Errorf("requests were %s, want %s", got, want)
		}
		if all := strings.Join(warnings, "\n"); !strings.Contains(all, test.warning) {
			t.Errorf("warnings are %q, want %q", all, test.warning)
		}
		c.CloseIdle()
		ts.Close()
	}
}
