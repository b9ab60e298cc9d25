package openai

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestPlainFormReadsTheSame holds the quick reading against the patient one.
func TestPlainFormReadsTheSame(t *testing.T) {
	quick := 0
	try := func(name string, body []byte) {
		var p plainResponse
		var got, want chatResponse
		if json.Unmarshal(body, &p) != nil || !got.take(&p) {
			return // not of the usual form
		}
		quick++
		if err := json.Unmarshal(body, &want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(want.Choices) == 0 {
			want.Choices, got.Choices = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s\nquick   %+v\npatient %+v", name, body, got, want)
		}
	}
	for _, body := range []string{
		`{}`, `{"choices":null}`, `{"choices":[{}]}`,
		`{"model":"m","choices":[{"message":{"content":"hi","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":1},"completion_tokens_details":{"reasoning_tokens":2},"cost":0.5}}`,
		`{"choices":[{"message":{"content":null},"finish_reason":null}],"usage":null}`,
	} {
		try("made up", []byte(body))
	}
	files, err := filepath.Glob("testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil {
			if _, body, ok := cutBody(data); ok {
				try(name, body)
			}
		}
	}
	if quick < 5 {
		t.Errorf("%d answers were read quickly, want more", quick)
	}
}

// cutBody finds the JSON of a recorded answer.
func cutBody(data []byte) (head, body []byte, ok bool) {
	for i := range data {
		if data[i] == '{' && (i == 0 || data[i-1] == '\n') {
			return data[:i], data[i:], json.Valid(data[i:])
		}
	}
	return data, nil, false
}
