package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContextArg(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	png := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 100)...)
	for _, test := range []struct {
		name      string
		data      []byte
		mediaType string
		wrong     string
	}{
		{"grüße.txt", []byte("Grüße 🙂"), "text/plain", ""},
		{"data.json", []byte(`{"a": 1}`), "text/plain", ""},
		{"picture.png", png, "image/png", ""},
		{"picture-without-a-name", png, "image/png", ""},
		{"huge.txt", bytes.Repeat([]byte("text "), 100_000), "", "more than the 262144 bytes"},
		{"huge.png", append(png, make([]byte, 6<<20)...), "", "bytes that can be attached"},
		{"archive.zip", []byte("PK\x03\x04\x00\x00\x00\x00"), "", "application/zip: want a text"},
		{"latin1.txt", []byte("gr\xfc\xdfe"), "", "want a text in UTF-8"},
		{"empty.txt", []byte(" \n"), "", "is empty"},
	} {
		a := &app{Streams: Streams{In: bytes.NewReader(test.data)}}
		for _, name := range []string{file(test.name, test.data), "-"} {
			got, err := a.contextArg(name)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) || exitCode(err) != exitUsage {
					t.Errorf("contextArg(%s) = %v, want a usage error with %q", test.name, err, test.wrong)
				}
				continue
			}
			if err != nil || got.MediaType != test.mediaType || got.Text+string(got.Data) != string(test.data) {
				t.Errorf("contextArg(%s) = %s, %d bytes, %v, want %s, %d bytes", test.name, got.MediaType, len(got.Text)+len(got.Data), err, test.mediaType, len(test.data))
			}
		}
	}
}

func TestAnswerText(t *testing.T) {
	for raw, want := range map[string]string{
		`"yes"`: "yes", `42`: "42", `true`: "true", `["a","b"]`: "a\nb", `[1,2.5]`: "1\n2.5", `["a\nb"]`: `"a\nb"`, `[]`: "", `{"a":1}`: `{"a":1}`, `[[1,2]]`: "[1,2]",
	} {
		if got := answerText(json.RawMessage(raw)); got != want {
			t.Errorf("answerText(%s) = %q, want %q", raw, got, want)
		}
	}
}
