package modeltest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/model"
)

// An answer is what a file holds.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// readAnswer reads a file: a status line, headers, an empty line and the body.
func readAnswer(t testing.TB, file string) answer {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, body, found := bytes.Cut(data, []byte("\n\n"))
	line, fields, _ := bytes.Cut(head, []byte("\n"))
	var a answer
	if _, err := fmt.Sscanf(string(line), "HTTP/1.1 %d", &a.status); err != nil || !found {
		t.Fatalf("%s does not begin like an answer", file)
	}
	header, err := textproto.NewReader(bufio.NewReader(io.MultiReader(bytes.NewReader(fields), strings.NewReader("\n\n")))).ReadMIMEHeader()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	a.header, a.body = http.Header(header), bytes.TrimSuffix(body, []byte("\n"))
	return a
}

// write sends the answer.
func (a answer) write(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	w.Write(a.body)
}

// An outcome is what a client makes of an answer.
type outcome struct {
	Response *model.Response `json:"response,omitempty"`
	Error    *failure        `json:"error,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
}

type failure struct {
	Kind       model.Kind `json:"kind"`
	Text       string     `json:"text"`
	RetryAfter string     `json:"retry_after,omitempty"`
}

// Recorded reads every answer in the provider's folder.
func Recorded(t *testing.T, c Config) {
	files, err := filepath.Glob(c.path("answers", "*.http"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no answers in %s: %v", c.path("answers"), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".http")
		t.Run(name, func(t *testing.T) {
			a := readAnswer(t, file)
			requests := 0
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				io.Copy(io.Discard, r.Body)
				a.write(w)
			})
			m := newClient(t, c, base, "the-model")
			// Nothing in this request can be left out, so it is sent once.
			r, err := m.Generate(t.Context(), ask("What is 20 + 22?"))
			out := outcome{Response: r, Warnings: m.warned()}
			if err != nil {
				e := model.AsError(err)
				text := strings.ReplaceAll(e.Error(), strings.TrimPrefix(base, "http://"), "SERVER")
				out.Error = &failure{Kind: e.Kind, Text: text}
				if e.RetryAfter > 0 {
					out.Error.RetryAfter = e.RetryAfter.String()
				}
			}
			if requests != 1 {
				t.Errorf("Generate made %d requests, want 1", requests)
			}
			golden(t, strings.TrimSuffix(file, ".http")+".golden", string(mustJSON(t, out)))
		})
	}
}
