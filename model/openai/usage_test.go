package openai

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPlausible(t *testing.T) {
	tests := []struct {
		name    string
		counted int64
		sizes   []int
		want    int64
	}{
		{"one answer", 10, []int{40}, 10},
		{"one answer of long words", 10, []int{400}, 10},
		{"all of them", 30, []int{40, 40, 40}, 30},
		{"long words in all of them", 20, []int{40, 40, 40}, 20},
		{"one of them", 10, []int{40, 40, 40}, 30},
		{"one of them, of other lengths", 10, []int{40, 60, 20}, 30},
		{"fewer than answers", 1, []int{2, 2, 2, 2}, 4},
		{"as many as answers", 4, []int{2, 2, 2, 2}, 4},
		{"empty ones have none", 2, []int{8, 0, 0, 0}, 2},
		{"the shortest of them", 1, []int{4, 400}, 67},
		{"nothing counted", 0, []int{40, 40}, 0},
		{"nonsense", -1, []int{40, 40}, -1},
	}
	for _, tt := range tests {
		if got := plausible(tt.counted, tt.sizes); got != tt.want {
			t.Errorf("%s: plausible(%d, %v) = %d, want %d", tt.name, tt.counted, tt.sizes, got, tt.want)
		}
	}
}

// TestUsageOfOneChoice: a server that counts one of several answers does not make the
// others free. One that says what they cost is believed.
func TestUsageOfOneChoice(t *testing.T) {
	const text = "The capital of France is Paris, on the Seine." // 45 bytes, some 11 tokens
	for _, test := range []struct {
		extra string
		want  int64
	}{
		{"", 44},
		{`, "cost": 0.5`, 11},
	} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			choice := fmt.Sprintf(`{"message": {"content": %q}, "finish_reason": "stop"}`, text)
			choices := strings.Join([]string{choice, choice, choice, choice}, ",")
			fmt.Fprintf(w, `{"choices": [%s], "usage": {"prompt_tokens": 20, "completion_tokens": 11, "total_tokens": 31%s}}`, choices, test.extra)
		}))
		defer ts.Close()
		list, err := newClient(t, ts.URL, "m").GenerateN(t.Context(), ask("x"), 4)
		if err != nil || len(list) != 4 {
			t.Fatalf("GenerateN() = %v, %v, want 4 answers", list, err)
		}
		output, input := int64(0), int64(0)
		for _, r := range list {
			output, input = output+r.Usage.Output, input+r.Usage.Input
		}
		if output != test.want || input != 20 {
			t.Errorf("usage with %q = %d in, %d out, want 20 and %d", test.extra, input, output, test.want)
		}
	}
}
