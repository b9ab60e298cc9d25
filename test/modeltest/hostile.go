package modeltest

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

// Bounds of what a hostile server can make a client do. An answer of 500 tokens has
// room for 64 KiB and 16 bytes a token; reading it takes a few times that.
const (
	endless    = 256 << 20 // bytes that a server sends if nobody stops it
	mostMemory = 16 << 20  // bytes that a client may allocate for one call
	mostCalls  = 128       // of tools in one answer
)

// Hostile has servers send what no answer is, and looks at the memory that it takes.
func Hostile(t *testing.T, c Config) {
	chunk := []byte(strings.Repeat("x", 64<<10))
	calls := func(one string, n int) string { // in both protocols at once
		list := strings.TrimSuffix(strings.Repeat(one+",", n), ",")
		return fmt.Sprintf(`{"type": "message", "content": [%s], "choices": [{"message": {"tool_calls": [%s]}, "finish_reason": "tool_calls"}]}`,
			list, list)
	}
	big := `{"type": "tool_use", "id": "a", "name": "Write", "input": {"a": "` + strings.Repeat("x", 3<<20) + `"},` +
		`"function": {"name": "Write", "arguments": "` + strings.Repeat("y", 3<<20) + `"}}`
	bigCalls, smallCalls := calls(big, 1), calls(`{"type":"tool_use"}`, 1500)
	for _, test := range []struct {
		name string
		send http.HandlerFunc
		kind model.Kind // "" for an answer that is too long, of which nothing is kept
		text string
	}{
		{"endless text", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"type": "message", "choices": [{"message": {"content": "`)
			pour(w, chunk)
		}, "", ""},
		{"endless JSON that is no answer", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"detail": "`)
			pour(w, chunk)
		}, model.Transient, "larger than"},
		{"endless chunks", func(w http.ResponseWriter, r *http.Request) {
			for range endless / 64 {
				if _, err := w.Write(chunk[:64]); err != nil {
					return
				}
				if http.NewResponseController(w).Flush() != nil {
					return
				}
			}
		}, model.Transient, "larger than"},
		{"endless when unzipped", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
			if err == nil {
				pour(z, chunk)
			}
		}, model.Transient, "larger than"},
		{"a length that is promised", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "9000000000000000000")
			w.Write(chunk)
		}, model.Transient, ""},
		{"endless error", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			pour(w, chunk)
		}, model.Invalid, "xxx…"},
		{"endless header", func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: ")
			pour(conn, chunk)
		}, model.Transient, "broke"},
		{"large calls of tools", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, bigCalls) }, "", ""},
		{"many calls of tools", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, smallCalls) }, model.Transient, "calls of tools"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newClientWith(t, c, Server{BaseURL: serve(t, test.send), Model: "m"})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			resp, err := m.Generate(t.Context(), ask("x"))
			runtime.ReadMemStats(&after)
			if test.kind == "" {
				if diff := cmp.Diff(&model.Response{Stop: model.StopLength}, resp); err != nil || diff != "" {
					t.Errorf("Generate() fails with %v, -want +got:\n%s", err, diff)
				}
			} else if err == nil {
				t.Errorf("Generate() = an answer of %d bytes with %d calls, want an error", len(resp.Text), len(resp.ToolCalls))
			} else {
				wantKind(t, test.name, err, test.kind, test.text)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > mostMemory {
				t.Errorf("Generate() took %d MiB, want at most %d", took>>20, mostMemory>>20)
			}
		})
	}
	// As many calls as a model makes are taken.
	some := calls(`{"type": "tool_use", "id": "a", "name": "n", "input": {}, "function": {"name": "n", "arguments": "{}"}}`, mostCalls)
	m := newClientWith(t, c, Server{Model: "m", BaseURL: serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, some) })})
	if resp, err := m.Generate(t.Context(), ask("x")); err != nil || len(resp.ToolCalls) != mostCalls {
		t.Errorf("Generate() = %v, want %d calls", err, mostCalls)
	}
}

var errPoured = errors.New("the client took everything")

// pour sends until the reader goes away.
func pour(w io.Writer, chunk []byte) error {
	for range endless / len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return err
		}
	}
	return errPoured
}
