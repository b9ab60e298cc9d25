package modeltest

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

// Wire sends the provider's plain answer in unusual ways, and breaks it.
func Wire(t *testing.T, c Config) {
	plain := readAnswer(t, c.path("answers", "plain.http"))
	t.Run("Whole", func(t *testing.T) { whole(t, c, plain) })
	t.Run("Broken", func(t *testing.T) { broken(t, c, plain) })
	t.Run("Slow", func(t *testing.T) { slow(t, c) })
	t.Run("Redirect", func(t *testing.T) { redirect(t, c) })
	t.Run("RetryAfter", func(t *testing.T) { retryAfter(t, c) })
	t.Run("Echo", func(t *testing.T) { echo(t, c) })
}

// whole has every answer arrive, in one way or another.
func whole(t *testing.T, c Config, plain answer) {
	want, err := newClient(t, c, serve(t, func(w http.ResponseWriter, r *http.Request) { plain.write(w) }), "m").
		Generate(t.Context(), ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	for name, send := range map[string]http.HandlerFunc{
		"gzip": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zipped(plain.body))
		},
		"in pieces": func(w http.ResponseWriter, r *http.Request) {
			for _, b := range plain.body {
				w.Write([]byte{b})
				http.NewResponseController(w).Flush()
			}
		},
		"as HTML": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Write(plain.body)
		},
		"without a type": func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = nil
			w.Write(plain.body)
		},
		"among spaces": func(w http.ResponseWriter, r *http.Request) { // which keep a connection alive
			w.Write([]byte("\n\n   " + string(plain.body) + "\r\n"))
		},
		"as large as allowed": func(w http.ResponseWriter, r *http.Request) {
			w.Write(append(bytes.Repeat([]byte(" "), MaxResponseBytes-len(plain.body)), plain.body...))
		},
	} {
		got, err := newClient(t, c, serve(t, send), "m").Generate(t.Context(), ask("x"))
		if err != nil {
			t.Errorf("%s: Generate fails with %v", name, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: response (-want +got):\n%s", name, diff)
		}
	}
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// broken has no answer arrive as it should.
func broken(t *testing.T, c Config, plain answer) {
	body := string(plain.body)
	send := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) }
	}
	length := strconv.Itoa(len(body))
	for _, test := range []struct {
		name string
		send http.HandlerFunc
		kind model.Kind
		text string
	}{
		{"empty", send(""), model.Transient, "not what the protocol says"},
		{"null", send("null"), model.Transient, ""},
		{"empty object", send("{}"), model.Transient, ""},
		{"list", send("[]"), model.Transient, "not what the protocol says"},
		{"string", send(`"hello"`), model.Transient, "not what the protocol says"},
		{"HTML", send("<html><b>It works!</b></html>"), model.Transient, "It works!"},
		{"malformed", send(strings.Replace(body, ":", "=", 1)), model.Transient, "not what the protocol says"},
		{"truncated", send(body[:len(body)/2]), model.Transient, "not what the protocol says"},
		{"twice", send(body + body), model.Transient, "not what the protocol says"},
		{"deep", send(strings.Repeat("[", 20000)), model.Transient, "not what the protocol says"},
		{"stream", send("event: message_start\ndata: {}\n\n"), model.Transient, "not what the protocol says"},
		{"binary", send("\x00\xff\xfe\x80"), model.Transient, "not what the protocol says"},
		{"oversized", send(strings.Repeat(" ", MaxResponseBytes) + body), model.Transient, "larger than 65536 bytes"},
		{"oversized when unzipped", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zipped(bytes.Repeat([]byte(" "), 100*MaxResponseBytes)))
		}, model.Transient, "larger than 65536 bytes"},
		{"false gzip", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, body)
		}, model.Transient, "broke"},
		{"cut gzip", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := zipped(plain.body)
			w.Write(z[:len(z)/2])
		}, model.Transient, "broke"},
		{"no answer", hijack(""), model.Transient, "broke"},
		{"no HTTP", hijack("hello\r\n\r\n"), model.Transient, "broke"},
		{"cut header", hijack("HTTP/1.1 200 OK\r\nContent-"), model.Transient, "broke"},
		{"cut body", hijack("HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n" + body[:len(body)-1]), model.Transient, "broke"},
		{"cut chunks", hijack(fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body)), model.Transient, "broke"},
		{"cut error", hijack("HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n\r\n{\"error\":"), model.Auth, "401"},
		{"large error", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			io.WriteString(w, strings.Repeat("x", 3*MaxResponseBytes))
		}, model.Transient, "xxx…"},
		{"long explanation", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			io.WriteString(w, `{"type": "error", "error": {"type": "invalid_request_error", "message": "`+strings.Repeat("ü", 3000)+`"}}`)
		}, model.Invalid, "ü…"},
	} {
		_, err := newClient(t, c, serve(t, test.send), "m").Generate(t.Context(), ask("x"))
		wantKind(t, test.name, err, test.kind, test.text)
		if n := len(err.Error()); n > 1200 {
			t.Errorf("%s: the text of the error has %d bytes, want few", test.name, n)
		}
	}

	// Nobody listens at a port that was just closed.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = newClient(t, c, "http://"+l.Addr().String(), "m").Generate(t.Context(), ask("x"))
	wantKind(t, "nobody listens", err, model.Transient, "refused")
}

// hijack says something that may or may not be HTTP, and hangs up.
func hijack(say string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(conn, say)
		conn.Close()
	}
}

// slow lets a deadline pass before the first byte, and before the last.
func slow(t *testing.T, c Config) {
	for name, begin := range map[string]string{"first byte": "", "rest": `{"type": `} {
		left := make(chan struct{})
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			defer close(left)
			io.Copy(io.Discard, r.Body)
			if begin != "" {
				io.WriteString(w, begin)
				http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		_, err := newClient(t, c, base, "m").Generate(ctx, ask("x"))
		cancel()
		wantKind(t, name, err, model.Transient, "no answer within")
		<-left // the connection is closed, or this waits for ever
	}
}

// redirect must not take the key elsewhere.
func redirect(t *testing.T, c Config) {
	visits := 0
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) { visits++ })
	for _, status := range []int{301, 302, 303, 307, 308} {
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere+"/v1?key="+Key, status)
		})
		_, err := newClient(t, c, base, "m").Generate(t.Context(), ask("x"))
		wantKind(t, strconv.Itoa(status), err, model.Invalid, "redirects to "+elsewhere)
	}
	if visits != 0 {
		t.Errorf("redirects were followed %d times, want 0", visits)
	}
}

// retryAfter has a server ask for a minute, in all forms.
func retryAfter(t *testing.T, c Config) {
	for name, set := range map[string]func(http.Header){
		"seconds": func(h http.Header) { h.Set("Retry-After", "60") },
		"ms":      func(h http.Header) { h.Set("Retry-After-Ms", "60000"); h.Set("Retry-After", "1") },
		"date": func(h http.Header) {
			h.Set("Retry-After", time.Now().Add(60*time.Second).UTC().Format(http.TimeFormat))
		},
	} {
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			set(w.Header())
			w.WriteHeader(429)
		})
		_, err := newClient(t, c, base, "m").Generate(t.Context(), ask("x"))
		wantKind(t, name, err, model.RateLimited, "Too Many Requests")
		// A date has whole seconds, and some time has passed since it was written.
		if got := model.AsError(err).RetryAfter; got > 60*time.Second || got < 45*time.Second {
			t.Errorf("%s: retry after %v, want 60s", name, got)
		}
	}
}

// echo has a server repeat the key wherever a client might quote it. The checks
// are in [client.Generate].
func echo(t *testing.T, c Config) {
	for _, status := range []int{200, 307, 400, 401, 404, 429, 500} {
		for _, body := range []string{
			Key,
			"<html>" + Key + "</html>",
			`{"type": "error", "error": {"type": "` + Key + `", "message": "no: ` + Key + `", "param": "` + Key + `"}}`,
			`{"error": "` + Key + `"}`,
			`{"message": "` + Key + `", "detail": "` + Key + `"}`,
			`{"model": "x", "what": "` + Key + `"}`,
			strings.Repeat("x", 200-len(Key)/2) + Key,
			strings.Repeat("x ", 400-len(Key)/4) + Key,
		} {
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Request-Id", Key)
				w.Header().Set("X-Request-Id", Key)
				w.Header().Set("Location", "http://"+Key+"/")
				w.WriteHeader(status)
				io.WriteString(w, body)
			})
			_, err := newClient(t, c, base, "m").Generate(t.Context(), ask("x"))
			if err == nil {
				t.Errorf("%d %s: Generate succeeds, want an error", status, body)
				continue
			}
			if half := Key[:len(Key)/2]; strings.Contains(err.Error(), half) {
				t.Errorf("%d %s: the error %q shows half of the key", status, body, err)
			}
		}
	}
}
